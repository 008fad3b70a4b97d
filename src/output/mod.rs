//! The output tree: what is on disk, who owns it, and how it changes without ever losing a byte.
//!
//! Owns: the inventory, the comparison of a wanted [`Tree`] with a directory, ownership, atomic writes, pruning,
//! recovery of an interrupted run, and the stream of `-o -`.
//! Flows in: a [`Tree`], a sorted set of files whose bytes are generated when they are needed. Flows out: files,
//! and a [`Summary`] of the differences or an [`OutputError`], both also as findings that can be printed.
//! Must not know: Kubernetes, ManifestWorks, or where the input of the run came from.
//!
//! `write.rs` explains the state machine: what every interruption leaves, and why the next run is right.

mod apply;
mod atomic;
mod compare;
mod directories;
mod earlier;
mod error;
mod hash;
mod inside;
mod inventory;
mod lock;
mod others;
mod place;
mod read;
mod record;
mod root;
mod scan;
mod storage;
mod stream;
mod tree;
mod unexpected;
mod write;

#[cfg(test)]
mod tests;

pub use atomic::{WrittenFiles, existing_files, write_files, write_named};
pub(crate) use directories::position;
pub use earlier::Earlier;
pub use error::{Action, InventoryFault, Obstacle, Offender, OutputError, RootFault, TreeFault};
pub use hash::{Hash, sha256};
pub(crate) use inside::same_or_inside;
pub use inventory::INVENTORY;
pub(crate) use place::misplaced;
pub use read::{TreeFile, TreeFiles, inventory_bytes, is_tree, read_tree, unwanted};
pub use stream::stream;
pub use tree::{FileKind, Tree, Turn};
pub use write::{Change, ChangeKind, Options, Output, Summary, write, write_into};
