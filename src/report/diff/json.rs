//! The versioned document, kind `DiffReport`: a [`DiffReport`] with the places in the texts of both sides.

use std::sync::Arc;

use kube_json::Value;
use serde::Serialize;

use super::compare::{Change, ClusterRow, Counts, Effect, NewClusters, ObjectChange};
use super::fields::{FieldChange, field_changes};
use super::report::{DiffReport, Exceeded, Titles};
use super::side::{BothSides, LiveObject, ObjectKey, is_cluster};
use super::terms::Terms;
use crate::diagnostic::{API_VERSION, json_text};
use crate::outcome::{EffectiveChange, Presence, RuleOutcome, Which};

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    changes: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LostObject<'a> {
    namespace: &'a str,
    name: &'a str,
    clusters: &'a [Arc<str>],
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    change: Change,
    effect: Effect,
    #[serde(flatten)]
    object: &'a ObjectKey,
    work: &'a str,
    /// The work that contained the object before, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<&'a str>,
    clusters: &'a [Arc<str>],
    origins: Vec<Origin>,
    /// What differs inside a changed object.
    fields: Vec<FieldChange>,
    /// The whole object, if it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'a Value>,
    /// The whole object, if it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a Value>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Origin {
    /// `old` or `new`: whose file it is.
    #[cfg_attr(test, schemars(with = "String"))]
    side: Which,
    path: String,
    line: usize,
}

/// The report as JSON, with a final newline.
pub fn json(report: &DiffReport, locate: &BothSides<'_>) -> String {
    json_text(&document(report, locate)).unwrap_or_default()
}

impl Document<'_> {
    /// The same without what no page shows: whole objects, and what is lost, which is among the changes.
    #[must_use]
    pub(in crate::report) fn for_page(mut self) -> Self {
        self.lost = Lost::default();
        for entry in &mut self.changes {
            (entry.old, entry.new) = (None, None);
        }
        self
    }
}

/// The report as a document.
pub(in crate::report) fn document<'a>(report: &'a DiffReport, locate: &BothSides<'_>) -> Document<'a> {
    let comparison = &report.comparison;
    let changes = comparison.changes.iter();
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
        changes: changes.map(|change| entry(change, locate)).collect(),
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

fn entry<'a>(change: &'a ObjectChange, locate: &BothSides<'_>) -> Entry<'a> {
    let (fields, old, new) = match (&change.old, &change.new) {
        (Some(old), Some(new)) => (field_changes(old, new), None, None),
        (old, new) => (Vec::new(), old.as_ref(), new.as_ref()),
    };
    let side = change.side();
    let origins = change.places(locate).map(|span| Origin {
        side,
        path: span.path.to_owned(),
        line: span.line,
    });
    Entry {
        change: change.change,
        effect: change.effect,
        object: &change.object,
        work: &change.work,
        moved_from: change.moved_from.as_deref(),
        clusters: &change.clusters,
        origins: origins.collect(),
        fields,
        old,
        new,
    }
}
