//! The versioned document, kind `DiffReport`: a [`DiffReport`], and what is lost, which the document lists apart.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::compare::{Change, ClusterRow, Counts, Effect, NewClusters, ObjectChange};
use super::report::{DiffReport, Exceeded, Titles};
use super::side::{LiveObject, is_cluster};
use super::terms::Terms;
use crate::diagnostic::{API_VERSION, json_text};
use crate::outcome::{EffectiveChange, Presence, RuleOutcome};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    pub(in crate::report) titles: &'a Titles,
    /// What decides about the change, and changes with it.
    terms: &'a Terms,
    pub(in crate::report) summary: Summary,
    /// The limits of the budget that are exceeded.
    exceeded: &'a [Exceeded],
    /// The violations of FleetRules that the change adds.
    new_violations: &'a [RuleOutcome],
    /// What is lost, the most important first.
    lost: Lost<'a>,
    /// The objects that are still in the input but on no cluster any more, each in a sentence with the reason.
    withdrawn: &'a [String],
    /// The states of objects on clusters; left out if there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    live: &'a [LiveObject],
    /// Clusters that only the new side has.
    new_clusters: &'a [NewClusters],
    /// Clusters to which the same happens share an entry.
    clusters: &'a [ClusterRow],
    pub(in crate::report) effective_changes: &'a [EffectiveChange],
    changes: Cow<'a, [ObjectChange]>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct Summary {
    /// Real clusters of either side.
    pub(in crate::report) clusters: usize,
    pub(in crate::report) changed_clusters: usize,
    works: Counts,
    objects: Counts,
    /// Objects that leave their works and stay on the clusters.
    orphaned: usize,
    /// Paths that traffic still takes, but on which no policy of a kind applies anymore.
    lost_policies: usize,
    /// Works and sets of others on the hub, if it is the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign: Option<usize>,
}

/// What is lost.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Lost<'a> {
    /// Clusters that only the old side has.
    clusters: Vec<&'a str>,
    /// Gateways, each with the clusters that lose it.
    gateways: Vec<LostObject<'a>>,
    /// Namespaces that are deleted with all that is in them.
    namespaces: Vec<LostObject<'a>>,
    /// Paths without settings that applied there.
    settings: Vec<LostSettings<'a>>,
    /// Those of them without any policy of the kind.
    policies: Vec<LostSettings<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LostObject<'a> {
    namespace: &'a str,
    name: &'a str,
    clusters: &'a [Arc<str>],
}

#[derive(Debug, Serialize, JsonSchema)]
struct LostSettings<'a> {
    kind: &'a str,
    /// Rules or JSON pointers.
    settings: &'a [String],
    /// Locators of the policies that applied.
    policies: &'a [String],
    /// Locators from the Gateway to where they applied.
    path: &'a [String],
    clusters: &'a [String],
    /// Whether only the new side's `spokes` deny it: the clusters lose this if they are as the old side says.
    denied: bool,
}

/// The report as JSON, with a final newline.
pub fn json(report: &DiffReport) -> String {
    json_text(&document(report)).unwrap_or_default()
}

impl Document<'_> {
    /// The same without what no page shows: whole objects, and what is lost, which is among the changes.
    #[must_use]
    pub(in crate::report) fn for_page(mut self) -> Self {
        self.lost = Lost::default();
        for change in self.changes.to_mut() {
            (change.old, change.new) = (None, None);
        }
        self
    }
}

/// The report as a document.
pub(in crate::report) fn document(report: &DiffReport) -> Document<'_> {
    let comparison = &report.comparison;
    Document {
        api_version: API_VERSION,
        kind: "DiffReport",
        titles: &report.titles,
        terms: &report.terms,
        summary: Summary {
            clusters: comparison.fleet(),
            changed_clusters: comparison.changed_clusters,
            works: comparison.works,
            objects: comparison.objects,
            orphaned: comparison.orphaned,
            lost_policies: report.lost_policies(),
            foreign: comparison.foreign,
        },
        exceeded: &report.exceeded,
        new_violations: &report.violations,
        lost: lost(report),
        withdrawn: &report.withdrawn,
        live: &comparison.live,
        new_clusters: &comparison.new_clusters,
        clusters: &comparison.rows,
        effective_changes: &report.effective_changes,
        changes: Cow::Borrowed(&comparison.changes),
    }
}

fn lost(report: &DiffReport) -> Lost<'_> {
    let comparison = &report.comparison;
    let gone = comparison.rows_that(Presence::Leaves);
    let mut clusters: Vec<&str> = gone.flat_map(|row| &row.names).map(AsRef::as_ref).collect();
    clusters.retain(|name| is_cluster(name));
    clusters.sort_unstable();
    let objects = |group: &str, kind: &str| {
        let changes = comparison.changes.iter().filter(|change| {
            let object = &change.object;
            change.is(Change::Removed, Effect::Real) && object.group == group && object.kind == kind
        });
        changes
            .map(|change| LostObject {
                namespace: &change.object.namespace,
                name: &change.object.name,
                clusters: &change.clusters,
            })
            .collect()
    };
    let settings = |is_lost: fn(&EffectiveChange) -> bool| {
        let changes = report.losing().filter(move |(change, _)| is_lost(change));
        changes.map(|(change, denied)| LostSettings {
            kind: &change.kind,
            settings: &change.lost_settings,
            policies: &change.old_policies,
            path: &change.path,
            clusters: &change.clusters,
            denied,
        })
    };
    Lost {
        clusters,
        gateways: objects("gateway.networking.k8s.io", "Gateway"),
        namespaces: objects("", "Namespace"),
        settings: settings(|change| !change.lost_settings.is_empty()).collect(),
        policies: settings(|change| change.is_lost).collect(),
    }
}
