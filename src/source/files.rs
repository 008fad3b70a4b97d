//! Where input is read from: the disk, or a tree that is not on disk.
//!
//! Owns: that choice, so that whoever reads need not make it. Flows in: a walk's request, paths. Flows out: documents,
//! texts. Must not know: what a document means.

use std::path::Path;
use std::sync::Arc;

use super::disk::Disk;
use super::documents::{Document, load_files, load_tree, read_text, read_tree_text};
use super::texts::Sources;
use super::tree::{FileTree, Lead, TreeEntry};
use super::walk::{Request, Walked, walk};
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
    fn tree(&self) -> &dyn FileTree {
        match self {
            Self::Disk => &Disk,
            Self::Tree(tree) => *tree,
        }
    }

    fn lead(self, path: &Path) -> Option<Lead> {
        let tree = self.tree();
        tree.resolve(&tree.locate(path)?).ok()
    }

    /// Whether a directory stands at `path`.
    #[must_use]
    pub fn is_dir(self, path: &Path) -> bool {
        matches!(self.lead(path), Some(Lead::To(_, TreeEntry::Directory)))
    }

    /// Whether a file stands at `path`.
    #[must_use]
    pub fn is_file(self, path: &Path) -> bool {
        matches!(self.lead(path), Some(Lead::To(_, TreeEntry::File)))
    }

    /// Whether nothing stands at `path`. What lies outside of a tree is another matter.
    #[must_use]
    pub fn lacks(self, path: &Path) -> bool {
        matches!(self.lead(path), Some(Lead::Nowhere | Lead::Outside))
    }

    /// Reads one file as a single text, without looking for documents: the configuration. `None`, and a finding,
    /// when it cannot be read.
    pub fn read_text(
        self,
        path: &Path,
        sources: &mut Sources,
        findings: &mut Findings,
    ) -> Option<(Arc<str>, DocumentId)> {
        if let Self::Tree(tree) = self
            && let Some(Lead::To(real, _)) = self.lead(path)
        {
            return read_tree_text(tree, &real, path, sources, findings);
        }
        read_text(path, sources, findings)
    }

    /// The documents of all input files, and of what came from standard input.
    pub fn documents(
        self,
        request: &Request,
        stdin: Option<&[u8]>,
        sources: &mut Sources,
        findings: &mut Findings,
    ) -> Vec<Document> {
        let finding = request.progress.begin(Stage::Finding);
        let Walked { files, charts, .. } = walk(request, self.tree(), findings);
        drop(finding);
        sources.add_charts(charts);
        match self {
            Self::Disk => load_files(&files, stdin, &request.progress, sources, findings),
            Self::Tree(tree) => load_tree(&files, tree, stdin, &request.progress, sources, findings),
        }
    }
}

impl std::fmt::Debug for Files<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Disk => "Disk",
            Self::Tree(_) => "Tree",
        })
    }
}
