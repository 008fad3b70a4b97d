//! OCM's cluster kinds, as far as placement reads them.
//!
//! The caller's [`Object`]s become a typed view of each kind, all of them sorted ([`Inventory`]), and mistakes
//! ([`InvalidField`]).

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
