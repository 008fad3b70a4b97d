//! The output tree: what stands on disk, whose it is, and how it changes without ever losing a byte.
//!
//! Owns: the layout-free part of design section 9: the inventory, the comparison of a wanted [`Tree`] with a
//! directory, ownership, atomic writes, pruning, recovery of an interrupted run, the stream of `-o -`, and the
//! text of a `kustomization.yaml`.
//! Flows in: a [`Tree`], a sorted set of files whose bytes are generated when they are needed. Flows out: files,
//! and a [`Summary`] of what differs or an [`OutputError`], both as findings where somebody wants to print them.
//! Must not know: Kubernetes, ManifestWorks, or where the input of the run came from.
//!
//! `write.rs` explains the state machine: what every interruption leaves, and why the next run is right.

mod apply;
mod decisions;
mod directories;
mod error;
mod inside;
mod inventory;
mod kustomization;
mod layout;
mod others;
mod read;
mod record;
mod scan;
mod selection;
mod storage;
mod stream;
mod tree;
mod write;

#[cfg(test)]
mod tests;

pub use decisions::{DecisionFileError, DecisionFiles, decision_file, write_decisions};
pub use error::{Action, InventoryFault, Obstacle, Offender, OutputError, RootFault, TreeFault};
pub use inside::same_or_inside;
pub use inventory::{INVENTORY, PLAN};
pub use kustomization::kustomization;
pub use layout::Layout;
pub use read::{TreeFile, TreeFiles, is_tree, read_tree};
pub use selection::{Selection, Shard, ShardError};
pub use storage::TEMPORARY_PREFIX;
pub use stream::stream;
pub use tree::{FileKind, Tree};
pub use write::{Change, ChangeKind, Options, Summary, write, write_observed};
