//! The document `Explanation`, and its parts.

use std::sync::Arc;

use kube_json::Value;
use serde::Serialize;

use crate::outcome::{OverlayChanges, SourceLine};
use crate::policy::Condition;

/// Everything about one object, kind `Explanation`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ObjectExplanation {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// Locator of the object.
    pub object: String,
    /// For people: `Gateway shop/storefront`.
    #[serde(skip)]
    pub title: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// The cluster that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Clusters that it is on, sorted.
    pub clusters: Vec<String>,
    /// If it is not on the cluster that was asked about: the clusters where it is, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// For a route whose kind is synced: the clusters that it is shipped to, sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipped_to: Option<Vec<String>>,
    /// For a hub route that is not synced: it counts on the clusters of its Gateways, as if another tool delivered it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
    /// Why a ListenerSet is attached to no Gateway, and why each parent that refuses a route does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_attached: Vec<String>,
    /// The policies that target it, or a section of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<AttachedPolicy>,
    /// For a policy: its status and what it affects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyPart>,
    /// What ClusterOverlays change in it, or what it changes, if it is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<OverlayChanges>,
    /// The effective policies on the paths through it, with equal results together.
    pub effective: Vec<ExplainedPaths>,
}

/// A policy that targets the object.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AttachedPolicy {
    /// Its locator.
    pub policy: String,
    /// What it targets: the object, or a section of it.
    pub target: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// What is reported about a policy.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PolicyPart {
    /// Its conditions.
    pub conditions: Vec<Condition>,
    /// Locators of its targets.
    pub targets: Vec<String>,
    /// How much it affects.
    pub reach: ReachPart,
    /// If none of its settings is in effect anywhere: the policies that override it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden_by: Vec<Winner>,
    /// The policies that it overrides, wholly or in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Loser>,
    /// Clusters where a spoke-local policy changes this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_clusters: Vec<ClusterPart>,
    /// What would change if it were deleted.
    pub if_deleted: Vec<ChangePart>,
}

/// A policy that overrides another one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Winner {
    /// Its locator.
    pub policy: String,
    /// Whether it lives on the cluster.
    pub local: bool,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// A policy that another one overrides.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Loser {
    /// Its locator.
    pub policy: String,
    /// The clusters where that is so, sorted; none for a Gateway that is on no cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// What a policy affects, as locators.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReachPart {
    /// Cluster names.
    pub clusters: Vec<String>,
    /// Gateways.
    pub gateways: Vec<String>,
    /// Listeners.
    pub listeners: Vec<String>,
    /// Routes.
    pub routes: Vec<String>,
    /// Backends.
    pub backends: Vec<String>,
}

/// The state of a policy on one cluster.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ClusterPart {
    /// The cluster.
    pub cluster: String,
    /// Enforced or Programmed there.
    pub condition: Condition,
}

/// Results that would change.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChangePart {
    /// The paths, as locators.
    pub paths: Vec<Vec<String>>,
    /// The paths for people.
    #[serde(skip)]
    pub labels: Vec<String>,
    /// The clusters where that is so, sorted; none for a Gateway that is on no cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
    /// Whether those are all clusters of the Gateway.
    #[serde(skip)]
    pub everywhere: bool,
    /// Settings that would be removed or change: name, old value, new value (none if removed).
    pub changes: Vec<SettingIfDeleted>,
}

/// One setting that would change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SettingIfDeleted {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Today's value; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Arc<Value>>,
    /// The value without the policy; absent when there would be none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Arc<Value>>,
    /// Locator of the policy that would give it.
    pub after_from: Option<String>,
}

/// Paths with one result.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExplainedPaths {
    /// The policy kind.
    pub kind: String,
    /// Its group.
    pub group: String,
    /// The paths, as locators.
    pub paths: Vec<Vec<Arc<str>>>,
    /// The paths for people.
    #[serde(skip)]
    pub labels: Vec<String>,
    /// The clusters where it is in effect, sorted; none for a Gateway that is on no cluster.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub clusters: Arc<[String]>,
    /// Whether those are all clusters of the Gateway.
    #[serde(skip)]
    pub everywhere: bool,
    /// The settings that are in effect, and where they come from.
    pub settings: Vec<ExplainedSetting>,
    /// The settings that are overridden, and why.
    pub overridden: Vec<ExplainedLoss>,
    /// Policies on the paths that their controller refuses: none of their settings takes effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedPolicy>,
}

/// A policy that its controller refuses.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RefusedPolicy {
    /// Locator.
    pub policy: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// A setting with its origin.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExplainedSetting {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Its value.
    pub value: Value,
    /// Locator of the policy.
    pub policy: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// What ClusterOverlays changed in it on these clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlaid: Vec<OverlaidSetting>,
}

/// A field of a setting that a ClusterOverlay changed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OverlaidSetting {
    /// Where it is in the policy.
    #[serde(rename = "field")]
    pub path: String,
    /// Its value on the hub; absent if the overlay adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Value>,
    /// Its value here; absent if the overlay removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<Value>,
    /// Locator of the overlay.
    pub overlay: String,
    /// File and line.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
}

/// A setting that is overridden.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExplainedLoss {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Its value there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// File and line of it.
    #[serde(flatten)]
    pub place: Option<SourceLine>,
    /// The policy that sets it.
    pub policy: String,
    /// The policies that override it.
    pub by: Vec<String>,
    /// The rule that decided, by its stable name.
    pub rule: &'static str,
    /// The rule in words.
    pub because: &'static str,
}
