//! Input that no file of a case can have: bytes that are no text, devices, pipes, and a stream without an end.

#[cfg(unix)]
use crate::scratch::Run;
use crate::scratch::Scratch;

#[test]
fn no_bytes_make_it_panic() {
    let scratch = Scratch::with_worked_example();
    for (index, bytes) in [
        &b"\xff\xfe\x00"[..],
        b"\x00\x01\x02",
        b"- - - - -",
        b"{{{{{{",
        b"&a [*a]",
        b"---\n--- x\n",
        b"\xef\xbb\xbf",
    ]
    .iter()
    .enumerate()
    {
        std::fs::write(scratch.path("hub/odd.yaml"), bytes).expect("a file");
        let run = scratch.run(&["render", "hub", "-o", "rendered"]);
        assert!([0, 3].contains(&run.status), "{index}: {run:?}");
        run.does_not_say("panicked");
    }
}

/// What is no file may have no end, or never begin.
#[cfg(unix)]
#[test]
fn a_device_or_pipe_that_input_names_ends_the_run_at_once() {
    let scratch = Scratch::with_worked_example();
    let made = std::process::Command::new("mkfifo")
        .arg(scratch.path("pipe"))
        .status();
    assert!(made.expect("mkfifo").success());
    let no_file = |run: Run, path: &str| {
        run.exits(5)
            .says(&format!(
                "error[input/unreadable]: cannot read `{path}`: it is not a file"
            ))
            .does_not_say("object/empty-file")
            .says("= help: name a file or a directory, or pipe it: `COMMAND | spokewright check -`");
    };
    no_file(scratch.run(&["render", "pipe"]), "pipe");
    no_file(scratch.run(&["render", "/dev/zero"]), "/dev/zero");
    scratch.write(
        "spokewright.yaml",
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\nhub: [/dev/zero]\n",
    );
    no_file(scratch.run(&["render"]), "/dev/zero");
    no_file(scratch.run(&["render", "hub", "--config", "pipe"]), "pipe");
}

#[cfg(unix)]
#[test]
fn standard_input_without_end_is_refused_like_a_file_that_is_too_large() {
    let scratch = Scratch::with_worked_example();
    let zeros = std::fs::File::open("/dev/zero").expect("a device");
    let run = Run::of(scratch.command(&["render", "-"]).stdin(zeros));
    run.exits(3)
        .says("error[yaml/limit]")
        .says("at most 67108864 are read");
}
