//! Where an output may be: below a directory, on the way to which is no file and no link.

use std::fs::{self, File};

use super::{example, put, run};
use crate::output::error::RootFault;
use crate::output::write::stands_at;
use crate::output::{OutputError, existing_files};

#[test]
fn an_output_below_a_file_is_refused_with_the_name_of_the_file() {
    let place = tempfile::tempdir().unwrap();
    put(place.path(), "file", b"text");
    let file = place.path().join("file");
    for below in ["a", "a/b"] {
        match run(&file.join(below), &example()) {
            Err(OutputError::Root {
                path,
                fault: RootFault::NotADirectory,
            }) => assert_eq!(path, file),
            other => panic!("{below}: {other:?}"),
        }
    }
    assert!(run(&place.path().join("new/output"), &example()).is_ok());
}

#[test]
fn files_behind_a_link_are_not_looked_for() {
    let place = tempfile::tempdir().unwrap();
    put(place.path(), "root/there/file", b"text");
    std::os::unix::fs::symlink(place.path().join("root/there"), place.path().join("root/link")).unwrap();
    let root = place.path().join("root");
    let existing = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        existing_files(&root, &paths)
    };
    assert_eq!(
        existing(&["there/file", "there/other", "gone/file"]).unwrap(),
        ["there/file"]
    );
    assert!(existing(&["link/file"]).is_err());
}

#[test]
fn a_lock_is_that_of_a_root_only_as_long_as_the_root_stands() {
    let place = tempfile::tempdir().unwrap();
    let (root, other) = (place.path().join("root"), place.path().join("other"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&other).unwrap();
    let lock = File::open(&root).unwrap();
    assert!(stands_at(&lock, &root));
    fs::remove_dir(&root).unwrap();
    assert!(!stands_at(&lock, &root), "it is gone");
    fs::rename(&other, &root).unwrap();
    assert!(!stands_at(&lock, &root), "it is another one");
}
