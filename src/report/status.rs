//! The status of one hub object, predicted or aggregated: data in reports, never part of a ManifestWork.
//!
//! Owns: the shape that `status` and `render --report` share. Flows in: conditions and what stands beside them.
//! Flows out: [`ObjectStatus`]. Must not know: how a status comes about (`predicted`, `aggregate`).

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::policies::OnCluster;
use crate::policy::{AncestorStatus, Condition};

/// What the status of one hub object, or of one section of it, would say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ObjectStatus {
    /// Locator of the object, with `#section` for a listener, a rule or a port.
    pub object: String,
    /// Where a report for people lists it.
    #[serde(skip)]
    pub group: StatusGroup,
    /// Its conditions, `<Kind>Affected` ones last.
    pub conditions: Vec<Condition>,
    /// `status.ancestors`, of policy kinds that have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<AncestorStatus>,
    /// Clusters where a spoke-local policy makes the status another one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_clusters: Vec<OnCluster>,
    /// `status.effectivePolicy` (docs/systems/gep-713.md#what-the-earlier-text-had): the policies that affect
    /// this target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effective_policy: Vec<Value>,
    /// Of a route whose kind is synced: the clusters that it is shipped to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shipped_to: Vec<String>,
    /// Of a GatewayClass: the policy kinds that are in use, as `Kind.group`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extension_kinds: Vec<String>,
    /// Of an object without conditions: annotations that say instead that a policy affects it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Aggregated, of a Gateway: the addresses on all clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Address>,
    /// Aggregated, of a Gateway: its listeners on all clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<ListenerOnCluster>,
    /// Aggregated: what the feedback of the parameters says, by name, then by cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<FeedbackOnCluster>,
    /// Aggregated: the works that carry it, one or more for each cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<WorkOnCluster>,
}

impl ObjectStatus {
    /// A status that says nothing yet.
    #[must_use]
    pub fn new(object: String, group: StatusGroup) -> Self {
        Self {
            object,
            group,
            ..Self::default()
        }
    }
}

/// The groups in which a report for people lists objects, in their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StatusGroup {
    /// GatewayClasses.
    GatewayClass,
    /// Gateways and their listeners.
    Gateway,
    /// Routes and their rules.
    Route,
    /// Namespaces, ListenerSets, backends.
    #[default]
    Other,
    /// Policies.
    Policy,
}

impl StatusGroup {
    /// The heading of the group.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::GatewayClass => "GATEWAYCLASS",
            Self::Gateway => "GATEWAY",
            Self::Route => "ROUTE",
            Self::Other => "OTHER TARGET",
            Self::Policy => "POLICY",
        }
    }
}

/// An address of a hub Gateway (docs/systems/mgc.md#status-aggregation).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Address {
    /// `kuadrant.io/MultiClusterIPAddress` or `kuadrant.io/MultiClusterHostnameAddress`.
    pub r#type: &'static str,
    /// `<cluster>/<value>`.
    pub value: String,
}

/// A listener of a hub Gateway on one cluster (docs/systems/mgc.md#status-aggregation).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListenerOnCluster {
    /// `<cluster>.<listener>`.
    pub name: String,
    /// Routes attached there.
    pub attached_routes: i64,
}

/// The ManifestWork that carries an object to one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkOnCluster {
    /// The cluster.
    pub cluster: String,
    /// Name of the work.
    pub work: String,
    /// What became of it.
    pub state: WorkState,
    /// Feedback that a status needs and that the cluster has not sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_reported: Vec<String>,
}

/// A value that the parameters ask for, as one cluster reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FeedbackOnCluster {
    /// Its name.
    pub name: String,
    /// The cluster.
    pub cluster: String,
    /// As it came; raw JSON as the value that it is.
    pub value: Value,
    /// What the path finds in the object as it is shipped, where it finds anything there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipped: Option<Value>,
}

/// A manifest that its cluster could not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FailedManifest {
    /// Kind.
    pub kind: String,
    /// Namespace on the spoke, `""` for cluster-scoped kinds.
    pub namespace: String,
    /// Name on the spoke.
    pub name: String,
    /// What its own condition Applied says.
    pub message: String,
}

/// What became of a ManifestWork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum WorkState {
    /// Its condition Applied is True, and so is that of each of its manifests.
    Applied,
    /// Its condition Applied, or that of one of its manifests, is not True, or is not there yet.
    NotApplied,
    /// Its spec is not what is rendered now, or its agent has not looked at the newest one yet.
    Outdated,
    /// It is being deleted.
    Deleting,
    /// It is planned, and not among the works that were given.
    Missing,
    /// It is there, and the plan does not place it there.
    Stale,
}
