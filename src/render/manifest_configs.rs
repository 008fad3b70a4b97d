//! `manifestConfigs` of a work: how the agent applies each manifest, and what it reports about it.
//!
//! Owns: the entries. Flows in: manifests, parameters of the class. Flows out: the text of the list. Must not know: the
//! rest of a work.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use kube_json::{Map, Value, json};
use kube_yaml::{KeyOrder, append_deeper, append_entry, append_fields, append_key};

use super::condition_rules::{Reported, condition_rules};
use super::manifest::{CONFIG_COLUMN, Manifest};
use crate::api::params::{Params, UpdateStrategy};

/// Appends the list behind `indent` spaces, with the entries for the manifests of a work, which is never none. `params`
/// are those of the class that it belongs to, none for the RBAC work.
pub(super) fn append_manifest_configs(
    out: &mut String,
    manifests: &[Arc<Manifest>],
    params: Option<&Params>,
    indent: usize,
) {
    // A work is about its Gateway, or else about the first of its manifests that a controller reports on; if there is
    // none, about its last, because Namespaces come first.
    let position = |is_main: fn(&Reported) -> bool| {
        let mut reported = manifests.iter().map(|manifest| &manifest.reported);
        reported.position(is_main)
    };
    let main = position(|reported| matches!(reported, Reported::Conditions(_)))
        .or_else(|| position(|reported| *reported != Reported::Nothing))
        .unwrap_or(manifests.len().saturating_sub(1));
    let strategy = params.and_then(update_strategy);
    let column = indent.saturating_add(2);
    let deeper = column.saturating_sub(CONFIG_COLUMN);
    append_key(out, "manifestConfigs", indent);
    for (index, manifest) in manifests.iter().enumerate() {
        let rules = condition_rules_text(manifest.reported, index == main);
        if rules.is_none() && manifest.feedback.is_none() && strategy.is_none() {
            continue;
        }
        append_fields(out, indent, |out| {
            for rules in rules.as_deref().into_iter().chain(manifest.feedback.as_deref()) {
                append_deeper(out, rules, deeper);
            }
            append_key(out, "resourceIdentifier", column);
            manifest.resource.append(out, column.saturating_add(2));
            if let Some(strategy) = &strategy {
                append_entry(out, "updateStrategy", strategy, column, KeyOrder::Bytes);
            }
        });
    }
}

/// By what a manifest reports, and whether its work is about it.
type Made = BTreeMap<(Reported, bool), Option<Rc<str>>>;

/// The text of `conditionRules`, behind [`CONFIG_COLUMN`] spaces.
fn condition_rules_text(reported: Reported, is_main: bool) -> Option<Rc<str>> {
    thread_local! {
        /// A handful of rules, which thousands of manifests have.
        static MADE: RefCell<Made> = RefCell::default();
    }
    let make = || {
        let mut text = String::new();
        let rules = condition_rules(reported, is_main)?;
        append_entry(
            &mut text,
            "conditionRules",
            &rules,
            CONFIG_COLUMN,
            KeyOrder::Bytes,
        );
        Some(Rc::from(text))
    };
    MADE.with_borrow_mut(|made| made.entry((reported, is_main)).or_insert_with(make).clone())
}

/// What the agent shall not do by default: it replaces whole objects, and yields to the manager that wrote a field
/// first.
fn update_strategy(params: &Params) -> Option<Value> {
    if params.update_strategy == UpdateStrategy::Update {
        return None;
    }
    let apply = params.server_side_apply.clone().unwrap_or_default();
    let mut options = Map::new();
    if apply.force {
        options.insert("force".to_owned(), json!(true));
    }
    let ignored = apply.ignore_fields.items().map(|(_, ignored)| {
        let fields = ignored.fields();
        let mut entry: Map = fields
            .map(|(way, fields)| (way.to_owned(), json!(fields)))
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
