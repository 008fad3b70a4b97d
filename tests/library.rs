//! The library as somebody else uses it: the example does what the command does.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../examples/render.rs"]
#[allow(dead_code)]
mod example;

#[test]
fn the_example_of_the_library_writes_what_the_command_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let output = scratch.path().join("rendered");
    assert_eq!(
        example::render(root.join("examples/fleet"), output.clone()).unwrap(),
        0
    );
    let committed = root.join("examples/fleet/rendered");
    assert_eq!(files(&output), files(&committed));
    for path in files(&committed) {
        assert_eq!(
            fs::read(output.join(&path)).unwrap(),
            fs::read(committed.join(&path)).unwrap(),
            "{}",
            path.display()
        );
    }
}

/// The files below a directory, by their paths inside it.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                files.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}
