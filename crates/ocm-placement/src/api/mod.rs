//! OCM's cluster kinds, as far as placement reads them.
//!
//! Owns: an object of the caller ([`Object`]), a mistake in one ([`InvalidField`]), a typed view of each kind,
//! and all of them sorted ([`Inventory`]). Flows in: JSON values. Flows out: views that borrow from them.
//! Must not know: what the scheduler does with a field.

pub(crate) mod well_known;

pub(crate) mod object;
mod time;

pub(crate) mod reading;

pub(crate) mod add_on_placement_score;
pub(crate) mod managed_cluster;
pub(crate) mod managed_cluster_set;
pub(crate) mod placement;
pub(crate) mod placement_decision;

pub(crate) mod inventory;

pub use inventory::Inventory;
pub use object::{Location, Object, ObjectId};
pub use reading::{FieldProblem, InvalidField};
pub use time::parse_time;
pub use well_known::{CLUSTER_SET_LABEL, GROUP, GROUP_INDEX_LABEL, GROUP_NAME_LABEL, PLACEMENT_LABEL};
