//! The indexed set of objects: what one run is about.
//!
//! Owns: turning documents into objects ([`build`]): flattening lists, leaving out what is no object, names,
//! namespaces, duplicates, schemas; and finding them again by identity, kind and namespace ([`Hub`]).
//! Flows in: documents. Flows out: a [`Hub`] of the hub's objects and of what lives on each spoke.
//! Must not know: what policies or placements mean.

mod build;
mod grants;
mod index;
pub mod kinds;

pub use build::{Options, build};
pub use grants::Grants;
pub use index::{Hub, Objects};
