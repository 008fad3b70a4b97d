//! Typed views of Open Cluster Management's cluster kinds, with the defaults of their CRDs.
//!
//! Owns: which fields the scheduler reads, what they default to, and what an API server would refuse.
//! Flows in: dynamic objects. Flows out: views that borrow from them, sorted, and findings for what was refused.
//! Must not know: what the scheduler makes of it (`placement`).

mod cluster;
mod cluster_set;
mod inventory;
mod placement;
mod schema;
mod score;
mod time;

pub use cluster::{Availability, ClusterClaim, ManagedCluster, Taint, TaintEffect};
pub use cluster_set::{ManagedClusterSet, ManagedClusterSetBinding, SetMembership};
pub use inventory::Inventory;
pub use placement::{
    AddOnScore, ClusterSelector, ClustersPerGroup, Configuration, DecisionGroupSpec, GroupStrategy,
    LeftAlone, Placement, PlacementDecision, PrioritizerPolicy, ScoreCoordinate, Toleration,
};
pub use schema::validate;
pub use score::AddOnPlacementScore;
pub use time::parse_time;

/// The API group of all these kinds.
pub const GROUP: &str = "cluster.open-cluster-management.io";

/// The label that puts a cluster into an exclusive set (OCM placement 1.1).
pub const CLUSTER_SET_LABEL: &str = "cluster.open-cluster-management.io/clusterset";

/// The label that ties a decision (and, for us, a Gateway) to a Placement of its namespace.
pub const PLACEMENT_LABEL: &str = "cluster.open-cluster-management.io/placement";

/// The label with a decision group's name.
pub const GROUP_NAME_LABEL: &str = "cluster.open-cluster-management.io/decision-group-name";

/// The label with a decision group's position.
pub const GROUP_INDEX_LABEL: &str = "cluster.open-cluster-management.io/decision-group-index";

/// The annotation that makes the scheduler leave a Placement alone when it is exactly `true`.
pub const SCHEDULING_DISABLED_ANNOTATION: &str =
    "cluster.open-cluster-management.io/experimental-scheduling-disable";
