//! Turns a hub object into its copy for a spoke: metadata without hub state, namespace, class, target references.
//!
//! Owns: the lists of labels, annotations and fields that stay on the hub. Flows in: objects as authored. Flows out:
//! copies for a spoke. Must not know: why an object is synced.

use kube_json::{Map, Value, json};

use crate::object::well_known::{
    CLUSTER_LABEL_PREFIX, GATEWAY_CLUSTERS, POLICIES_SYNCED, ROUTES_SYNCED, SUPPRESS_ANNOTATION,
};

/// Fields of `metadata` that only a live object has (docs/systems/kubernetes.md#fields-of-a-live-object).
const LIVE_METADATA: &[&str] = &[
    "uid",
    "resourceVersion",
    "generation",
    "managedFields",
    "ownerReferences",
    "finalizers",
    "selfLink",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generateName",
];

/// Labels and annotations with these prefixes belong to the tools that apply the hub's objects, or to the hub.
const DROPPED_PREFIXES: &[&str] = &[
    "kubectl.kubernetes.io/",
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "meta.helm.sh/",
    "config.kubernetes.io/",
    "internal.config.kubernetes.io/",
    "applyset.kubernetes.io/",
    CLUSTER_LABEL_PREFIX,
];

/// Single labels and annotations that are the hub's own state, or for readers of its findings.
const DROPPED_NAMES: &[&str] = &[
    GATEWAY_CLUSTERS,
    POLICIES_SYNCED,
    ROUTES_SYNCED,
    SUPPRESS_ANNOTATION,
];

/// A copy of a whole object without status and hub state, under another name and namespace.
pub fn shipped(content: &Value, name: &str, namespace: &str) -> Value {
    let mut copy = content.as_object().cloned().unwrap_or_default();
    copy.remove("status");
    if let Some(written) = content.get("metadata") {
        set(&mut copy, "metadata", metadata(written, name, namespace));
    }
    Value::Object(copy)
}

/// What stays as it is shares its members with the hub's object.
fn metadata(written: &Value, name: &str, namespace: &str) -> Value {
    let mut metadata = written.as_object().cloned().unwrap_or_default();
    let is_live = |name: &str| LIVE_METADATA.contains(&name);
    if metadata.keys().any(|name| is_live(name)) {
        metadata.retain(|name, _| !is_live(name));
    }
    for section in ["annotations", "labels"] {
        let Some(entries) = metadata.get(section) else {
            continue;
        };
        let kept = kept_entries(entries);
        if kept.is_empty() {
            metadata.remove(section);
        } else {
            set(&mut metadata, section, Value::Object(kept));
        }
    }
    set(&mut metadata, "name", Value::from(name));
    set(&mut metadata, "namespace", Value::from(namespace));
    Value::Object(metadata)
}

/// Sets a member, unless it has that value: a mapping that is not changed stays shared.
fn set(map: &mut Map, name: &str, value: Value) {
    if map.get(name) != Some(&value) {
        map.insert(name, value);
    }
}

fn kept_entries(entries: &Value) -> Map {
    let is_dropped = |name: &str| {
        DROPPED_NAMES.contains(&name) || DROPPED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    let mut kept = entries.as_object().cloned().unwrap_or_default();
    if kept.keys().any(|name| is_dropped(name)) {
        kept.retain(|name, _| !is_dropped(name));
    }
    kept
}

/// Sets a label or an annotation (`section` is `labels` or `annotations`).
pub fn set_metadata(object: &mut Value, section: &str, name: &str, value: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    metadata.insert_if_absent(section, || json!({}));
    if let Some(entries) = metadata.get_mut(section).and_then(Value::as_object_mut) {
        entries.insert(name, Value::from(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn object(metadata: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "status": {"x": 1}})
    }

    #[test]
    fn nothing_that_only_a_live_object_has_is_shipped() {
        let mut metadata: Map = LIVE_METADATA
            .iter()
            .map(|field| ((*field).to_owned(), json!("x")))
            .collect();
        metadata.insert("name".to_owned(), json!("a"));
        let copy = shipped(&object(Value::Object(metadata)), "a", "kuadrant-infra");
        assert_eq!(
            copy,
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "namespace": "kuadrant-infra"},
            })
        );
    }

    #[test]
    fn what_stays_as_it_is_shares_its_members_with_the_hub() {
        let labels = json!({"team": "a", "tier": "front"});
        let hub = object(json!({"name": "a", "namespace": "n", "labels": labels}));
        let copy = shipped(&hub, "a", "n");
        let shares = |copy: &Value, pointer: &str| {
            let maps = [copy, &hub].map(|value| value.pointer(pointer).and_then(Value::as_object));
            matches!(maps, [Some(copy), Some(hub)] if copy.is_shared_with(hub))
        };
        assert_eq!(
            copy,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": hub["metadata"]})
        );
        assert!(shares(&copy, "/metadata"));
        let elsewhere = shipped(&hub, "a", "m");
        assert_eq!(elsewhere["metadata"]["namespace"], "m");
        assert!(shares(&elsewhere, "/metadata/labels"));
        assert_eq!(hub["metadata"]["namespace"], "n");
    }

    #[test]
    fn hub_state_and_the_appliers_keys_are_dropped_and_all_others_stay() {
        let mut annotations: Map = DROPPED_PREFIXES
            .iter()
            .map(|prefix| (format!("{prefix}x"), json!("y")))
            .collect();
        annotations.extend(DROPPED_NAMES.iter().map(|name| ((*name).to_owned(), json!("y"))));
        annotations.insert("kuadrant.io/other".to_owned(), json!("kept"));
        let metadata =
            json!({"name": "a", "annotations": annotations, "labels": {"argocd.argoproj.io/i": "x"}});
        let copy = shipped(&object(metadata), "a", "n");
        assert_eq!(
            copy.get("metadata"),
            Some(&json!({"name": "a", "namespace": "n", "annotations": {"kuadrant.io/other": "kept"}}))
        );
    }
}
