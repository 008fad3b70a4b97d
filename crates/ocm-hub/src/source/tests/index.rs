//! An index that takes over files of the work tree: what it has staged, the same findings, the same limits.

use super::every_tree::staged;
use super::*;
use crate::source::{Files, IndexTree, Sources};

/// Everything that is read from the index.
fn read(root: &Path) -> String {
    let request = Request {
        hub: vec![root.join("hub")],
        root: root.join("hub"),
        ..Request::default()
    };
    let index = IndexTree::open(root, None).expect("an index");
    let (mut sources, mut findings) = (Sources::default(), Findings::new());
    let documents = Files::Tree(&index).documents(&request, None, &mut sources, &mut findings);
    let texts = sources.files().iter().map(|file| (&file.relative, &file.text));
    format!("{documents:#?}\n{:#?}\n{findings:#?}", texts.collect::<Vec<_>>())
}

/// What the index gives is the same with the work tree and without it.
#[track_caller]
fn assert_alike(root: &Path, expected: &[&str]) {
    let with = read(root);
    fs::remove_dir_all(root.join("hub")).expect("a directory");
    fs::create_dir(root.join("hub")).expect("a directory");
    assert_eq!(with, read(root));
    for text in expected {
        assert!(with.contains(text), "{text} is not in {with}");
    }
}

#[test]
fn what_is_staged_counts_and_not_what_the_work_tree_has() {
    let (_directory, root) = staged(&[
        ("hub/same.yaml", "kind: Same\n"),
        ("hub/again.yaml", "kind: Same\n"),
        ("hub/changed.yaml", "kind: Before\n"),
        ("hub/swapped.yaml", "kind: Swapped\n"),
        ("hub/gone.yaml", "kind: Gone\n"),
        ("hub/directory.yaml", "kind: WasAFile\n"),
    ]);
    write(&root, "hub/changed.yaml", "kind: After!\n");
    write(&root, "hub/swapped.yaml", "kind: Same\n");
    for file in ["hub/gone.yaml", "hub/directory.yaml"] {
        fs::remove_file(root.join(file)).expect("a file");
    }
    write(&root, "hub/directory.yaml/a.yaml", "kind: Inside\n");
    let staged = ["Before", "Swapped", "Gone", "WasAFile"];
    assert_alike(&root, &staged);
}

#[test]
fn a_file_of_the_work_tree_counts_toward_the_limits_on_an_index() {
    let large = format!("kind: A\ntext: {}\n", "x".repeat(1 << 20));
    let names: Vec<String> = (0..6).map(|number| format!("hub/{number}.yaml")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), large.as_str())).collect();
    let (_directory, root) = staged(&files);
    assert_alike(&root, &["all copies so far have more than"]);
}

#[test]
fn an_object_that_is_missing_is_one_that_the_work_tree_may_have() {
    let (_directory, root) = staged(&[("hub/a.yaml", "kind: A\n"), ("hub/b.yaml", "kind: B\n")]);
    write(&root, "hub/b.yaml", "kind: Other\n");
    fs::remove_dir_all(root.join(".git/objects")).expect("a directory");
    fs::create_dir_all(root.join(".git/objects/info")).expect("a directory");
    fs::create_dir_all(root.join(".git/objects/pack")).expect("a directory");
    let found = read(&root);
    assert!(found.contains("kind: A"), "{found}");
    assert!(found.contains("cannot read `index:"), "{found}");
    assert!(!found.contains("Other"), "{found}");
}
