//! Git's index as a tree of files: the contents of the next commit, regardless of the work tree. Also what Git knows of a work
//! tree that the disk does not show.
//!
//! Untracked files and unstaged edits are not in the index; files that were deleted without `git rm` still are. Entries that
//! are only intended (`git add --intent-to-add`) would not be committed, so they are left out; files that a sparse
//! checkout omits are included.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::config::file::{Metadata, init::Options};
use gix::index::entry::{Flags, Mode, Stage};

use super::disk::Disk;
use super::git::{Entry, GitError, GitTree, Objects, Opened, is_blob_of, is_name, open, pointer, whole};
use super::ignored::{Rules, is_manifest};
use super::tree::{FileTree, TreeEntry, TreeError, key};
use crate::diagnostic::shell_path;
use crate::sandbox::{join, prefixes};

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
pub enum BlobState {
    /// A file of these bytes.
    Same,
    /// Something else.
    Other,
    /// Nothing.
    Nothing,
}

/// The files of the index.
#[derive(Debug)]
pub struct IndexTree {
    objects: Objects,
    root: PathBuf,
    entries: Entries,
}

/// What the index has at which path. Any thread may ask, because no object is read.
#[derive(Debug)]
struct Entries {
    kind: gix::hash::Kind,
    /// Everything except directories, by path. Nothing is at the path of a directory.
    files: BTreeMap<String, Item>,
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
#[derive(Debug, Clone)]
pub struct Staged<'i> {
    entries: &'i Entries,
    /// The path of the directory, with its final `/`; nothing for the root.
    before: String,
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
                files: BTreeMap::new(),
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
        }
        Ok(tree)
    }

    fn take_all(&mut self, file: &Path) -> Result<(), String> {
        let kind = self.entries.kind;
        let options = gix::index::decode::Options::default();
        // `index.skipHash` writes no checksum, which needs no option to be read.
        let index = gix::index::File::at(file, kind, false, options).map_err(|error| whole(error.error()))?;
        let mut files = Vec::with_capacity(index.entries().len());
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
                self.take_directory(directory, entry.id, &mut files)?;
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
            files.push((path.to_owned(), item));
        }
        // Of a path that is there several times, the last counts.
        self.entries.files = files.into_iter().collect();
        self.entries.uncover();
        Ok(())
    }

    /// Adds everything below a directory that the index has as a tree.
    fn take_directory(
        &mut self,
        path: &str,
        id: ObjectId,
        files: &mut Vec<(String, Item)>,
    ) -> Result<(), String> {
        let mut pending = vec![(path.to_owned(), id)];
        while let Some((directory, id)) = pending.pop() {
            let entries = self.objects.tree(id).map_err(|error| error.reason)?;
            let counted = self.objects.count(id, entries.len().saturating_add(1), 0);
            counted.map_err(|error| error.reason)?;
            for found in entries {
                let path = join(&directory, &found.name);
                if found.entry == TreeEntry::Directory {
                    pending.push((path, found.id));
                } else {
                    let Entry { entry, id, .. } = found;
                    self.entries.left_out.insert(path.clone());
                    files.push((path, Item { entry, id }));
                }
            }
        }
        Ok(())
    }

    /// What it has below a directory.
    pub fn below(&self, directory: &Path) -> Staged<'_> {
        Staged {
            entries: &self.entries,
            // No path of the index begins with that of a directory whose name is not UTF-8.
            before: key(&directory.join("")).unwrap_or_else(|| "//".to_owned()),
        }
    }

    /// The submodules below a directory, relative to it.
    pub fn submodules(&self, directory: &Path) -> Vec<&str> {
        let below = self.below(directory);
        let files = below.files();
        let submodules = files.filter(|(_, item)| item.entry == TreeEntry::Submodule);
        submodules.map(|(path, _)| path).collect()
    }

    /// The paths below a directory, relative to it, that a sparse checkout leaves out of the work tree.
    pub(super) fn left_out(&self, directory: &Path) -> impl Iterator<Item = &str> {
        let before = key(&directory.join("")).unwrap_or_default();
        let from_there = self.entries.left_out.range(before.clone()..);
        from_there.map_while(move |path| path.strip_prefix(&before))
    }

    /// Whether it has, instead of this content, what Git LFS puts there for it.
    pub(super) fn points_to(&self, path: &Path, content: &[u8]) -> bool {
        let item = key(path).and_then(|path| self.entries.files.get(&path));
        item.is_some_and(|item| is_blob_of(self.entries.kind, item.id, pointer(content).as_bytes()))
    }

    /// Whether Git LFS may have put contents into the work tree: nothing else of it costs less to find out.
    pub(super) fn has_lfs(&self) -> bool {
        let mut attributes = self
            .entries
            .files
            .keys()
            .filter(|path| path.ends_with(".gitattributes"));
        let names_it = |text: Vec<u8>| memchr::memmem::find(&text, b"lfs").is_some();
        self.objects.has_directory("lfs")
            || attributes.any(|path| self.read(Path::new(path)).is_ok_and(names_it))
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
    /// Leaves out what cannot be walked: where a conflict has a file and a directory of one name, the directory can.
    fn uncover(&mut self) {
        let mut covered = BTreeSet::new();
        let mut last = "";
        for path in self.files.keys() {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            if directory != last {
                let above = prefixes(directory).filter(|above| self.files.contains_key(*above));
                covered.extend(above.map(str::to_owned));
                last = directory;
            }
        }
        self.files.retain(|path, _| !covered.contains(path));
    }

    /// The files whose paths begin with `before`, from the path `from` on, and what follows it in their paths.
    fn files_from<'e, 'b>(
        &'e self,
        from: &str,
        before: &'b str,
    ) -> impl Iterator<Item = (&'e str, &'e Item)> + use<'e, 'b> {
        let files = self
            .files
            .range::<str, _>((Bound::Included(from), Bound::Unbounded));
        files.map_while(move |(path, item)| Some((path.strip_prefix(before)?, item)))
    }
}

impl<'i> Staged<'i> {
    /// The files below the directory, by their paths relative to it.
    fn files(&self) -> impl Iterator<Item = (&'i str, &'i Item)> + use<'_, 'i> {
        self.entries.files_from(&self.before, &self.before)
    }

    /// Whether it has nothing there.
    pub fn is_empty(&self) -> bool {
        self.files().next().is_none()
    }

    /// What it has at a path, relative to the directory, compared with these bytes: the bytes themselves, or what Git LFS
    /// puts there for them. No blob is read: ids are compared.
    pub fn compare(&self, path: &str, bytes: &[u8]) -> BlobState {
        let whole = [&self.before, path].concat();
        let Some(item) = self.entries.files.get(&whole) else {
            let before = [&whole, "/"].concat();
            let is_directory = self.entries.files_from(&before, &before).next().is_some();
            return if is_directory {
                BlobState::Other
            } else {
                BlobState::Nothing
            };
        };
        let is_blob_of = |content: &[u8]| is_blob_of(self.entries.kind, item.id, content);
        let is_file = item.entry == TreeEntry::File && !self.entries.conflicts.contains(&whole);
        if is_file && (is_blob_of(bytes) || is_blob_of(pointer(bytes).as_bytes())) {
            BlobState::Same
        } else {
            BlobState::Other
        }
    }

    /// Whether it has something at a path that is not a directory.
    pub fn has(&self, path: &str) -> bool {
        self.entries.files.contains_key(&[&self.before, path].concat())
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
        let Staged { before, .. } = self.below(directory);
        let mut entries = Vec::new();
        let mut from = before.clone();
        while let Some((inside, item)) = self.entries.files_from(&from, &before).next() {
            let (name, entry, next) = match inside.split_once('/') {
                None => (inside, item.entry, '\0'),
                // What follows all that is in the directory.
                Some((name, _)) => (name, TreeEntry::Directory, '0'),
            };
            entries.push((OsString::from(name), entry));
            from = format!("{before}{name}{next}");
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
        let file = self.entries.files.get(&path).map(|item| item.entry);
        let is_directory = || !self.below(Path::new(&path)).is_empty();
        Ok(file.or_else(|| is_directory().then_some(TreeEntry::Directory)))
    }

    fn prepare(&self, files: &[&Path]) {
        let named = files.iter().filter_map(|path| Some((*path, key(path)?)));
        let files = named.filter_map(|(path, key)| Some((path, self.entries.files.get(&key)?.id)));
        self.objects.take_over(&self.root, files);
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, TreeError> {
        self.refuse_conflict(path)?;
        let item = key(path)
            .and_then(|path| self.entries.files.get(&path))
            .filter(|item| matches!(item.entry, TreeEntry::File | TreeEntry::Link))
            .ok_or_else(|| {
                let help = format!("add it: `git add {}`", shell_path(&path.display().to_string()));
                TreeError::new("there is no such file in Git's index", help)
            })?;
        self.objects.file(item.id, item.entry)
    }
}

/// The repository around a directory: submodules, files in Git LFS, sparse checkout.
///
/// The machine that checks a change may have fetched those files, or left them out; a revision has neither, so `diff`
/// would compare two different things.
pub(super) struct WorkTree<'d> {
    disk: &'d Disk,
    index: IndexTree,
    /// A submodule that was taken out of the index is still on disk.
    head: Option<GitTree>,
    /// The paths that `.gitmodules` names.
    modules: BTreeSet<PathBuf>,
    /// Whether Git LFS has put contents into the work tree.
    has_lfs: bool,
    /// The last directory that is in no submodule.
    clear: RefCell<PathBuf>,
}

impl<'d> WorkTree<'d> {
    /// Opens it; `None` without one that can be read.
    pub(super) fn around(directory: &Path, disk: &'d Disk) -> Option<Self> {
        let index = IndexTree::open(directory, None).ok()?;
        let modules = disk.read(&index.root().join(".gitmodules"));
        Some(Self {
            disk,
            head: GitTree::open(directory, "HEAD").ok(),
            modules: modules.map(|text| paths_of(&text)).unwrap_or_default(),
            has_lfs: index.has_lfs(),
            index,
            clear: RefCell::default(),
        })
    }

    fn inside<'p>(&self, real: &'p Path) -> Option<&'p Path> {
        real.strip_prefix(self.index.root()).ok()
    }

    fn is_submodule(&self, path: &Path) -> bool {
        let is_submodule = |entry| entry == TreeEntry::Submodule;
        let committed = || self.head.as_ref()?.entry(path).ok()?;
        self.modules.contains(path)
            || match self.index.entry(path) {
                Ok(Some(entry)) => is_submodule(entry),
                _ => committed().is_some_and(is_submodule),
            }
    }

    /// What Git has at the real path of an entry, if it is not what the disk has.
    pub(super) fn entry(&self, real: &Path, entry: TreeEntry) -> TreeEntry {
        let Some(path) = self.inside(real) else {
            return entry;
        };
        let is_stored_elsewhere = || {
            let content = self.disk.read(real);
            content.is_ok_and(|content| self.index.points_to(path, &content))
        };
        let directory = match entry {
            TreeEntry::Directory => path,
            _ => path.parent().unwrap_or(path),
        };
        let mut above = directory.ancestors().filter(|path| !path.as_os_str().is_empty());
        if self.clear.borrow().as_path() != directory && above.any(|path| self.is_submodule(path)) {
            return TreeEntry::Submodule;
        }
        directory.clone_into(&mut self.clear.borrow_mut());
        if entry == TreeEntry::File && self.has_lfs && is_stored_elsewhere() {
            TreeEntry::Pointer
        } else {
            entry
        }
    }

    /// Whether files below a path that was typed are left out of the work tree.
    pub(super) fn is_left_out(&self, path: &Path) -> bool {
        let inside = self.index.locate(path);
        inside.is_some_and(|path| self.index.left_out(&path).next().is_some())
    }

    /// The names directly in a real directory, with their kind, of manifests that are left out, or of directories of some.
    pub(super) fn left_out(&self, real: &Path) -> BTreeMap<String, TreeEntry> {
        let paths = self
            .inside(real)
            .into_iter()
            .flat_map(|path| self.index.left_out(path));
        let manifests = paths.filter(|path| is_manifest(OsStr::new(path)));
        let names = manifests.map(|path| match path.split_once('/') {
            Some((name, _)) => (name.to_owned(), TreeEntry::Directory),
            None => (path.to_owned(), TreeEntry::File),
        });
        names.collect()
    }
}

/// The paths in a `.gitmodules`.
fn paths_of(text: &[u8]) -> BTreeSet<PathBuf> {
    let modules = gix::config::File::from_bytes_no_includes(text, Metadata::api(), Options::default());
    let Ok(modules) = modules else {
        return BTreeSet::new();
    };
    let sections = modules.sections_by_name("submodule").into_iter().flatten();
    let paths = sections.filter_map(|section| section.value("path"));
    paths
        .filter_map(|path| Some(PathBuf::from(std::str::from_utf8(&path).ok()?)))
        .collect()
}
