//! Tests of the engine as a whole, and the disks and trees they use.

mod bookkeeping;
mod deleting;
mod interruption;
mod meddling;
#[cfg(unix)]
mod new_directories;
mod ownership;
mod parts;
#[cfg(unix)]
mod places;
#[cfg(unix)]
mod swapped;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::root::{Disk, Storage};
use super::write::write_with;
use super::{Action, ChangeKind, FileKind, INVENTORY, Obstacle, Options, OutputError, Summary, Tree, write};
use crate::sandbox::Directory;

/// A tree in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Files(Vec<(String, Vec<u8>)>);

impl Files {
    fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let sorted = files
            .into_iter()
            .map(|(path, content)| (path.to_owned(), content.as_bytes().to_vec()))
            .collect::<BTreeMap<_, _>>();
        Self(sorted.into_iter().collect())
    }

    fn get(&self, path: &str) -> Option<&[u8]> {
        self.0
            .iter()
            .find(|(own, _)| own == path)
            .map(|(_, content)| content.as_slice())
    }
}

impl Tree for Files {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn path(&self, index: usize) -> Cow<'_, str> {
        Cow::Borrowed(&self.0[index].0)
    }

    fn kind(&self, index: usize) -> FileKind {
        if self.0[index].0.ends_with("kustomization.yaml") {
            FileKind::Kustomization
        } else {
            FileKind::Object
        }
    }

    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.0[index].1);
    }
}

/// What is on disk under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
}

/// Everything below a directory, links not followed.
pub(super) type Snapshot = BTreeMap<String, Node>;

pub(super) fn snapshot(root: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(directory) = pending.pop() {
        let Ok(entries) = fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            let name = name.replace(std::path::MAIN_SEPARATOR, "/");
            let kind = fs::symlink_metadata(&path).unwrap();
            let node = if kind.is_symlink() {
                Node::Link(fs::read_link(&path).unwrap())
            } else if kind.is_dir() {
                pending.push(path);
                Node::Directory
            } else {
                Node::File(fs::read(&path).unwrap())
            };
            found.insert(name, node);
        }
    }
    found
}

/// Exactly what should be on disk: the tree, its inventory, the foreign files, and the directories of all.
pub(super) fn expected(tree: &Files, foreign: &Files) -> Snapshot {
    let mut wanted = Snapshot::new();
    let mut inventory = Vec::new();
    for (path, content) in &tree.0 {
        super::inventory::write_line(&mut inventory, path, &super::root::sha256(content)).unwrap();
    }
    wanted.insert(INVENTORY.to_owned(), Node::File(inventory));
    for (path, content) in tree.0.iter().chain(&foreign.0) {
        for directory in crate::sandbox::prefixes(super::tree::directory_of(path)) {
            wanted.insert(directory.to_owned(), Node::Directory);
        }
        wanted.insert(path.clone(), Node::File(content.clone()));
    }
    wanted
}

pub(super) fn put(root: &Path, path: &str, content: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// What is about to happen to a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A file of this name is removed.
    Removed,
    /// Something gets this name.
    Given,
}

/// The disk, but nobody waits for the medium: thousands of runs would take minutes. Something may happen before a file is
/// removed, or before anything is renamed.
pub(super) struct Unsynced<B>(pub(super) B);

impl<B: Fn(Next, &str) -> io::Result<()> + Sync> Storage for Unsynced<B> {
    fn create_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        Disk.create_dir(at, name)
    }
    fn create(&self, at: &Directory, name: &str) -> io::Result<File> {
        Disk.create(at, name)
    }
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        Disk.write(file, bytes)
    }
    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
    fn rename(&self, at: &Directory, from: &str, to: &str) -> io::Result<()> {
        (self.0)(Next::Given, to).and_then(|()| Disk.rename(at, from, to))
    }
    fn remove_file(&self, at: &Directory, name: &str) -> io::Result<()> {
        (self.0)(Next::Removed, name).and_then(|()| Disk.remove_file(at, name))
    }
    fn remove_dir(&self, at: &Directory, name: &str) -> io::Result<()> {
        Disk.remove_dir(at, name)
    }
}

/// The disk, on which nothing else happens.
const UNSYNCED: Unsynced<fn(Next, &str) -> io::Result<()>> = Unsynced(|_, _| Ok(()));

pub(super) fn run(root: &Path, tree: &Files) -> Result<Summary, OutputError> {
    write_with(&UNSYNCED, root, tree, Options::default())
}

pub(super) fn forced(root: &Path, tree: &Files) -> Result<Summary, OutputError> {
    write_with(
        &UNSYNCED,
        root,
        tree,
        Options {
            force: true,
            check: false,
            ..Options::default()
        },
    )
}

pub(super) fn checked(root: &Path, tree: &Files) -> Result<Summary, OutputError> {
    write_with(
        &UNSYNCED,
        root,
        tree,
        Options {
            force: false,
            check: true,
            ..Options::default()
        },
    )
}

/// What stopped a run, or a panic when nothing did.
pub(super) fn obstacles(result: Result<Summary, OutputError>) -> Vec<(String, Obstacle)> {
    match result {
        Err(OutputError::Refused { offenders, .. }) => offenders
            .into_iter()
            .map(|offender| (offender.path, offender.obstacle))
            .collect(),
        other => panic!("not refused: {other:?}"),
    }
}

pub(super) fn changes(summary: &Summary) -> Vec<(&str, ChangeKind)> {
    summary
        .differing
        .iter()
        .map(|change| (change.path.as_str(), change.kind))
        .collect()
}

fn example() -> Files {
    Files::new([
        ("eu-1-b/gateway-a.yaml", "kind: B\n"),
        ("eu-1/gateway-a-b.yaml", "kind: AB\n"),
        ("eu-1/gateway-a.yaml", "kind: A\n"),
        ("eu-1/kustomization.yaml", "resources: []\n"),
        ("kustomization.yaml", "resources: [eu-1, eu-1-b]\n"),
    ])
}
