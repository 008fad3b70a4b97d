//! Git's index as a tree of files: the contents of the next commit, regardless of the work tree.
//!
//! Owns: which entries of the index count, reading its blobs from the object store, and whether it has some bytes.
//! Untracked files and unstaged edits are not in it; files that were deleted without `git rm` still are. Entries that
//! are only intended (`git add --intent-to-add`) would not be committed, so they are left out; files that a sparse
//! checkout omits are included. Flows in: a path and, when Git runs a hook, the index that it commits. Flows out: a
//! [`FileTree`].
//! Must not know: which files are input.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use gix::ObjectId;
use gix::index::entry::{Flags, Mode, Stage};

use super::disk::read_at_most;
use super::git::{GitError, Opened, open};
use super::ignored::Rules;
use super::lfs::pointer;
use super::objects::{Entry, MOST_OF_A_FILE, MOST_TOGETHER, Objects, is_name, whole};
use super::tree::{FileTree, TreeEntry, TreeError, join, key};
use crate::beneath::Enclosure;
use crate::diagnostic::shell_path;
use crate::parallel;

/// Why the index cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// No repository that has an index.
    #[error(transparent)]
    Repository(GitError),
    /// An index that is there but cannot be read.
    #[error("cannot read Git's index `{path}`: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
}

impl IndexError {
    /// How to fix it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Repository(
                error @ (GitError::Bare { .. } | GitError::WorkTree { .. } | GitError::Alternate { .. }),
            ) => error.help(),
            Self::Repository(_) => format!("run it in a work tree of a repository, or {INSTEAD}"),
            Self::Unreadable { .. } => {
                "check it: `git status`; `git read-tree HEAD` makes a new one and unstages everything"
                    .to_owned()
            }
        }
    }
}

const INSTEAD: &str = "leave out `--inputs git-index` to read the files on disk";

/// The entry of the index at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// A file of these bytes.
    Same,
    /// Something else.
    Other,
    /// Nothing.
    Nothing,
}

/// The files of the index.
pub struct IndexTree {
    objects: Objects,
    root: PathBuf,
    entries: Entries,
}

/// What the index has at which path. Any thread may ask, because no object is read.
#[derive(Debug)]
pub struct Entries {
    kind: gix::hash::Kind,
    /// By directory, then by name.
    directories: HashMap<String, BTreeMap<String, Item>>,
    /// Paths that a merge left in conflict.
    conflicts: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    entry: TreeEntry,
    id: ObjectId,
}

impl IndexTree {
    /// Reads the index of the repository that contains `path`, or the nearest directory above it. `index_file` is the
    /// value of `GIT_INDEX_FILE`: Git gives its hooks another index in `git commit -a` and `git commit FILE`. A
    /// repository that has no index yet has nothing in it.
    ///
    /// # Errors
    /// If there is no such repository, it has no work tree, or its index cannot be read.
    pub fn open(path: &Path, index_file: Option<&Path>) -> Result<Self, IndexError> {
        let Opened { repository, root } = open(path).map_err(IndexError::Repository)?;
        // Git is at the root of the work tree when it looks for a relative one.
        let file = index_file.map_or_else(|| repository.index_path(), |file| root.join(file));
        let mut tree = Self {
            root,
            entries: Entries {
                kind: repository.object_hash(),
                directories: HashMap::new(),
                conflicts: BTreeSet::new(),
            },
            objects: Objects::new(repository),
        };
        // A link to nothing is an index that is missing, and no new repository.
        if file.symlink_metadata().is_ok() || index_file.is_some() {
            tree.take_all(&file).map_err(|reason| IndexError::Unreadable {
                path: file.display().to_string(),
                reason,
            })?;
        }
        Ok(tree)
    }

    fn take_all(&mut self, file: &Path) -> Result<(), String> {
        let kind = self.entries.kind;
        let options = gix::index::decode::Options::default();
        // `index.skipHash` writes no checksum, which needs no option to be read.
        let index = gix::index::File::at(file, kind, false, options).map_err(|error| whole(error.error()))?;
        // Neighbors nearly always share their directory.
        let mut last = None;
        for entry in index.entries() {
            // A name that is not UTF-8 cannot be typed, and does not belong to a manifest.
            let Ok(path) = std::str::from_utf8(entry.path(&index)) else {
                continue;
            };
            if entry.flags.contains(Flags::INTENT_TO_ADD) {
                continue;
            }
            // A sparse index has a directory outside the checkout as one entry.
            let directory = entry.mode.is_sparse().then(|| path.trim_end_matches('/'));
            let whole = directory.unwrap_or(path);
            let (parent, name) = match whole.rsplit_once('/') {
                Some((parent, name)) => (Some(parent), name),
                None => (None, whole),
            };
            let is_valid = parent == last || parent.is_none_or(|parent| parent.split('/').all(is_name));
            if !(is_valid && is_name(name)) {
                return Err(format!("it contains `{path}`, which is not a valid path for Git"));
            }
            last = parent;
            if entry.stage() != Stage::Unconflicted {
                self.entries.conflicts.insert(path.to_owned());
            }
            if let Some(directory) = directory {
                self.take_directory(directory, entry.id)?;
                continue;
            }
            let kind = if entry.mode.is_submodule() {
                TreeEntry::Submodule
            } else if entry.mode == Mode::SYMLINK {
                TreeEntry::Link
            } else {
                TreeEntry::File
            };
            self.entries.put(
                path,
                Item {
                    entry: kind,
                    id: entry.id,
                },
            );
        }
        Ok(())
    }

    /// Adds everything below a directory that the index has as a tree.
    fn take_directory(&mut self, path: &str, id: ObjectId) -> Result<(), String> {
        let mut pending = vec![(path.to_owned(), id)];
        while let Some((directory, id)) = pending.pop() {
            let entries = self.objects.tree(id).map_err(|error| error.reason)?;
            let counted = self.objects.count_directory(id, entries.len());
            counted.map_err(|error| error.reason)?;
            for found in entries {
                let path = join(&directory, &found.name);
                if found.entry == TreeEntry::Directory {
                    pending.push((path, found.id));
                } else {
                    let Entry { entry, id, .. } = found;
                    self.entries.put(&path, Item { entry, id });
                }
            }
        }
        Ok(())
    }

    /// What it has at which path.
    #[must_use]
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// The paths of the files below a directory, relative to it, sorted.
    #[must_use]
    pub fn files_below(&self, directory: &Path) -> Vec<String> {
        let Some(top) = key(directory) else {
            return Vec::new();
        };
        let mut files = Vec::new();
        let mut pending = vec![String::new()];
        while let Some(inside) = pending.pop() {
            let items = self
                .entries
                .directories
                .get(join(&top, &inside).trim_end_matches('/'));
            for (name, item) in items.into_iter().flatten() {
                let path = join(&inside, name);
                if item.entry == TreeEntry::Directory {
                    pending.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files.sort_unstable();
        files
    }

    /// Whether a `.gitignore` of the index keeps a directory out of the repository.
    #[must_use]
    pub fn ignores(&self, directory: &Path) -> bool {
        let mut rules = Rules::default();
        let mut above = PathBuf::new();
        for part in directory.components() {
            if let Ok(text) = self.read(&above.join(".gitignore")) {
                rules = rules.with(&above, &text);
            }
            above.push(part);
            if rules.ignores(&above, true) {
                return true;
            }
        }
        false
    }

    fn refuse_conflict(&self, path: &Path) -> Result<(), TreeError> {
        let Some(path) = key(path).filter(|path| self.entries.conflicts.contains(path)) else {
            return Ok(());
        };
        let word = shell_path(&path);
        Err(TreeError {
            reason: "it has a merge conflict, so there is no version to commit".to_owned(),
            help: format!(
                "resolve it, then `git add {word}` (or `git rm {word}`) in `{}`",
                self.root.display()
            ),
        })
    }
}

impl Entries {
    /// Puts an entry into its directory, and the directory into those above it.
    fn put(&mut self, path: &str, item: Item) {
        let (mut parent, mut name) = path.rsplit_once('/').unwrap_or(("", path));
        if let Some(siblings) = self.directories.get_mut(parent) {
            // Where a conflict has a file and a directory of one name, the directory is what can be walked.
            if siblings
                .get(name)
                .is_none_or(|there| there.entry != TreeEntry::Directory)
            {
                siblings.insert(name.to_owned(), item);
            }
            return;
        }
        let only = BTreeMap::from([(name.to_owned(), item)]);
        self.directories.insert(parent.to_owned(), only);
        let directory = Item {
            entry: TreeEntry::Directory,
            id: item.id,
        };
        while !parent.is_empty() {
            (parent, name) = parent.rsplit_once('/').unwrap_or(("", parent));
            self.directories
                .entry(parent.to_owned())
                .or_default()
                .insert(name.to_owned(), directory);
        }
    }

    /// What it has at a path, compared with these bytes: the bytes themselves, or what Git LFS puts there for them. No
    /// blob is read: ids are compared.
    #[must_use]
    pub fn holds(&self, path: &Path, bytes: &[u8]) -> Held {
        let Some(item) = self.item(path) else {
            return Held::Nothing;
        };
        let is_blob_of = |content: &[u8]| is_blob_of(self.kind, item.id, content);
        let is_conflict = key(path).is_some_and(|path| self.conflicts.contains(&path));
        let is_file = item.entry == TreeEntry::File && !is_conflict;
        if is_file && (is_blob_of(bytes) || is_blob_of(pointer(bytes).as_bytes())) {
            Held::Same
        } else {
            Held::Other
        }
    }

    fn item(&self, path: &Path) -> Option<Item> {
        let path = key(path)?;
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        self.directories.get(parent)?.get(name).copied()
    }
}

/// Whether Git gives a file of this content this name.
fn is_blob_of(kind: gix::hash::Kind, id: ObjectId, content: &[u8]) -> bool {
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, content).is_ok_and(|found| found == id)
}

impl FileTree for IndexTree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn name(&self) -> Option<&str> {
        Some("index")
    }

    fn instead(&self) -> &'static str {
        INSTEAD
    }

    fn list(&self, directory: &Path) -> Result<Vec<(OsString, TreeEntry)>, TreeError> {
        self.refuse_conflict(directory)?;
        let entries = key(directory).and_then(|directory| self.entries.directories.get(&directory));
        Ok(entries
            .into_iter()
            .flatten()
            .map(|(name, item)| (OsString::from(name), item.entry))
            .collect())
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        if path.as_os_str().is_empty() {
            return Ok(Some(TreeEntry::Directory));
        }
        Ok(self.entries.item(path).map(|item| item.entry))
    }

    /// Most files of the work tree are those of the index, and opening one is faster than unpacking an object. Its content
    /// proves that it is the same, and nothing else does.
    fn prepare(&self, files: &[&Path]) {
        let Ok(work_tree) = Enclosure::open(&self.root) else {
            return;
        };
        let kind = self.entries.kind;
        let held = AtomicUsize::new(0);
        let same = |&(path, id): &(&Path, ObjectId)| {
            let bytes = read_at_most(work_tree.file(path).ok()?, MOST_OF_A_FILE).ok()?;
            let is_held = bytes.len() <= MOST_OF_A_FILE
                && is_blob_of(kind, id, &bytes)
                && held.fetch_add(bytes.len(), Relaxed) <= MOST_TOGETHER;
            is_held.then_some((id, bytes))
        };
        let files = files
            .iter()
            .filter_map(|path| Some((*path, self.entries.item(path)?.id)));
        let files: Vec<_> = files.collect();
        self.objects
            .offer(parallel::map(&files, same).into_iter().flatten());
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        self.refuse_conflict(path)?;
        let item = self
            .entries
            .item(path)
            .filter(|item| matches!(item.entry, TreeEntry::File | TreeEntry::Link))
            .ok_or_else(|| TreeError {
                reason: "there is no such file in Git's index".to_owned(),
                help: format!("add it: `git add {}`", shell_path(&path.display().to_string())),
            })?;
        self.objects.file(item.id, item.entry)
    }
}

impl std::fmt::Debug for IndexTree {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("IndexTree")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}
