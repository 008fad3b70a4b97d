//! An index that takes over files of the work tree: what it has staged, the same findings, the same limits.

use super::every_tree::{git, staged};
use super::*;
use crate::source::git_index::BlobState;
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
    assert_alike(&root, &["reading everything up to it takes more work"]);
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

#[test]
fn the_entries_of_a_directory_are_sorted_by_name_whatever_is_in_them() {
    let files = ["hub/a-b", "hub/a/x", "hub/a/y/z", "hub/a0", "hub.yaml", "z"];
    let files = files.map(|path| (path, "a: 1\n"));
    let (_directory, root) = staged(&files);
    let index = IndexTree::open(&root, None).expect("an index");
    let list = |path: &str| {
        let entries = index.list(Path::new(path)).expect("a directory");
        let shown = entries.iter().map(|(name, entry)| match entry {
            TreeEntry::Directory => format!("{}/", name.display()),
            _ => name.display().to_string(),
        });
        shown.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(list(""), "hub/ hub.yaml z");
    assert_eq!(list("hub"), "a/ a-b a0");
    assert_eq!(list("hub/a"), "x y/");
    assert_eq!(list("hub/a0"), "");
    let entry = |path: &str| index.entry(Path::new(path)).expect("it can be read");
    assert_eq!(entry("hub/a"), Some(TreeEntry::Directory));
    assert_eq!(entry("hub/a-b"), Some(TreeEntry::File));
    assert_eq!(entry("hub/a/y/z"), Some(TreeEntry::File));
    assert_eq!(entry("hub/b"), None);
}

#[test]
fn bytes_are_those_of_the_index_only_at_their_path() {
    let (_directory, root) = staged(&[
        ("out/a", "a: 1\n"),
        ("out/b/c", "b: 1\n"),
        ("out-1/a", "a: 2\n"),
        ("outer", "a: 3\n"),
    ]);
    let index = IndexTree::open(&root, None).expect("an index");
    let below = index.below(Path::new("out"));
    for (path, bytes, expected) in [
        ("a", "a: 1\n", "same"),
        ("a", "a: 2\n", "other"),
        ("b/c", "b: 1\n", "same"),
        ("b", "b: 1\n", "other"),
        ("c", "b: 1\n", "nothing"),
        ("outer", "a: 3\n", "nothing"),
    ] {
        let found = match below.compare(path, bytes.as_bytes()) {
            BlobState::Same => "same",
            BlobState::Other => "other",
            BlobState::Nothing => "nothing",
        };
        assert_eq!(found, expected, "{path} {bytes}");
        let is_file = matches!(path, "a" | "b/c");
        assert_eq!(below.has(path), is_file, "{path}");
    }
    assert!(index.below(Path::new("ou")).is_empty());
    assert!(index.below(Path::new("")).has("outer"));
}

#[test]
fn where_a_conflict_has_a_file_and_a_directory_of_one_name_the_directory_is_walked() {
    let (_directory, root) = staged(&[("hub/a-b", "a: 1\n"), ("ours", "a: 1\n")]);
    let id = git(&root, &["rev-parse", ":ours"]);
    let info =
        format!("100644 {id} 2\thub/a\n100644 {id} 3\thub/a/b\n100644 {id} 2\thub/c\n100644 {id} 3\thub/c\n");
    write(&root, "info", &info);
    let fed = format!("git update-index --index-info < {}", root.join("info").display());
    let done = std::process::Command::new("sh")
        .args(["-c", &fed])
        .current_dir(&root)
        .status();
    assert!(done.expect("a shell").success());
    let index = IndexTree::open(&root, None).expect("an index");
    let entry = |path: &str| index.entry(Path::new(path)).expect("it can be read");
    assert_eq!(entry("hub/a"), Some(TreeEntry::Directory));
    assert_eq!(entry("hub/c"), Some(TreeEntry::File));
    let below = index.below(Path::new("hub"));
    for path in ["a", "a/b", "c"] {
        assert_eq!(below.compare(path, b"a: 1\n"), BlobState::Other, "{path}");
    }
    assert_eq!(below.compare("a-b", b"a: 1\n"), BlobState::Same);
    assert!(index.list(Path::new("hub/c")).is_err(), "it has a conflict");
}
