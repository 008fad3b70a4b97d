//! The Namespaces that a work creates.
//!
//! Owns: their manifests. Flows in: the other manifests of a work. Flows out: one for each namespace in them.
//! Must not know: why a Namespace needs its labels.

use std::collections::BTreeSet;

use kube_json::json;

use super::condition_rules::Reported;
use super::manifest::{Manifest, ResourceIdentifier};
use crate::sync::NamespaceLabels;

/// The Namespaces of the manifests, each once, with the labels by which listeners select routes from them.
pub(super) fn namespaces(manifests: &[Manifest], labels: &NamespaceLabels) -> Vec<Manifest> {
    let names: BTreeSet<&str> = manifests
        .iter()
        .map(|manifest| manifest.resource.namespace.as_str())
        .filter(|namespace| !namespace.is_empty())
        .collect();
    names
        .into_iter()
        .map(|name| Manifest {
            resource: ResourceIdentifier {
                group: String::new(),
                resource: "namespaces".to_owned(),
                namespace: String::new(),
                name: name.to_owned(),
            },
            kind: "Namespace".to_owned(),
            value: match labels.get(name) {
                Some(labels) => {
                    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
                }
                None => json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}),
            },
            feedback: Vec::new(),
            reported: Reported::Nothing,
            origins: Vec::new(),
        })
        .collect()
}
