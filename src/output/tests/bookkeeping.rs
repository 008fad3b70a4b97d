//! The inventory file, determinism and the stream.

use std::fs;
use std::io::{self, Write};
#[cfg(unix)]
use std::process::Command;

use proptest::prelude::*;

use super::super::error::InventoryFault;
use super::super::inventory::{Inventory, PLAN};
use super::super::root::Root;
use super::*;
use crate::output::stream;

#[test]
fn the_inventory_is_what_sha256sum_reads_and_lists_all_files_but_itself_in_byte_order() {
    let root = tempfile::tempdir().unwrap();
    let tree = Files::new([
        ("a b/it's $x.yaml", "1"),
        ("a-b/x.yaml", "2"),
        ("a/x.yaml", "3"),
        ("é.yaml", "4"),
    ]);
    run(root.path(), &tree).unwrap();
    let text = fs::read_to_string(root.path().join(INVENTORY)).unwrap();
    let paths = text.lines().map(|line| &line[66..]).collect::<Vec<_>>();
    assert_eq!(paths, ["a b/it's $x.yaml", "a-b/x.yaml", "a/x.yaml", "é.yaml"]);
    assert!(text.starts_with("6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b  a b/"));
}

#[cfg(unix)]
#[test]
fn sha256sum_agrees_with_the_inventory_odd_names_included() {
    let root = tempfile::tempdir().unwrap();
    let tree = Files::new([
        ("a\\b.yaml", "1"),
        ("a\nb\rc.yaml", "2"),
        (" lead.yaml", "3"),
        ("*star.yaml", "4"),
        ("p.yaml", "5"),
    ]);
    run(root.path(), &tree).unwrap();
    assert_eq!(run(root.path(), &tree).unwrap().differing, []);
    let Ok(output) = Command::new("sha256sum")
        .args(["--strict", "-c", INVENTORY])
        .current_dir(root.path())
        .output()
    else {
        eprintln!("SKIPPED: there is no sha256sum here");
        return;
    };
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn an_inventory_that_cannot_be_trusted_stops_every_run_and_nothing_is_deleted() {
    let digits = "0".repeat(64);
    for (line, wanted) in [
        (
            format!("{digits}  ../outside"),
            InventoryFault::Outside { line: 1 },
        ),
        (
            format!("{digits}  /etc/passwd"),
            InventoryFault::Outside { line: 1 },
        ),
        (
            format!("{digits}  a/../../outside"),
            InventoryFault::Outside { line: 1 },
        ),
        (
            format!("{digits}  {INVENTORY}"),
            InventoryFault::Outside { line: 1 },
        ),
        (format!("{digits}  "), InventoryFault::Outside { line: 1 }),
        ("garbage".to_owned(), InventoryFault::Malformed { line: 1 }),
        (String::new(), InventoryFault::Malformed { line: 1 }),
        (
            format!("{digits}  ok\n{}  short", &digits[1..]),
            InventoryFault::Malformed { line: 2 },
        ),
        (
            format!("{digits}  windows\r"),
            InventoryFault::Malformed { line: 1 },
        ),
        (
            format!("\\{digits}  bad\\x"),
            InventoryFault::Malformed { line: 1 },
        ),
        ("é".repeat(40_000), InventoryFault::Malformed { line: 1 }),
    ] {
        for name in [INVENTORY, PLAN] {
            let parent = tempfile::tempdir().unwrap();
            let root = parent.path().join("root");
            put(parent.path(), "outside", b"mine");
            put(&root, name, format!("{line}\n").as_bytes());
            let before = snapshot(parent.path());
            for attempt in [run, forced, checked] {
                match attempt(&root, &example()) {
                    Err(OutputError::Inventory { path, fault }) => {
                        assert_eq!((path, fault), (root.join(name), wanted), "{line:?}");
                    }
                    other => panic!("{line:?}: {other:?}"),
                }
            }
            assert_eq!(snapshot(parent.path()), before);
        }
    }
}

#[test]
fn an_inventory_that_is_a_link_or_a_directory_is_not_read() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("root");
    fs::create_dir(&root).unwrap();
    put(parent.path(), "elsewhere", b"");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../elsewhere", root.join(INVENTORY)).unwrap();
        assert!(matches!(
            run(&root, &example()),
            Err(OutputError::Inventory {
                fault: InventoryFault::NotAFile,
                ..
            })
        ));
        fs::remove_file(root.join(INVENTORY)).unwrap();
    }
    fs::create_dir(root.join(INVENTORY)).unwrap();
    assert!(matches!(
        run(&root, &example()),
        Err(OutputError::Inventory {
            fault: InventoryFault::NotAFile,
            ..
        })
    ));
}

#[test]
fn an_inventory_that_says_the_same_in_other_bytes_is_written_again() {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), &example()).unwrap();
    let wanted = fs::read_to_string(root.path().join(INVENTORY)).unwrap();
    let reversed = wanted
        .lines()
        .rev()
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let doubled = format!("{wanted}{wanted}");
    let in_conflict = format!("<<<<<<< HEAD\n{wanted}||||||| 1a2b\n=======\n{wanted}>>>>>>> other\n");
    for text in [
        reversed,
        doubled,
        in_conflict,
        wanted.trim_end().to_owned(),
        wanted.replacen('b', "B", 1),
        String::new(),
    ] {
        put(root.path(), INVENTORY, text.as_bytes());
        assert_eq!(
            changes(&run(root.path(), &example()).unwrap()),
            [(INVENTORY, ChangeKind::Changed)],
            "{text}"
        );
        assert_eq!(fs::read_to_string(root.path().join(INVENTORY)).unwrap(), wanted);
    }
}

#[test]
fn the_inventory_follows_a_file_that_bears_another_name_with_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let (old, new) = (
        Files::new([("a.yaml", "kind: A\n")]),
        Files::new([("b.yaml", "kind: A\n")]),
    );
    run(root.path(), &old).unwrap();
    fs::rename(root.path().join("a.yaml"), root.path().join("b.yaml")).unwrap();
    assert_eq!(
        changes(&checked(root.path(), &new).unwrap()),
        [(INVENTORY, ChangeKind::Changed)]
    );
    run(root.path(), &new).unwrap();
    assert_eq!(snapshot(root.path()), expected(&new, &Files::default()));
}

#[test]
fn without_its_inventory_an_output_is_taken_over_where_it_holds_what_is_wanted() {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), &example()).unwrap();
    fs::remove_file(root.path().join(INVENTORY)).unwrap();
    assert_eq!(
        changes(&run(root.path(), &example()).unwrap()),
        [(INVENTORY, ChangeKind::Missing)]
    );
    fs::remove_file(root.path().join(INVENTORY)).unwrap();
    let next = Files::new([("eu-1/gateway-a.yaml", "kind: A2\n")]);
    assert_eq!(
        obstacles(run(root.path(), &next)),
        [("eu-1/gateway-a.yaml".to_owned(), Obstacle::Foreign)]
    );
}

#[test]
fn the_outcome_is_the_same_for_any_number_of_threads() {
    let files = (0..1_000).map(|n| (format!("c-{}/{n}.yaml", n % 7), format!("{n}")));
    let tree = Files(
        files
            .map(|(path, text)| (path, text.into_bytes()))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .collect(),
    );
    let outcomes = [1, 2, 7].map(|threads| {
        let root = tempfile::tempdir().unwrap();
        run(root.path(), &example()).unwrap();
        for n in [3, 33, 333] {
            put(root.path(), &format!("c-{}/{n}.yaml", n % 7), b"foreign");
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let refused = obstacles(run(root.path(), &tree));
            (
                refused,
                forced(root.path(), &tree).unwrap(),
                snapshot(root.path()),
            )
        })
    });
    assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(outcomes[0].0.len(), 3);
}

#[test]
fn a_stream_holds_objects_only_sorted_by_cluster_and_work_with_separators_between_them() {
    let mut text = Vec::new();
    stream(&example(), &mut text).unwrap();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "kind: A\n---\nkind: AB\n---\nkind: B\n"
    );
    let mut text = Vec::new();
    stream(
        &Files::new([("a/1.yaml", "no newline"), ("a/2.yaml", "x\n")]),
        &mut text,
    )
    .unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), "no newline\n---\nx\n");
    let mut text = Vec::new();
    stream(&Files::default(), &mut text).unwrap();
    assert!(text.is_empty());
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is() {
    struct Refusing(io::ErrorKind);
    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(self.0))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    stream(&example(), &mut Refusing(io::ErrorKind::BrokenPipe)).unwrap();
    assert!(matches!(
        stream(&example(), &mut Refusing(io::ErrorKind::StorageFull)),
        Err(OutputError::Stream(_))
    ));
}

fn line_of(text: &str) -> impl Strategy<Value = String> + use<> {
    let pieces = text
        .chars()
        .map(String::from)
        .chain([" ", "\n", "  ", "..", "/"].map(String::from))
        .collect::<Vec<_>>();
    proptest::collection::vec(proptest::sample::select(pieces), 0..90).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Any text in place of an inventory is understood or refused, and what is understood stays inside.
    #[test]
    fn no_inventory_whatever_it_holds_names_a_path_outside(text in prop_oneof![
        any::<String>(), line_of("0123456789abcdef\\nr"), "([0-9a-f]{64}  [a./\\\\]{0,6}\n){0,4}",
    ]) {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), INVENTORY, text.as_bytes());
        let opened = Root::to_read(root.path()).unwrap().unwrap();
        if let Ok(Some(found)) = Inventory::read(&opened, INVENTORY) {
            for (path, _) in found.iter() {
                prop_assert!(!path.starts_with('/') && path.split('/').all(|part| !["", ".", ".."].contains(&part)), "{}", path);
            }
        }
    }
}
