//! The output tree: what is on disk, who owns it, and how it changes without ever losing a byte.
//!
//! A caller gives a [`Tree`], a sorted set of files whose bytes are generated when they are needed, and gets a [`Summary`] of
//! the differences or an [`OutputError`]. Nothing here knows Kubernetes, or where the input of the run came from.
//!
//! `write.rs` explains the state machine: what every interruption leaves, and why the next run is right.

mod apply;
mod error;
mod inventory;
mod read;
mod root;
mod scan;
mod tree;
mod write;

#[cfg(test)]
mod tests;

pub use apply::{WrittenFiles, existing_files, write_files, write_named};
pub use error::{Action, InventoryFault, Obstacle, Offender, OutputError, RootFault, TreeFault};
pub use inventory::INVENTORY;
pub(crate) use inventory::position;
pub use read::{Earlier, TreeFile, TreeFiles, inventory_bytes, is_tree, read_tree, unwanted};
pub use root::{Hash, sha256};
pub(crate) use root::{misplaced, same_or_inside};
pub use tree::{FileKind, Tree, Turn, stream};
pub use write::{Change, ChangeKind, Options, Output, Summary, wait, write, write_into};
