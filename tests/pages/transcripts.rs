//! The transcripts and quotes of all pages, except those of finding codes: each is what a run prints.
//!
//! Only on Linux: their commands are those of its shell and its tools.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{UPDATE, is_update, pages, root, text, write};

const CODE_PAGES: &str = "docs/reference/findings/";
/// Where the stand-in for `kubectl` is; hidden, so that nothing reads it.
const BIN: &str = ".bin";

/// Each block of transcripts runs in its own copy of the examples, in a shell, on 80 columns; standard output and
/// standard error are one. Times are not compared.
#[test]
fn every_transcript_is_what_a_run_prints() {
    let mut blocks = 0;
    // Those of finding codes start from another hub (examples.rs).
    for file in pages().into_iter().filter(|file| !file.starts_with(CODE_PAGES)) {
        let page = text(&file);
        let mut updated = page.clone();
        for block in page.split("```console\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            let scratch = with_examples();
            for line in before(&page, block) {
                shell(scratch.path(), line, 0);
            }
            let mut transcript = String::new();
            let mut status = 0;
            for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
                let (output, next) = shell(scratch.path(), line, status);
                transcript.push_str(&format!("$ {line}\n{output}"));
                status = next;
            }
            let transcript = format!("{}\n", transcript.trim_end());
            if !is_update() {
                assert_eq!(
                    without_times(&transcript),
                    without_times(block),
                    "{file}: {UPDATE}"
                );
            } else if without_times(&transcript) != without_times(block) {
                updated = updated.replacen(block, &transcript, 1);
            }
            blocks += 1;
        }
        if updated != page {
            write(&file, &updated);
        }
    }
    assert!(blocks > 5, "only {blocks} transcripts");
}

/// What a reader did before, on the same page: each block of a page runs by itself.
fn before<'p>(page: &'p str, block: &str) -> impl Iterator<Item = &'p str> {
    let (above, _) = page
        .split_once(&format!("```console\n{block}"))
        .unwrap_or_default();
    let comment = above
        .trim_end()
        .strip_suffix("-->")
        .and_then(|above| above.rsplit_once("<!-- before:\n"));
    comment.map_or("", |(_, commands)| commands).lines()
}

/// A comment of the page names the commands whose output is quoted below it, as it is shown where it is posted.
#[test]
fn every_quote_that_a_command_prints_is_what_it_prints() {
    const MARK: &str = "<!-- printed by:\n";
    let mut quotes = 0;
    for file in pages() {
        let page = text(&file);
        let mut updated = page.clone();
        for rest in page.split(MARK).skip(1) {
            let (commands, rest) = rest.split_once("-->\n\n").expect("the end of the comment");
            let quote: String = rest
                .split_inclusive('\n')
                .take_while(|line| line.starts_with('>'))
                .collect();
            let scratch = with_examples();
            let mut printed = String::new();
            for line in commands.lines() {
                printed = shell(scratch.path(), line, 0).0;
            }
            let printed: String = printed
                .lines()
                .map(|line| format!("{}\n", format!("> {line}").trim_end()))
                .collect();
            if is_update() {
                let before = format!("{MARK}{commands}-->\n\n");
                updated = updated.replacen(&format!("{before}{quote}"), &format!("{before}{printed}"), 1);
            } else {
                assert_eq!(printed, quote, "{file}");
            }
            quotes += 1;
        }
        if updated != page {
            write(&file, &updated);
        }
    }
    assert!(quotes > 0, "no quote is marked");
}

/// A directory with the examples, and a `kubectl` that knows what a hub would hold of them.
fn with_examples() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;

    let root = root();
    let scratch = tempfile::tempdir().expect("a temporary directory");
    copy(&root.join("examples"), &scratch.path().join("examples"));
    let works = root.join("fixtures/exported-works/fleet.yaml");
    let kubectl = scratch.path().join(BIN).join("kubectl");
    fs::create_dir(scratch.path().join(BIN)).expect("a directory");
    fs::write(&kubectl, format!("#!/bin/sh\nexec cat '{}'\n", works.display())).expect("a script");
    fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).expect("a program");
    scratch
}

/// What a shell prints for one line, and its status; `$?` of the line is `status`.
fn shell(directory: &Path, line: &str, status: i32) -> (String, i32) {
    shell_with(directory, line, status, "80")
}

/// The same on a terminal of so many columns.
pub(super) fn shell_with(directory: &Path, line: &str, status: i32, columns: &str) -> (String, i32) {
    let binary = Path::new(env!("CARGO_BIN_EXE_spokewright"));
    let path = format!(
        "{}:{}:/usr/local/bin:/usr/bin:/bin",
        binary.parent().expect("a directory").display(),
        directory.join(BIN).display()
    );
    let run = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n(exit {status})\n{line}")])
        .current_dir(directory)
        .env_clear()
        .envs([("PATH", path.as_str()), ("COLUMNS", columns), ("LC_ALL", "C")])
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let printed = String::from_utf8(run.stdout).expect("text");
    (printed, run.status.code().unwrap_or(-1))
}

/// `in 12 ms` says how fast the machine is, not what was done.
pub(super) fn without_times(text: &str) -> String {
    text.lines()
        .map(|line| match line.rsplit_once(" in ") {
            Some((before, time)) if time.ends_with(" ms") || time.ends_with(" s") => before,
            _ => line,
        })
        .map(|line| format!("{line}\n"))
        .collect()
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
