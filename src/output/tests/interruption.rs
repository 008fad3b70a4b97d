//! What an interrupted run leaves, at every single step of it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::super::inventory::PLAN;
use super::super::write::write_with;
use super::*;
use crate::output::root::{Disk, Storage, TEMPORARY_PREFIX};

/// How the disk fails.
#[derive(Debug, Clone, Copy)]
pub(super) enum Failure {
    /// Nothing works any more: the process is dead.
    Killed,
    /// Nothing can be written any more; removing still works.
    Full,
}

/// A disk that fails after a number of steps, in the middle of a write when that is the step.
pub(super) struct Failing {
    left: AtomicUsize,
    failure: Failure,
}

impl Failing {
    pub(super) fn after(steps: usize, failure: Failure) -> Self {
        Self {
            left: AtomicUsize::new(steps),
            failure,
        }
    }

    fn step(&self, needs_space: bool) -> io::Result<()> {
        if matches!(self.failure, Failure::Full) && !needs_space {
            return Ok(());
        }
        let left = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| match self.failure {
            Failure::Killed => io::Error::other("killed"),
            Failure::Full => io::Error::from(io::ErrorKind::StorageFull),
        })
    }
}

impl Storage for Failing {
    fn create_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        self.step(true).and_then(|()| Disk.create_dir(at, name))
    }
    fn create(&self, at: &Directory, name: &str) -> io::Result<File> {
        self.step(true).and_then(|()| Disk.create(at, name))
    }
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.step(true) {
            Disk.write(file, &bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        Disk.write(file, bytes)
    }
    fn sync(&self, _: &File) -> io::Result<()> {
        self.step(false)
    }
    fn rename(&self, at: &Directory, from: &str, to: &str) -> io::Result<()> {
        self.step(false).and_then(|()| Disk.rename(at, from, to))
    }
    fn remove_file(&self, at: &Directory, name: &str) -> io::Result<()> {
        self.step(false).and_then(|()| Disk.remove_file(at, name))
    }
    fn remove_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        self.step(false).and_then(|()| Disk.remove_dir(at, name))
    }
}

/// One thread takes the steps in one order. Of several threads, each may be anywhere at the same step, and to go through
/// all steps would not be to go through all states.
static ONE_THREAD: LazyLock<rayon::ThreadPool> = LazyLock::new(|| {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.unwrap()
});

fn failing_run(root: &Path, tree: &Files, steps: usize, failure: Failure) -> Result<Summary, OutputError> {
    ONE_THREAD.install(|| failing_run_in_parallel(root, tree, steps, failure))
}

fn failing_run_in_parallel(
    root: &Path,
    tree: &Files,
    steps: usize,
    failure: Failure,
) -> Result<Summary, OutputError> {
    write_with(&Failing::after(steps, failure), root, tree, Options::default())
}

/// The next step to fail at. A run that never gets through is a bug, and no reason for a test that never ends.
fn next_step(step: usize) -> usize {
    assert!(step < 200, "the run never gets through");
    step + 1
}

/// Between runs every file is a whole one of some version, or foreign and as it was, or has a temporary name or is in a
/// directory that has one.
fn assert_whole(root: &Path, versions: &[&Files], foreign: &Files) {
    let found = snapshot(root);
    for (path, node) in &found {
        let Node::File(content) = node else { continue };
        let is_temporary = path.split('/').any(|name| name.starts_with(TEMPORARY_PREFIX));
        let is_bookkeeping = is_temporary || [INVENTORY, PLAN].contains(&path.as_str());
        let is_whole = versions
            .iter()
            .chain([&foreign])
            .any(|files| files.get(path) == Some(content));
        assert!(
            is_bookkeeping || is_whole,
            "{path} holds {:?}",
            String::from_utf8_lossy(content)
        );
    }
    for (path, content) in &foreign.0 {
        assert_eq!(found.get(path), Some(&Node::File(content.clone())), "{path}");
    }
}

fn old() -> Files {
    Files::new([
        ("a/1", "old a1"),
        ("a/2", "old a2"),
        ("b/1", "old b1"),
        ("b/c/1", "old bc1"),
        ("x", "old x"),
    ])
}

fn new() -> Files {
    Files::new([
        ("a/1", "new a1"),
        ("a/3", "new a3"),
        ("d/e/1", "new de1"),
        ("d/e/2", "new de2"),
        ("x", "old x"),
    ])
}

fn third() -> Files {
    Files::new([
        ("a/1", "third a1"),
        ("a/2", "old a2"),
        ("d/e/2", "third de2"),
        ("f/1", "third f1"),
    ])
}

fn foreign() -> Files {
    Files::new([("a/mine", "mine"), ("b/mine", "mine"), ("mine", "mine")])
}

fn prepared() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in &foreign().0 {
        put(root.path(), path, content);
    }
    run(root.path(), &old()).unwrap();
    root
}

#[test]
fn after_a_death_at_any_step_the_next_run_completes_the_work_even_with_another_input() {
    for failure in [Failure::Killed, Failure::Full] {
        for (next, name) in [(new(), "the same"), (third(), "another"), (old(), "the former")] {
            let mut steps = 0;
            loop {
                let root = prepared();
                let result = failing_run(root.path(), &new(), steps, failure);
                assert_whole(root.path(), &[&old(), &new()], &foreign());
                let is_over = result.is_ok();
                run(root.path(), &next)
                    .unwrap_or_else(|error| panic!("{failure:?} at {steps}, {name}: {error:?}"));
                assert_eq!(
                    snapshot(root.path()),
                    expected(&next, &foreign()),
                    "{failure:?} at {steps}, {name}"
                );
                assert_eq!(
                    run(root.path(), &next).unwrap().differing,
                    [],
                    "{failure:?} at {steps}, {name}"
                );
                if is_over {
                    break;
                }
                steps = next_step(steps);
            }
            assert!(steps > 10, "only {steps} steps");
        }
    }
}

#[test]
fn two_deaths_at_any_two_steps_with_two_inputs_are_completed_by_a_third_run() {
    let mut first = 0;
    loop {
        // Every third, beginning elsewhere each time: all pairs would take ten seconds.
        let mut second = first % 3;
        let is_over = loop {
            let root = prepared();
            let is_over = failing_run(root.path(), &new(), first, Failure::Killed).is_ok();
            let is_second_over = failing_run(root.path(), &third(), second, Failure::Killed).is_ok();
            assert_whole(root.path(), &[&old(), &new(), &third()], &foreign());
            for next in [old(), new()] {
                run(root.path(), &next).unwrap_or_else(|error| panic!("at {first} and {second}: {error:?}"));
                assert_eq!(
                    snapshot(root.path()),
                    expected(&next, &foreign()),
                    "at {first} and {second}"
                );
            }
            if is_second_over {
                break is_over;
            }
            second = next_step(second) + 2;
        };
        if is_over {
            break;
        }
        first = next_step(first);
    }
}

#[test]
fn a_directory_that_only_a_superseded_plan_knows_does_not_stay_behind_empty() {
    let (first, second) = (
        Files::new([("a", "a"), ("d/e/1", "new")]),
        Files::new([("a", "b"), ("b", "b")]),
    );
    for first_steps in 0..20 {
        for second_steps in 0..20 {
            let root = tempfile::tempdir().unwrap();
            drop(failing_run(root.path(), &first, first_steps, Failure::Killed));
            drop(failing_run(root.path(), &second, second_steps, Failure::Killed));
            run(root.path(), &second).unwrap();
            let wanted = expected(&second, &Files::default());
            assert_eq!(
                snapshot(root.path()),
                wanted,
                "at {first_steps} and {second_steps}"
            );
        }
    }
}

#[test]
fn a_full_disk_names_the_file_leaves_no_temporary_file_and_loses_nothing() {
    let mut steps = 0;
    loop {
        let root = prepared();
        match failing_run(root.path(), &new(), steps, Failure::Full) {
            Ok(_) => break,
            Err(error @ OutputError::Io { .. }) => {
                let finding = error.findings().pop().unwrap();
                assert_eq!(finding.code.name(), "output/unwritable");
                assert!(
                    finding.message.contains(root.path().to_str().unwrap()),
                    "{}",
                    finding.message
                );
                assert!(finding.help.unwrap().contains("free some space"));
            }
            Err(error) => panic!("{error:?}"),
        }
        let found = snapshot(root.path());
        assert!(
            !found.keys().any(|path| path.contains(TEMPORARY_PREFIX)),
            "{:?}",
            found.keys()
        );
        for (path, _) in &old().0 {
            assert!(
                found.contains_key(path),
                "{path} is gone although the disk was full at {steps}"
            );
        }
        steps = next_step(steps);
    }
}

#[test]
fn temporary_files_of_a_killed_run_count_as_differences_and_are_removed() {
    let root = prepared();
    let mut steps = 0;
    while !snapshot(root.path())
        .keys()
        .any(|path| path.starts_with("a/") && path.contains(TEMPORARY_PREFIX))
    {
        drop(failing_run(root.path(), &new(), steps, Failure::Killed));
        steps = next_step(steps);
    }
    let stale = checked(root.path(), &new()).unwrap();
    assert!(
        stale
            .differing
            .iter()
            .any(|change| change.path == PLAN && change.kind == ChangeKind::Stale)
    );
    assert!(
        stale
            .differing
            .iter()
            .any(|change| change.path.contains(TEMPORARY_PREFIX))
    );
    run(root.path(), &new()).unwrap();
    assert_eq!(snapshot(root.path()), expected(&new(), &foreign()));
}

/// A tree whose directories are all new, one of them below one that has no files.
#[cfg(unix)]
fn fresh() -> Files {
    Files::new([("d/e/1", "new de1"), ("d/e/2", "new de2"), ("f/1", "new f1")])
}

/// Runs that were killed, at every step that left a temporary directory with so many files.
#[cfg(unix)]
fn killed_in_a_new_directory(files: usize) -> Vec<(tempfile::TempDir, String)> {
    let mut found = Vec::new();
    let mut steps = 0;
    loop {
        let root = prepared();
        let is_over = failing_run(root.path(), &fresh(), steps, Failure::Killed).is_ok();
        let left = snapshot(root.path());
        let is_temporary = |path: &str| path.rsplit('/').next().unwrap().starts_with(TEMPORARY_PREFIX);
        for (path, node) in &left {
            let below = left.keys().filter(|file| file.starts_with(&format!("{path}/")));
            if *node == Node::Directory && is_temporary(path) && below.count() == files {
                found.push((root, path.clone()));
                break;
            }
        }
        if is_over {
            return found;
        }
        steps = next_step(steps);
    }
}

#[cfg(unix)]
#[test]
fn a_temporary_directory_of_a_killed_run_counts_as_a_difference_and_is_removed_whatever_is_wanted_now() {
    for files in 0..=2 {
        for next in [fresh(), old(), Files::new([("d/2", "2")])] {
            let killed = killed_in_a_new_directory(files);
            assert!(!killed.is_empty(), "none with {files} files");
            for (root, left) in killed {
                let stale = checked(root.path(), &next).unwrap();
                assert!(changes(&stale).iter().any(|(path, _)| *path == left), "{stale:?}");
                run(root.path(), &next).unwrap();
                assert_eq!(snapshot(root.path()), expected(&next, &foreign()), "{left}");
                assert_eq!(run(root.path(), &next).unwrap().differing, []);
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_temporary_directory_with_anything_else_in_it_stays_as_it_is() {
    let meddlings: [&dyn Fn(&Path); 2] = [&|left| put(left, "notes", b"mine"), &|left| {
        fs::create_dir(left.join("1")).unwrap();
    }];
    for meddle in meddlings {
        for (root, left) in killed_in_a_new_directory(0) {
            meddle(&root.path().join(&left));
            let mine = snapshot(&root.path().join(&left));
            for tree in [fresh(), old()] {
                run(root.path(), &tree).unwrap();
                assert_eq!(snapshot(&root.path().join(&left)), mine);
                assert_eq!(run(root.path(), &tree).unwrap().differing, []);
            }
        }
    }
    // One that is for no directory on record, whatever it contains.
    let root = prepared();
    let mine = format!("{TEMPORARY_PREFIX}0123456789abcdef-1/1");
    put(root.path(), &mine, b"mine");
    run(root.path(), &fresh()).unwrap();
    assert_eq!(snapshot(root.path())[&mine], Node::File(b"mine".to_vec()));
}

#[cfg(unix)]
#[test]
fn a_new_directory_has_all_of_its_files_from_its_first_moment() {
    let mut steps = 0;
    loop {
        let root = prepared();
        let is_over = failing_run(root.path(), &fresh(), steps, Failure::Killed).is_ok();
        let found = snapshot(root.path());
        for (directory, files) in [("d/e", 2), ("f", 1)] {
            let inside = found
                .keys()
                .filter(|path| path.starts_with(&format!("{directory}/")));
            let count = inside.count();
            assert!(
                count == files || !found.contains_key(directory),
                "{directory} has {count} files at {steps}"
            );
        }
        if is_over {
            break;
        }
        steps = next_step(steps);
    }
}

#[test]
fn a_run_that_finds_nothing_to_do_takes_no_step_at_all() {
    let root = prepared();
    failing_run(root.path(), &old(), 0, Failure::Killed).unwrap();
    // Nor does one that refuses, or that only compares.
    put(root.path(), "a/1", b"by hand");
    assert_eq!(
        obstacles(failing_run(root.path(), &new(), 0, Failure::Killed)).len(),
        1
    );
    let options = Options {
        force: true,
        check: true,
        ..Options::default()
    };
    write_with(&Failing::after(0, Failure::Killed), root.path(), &new(), options).unwrap();
}

#[test]
fn an_edit_after_a_death_is_still_protected() {
    let mut steps = 0;
    loop {
        let root = prepared();
        let is_over = failing_run(root.path(), &new(), steps, Failure::Killed).is_ok();
        put(root.path(), "a/3", b"by hand");
        put(root.path(), "a/2", b"by hand");
        let before = snapshot(root.path());
        let found = obstacles(run(root.path(), &third()));
        let paths = found.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>();
        // A path that neither inventory nor plan knew when the run died is foreign and not in the way of this tree.
        assert!(paths.contains(&"a/2"), "{paths:?} at {steps}");
        assert_eq!(snapshot(root.path()), before);
        if is_over {
            assert_eq!(paths, ["a/2", "a/3"]);
            break;
        }
        steps = next_step(steps);
    }
}

fn files() -> impl Strategy<Value = Files> {
    let name = (0..4_usize, 0..3_usize).prop_map(|(directory, file)| {
        format!("{}{}", ["", "a/", "b/", "b/c/"][directory], ["1", "2", "3"][file])
    });
    proptest::collection::btree_map(name, 0..4_u8, 0..9).prop_map(|files| {
        Files(
            files
                .into_iter()
                .map(|(path, content)| (path, vec![b'0' + content; 4]))
                .collect(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Any number of deaths at any steps, each with an input of its own: the run that is left alone completes.
    #[test]
    fn any_history_of_deaths_ends_in_exactly_the_wanted_tree(
        deaths in proptest::collection::vec((files(), 0..40_usize, any::<bool>()), 0..5), last in files(),
    ) {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in &foreign().0 {
            put(root.path(), path, content);
        }
        for (tree, steps, is_kill) in &deaths {
            let failure = if *is_kill { Failure::Killed } else { Failure::Full };
            match failing_run_in_parallel(root.path(), tree, *steps, failure) {
                Ok(_) | Err(OutputError::Io { .. }) => {}
                Err(other) => prop_assert!(false, "{:?}", other),
            }
            let versions = deaths.iter().map(|(tree, _, _)| tree).collect::<Vec<_>>();
            assert_whole(root.path(), &versions, &foreign());
        }
        run(root.path(), &last).unwrap();
        prop_assert_eq!(snapshot(root.path()), expected(&last, &foreign()));
        prop_assert_eq!(run(root.path(), &last).unwrap().differing, vec![]);
    }
}
