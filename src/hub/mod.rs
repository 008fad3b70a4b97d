//! The indexed set of objects: what one run is about.
//!
//! Owns: turning documents into objects ([`build()`]): flattening lists, leaving out what is no object, names,
//! namespaces, duplicates, schemas; and finding them again by identity, kind and namespace ([`Hub`]).
//! Flows in: documents. Flows out: a [`Hub`] of the hub's objects and of what lives on each spoke.
//! Must not know: what policies or placements mean.

mod build;
mod chain;
mod class_params;
mod grants;
mod identify;
mod index;
pub(crate) mod kinds;
mod ours;
mod table;
mod versions;

pub(crate) use build::{Options, build};
pub(crate) use grants::Grants;
pub use index::{Hub, Objects};
pub(crate) use ours::{OurClass, OurGatewayId, Ours};
pub(crate) use table::row_ids;
pub(crate) use table::{RowId, Table};
