//! The kind/plural/scope table: the resource name of each group and kind, and whether it is namespaced.
//!
//! Owns: lookups over the built-in kinds and those that CRDs of the input define; a CRD overrides a built-in row.
//! Flows in: CRDs. Flows out: `KindInfo`s, and the nearest known name for a misspelled one. Must not know: objects of
//! those kinds.

mod kind_info;

mod builtin;

mod kind_table;

#[cfg(test)]
mod tests;

pub use kind_info::KindInfo;
pub(crate) use kind_info::KindSource;
pub use kind_table::KindTable;
