//! The versioned document, kind `DiffReport`.
//!
//! Owns: its shape. Flows in: a [`DiffReport`], the texts of both sides. Flows out: JSON text. Must not know: how
//! sides are compared.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::change::{Change, Counts};
use super::compare::{ClusterRow, Comparison, ObjectChange, Presence, Which};
use super::fields::{FieldChange, field_changes};
use super::object::ObjectKey;
use super::report::{DiffReport, EffectiveChange, Titles};
use super::side::BothSides;
use crate::diagnostic::{API_VERSION, Locate as _, Part, json_text};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    titles: &'a Titles,
    summary: Summary,
    /// Clusters to which the same happens share an entry.
    clusters: Vec<Row<'a>>,
    effective_changes: &'a [EffectiveChange],
    changes: Vec<Entry<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// Real clusters of either side.
    clusters: usize,
    changed_clusters: usize,
    works: Counts,
    objects: Counts,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    names: Vec<&'a str>,
    /// `both`, `new` or `gone`.
    presence: &'static str,
    works: Counts,
    objects: Counts,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    change: Change,
    #[serde(flatten)]
    object: &'a ObjectKey,
    work: &'a str,
    clusters: Vec<&'a str>,
    origins: Vec<Origin>,
    /// What differs inside a changed object.
    fields: Vec<FieldChange>,
    /// The whole object, where it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'a Value>,
    /// The whole object, where it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Origin {
    /// `old` or `new`: whose file it is.
    side: &'static str,
    path: String,
    line: usize,
}

/// The report as JSON, with a final newline.
#[must_use]
pub fn json(report: &DiffReport, locate: &BothSides<'_>) -> String {
    let comparison = &report.comparison;
    let document = Document {
        api_version: API_VERSION,
        kind: "DiffReport",
        titles: &report.titles,
        summary: Summary {
            clusters: comparison
                .clusters
                .iter()
                .filter(|name| !name.starts_with('_'))
                .count(),
            changed_clusters: comparison.changed_clusters,
            works: comparison.works,
            objects: comparison.objects,
        },
        clusters: comparison
            .rows
            .iter()
            .map(|entry| row(comparison, entry))
            .collect(),
        effective_changes: &report.effective_changes,
        changes: comparison
            .changes
            .iter()
            .map(|change| entry(comparison, change, locate))
            .collect(),
    };
    json_text(&document).unwrap_or_default()
}

fn names<'a>(comparison: &'a Comparison, positions: &[u32]) -> Vec<&'a str> {
    positions
        .iter()
        .filter_map(|position| comparison.clusters.get(usize::try_from(*position).ok()?))
        .map(String::as_str)
        .collect()
}

fn row<'a>(comparison: &'a Comparison, row: &ClusterRow) -> Row<'a> {
    Row {
        names: names(comparison, &row.clusters),
        presence: match row.presence {
            Presence::Both => "both",
            Presence::Joins => "new",
            Presence::Leaves => "gone",
        },
        works: row.works,
        objects: row.objects,
    }
}

fn entry<'a>(comparison: &'a Comparison, change: &'a ObjectChange, locate: &BothSides<'_>) -> Entry<'a> {
    let (fields, old, new) = match (&change.old, &change.new) {
        (Some(old), Some(new)) => (field_changes(old, new), None, None),
        (old, new) => (Vec::new(), old.as_ref(), new.as_ref()),
    };
    let origins = change
        .origins
        .iter()
        .filter_map(|sided| {
            let place = sided.origin.place("", Part::Value);
            let (side, place) = match sided.side {
                Which::Old => ("old", locate.old_place(place)),
                Which::New => ("new", place),
            };
            let span = locate.locate(&place)?;
            Some(Origin {
                side,
                path: span.path.to_owned(),
                line: span.line,
            })
        })
        .collect();
    Entry {
        change: change.change,
        object: &change.object,
        work: &change.work,
        clusters: names(comparison, &change.clusters),
        origins,
        fields,
        old,
        new,
    }
}
