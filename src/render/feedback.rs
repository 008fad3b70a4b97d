//! Feedback rules: the status fields that the work agent reports back for each shipped object (OCM ManifestWork,
//! `manifestConfigs[].feedbackRules`).
//!
//! Owns: which fields are requested and under which names. Flows in: Gateways, the conditions of a kind, parameters.
//! Flows out: texts of rules. Must not know: what a value means when it comes back.

use std::cell::RefCell;
use std::sync::Arc;

use kube_json::Value;
use kube_yaml::{KeyOrder, append_entry};

use super::manifest::CONFIG_COLUMN;
use super::policy_conditions::PolicyConditions;
use crate::api::gateway::Gateway;
use crate::api::params::SyncedResource;

/// Whether values were requested raw, the names of the listeners, and the text.
type Last = (bool, Vec<String>, Arc<str>);

/// The rules of a downstream Gateway: its addresses, attached routes by listener, and conditions.
///
/// Without OCM's gate RawFeedbackJsonString only scalars can be fed back, so the first address stands for all.
pub(super) fn gateway_rules(gateway: &Gateway<'_>, raw_feedback: bool) -> Option<Arc<str>> {
    thread_local! {
        /// Those of the Gateway before, of listeners of these names: many Gateways are alike in this.
        static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    let listeners = gateway.listeners.iter().map(|listener| listener.name);
    LAST.with_borrow_mut(|last| {
        if let Some((raw, names, rules)) = last
            && *raw == raw_feedback
            && listeners.clone().eq(names.iter())
        {
            return Some(Arc::clone(rules));
        }
        let rules = rules_of_listeners(listeners.clone(), raw_feedback)?;
        *last = Some((
            raw_feedback,
            listeners.map(str::to_owned).collect(),
            Arc::clone(&rules),
        ));
        Some(rules)
    })
}

fn rules_of_listeners<'a>(listeners: impl Iterator<Item = &'a str>, raw_feedback: bool) -> Option<Arc<str>> {
    let mut paths = Vec::new();
    if raw_feedback {
        paths.push(path("addresses", ".status.addresses"));
    } else {
        paths.push(path("addressType", ".status.addresses[0].type"));
        paths.push(path("addressValue", ".status.addresses[0].value"));
    }
    for name in listeners {
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
pub(super) fn policy_rules(conditions: PolicyConditions, resource: &SyncedResource) -> Option<Arc<str>> {
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
pub(super) fn asked_rules(resource: &SyncedResource) -> Option<Arc<str>> {
    rules(asked_paths(resource).collect())
}

fn asked_paths(resource: &SyncedResource) -> impl Iterator<Item = Value> {
    let feedback = resource.feedback.iter();
    feedback.map(|feedback| path(&feedback.name, &feedback.path.to_string()))
}

fn path(name: &str, path: &str) -> Value {
    Value::from_iter([("name", Value::from(name)), ("path", Value::from(path))])
}

/// The text of one rule with these paths; none without any.
fn rules(paths: Vec<Value>) -> Option<Arc<str>> {
    if paths.is_empty() {
        return None;
    }
    let rule = [
        ("jsonPaths", Value::Array(paths)),
        ("type", Value::from("JSONPaths")),
    ];
    let rules = Value::from(vec![Value::from_iter(rule)]);
    let mut text = String::new();
    append_entry(&mut text, "feedbackRules", &rules, CONFIG_COLUMN, KeyOrder::Bytes);
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::*;
    use crate::diagnostic::{DocumentId, Findings, SourceId};
    use crate::object::{Object, Origin};

    #[test]
    fn a_gateway_has_the_rules_of_its_own_listeners_whatever_gateway_was_before_it() {
        let rules = |listeners: &[&str], raw_feedback| {
            let listener = |name| json!({"name": name, "port": 80, "protocol": "HTTP"});
            let listeners: Value = listeners.iter().map(listener).collect();
            let value = json!({
                "apiVersion": "gateway.networking.k8s.io/v1",
                "kind": "Gateway",
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {"gatewayClassName": "mc", "listeners": listeners},
            });
            let document = DocumentId {
                source: SourceId(0),
                index: 0,
            };
            let pointer = String::new();
            let object = Object::from_value(value, Origin { document, pointer });
            let gateway = Gateway::read(&object, &mut Findings::new()).expect("a Gateway");
            gateway_rules(&gateway, raw_feedback).expect("rules")
        };
        let http = rules(&["http"], false);
        assert!(http.contains("- name: listenerhttpAttachedRoutes\n"), "{http}");
        assert!(
            http.contains("- name: addressValue\n") && !http.contains("https"),
            "{http}"
        );
        assert_eq!(rules(&["http"], false), http);
        let both = rules(&["http", "https"], false);
        assert!(both.contains("- name: listenerhttpsAttachedRoutes\n"), "{both}");
        let raw = rules(&["http", "https"], true);
        assert!(raw.contains("- name: addresses\n"), "{raw}");
        assert_eq!(rules(&["http"], false), http);
    }
}
