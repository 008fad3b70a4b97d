//! Feedback rules: the status fields that the work agent reports back for each shipped object (OCM ManifestWork,
//! `manifestConfigs[].feedbackRules`).
//!
//! Owns: which fields are requested and under which names. Flows in: Gateways, the conditions of a kind, parameters.
//! Flows out: rules. Must not know: what a value means when it comes back.

use kube_json::Value;

use super::policy_conditions::PolicyConditions;
use crate::api::gateway::Gateway;
use crate::api::params::SyncedResource;

/// The rules of a downstream Gateway: its addresses, attached routes by listener, and conditions.
///
/// Without OCM's gate RawFeedbackJsonString only scalars can be fed back, so the first address stands for all.
#[must_use]
pub(super) fn gateway_rules(gateway: &Gateway<'_>, raw_feedback: bool) -> Option<Value> {
    let mut paths = Vec::new();
    if raw_feedback {
        paths.push(path("addresses", ".status.addresses"));
    } else {
        paths.push(path("addressType", ".status.addresses[0].type"));
        paths.push(path("addressValue", ".status.addresses[0].value"));
    }
    for listener in &gateway.listeners {
        let name = listener.name;
        paths.push(path(
            &format!("listener{name}AttachedRoutes"),
            &format!(".status.listeners[?(@.name==\"{name}\")].attachedRoutes"),
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
    rules(paths)
}

/// The rules of a shipped policy: the conditions of its kind, then the paths that the parameters request.
#[must_use]
pub(super) fn policy_rules(conditions: PolicyConditions, resource: &SyncedResource) -> Option<Value> {
    let list = if conditions.ancestors {
        ".status.ancestors[0].conditions"
    } else {
        ".status.conditions"
    };
    let mut paths = Vec::new();
    for condition in conditions.acceptance.into_iter().chain(conditions.outcome) {
        let name = condition.to_lowercase();
        paths.push(path(&name, &format!("{list}[?(@.type==\"{condition}\")].status")));
        paths.push(path(
            &format!("{name}Reason"),
            &format!("{list}[?(@.type==\"{condition}\")].reason"),
        ));
    }
    paths.extend(asked_paths(resource));
    rules(paths)
}

/// The rules that the parameters request. Nothing else is reported about a route.
#[must_use]
pub(super) fn asked_rules(resource: &SyncedResource) -> Option<Value> {
    rules(asked_paths(resource).collect())
}

fn asked_paths(resource: &SyncedResource) -> impl Iterator<Item = Value> {
    let feedback = resource.feedback.iter();
    feedback.map(|feedback| path(&feedback.name, &feedback.path.to_string()))
}

fn path(name: &str, path: &str) -> Value {
    Value::from_iter([("name", Value::from(name)), ("path", Value::from(path))])
}

/// One rule with these paths; none without any.
fn rules(paths: Vec<Value>) -> Option<Value> {
    if paths.is_empty() {
        return None;
    }
    let rule = [
        ("jsonPaths", Value::Array(paths)),
        ("type", Value::from("JSONPaths")),
    ];
    Some(Value::from(vec![Value::from_iter(rule)]))
}
