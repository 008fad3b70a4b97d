//! Progress: a line on a terminal while long work is done, and nothing anywhere else.
//!
//! Work takes as long as the test wants: one of the inputs is a pipe of the shell, which the program reads until it is
//! closed. It is closed when somebody has written into the named pipe that stands before it.
//!
//! Only on Linux: elsewhere `script` takes other arguments.

use std::fs;
use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::scratch::Scratch;

/// Far beyond what any line takes.
const PATIENCE: Duration = Duration::from_secs(60);
const ARGUMENTS: [&str; 3] = ["check", "hub", "/dev/fd/3"];

fn with_a_slow_input() -> Scratch {
    let scratch = Scratch::with_worked_example();
    let made = Command::new("mkfifo").arg(scratch.path("slow")).status();
    assert!(made.expect("mkfifo").success());
    scratch
}

/// The program, for a shell.
fn with_the_pipe(arguments: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_spokewright");
    format!("cat slow | {program} {} 3<&0", arguments.join(" "))
}

/// Opens the pipe, which the program waits for, and closes it.
fn let_go(scratch: &Scratch) {
    let mut pipe = fs::File::options()
        .write(true)
        .open(scratch.path("slow"))
        .expect("the pipe");
    pipe.write_all(b"nothing: more\n").expect("room in the pipe");
}

/// Everything that comes, as it comes.
fn listen(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The program on a terminal of 80 columns, which `script` makes; nothing where there is no `script`.
fn on_a_terminal(scratch: &Scratch, variables: &[(&str, &str)], arguments: &[&str]) -> Option<Child> {
    let command = format!("stty cols 80 rows 24; {}", with_the_pipe(arguments));
    let child = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .current_dir(scratch.path(""))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("TERM", "xterm")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    child
        .inspect_err(|error| eprintln!("SKIPPED: `script` does not run here: {error}"))
        .ok()
}

/// What stands on the terminal in the end: lines that were cleared are gone.
fn screen(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let cleared = line.rsplit("\u{1b}[2K").next().unwrap_or_default();
        lines.push(cleared.trim_matches('\r').to_owned());
    }
    lines.join("\n")
}

#[test]
fn a_terminal_shows_how_far_long_work_is_and_nothing_of_it_stays() {
    let scratch = with_a_slow_input();
    let Some(mut child) = on_a_terminal(&scratch, &[("NO_COLOR", "1")], &ARGUMENTS) else {
        return;
    };
    let output = listen(child.stdout.take().expect("a pipe"));
    let mut text = String::new();
    while !text.contains("reading files [") {
        let more = output.recv_timeout(PATIENCE);
        text.push_str(&String::from_utf8_lossy(
            &more.unwrap_or_else(|error| panic!("{error}: {text}")),
        ));
    }
    let_go(&scratch);
    while let Ok(more) = output.recv_timeout(PATIENCE) {
        text.push_str(&String::from_utf8_lossy(&more));
    }
    assert!(child.wait().expect("it ends").success(), "{text}");
    assert!(text.contains('/'), "{text}");
    assert!(!text.contains("\u{1b}[3"), "no colour: {text:?}");
    assert!(!text.contains("\u{1b}[?25l"), "the cursor stays: {text:?}");
    let screen = screen(&text);
    assert!(screen.contains("0 errors"), "{text:?}");
    for stage in [
        "finding files",
        "reading files",
        "checking objects",
        "placing Gateways",
        "attaching policies",
        "rendering Gateways",
        "evaluating policies",
    ] {
        assert!(!screen.contains(stage), "{stage} in {screen:?} of {text:?}");
    }
}

#[test]
fn nobody_is_shown_progress_who_cannot_use_it() {
    for (variables, more) in [
        (&[("TERM", "dumb")][..], &[][..]),
        (&[], &["-q"]),
        (&[], &["--message-format", "json"]),
    ] {
        let scratch = with_a_slow_input();
        let Some(mut child) = on_a_terminal(&scratch, variables, &[&ARGUMENTS[..], more].concat()) else {
            return;
        };
        let output = listen(child.stdout.take().expect("a pipe"));
        // Longer than what makes work long; a machine that is slower still shows as little.
        std::thread::sleep(Duration::from_millis(900));
        let_go(&scratch);
        let mut text = String::new();
        while let Ok(more) = output.recv_timeout(PATIENCE) {
            text.push_str(&String::from_utf8_lossy(&more));
        }
        assert!(child.wait().expect("it ends").success(), "{text}");
        assert!(
            !text.contains("reading files"),
            "{variables:?} {more:?}: {text:?}"
        );
        assert!(!text.contains("\u{1b}[2K"), "{variables:?} {more:?}: {text:?}");
    }
}

#[test]
fn a_pipe_gets_no_control_characters() {
    let scratch = with_a_slow_input();
    let child = Command::new("sh")
        .args(["-c", &with_the_pipe(&ARGUMENTS)])
        .current_dir(scratch.path(""))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(900));
    let_go(&scratch);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    for bytes in [output.stdout, output.stderr] {
        let text = String::from_utf8(bytes).expect("text");
        assert!(
            !text
                .chars()
                .any(|character| character.is_control() && character != '\n'),
            "{text:?}"
        );
        assert!(!text.contains("reading files"), "{text}");
    }
}
