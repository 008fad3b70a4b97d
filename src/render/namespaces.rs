//! The Namespaces that a work creates.
//!
//! Owns: their manifests. Flows in: the other manifests of a work. Flows out: one for each namespace in them.
//! Must not know: why a Namespace needs its labels.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_json::Value;

use super::condition_rules::Reported;
use super::manifest::{Manifest, ResourceIdentifier};
use crate::sync::NamespaceLabels;

/// The Namespaces of the manifests, each once, with the labels by which listeners select routes from them.
pub(super) fn namespaces(manifests: &[Arc<Manifest>], labels: &NamespaceLabels) -> Vec<Arc<Manifest>> {
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
            value: {
                let labels = labels.get(name).into_iter().map(|labels| {
                    let labels = labels.iter().map(|(label, value)| (label, Value::from(value)));
                    ("labels", labels.collect())
                });
                let metadata = labels.chain([("name", Value::from(name))]);
                Value::from_iter([
                    ("apiVersion", Value::from("v1")),
                    ("kind", Value::from("Namespace")),
                    ("metadata", metadata.collect()),
                ])
            },
            feedback: None,
            reported: Reported::Nothing,
            origins: Vec::new(),
        })
        .map(Arc::new)
        .collect()
}
