//! What is believed of a file that was read before: nothing but its identity, and only one that no change can leave as
//! it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use proptest::prelude::*;

use super::super::{Hash, Identity, Tree, sha256};
use super::*;

/// A tree that believes what was seen in an earlier run, and notes which contents somebody asks for.
#[derive(Default)]
struct Remembering {
    files: Files,
    known: BTreeMap<usize, Identity>,
    seen: Mutex<BTreeMap<usize, Identity>>,
    asked: Mutex<Vec<usize>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Remembering {
    fn after(known: &BTreeMap<usize, Identity>) -> Self {
        Self {
            files: example(),
            known: known.clone(),
            ..Self::default()
        }
    }

    fn run(&self, root: &Path, check: bool) -> Result<Summary, OutputError> {
        let options = Options {
            check,
            ..Options::default()
        };
        write_with(&UNSYNCED, root, self, options)
    }

    fn seen(&self) -> BTreeMap<usize, Identity> {
        locked(&self.seen).clone()
    }
}

impl Tree for Remembering {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn path(&self, index: usize) -> Cow<'_, str> {
        self.files.path(index)
    }

    fn kind(&self, index: usize) -> FileKind {
        self.files.kind(index)
    }

    fn vouched(&self, index: usize, found: &dyn Fn() -> Option<Identity>) -> Option<Hash> {
        let known = self.known.get(&index)?;
        (*known == found()?).then(|| sha256(&self.files.0[index].1))
    }

    fn seen(&self, index: usize, found: &Identity) {
        locked(&self.seen).insert(index, *found);
    }

    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        locked(&self.asked).push(index);
        self.files.content(index, buffer);
    }
}

/// When the file system says that a file was changed.
fn changed(directory: &Directory, name: &str) -> (i64, i64) {
    directory.identity(name).expect("a file").changed
}

/// An output whose files were all changed before its inventory.
fn settled() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), &example()).unwrap();
    touch_inventory(root.path());
    root
}

/// Writes the same inventory again when the clock of the file system has gone on.
fn touch_inventory(root: &Path) {
    let directory = Directory::named(root).unwrap();
    let path = root.join(INVENTORY);
    let (bytes, before) = (fs::read(&path).unwrap(), changed(&directory, INVENTORY));
    while changed(&directory, INVENTORY) <= before {
        std::thread::yield_now();
        fs::write(&path, &bytes).unwrap();
    }
}

/// Other bytes in the same file, of the same length, and with the time that it had.
fn overwrite(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let time = fs::metadata(path).unwrap().modified().unwrap();
    let mut file = File::options().write(true).open(path).unwrap();
    io::Write::write_all(&mut file, text.to_uppercase().as_bytes()).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn a_file_that_was_read_is_not_read_again_while_its_identity_stays() {
    let root = settled();
    let first = Remembering::after(&BTreeMap::new());
    assert_eq!(first.run(root.path(), false).unwrap().differing, []);
    assert_eq!(first.seen().len(), 5);
    let second = Remembering::after(&first.seen());
    let summary = second.run(root.path(), false).unwrap();
    assert_eq!((summary.unchanged, summary.differing.len()), (5, 0));
    assert!(locked(&second.asked).is_empty());
    overwrite(&root.path().join("eu-1/gateway-a.yaml"));
    let third = Remembering::after(&first.seen());
    let edited = vec![("eu-1/gateway-a.yaml".to_owned(), Obstacle::Edited)];
    assert_eq!(obstacles(third.run(root.path(), false)), edited);
    assert_eq!(locked(&third.asked).len(), 1);
}

#[test]
fn of_a_file_that_changed_after_the_inventory_nothing_is_remembered() {
    let root = settled();
    let path = root.path().join("eu-1/gateway-a.yaml");
    // The same bytes: nothing but the time differs. By its clock, the file system may not have gone on since.
    fs::write(&path, fs::read(&path).unwrap()).unwrap();
    let tree = Remembering::after(&BTreeMap::new());
    assert_eq!(tree.run(root.path(), false).unwrap().differing, []);
    assert_eq!(tree.seen().keys().copied().collect::<Vec<_>>(), [0, 1, 3, 4]);
    touch_inventory(root.path());
    let tree = Remembering::after(&BTreeMap::new());
    assert_eq!(tree.run(root.path(), false).unwrap().differing, []);
    assert_eq!(tree.seen().len(), 5);
}

#[test]
fn without_an_inventory_nothing_is_remembered() {
    let root = settled();
    fs::remove_file(root.path().join(INVENTORY)).unwrap();
    let tree = Remembering::after(&BTreeMap::new());
    assert_eq!(tree.run(root.path(), true).unwrap().unchanged, 5);
    assert!(tree.seen().is_empty());
}

/// What somebody does to a file.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Overwrite,
    Replace,
    Swap,
    Lengthen,
    Remove,
    Nothing,
}

fn does(deed: Deed, root: &Path, path: &str) {
    let file = root.join(path);
    if !file.exists() {
        return;
    }
    match deed {
        Deed::Overwrite => overwrite(&file),
        Deed::Replace => {
            let time = fs::metadata(&file).unwrap().modified().unwrap();
            let text = fs::read_to_string(&file).unwrap().to_uppercase();
            let mut other = tempfile::NamedTempFile::new_in(root).unwrap();
            io::Write::write_all(&mut other, text.as_bytes()).unwrap();
            other.as_file().set_modified(time).unwrap();
            other.persist(&file).unwrap();
        }
        // Neither file changes, and each is the other.
        Deed::Swap => {
            let other = root.join("eu-1/kustomization.yaml");
            if other.exists() && other != file {
                fs::rename(&file, root.join("aside")).unwrap();
                fs::rename(&other, &file).unwrap();
                fs::rename(root.join("aside"), &other).unwrap();
            }
        }
        Deed::Lengthen => fs::write(&file, "kind: Longer\n").unwrap(),
        Deed::Remove => fs::remove_file(&file).unwrap(),
        Deed::Nothing => {}
    }
}

fn deeds() -> impl Strategy<Value = Vec<(Deed, usize)>> {
    let deed = prop_oneof![
        Just(Deed::Overwrite),
        Just(Deed::Replace),
        Just(Deed::Swap),
        Just(Deed::Lengthen),
        Just(Deed::Remove),
        Just(Deed::Nothing),
    ];
    proptest::collection::vec((deed, 0..5_usize), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_run_that_remembers_finds_what_one_that_reads_everything_finds(before in deeds(), after in deeds()) {
        let files = example();
        let root = settled();
        let done = |deeds: Vec<(Deed, usize)>| {
            for (deed, index) in deeds {
                does(deed, root.path(), &files.0[index].0);
            }
        };
        done(before);
        let first = Remembering::after(&BTreeMap::new());
        first.run(root.path(), true).unwrap();
        done(after);
        let remembering = Remembering::after(&first.seen()).run(root.path(), true).unwrap();
        prop_assert_eq!(remembering, checked(root.path(), &files).unwrap());
    }
}
