//! Parts of a tree, one run each: what belongs to the others stays, and together they make the whole.

use proptest::prelude::*;

use super::super::write::write_with;
use super::interruption::{Failing, Failure};
use super::*;

/// The files of some directories; what stands directly in the root belongs to every part.
#[derive(Debug, Clone)]
struct Part {
    files: Files,
    directories: &'static [&'static str],
}

impl Part {
    fn of(whole: &Files, directories: &'static [&'static str]) -> Self {
        let part = Self {
            files: Files::default(),
            directories,
        };
        let files = whole.0.iter().filter(|(path, _)| part.owns(path));
        Self {
            files: Files(files.cloned().collect()),
            directories,
        }
    }
}

impl Tree for Part {
    fn len(&self) -> usize {
        self.files.len()
    }
    fn path(&self, index: usize) -> Cow<'_, str> {
        self.files.path(index)
    }
    fn kind(&self, index: usize) -> FileKind {
        self.files.kind(index)
    }
    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        self.files.content(index, buffer);
    }
    fn owns(&self, path: &str) -> bool {
        path.split_once('/')
            .is_none_or(|(directory, _)| self.directories.contains(&directory))
    }
}

const PARTS: [&[&str]; 3] = [&["a"], &["b", "d"], &["f"]];

fn run_part(root: &Path, whole: &Files, part: usize) -> Summary {
    write_with(&UNSYNCED, root, &Part::of(whole, PARTS[part]), Options::default()).unwrap()
}

fn old() -> Files {
    Files::new([
        ("a/1", "a1"),
        ("a/2", "a2"),
        ("b/1", "b1"),
        ("b/c/1", "bc1"),
        ("f/1", "f1"),
        ("x", "old"),
    ])
}

fn new() -> Files {
    Files::new([
        ("a/1", "new"),
        ("b/2", "b2"),
        ("d/1", "d1"),
        ("x", "new"),
        ("y", "y"),
    ])
}

#[test]
fn the_parts_in_any_order_make_what_one_run_makes() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let root = tempfile::tempdir().unwrap();
        for whole in [old(), new(), Files::default(), old()] {
            for part in order {
                run_part(root.path(), &whole, part);
            }
            assert_eq!(
                snapshot(root.path()),
                expected(&whole, &Files::default()),
                "{order:?}"
            );
            for part in order {
                assert_eq!(run_part(root.path(), &whole, part).differing, [], "{order:?}");
            }
            assert_eq!(run(root.path(), &whole).unwrap().differing, [], "{order:?}");
        }
    }
}

#[test]
fn a_part_writes_and_prunes_only_its_own() {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), &old()).unwrap();
    let summary = run_part(root.path(), &new(), 0);
    assert_eq!((summary.written, summary.deleted), (3, 1));
    let left: Vec<String> = snapshot(root.path())
        .into_iter()
        .filter(|(_, node)| matches!(node, Node::File(_)))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(left, [INVENTORY, "a/1", "b/1", "b/c/1", "f/1", "x", "y"]);
    let inventory = fs::read_to_string(root.path().join(INVENTORY)).unwrap();
    let listed: Vec<&str> = inventory.lines().map(|line| &line[66..]).collect();
    assert_eq!(listed, &left[1..]);
}

#[test]
fn what_is_wrong_in_another_part_stops_nobody_and_stays_protected() {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), &old()).unwrap();
    put(root.path(), "b/1", b"by hand");
    fs::remove_file(root.path().join("b/c/1")).unwrap();
    run_part(root.path(), &new(), 0);
    assert_eq!(fs::read(root.path().join("b/1")).unwrap(), b"by hand");
    let found = obstacles(write_with(
        &UNSYNCED,
        root.path(),
        &Part::of(&new(), PARTS[1]),
        Options::default(),
    ));
    assert_eq!(found, [("b/1".to_owned(), Obstacle::Edited)]);
}

#[test]
fn check_compares_a_part_with_its_own_files_only() {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), &old()).unwrap();
    let changed = Files::new([("a/1", "other"), ("a/2", "a2"), ("x", "old")]);
    let options = Options {
        check: true,
        force: false,
        ..Options::default()
    };
    let check = |part: usize| {
        let part = Part::of(&changed, PARTS[part]);
        write_with(&UNSYNCED, root.path(), &part, options).unwrap()
    };
    assert_eq!(
        changes(&check(0)),
        [(INVENTORY, ChangeKind::Changed), ("a/1", ChangeKind::Changed)]
    );
    assert_eq!(
        changes(&check(2)),
        [(INVENTORY, ChangeKind::Changed), ("f/1", ChangeKind::Stale)]
    );
}

#[test]
fn a_part_that_died_is_completed_after_another_part_has_run() {
    for next in [new(), old()] {
        let mut steps = 0;
        loop {
            let root = tempfile::tempdir().unwrap();
            run(root.path(), &old()).unwrap();
            let dying = Failing::after(steps, Failure::Killed);
            let part = Part::of(&new(), PARTS[1]);
            let is_over = write_with(&dying, root.path(), &part, Options::default()).is_ok();
            for part in [0, 2, 1] {
                run_part(root.path(), &next, part);
            }
            assert_eq!(
                snapshot(root.path()),
                expected(&next, &Files::default()),
                "at {steps}"
            );
            if is_over {
                break;
            }
            steps += 1;
            assert!(steps < 200, "the run never gets through");
        }
        assert!(steps > 10, "only {steps} steps");
    }
}

fn wholes() -> impl Strategy<Value = Files> {
    let name = (0..6_usize, 0..3_usize).prop_map(|(directory, file)| {
        format!(
            "{}{}",
            ["", "a/", "b/", "b/c/", "d/", "f/"][directory],
            ["1", "2", "3"][file]
        )
    });
    proptest::collection::btree_map(name, 0..3_u8, 0..12).prop_map(|files| {
        Files(
            files
                .into_iter()
                .map(|(path, content)| (path, vec![b'0' + content; 4]))
                .collect(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Any parts, dying at any step with inputs of their own: all parts of the last input make its whole.
    #[test]
    fn any_history_of_parts_ends_in_exactly_the_wanted_tree(
        deaths in proptest::collection::vec((wholes(), 0..3_usize, 0..30_usize, any::<bool>()), 0..6),
        last in wholes(),
        order in Just([0, 1, 2]).prop_shuffle(),
    ) {
        let root = tempfile::tempdir().unwrap();
        for (whole, part, steps, is_kill) in &deaths {
            let failure = if *is_kill { Failure::Killed } else { Failure::Full };
            let dying = Failing::after(*steps, failure);
            match write_with(&dying, root.path(), &Part::of(whole, PARTS[*part]), Options::default()) {
                Ok(_) | Err(OutputError::Io { .. }) => {}
                Err(other) => prop_assert!(false, "{:?}", other),
            }
        }
        for part in order {
            run_part(root.path(), &last, part);
        }
        prop_assert_eq!(snapshot(root.path()), expected(&last, &Files::default()));
        prop_assert_eq!(run(root.path(), &last).unwrap().differing, vec![]);
    }
}
