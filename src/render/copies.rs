//! Copies of policies: which copy of a shipment goes to which cluster, and in which work.
//!
//! A shipment may aim at several Gateways, each with clusters of its own. On one cluster its copy keeps the
//! references to the Gateways that are there; with one such Gateway it rides in that Gateway's work, with
//! several, or with `workPer: Object`, in a work of its own (design section 8).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::downstream::{ORIGIN_CREATION, POLICY_SYNCED, set_metadata, shipped};
use super::feedback::{ResourceIdentifier, policy_paths};
use super::names::{downstream_name, downstream_namespace};
use super::policy_status::PolicyStatus;
use super::work::Manifest;
use super::{PlacedGateway, Shipment, ShipmentTarget};
use crate::api::params::WorkPer;
use crate::hub::kinds::KindInfo;
use crate::object::Object;

/// Where a copy rides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carrier {
    /// In the work of this Gateway (a position in the placed Gateways).
    Gateway(usize),
    /// In a work of its own.
    Own,
}

/// The same manifests for a set of clusters.
#[derive(Debug)]
pub struct Copy {
    /// Where they ride.
    pub carrier: Carrier,
    /// A Gateway that the copy is for: its class's parameters hold for a work of its own.
    pub gateway: usize,
    /// One manifest for each downstream namespace.
    pub manifests: Vec<Manifest>,
    /// The clusters, sorted.
    pub clusters: Vec<String>,
}

/// What makes two clusters get the same copy: the targets that hold there, and their special content.
type Variant = Vec<(usize, Option<String>)>;

/// Makes the copies of one shipment.
#[must_use]
pub fn copies(
    shipment: &Shipment<'_>,
    kind: &KindInfo,
    status: PolicyStatus,
    gateways: &[PlacedGateway<'_>],
) -> Vec<Copy> {
    let mut variants: BTreeMap<Variant, Vec<String>> = BTreeMap::new();
    for (cluster, variant) in variants_by_cluster(shipment, gateways) {
        variants.entry(variant).or_default().push(cluster.to_owned());
    }
    variants
        .into_iter()
        .filter_map(|(variant, clusters)| {
            let targets: Vec<&ShipmentTarget> = variant
                .iter()
                .filter_map(|(index, _)| shipment.targets.get(*index))
                .collect();
            let present: BTreeSet<usize> = targets.iter().map(|target| target.gateway).collect();
            let gateway = *present.first()?;
            let per_object = gateways.get(gateway)?.params.work_per == WorkPer::Object;
            let carrier = if present.len() > 1 || per_object {
                Carrier::Own
            } else {
                Carrier::Gateway(gateway)
            };
            let cluster = clusters.first()?;
            let manifests = manifests(shipment, (kind, status), gateways, &targets, cluster);
            Some(Copy {
                carrier,
                gateway,
                manifests,
                clusters,
            })
        })
        .collect()
}

/// Each cluster that gets anything of the shipment, with what it gets.
fn variants_by_cluster<'a>(
    shipment: &Shipment<'_>,
    gateways: &'a [PlacedGateway<'_>],
) -> BTreeMap<&'a str, Variant> {
    let mut variants: BTreeMap<&str, Variant> = BTreeMap::new();
    for (index, target) in shipment.targets.iter().enumerate() {
        let Some(gateway) = gateways.get(target.gateway) else {
            continue;
        };
        for cluster in &gateway.clusters {
            if !target.withheld_from.contains(cluster) {
                let special = target.instead.contains_key(cluster).then(|| cluster.clone());
                variants.entry(cluster).or_default().push((index, special));
            }
        }
    }
    variants
}

/// One manifest for each downstream namespace of the targets.
fn manifests(
    shipment: &Shipment<'_>,
    (kind, status): (&KindInfo, PolicyStatus),
    gateways: &[PlacedGateway<'_>],
    targets: &[&ShipmentTarget],
    cluster: &str,
) -> Vec<Manifest> {
    let mut by_namespace: BTreeMap<&str, Vec<&ShipmentTarget>> = BTreeMap::new();
    for target in targets {
        if let Some(gateway) = gateways.get(target.gateway) {
            by_namespace
                .entry(gateway.gateway.object.namespace_or_empty())
                .or_default()
                .push(target);
        }
    }
    by_namespace
        .into_iter()
        .filter_map(|(namespace, targets)| {
            let downstream = downstream_namespace(namespace)?;
            let object = shipment.object;
            let name = downstream_name(object.namespace_or_empty(), &object.name, namespace);
            let special = targets.iter().find_map(|target| target.instead.get(cluster));
            let content = special.unwrap_or(&shipment.value);
            let value = downstream_policy(object, content, &name, &downstream, &targets, shipment);
            Some(Manifest {
                resource: ResourceIdentifier {
                    group: object.api_version.group.clone(),
                    resource: kind.plural.to_string(),
                    namespace: downstream,
                    name,
                },
                kind: object.kind.clone(),
                value,
                feedback: policy_paths(status, &shipment.resource),
                origins: shipment
                    .sources
                    .iter()
                    .map(|source| source.origin.clone())
                    .collect(),
            })
        })
        .collect()
}

/// The policy as it stands on the spoke.
fn downstream_policy(
    object: &Object,
    content: &Value,
    name: &str,
    namespace: &str,
    targets: &[&ShipmentTarget],
    shipment: &Shipment<'_>,
) -> Value {
    let mut policy = shipped(content, name, namespace);
    if let Some(spec) = policy.get_mut("spec").and_then(Value::as_object_mut) {
        keep_targets(spec, targets);
    }
    set_metadata(&mut policy, "annotations", POLICY_SYNCED, "true");
    if let Some(created) = object.root().get("metadata").get("creationTimestamp").str() {
        set_metadata(&mut policy, "annotations", ORIGIN_CREATION, created);
    }
    if shipment.sources.len() > 1 {
        let sources: Vec<String> = shipment
            .sources
            .iter()
            .map(|source| source.identity().locator())
            .collect();
        set_metadata(
            &mut policy,
            "annotations",
            "spokewright.dev/sources",
            &json!(sources).to_string(),
        );
    }
    policy
}

/// Keeps the references to the Gateways of this copy, which are in the policy's own namespace here.
fn keep_targets(spec: &mut Map<String, Value>, targets: &[&ShipmentTarget]) {
    if let Some(reference) = spec.get_mut("targetRef").and_then(Value::as_object_mut) {
        reference.remove("namespace");
    }
    if let Some(Value::Array(references)) = spec.get_mut("targetRefs") {
        let mut index = 0_usize;
        references.retain(|_| {
            let pointer = format!("/spec/targetRefs/{index}");
            index = index.saturating_add(1);
            targets.iter().any(|target| target.pointer == pointer)
        });
        for reference in references.iter_mut().filter_map(Value::as_object_mut) {
            reference.remove("namespace");
        }
    }
}
