//! Hub objects with what MGC writes back (`hubObjects: Annotated`; docs/systems/mgc.md#what-is-written-back,
//! docs/systems/policy-sync.md#annotations).
//!
//! Owns: which annotations and labels a Gateway, policy or route on the hub gets, and taking away those of an earlier
//! run. Flows in: an [`Input`], variants of synced objects. Flows out: objects; a finding where two would share a
//! file. Must not know: works.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::input::Input;
use super::names::work_name;
use crate::api::params::Role;
use crate::diagnostic::{Code, Finding, Findings};
use crate::object::Object;
use crate::object::well_known::{
    CLUSTER_LABEL_PREFIX, GATEWAY_CLUSTERS, HUB_DIRECTORY, POLICIES_SYNCED, ROUTES_SYNCED,
    WORK_NAME_ANNOTATION,
};
use crate::sync::{Variant, set_metadata};
use apimachinery::{Field, Identity};

/// Labels of a ManagedCluster with this prefix are shown on the Gateways placed there.
const ATTRIBUTE_PREFIX: &str = "kuadrant.io/";

/// Where a copy of a hub object lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Downstream {
    /// The cluster.
    cluster: String,
    /// Name there.
    name: String,
    /// Namespace there.
    namespace: String,
}

impl Downstream {
    /// The places of one variant: each copy on each cluster.
    fn of_variant(variant: &Variant) -> impl Iterator<Item = Self> + '_ {
        variant.clusters.iter().flat_map(|cluster| {
            variant.copies.iter().map(|copy| Self {
                cluster: cluster.clone(),
                name: copy.object.name.clone(),
                namespace: copy.object.namespace_or_empty().to_owned(),
            })
        })
    }
}

/// Our Gateways, and the policies and routes of synced kinds on them, annotated, by file name. Two objects that would share
/// a file are a finding.
pub(super) fn annotated(
    input: &Input<'_>,
    findings: &mut Findings,
) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, (&Object, String)> = BTreeMap::new();
    let mut add = |object, text| {
        let name = format!("{}.yaml", work_name(object));
        if let Some((owner, _)) = files.get(&name) {
            findings.push(taken(&name, object, owner));
        } else {
            files.insert(name, (object, text));
        }
    };
    for placed in input.gateways.rows() {
        let object = placed.gateway.object;
        let mut value = authored(object);
        let clusters = json!(placed.clusters).to_string();
        set_metadata(&mut value, "annotations", GATEWAY_CLUSTERS, &clusters);
        for cluster in &placed.clusters {
            for (attribute, setting) in attributes(input, cluster) {
                let label = format!("{CLUSTER_LABEL_PREFIX}{cluster}_{attribute}");
                set_metadata(&mut value, "labels", &label, setting);
            }
        }
        add(object, kube_yaml::write_document(&value));
    }
    let objects = input.synced.iter().flat_map(|synced| {
        let annotation = match synced.role {
            Role::Policy => POLICIES_SYNCED,
            Role::Route => ROUTES_SYNCED,
        };
        synced.sources.iter().map(move |object| (*object, annotation))
    });
    let places_of = places(input);
    let withheld = input.withheld.iter().map(|object| (*object, POLICIES_SYNCED));
    let objects: BTreeMap<Identity, (&Object, &str)> = objects
        .chain(withheld)
        .map(|(object, annotation)| (object.identity(), (object, annotation)))
        .collect();
    for (identity, (object, annotation)) in objects {
        let mut places = places_of.get(&identity.locator()).cloned().unwrap_or_default();
        places.sort();
        places.dedup();
        let mut value = authored(object);
        set_metadata(&mut value, "annotations", annotation, &policies_synced(&places));
        add(object, kube_yaml::write_document(&value));
    }
    files.into_iter().map(|(name, (_, text))| (name, text)).collect()
}

fn taken(name: &str, object: &Object, owner: &Object) -> Finding {
    Finding::new(
        Code::WORK_NAME_TAKEN,
        object.place("/metadata/name"),
        format!(
            "{} and {} would share the file `{HUB_DIRECTORY}/{name}`",
            object.identity(),
            owner.identity()
        ),
    )
    .label("this one")
    .related(owner.place("/metadata/name"), "and this one")
    .help(format!(
        "give one of them another name with the annotation `{WORK_NAME_ANNOTATION}: NAME`"
    ))
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
fn policies_synced(places: &[Downstream]) -> String {
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

/// Where each synced object is on the spokes, by its locator.
fn places(input: &Input<'_>) -> BTreeMap<String, Vec<Downstream>> {
    let mut places: BTreeMap<String, Vec<Downstream>> = BTreeMap::new();
    for (synced, of_object) in input.synced.iter().zip(input.variants) {
        let downstream: Vec<Downstream> = of_object
            .variants
            .iter()
            .flat_map(Downstream::of_variant)
            .collect();
        for source in &synced.sources {
            let places = places.entry(source.identity().locator()).or_default();
            places.extend(downstream.iter().cloned());
        }
    }
    places
}
