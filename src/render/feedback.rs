//! Feedback rules: what the work agent reports back of each shipped object (OCM ManifestWork,
//! `manifestConfigs`).
//!
//! Owns: which fields are asked for and under which names, and the entries of `manifestConfigs`. Flows in: Gateways,
//! the conditions of a kind, parameters. Flows out: paths, entries. Must not know: what a value means when it comes
//! back.

use serde_json::{Value, json};

use super::manifest::ResourceIdentifier;
use super::policy_conditions::PolicyConditions;
use crate::api::gateway::Gateway;
use crate::api::params::{Params, SyncedResource, UpdateStrategy};

/// One `{name, path}` of a feedback rule.
type Path = (String, String);

/// The paths of a downstream Gateway: its addresses, attached routes by listener, and conditions.
///
/// Without OCM's gate RawFeedbackJsonString only scalars can be fed back, so the first address stands for all.
#[must_use]
pub(super) fn gateway_paths(gateway: &Gateway<'_>, raw_feedback: bool) -> Vec<Path> {
    let mut paths = Vec::new();
    if raw_feedback {
        paths.push(path("addresses", ".status.addresses"));
    } else {
        paths.push(path("addressType", ".status.addresses[0].type"));
        paths.push(path("addressValue", ".status.addresses[0].value"));
    }
    for listener in &gateway.listeners {
        let name = listener.name;
        paths.push((
            format!("listener{name}AttachedRoutes"),
            format!(".status.listeners[?(@.name==\"{name}\")].attachedRoutes"),
        ));
    }
    paths.push(path(
        "accepted",
        ".status.conditions[?(@.type==\"Accepted\")].status",
    ));
    paths.push(path(
        "programmed",
        ".status.conditions[?(@.type==\"Programmed\")].status",
    ));
    paths
}

/// The paths of a shipped policy: the conditions that its kind has, then what the params ask for.
#[must_use]
pub(super) fn policy_paths(conditions: PolicyConditions, resource: &SyncedResource) -> Vec<Path> {
    let list = if conditions.ancestors {
        ".status.ancestors[0].conditions"
    } else {
        ".status.conditions"
    };
    let mut paths = Vec::new();
    for condition in std::iter::once("Accepted").chain(conditions.outcome) {
        let name = condition.to_lowercase();
        paths.push((name.clone(), format!("{list}[?(@.type==\"{condition}\")].status")));
        paths.push((
            format!("{name}Reason"),
            format!("{list}[?(@.type==\"{condition}\")].reason"),
        ));
    }
    paths.extend(asked_paths(resource));
    paths
}

/// The paths that the params ask for: all that is reported of a route.
#[must_use]
pub(super) fn asked_paths(resource: &SyncedResource) -> Vec<Path> {
    let feedback = resource.feedback.iter();
    feedback
        .map(|feedback| (feedback.name.clone(), feedback.path.to_string()))
        .collect()
}

/// One entry of `manifestConfigs`, or `None` when there is nothing to configure.
#[must_use]
pub(super) fn manifest_config(
    resource: &ResourceIdentifier,
    paths: &[Path],
    params: &Params,
) -> Option<Value> {
    let mut config = serde_json::Map::new();
    if !paths.is_empty() {
        let json_paths: Vec<Value> = paths
            .iter()
            .map(|(name, path)| json!({"name": name, "path": path}))
            .collect();
        config.insert(
            "feedbackRules".to_owned(),
            json!([{"type": "JSONPaths", "jsonPaths": json_paths}]),
        );
    }
    if let Some(strategy) = update_strategy(&params.update_strategy) {
        config.insert("updateStrategy".to_owned(), strategy);
    }
    if config.is_empty() {
        return None;
    }
    config.insert("resourceIdentifier".to_owned(), resource.to_value());
    Some(Value::Object(config))
}

/// What the agent shall not do by default: it replaces whole objects, and yields to whoever wrote a field first.
fn update_strategy(strategy: &UpdateStrategy) -> Option<Value> {
    let UpdateStrategy::ServerSideApply(apply) = strategy else {
        return None;
    };
    let mut options = serde_json::Map::new();
    if apply.force {
        options.insert("force".to_owned(), json!(true));
    }
    let ignored = apply.ignore_fields.iter().map(|ignored| {
        let fields = ignored.fields.iter();
        let mut entry: serde_json::Map<String, Value> = fields
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

fn path(name: &str, path: &str) -> Path {
    (name.to_owned(), path.to_owned())
}
