//! Somebody makes something in the place of a new directory, right before that gets its name.

use super::*;

fn wanted() -> Files {
    Files::new([("a/1", "one"), ("a/2", "two"), ("x", "x")])
}

/// The output after `appear` has happened, and how the run ended.
fn with(appear: fn(&Path)) -> (tempfile::TempDir, Result<Summary, OutputError>) {
    let root = tempfile::tempdir().unwrap();
    let storage = Unsynced(|next, name: &str| {
        if (next, name) == (Next::Given, "a") {
            appear(&root.path().join("a"));
        }
        Ok(())
    });
    let result = write_with(&storage, root.path(), &wanted(), Options::default());
    (root, result)
}

fn has_temporary(found: &Snapshot) -> bool {
    found
        .keys()
        .any(|path| path.contains(crate::output::root::TEMPORARY_PREFIX))
}

#[test]
fn what_appears_in_the_place_of_a_new_directory_stays_and_ends_the_run() {
    let directory = |at: &Path| put(at, "1", b"mine");
    let (root, result) = with(directory);
    match result {
        Err(OutputError::Io { action, path, .. }) => {
            assert_eq!((action, path), (Action::Write, root.path().join("a")));
        }
        other => panic!("{other:?}"),
    }
    let found = snapshot(root.path());
    assert_eq!(found["a/1"], Node::File(b"mine".to_vec()));
    assert!(!found.contains_key("a/2") && !has_temporary(&found), "{found:?}");
    // It is found where it is now.
    assert_eq!(
        obstacles(run(root.path(), &wanted())),
        [("a/1".to_owned(), Obstacle::Edited)]
    );

    let file = |at: &Path| fs::write(at, "mine").unwrap();
    let (root, result) = with(file);
    assert_eq!(obstacles(result), [("a".to_owned(), Obstacle::NotADirectory)]);
    let found = snapshot(root.path());
    assert_eq!(found["a"], Node::File(b"mine".to_vec()));
    assert!(!has_temporary(&found), "{found:?}");
}

#[test]
fn a_link_that_appears_in_the_place_of_a_new_directory_is_not_followed() {
    let (root, result) = with(|at| std::os::unix::fs::symlink("elsewhere", at).unwrap());
    assert_eq!(obstacles(result), [("a".to_owned(), Obstacle::Symlink)]);
    let found = snapshot(root.path());
    assert_eq!(found["a"], Node::Link("elsewhere".into()));
    assert!(!has_temporary(&found), "{found:?}");
}

#[test]
fn an_empty_directory_that_appears_in_the_place_of_a_new_one_becomes_it() {
    let (root, result) = with(|at| fs::create_dir(at).unwrap());
    assert_eq!(result.unwrap().written, 3);
    assert_eq!(snapshot(root.path()), expected(&wanted(), &Files::default()));
}

#[test]
fn a_temporary_name_that_is_taken_by_somebody_does_not_stop_the_run() {
    let root = tempfile::tempdir().unwrap();
    let taken = crate::output::root::temporary("a");
    put(root.path(), &format!("{taken}/mine"), b"mine");
    run(root.path(), &wanted()).unwrap();
    let foreign = Files::new([(format!("{taken}/mine").as_str(), "mine")]);
    assert_eq!(snapshot(root.path()), expected(&wanted(), &foreign));
}

#[test]
fn a_new_directory_below_another_one_with_files_is_made_in_it() {
    let root = tempfile::tempdir().unwrap();
    let tree = Files::new([
        ("a/1", "1"),
        ("a/b/1", "1"),
        ("a/b/c/1", "1"),
        ("a-b/1", "1"),
        ("d/e/1", "1"),
    ]);
    assert_eq!(run(root.path(), &tree).unwrap().written, 5);
    assert_eq!(snapshot(root.path()), expected(&tree, &Files::default()));
}
