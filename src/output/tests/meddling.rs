//! Whatever people do to an output between two runs, nothing of theirs is lost.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_dir as symlink;
use std::path::Path;

use proptest::prelude::*;

use super::super::inventory::Inventory;
use super::super::root::Root;
use super::*;
use crate::output::root::sha256;

/// What somebody may do to an output between two runs.
#[derive(Debug, Clone)]
enum Meddling {
    Put(String, u8),
    Remove(String),
    Link(String),
    MakeDirectory(String),
}

fn name() -> impl Strategy<Value = String> {
    (0..4_usize, 0..3_usize).prop_map(|(directory, file)| {
        format!(
            "{}{}.yaml",
            ["", "a/", "a-b/", "c/d/"][directory],
            ["x", "y", "z"][file]
        )
    })
}

fn files() -> impl Strategy<Value = Files> {
    proptest::collection::btree_map(name(), 0..3_u8, 0..8).prop_map(|files| {
        Files(
            files
                .into_iter()
                .map(|(path, content)| (path, vec![b'0' + content; 3]))
                .collect(),
        )
    })
}

fn meddling() -> impl Strategy<Value = Meddling> {
    prop_oneof![
        4 => (name(), 0..5_u8).prop_map(|(path, content)| Meddling::Put(path, content)),
        2 => name().prop_map(Meddling::Remove),
        1 => name().prop_map(Meddling::Link),
        1 => prop_oneof![Just("a".to_owned()), Just("c".to_owned())].prop_map(Meddling::Link),
        1 => name().prop_map(Meddling::MakeDirectory),
    ]
}

fn meddle(root: &Path, outside: &Path, meddling: &Meddling) {
    // What cannot be done (a file below a file, say) is simply not done.
    match meddling {
        Meddling::Put(path, content) => {
            let _ = fs::create_dir_all(root.join(path).parent().unwrap());
            if !root.join(path).is_symlink() {
                let _ = fs::write(root.join(path), vec![b'0' + content; 3]);
            }
        }
        Meddling::Remove(path) => drop(fs::remove_file(root.join(path))),
        Meddling::Link(path) => {
            let _ = fs::remove_file(root.join(path));
            let _ = fs::remove_dir_all(root.join(path));
            let _ = symlink(outside, root.join(path));
        }
        Meddling::MakeDirectory(path) => {
            let _ = fs::remove_file(root.join(path));
            let _ = fs::create_dir_all(root.join(path));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever people do to the output between runs: without force, only bytes that the inventory lists are
    /// ever overwritten or deleted, and a run that refuses changes nothing at all. With or without, nothing
    /// outside is touched and no link is followed.
    #[test]
    fn nothing_foreign_is_ever_changed(
        first in files(), second in files(), meddlings in proptest::collection::vec(meddling(), 0..6), force: bool,
    ) {
        let parent = tempfile::tempdir().unwrap();
        let (root, outside) = (parent.path().join("root"), parent.path().join("outside"));
        for path in ["x.yaml", "y.yaml", "d/x.yaml"] {
            put(&outside, path, b"000");
        }
        let untouched = snapshot(&outside);
        run(&root, &first).unwrap();
        for meddling in &meddlings {
            meddle(&root, &outside, meddling);
        }
        prop_assume!(snapshot(&outside) == untouched);
        let opened = Root::to_read(&root).unwrap().unwrap();
        let record = Inventory::read(&opened, INVENTORY).unwrap().unwrap_or_default();
        let before = snapshot(&root);
        let check = write_with(&UNSYNCED, &root, &second, Options { force, check: true, ..Options::default() }).unwrap();
        prop_assert_eq!(&snapshot(&root), &before);
        let result = write_with(&UNSYNCED, &root, &second, Options { force, check: false, ..Options::default() });
        let after = snapshot(&root);
        prop_assert_eq!(snapshot(&outside), untouched);
        match result {
            Ok(summary) => {
                prop_assert_eq!(check, summary);
                for (path, node) in &before {
                    if after.get(path) == Some(node) || path == INVENTORY {
                        continue;
                    }
                    let ours = match node {
                        Node::File(content) => {
                            let is_named = second.get(path).is_some() || record.hashes(path).next().is_some();
                            record.hashes(path).any(|listed| *listed == sha256(content)) || (force && is_named)
                        }
                        // Only directories that pruning emptied may go.
                        Node::Directory => first.0.iter().any(|(file, _)| file.starts_with(&format!("{path}/"))),
                        Node::Link(_) => false,
                    };
                    prop_assert!(ours, "{} was changed", path);
                }
                for (path, content) in &second.0 {
                    prop_assert_eq!(after.get(path), Some(&Node::File(content.clone())));
                }
                prop_assert_eq!(run(&root, &second).unwrap().differing, vec![]);
            }
            Err(OutputError::Refused { offenders, .. }) => {
                prop_assert_eq!(after, before);
                prop_assert_eq!(check.offenders, offenders);
            }
            Err(other) => prop_assert!(false, "{:?}", other),
        }
    }
}
