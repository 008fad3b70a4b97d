//! Hub objects with the annotations that MGC writes back (`hubObjects: Annotated`;
//! docs/systems/mgc.md#what-is-written-back, docs/systems/policy-sync.md#annotations).

use std::collections::{BTreeMap, BTreeSet};

use kube_json::{Value, json};

use super::carried::Carried;
use super::input::Input;
use super::names::{taken, work_name};
use crate::api::ocm;
use crate::api::params::Role;
use crate::diagnostic::{Code, Finding, Findings};
use crate::object::Object;
use crate::object::well_known::{
    CLUSTER_LABEL_PREFIX, GATEWAY_CLUSTERS, HUB_DIRECTORY, POLICIES_SYNCED, ROUTES_SYNCED,
};
use crate::sync::set_metadata;
use apimachinery::names::{ANNOTATIONS_MAX, InvalidName, NameRule};
use apimachinery::{Identity, pointer};

/// Labels of a ManagedCluster with this prefix are shown on the Gateways placed there.
const ATTRIBUTE_PREFIX: &str = "kuadrant.io/";

/// Our Gateways, and the policies and routes of synced kinds on them, annotated, by file name. Two objects that would share
/// a file are a finding.
pub(super) fn annotated(
    input: &Input<'_>,
    carried: &[Carried<'_>],
    findings: &mut Findings,
) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, (&Object, String)> = BTreeMap::new();
    let mut add = |object, value: &Value, findings: &mut Findings| {
        let name = format!("{}.yaml", work_name(object));
        if let Some((owner, _)) = files.get(&name) {
            let file = format!("file `{HUB_DIRECTORY}/{name}`");
            let place = |object: &Object| object.place("/metadata/name");
            findings.push(taken(&file, [object, owner], place));
        } else {
            files.insert(name, (object, kube_yaml::write_document(value)));
        }
    };
    let placed = input.gateways.rows().iter();
    for placed in placed.filter(|placed| placed.projection == 0) {
        let object = placed.gateway.object;
        let mut value = authored(object);
        let clusters = json!(*placed.everywhere).to_string();
        annotate(&mut value, object, (GATEWAY_CLUSTERS, &clusters), findings);
        for cluster in placed.everywhere.iter() {
            let managed = input
                .hub
                .objects
                .find(ocm::GROUP, "ManagedCluster", None, cluster);
            let Some(managed) = managed else { continue };
            for (attribute, setting) in attributes(managed) {
                let label = format!("{CLUSTER_LABEL_PREFIX}{cluster}_{attribute}");
                match NameRule::LabelKey.check(&label) {
                    Ok(()) => set_metadata(&mut value, "labels", &label, setting),
                    Err(error) => findings.push(no_label(managed, attribute, &label, &error)),
                }
            }
        }
        add(object, &value, findings);
    }
    let objects = input.synced.iter().filter_map(|synced| {
        let annotation = match synced.role {
            Role::Policy => POLICIES_SYNCED,
            Role::Route => ROUTES_SYNCED,
            // The design has no annotation for the objects that go with them.
            Role::Object => return None,
        };
        Some(synced.sources.iter().map(move |object| (*object, annotation)))
    });
    let objects = objects.flatten();
    let places_of = places(carried);
    let withheld = input.withheld.iter().map(|object| (*object, POLICIES_SYNCED));
    let objects: BTreeMap<Identity, (&Object, &str)> = objects
        .chain(withheld)
        .map(|(object, annotation)| (object.identity(), (object, annotation)))
        .collect();
    for (identity, (object, annotation)) in objects {
        // A JSON array whose objects have the RFC's order of keys, which is that of the alphabet.
        let places = places_of.get(&identity.locator()).into_iter().flatten();
        let places = places.map(
            |[cluster, name, namespace]| json!({"cluster": cluster, "name": name, "namespace": namespace}),
        );
        let synced = places.collect::<Value>().to_string();
        // As it is written, also where ClusterOverlays change it.
        let object = input.hub.objects.get(&identity).unwrap_or(object);
        let mut value = authored(object);
        annotate(&mut value, object, (annotation, &synced), findings);
        add(object, &value, findings);
    }
    files.into_iter().map(|(name, (_, text))| (name, text)).collect()
}

/// The object as its author wrote it, without the traces of an earlier run or a live hub.
fn authored(object: &Object) -> Value {
    let mut value = object.value.clone();
    if let Some(map) = value.as_object_mut() {
        // The hub's controllers own it, and a copy from an export would be out of date at once
        // (docs/systems/kubernetes.md#fields-of-a-live-object).
        map.remove("status");
    }
    let labels = value.pointer_mut("/metadata/labels");
    if let Some(labels) = labels.and_then(Value::as_object_mut) {
        // The labels of a cluster that the Gateway has left would stay.
        labels.retain(|name, _| !name.starts_with(CLUSTER_LABEL_PREFIX));
    }
    let metadata = value.get_mut("metadata").and_then(Value::as_object_mut);
    if let (Some(metadata), Some(namespace)) = (metadata, &object.namespace) {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    value
}

/// The attributes of a ManagedCluster.
fn attributes(managed: &Object) -> impl Iterator<Item = (&str, &str)> {
    let labels = managed.labels();
    labels.filter_map(|(name, value)| Some((name.strip_prefix(ATTRIBUTE_PREFIX)?, value)))
}

/// Sets an annotation, unless the object's annotations were then more than Kubernetes takes.
fn annotate(value: &mut Value, object: &Object, (name, text): (&str, &str), findings: &mut Findings) {
    let annotations = value.pointer("/metadata/annotations").and_then(Value::as_object);
    let others = annotations
        .into_iter()
        .flatten()
        .filter(|(other, _)| *other != name);
    let size = others.fold(name.len().saturating_add(text.len()), |size, (name, text)| {
        let text = text.as_str().map_or(0, str::len);
        size.saturating_add(name.len()).saturating_add(text)
    });
    if size <= ANNOTATIONS_MAX {
        set_metadata(value, "annotations", name, text);
        return;
    }
    // What an earlier run wrote there names clusters that may be wrong by now: better none.
    let annotations = value.pointer_mut("/metadata/annotations");
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.remove(name);
    }
    let message = format!(
        "{} does not get the annotation `{name}`: its annotations would have {size} bytes, and Kubernetes accepts at most {ANNOTATIONS_MAX}",
        object.identity()
    );
    findings.push(
        Finding::new(Code::OBJECT_METADATA_LEFT_OUT, object.place("/metadata"), message)
            .help("place it on fewer clusters, or use `status` and `render --report`, which report the same"),
    );
}

fn no_label(managed: &Object, attribute: &str, label: &str, error: &InvalidName) -> Finding {
    let pointer = pointer::child("/metadata/labels", &format!("{ATTRIBUTE_PREFIX}{attribute}"));
    Finding::new(
        Code::OBJECT_METADATA_LEFT_OUT,
        managed.place(&pointer),
        format!("no Gateway gets the label `{label}` for this attribute: {error}"),
    )
    .label(format!("an attribute of {}", managed.identity()))
    .help("shorten the name of the attribute: together with the name of the cluster and `_`, it may have 63 characters")
}

/// Where each synced object is on the spokes, by its locator: cluster, name, and namespace of each copy.
fn places<'c>(carried: &'c [Carried<'_>]) -> BTreeMap<String, BTreeSet<[&'c str; 3]>> {
    let mut places: BTreeMap<String, BTreeSet<[&str; 3]>> = BTreeMap::new();
    for variant in carried {
        for source in variant.sources {
            let places = places.entry(source.identity().locator()).or_default();
            for cluster in variant.clusters.iter() {
                let copies = variant.manifests.iter().map(|manifest| &manifest.summary);
                places.extend(copies.map(|copy| [&**cluster, &*copy.name, &*copy.namespace]));
            }
        }
    }
    places
}
