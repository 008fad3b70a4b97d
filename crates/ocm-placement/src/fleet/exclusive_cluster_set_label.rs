//! The label that puts a cluster into one exclusive cluster set.
//!
//! Owns: which set that is, with the option that replaces OCM's webhook. The scheduler has no default: on a hub, a
//! mutating webhook labels clusters without a set, or with an empty one, `default`
//! (docs/systems/ocm-placement.md#what-other-controllers-change; open-cluster-management-io/ocm
//! pkg/registration/webhook/v1/managedcluster_mutating.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
//! Flows in: a cluster. Flows out: the value of its label. Must not know: which sets exist.

use crate::api::managed_cluster::ManagedCluster;
use crate::api::well_known::{CLUSTER_SET_LABEL, DEFAULT_SET};

/// The set that the webhook would give a cluster, if it would.
pub(super) fn joined_set<'a>(cluster: &ManagedCluster<'a>, joins_default: bool) -> Option<&'a str> {
    let unlabeled = cluster
        .labels
        .get(CLUSTER_SET_LABEL)
        .is_none_or(|set| set.is_empty());
    (joins_default && unlabeled).then_some(DEFAULT_SET)
}
