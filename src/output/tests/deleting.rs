//! What happens when a file that is to go has gone, or cannot go.

use super::*;

/// An output with three files that a run without files deletes.
fn output() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let old = Files::new([("a/1", "old"), ("a/2", "old"), ("b/1", "old")]);
    run(root.path(), &old).unwrap();
    root
}

fn emptied(root: &Path, before: impl Fn(&str) -> io::Result<()> + Sync) -> Result<Summary, OutputError> {
    let storage = Unsynced(|next, name: &str| match next {
        Next::Removed => before(name),
        Next::Given => Ok(()),
    });
    write_with(&storage, root, &Files::default(), Options::default())
}

#[test]
fn a_file_that_cannot_be_deleted_is_named_and_the_next_run_deletes_it() {
    let root = output();
    let denied = |_: &str| Err(io::Error::from(io::ErrorKind::PermissionDenied));
    match emptied(root.path(), denied) {
        Err(OutputError::Io { action, path, .. }) => {
            assert_eq!((action, path), (Action::Delete, root.path().join("a/1")));
        }
        other => panic!("{other:?}"),
    }
    assert!(root.path().join("b/1").exists());
    run(root.path(), &Files::default()).unwrap();
    assert_eq!(
        snapshot(root.path()),
        expected(&Files::default(), &Files::default())
    );
}

#[test]
fn a_file_that_somebody_else_deletes_in_time_is_deleted() {
    let root = output();
    let gone = |name: &str| {
        let _ = fs::remove_file(root.path().join("a").join(name));
        Ok(())
    };
    emptied(root.path(), gone).unwrap();
    assert_eq!(
        snapshot(root.path()),
        expected(&Files::default(), &Files::default())
    );
}

#[test]
fn a_directory_that_somebody_else_deletes_in_time_is_deleted() {
    let root = output();
    // Leftovers of an earlier run are removed first: one stands in for the moment before all others.
    let leftover = crate::output::root::temporary("b/1");
    fs::write(root.path().join("b").join(&leftover), b"").unwrap();
    let gone = |name: &str| {
        if name == leftover {
            fs::remove_dir_all(root.path().join("a"))?;
        }
        Ok(())
    };
    emptied(root.path(), gone).unwrap();
    assert_eq!(
        snapshot(root.path()),
        expected(&Files::default(), &Files::default())
    );
}

#[cfg(unix)]
#[test]
fn a_directory_that_becomes_a_link_before_its_files_are_deleted_is_an_error() {
    let (root, outside) = (output(), tempfile::tempdir().unwrap());
    put(outside.path(), "1", b"foreign");
    let leftover = crate::output::root::temporary("b/1");
    fs::write(root.path().join("b").join(&leftover), b"").unwrap();
    let swap = |name: &str| {
        if name == leftover {
            fs::remove_dir_all(root.path().join("a"))?;
            std::os::unix::fs::symlink(outside.path(), root.path().join("a"))?;
        }
        Ok(())
    };
    let result = emptied(root.path(), swap);
    assert!(
        matches!(
            result,
            Err(OutputError::Io {
                action: Action::Delete,
                ..
            } | OutputError::Refused { .. })
        ),
        "{result:?}"
    );
    assert!(outside.path().join("1").exists());
}
