//! The taints of a cluster, including those that follow from its availability.
//!
//! Owns: the option that replaces OCM's registration controller. On a hub, that controller, not the scheduler, keeps
//! the taints `unavailable` and `unreachable` in step with the condition ManagedClusterConditionAvailable
//! (docs/systems/ocm-placement.md#what-other-controllers-change; open-cluster-management-io/ocm
//! pkg/registration/hub/taint/controller.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
//! Flows in: a cluster. Flows out: its taints, each with its place. Must not know: tolerations.

use crate::api::managed_cluster::{Availability, ManagedCluster, Taint, TaintEffect};

const UNAVAILABLE: &str = "cluster.open-cluster-management.io/unavailable";
const UNREACHABLE: &str = "cluster.open-cluster-management.io/unreachable";

/// A taint of a cluster, and which of `spec.taints` it is; `None` for one that the option derived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FleetTaint<'a> {
    pub(crate) taint: Taint<'a>,
    pub(crate) index: Option<usize>,
}

/// The taints that count; with `derive`, a stale taint of availability goes and a missing one comes.
pub(super) fn effective_taints<'a>(cluster: &ManagedCluster<'a>, derive: bool) -> Vec<FleetTaint<'a>> {
    let own = cluster
        .taints
        .iter()
        .enumerate()
        .map(|(index, taint)| FleetTaint {
            taint: *taint,
            index: Some(index),
        });
    if !derive {
        return own.collect();
    }
    let derived = match cluster.available {
        Availability::Available => None,
        Availability::Unavailable => Some(UNAVAILABLE),
        Availability::Unknown => Some(UNREACHABLE),
    };
    let mut taints: Vec<FleetTaint<'_>> = own
        .filter(|own| ![UNAVAILABLE, UNREACHABLE].contains(&own.taint.key) || derived == Some(own.taint.key))
        .collect();
    if let Some(key) = derived
        && !taints.iter().any(|own| own.taint.key == key)
    {
        taints.push(FleetTaint {
            taint: Taint {
                key,
                value: "",
                effect: TaintEffect::NoSelect,
                time_added: None,
            },
            index: None,
        });
    }
    taints
}
