//! The variants of a synced object: which version of it goes to which clusters.
//!
//! An object may target several Gateways, each with clusters of its own. On one cluster it keeps the references to the
//! Gateways that are there, and to the routes that go with them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::{Map, Value, json};

use super::copies::{PlacedGateway, downstream_route, set_metadata, shipped};
use super::synced_object::{SyncedObject, SyncedTarget};
use crate::api::downstream::{POLICY_SYNCED, downstream_name, downstream_namespace};
use crate::api::params::Role;
use crate::hub::{OurGatewayId, Table};
use crate::object::Object;
use crate::object::well_known::ORIGIN_CREATION;

/// The same copies for a set of clusters.
#[derive(Debug)]
pub struct Variant {
    /// The Gateways that they are for, sorted; never none.
    pub gateways: Vec<OurGatewayId>,
    /// One copy for each downstream namespace.
    pub copies: Vec<Copy>,
    /// The clusters, sorted.
    pub clusters: Arc<[String]>,
}

impl Variant {
    /// Gives the Gateways that it is for other numbers, in the same order.
    pub fn renumber(&mut self, number: impl Fn(OurGatewayId) -> OurGatewayId) {
        for gateway in &mut self.gateways {
            *gateway = number(*gateway);
        }
    }
}

/// An object as it is on a cluster.
#[derive(Debug)]
pub struct Copy {
    /// The object, from the place of the one whose name it has.
    pub object: Object,
    /// The targets that exist there, by position.
    pub(super) targets: Vec<usize>,
}

/// What makes two clusters get the same variant: the targets that hold there, by position, the Gateways through which
/// they do, and the cluster's own content.
type Same = Vec<(usize, OurGatewayId, Option<String>)>;

/// The variants of a synced object.
pub fn variants(
    synced: &SyncedObject<'_>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) -> Vec<Variant> {
    let by_content = match alike(synced) {
        Some((gateway, same)) => BTreeMap::from([(same, Arc::clone(&gateways.get(gateway).clusters))]),
        None => by_content(synced, gateways),
    };
    let variants = by_content
        .into_iter()
        .filter(|(_, clusters)| !clusters.is_empty())
        .map(|(same, clusters)| {
            let positions: BTreeSet<usize> = same.iter().map(|(position, ..)| *position).collect();
            let targets = synced.targets.iter().enumerate();
            let targets = targets.filter(|(position, _)| positions.contains(position));
            let targets: Vec<(usize, &SyncedTarget<'_>)> = targets.collect();
            let present: BTreeSet<OurGatewayId> = same.iter().map(|(_, gateway, _)| *gateway).collect();
            // A cluster where a local policy takes a part is alone with what it gets: the RFC gives local policies
            // precedence there, and nobody on the cluster enforces it (docs/systems/policy-sync.md#local-policies-win).
            let own = same.iter().find_map(|(_, _, cluster)| cluster.as_deref());
            Variant {
                copies: copies(synced, gateways, &targets, (own, &clusters)),
                gateways: present.into_iter().collect(),
                clusters,
            }
        });
    variants.collect()
}

/// Almost every object goes with one Gateway, and to all of its clusters alike.
fn alike(synced: &SyncedObject<'_>) -> Option<(OurGatewayId, Same)> {
    let gateway = *synced.targets.first()?.gateways.first()?;
    let mut same = Same::new();
    for (position, target) in synced.targets.iter().enumerate() {
        if target.gateways != [gateway] || !target.withheld_from.is_empty() || !target.instead.is_empty() {
            return None;
        }
        same.push((position, gateway, None));
    }
    Some((gateway, same))
}

/// The versions of the object, each with the clusters that get it.
fn by_content(
    synced: &SyncedObject<'_>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) -> BTreeMap<Same, Arc<[String]>> {
    let mut clusters: BTreeMap<&str, Same> = BTreeMap::new();
    for (position, target) in synced.targets.iter().enumerate() {
        for gateway in &target.gateways {
            for cluster in gateways.get(*gateway).clusters.iter() {
                if !target.withheld_from.contains(cluster) {
                    let own = target.instead.contains_key(cluster).then(|| cluster.clone());
                    let same = clusters.entry(cluster).or_default();
                    same.push((position, *gateway, own));
                }
            }
        }
    }
    let mut by_content: BTreeMap<Same, Vec<String>> = BTreeMap::new();
    for (cluster, same) in clusters {
        by_content.entry(same).or_default().push(cluster.to_owned());
    }
    let by_content = by_content.into_iter();
    by_content
        .map(|(same, clusters)| (same, clusters.into()))
        .collect()
}

/// The namespace on the hub of what a target is, and the one on the spokes of the object that is for it; none where
/// that would be too long, which is reported about the Gateway.
fn namespaces<'g>(
    target: &SyncedTarget<'g>,
    gateways: &Table<OurGatewayId, PlacedGateway<'g>>,
) -> Option<(&'g str, Cow<'g, str>)> {
    if let Some(namespace) = target.route_namespace {
        return Some((namespace, Cow::Borrowed(namespace)));
    }
    let gateway = target.gateways.first()?;
    let namespace = gateways.get(*gateway).gateway.object.namespace_or_empty();
    Some((namespace, Cow::Owned(downstream_namespace(namespace)?)))
}

/// The namespace of a copy, and its content if that is specific to one cluster.
type Place<'s> = ((String, String), Option<&'s Value>);

/// One copy for each downstream namespace and name of the targets, for `clusters`; `cluster` is the one that gets content
/// of its own.
/// Where a local policy takes from one target and not from another, there are two copies of one name, which whoever
/// ships refuses.
fn copies(
    synced: &SyncedObject<'_>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
    targets: &[(usize, &SyncedTarget<'_>)],
    (cluster, clusters): (Option<&str>, &[String]),
) -> Vec<Copy> {
    let object = synced.object;
    let withheld = synced.targets.iter().filter(|target| {
        let mut clusters = clusters.iter();
        !target.withheld_from.is_empty() && clusters.any(|cluster| target.withheld_from.contains(cluster))
    });
    let withheld: BTreeSet<&str> = withheld.map(|target| target.pointer.as_str()).collect();
    let mut by_place: Vec<(Place<'_>, Vec<(usize, &SyncedTarget<'_>)>)> = Vec::new();
    for (position, target) in targets {
        if let Some((on_hub, downstream)) = namespaces(target, gateways) {
            let name = downstream_name(object.namespace_or_empty(), &object.name, on_hub);
            let own = cluster.and_then(|cluster| target.instead.get(cluster));
            let place = ((downstream.into_owned(), name), own);
            match by_place.iter_mut().find(|(known, _)| *known == place) {
                Some((_, there)) => there.push((*position, target)),
                None => by_place.push((place, vec![(*position, target)])),
            }
        }
    }
    by_place.sort_by(|((one, _), _), ((other, _), _)| one.cmp(other));
    by_place
        .into_iter()
        .map(|(((downstream, name), own), targets)| {
            let (positions, targets): (Vec<usize>, Vec<&SyncedTarget<'_>>) = targets.into_iter().unzip();
            let content = own.unwrap_or(&synced.value);
            let value = match synced.role {
                Role::Object => shipped(content, &name, &downstream),
                Role::Policy => {
                    downstream_policy(synced, content, (&name, &downstream), (&targets, &withheld))
                }
                Role::Route => {
                    let parent = |pointer: &str| {
                        let mut targets = targets.iter().filter(|target| target.pointer == pointer);
                        targets.find_map(|target| target.gateways.first().copied())
                    };
                    downstream_route(content, (&name, &downstream), parent, gateways)
                }
            };
            Copy {
                object: object.with_value(value).with_name(downstream, name),
                targets: positions,
            }
        })
        .collect()
}

/// The policy as it is on the spoke.
fn downstream_policy(
    synced: &SyncedObject<'_>,
    content: &Value,
    (name, namespace): (&str, &str),
    (targets, withheld): (&[&SyncedTarget<'_>], &BTreeSet<&str>),
) -> Value {
    let mut policy = shipped(content, name, namespace);
    if let Some(spec) = policy.get_mut("spec").and_then(Value::as_object_mut) {
        let is_at_home = synced.object.namespace.as_deref() == Some(namespace);
        keep_targets(spec, targets, (namespace, is_at_home), withheld);
    }
    set_metadata(&mut policy, "annotations", POLICY_SYNCED, "true");
    // The spoke gives the policy a new creation time, by which it would lose against whatever is older there.
    // docs/systems/policy-sync.md#annotations
    let created = synced.object.value.pointer("/metadata/creationTimestamp");
    if let Some(created) = created.and_then(Value::as_str) {
        set_metadata(&mut policy, "annotations", ORIGIN_CREATION, created);
    }
    if synced.sources.len() > 1 {
        let sources = synced.sources.iter().map(|source| source.identity().locator());
        let sources = json!(sources.collect::<Vec<_>>()).to_string();
        set_metadata(&mut policy, "annotations", "spokewright.dev/sources", &sources);
    }
    policy
}

/// Keeps the references to the Gateways and routes that this variant is for, and the selectors that select them.
///
/// The others go, as a target that is not on the cluster would make the whole policy not accepted there
/// (docs/systems/kuadrant.md#accepted), and a selector of its own namespace would select in another one what it was not
/// meant for. The namespaces go too: the policy is put into its target's, a reference with one is refused by kinds that
/// have no such field, and a selector with some would select what the copy beside it selects. A Namespace is the one that
/// the policy is put into.
///
/// A selector would still select the targets that a local policy keeps for itself (`withheld`, by pointer): what else it
/// selects is named instead.
fn keep_targets(
    spec: &mut Map,
    targets: &[&SyncedTarget<'_>],
    (namespace, is_at_home): (&str, bool),
    withheld: &BTreeSet<&str>,
) {
    let move_to = |reference: &mut Map, scope: &str| {
        let core = ["", "core"].contains(&reference.get("group").and_then(Value::as_str).unwrap_or_default());
        if core && reference.get("kind").and_then(Value::as_str) == Some("Namespace") && scope == "namespace"
        {
            reference.insert("name", json!(namespace));
        }
        reference.remove(scope);
    };
    if let Some(reference) = spec.get_mut("targetRef").and_then(Value::as_object_mut) {
        move_to(reference, "namespace");
    }
    // At home a selector may well select what lives on the cluster alone.
    for (field, scope, keeps_all) in [
        ("targetRefs", "namespace", false),
        ("targetSelectors", "namespaces", is_at_home),
    ] {
        let Some(Value::Array(references)) = spec.get_mut(field) else {
            continue;
        };
        let mut index = 0_usize;
        references.retain(|_| {
            let pointer = format!("/spec/{field}/{index}");
            index = index.saturating_add(1);
            let is_named = field == "targetSelectors" && withheld.contains(pointer.as_str());
            !is_named && (keeps_all || targets.iter().any(|target| target.pointer == pointer))
        });
        for reference in references.iter_mut().filter_map(Value::as_object_mut) {
            move_to(reference, scope);
        }
    }
    let named = targets
        .iter()
        .filter(|target| withheld.contains(target.pointer.as_str()));
    let named: Vec<Value> = named.filter_map(|target| target.selected.clone()).collect();
    if !named.is_empty() {
        spec.insert_if_absent("targetRefs", || json!([]));
        if let Some(references) = spec.get_mut("targetRefs").and_then(Value::as_array_mut) {
            references.extend(named);
        }
        if spec
            .get("targetSelectors")
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
        {
            spec.remove("targetSelectors");
        }
    }
}
