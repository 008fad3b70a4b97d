//! The indexed set of objects that a run works with: [`build()`] turns documents into a [`Hub`] of the hub's objects and of
//! those that live on each spoke. It does not know what policies or placements mean.

mod build;
mod chain;
mod grants;
mod identify;
mod index;
mod kustomized;
mod ours;
mod passed_over;
mod short_names;
mod values;

pub use apimachinery::{RowId, Table};
pub use build::{Exported, Options, build, check_schema, exported, is_list, without_duplicates};
pub use chain::{changed_by_kustomize, make_bystander, mark_bystanders, soften, soften_unreadable};
pub use grants::Grants;
pub use index::{Hub, Objects, ObjectsByPlace};
pub use ours::{OurClass, OurGateway, OurGatewayId, Ours, params_place};
pub use passed_over::{PassedOver, refers};
