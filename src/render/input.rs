//! The input of rendering: the hub, the clusters of each Gateway, the synced objects, the configuration, and the Namespaces
//! that works create. The files of PlacementDecisions, which keep later runs stable (`placement --write DIR`), are named here,
//! too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::Value;

use super::carried::SyncWaves;
use super::manifest::Manifest;
use super::rbac::text;
use crate::api::config::{HubObjects, Secrets};
use crate::hub::{Grants, Hub, OurGatewayId, Table};
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL_POINTER;
use crate::progress::Progress;
use crate::sync::{NamespaceLabels, OnSpokes, PlacedGateway, SyncedObject};

/// The kind of object that contains the works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WorkKind {
    /// A ManifestWork for each cluster.
    #[default]
    ManifestWork,
    /// A ManifestWorkReplicaSet, from which the hub makes the works.
    ReplicaSet,
}

/// Everything that rendering needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a> {
    /// The hub.
    pub hub: &'a Hub,
    /// Its ReferenceGrants.
    pub grants: &'a Grants<'a>,
    /// Our Gateways: those of the hub as it is written, then those of the hubs that ClusterOverlays make of it, where each has
    /// other clusters.
    pub gateways: &'a Table<OurGatewayId, PlacedGateway<'a>>,
    /// The policies and routes that are synced.
    pub synced: &'a [SyncedObject<'a>],
    /// The policies that are not, though their kind is.
    pub withheld: &'a [&'a Object],
    /// The objects on the clusters once the works are applied.
    pub on_spokes: &'a OnSpokes<'a>,
    /// The labels by which listeners select routes from Namespaces, in each of these hubs.
    pub namespaces: &'a [NamespaceLabels],
    /// Whether Secrets are copied.
    pub secrets: Secrets,
    /// Whether annotated hub objects are written too.
    pub hub_objects: HubObjects,
    /// The kind of object that contains the works.
    pub work_kind: WorkKind,
    /// The order in which changes reach the clusters.
    pub sync_waves: &'a SyncWaves<'a>,
    /// The observer of progress.
    pub progress: &'a Progress,
}

impl Input<'_> {
    /// Manifests of the hub of a Gateway, with their Namespaces before them.
    pub(super) fn with_namespaces(
        &self,
        gateway: &PlacedGateway<'_>,
        manifests: Vec<Arc<Manifest>>,
    ) -> Vec<Arc<Manifest>> {
        match self.namespaces.get(gateway.projection) {
            Some(labels) => after_namespaces(labels, manifests),
            None => manifests,
        }
    }
}

/// The manifests of a work, with their Namespaces before them, each once.
fn after_namespaces(labels: &NamespaceLabels, manifests: Vec<Arc<Manifest>>) -> Vec<Arc<Manifest>> {
    let namespaces = manifests
        .iter()
        .map(|manifest| manifest.summary.namespace.as_str());
    let names: BTreeSet<&str> = namespaces.filter(|namespace| !namespace.is_empty()).collect();
    let mut all = Vec::with_capacity(names.len().saturating_add(manifests.len()));
    // First, as the agent applies them wherever they stand (docs/systems/ocm-work.md#the-work-agent): so the last
    // manifest of a work is never one, on which `manifest_configs` relies.
    all.extend(names.into_iter().map(|name| Arc::new(namespace(name, labels))));
    all.extend(manifests);
    all
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
    Manifest::new(("", "namespaces"), "Namespace", name, value)
}

/// The path of the file for a Placement, in the directory of all. Both names were checked by Kubernetes' rules when they were read.
pub fn decision_file(namespace: &str, placement: &str) -> String {
    format!("{namespace}/{placement}.yaml")
}

/// The files that contain these objects, with those of one Placement (by its label) in one file.
pub fn decision_files(objects: impl Iterator<Item = Value>) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for object in objects {
        let placement = text(&object, PLACEMENT_LABEL_POINTER);
        let path = decision_file(text(&object, "/metadata/namespace"), placement);
        let file = texts.entry(path).or_default();
        if !file.is_empty() {
            file.push_str("---\n");
        }
        file.push_str(&kube_yaml::write_document(&object));
    }
    texts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_namespace_stands_once_before_its_manifests_with_its_labels() {
        let labels: NamespaceLabels = [("shop", "team")]
            .map(|(name, label)| {
                (
                    name.to_owned(),
                    BTreeMap::from([(label.to_owned(), "a".to_owned())]),
                )
            })
            .into();
        let in_namespace = |name: &str| {
            let mut manifest = namespace("x", &labels);
            manifest.summary.namespace = name.to_owned();
            Arc::new(manifest)
        };
        let all = after_namespaces(&labels, ["shop", "", "bar", "shop"].map(in_namespace).into());
        let names: Vec<&str> = all
            .iter()
            .map(|manifest| manifest.summary.name.as_str())
            .collect();
        assert_eq!(names, ["bar", "shop", "x", "x", "x", "x"]);
        let label = |at: usize| {
            all[at]
                .value
                .pointer("/metadata/labels/team")
                .and_then(Value::as_str)
        };
        assert_eq!([label(0), label(1)], [None, Some("a")]);
    }
}
