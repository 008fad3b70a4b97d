//! The ClusterOverlays that keep what clusters have: with them in the hub, the new side is the old one as far as overlays
//! may change it. Everything else is a comment.
//!
//! An overlay changes a hub object, and a comparison shows what was made from it. So a field is only set if the hub object
//! and the shipped one agree on it.

use std::collections::{BTreeMap, HashMap};

use apimachinery::{FieldPath, pointer};
use kube_json::{Value, json};

use super::compare::{Change, Effect, ObjectChange};
use super::fields::{FieldChange, field_changes, field_line};
use super::report::DiffReport;
use super::side::is_cluster;
use crate::api::overlay::escaped;
use crate::api::own_kinds::{GROUP, OVERLAY, VERSION};
use crate::diagnostic::one_line;
use crate::hub::Hub;
use crate::object::Object;
use crate::placing::overlays::{may_change, set};

/// No overlay has more changes, and no change has more fields.
const MOST: usize = 64;

/// A field that an overlay sets, or removes.
struct OverlayField {
    path: FieldPath,
    /// Where it is in the hub object.
    pointer: String,
    value: Option<Value>,
}

/// The ClusterOverlays as YAML, and comments.
pub fn overlays(report: &DiffReport, hub: &Hub) -> String {
    let comparison = &report.comparison;
    let by_origin = hub.objects.iter().map(|object| {
        let origin = &object.origin;
        ((origin.document, origin.pointer.as_str()), object)
    });
    let by_origin: HashMap<_, &Object> = by_origin.collect();
    let mut by_clusters: BTreeMap<(&str, Vec<&str>), Vec<Value>> = BTreeMap::new();
    let mut comments = String::new();
    let changed = comparison.changes.iter();
    for change in changed.filter(|change| change.effect != Effect::OtherWork) {
        let clusters: Vec<&str> = change.clusters.iter().map(AsRef::as_ref).collect();
        let origin = change.origins.first();
        let object = origin.and_then(|origin| by_origin.get(&(origin.document, origin.pointer.as_str())));
        let object = object.filter(|_| clusters.iter().all(|cluster| is_cluster(cluster)));
        let (fields, remaining) = overlay_fields(change, object.copied());
        if let (Some(object), false) = (object, fields.is_empty()) {
            let key = (object.namespace_or_empty(), clusters);
            by_clusters
                .entry(key)
                .or_default()
                .extend(changes(object, &fields));
        }
        if change.change != Change::Changed || !remaining.is_empty() {
            let sentence = comparison.sentence(change, &change.clusters);
            let happens: &str = change.change.into();
            comments.push_str(&format!("# {happens}: {}\n", one_line(&sentence, usize::MAX)));
            for field in &remaining {
                comments.push_str(&format!("#   {}\n", field_line(field)));
            }
        }
    }
    // One that was printed earlier has a lower number.
    let first = hub.objects.of_kind(GROUP, OVERLAY).len().saturating_add(1);
    let all = by_clusters.iter();
    let all = all.flat_map(|(key, changes)| changes.chunks(MOST).map(move |changes| (key, changes)));
    let documents = all.zip(first..).map(|((key, changes), number)| {
        let (namespace, clusters) = key;
        kube_yaml::write_document(&json!({
            "apiVersion": format!("{GROUP}/{VERSION}"),
            "kind": OVERLAY,
            "metadata": {"name": format!("kept-{number}"), "namespace": namespace},
            "spec": {"clusters": {"names": clusters}, "changes": changes},
        }))
    });
    documents.collect::<Vec<_>>().join("---\n") + &comments
}

/// The entries in `changes` for an object.
fn changes(object: &Object, fields: &[OverlayField]) -> Vec<Value> {
    let (group, kind) = (&object.api_version.group, &object.kind);
    let changes = fields.chunks(MOST).map(|fields| {
        let set = fields.iter().map(|field| match &field.value {
            Some(value) => json!({"path": field.path.to_string(), "value": escaped(value)}),
            None => json!({"path": field.path.to_string(), "remove": true}),
        });
        let target = json!({"group": group, "kind": kind, "name": object.name});
        json!({"target": target, "set": set.collect::<Value>()})
    });
    changes.collect()
}

/// The fields of a hub object that keep the old value of a changed object, and the fields that remain different.
fn overlay_fields(change: &ObjectChange, object: Option<&Object>) -> (Vec<OverlayField>, Vec<FieldChange>) {
    let Some([old, new]) = &change.both else {
        return (Vec::new(), Vec::new());
    };
    let mut fields: Vec<OverlayField> = Vec::new();
    let mut result = new.clone();
    for field in &change.fields {
        let Some(field) = object.and_then(|object| overlay_field(field, object, [old, new])) else {
            continue;
        };
        let mut others = fields.iter();
        if !others.any(|other| pointer::inside(&field.pointer, &other.pointer).is_some()) {
            fields.retain(|other| pointer::inside(&other.pointer, &field.pointer).is_none());
            set(&mut result, &field.pointer, field.value.as_ref());
            fields.push(field);
        }
    }
    let remaining = field_changes(old, &result);
    (fields, remaining)
}

/// The field itself, or else the nearest one that contains it.
fn overlay_field(field: &FieldChange, object: &Object, [old, new]: [&Value; 2]) -> Option<OverlayField> {
    let path = FieldPath::parse(field.path.strip_suffix("[order]").unwrap_or(&field.path)).ok()?;
    // An overlay neither adds nor removes an entry of a list, and has no word for an order.
    let is_moved = path.is_entry() && (field.old.is_none() || field.new.is_none());
    let is_itself = path.to_string() == field.path && !is_moved;
    let itself = is_itself.then(|| (path.clone(), field.old.clone()));
    // The positions are those of one side.
    let around = std::iter::once(path.clone()).chain(path.parents());
    let around = around.filter(|path| !path.has_position()).filter_map(|path| {
        let value = old.pointer(&path.resolve(old, true).ok()?).cloned();
        Some((path, value))
    });
    itself.into_iter().chain(around).find_map(|(path, value)| {
        let pointer = path.resolve(&object.value, true).ok()?;
        let shipped = path.resolve(new, true).ok()?;
        let is_same = shipped == pointer && object.value.pointer(&pointer) == new.pointer(&shipped);
        let text = value.as_ref().map(Value::to_string).unwrap_or_default();
        let is_kept = is_same && !text.contains("(hidden ") && may_change(object, &pointer, value.as_ref());
        is_kept.then_some(OverlayField { path, pointer, value })
    })
}
