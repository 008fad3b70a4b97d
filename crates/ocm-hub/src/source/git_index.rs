//! Git's index as a tree of files: the contents of the next commit, regardless of the work tree.
//!
//! Owns: which entries of the index count, reading its blobs from the object store, and whether it has some bytes.
//! Untracked files and unstaged edits are not in it; files that were deleted without `git rm` still are. Entries that
//! are only intended (`git add --intent-to-add`) would not be committed, so they are left out; files that a sparse
//! checkout omits are included. Flows in: a path and, when Git runs a hook, the index that it commits. Flows out: a
//! [`FileTree`].
//! Must not know: which files are input.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::index::entry::{Flags, Mode, Stage};

use super::git::{GitError, Opened, open};
use super::ignored::Rules;
use super::lfs::pointer;
use super::objects::{Entry, Objects, is_blob_of, is_name, whole};
use super::tree::{FileTree, TreeEntry, TreeError, join, key};
use crate::diagnostic::shell_path;

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
    pub fn help(&self) -> String {
        match self {
            Self::Repository(GitError::Foreign(error)) => error.help.clone(),
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
struct Entries {
    kind: gix::hash::Kind,
    /// Everything except directories, sorted by path, each path once. Nothing is at the path of a directory.
    files: Vec<(String, Item)>,
    /// Paths that a merge left in conflict.
    conflicts: BTreeSet<String>,
    /// Paths that a sparse checkout leaves out of the work tree.
    left_out: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    entry: TreeEntry,
    id: ObjectId,
}

/// What the index has below a directory. Any thread may ask.
#[derive(Debug, Clone, Copy)]
pub struct Staged<'i> {
    entries: &'i Entries,
    /// How long the path of the directory is, with its final `/`.
    before: usize,
    files: &'i [(String, Item)],
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
                files: Vec::new(),
                conflicts: BTreeSet::new(),
                left_out: BTreeSet::new(),
            },
            objects: Objects::new(repository),
        };
        // A link to nothing is an index that is missing, and no new repository.
        if file.symlink_metadata().is_ok() || index_file.is_some() {
            tree.take_all(&file).map_err(|reason| IndexError::Unreadable {
                path: file.display().to_string(),
                reason,
            })?;
            tree.entries.sort();
        }
        Ok(tree)
    }

    fn take_all(&mut self, file: &Path) -> Result<(), String> {
        let kind = self.entries.kind;
        let options = gix::index::decode::Options::default();
        // `index.skipHash` writes no checksum, which needs no option to be read.
        let index = gix::index::File::at(file, kind, false, options).map_err(|error| whole(error.error()))?;
        self.entries.files.reserve(index.entries().len());
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
            if directory.is_none() && entry.flags.contains(Flags::SKIP_WORKTREE) {
                self.entries.left_out.insert(path.to_owned());
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
            let item = Item {
                entry: kind,
                id: entry.id,
            };
            self.entries.files.push((path.to_owned(), item));
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
                    self.entries.left_out.insert(path.clone());
                    self.entries.files.push((path, Item { entry, id }));
                }
            }
        }
        Ok(())
    }

    /// What it has below a directory.
    pub fn below(&self, directory: &Path) -> Staged<'_> {
        let directory = key(directory);
        let (before, files) = directory
            .as_deref()
            .map_or((0, &[][..]), |path| self.entries.below(path));
        Staged {
            entries: &self.entries,
            before,
            files,
        }
    }

    /// The submodules below a directory, relative to it.
    pub fn submodules(&self, directory: &Path) -> impl Iterator<Item = &str> {
        let below = self.below(directory);
        let files = below.files.iter();
        let submodules = files.filter(|(_, item)| item.entry == TreeEntry::Submodule);
        submodules.map(move |(path, _)| below.inside(path))
    }

    /// The paths below a directory, relative to it, that a sparse checkout leaves out of the work tree.
    pub(super) fn left_out(&self, directory: &Path) -> impl Iterator<Item = &str> {
        let before = key(&directory.join("")).unwrap_or_default();
        let from_there = self.entries.left_out.range(before.clone()..);
        from_there.map_while(move |path| path.strip_prefix(&before))
    }

    /// Whether it has, instead of this content, what Git LFS puts there for it.
    pub(super) fn points_to(&self, path: &Path, content: &[u8]) -> bool {
        let item = key(path).and_then(|path| self.entries.file(&path));
        item.is_some_and(|item| is_blob_of(self.entries.kind, item.id, pointer(content).as_bytes()))
    }

    /// Whether Git LFS may have put contents into the work tree: nothing else of it costs less to find out.
    pub(super) fn has_lfs(&self) -> bool {
        let mut attributes = self
            .entries
            .files
            .iter()
            .filter(|(path, _)| path.ends_with(".gitattributes"));
        let names_it = |text: Vec<u8>| memchr::memmem::find(&text, b"lfs").is_some();
        self.objects.has_directory("lfs")
            || attributes.any(|(path, _)| self.read(Path::new(path)).is_ok_and(names_it))
    }

    /// Whether a `.gitignore` of the index keeps a directory out of the repository.
    pub fn ignores(&self, directory: &Path) -> bool {
        let mut rules = Rules::default();
        let mut above = PathBuf::new();
        for part in directory.components() {
            let text = self.read(&above.join(".gitignore"));
            rules = text.and_then(|text| rules.with(&above, &text)).unwrap_or(rules);
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
        let root = self.root.display();
        let help = format!("resolve it, then `git add {word}` (or `git rm {word}`) in `{root}`");
        let reason = "it has a merge conflict, so there is no version to commit";
        Err(TreeError::new(reason, help))
    }
}

impl Entries {
    /// Sorts what was added, and leaves out what cannot be walked. Of a path that is there several times, the last counts.
    fn sort(&mut self) {
        if !self.files.is_sorted_by(|(path, _), (next, _)| path < next) {
            self.files.sort_by(|(path, _), (other, _)| path.cmp(other));
            self.files.dedup_by(|(path, item), (kept, last)| {
                let is_again = path == kept;
                if is_again {
                    *last = *item;
                }
                is_again
            });
        }
        // Where a conflict has a file and a directory of one name, the directory is what can be walked.
        let mut covered = BTreeSet::new();
        let mut last = "";
        for (path, _) in &self.files {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            if directory != last {
                let ends = directory.match_indices('/').map(|(end, _)| end);
                let above = ends
                    .chain([directory.len()])
                    .filter_map(|end| directory.get(..end));
                covered.extend(
                    above
                        .filter(|above| self.file(above).is_some())
                        .map(str::to_owned),
                );
                last = directory;
            }
        }
        self.files.retain(|(path, _)| !covered.contains(path));
    }

    /// Everything below a directory, and how long the path of that is, with its final `/`.
    fn below(&self, directory: &str) -> (usize, &[(String, Item)]) {
        if directory.is_empty() {
            return (0, &self.files);
        }
        let before = format!("{directory}/");
        let first = self.files.partition_point(|(path, _)| *path < before);
        let rest = self.files.get(first..).unwrap_or_default();
        let count = rest.partition_point(|(path, _)| path.starts_with(&before));
        (before.len(), rest.get(..count).unwrap_or_default())
    }

    /// What is at a path, unless it is a directory.
    fn file(&self, path: &str) -> Option<Item> {
        let at = self
            .files
            .binary_search_by(|(other, _)| other.as_str().cmp(path))
            .ok()?;
        self.files.get(at).map(|(_, item)| *item)
    }
}

impl Staged<'_> {
    /// Whether it has nothing there.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// What it has at a path, relative to the directory, compared with these bytes: the bytes themselves, or what Git LFS
    /// puts there for them. No blob is read: ids are compared.
    pub fn holds(&self, path: &str, bytes: &[u8]) -> Held {
        let Some((whole, item)) = self.file(path) else {
            let before = format!("{path}/");
            let next = self
                .files
                .partition_point(|(whole, _)| self.inside(whole) < before.as_str());
            let next = self.files.get(next);
            let is_directory = next.is_some_and(|(whole, _)| self.inside(whole).starts_with(&before));
            return if is_directory { Held::Other } else { Held::Nothing };
        };
        let is_blob_of = |content: &[u8]| is_blob_of(self.entries.kind, item.id, content);
        let is_file = item.entry == TreeEntry::File && !self.entries.conflicts.contains(whole);
        if !is_file {
            Held::Other
        } else if is_blob_of(bytes) || is_blob_of(pointer(bytes).as_bytes()) {
            Held::Same
        } else {
            Held::Other
        }
    }

    /// Whether it has something at a path that is not a directory.
    pub fn has(&self, path: &str) -> bool {
        self.file(path).is_some()
    }

    fn file(&self, path: &str) -> Option<&(String, Item)> {
        let inside = |(whole, _): &(String, Item)| self.inside(whole).cmp(path);
        let at = self.files.binary_search_by(inside).ok()?;
        self.files.get(at)
    }

    /// The path of a file relative to the directory.
    fn inside<'p>(&self, whole: &'p str) -> &'p str {
        whole.get(self.before..).unwrap_or_default()
    }
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
        let below = self.below(directory);
        let mut entries = Vec::new();
        let mut rest = below.files;
        while let Some((path, item)) = rest.first() {
            let inside = below.inside(path);
            let (name, entry, count) = match inside.split_once('/') {
                None => (inside, item.entry, 1),
                Some((name, _)) => {
                    let end = below.before.saturating_add(name.len());
                    let directory = path.get(..=end).unwrap_or(path);
                    let count = rest.partition_point(|(path, _)| path.starts_with(directory));
                    (name, TreeEntry::Directory, count.max(1))
                }
            };
            entries.push((OsString::from(name), entry));
            rest = rest.get(count..).unwrap_or_default();
        }
        // By name: `a/b` comes after `a-b`, and `a` before.
        entries.sort_unstable();
        Ok(entries)
    }

    fn entry(&self, path: &Path) -> Result<Option<TreeEntry>, TreeError> {
        if path.as_os_str().is_empty() {
            return Ok(Some(TreeEntry::Directory));
        }
        let Some(path) = key(path) else { return Ok(None) };
        let file = self.entries.file(&path).map(|item| item.entry);
        let directory = || (!self.entries.below(&path).1.is_empty()).then_some(TreeEntry::Directory);
        Ok(file.or_else(directory))
    }

    fn prepare(&self, files: &[&Path]) {
        let named = files.iter().filter_map(|path| Some((*path, key(path)?)));
        let files = named.filter_map(|(path, key)| Some((path, self.entries.file(&key)?.id)));
        self.objects.take_over(&self.root, files);
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        self.refuse_conflict(path)?;
        let item = key(path)
            .and_then(|path| self.entries.file(&path))
            .filter(|item| matches!(item.entry, TreeEntry::File | TreeEntry::Link))
            .ok_or_else(|| {
                let help = format!("add it: `git add {}`", shell_path(&path.display().to_string()));
                TreeError::new("there is no such file in Git's index", help)
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
