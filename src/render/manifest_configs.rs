//! `manifestConfigs` of a work: how the agent applies each manifest, and what it reports about it.
//!
//! Owns: the entries. Flows in: manifests, parameters of the class. Flows out: the list. Must not know: the rest of a
//! work.

use std::sync::Arc;

use kube_json::{Map, Value, json};

use super::condition_rules::{Reported, condition_rules};
use super::manifest::Manifest;
use crate::api::params::{Params, UpdateStrategy};

/// The entries for the manifests of a work, which is never none. `params` are those of the class that it belongs to,
/// none for the RBAC work.
pub(super) fn manifest_configs(
    manifests: &[Arc<Manifest>],
    params: Option<&Params>,
) -> impl Iterator<Item = Value> {
    // A work is about the first of its manifests that a controller reports on; if there is none, about its last,
    // because Namespaces come first.
    let main = manifests
        .iter()
        .position(|manifest| manifest.reported != Reported::Nothing)
        .unwrap_or(manifests.len().saturating_sub(1));
    let strategy = params.and_then(|params| update_strategy(&params.update_strategy));
    let entry = move |(index, manifest): (usize, &Arc<Manifest>)| {
        let mut entry = Map::new();
        if let Some(rules) = condition_rules(manifest.reported, index == main) {
            entry.insert("conditionRules", rules);
        }
        if let Some(rules) = &manifest.feedback {
            entry.insert("feedbackRules", rules.clone());
        }
        if let Some(strategy) = &strategy {
            entry.insert("updateStrategy", strategy.clone());
        }
        if entry.is_empty() {
            return None;
        }
        entry.insert("resourceIdentifier", manifest.resource.to_value());
        Some(Value::Object(entry))
    };
    manifests.iter().enumerate().filter_map(entry)
}

/// What the agent shall not do by default: it replaces whole objects, and yields to the manager that wrote a field
/// first.
fn update_strategy(strategy: &UpdateStrategy) -> Option<Value> {
    let UpdateStrategy::ServerSideApply(apply) = strategy else {
        return None;
    };
    let mut options = Map::new();
    if apply.force {
        options.insert("force".to_owned(), json!(true));
    }
    let ignored = apply.ignore_fields.iter().map(|ignored| {
        let fields = ignored.fields.iter();
        let mut entry: Map = fields
            .map(|(way, fields)| ((*way).to_owned(), json!(fields)))
            .collect();
        entry.insert("condition".to_owned(), json!(ignored.condition));
        Value::Object(entry)
    });
    let ignored: Vec<Value> = ignored.collect();
    if !ignored.is_empty() {
        options.insert("ignoreFields".to_owned(), Value::Array(ignored));
    }
    let mut strategy = json!({"type": "ServerSideApply"});
    if let (Some(map), false) = (strategy.as_object_mut(), options.is_empty()) {
        map.insert("serverSideApply".to_owned(), Value::Object(options));
    }
    Some(strategy)
}
