//! `--watch`: the real program waits, sees what happens to its input, and runs again.
//!
//! No test measures time: each waits for a line, long enough for a machine that is busy. That something is *not* a
//! reason to run again shows in the next run's line, which names all that changed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::scratch::Scratch;

/// Far beyond what any line takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Puts a file there at once: a program that is slow to look must not see it half written.
fn place(scratch: &Scratch, path: &str, text: &str) {
    let target = scratch.path(path);
    fs::create_dir_all(target.parent().expect("a parent")).expect("directories");
    scratch.write(".unfinished", text);
    fs::rename(scratch.path(".unfinished"), target).expect("a rename");
}

fn edit(scratch: &Scratch, path: &str, from: &str, to: &str) {
    let text = scratch.read(path);
    assert!(text.contains(from), "{from:?} is not in {path}");
    place(scratch, path, &text.replacen(from, to, 1));
}

/// A program that watches; killed at the end of the test.
struct Watching {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Watching {
    /// Starts it and waits until it waits.
    fn start(scratch: &Scratch, arguments: &[&str]) -> Self {
        let mut child = scratch
            .command(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut watching = Self {
            child,
            lines,
            seen: Vec::new(),
        };
        watching.until_it_waits();
        watching
    }

    /// The next line that contains `text`.
    #[track_caller]
    fn until(&mut self, text: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(error) => panic!("{text:?}: {error}; so far:\n{}", self.seen.join("\n")),
            }
        }
    }

    #[track_caller]
    fn until_it_waits(&mut self) {
        self.until("watching ");
    }

    /// What the line before the next run says, when that run is over.
    #[track_caller]
    fn next_run(&mut self) -> String {
        let changed = self.until("changed: ");
        self.until_it_waits();
        changed
    }

    #[cfg(unix)]
    fn signal(mut self, name: &str) -> std::process::ExitStatus {
        let kill = std::process::Command::new("kill")
            .args([format!("-{name}"), self.child.id().to_string()])
            .status();
        assert!(kill.expect("kill").success());
        self.child.wait().expect("it ends")
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_change_of_the_input_is_rendered() {
    let scratch = Scratch::with_worked_example();
    let mut watching = Watching::start(&scratch, &["render", "hub", "-o", "out", "--watch"]);
    let before = scratch.tree("out");
    assert!(!before.is_empty(), "it runs at once");
    edit(&scratch, "hub/gateway.yaml", "port: 443", "port: 8443");
    assert_eq!(watching.next_run(), "changed: hub/gateway.yaml; rendering again");
    let after = scratch.tree("out");
    assert_ne!(before, after);
    scratch
        .run(&["render", "hub", "-o", "out", "--check"])
        .exits(0)
        .says("up to date");
    // Saved as most editors do: another file takes the place.
    let text = scratch
        .read("hub/gateway.yaml")
        .replace("port: 8443", "port: 443");
    scratch.write("hub/.gateway.yaml.swp", &text);
    fs::rename(
        scratch.path("hub/.gateway.yaml.swp"),
        scratch.path("hub/gateway.yaml"),
    )
    .expect("a rename");
    assert_eq!(watching.next_run(), "changed: hub/gateway.yaml; rendering again");
    assert_eq!(scratch.tree("out"), before);
}

#[test]
fn other_bytes_of_the_same_length_and_time_are_rendered() {
    let scratch = Scratch::with_worked_example();
    let mut watching = Watching::start(&scratch, &["render", "hub", "-o", "out", "--watch"]);
    let path = scratch.path("hub/gateway.yaml");
    let time = fs::metadata(&path)
        .and_then(|known| known.modified())
        .expect("a time");
    let text = scratch.read("hub/gateway.yaml");
    for (from, to) in [("port: 443", "port: 444"), ("port: 444", "port: 445")] {
        assert!(text.contains("port: 443"), "{text}");
        scratch.write(".unfinished", &text.replacen("port: 443", to, 1));
        let file = fs::File::options().write(true).open(scratch.path(".unfinished"));
        file.and_then(|file| file.set_modified(time)).expect("a time");
        fs::rename(scratch.path(".unfinished"), &path).expect("a rename");
        watching.next_run();
        scratch
            .run(&["render", "hub", "-o", "out", "--check"])
            .exits(0)
            .says("up to date");
        let tree = scratch.tree("out");
        assert!(tree.iter().any(|(_, text)| text.contains(to)), "{to}");
        assert!(tree.iter().all(|(_, text)| !text.contains(from)), "{from}");
    }
}

#[test]
fn what_somebody_did_to_a_file_of_the_output_is_found_by_the_next_run() {
    let scratch = Scratch::with_worked_example();
    let mut watching = Watching::start(&scratch, &["render", "hub", "-o", "out", "--watch"]);
    let tree = scratch.tree("out").into_iter();
    let mut works = tree
        .map(|(path, _)| path)
        .filter(|path| path.contains("eu-1/gateway-"));
    let work = format!("out/{}", works.next().expect("a work"));
    // By the third run, what did not change is believed.
    for round in 0..3 {
        place(&scratch, "hub/more.yaml", &format!("# {round}\n"));
        watching.next_run();
    }
    assert!(!watching.seen.iter().any(|line| line.contains("error")));
    for file in ["out/eu-1/kustomization.yaml", &work] {
        let path = scratch.path(file);
        let time = fs::metadata(&path)
            .and_then(|known| known.modified())
            .expect("a time");
        let text = scratch.read(file);
        let edited = text.replacen("kind: ", "kinD: ", 1);
        assert_ne!(edited, text);
        fs::write(&path, &edited).expect("a file");
        let open = fs::File::options().write(true).open(&path);
        open.and_then(|file| file.set_modified(time)).expect("a time");
        place(&scratch, "hub/more.yaml", &format!("# {file}\n"));
        watching.until("output/edited");
        watching.until_it_waits();
        assert_eq!(scratch.read(file), edited, "it stays as it is");
        fs::write(&path, &text).expect("a file");
        place(&scratch, "hub/more.yaml", &format!("# {file} again\n"));
        watching.next_run();
        let last = watching.seen.iter().rev().find(|line| line.contains("unchanged"));
        assert!(
            last.is_some_and(|line| line.contains("0 files written")),
            "{:?}",
            watching.seen
        );
    }
}

#[test]
fn check_runs_again_and_an_error_ends_nothing() {
    let scratch = Scratch::with_worked_example();
    let mut watching = Watching::start(&scratch, &["check", "hub", "--watch"]);
    place(&scratch, "hub/extra.yaml", "a: : b\n");
    assert_eq!(
        watching.until("changed: "),
        "changed: hub/extra.yaml (new); checking again"
    );
    watching.until("1 error");
    watching.until_it_waits();
    scratch.remove("hub/extra.yaml");
    assert_eq!(
        watching.until("changed: "),
        "changed: hub/extra.yaml (gone); checking again"
    );
    watching.until("0 errors");
    watching.until_it_waits();
}

#[test]
fn directories_that_appear_move_and_go_are_followed() {
    let scratch = Scratch::with_worked_example();
    let mut watching = Watching::start(&scratch, &["render", "hub", "-o", "out", "--watch"]);
    let policy = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: gateways}}\n")
    };
    place(&scratch, "hub/new/deep/a.yaml", &policy("a"));
    assert!(watching.next_run().contains("hub/new/deep/a.yaml (new)"));
    place(&scratch, "hub/new/deep/a.yaml", &policy("longer"));
    assert_eq!(
        watching.next_run(),
        "changed: hub/new/deep/a.yaml; rendering again"
    );
    fs::rename(scratch.path("hub/new"), scratch.path("hub/moved")).expect("a rename");
    let line = watching.next_run();
    assert!(
        line.contains("hub/moved/deep/a.yaml (new), hub/new/deep/a.yaml (gone)"),
        "{line}"
    );
    place(&scratch, "hub/moved/deep/a.yaml", &policy("a"));
    assert_eq!(
        watching.next_run(),
        "changed: hub/moved/deep/a.yaml; rendering again"
    );
    // The whole input goes away, as in a checkout, and comes back.
    fs::rename(scratch.path("hub"), scratch.path("elsewhere")).expect("a rename");
    watching.until("changed: ");
    watching.until("there is no such file or directory");
    watching.until_it_waits();
    fs::rename(scratch.path("elsewhere"), scratch.path("hub")).expect("a rename");
    watching.next_run();
    edit(&scratch, "hub/gateway.yaml", "port: 443", "port: 8443");
    assert_eq!(watching.next_run(), "changed: hub/gateway.yaml; rendering again");
}

#[test]
fn the_configuration_decides_anew_what_is_read() {
    let scratch = Scratch::with_worked_example();
    let config = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\noutput: out\n";
    scratch.write("spokewright.yaml", &format!("{config}hub: [hub]\n"));
    let mut watching = Watching::start(&scratch, &["check", "--watch"]);
    place(&scratch, "more/a.yaml", "nothing: yet\n");
    place(
        &scratch,
        "spokewright.yaml",
        &format!("{config}hub: [hub, more]\n"),
    );
    let line = watching.next_run();
    assert_eq!(
        line,
        "changed: more/a.yaml (new), spokewright.yaml; checking again"
    );
    place(&scratch, "more/b.yaml", "nothing: yet\n");
    assert_eq!(watching.next_run(), "changed: more/b.yaml (new); checking again");
    // What is ignored is not read any more.
    place(&scratch, "more/.gitignore", "b.yaml\n");
    assert_eq!(watching.next_run(), "changed: more/b.yaml (gone); checking again");
    place(&scratch, "spokes/eu-1/a.yaml", "nothing: yet\n");
    assert_eq!(
        watching.next_run(),
        "changed: spokes/eu-1/a.yaml (new); checking again"
    );
}

#[test]
fn what_is_not_read_is_no_reason_to_run() {
    let scratch = Scratch::with_worked_example();
    for file in [".git/HEAD", "spokewright.yaml"] {
        scratch.write(file, "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\n");
    }
    scratch.write(".gitignore", "ignored/\n");
    let mut watching = Watching::start(&scratch, &["render", "--watch", "--report", "report.json"]);
    let meddle = |round: usize| {
        let text = format!("round: {round}\n");
        for file in [
            "rendered/notes.yaml",
            "rendered/new/notes.yaml",
            ".git/index.yaml",
            "ignored/a.yaml",
            ".hidden.yaml",
            "hub/notes.txt",
        ] {
            scratch.write(file, &text);
        }
        // Read, and not changed.
        scratch.read("hub/gateway.yaml");
    };
    for (round, (from, to)) in [("port: 443", "port: 8443"), ("port: 8443", "port: 443")]
        .into_iter()
        .enumerate()
    {
        meddle(round);
        edit(&scratch, "hub/gateway.yaml", from, to);
        assert_eq!(watching.next_run(), "changed: hub/gateway.yaml; rendering again");
    }
    let runs = watching
        .seen
        .iter()
        .filter(|line| line.contains("rendering again"));
    assert_eq!(runs.count(), 2, "{}", watching.seen.join("\n"));
    assert_eq!(
        watching.lines.recv_timeout(Duration::from_millis(300)),
        Err(RecvTimeoutError::Timeout),
        "it waits"
    );
    assert!(scratch.exists("report.json"));
}

#[test]
fn a_report_inside_of_the_input_is_not_read_by_the_next_run() {
    let scratch = Scratch::with_worked_example();
    let arguments = ["render", "hub", "-o", "out", "--report", "hub/report.json"];
    scratch.run(&arguments).exits(0);
    scratch
        .run(&[&arguments[..], &["-v"]].concat())
        .exits(0)
        .says("hub/gateway.yaml")
        .does_not_say("hub/report.json");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_as_the_shell_expects() {
    use std::os::unix::process::ExitStatusExt as _;

    let scratch = Scratch::with_worked_example();
    let watching = Watching::start(&scratch, &["render", "hub", "-o", "out", "--watch"]);
    // Where whoever started the tests ignores SIGINT, so does everything that they start.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let (name, number) = if ignored.unwrap_or_default() & 2 == 0 {
        ("INT", 2)
    } else {
        ("TERM", 15)
    };
    assert_eq!(watching.signal(name).signal(), Some(number));
    scratch.run(&["render", "hub", "-o", "out", "--check"]).exits(0);
}

#[test]
fn what_cannot_be_watched_is_refused_before_anything_is_done() {
    let scratch = Scratch::with_worked_example();
    let refused = [
        (&["render", "-", "--watch"][..], "standard input"),
        (&["render", "hub", "--watch", "-o", "-"], "-o rendered"),
        (&["render", "hub", "--watch", "--exit-code"], "--exit-code"),
        (
            &["render", "hub", "--watch", "--inputs", "git-index"],
            "git-index",
        ),
        (&["check", "hub", "--watch", "--inputs", "git-index"], "git-index"),
        (&["check", "-", "--watch"], "standard input"),
        (&["diff", "--watch"], "--watch"),
    ];
    for (arguments, text) in refused {
        scratch.run(arguments).exits(2).says(text);
    }
    assert!(!scratch.exists("rendered"));
    scratch
        .run(&["check", "nowhere", "--watch"])
        .exits(5)
        .says("cannot watch `nowhere`: there is no such file or directory")
        .says("help: ");
}
