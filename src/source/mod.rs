//! Files in, documents out.
//!
//! Owns: which files are input ([`discover()`]), how a file splits into documents ([`load`]), and the texts
//! themselves ([`Sources`]), so that any symbolic place can become a line and a column.
//! Input is read from disk or from a [`FileTree`], such as a Git revision or Git's index; [`Files`] is the choice.
//! Flows in: paths, or text from standard input. Flows out: [`Document`]s with their origin.
//! Must not know: what an object is, or what any kind means.

mod discover;
mod discover_tree;
mod documents;
mod files;
#[cfg(feature = "git")]
mod git;
#[cfg(feature = "git")]
mod git_index;
mod texts;
mod tree;
mod watched;

#[cfg(test)]
mod tests;

pub use discover::{Discovered, Request, Room, discover};
pub use documents::{Document, load, read_text};
pub use files::Files;
#[cfg(feature = "git")]
pub use git::{GitError, GitTree};
#[cfg(feature = "git")]
pub use git_index::{IndexError, IndexTree};
pub use texts::{RootRelative, SourceFile, Sources};
pub use tree::{FileTree, TreeEntry, TreeError};
pub use watched::{Change, Debounce, Watched};
