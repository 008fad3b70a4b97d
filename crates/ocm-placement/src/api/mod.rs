//! OCM's cluster kinds, as far as placement reads them.
//!
//! The caller's [`Object`]s become a typed view of each kind, and mistakes ([`InvalidField`]).

pub(crate) mod managed_cluster;
pub(crate) mod object;
pub(crate) mod placement;

pub use object::{FieldProblem, InvalidField, Location, Object, ObjectId, parse_time};

/// The API group of all kinds that placement reads.
pub const GROUP: &str = "cluster.open-cluster-management.io";

/// The label that puts a cluster into an exclusive cluster set.
pub const CLUSTER_SET_LABEL: &str = "cluster.open-cluster-management.io/clusterset";

/// The label that ties a PlacementDecision to a Placement of its namespace.
pub const PLACEMENT_LABEL: &str = "cluster.open-cluster-management.io/placement";

/// The label with a decision group's name.
pub const GROUP_NAME_LABEL: &str = "cluster.open-cluster-management.io/decision-group-name";

/// The label with a decision group's position.
pub const GROUP_INDEX_LABEL: &str = "cluster.open-cluster-management.io/decision-group-index";

/// The annotation that makes the scheduler leave a Placement alone when it is exactly `true`.
pub(crate) const SCHEDULING_DISABLED_ANNOTATION: &str =
    "cluster.open-cluster-management.io/experimental-scheduling-disable";

/// The set that OCM's webhook puts clusters without a set into.
pub(crate) const DEFAULT_SET: &str = "default";
