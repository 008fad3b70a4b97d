//! What Git knows of a work tree that the disk does not show: submodules, files in Git LFS, sparse checkout.
//!
//! The machine that checks a change may have fetched those files, or left them out; a revision has neither, so `diff`
//! would compare two different things.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::git::GitTree;
use super::git_index::IndexTree;
use super::paths::is_manifest;
use super::tree::{FileTree as _, TreeEntry};

/// The repository around a directory.
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
        let directory = if entry == TreeEntry::Directory {
            Some(path)
        } else {
            path.parent()
        };
        let directory = directory.unwrap_or(path);
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
    use gix::config::file::{Metadata, init::Options};
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
