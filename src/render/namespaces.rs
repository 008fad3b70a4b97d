//! The Namespaces that works create.
//!
//! Owns: their manifests. Flows in: the other manifests of a work. Flows out: one for each namespace in them.
//! Must not know: why a Namespace needs its labels.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use kube_json::Value;

use super::manifest::Manifest;
use crate::sync::NamespaceLabels;

/// The Namespaces of a run: thousands of works share one.
#[derive(Debug)]
pub(crate) struct Namespaces<'l> {
    labels: &'l NamespaceLabels,
    made: RwLock<HashMap<String, Arc<Manifest>>>,
}

impl<'l> Namespaces<'l> {
    /// With the labels by which listeners select routes from them.
    pub(crate) fn new(labels: &'l NamespaceLabels) -> Self {
        let made = RwLock::default();
        Self { labels, made }
    }

    /// The manifests of a work, with the Namespaces of these before them, each once.
    pub(super) fn before(&self, manifests: Vec<Arc<Manifest>>) -> Vec<Arc<Manifest>> {
        let namespaces = manifests
            .iter()
            .map(|manifest| manifest.resource.namespace.as_str());
        let names: BTreeSet<&str> = namespaces.filter(|namespace| !namespace.is_empty()).collect();
        let mut all = Vec::with_capacity(names.len().saturating_add(manifests.len()));
        all.extend(names.into_iter().map(|name| self.named(name)));
        all.extend(manifests);
        all
    }

    fn named(&self, name: &str) -> Arc<Manifest> {
        let made = self.made.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(name) {
            return Arc::clone(known);
        }
        drop(made);
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(namespace(name, self.labels));
        Arc::clone(made.entry(name.to_owned()).or_insert_with(make))
    }
}

fn namespace(name: &str, labels: &NamespaceLabels) -> Manifest {
    let labels = labels.get(name).into_iter().map(|labels| {
        let labels = labels.iter().map(|(label, value)| (label, Value::from(value)));
        ("labels", labels.collect())
    });
    let metadata = labels.chain([("name", Value::from(name))]);
    let value = Value::from_iter([
        ("apiVersion", Value::from("v1")),
        ("kind", Value::from("Namespace")),
        ("metadata", metadata.collect()),
    ]);
    Manifest::ours(("", "namespaces"), "Namespace", name, value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_namespace_stands_once_before_its_manifests_with_its_labels_and_works_share_it() {
        let labels: NamespaceLabels = [("shop", "team")]
            .map(|(name, label)| {
                (
                    name.to_owned(),
                    BTreeMap::from([(label.to_owned(), "a".to_owned())]),
                )
            })
            .into();
        let namespaces = Namespaces::new(&labels);
        let in_namespace = |name: &str| {
            let mut manifest = namespace("x", &labels);
            manifest.resource.namespace = name.to_owned();
            Arc::new(manifest)
        };
        let all = namespaces.before(["shop", "", "bar", "shop"].map(in_namespace).into());
        let names: Vec<&str> = all
            .iter()
            .map(|manifest| manifest.resource.name.as_str())
            .collect();
        assert_eq!(names, ["bar", "shop", "x", "x", "x", "x"]);
        let label = |at: usize| {
            all[at]
                .value
                .pointer("/metadata/labels/team")
                .and_then(Value::as_str)
        };
        assert_eq!([label(0), label(1)], [None, Some("a")]);
        let again = namespaces.before(vec![in_namespace("shop")]);
        assert!(Arc::ptr_eq(&again[0], &all[1]));
    }
}
