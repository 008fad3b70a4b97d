//! Which directories to look at, and which files in each.
//!
//! Owns: grouping wanted and stale files by directory, and refusing a tree that breaks the rules of [`Tree`]. Flows
//! in: a tree, the record. Flows out: [`Directories`]. Must not know: what is on disk.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{OutputError, TreeFault};
use super::inventory::Inventory;
use super::record::Record;
use super::tree::{Tree, directory_of, is_safe_path, prefixes};

/// The files of one directory.
#[derive(Debug, Default)]
pub(super) struct Directory {
    /// Path inside the output, `""` for the root.
    pub(super) path: String,
    /// Indices of the wanted files that are directly in it.
    pub(super) wanted: Vec<usize>,
    /// Paths on record that are directly in it and not wanted, sorted, each once.
    pub(super) stale: Vec<String>,
    /// Whether it exists.
    pub(super) exists: bool,
}

/// All directories by path. The root is always among them.
#[derive(Debug)]
pub(super) struct Directories(BTreeMap<String, Directory>);

impl Directories {
    /// Those of the wanted files.
    ///
    /// # Errors
    /// When the tree breaks the rules of [`Tree`].
    pub(super) fn of(tree: &dyn Tree) -> Result<Self, OutputError> {
        let fault = |path: &str, fault| OutputError::Tree {
            path: path.to_owned(),
            fault,
        };
        let mut directories = Self(BTreeMap::from([(String::new(), Directory::default())]));
        let mut run = Directory::default();
        let mut previous: Option<std::borrow::Cow<'_, str>> = None;
        for index in 0..tree.len() {
            let path = tree.path(index);
            if !is_safe_path(&path) {
                return Err(fault(&path, TreeFault::Unsafe));
            }
            if previous
                .as_deref()
                .is_some_and(|previous| previous >= path.as_ref())
            {
                return Err(fault(&path, TreeFault::Order));
            }
            // Neighbors nearly always share their directory: the map is asked once for a run of them.
            let directory = directory_of(&path);
            if directory != run.path {
                directories.keep(std::mem::take(&mut run));
                directory.clone_into(&mut run.path);
            }
            run.wanted.push(index);
            previous = Some(path);
        }
        directories.keep(run);
        for directory in directories.0.keys() {
            if let Some(path) = prefixes(directory).find(|prefix| position(tree, prefix).is_some()) {
                return Err(fault(path, TreeFault::FileAndDirectory));
            }
        }
        Ok(directories)
    }

    fn keep(&mut self, run: Directory) {
        if !run.wanted.is_empty() {
            self.at(&run.path).wanted.extend(run.wanted);
        }
    }

    fn at(&mut self, path: &str) -> &mut Directory {
        self.0.entry(path.to_owned()).or_insert_with(|| Directory {
            path: path.to_owned(),
            ..Directory::default()
        })
    }

    /// Those of the stale files of a record too, and those around all of them, where new ones have their temporary names; sorted by
    /// path.
    pub(super) fn with_stale(mut self, tree: &dyn Tree, record: &Record) -> Vec<Directory> {
        for path in record.lists().flat_map(|list| stale(tree, Some(list))) {
            self.at(directory_of(&path)).stale.push(path);
        }
        let around: BTreeSet<String> = self.0.keys().map(|path| directory_of(path).to_owned()).collect();
        for path in around {
            self.at(&path);
        }
        let mut directories = self.0.into_values().collect::<Vec<_>>();
        for directory in &mut directories {
            directory.stale.sort_unstable();
            directory.stale.dedup();
        }
        directories
    }
}

/// The paths in a list that are not wanted, as far as the tree speaks for them.
pub(super) fn stale(tree: &dyn Tree, list: Option<&Inventory>) -> Vec<String> {
    let mut wanted = (0..tree.len()).map(|index| tree.path(index)).peekable();
    let mut stale = Vec::new();
    for (path, _) in list.into_iter().flat_map(Inventory::iter) {
        while wanted.next_if(|wanted| wanted.as_ref() < path).is_some() {}
        if wanted.peek().is_none_or(|wanted| wanted.as_ref() != path) && tree.owns(path) {
            stale.push(path.to_owned());
        }
    }
    stale
}

/// The index of a path in the tree.
pub(crate) fn position(tree: &dyn Tree, path: &str) -> Option<usize> {
    let (mut low, mut high) = (0_usize, tree.len());
    while low < high {
        let middle = low.midpoint(high);
        match tree.path(middle).as_ref().cmp(path) {
            std::cmp::Ordering::Less => low = middle.saturating_add(1),
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}
