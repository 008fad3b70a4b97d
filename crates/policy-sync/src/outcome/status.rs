//! The status of one hub object, predicted or aggregated: data in reports, never part of a ManifestWork.

use std::collections::BTreeMap;

use kube_json::Value;
use serde::Serialize;

use super::policies::OnCluster;
use crate::policy::{AncestorStatus, Condition};

/// The predicted status of one hub object, or of one section of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// Locator of the object, with `#section` for a listener, a rule, or a port.
    pub object: String,
    /// Where a report for people lists it.
    #[serde(skip)]
    pub group: StatusGroup,
    /// Its conditions, `<Kind>Affected` ones last.
    pub conditions: Vec<Condition>,
    /// `status.ancestors`, of policy kinds that have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<AncestorStatus>,
    /// Clusters where the status differs: because of what lives there, or because not all of them have the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_clusters: Vec<OnCluster>,
    /// `status.effectivePolicy` (docs/systems/gep-713.md#what-the-earlier-text-had): the policies that affect
    /// this target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effective_policy: Vec<Value>,
    /// For a route whose kind is synced: the clusters that it is shipped to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shipped_to: Vec<String>,
    /// For a policy that lives on clusters: those clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lives_on: Vec<String>,
    /// For a GatewayClass: the policy kinds that are in use, as `Kind.group`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extension_kinds: Vec<String>,
    /// For an object without conditions: annotations that report instead that a policy affects it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Aggregated, for a Gateway: the addresses on all clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Address>,
    /// Aggregated, for a Gateway: its listeners on all clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<ListenerOnCluster>,
    /// Aggregated: the values that the parameters ask for, by name, then by cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<FeedbackOnCluster>,
    /// Aggregated: values that clusters could not read, by cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownOnCluster>,
    /// Aggregated: the works that contain it, one or more for each cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<WorkOnCluster>,
}

impl ObjectStatus {
    /// A status that says nothing yet.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Address {
    /// `kuadrant.io/MultiClusterIPAddress` or `kuadrant.io/MultiClusterHostnameAddress`.
    pub r#type: &'static str,
    /// `<cluster>/<value>`.
    pub value: String,
}

/// A listener of a hub Gateway on one cluster (docs/systems/mgc.md#status-aggregation).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListenerOnCluster {
    /// `<cluster>.<listener>`.
    pub name: String,
    /// Routes attached there.
    pub attached_routes: i64,
}

/// The ManifestWork that delivers an object to one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkOnCluster {
    /// The cluster.
    pub cluster: String,
    /// Name of the work.
    pub work: String,
    /// Its state.
    pub state: WorkState,
    /// Feedback that a status needs and that the cluster has not sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_reported: Vec<String>,
}

/// A value that the parameters ask for, as one cluster reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FeedbackOnCluster {
    /// Its name.
    pub name: String,
    /// The cluster.
    pub cluster: String,
    /// The value as it was reported; raw JSON is parsed.
    pub value: Value,
    /// The value that the path finds in the object as it is shipped, if it finds one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipped: Option<Value>,
}

/// A feedback value that a cluster could not read. It is unknown, not absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnknownOnCluster {
    /// Its name, if the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The cluster.
    pub cluster: String,
    /// The agent's message.
    pub message: String,
}

/// An object on a cluster that differs from its work, in the agent's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManifestProblem {
    /// Kind; the plural if the kind is not known.
    pub kind: String,
    /// Namespace on the spoke, `""` for cluster-scoped kinds.
    pub namespace: String,
    /// Name on the spoke.
    pub name: String,
    /// The reason of the condition that says so.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Its message.
    pub message: String,
}

/// The state of a ManifestWork. The order is that of a report: a state that explains others comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WorkState {
    /// It is planned, but not among the works that were given.
    Missing,
    /// It is being deleted.
    Deleting,
    /// Its spec differs from what is rendered now.
    Outdated,
    /// Its agent has not observed its newest generation yet.
    Unobserved,
    /// Another manager on the cluster owns fields that it sets by server-side apply.
    Conflict,
    /// Its condition Applied, or that of one of its manifests, is not True, or is not there yet.
    NotApplied,
    /// An object that is no longer in any work is still on the cluster.
    LeftBehind,
    /// It no longer grants the deletion of a kind that the parameters list.
    MayNotDelete,
    /// Its condition Available, or that of one of its manifests, is not True.
    Unavailable,
    /// It is applied, and some of the feedback that it asks for could not be read.
    Unread,
    /// It is applied as it is rendered now, and nothing is in the way.
    Applied,
    /// It exists for an object of the input, but the plan does not place it there.
    Stale,
    /// It exists, but nothing shows whether this input or another one rendered it.
    Unclaimed,
}

impl WorkState {
    /// What it is called.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Deleting => "being deleted",
            Self::Outdated => "outdated",
            Self::Unobserved => "not observed yet",
            Self::Conflict => "in conflict",
            Self::NotApplied => "not applied",
            Self::LeftBehind => "leaving something behind",
            Self::MayNotDelete => "without a right to delete",
            Self::Unavailable => "not available",
            Self::Unread => "not read",
            Self::Applied => "applied",
            Self::Stale => "stale",
            Self::Unclaimed => "unclaimed",
        }
    }

    /// What to do about it, if that is not obvious.
    pub const fn help(self) -> Option<&'static str> {
        Some(match self {
            Self::Conflict => {
                "let the manager there release the fields, or let the hub take them over: `serverSideApply.force: true` in the parameters"
            }
            Self::LeftBehind => {
                "its agent needs the right to delete it: apply the rendered `gateway-rbac`; if the agent has the right, a finalizer keeps the object"
            }
            Self::MayNotDelete => {
                "apply the rendered `gateway-rbac`; the agent then deletes what it could not delete before"
            }
            Self::Unread => {
                "turn on the feature gate RawFeedbackJsonString, without which agents report no lists, or turn off `rawFeedback`"
            }
            Self::Stale => "`spokewright prune-list --works` prints it as input for `kubectl delete -f -`",
            Self::Unclaimed => {
                "if no other input renders into this hub, `spokewright prune-list --works` lists it with `--sole`"
            }
            _ => return None,
        })
    }

    /// Whether a gate stays closed: not where another input may have rendered the work.
    pub const fn is_in_the_way(self) -> bool {
        !matches!(self, Self::Applied | Self::Unclaimed)
    }
}
