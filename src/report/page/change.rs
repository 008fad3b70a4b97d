//! What differs from a base, as a page shows it: changes of settings that are equal but for their places are one row, and
//! clusters that only the base has are named.

use std::sync::Arc;

use std::collections::HashMap;

use kube_json::Value;

use super::document::{
    ChangePart, ChangeSummary, ChangedClusters, ChangedObject, EffectiveRow, Position, Spot, Tables, entry,
    signed_or_none,
};
use super::inventory::Paths;
use crate::api::gateway::GROUP;
use crate::diagnostic::{Locate as _, Part};
use crate::object::well_known::HUB_DIRECTORY;
use crate::outcome::inventory::Inventory;
use crate::render::REPLICA_SETS;
use crate::report::diff::{
    BothSides, DiffReport, EffectiveChange, ObjectChange, SettingChange, Which, field_changes,
};
use crate::report::render_report::key_of;
use crate::topology::Topology;

/// The parts of the comparison.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'c> {
    /// The differences.
    pub report: &'c DiffReport,
    /// The texts of both sides, under paths relative to their roots.
    pub locate: &'c BothSides<'c>,
    /// Whether settings were too many to be compared.
    pub too_much: bool,
}

/// The part of the page.
pub(super) fn change(
    compared: &Compared<'_>,
    topology: &Topology<'_>,
    (inventory, paths): (&Inventory, &Paths),
    tables: &mut Tables<'_>,
) -> ChangePart {
    let report = compared.report;
    let comparison = &report.comparison;
    let names = |positions: &[u32]| -> Vec<&str> {
        let names = positions.iter().filter_map(|at| entry(&comparison.clusters, *at));
        names.map(String::as_str).collect()
    };
    let rows = comparison.rows.iter().map(|row| {
        let names = names(&row.clusters);
        ChangedClusters {
            clusters: tables.set(names.iter().copied()),
            gone: gone(&names, tables),
            presence: row.presence,
        }
    });
    let clusters = rows.collect();
    let fleet = comparison.clusters.iter().filter(|name| !name.starts_with('_'));
    let objects = comparison
        .changes
        .iter()
        .map(|change| object(change, &names(&change.clusters), compared, topology, tables))
        .collect();
    ChangePart {
        old: report.titles.old.clone(),
        new: report.titles.new.clone(),
        summary: ChangeSummary {
            clusters: fleet.count(),
            changed_clusters: comparison.changed_clusters,
            objects: comparison.objects,
        },
        clusters,
        effective: effective(&report.effective_changes, inventory, paths, tables),
        too_much: compared.too_much,
        objects,
    }
}

/// What the page has no cluster for: those that only the base has, and the directories of what is for the hub.
fn gone(names: &[&str], tables: &Tables<'_>) -> Vec<String> {
    let unknown = names.iter().filter(|name| tables.cluster(name).is_none());
    let word = |name: &&str| match name.strip_prefix(REPLICA_SETS) {
        Some(rest) => format!("the hub, in {}", rest.trim_start_matches('/')),
        None if *name == HUB_DIRECTORY => "the hub".to_owned(),
        None => (*name).to_owned(),
    };
    unknown.map(word).collect()
}

/// Changes that are equal but for where they are: one row each.
fn effective(
    changes: &[EffectiveChange],
    inventory: &Inventory,
    paths: &Paths,
    tables: &mut Tables<'_>,
) -> Vec<EffectiveRow> {
    type Key = (Position, String, Position, Position, Vec<String>, Vec<String>);
    let mut rows: Vec<EffectiveRow> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    for change in changes {
        // Those settings that differ; a side on which nothing of the kind holds has none.
        let side = |is_there: bool, value: fn(&SettingChange) -> &Option<Arc<Value>>| {
            let values = change.settings.iter().filter_map(|setting| {
                let value = value(setting).as_deref()?.clone();
                Some((setting.setting.clone(), value))
            });
            is_there.then(|| Value::Object(values.collect()))
        };
        let old = side(!change.old_policies.is_empty(), |setting| &setting.old);
        let new = side(!change.new_policies.is_empty(), |setting| &setting.new);
        let (old, new) = (
            tables.value_or_none(old.as_ref()),
            tables.value_or_none(new.as_ref()),
        );
        let mut kinds = inventory.kinds.iter();
        let kind = kinds.position(|kind| kind.kind == change.kind && kind.group == change.group);
        let kind = signed_or_none(kind);
        let key = (
            kind,
            change.kind.clone(),
            old,
            new,
            change.old_policies.clone(),
            change.new_policies.clone(),
        );
        let next = rows.len();
        let position = *known.entry(key).or_insert(next);
        if position == next {
            // A policy of this side may have another name than one of the same locator of the base.
            let policies = |locators: &[String], names: &[String]| -> Vec<(String, Position)> {
                let mut named = Vec::new();
                for locator in locators {
                    let key = key_of(locator);
                    let number = inventory.policies.find(locator, None);
                    named.push((key.to_owned(), signed_or_none(number)));
                }
                if named.is_empty() {
                    named.extend(names.iter().map(|name| (name.clone(), -1)));
                }
                named
            };
            rows.push(EffectiveRow {
                kind,
                kind_name: change.kind.clone(),
                old,
                new,
                old_policies: policies(&change.old_policies, &change.old_names),
                new_policies: policies(&change.new_policies, &change.new_names),
                places: Vec::new(),
            });
        }
        let clusters = tables.set(change.clusters.iter().map(String::as_str));
        let spot: Spot = paths.spot(&change.path);
        if let Some(row) = rows.get_mut(position) {
            match row.places.iter_mut().find(|(known, _)| *known == clusters) {
                Some((_, spots)) => spots.push(spot),
                None => row.places.push((clusters, vec![spot])),
            }
        }
    }
    rows
}

/// One object on clusters. Values of Secrets are concealed in it already.
fn object(
    change: &ObjectChange,
    names: &[&str],
    compared: &Compared<'_>,
    topology: &Topology<'_>,
    tables: &mut Tables<'_>,
) -> ChangedObject {
    let fields = match (&change.old, &change.new) {
        (Some(old), Some(new)) => field_changes(old, new),
        _ => Vec::new(),
    };
    let fields = fields.iter().map(|field| {
        (
            field.path.clone(),
            tables.value_or_none(field.old.as_ref()),
            tables.value_or_none(field.new.as_ref()),
        )
    });
    let fields = fields.collect();
    let mut origins = change.origins.iter();
    let at = origins.find_map(|sided| {
        let place = sided.origin.place("", Part::Value);
        let (side, place) = match sided.side {
            Which::Old => ("old", compared.locate.old_place(place)),
            Which::New => ("new", place),
        };
        let span = compared.locate.locate(&place)?;
        Some((tables.file(span.path), span.line, side))
    });
    let is_gateway = change.object.group == GROUP && change.object.kind == "Gateway";
    let gateway = is_gateway.then(|| gateway_of(change, topology)).flatten();
    ChangedObject {
        change: change.change.as_str(),
        kind: change.object.kind.clone(),
        ns: change.object.namespace.clone(),
        name: change.object.name.clone(),
        work: change.work.clone(),
        clusters: tables.set(names.iter().copied()),
        gone: gone(names, tables),
        at,
        gateway,
        fields,
    }
}

/// `namespace/name` of the Gateway of the hub that one on clusters was made from.
fn gateway_of(change: &ObjectChange, topology: &Topology<'_>) -> Option<String> {
    let origin = &change
        .origins
        .iter()
        .find(|sided| sided.side == Which::New)?
        .origin;
    let gateways = topology.gateways.rows().iter();
    let object = gateways
        .map(|gateway| gateway.object)
        .find(|object| object.origin == *origin)?;
    Some(object.key())
}
