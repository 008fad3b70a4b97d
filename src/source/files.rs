//! Where input is read from: the disk, or a tree that is not on disk.

use std::path::Path;
use std::sync::Arc;

use super::discover_tree::discover_tree;
use super::documents::{load_files, load_tree, read_tree_text};
use super::tree::{FileTree, Lead, TreeEntry, inside, resolve};
use super::{Document, Request, Sources, discover, read_text};
use crate::diagnostic::{DocumentId, Findings};
use crate::progress::Stage;

/// A choice of files; paths mean the same in each.
#[derive(Clone, Copy)]
pub enum Files<'a> {
    /// Those on disk.
    Disk,
    /// Those of a tree. What the tree does not have is not there; configuration outside of it is read from disk.
    Tree(&'a dyn FileTree),
}

impl Files<'_> {
    /// Whether a directory stands at `path`.
    #[must_use]
    pub fn is_dir(self, path: &Path) -> bool {
        match self {
            Self::Disk => path.is_dir(),
            Self::Tree(tree) => entry(tree, path) == Some(TreeEntry::Directory),
        }
    }

    /// Whether a file stands at `path`.
    #[must_use]
    pub fn is_file(self, path: &Path) -> bool {
        match self {
            Self::Disk => path.is_file(),
            Self::Tree(tree) => entry(tree, path) == Some(TreeEntry::File),
        }
    }

    /// Whether nothing stands at `path`. What lies outside of a tree is another matter.
    #[must_use]
    pub fn lacks(self, path: &Path) -> bool {
        match self {
            Self::Disk => !path.exists(),
            Self::Tree(tree) => inside(tree, path)
                .is_some_and(|at| matches!(resolve(tree, &at), Ok(Lead::Nowhere | Lead::Outside))),
        }
    }

    /// See [`read_text`].
    pub fn read_text(
        self,
        path: &Path,
        sources: &mut Sources,
        findings: &mut Findings,
    ) -> Option<(Arc<str>, DocumentId)> {
        if let Self::Tree(tree) = self
            && let Some(at) = inside(tree, path)
            && let Ok(Lead::To(real, _)) = resolve(tree, &at)
        {
            return read_tree_text(tree, &real, path, sources, findings);
        }
        read_text(path, sources, findings)
    }

    /// The documents of all input files: [`discover()`], then [`load`](super::load).
    pub fn documents(
        self,
        request: &Request,
        stdin: Option<&[u8]>,
        sources: &mut Sources,
        findings: &mut Findings,
    ) -> Vec<Document> {
        match self {
            Self::Disk => {
                let finding = request.progress.begin(Stage::Finding);
                let files = discover(request, findings);
                drop(finding);
                load_files(&files, stdin, &request.progress, sources, findings)
            }
            Self::Tree(tree) => {
                let finding = request.progress.begin(Stage::Finding);
                let files = discover_tree(request, tree, findings);
                drop(finding);
                load_tree(&files, tree, stdin, &request.progress, sources, findings)
            }
        }
    }
}

fn entry(tree: &dyn FileTree, path: &Path) -> Option<TreeEntry> {
    let (_, entry) = resolve(tree, &inside(tree, path)?).ok()?.found()?;
    Some(entry)
}

impl std::fmt::Debug for Files<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Disk => "Disk",
            Self::Tree(_) => "Tree",
        })
    }
}
