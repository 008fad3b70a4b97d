//! The cases of `tests/cases/`: each directory has files, commands in `cmd`, and all that the commands print and write in
//! `output.snap`. `INSTA_UPDATE=always cargo test --test cli cases` writes the outputs anew; read the difference before
//! you commit it. `SPOKEWRIGHT_CASES=mesh,route-shadowed` runs only the cases whose paths contain one of these texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::{Settings, assert_snapshot};
use rayon::prelude::*;

use crate::scratch::{Run, Scratch, copy};

#[test]
fn every_case_prints_and_writes_what_its_snapshot_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Vec::new();
    find(&root.join("tests/cases"), &mut cases);
    let chosen = std::env::var("SPOKEWRIGHT_CASES").unwrap_or_default();
    cases.retain(|case| {
        chosen
            .split(',')
            .any(|part| case.to_string_lossy().contains(part))
    });
    assert!(!cases.is_empty());
    let failed = cases.par_iter().filter(|case| {
        let mut settings = Settings::clone_current();
        settings.set_snapshot_path(case);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.add_filter(r"\bin \d+(\.\d+)? m?s\b", "in [TIME]");
        // A panic of another thread would end the run, and hide the cases behind it.
        let checked = catch_unwind(AssertUnwindSafe(|| {
            settings.bind(|| assert_snapshot!("output", output(case)));
        }));
        checked.is_err()
    });
    let failed: Vec<&PathBuf> = failed.collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The directories with a file `cmd`.
fn find(directory: &Path, cases: &mut Vec<PathBuf>) {
    if directory.join("cmd").exists() {
        cases.push(directory.to_owned());
        return;
    }
    for entry in fs::read_dir(directory).expect("a directory of cases") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find(&path, cases);
        }
    }
}

/// Each command with what it prints, and the files that it wrote, changed, or removed if it is ours and not quiet. A line
/// that begins with `#` is a comment.
fn output(case: &Path) -> String {
    let scratch = Scratch::new();
    copy(case, &scratch.path(""));
    for file in ["cmd", "output.snap", "output.snap.new"] {
        let _absent = fs::remove_file(scratch.path(file));
    }
    let files = || -> BTreeMap<String, String> { scratch.tree("").into_iter().collect() };
    let commands = fs::read_to_string(case.join("cmd")).expect("commands");
    let mut text = String::new();
    for line in commands.lines().filter(|line| !line.is_empty()) {
        if line.starts_with('#') {
            let _ = writeln!(text, "{line}");
            continue;
        }
        // Else one change of a work would change the snapshot of each case that renders it.
        let is_quiet = [" -q", "/dev/null"].iter().any(|quiet| line.contains(quiet));
        let before = (line.contains("spokewright ") && !is_quiet).then(files);
        let run = shell(&scratch, line);
        let _ = write!(text, "$ {line}\n{}", run.stdout);
        if !run.stderr.is_empty() {
            let _ = write!(text, "-- stderr\n{}", run.stderr);
        }
        if run.status != 0 {
            let _ = writeln!(text, "-- exit status {}", run.status);
        }
        let Some(before) = before else { continue };
        let after = files();
        for (file, written) in &after {
            if before.get(file) != Some(written) {
                let _ = write!(text, "-- wrote {file}\n{written}");
            }
        }
        for file in before.keys().filter(|file| !after.contains_key(*file)) {
            let _ = writeln!(text, "-- removed {file}");
        }
    }
    let directory = scratch.path("");
    text.replace(directory.to_string_lossy().trim_end_matches('/'), "[DIRECTORY]")
}

/// Runs a line as a shell would that has the binary on its PATH, and `$FIXTURES` and `$EXAMPLES` of the repository.
pub(crate) fn shell(scratch: &Scratch, line: &str) -> Run {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let binary = Path::new(env!("CARGO_BIN_EXE_spokewright"));
    let programs = binary.parent().expect("a directory").display();
    Run::of(
        Command::new("sh")
            .args(["-c", line])
            .current_dir(scratch.path(""))
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin"))
            .env("FIXTURES", root.join("fixtures"))
            .env("EXAMPLES", root.join("examples"))
            .env("GIT_CONFIG_GLOBAL", root.join("tests/cases/gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // The ids of commits are in messages.
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"),
    )
}
