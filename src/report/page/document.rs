//! The data of a page, kind `FleetPage`: what the reports say as JSON, and what only a page has. Everything refers to
//! everything by its name; the script makes an index of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnostic::FindingEntry;
use crate::outcome::fleet_view::FleetView;
use crate::outcome::{
    ChangeIfDeleted, CoveredKind, ObjectStatus, OverlayChanges, PolicyEntry, RouteCoverage, RuleOutcome,
    SettingChange, SourceLine, WithheldPolicy, WorkState,
};
use crate::report::aggregate::WorkSummary;
use crate::report::diff::DiffDocument;
use crate::report::placement::PlacementOnPage;

/// The data of `spokewright page`.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetPage<'p> {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// What the page is called.
    pub(super) title: String,
    /// What is before the path of a file in a link to it.
    pub(super) source_url: Option<String>,
    /// Clusters, by name.
    pub(super) clusters: Vec<ClusterEntry>,
    /// As in a `PolicyReport`.
    #[serde(flatten)]
    pub(super) fleet: FleetView,
    /// How kinds are written that locators have in lower case: `httproute.gateway.networking.k8s.io`.
    pub(super) kind_names: BTreeMap<String, String>,
    /// Policies of the hub, then those that live on clusters, once for all clusters that are alike.
    pub(super) policies: Vec<PolicyEntry>,
    /// What would change without each policy of the hub, by locator; one that is missing was not looked at.
    pub(super) if_deleted: BTreeMap<String, Vec<ChangeIfDeleted>>,
    /// As in a `RenderReport`.
    pub(super) withheld: Vec<WithheldPolicy>,
    /// What ClusterOverlays change.
    pub(super) overlays: Vec<OverlayChanges>,
    /// How many clusters Placements choose from.
    pub(super) managed_clusters: usize,
    /// As in a `PlacementReport`.
    pub(super) placements: Vec<PlacementOnPage>,
    /// The predicted statuses of Gateways.
    pub(super) statuses: Vec<ObjectStatus>,
    /// The work that contains each Gateway, by the locator of that.
    pub(super) works: BTreeMap<Arc<str>, CarriedWork>,
    /// As in a `FindingList`.
    pub(super) findings: Vec<FindingEntry<'p>>,
    /// Texts of objects.
    pub(super) texts: Vec<ObjectText>,
    /// Texts of policies.
    pub(super) policy_texts: Vec<ObjectText>,
    /// What differs from the base.
    pub(super) change: Option<BaseChange<'p>>,
    /// What FleetRules come to.
    pub(super) rules: Vec<RuleOutcome>,
    /// As in a `CoverageReport`.
    pub(super) coverage: Vec<CoveredKind>,
    /// By the locator of each route, how each of these kinds covers it.
    pub(super) route_coverage: BTreeMap<String, Vec<RouteCoverage>>,
    /// What the clusters report.
    pub(super) reported: Option<Reported<'p>>,
    /// What was left out to keep the page small, as sentences.
    pub(super) left_out: Vec<String>,
}

/// A cluster.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClusterEntry {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    /// `spec.taints`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) taints: Option<Value>,
    #[serde(flatten)]
    pub(super) place: Option<SourceLine>,
}

/// A work, or a set of works, that contains a Gateway.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CarriedWork {
    pub(super) name: String,
    /// Its objects, without routes.
    pub(super) objects: Vec<CarriedObject>,
    /// How many routes it contains.
    pub(super) routes: usize,
}

/// An object of a work.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CarriedObject {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// Where it is on the hub, if it comes from there.
    #[serde(flatten)]
    pub(super) place: Option<SourceLine>,
}

/// A text, and the line where it begins.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(super) struct ObjectText {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) text: String,
}

/// What differs from a base.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BaseChange<'p> {
    /// A `DiffReport`, without whole objects and what is lost.
    pub(super) report: DiffDocument<'p>,
    /// The settings that differ, for each of its `effectiveChanges`.
    pub(super) settings: Vec<&'p [SettingChange]>,
    /// Whether more settings differ than are compared.
    pub(super) too_much: bool,
}

/// What the clusters report.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Reported<'p> {
    /// The statuses of objects of the hub, from those on the clusters.
    pub(super) objects: Vec<ObjectStatus>,
    /// As in a `StatusReport`.
    pub(super) works: &'p WorkSummary,
    /// The states of works in words.
    pub(super) words: BTreeMap<WorkState, &'static str>,
}
