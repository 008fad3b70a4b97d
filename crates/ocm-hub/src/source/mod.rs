//! Reads files and splits them into documents.
//!
//! One walk over a [`FileTree`] (the disk, a Git revision, Git's index) decides which files are input. Their texts stay
//! in [`Sources`], so any symbolic place can become a line and a column. [`Files`] is the choice of the tree.

mod authored;
mod disk;
mod documents;
mod exported;
mod files;
mod git;
mod git_index;
mod ignored;
mod source_map;
mod tree;
mod walk;
mod watched;

#[cfg(test)]
mod tests;

pub use authored::{Generated, attribute, object_name};
pub use disk::Checkout;
pub use documents::{Document, STDIN};
pub use exported::{Make, read_exported};
pub use files::{Files, in_repository, repository_around, repository_or};
pub use git::{GitError, GitTree};
pub use git_index::{BlobState, IndexError, IndexTree, Staged};
pub use source_map::{RootRelative, SourceFile, Sources};
pub use tree::{FileTree, Lead, TreeEntry, TreeError};
pub use walk::{Request, Room};
pub use watched::{Change, Watched};
