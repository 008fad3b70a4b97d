//! Feedback rules: the status fields that the work agent reports back for each shipped object (OCM ManifestWork,
//! `manifestConfigs[].feedbackRules`).
//!
//! Owns: which fields are requested and under which names. Flows in: Gateways, the conditions of a kind, parameters.
//! Flows out: paths. Must not know: what a value means when it comes back.

use super::policy_conditions::PolicyConditions;
use crate::api::gateway::Gateway;
use crate::api::params::SyncedResource;

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

/// The paths of a shipped policy: the conditions of its kind, then the paths that the parameters request.
#[must_use]
pub(super) fn policy_paths(conditions: PolicyConditions, resource: &SyncedResource) -> Vec<Path> {
    let list = if conditions.ancestors {
        ".status.ancestors[0].conditions"
    } else {
        ".status.conditions"
    };
    let mut paths = Vec::new();
    for condition in conditions.acceptance.into_iter().chain(conditions.outcome) {
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

/// The paths that the parameters request. Nothing else is reported about a route.
#[must_use]
pub(super) fn asked_paths(resource: &SyncedResource) -> Vec<Path> {
    let feedback = resource.feedback.iter();
    feedback
        .map(|feedback| (feedback.name.clone(), feedback.path.to_string()))
        .collect()
}

fn path(name: &str, path: &str) -> Path {
    (name.to_owned(), path.to_owned())
}
