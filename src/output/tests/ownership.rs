//! Whose a file is, and what happens to those that are not ours.

use std::borrow::Cow;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;

use super::super::error::{RootFault, TreeFault};
use super::super::{ChangeKind, Offender, Output, misplaced, write_into};
use super::*;
use crate::progress::Progress;

fn root() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_missing_root_is_made_with_its_parents() {
    let parent = root();
    let output = parent.path().join("deep/er/rendered");
    let summary = run(&output, &example()).unwrap();
    assert_eq!((summary.written, summary.unchanged, summary.deleted), (5, 0, 0));
    assert_eq!(snapshot(&output), expected(&example(), &Files::default()));
}

#[test]
fn a_second_run_writes_nothing_and_keeps_every_modification_time() {
    let root = root();
    run(root.path(), &example()).unwrap();
    let times = |root: &Path| {
        snapshot(root)
            .into_keys()
            .map(|path| fs::metadata(root.join(path)).unwrap().modified().unwrap())
            .collect::<Vec<_>>()
    };
    let before = times(root.path());
    let summary = run(root.path(), &example()).unwrap();
    assert_eq!((summary.written, summary.unchanged, summary.deleted), (0, 5, 0));
    assert_eq!(summary.differing, []);
    assert_eq!(times(root.path()), before);
}

#[test]
fn only_files_whose_content_changed_are_written_and_stale_ones_go_with_their_directory() {
    let root = root();
    run(root.path(), &example()).unwrap();
    let before = fs::metadata(root.path().join("eu-1/gateway-a.yaml"))
        .unwrap()
        .modified()
        .unwrap();
    let next = Files::new([
        ("eu-1/gateway-a-b.yaml", "kind: AB2\n"),
        ("eu-1/gateway-a.yaml", "kind: A\n"),
        ("eu-1/kustomization.yaml", "resources: []\n"),
        ("eu-2/gateway-a.yaml", "kind: A\n"),
        ("kustomization.yaml", "resources: [eu-1, eu-1-b]\n"),
    ]);
    let summary = run(root.path(), &next).unwrap();
    assert_eq!((summary.written, summary.unchanged, summary.deleted), (2, 3, 1));
    assert_eq!(
        changes(&summary),
        [
            (INVENTORY, ChangeKind::Changed),
            ("eu-1-b/gateway-a.yaml", ChangeKind::Stale),
            ("eu-1/gateway-a-b.yaml", ChangeKind::Changed),
            ("eu-2/gateway-a.yaml", ChangeKind::Missing),
        ]
    );
    assert_eq!(
        fs::metadata(root.path().join("eu-1/gateway-a.yaml"))
            .unwrap()
            .modified()
            .unwrap(),
        before
    );
    assert_eq!(snapshot(root.path()), expected(&next, &Files::default()));
}

#[test]
fn check_lists_every_difference_and_touches_nothing() {
    let root = root();
    let missing = root.path().join("missing");
    assert_eq!(checked(&missing, &example()).unwrap().written, 5);
    assert!(!missing.exists());

    run(root.path(), &example()).unwrap();
    let before = snapshot(root.path());
    let next = Files::new([
        ("eu-1/gateway-a.yaml", "kind: A2\n"),
        ("us-1/gateway-a.yaml", "kind: A\n"),
    ]);
    let summary = checked(root.path(), &next).unwrap();
    assert_eq!(
        changes(&summary),
        [
            (INVENTORY, ChangeKind::Changed),
            ("eu-1-b/gateway-a.yaml", ChangeKind::Stale),
            ("eu-1/gateway-a-b.yaml", ChangeKind::Stale),
            ("eu-1/gateway-a.yaml", ChangeKind::Changed),
            ("eu-1/kustomization.yaml", ChangeKind::Stale),
            ("kustomization.yaml", ChangeKind::Stale),
            ("us-1/gateway-a.yaml", ChangeKind::Missing),
        ]
    );
    assert_eq!(snapshot(root.path()), before);
}

#[test]
fn check_names_what_would_stop_a_run_beside_the_differences() {
    let root = root();
    run(root.path(), &example()).unwrap();
    put(root.path(), "eu-1/gateway-a.yaml", b"by hand");
    let summary = checked(root.path(), &example()).unwrap();
    assert_eq!(changes(&summary), [("eu-1/gateway-a.yaml", ChangeKind::Changed)]);
    assert_eq!(
        summary.offenders,
        [Offender {
            path: "eu-1/gateway-a.yaml".to_owned(),
            obstacle: Obstacle::Edited
        }]
    );
}

#[test]
fn edited_and_foreign_files_stop_the_run_before_anything_is_written_and_are_all_named() {
    let root = root();
    run(root.path(), &example()).unwrap();
    put(root.path(), "eu-1/gateway-a.yaml", b"by hand");
    put(root.path(), "eu-1-b/gateway-a.yaml", b"by hand, and stale");
    put(root.path(), "us-1/gateway-a.yaml", b"foreign");
    let before = snapshot(root.path());
    let next = Files::new([
        ("eu-1/gateway-a.yaml", "kind: A2\n"),
        ("eu-1/gateway-new.yaml", "kind: New\n"),
        ("us-1/gateway-a.yaml", "kind: A\n"),
    ]);
    assert_eq!(
        obstacles(run(root.path(), &next)),
        [
            ("eu-1-b/gateway-a.yaml".to_owned(), Obstacle::Edited),
            ("eu-1/gateway-a.yaml".to_owned(), Obstacle::Edited),
            ("us-1/gateway-a.yaml".to_owned(), Obstacle::Foreign),
        ]
    );
    assert_eq!(snapshot(root.path()), before);
    forced(root.path(), &next).unwrap();
    assert_eq!(snapshot(root.path()), expected(&next, &Files::default()));
}

#[test]
fn a_file_that_already_holds_the_wanted_bytes_is_fine_whoever_wrote_it() {
    let root = root();
    put(root.path(), "eu-1/gateway-a.yaml", b"kind: A\n");
    let summary = run(root.path(), &example()).unwrap();
    assert_eq!((summary.written, summary.unchanged), (4, 1));
    // Edited by hand to what is now wanted: the same.
    put(root.path(), "eu-1/gateway-a.yaml", b"kind: A2\n");
    let next = Files::new([("eu-1/gateway-a.yaml", "kind: A2\n")]);
    assert_eq!(run(root.path(), &next).unwrap().unchanged, 1);
    assert_eq!(snapshot(root.path()), expected(&next, &Files::default()));
}

#[test]
fn foreign_files_elsewhere_stay_and_keep_their_directory() {
    let root = root();
    let foreign = Files::new([
        ("README.md", "mine"),
        ("eu-1/.spokewright-tmp-notes", "mine"),
        (
            "eu-1/.spokewright-tmp-0123456789abcdef-1",
            "mine, whatever it looks like",
        ),
        ("eu-1/notes.yaml", "mine"),
    ]);
    for (path, content) in &foreign.0 {
        put(root.path(), path, content);
    }
    run(root.path(), &example()).unwrap();
    assert_eq!(snapshot(root.path()), expected(&example(), &foreign));
    run(root.path(), &Files::default()).unwrap();
    assert_eq!(snapshot(root.path()), expected(&Files::default(), &foreign));
}

#[test]
fn an_emptied_root_stays() {
    let root = root();
    run(root.path(), &example()).unwrap();
    run(root.path(), &Files::default()).unwrap();
    assert_eq!(
        snapshot(root.path()),
        expected(&Files::default(), &Files::default())
    );
}

#[test]
fn a_foreign_empty_directory_stays() {
    let root = root();
    fs::create_dir_all(root.path().join("keep/me")).unwrap();
    run(root.path(), &example()).unwrap();
    run(root.path(), &Files::default()).unwrap();
    assert!(root.path().join("keep/me").is_dir());
    assert!(!root.path().join("eu-1").exists());
}

#[test]
fn a_root_that_is_a_file_or_a_link_or_below_a_file_is_refused() {
    let parent = root();
    put(parent.path(), "file", b"x");
    fs::create_dir(parent.path().join("elsewhere")).unwrap();
    #[cfg(unix)]
    symlink(parent.path().join("elsewhere"), parent.path().join("link")).unwrap();
    #[cfg(unix)]
    symlink(parent.path().join("nowhere"), parent.path().join("dangling")).unwrap();
    let before = snapshot(parent.path());
    for (name, at_fault, wanted) in [
        ("file", "file", RootFault::NotADirectory),
        ("file/below/deep", "file", RootFault::NotADirectory),
        #[cfg(unix)]
        ("link", "link", RootFault::Symlink),
        #[cfg(unix)]
        ("link/", "link", RootFault::Symlink),
        #[cfg(unix)]
        ("dangling", "dangling", RootFault::Symlink),
    ] {
        for result in [run, forced, checked].map(|run| run(&parent.path().join(name), &example())) {
            match result {
                Err(OutputError::Root { path, fault }) => {
                    assert_eq!((path, fault), (parent.path().join(at_fault), wanted), "{name}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    assert_eq!(snapshot(parent.path()), before);
}

#[test]
fn an_output_in_a_git_directory_or_out_of_where_it_must_stay_is_refused() {
    let parent = root();
    let within = parent.path().join("repository");
    fs::create_dir_all(within.join(".git")).unwrap();
    fs::create_dir(parent.path().join("elsewhere")).unwrap();
    #[cfg(unix)]
    symlink(parent.path().join("elsewhere"), within.join("link")).unwrap();
    let before = snapshot(parent.path());
    for (name, wanted) in [
        ("repository/.git/hooks", RootFault::Git),
        ("repository/.GIT/hooks", RootFault::Git),
        ("repository/sub/.git", RootFault::Git),
        ("elsewhere/rendered", RootFault::Outside),
        #[cfg(unix)]
        ("repository/link/rendered", RootFault::Outside),
        ("repository2", RootFault::Outside),
    ] {
        let root = parent.path().join(name);
        for check in [true, false] {
            let options = Options {
                check,
                ..Options::default()
            };
            let output = Output {
                within: Some(&within),
                ..Output::anywhere(&root)
            };
            match write_into(output, &example(), options, &Progress::default()) {
                Err(OutputError::Root { path, fault }) => {
                    assert_eq!((path, fault), (root.clone(), wanted), "{name}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert_eq!(misplaced(&root, Some(&within)), Some(wanted), "{name}");
    }
    assert_eq!(snapshot(parent.path()), before);
    let root = within.join("rendered");
    assert_eq!(misplaced(&root, Some(&within)), None);
    let output = Output {
        within: Some(&within),
        ..Output::anywhere(&root)
    };
    write_into(output, &example(), Options::default(), &Progress::default()).unwrap();
    assert_eq!(snapshot(&root), expected(&example(), &Files::default()));
}

// Windows has no such lock (`Lock`).
#[cfg(unix)]
#[test]
fn a_second_run_in_one_directory_waits_or_is_told() {
    let root = root();
    run(root.path(), &example()).unwrap();
    let lock = File::open(root.path()).unwrap();
    lock.lock().unwrap();
    for check in [true, false] {
        let options = Options {
            check,
            no_wait: true,
            ..Options::default()
        };
        let result = write_with(&UNSYNCED, root.path(), &Files::default(), options);
        assert!(
            matches!(result, Err(OutputError::Busy { .. })),
            "{check}: {result:?}"
        );
    }
    assert_eq!(snapshot(root.path()), expected(&example(), &Files::default()));
    drop(lock);
    run(root.path(), &Files::default()).unwrap();
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_never_written_over_or_through_even_with_force() {
    let parent = root();
    let (root, outside) = (parent.path().join("root"), parent.path().join("outside"));
    put(&outside, "gateway-a.yaml", b"kind: Mine\n");
    fs::create_dir_all(&root).unwrap();
    symlink(&outside, root.join("eu-1")).unwrap();
    put(&root, "eu-1-b", b"a file where a directory must be");
    fs::create_dir_all(root.join("kustomization.yaml/deep")).unwrap();
    let before = snapshot(parent.path());
    for attempt in [run, forced] {
        assert_eq!(
            obstacles(attempt(&root, &example())),
            [
                ("eu-1".to_owned(), Obstacle::Symlink),
                ("eu-1-b".to_owned(), Obstacle::NotADirectory),
                ("kustomization.yaml".to_owned(), Obstacle::Directory),
            ]
        );
        assert_eq!(snapshot(parent.path()), before);
    }
}

#[cfg(unix)]
#[test]
fn a_link_where_a_file_should_be_is_named_and_what_it_leads_to_stays() {
    let parent = root();
    let root = parent.path().join("root");
    put(parent.path(), "mine.yaml", b"kind: A\n");
    fs::create_dir_all(root.join("eu-1")).unwrap();
    symlink("../../mine.yaml", root.join("eu-1/gateway-a.yaml")).unwrap();
    assert_eq!(
        obstacles(forced(&root, &example())),
        [("eu-1/gateway-a.yaml".to_owned(), Obstacle::Symlink)]
    );
    assert_eq!(fs::read(parent.path().join("mine.yaml")).unwrap(), b"kind: A\n");
}

#[cfg(unix)]
#[test]
fn a_stale_directory_that_became_a_link_is_never_pruned_through() {
    let parent = root();
    let (root, outside) = (parent.path().join("root"), parent.path().join("outside"));
    run(&root, &example()).unwrap();
    fs::rename(root.join("eu-1"), &outside).unwrap();
    symlink(&outside, root.join("eu-1")).unwrap();
    let before = snapshot(&outside);
    let next = Files::new([("us-1/a.yaml", "kind: A\n")]);
    assert_eq!(
        obstacles(run(&root, &next)),
        [("eu-1".to_owned(), Obstacle::Replaced)]
    );
    forced(&root, &next).unwrap();
    assert_eq!(snapshot(&outside), before);
    assert!(root.join("eu-1").is_symlink());
    assert_eq!(run(&root, &next).unwrap().differing, []);
}

#[cfg(unix)]
#[test]
fn force_does_not_pass_a_link_because_something_stale_lies_behind_it_too() {
    let parent = root();
    let root = parent.path().join("root");
    run(
        &root,
        &Files::new([("eu-1/a.yaml", "a"), ("eu-1/old/b.yaml", "b")]),
    )
    .unwrap();
    fs::rename(root.join("eu-1"), parent.path().join("outside")).unwrap();
    symlink("../outside", root.join("eu-1")).unwrap();
    let before = snapshot(parent.path());
    let next = Files::new([("eu-1/a.yaml", "a2")]);
    assert_eq!(
        obstacles(forced(&root, &next)),
        [("eu-1".to_owned(), Obstacle::Symlink)]
    );
    assert_eq!(snapshot(parent.path()), before);
}

#[test]
fn a_name_that_no_file_system_takes_is_refused_before_anything_is_written() {
    let root = root();
    let (fits, long) = (format!("a/{}", "x".repeat(255)), format!("a/{}", "y".repeat(256)));
    run(root.path(), &Files::new([(fits.as_str(), "x")])).unwrap();
    let before = snapshot(root.path());
    assert_eq!(
        obstacles(forced(root.path(), &Files::new([("a/a", "x"), (&long, "y")]))),
        [(long.clone(), Obstacle::NameTooLong)]
    );
    assert_eq!(snapshot(root.path()), before);
}

#[test]
fn a_tree_that_breaks_its_rules_is_refused_before_anything_is_written() {
    struct Raw(&'static [&'static str]);
    impl Tree for Raw {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn path(&self, index: usize) -> Cow<'_, str> {
            Cow::Borrowed(self.0[index])
        }
        fn kind(&self, _: usize) -> FileKind {
            FileKind::Object
        }
        fn content(&self, _: usize, buffer: &mut Vec<u8>) {
            buffer.push(b'x');
        }
    }
    let root = root();
    for (paths, wanted) in [
        (&["../../etc/passwd"][..], TreeFault::Unsafe),
        (&["/etc/passwd"], TreeFault::Unsafe),
        (&["a/../../b"], TreeFault::Unsafe),
        (&[".spokewright-inventory"], TreeFault::Unsafe),
        (&["b", "a"], TreeFault::Order),
        (&["a", "a"], TreeFault::Order),
        (&["a", "a-b", "a/b"], TreeFault::FileAndDirectory),
    ] {
        match write(
            &root.path().join("out"),
            &Raw(paths),
            Options {
                force: true,
                check: false,
                ..Options::default()
            },
        ) {
            Err(OutputError::Tree { fault, .. }) => assert_eq!(fault, wanted, "{paths:?}"),
            other => panic!("{paths:?}: {other:?}"),
        }
    }
    assert!(snapshot(root.path()).is_empty());
}
