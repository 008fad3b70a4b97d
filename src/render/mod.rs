//! From decisions to works: what exactly each cluster receives.
//!
//! Owns: the downstream mutation of Gateways, policies and Secrets, the ManifestWorks that carry them, their
//! feedback rules, deletion options and RBAC, the annotated hub objects: the [`Plan`].
//! Flows in: the hub, our classes and Gateways, the clusters of each Gateway, the policies to ship.
//! Flows out: a [`Plan`] of texts that only lack the cluster's name.
//! [`Layout`] lays a plan out as a tree of files. Must not know: why a cluster or a policy was chosen, or the disk.

mod assemble;
mod collisions;
mod copies;
mod decision_files;
mod downstream;
mod feedback;
mod findings;
mod hub_objects;
mod input;
mod kustomization;
mod layout;
mod names;
mod plan;
mod policy_status;
mod rbac;
mod replica_sets;
mod secrets;
mod selection;
mod work;
mod work_names;

pub use assemble::render;
pub use decision_files::{decision_file, decision_files};
pub use input::{Input, Settings, WorkKind};
pub use layout::Layout;
pub use names::{MANIFEST_KEY_LABEL, downstream_namespace, manifest_key};
pub use plan::{ManifestSummary, Plan, REPLICA_SETS, ReplicaSet, Work};
pub use policy_status::{PolicyStatus, policy_status};
pub use selection::{Selection, Shard, ShardError};
pub use work::WorkText;

use crate::api::gateway::Gateway;
use crate::api::params::Params;

/// A Gateway of ours with the clusters that it goes to, in the order of [`Ours::gateways`](crate::hub::Ours).
#[derive(Debug, Clone)]
pub struct PlacedGateway<'a> {
    /// The Gateway.
    pub gateway: &'a Gateway<'a>,
    /// Parameters of its class.
    pub params: &'a Params,
    /// Cluster names, sorted, each once; none when nobody receives it.
    pub clusters: Vec<String>,
}
