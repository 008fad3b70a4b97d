//! Scratch repositories, made with the real `git`.

use std::path::Path;
use std::process::Command;

use crate::scratch::{Run, Scratch};

/// `None`, said loudly, where there is no `git`.
pub(crate) fn at_hand() -> Option<()> {
    let found = Command::new("git").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: git is not at hand, so there is no repository to read");
    }
    found.then_some(())
}

/// The worked example in a repository, committed once.
pub(crate) fn repository() -> Option<Scratch> {
    at_hand()?;
    let scratch = Scratch::with_worked_example();
    let root = scratch.path("");
    git(&root, &["init", "-q"]);
    commit(&root);
    Some(scratch)
}

/// Everything of the work tree.
pub(crate) fn commit(root: &Path) {
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "one more"]);
}

/// `git` as setup, and what it prints; it must succeed.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = git_command(directory, arguments).output().expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// `git` with nothing of the machine, the person or the clock.
pub(crate) fn git_command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.com")
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_NAME", "A")
        .env("GIT_COMMITTER_EMAIL", "a@example.com")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE");
    command
}

/// Runs the command below a directory of the scratch.
pub(crate) fn run_in(scratch: &Scratch, directory: &str, arguments: &[&str]) -> Run {
    Run::of(scratch.command(arguments).current_dir(scratch.path(directory)))
}
