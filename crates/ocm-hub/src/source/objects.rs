//! Trees and blobs of a Git repository, and the limits on reading them. Nothing is unpacked before its size is known.
//!
//! The size of a repository does not limit the size of its contents: two megabytes can unpack to two gigabytes, and ten
//! nested trees of ten entries each are ten billion paths.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use apimachinery::Work;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository};

use super::disk::read_at_most;
use super::tree::{SMALLER, STEPS_PER_COPY, TreeEntry, TreeError};
use crate::beneath::Enclosure;
use crate::parallel;

/// The maximum size of one file, as on disk.
const MOST_OF_A_FILE: usize = kube_yaml::Limits::DEFAULT_DOCUMENT_BYTES;
/// The maximum size of the target of a link: Linux accepts no longer path (`PATH_MAX`).
const MOST_OF_A_LINK: usize = 4096;
/// The maximum size of one directory: 400,000 names.
const MOST_OF_A_DIRECTORY: usize = 16 << 20;
/// The maximum total size of all files that are taken over from a work tree.
const MOST_TOGETHER: usize = 256 << 20;
/// Bytes of files that are read in one step.
const BYTES_PER_STEP: usize = 9;
/// The work for a byte of a file that is the same as another: each of its documents is an object of its own, which takes
/// sixty times its text.
const STEPS_PER_COPIED_BYTE: u64 = 7;

/// The memory that gix may use for one object on the way to another: the base of a delta may be larger than its result.
pub(super) const ALLOCATION: usize = 4 * MOST_OF_A_FILE;

/// The objects of a repository.
#[derive(Debug)]
pub(super) struct Objects {
    repository: Repository,
    /// Contents of files that are known already, by their names.
    offered: RefCell<HashMap<ObjectId, Vec<u8>>>,
    read: RefCell<HashSet<ObjectId>>,
    work: Work,
}

/// One entry of a tree.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) entry: TreeEntry,
    pub(super) id: ObjectId,
}

impl Objects {
    pub(super) fn new(repository: Repository) -> Self {
        Self {
            repository,
            offered: RefCell::default(),
            read: RefCell::default(),
            work: Work::default(),
        }
    }

    /// Whether Git's own directory has one of this name.
    pub(super) fn has_directory(&self, name: &str) -> bool {
        self.repository.common_dir().join(name).is_dir()
    }

    /// Takes over the files of a work tree that these objects are: most of them, and opening one is faster than unpacking
    /// an object, which a partial clone may lack. Its content proves that it is the same, and nothing else does. It counts
    /// as if it were unpacked.
    pub(super) fn take_over<'p>(&self, root: &Path, files: impl Iterator<Item = (&'p Path, ObjectId)>) {
        let Ok(work_tree) = Enclosure::open(root) else {
            return;
        };
        let kind = self.repository.object_hash();
        let held = AtomicUsize::new(0);
        let same = |&(path, id): &(&Path, ObjectId)| {
            let bytes = read_at_most(work_tree.file(path).ok()?, MOST_OF_A_FILE).ok()?;
            let is_held = bytes.len() <= MOST_OF_A_FILE
                && is_blob_of(kind, id, &bytes)
                && held.fetch_add(bytes.len(), Relaxed) <= MOST_TOGETHER;
            is_held.then_some((id, bytes))
        };
        let same = parallel::map(&files.collect::<Vec<_>>(), same);
        self.offered.borrow_mut().extend(same.into_iter().flatten());
    }

    /// The entries of a tree, in the order of their names.
    ///
    /// # Errors
    /// It is missing, damaged, or too large, or has a name that leads out of it.
    pub(super) fn tree(&self, id: ObjectId) -> Result<Vec<Entry>, TreeError> {
        self.check_size(id, MOST_OF_A_DIRECTORY)?;
        let tree = self.repository.find_tree(id).map_err(|error| missing(&error))?;
        let mut entries = Vec::new();
        for entry in tree.iter() {
            let entry = entry.map_err(|error| missing(&error))?;
            // A name that is not UTF-8 cannot be typed, and does not belong to a manifest.
            let Ok(name) = std::str::from_utf8(entry.filename()) else {
                continue;
            };
            if !is_name(name) {
                let reason = format!("it has an entry named `{name}`, which Git never checks out");
                return Err(TreeError::new(reason, "check it: `git fsck`"));
            }
            entries.push(Entry {
                name: name.to_owned(),
                entry: match entry.mode().kind() {
                    EntryKind::Tree => TreeEntry::Directory,
                    EntryKind::Blob | EntryKind::BlobExecutable => TreeEntry::File,
                    EntryKind::Link => TreeEntry::Link,
                    EntryKind::Commit => TreeEntry::Submodule,
                },
                id: entry.object_id(),
            });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The bytes of a file or a link.
    ///
    /// # Errors
    /// It is missing, damaged, or too large, alone or with what was read before.
    pub(super) fn file(&self, id: ObjectId, entry: TreeEntry) -> Result<Vec<u8>, TreeError> {
        let most = if entry == TreeEntry::Link {
            MOST_OF_A_LINK
        } else {
            MOST_OF_A_FILE
        };
        let offered = (entry == TreeEntry::File).then(|| self.offered.borrow_mut().remove(&id));
        if let Some(bytes) = offered.flatten() {
            let is_too_much = self.count(id, 1, bytes.len())?;
            return Ok(if is_too_much { Vec::new() } else { bytes });
        }
        let size = self.check_size(id, most)?;
        if self.count(id, 1, size)? {
            return Ok(Vec::new());
        }
        let mut blob = self.repository.find_blob(id).map_err(|error| missing(&error))?;
        Ok(blob.take_data())
    }

    /// The size in the object's header; the object database enforces it.
    fn check_size(&self, id: ObjectId, most: usize) -> Result<usize, TreeError> {
        let size = self
            .repository
            .find_header(id)
            .map_err(|error| missing(&error))?
            .size();
        usize::try_from(size)
            .ok()
            .filter(|size| *size <= most)
            .ok_or_else(|| TreeError::new(format!("it has {size} bytes; at most {most} are read"), SMALLER))
    }

    /// Counts a directory of so many entries, or a file of so many bytes. Whether there is no more to read, as it was too
    /// much before.
    ///
    /// # Errors
    /// When it is too much now.
    pub(super) fn count(&self, id: ObjectId, entries: usize, bytes: usize) -> Result<bool, TreeError> {
        // It is reported once; what comes then is empty.
        if self.work.is_spent() {
            return Ok(true);
        }
        if !self.read.borrow_mut().insert(id) {
            self.work.pay(entries, STEPS_PER_COPY);
            self.work.pay(bytes, STEPS_PER_COPIED_BYTE);
        }
        if self.work.pay(bytes / BYTES_PER_STEP, 1) {
            return Ok(false);
        }
        Err(TreeError::too_costly())
    }
}

/// Whether Git gives a file of this content this name.
pub(super) fn is_blob_of(kind: gix::hash::Kind, id: ObjectId, content: &[u8]) -> bool {
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, content).is_ok_and(|found| found == id)
}

/// Whether Git itself would take a name into a tree or an index (git/git read-cache.c@v2.44.0 `verify_path`, fsck.c
/// `fsck_tree`). Any other leads around in circles, or out.
pub(super) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && !name.bytes().any(|byte| matches!(byte, b'/' | b'\0'))
        && !name.eq_ignore_ascii_case(".git")
}

/// An object that a complete clone would have.
fn missing(error: &dyn std::error::Error) -> TreeError {
    let help = "a partial clone lacks objects: `git fetch --refetch --no-filter`; else check it: `git fsck`";
    TreeError::new(whole(error), help)
}

/// An error with all its causes: the first message alone explains little.
pub(super) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let words = deeper.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = deeper.source();
    }
    text
}
