//! Interrupting the real program, and running it on a disk that is really full (docs/reference/output.md).

use std::process::Stdio;
use std::time::Duration;

use crate::scratch::Scratch;

/// The worked example for many clusters: enough files to be met half-way.
fn fleet(clusters: usize) -> Scratch {
    let scratch = Scratch::with_worked_example();
    let decisions: Vec<String> = (0..clusters)
        .map(|cluster| format!("{{clusterName: c-{cluster:04}, reason: \"\"}}"))
        .collect();
    let text = scratch.read("hub/decisions.yaml");
    let start = text.find("decisions: [").expect("the list");
    scratch.write(
        "hub/decisions.yaml",
        &format!("{}decisions: [{}]}}\n", &text[..start], decisions.join(", ")),
    );
    let text = scratch.read("hub/decisions.yaml").replace("]}\n", "]\n");
    scratch.write("hub/decisions.yaml", &text);
    scratch
}

fn only_whole_files(scratch: &Scratch, old: &[(String, String)], new: &[(String, String)]) {
    for (path, text) in scratch.tree("rendered") {
        if path.starts_with(".spokewright") || path.contains("/.spokewright-tmp-") {
            continue;
        }
        let wanted =
            |tree: &[(String, String)]| tree.iter().any(|(known, whole)| *known == path && *whole == text);
        assert!(wanted(old) || wanted(new), "{path} is torn:\n{text}");
    }
}

#[test]
fn a_run_that_is_killed_at_any_moment_leaves_whole_files_and_the_next_completes_it() {
    let scratch = fleet(400);
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let old = scratch.tree("rendered");
    scratch.edit("hub/gateway.yaml", "port: 443", "port: 8443");
    scratch.run(&["render", "hub", "-o", "wanted"]).exits(0);
    let new = scratch.tree("wanted");
    let arguments = ["render", "hub", "-o", "rendered"];
    for moment in [1, 3, 6, 10, 15, 21, 28, 36, 45, 60] {
        let mut child = scratch
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(moment));
        let _ = child.kill();
        let _ = child.wait();
        only_whole_files(&scratch, &old, &new);
    }
    scratch.run(&arguments).exits(0);
    assert_eq!(scratch.tree("rendered"), new);
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_really_full_stops_the_run_and_nothing_is_lost() {
    let scratch = fleet(60);
    std::fs::create_dir(scratch.path("small")).expect("a directory");
    // A file system of our own needs a mount namespace; where none can be had, the test says so.
    let script = "mount -t tmpfs -o size=200k none small || exit 99\n\
                  \"$1\" render hub -o small/rendered; code=$?\n\
                  find small/rendered -name '*.yaml' -size 0 | grep . && exit 98\n\
                  exit $code";
    if let Some(run) = scratch.unshared(&["-r", "-m"], script) {
        run.exits(5)
            .says("error[output/unwritable]")
            .says("free some space")
            .says("not everything was written");
    }
}
