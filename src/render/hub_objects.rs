//! Hub objects with what MGC writes back (`hubObjects: Annotated`; hub.md section 2, the RFC).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::assemble::Input;
use super::downstream::set_metadata;
use crate::object::{Field, Object};
use crate::yaml;

/// Labels of a ManagedCluster with this prefix are shown on the Gateways placed there.
const ATTRIBUTE_PREFIX: &str = "kuadrant.io/";
/// Their prefix on the Gateway.
const CLUSTER_LABEL_PREFIX: &str = "clusters.kuadrant.io/";

/// Where a copy of a hub object lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Downstream {
    /// The cluster.
    pub cluster: String,
    /// Name there.
    pub name: String,
    /// Namespace there.
    pub namespace: String,
}

/// Our Gateways and the shipped policies, annotated, by file name.
#[must_use]
pub fn annotated(
    input: &Input<'_>,
    policies: &BTreeMap<String, Vec<Downstream>>,
) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for placed in input.gateways {
        let object = placed.gateway.object;
        let mut value = authored(object);
        let clusters = json!(placed.clusters).to_string();
        set_metadata(
            &mut value,
            "annotations",
            "kuadrant.io/gateway-clusters",
            &clusters,
        );
        for cluster in &placed.clusters {
            for (attribute, setting) in attributes(input, cluster) {
                let label = format!("{CLUSTER_LABEL_PREFIX}{cluster}_{attribute}");
                set_metadata(&mut value, "labels", &label, setting);
            }
        }
        files.insert(file_name(object), yaml::write_document(&value));
    }
    let sources: BTreeSet<_> = input
        .shipments
        .iter()
        .flat_map(|shipment| &shipment.sources)
        .map(|source| source.identity())
        .collect();
    for object in sources
        .iter()
        .filter_map(|identity| input.hub.objects.get(identity))
    {
        let mut places = policies
            .get(&object.identity().locator())
            .cloned()
            .unwrap_or_default();
        places.sort();
        places.dedup();
        let mut value = authored(object);
        set_metadata(
            &mut value,
            "annotations",
            "kuadrant.io/policies-synced",
            &synced(&places),
        );
        files.insert(file_name(object), yaml::write_document(&value));
    }
    files
}

/// What the author wrote, without what an earlier run or a live hub left behind.
fn authored(object: &Object) -> Value {
    let mut value = object.value.clone();
    if let Some(map) = value.as_object_mut() {
        map.remove("status");
    }
    if let Some(labels) = value
        .pointer_mut("/metadata/labels")
        .and_then(Value::as_object_mut)
    {
        labels.retain(|name, _| !name.starts_with(CLUSTER_LABEL_PREFIX));
    }
    if let (Some(metadata), Some(namespace)) = (
        value.get_mut("metadata").and_then(Value::as_object_mut),
        &object.namespace,
    ) {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    value
}

fn attributes<'a>(input: &Input<'a>, cluster: &str) -> Vec<(&'a str, &'a str)> {
    let managed = input.hub.objects.find(
        "cluster.open-cluster-management.io",
        "ManagedCluster",
        None,
        cluster,
    );
    let labels = managed.map(|object| object.root().get("metadata").get("labels"));
    let entries = labels.iter().flat_map(Field::entries);
    entries
        .filter_map(|(name, value)| Some((name.strip_prefix(ATTRIBUTE_PREFIX)?, value.str()?)))
        .collect()
}

/// A JSON array, as a string, whose objects have the RFC's order of keys.
fn synced(places: &[Downstream]) -> String {
    let entries: Vec<String> = places
        .iter()
        .map(|place| {
            format!(
                "{{\"cluster\":{},\"name\":{},\"namespace\":{}}}",
                json!(place.cluster),
                json!(place.name),
                json!(place.namespace)
            )
        })
        .collect();
    format!("[{}]", entries.join(","))
}

fn file_name(object: &Object) -> String {
    format!(
        "{}-{}-{}.yaml",
        object.kind.to_lowercase(),
        object.namespace_or_empty(),
        object.name
    )
}
