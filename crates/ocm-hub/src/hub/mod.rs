//! The indexed set of objects that a run works with.
//!
//! Owns: turning documents into objects ([`build()`]): flattening lists, leaving out documents that are not objects,
//! names, namespaces, duplicates, schemas; and finding them again by identity, kind and namespace ([`Hub`]).
//! Flows in: documents. Flows out: a [`Hub`] of the hub's objects and of those that live on each spoke.
//! Must not know: what policies or placements mean.

mod build;
mod chain;
mod grants;
mod identify;
mod index;
mod kustomized;
mod ours;
mod ours_by_name;
mod passed_over;
mod short_names;
mod values;

pub use apimachinery::{RowId, Table};
pub use build::{Exported, Options, build, check_changed, exported, is_list, without_duplicates};
pub use chain::{changed_by_kustomize, make_bystander, soften, soften_unreadable, unused};
pub use grants::Grants;
pub use index::{Hub, Objects, ObjectsByPlace};
pub use ours::{OurClass, OurGateway, OurGatewayId, Ours, params_place};
pub use passed_over::{PassedOver, refers};
