//! The real thing: a file system of one megabyte that is full.

use std::path::Path;
use std::process::{Command, Stdio};

use super::super::storage::TEMPORARY_PREFIX;
use super::*;

/// Where the small file system is mounted; set by the parent only.
const ROOT: &str = "SPOKEWRIGHT_TEST_SMALL_DISK";

/// A tree of a few hundred kilobytes.
fn version(works: std::ops::Range<usize>, version: &str) -> Files {
    let files = works.map(|work| {
        (
            format!("c-{}/{work}.yaml", work % 9),
            version.repeat(2_000).into_bytes(),
        )
    });
    Files(files.collect::<BTreeMap<_, _>>().into_iter().collect())
}

#[test]
#[ignore = "only the test below runs this, where a small file system is mounted"]
fn child() {
    let Some(mounted) = std::env::var_os(ROOT) else {
        return;
    };
    let root = Path::new(&mounted).join("rendered");
    let (old, new) = (version(0..60, "old "), version(30..120, "new "));
    write(&root, &old, Options::default()).unwrap();
    put(&root, "mine", &vec![b'm'; 300_000]);
    let error = write(&root, &new, Options::default()).unwrap_err();
    let OutputError::Io { source, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);

    let found = snapshot(&root);
    assert!(!found.keys().any(|path| path.contains(TEMPORARY_PREFIX)));
    for (path, content) in &old.0 {
        let Some(Node::File(found)) = found.get(path) else {
            panic!("{path} is gone")
        };
        assert!(found == content || new.get(path) == Some(found), "{path} is torn");
    }
    // The same input still does not fit. With a little room for a new plan another one does, and what the failed
    // runs wrote goes again.
    write(&root, &new, Options::default()).unwrap_err();
    let mine = Files(vec![("mine".to_owned(), vec![b'm'; 200_000])]);
    put(&root, "mine", &mine.0[0].1);
    write(&root, &old, Options::default()).unwrap();
    assert_eq!(snapshot(&root), expected(&old, &mine));
    fs::remove_file(root.join("mine")).unwrap();
    write(&root, &new, Options::default()).unwrap();
    assert_eq!(snapshot(&root), expected(&new, &Files::default()));
}

#[test]
fn a_disk_that_is_really_full_stops_the_run_and_nothing_is_lost() {
    let mounted = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=1m none "$1" && exec "$2" --exact --ignored output::tests::full_disk::child"#;
    let output = Command::new("unshare")
        .args(["-r", "-m", "sh", "-c", script, "sh"])
        .arg(mounted.path())
        .arg(std::env::current_exe().unwrap())
        .env(ROOT, mounted.path())
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            assert!(
                String::from_utf8_lossy(&output.stdout).contains("1 passed"),
                "{output:?}"
            );
        }
        // What the test harness says when a test fails; everything else is about mounting.
        Ok(output) if output.status.code() == Some(101) => {
            panic!("{}", String::from_utf8_lossy(&output.stdout))
        }
        other => eprintln!("SKIPPED: no file system can be mounted here: {other:?}"),
    }
}
