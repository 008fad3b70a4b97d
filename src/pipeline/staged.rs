//! Whether Git's index contains the output that is wanted, so that a commit would include it.
//!
//! A tree that was rendered and not added is as bad as one that was not rendered: the root in the commit would name
//! clusters whose files exist on one machine only (docs/guides/pre-commit.md).

use std::path::{Path, PathBuf};

use crate::output::{Change, ChangeKind, INVENTORY, Output, Tree, inventory_bytes, unwanted};
use crate::parallel;
use crate::source::{BlobState, FileTree as _, GitTree, IndexTree, Staged};

/// A wanted tree, and what Git's index has of it.
#[expect(missing_debug_implementations, reason = "it contains a trait object")]
pub struct InIndex<'a> {
    /// Where the output is in the repository.
    at: PathBuf,
    staged: Staged<'a>,
    tree: &'a dyn Tree,
}

impl<'a> InIndex<'a> {
    /// None if the output is outside the repository, or if the repository's rules exclude it.
    pub fn new(index: &'a IndexTree, output: &Path, tree: &'a dyn Tree) -> Option<Self> {
        let at = index.locate(output)?;
        let staged = index.below(&at);
        if staged.is_empty() && index.ignores(&at) {
            return None;
        }
        Some(Self { at, staged, tree })
    }

    /// How the index differs from the wanted tree and its inventory on disk, sorted. `output` is where it is, and which
    /// directory it must be within; it may be known that it is up to date.
    ///
    /// A file that is no longer wanted counts if the last commit's inventory lists it: files of others may be next to
    /// ours.
    pub fn unstaged(
        &self,
        head: impl FnOnce() -> Option<GitTree>,
        output: Output<'_>,
        is_up_to_date: bool,
    ) -> Vec<Change> {
        let kind = |path: &str, wanted: &[u8]| match self.staged.compare(path, wanted) {
            BlobState::Same => None,
            BlobState::Other => Some(ChangeKind::Changed),
            BlobState::Nothing => Some(ChangeKind::Missing),
        };
        let numbers: Vec<usize> = (0..self.tree.len()).collect();
        let of_files = parallel::map(&numbers, |number| {
            let (path, mut wanted) = (self.tree.path(*number), Vec::new());
            self.tree.content(*number, &mut wanted);
            let kind = kind(&path, &wanted)?;
            let path = path.into_owned();
            Some(Change { path, kind })
        });
        let mut differing: Vec<Change> = of_files.into_iter().flatten().collect();
        let inventory = inventory_bytes(output.root, output.within);
        if let Some(inventory) = &inventory
            && let Some(kind) = kind(INVENTORY, inventory)
        {
            let path = INVENTORY.to_owned();
            differing.push(Change { path, kind });
        }
        // What is up to date lists nothing that is not wanted.
        let committed = head()
            .and_then(|head| head.read(&self.at.join(INVENTORY)).ok())
            .filter(|committed| !is_up_to_date || inventory.as_ref() != Some(committed));
        let left = committed.map_or_else(Vec::new, |inventory| unwanted(self.tree, &inventory));
        let left = left.into_iter().filter(|path| self.staged.has(path));
        differing.extend(left.map(|path| Change {
            path,
            kind: ChangeKind::Stale,
        }));
        differing.sort_unstable();
        differing
    }
}
