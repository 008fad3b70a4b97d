//! Whether Git's index contains the output that is wanted, so that a commit would include it.
//!
//! Owns: which files count, and which of them need not be read from the work tree. Flows in: the index, the last commit, a
//! [`Tree`]. Flows out: files that differ, a [`Tree`] that vouches for files. Must not know: the caller, or what is
//! reported about them.
//!
//! A tree that was rendered and not added is as bad as one that was not rendered: the root in the commit would name
//! clusters whose files exist on one machine only (docs/guides/pre-commit.md).
//!
//! A file is not read if the index has exactly the wanted bytes, and if Git, too, takes it for unchanged since they were
//! added. Whatever is in the work tree then, `git commit`, with `-a` or without, commits the wanted bytes.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::output::{
    Change, ChangeKind, FILES_PER_TASK, FileKind, Hash, INVENTORY, Identity, Tree, Turn, inventory_bytes,
    unwanted,
};
use crate::parallel;
use crate::source::{FileTree as _, GitTree, Held, IndexTree, Staged};

/// A wanted tree, and what Git's index has of it.
pub struct InIndex<'a> {
    /// Where the output is in the repository.
    at: PathBuf,
    staged: Staged<'a>,
    tree: &'a dyn Tree,
    /// By file: what the index has there, and the hash of the wanted bytes.
    compared: Vec<OnceLock<(Held, Hash)>>,
    /// The inventory of the last commit.
    committed: OnceLock<Option<Vec<u8>>>,
}

impl<'a> InIndex<'a> {
    /// None if the output is outside the repository, or if the repository's rules exclude it.
    #[must_use]
    pub fn new(index: &'a IndexTree, output: &Path, tree: &'a dyn Tree) -> Option<Self> {
        let at = index.locate(output)?;
        let staged = index.below(&at);
        if staged.is_empty() && index.ignores(&at) {
            return None;
        }
        Some(Self {
            at,
            staged,
            tree,
            compared: (0..tree.len()).map(|_| OnceLock::new()).collect(),
            committed: OnceLock::new(),
        })
    }

    /// Compares all files with the index, and reads what else is needed, while something else is done.
    pub fn compare_while<R: Send>(
        &self,
        head: impl FnOnce() -> Option<GitTree> + Send,
        other: impl FnOnce() -> R + Send,
    ) -> R {
        let numbers: Vec<usize> = (0..self.tree.len()).collect();
        let tasks: Vec<&[usize]> = numbers.chunks(FILES_PER_TASK).collect();
        let compare = || {
            parallel::map(&tasks, |numbers| {
                let (mut buffer, mut near) = (Vec::new(), 0);
                for number in *numbers {
                    self.compared(*number, &mut buffer, &mut near);
                }
            })
        };
        // What has many parts comes last: it fills the time in which the other two keep one thread busy.
        let (result, _) = rayon::join(other, || rayon::join(|| self.committed(head), compare));
        result
    }

    fn committed(&self, head: impl FnOnce() -> Option<GitTree>) -> Option<&[u8]> {
        let read = || head()?.read(&self.at.join(INVENTORY)).ok();
        self.committed.get_or_init(read).as_deref()
    }

    /// `near` is where the index has the file, if the one before it was just compared.
    fn compared(&self, number: usize, buffer: &mut Vec<u8>, near: &mut usize) -> Option<(Held, Hash)> {
        let compare = || {
            buffer.clear();
            self.tree.content(number, buffer);
            let held = self.staged.holds_near(&self.tree.path(number), buffer, near);
            (held, self.tree.hash(number, buffer))
        };
        Some(*self.compared.get(number)?.get_or_init(compare))
    }

    /// How the index differs from the wanted tree and its inventory on disk, sorted. `output` is where it is, and which
    /// directory it must be within; it may be known that it is up to date.
    ///
    /// A file that is no longer wanted counts if the last commit's inventory lists it: files of others may be next to
    /// ours.
    #[must_use]
    pub fn unstaged(
        &self,
        head: impl FnOnce() -> Option<GitTree>,
        (output, within): (&Path, Option<&Path>),
        is_up_to_date: bool,
    ) -> Vec<Change> {
        let kind = |held| match held {
            Held::Same(_) => None,
            Held::Other => Some(ChangeKind::Changed),
            Held::Nothing => Some(ChangeKind::Missing),
        };
        let (mut buffer, mut near) = (Vec::new(), 0);
        let of_file = |number: usize| {
            let kind = kind(self.compared(number, &mut buffer, &mut near)?.0)?;
            let path = self.tree.path(number).into_owned();
            Some(Change { path, kind })
        };
        let mut differing: Vec<Change> = (0..self.tree.len()).filter_map(of_file).collect();
        let inventory = inventory_bytes(output, within);
        if let Some(inventory) = &inventory
            && let Some(kind) = kind(self.staged.holds(INVENTORY, inventory))
        {
            let path = INVENTORY.to_owned();
            differing.push(Change { path, kind });
        }
        // What is up to date lists nothing that is not wanted.
        let committed = self
            .committed(head)
            .filter(|committed| !is_up_to_date || inventory.as_deref() != Some(committed));
        let left = committed.map_or_else(Vec::new, |inventory| unwanted(self.tree, inventory));
        let left = left.into_iter().filter(|path| self.staged.has(path));
        differing.extend(left.map(|path| Change {
            path,
            kind: ChangeKind::Stale,
        }));
        differing.sort_unstable();
        differing
    }
}

impl std::fmt::Debug for InIndex<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("InIndex")
            .field("staged", &self.staged)
            .finish_non_exhaustive()
    }
}

impl Tree for InIndex<'_> {
    fn len(&self) -> usize {
        self.tree.len()
    }

    fn path(&self, index: usize) -> Cow<'_, str> {
        self.tree.path(index)
    }

    fn kind(&self, index: usize) -> FileKind {
        self.tree.kind(index)
    }

    fn turn(&self, index: usize) -> Turn {
        self.tree.turn(index)
    }

    fn owns(&self, path: &str) -> bool {
        self.tree.owns(path)
    }

    fn hash(&self, index: usize, content: &[u8]) -> Hash {
        let known = self.compared.get(index).and_then(OnceLock::get);
        known.map_or_else(|| self.tree.hash(index, content), |(_, hash)| *hash)
    }

    fn vouched(&self, index: usize, found: &dyn Fn() -> Option<Identity>) -> Option<Hash> {
        match self.compared(index, &mut Vec::new(), &mut 0)? {
            (Held::Same(added), hash) => added.is_still(&found()?).then_some(hash),
            _ => None,
        }
    }

    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        self.tree.content(index, buffer);
    }
}
