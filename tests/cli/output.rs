//! The output tree where permissions, other processes, or kubectl decide. All else about it is in the cases.

use std::fs;

use crate::scratch::{Scratch, copy};

const RENDER: [&str; 4] = ["render", "hub", "-o", "rendered"];

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_names_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::with_worked_example();
    fs::create_dir(scratch.path("locked")).expect("a directory");
    fs::set_permissions(scratch.path("locked"), fs::Permissions::from_mode(0o555)).expect("permissions");
    let run = scratch.run(&["render", "hub", "-o", "locked/rendered"]);
    // Root may write anywhere.
    if run.status != 0 {
        run.exits(5).says("locked");
    }
    fs::set_permissions(scratch.path("locked"), fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn kubectl_kustomize_reads_every_directory() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&RENDER).exits(0);
    for directory in ["rendered", "rendered/eu-1", "rendered/us-1"] {
        // A tree of trees: kustomize follows the directories that the root lists.
        let built = std::process::Command::new("kubectl")
            .args(["kustomize", directory])
            .current_dir(scratch.path(""))
            .output();
        match built {
            Ok(output) => assert!(output.status.success(), "{directory}: {output:?}"),
            Err(error) => eprintln!("skipped: kubectl does not run here: {error}"),
        }
    }
}

#[test]
fn a_second_run_waits_for_the_first_and_says_so_or_fails_if_it_shall_not_wait() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&RENDER).exits(0);
    scratch.raise_the_limit("hub/limits.yaml");
    let lock = fs::File::open(scratch.path("rendered")).expect("a directory");
    lock.lock().expect("nobody else is here");
    scratch
        .run(&["render", "hub", "-o", "rendered", "--no-wait"])
        .exits(5)
        .says("error[output/busy]: another run is writing into ")
        .says("= help: try again later, or remove `--no-wait` to wait");
    let mut waiting = scratch
        .command(&RENDER)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("a process");
    let said = std::io::BufReader::new(waiting.stderr.take().expect("a pipe"));
    let mut lines = std::io::BufRead::lines(said).map(|line| line.expect("text"));
    assert!(lines.any(|line| line.starts_with("waiting: another run is writing into ")));
    assert!(waiting.try_wait().expect("a status").is_none(), "it waits");
    drop(lock);
    assert!(lines.any(|line| line.contains("(3 files written, ")));
    assert!(waiting.wait().expect("a status").success());
}

/// A run that waits for another one: the lines that it prints while `lock`, which is held at first, keeps it from writing.
fn waiting_run(scratch: &Scratch) -> (std::process::Child, impl Iterator<Item = String> + use<>) {
    let mut waiting = scratch
        .command(&RENDER)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("a process");
    let said = std::io::BufReader::new(waiting.stderr.take().expect("a pipe"));
    let mut lines = std::io::BufRead::lines(said).map(|line| line.expect("text"));
    let waits = |line: &String| line.starts_with("waiting: another run is writing into ");
    let first = lines
        .by_ref()
        .find(|line| waits(line) || line.starts_with("warning"));
    assert!(
        first.as_ref().is_some_and(waits),
        "nothing is printed before: {first:?}"
    );
    (waiting, lines)
}

/// A tree of both clusters, in `full`, and an input with one of them, whose budget does not allow to remove anything.
fn with_budget() -> Scratch {
    let scratch = Scratch::with_worked_example();
    scratch.run(&RENDER).exits(0);
    copy(&scratch.path("rendered"), &scratch.path("full"));
    fs::remove_dir_all(scratch.path("rendered")).expect("a directory to remove");
    scratch.edit("hub/decisions.yaml", ", {clusterName: us-1, reason: \"\"}", "");
    let budget =
        "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\ndiff: {budget: {maxRemoved: 0}}\n";
    fs::write(scratch.path("hub/spokewright.yaml"), budget).expect("a file");
    scratch
}

/// What the run would remove, and whether the budget allows that, depends on what the other run has written.
#[test]
fn a_run_that_waited_judges_its_budget_by_the_tree_that_it_replaces() {
    let scratch = with_budget();
    scratch.run(&RENDER).exits(0);
    let lock = fs::File::open(scratch.path("rendered")).expect("a directory");
    // As a run with `--check`, which does not keep others from reading.
    lock.lock_shared().expect("nobody else is here");
    let (mut waiting, mut lines) = waiting_run(&scratch);
    copy(&scratch.path("full"), &scratch.path("rendered"));
    drop(lock);
    assert!(lines.any(|line| line == "another run has written into rendered; rendering again"));
    assert!(lines.any(|line| line.starts_with("error[diff/over-budget]: ")));
    assert!(lines.any(|line| line.ends_with("nothing was written")));
    assert_eq!(waiting.wait().expect("a status").code(), Some(4));
}

/// What another run replaces just now is beyond the budget, and what it leaves is not.
#[test]
fn a_budget_is_judged_after_waiting_for_the_run_that_writes() {
    let scratch = with_budget();
    scratch.run(&RENDER).exits(0);
    copy(&scratch.path("rendered"), &scratch.path("small"));
    fs::remove_dir_all(scratch.path("rendered")).expect("a directory to remove");
    copy(&scratch.path("full"), &scratch.path("rendered"));
    let lock = fs::File::open(scratch.path("rendered")).expect("a directory");
    lock.lock().expect("nobody else is here");
    let (mut waiting, lines) = waiting_run(&scratch);
    fs::remove_dir_all(scratch.path("rendered/us-1")).expect("a directory to remove");
    copy(&scratch.path("small"), &scratch.path("rendered"));
    drop(lock);
    let said: Vec<String> = lines.collect();
    assert!(waiting.wait().expect("a status").success(), "{said:#?}");
}

#[test]
fn a_run_that_starts_again_prints_its_warnings_once() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&RENDER).exits(0);
    copy(&scratch.path("rendered"), &scratch.path("other"));
    scratch.raise_the_limit("hub/limits.yaml");
    scratch.run(&RENDER).exits(0);
    let lock = fs::File::open(scratch.path("rendered")).expect("a directory");
    lock.lock_shared().expect("nobody else is here");
    let (mut waiting, lines) = waiting_run(&scratch);
    copy(&scratch.path("other"), &scratch.path("rendered"));
    drop(lock);
    let said: Vec<String> = lines.collect();
    assert!(waiting.wait().expect("a status").success(), "{said:#?}");
    let count = |start: &str| said.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(
        count("another run has written into rendered; rendering again"),
        1,
        "{said:#?}"
    );
    assert_eq!(count("warning"), 1, "{said:#?}");
}

/// The issue of two hooks at once: both ended well, and left what the next run refused.
#[test]
fn of_two_runs_at_once_each_leaves_a_tree_that_the_next_one_knows() {
    for round in 0..6 {
        let scratch = Scratch::with_worked_example();
        copy(&scratch.path("hub"), &scratch.path("other"));
        scratch.raise_the_limit("other/limits.yaml");
        let spawn = |input: &str| {
            let mut command = scratch.command(&["render", input, "-o", "rendered", "-q"]);
            command.spawn().expect("a process")
        };
        let runs = [spawn("hub"), spawn("other"), spawn("hub")];
        for mut run in runs {
            assert!(run.wait().expect("a status").success(), "round {round}");
        }
        scratch.run(&RENDER).exits(0);
        scratch
            .run(&["render", "hub", "-o", "rendered", "--check"])
            .exits(0);
    }
}
