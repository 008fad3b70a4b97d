//! Copies of policies and routes: which copy of a shipment goes to which cluster, and in which work.
//!
//! A shipment may aim at several Gateways, each with clusters of its own. On one cluster its copy keeps the
//! references to the Gateways that are there, and to the routes that they bring; with one such Gateway it rides in
//! that Gateway's work, with several, or with `workPer: Object`, in a work of its own
//! (README.md#what-is-rendered).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::PlacedGateway;
use super::downstream::{set_metadata, shipped};
use super::feedback::{ResourceIdentifier, asked_paths, policy_paths};
use super::names::{downstream_name, downstream_namespace};
use super::policy_status::PolicyStatus;
use super::work::Manifest;
use crate::api::gateway::GROUP;
use crate::api::params::WorkPer;
use crate::api::synced::POLICY_SYNCED;
use crate::hub::kinds::KindInfo;
use crate::object::Object;
use crate::object::well_known::ORIGIN_CREATION;
use crate::sync::{Cargo, Home, Shipment, ShipmentTarget};

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
    /// What they are: in a work, routes stand before policies.
    pub cargo: Cargo,
    /// Where they ride.
    pub carrier: Carrier,
    /// The Gateways that the copy is for, sorted: the parameters of the first one's class hold for a work of its own.
    pub gateways: Vec<usize>,
    /// One manifest for each downstream namespace.
    pub manifests: Vec<Manifest>,
    /// The clusters, sorted.
    pub clusters: Vec<String>,
}

/// The copies of one shipment.
#[derive(Debug)]
pub struct Copies<'a> {
    /// The object whose name they carry.
    pub object: &'a Object,
    /// All objects they were made from.
    pub sources: &'a [&'a Object],
    /// The copies.
    pub copies: Vec<Copy>,
}

/// What makes two clusters get the same copy: the targets that hold there, the Gateways through which they do, and
/// their special content.
type Variant = Vec<(usize, usize, Option<String>)>;

/// Makes the copies of one shipment.
#[must_use]
pub fn copies(
    shipment: &Shipment<'_>,
    kind: &KindInfo,
    status: Option<PolicyStatus>,
    gateways: &[PlacedGateway<'_>],
) -> Vec<Copy> {
    let mut variants: BTreeMap<Variant, Vec<String>> = BTreeMap::new();
    for (cluster, variant) in variants_by_cluster(shipment, gateways) {
        variants.entry(variant).or_default().push(cluster.to_owned());
    }
    variants
        .into_iter()
        .filter_map(|(variant, clusters)| {
            let indexes: BTreeSet<usize> = variant.iter().map(|(index, ..)| *index).collect();
            let targets: Vec<&ShipmentTarget> = indexes
                .into_iter()
                .filter_map(|index| shipment.targets.get(index))
                .collect();
            let present: BTreeSet<usize> = variant.iter().map(|(_, gateway, _)| *gateway).collect();
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
                cargo: shipment.cargo,
                carrier,
                gateways: present.into_iter().collect(),
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
        for position in &target.gateways {
            let clusters = gateways.get(*position).map(|gateway| &gateway.clusters);
            for cluster in clusters.into_iter().flatten() {
                if !target.withheld_from.contains(cluster) {
                    let special = target.instead.contains_key(cluster).then(|| cluster.clone());
                    let variant = variants.entry(cluster).or_default();
                    variant.push((index, *position, special));
                }
            }
        }
    }
    variants
}

/// The namespace on the hub of what a target is, and the one on the spokes of the copy that is for it.
fn namespaces<'g>(
    target: &'g ShipmentTarget,
    gateways: &'g [PlacedGateway<'_>],
) -> Option<(&'g str, Cow<'g, str>)> {
    match &target.home {
        Home::Route(namespace) => Some((namespace, Cow::Borrowed(namespace))),
        Home::Gateway => {
            let gateway = gateways.get(*target.gateways.first()?)?;
            let namespace = gateway.gateway.object.namespace_or_empty();
            Some((namespace, Cow::Owned(downstream_namespace(namespace)?)))
        }
    }
}

/// One manifest for each downstream namespace and name of the targets.
fn manifests(
    shipment: &Shipment<'_>,
    (kind, status): (&KindInfo, Option<PolicyStatus>),
    gateways: &[PlacedGateway<'_>],
    targets: &[&ShipmentTarget],
    cluster: &str,
) -> Vec<Manifest> {
    let object = shipment.object;
    let mut by_place: BTreeMap<(String, String), Vec<&ShipmentTarget>> = BTreeMap::new();
    for target in targets {
        if let Some((on_hub, downstream)) = namespaces(target, gateways) {
            let name = downstream_name(object.namespace_or_empty(), &object.name, on_hub);
            let place = (downstream.into_owned(), name);
            by_place.entry(place).or_default().push(target);
        }
    }
    by_place
        .into_iter()
        .map(|((downstream, name), targets)| {
            let special = targets.iter().find_map(|target| target.instead.get(cluster));
            let content = special.unwrap_or(&shipment.value);
            let value = match shipment.cargo {
                Cargo::Policy => downstream_policy(object, content, &name, &downstream, &targets, shipment),
                Cargo::Route => downstream_route(content, &name, &downstream, &targets, gateways),
            };
            let feedback = match status {
                Some(status) => policy_paths(status, &shipment.resource),
                None => asked_paths(&shipment.resource),
            };
            Manifest {
                resource: ResourceIdentifier {
                    group: object.api_version.group.clone(),
                    resource: kind.plural.to_string(),
                    namespace: downstream,
                    name,
                },
                kind: object.kind.clone(),
                value,
                feedback,
                origins: shipment
                    .sources
                    .iter()
                    .map(|source| source.origin.clone())
                    .collect(),
            }
        })
        .collect()
}

/// The route as it stands on the spoke: in its own namespace, with the Gateways of this copy as its parents.
/// Parents that are no Gateways (a Service, for a mesh; another route) mean the same there and stay.
fn downstream_route(
    content: &Value,
    name: &str,
    namespace: &str,
    parents: &[&ShipmentTarget],
    gateways: &[PlacedGateway<'_>],
) -> Value {
    let mut route = shipped(content, name, namespace);
    let references = route
        .pointer_mut("/spec/parentRefs")
        .and_then(Value::as_array_mut);
    let Some(references) = references else {
        return route;
    };
    let mut index = 0_usize;
    references.retain_mut(|reference| {
        let pointer = format!("/spec/parentRefs/{index}");
        index = index.saturating_add(1);
        let text = |name: &str| reference.get(name).and_then(Value::as_str);
        let owner = (text("group").unwrap_or(GROUP), text("kind").unwrap_or("Gateway"));
        if !matches!(owner, (GROUP, "Gateway" | "ListenerSet")) {
            return true;
        }
        let Some(parent) = parents.iter().find(|parent| parent.pointer == pointer) else {
            return false;
        };
        let gateway = parent
            .gateways
            .first()
            .and_then(|position| gateways.get(*position));
        let home = gateway.and_then(|known| downstream_namespace(known.gateway.object.namespace_or_empty()));
        if let (Some(reference), Some(home)) = (reference.as_object_mut(), home) {
            reference.insert("namespace".to_owned(), json!(home));
        }
        true
    });
    route
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

/// Keeps the references to the Gateways and routes of this copy, which are in the policy's own namespace here.
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
