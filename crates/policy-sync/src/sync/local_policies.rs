//! The policies that live on clusters and share a target with something of the hub, and the settings that they leave of
//! synced policies of their kind (docs/systems/policy-sync.md#local-policies-win).

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::Arc;

use kube_json::Value;

use super::copies::{PlacedGateway, assumed_route, hub_routes};
use super::routes::SyncedKinds;
use super::same_target::{SyncedPolicy, SyncedSpec, is_order_independent};
use crate::api::downstream::{NAMESPACE_PREFIX, is_synced_copy};
use crate::api::kinds::unknown_version;
use crate::api::rules;
use crate::diagnostic::{Code, Findings, Severity};
use crate::hub::{Grants, Hub, Objects, OurGatewayId, Table};
use crate::object::Object;
use crate::policy::{
    Attachments, Content, Dictates, Entry, KindId, Layer, Options, Policy, PolicyId, Precedence, Profile,
    SameTarget, Side, defines, disagree, meet, read_policy, resolve_targets, rewritten,
};
use crate::topology::{Controllers, Node, Original, Sources, Topology};

/// The settings of a synced policy that local ones of its kind on its target leave. `None`: there are none, and the
/// policy is withheld.
///
/// What is left comes to the same with the local ones whichever is created first: patches of other rules and fields. Beside
/// settings that hold or give way as a whole, that is nothing (docs/systems/policy-sync.md#local-policies-win).
fn without_rules_of(profile: &Profile, synced: &Arc<[Layer]>, locals: &[Entry]) -> Option<Arc<[Layer]>> {
    let local_layers = || locals.iter().flat_map(|local| local.layers.iter());
    let whole = |side: Side| local_layers().any(|layer| layer.side == side && !layer.strategy.merges());
    let taken = match profile.precedence {
        Precedence::EstablishedChallenger => {
            let taken =
                whole(Side::Defaults) || whole(Side::Overrides) || profile.dictates == Dictates::Challenger;
            [taken, taken]
        }
        // Policies of one level meet side by side there.
        Precedence::OldestWins => [whole(Side::Defaults), whole(Side::Overrides)],
    };
    let defined: Vec<&Content> = local_layers().map(|layer| layer.content.as_ref()).collect();
    let mut left: Vec<Layer> = Vec::new();
    for layer in synced.iter() {
        if !layer.strategy.merges() {
            return None;
        }
        if taken.get(layer.side as usize).is_some_and(|taken| *taken) {
            continue;
        }
        let mut content = Content::clone(&layer.content);
        // The local one has precedence setting by setting, whatever its value is
        // (docs/systems/policy-sync.md#local-policies-win).
        content.retain(|key, _| !defined.iter().any(|local| defines(local, key)));
        // A policy without settings of its kind is refused, or counts as empty
        // (docs/systems/kuadrant.md#empty-policies).
        if content.values().any(|leaf| leaf.essential) {
            left.push(Layer {
                content: Arc::new(content),
                ..layer.clone()
            });
        }
    }
    (!left.is_empty()).then(|| Arc::from(left))
}

/// A policy that lives on a cluster.
#[derive(Debug, Clone)]
pub(super) struct LocalPolicy<'a> {
    /// The object.
    pub(super) object: &'a Object,
    /// Its settings.
    pub(super) entry: Entry,
}

/// The local policies of one cluster.
#[derive(Debug, Default)]
pub struct LocalPolicies<'a> {
    /// The cluster.
    pub(super) cluster: &'a str,
    /// Those of each kind on each node, by namespace and name. Their numbers are their own: the hub's policies have others.
    by_node: BTreeMap<(KindId, Node), Vec<LocalPolicy<'a>>>,
}

impl<'a> LocalPolicies<'a> {
    /// Reads the policies of each cluster that have a kind, and a target, that the hub knows too. Linear in the objects
    /// of the hub and of the clusters.
    pub fn for_clusters(
        (hub, grants, attachments): (&'a Hub, &Grants<'_>, &Attachments<'a>),
        (kinds, gateways): (&SyncedKinds, &Table<OurGatewayId, PlacedGateway<'_>>),
        options: &Options<'_>,
        findings: &mut Findings,
    ) -> BTreeMap<&'a str, Self> {
        let spokes = hub.spokes.iter();
        let read = spokes.map(|(cluster, objects)| {
            let policies = policies((hub, attachments), objects, options, findings);
            (cluster.as_str(), objects, policies)
        });
        let read: Vec<_> = read.collect();
        // Most clusters have no policy of their own: then no second hierarchy is made.
        if read.iter().all(|(_, _, policies)| policies.rows().is_empty()) {
            return BTreeMap::new();
        }
        let (objects, originals) = hub_on_clusters(attachments, kinds, gateways);
        let sources = Sources {
            hub: Some(&hub.objects),
            originals: Some(&originals),
            ..Sources::hub(&objects)
        };
        // What is wrong with a route was reported on the hub.
        let unknown = Controllers::default();
        let (mut topology, _) = Topology::new(
            (sources, options.seniority()),
            grants,
            (options.routes, options.controllers.unwrap_or(&unknown)),
        );
        let mut by_cluster = BTreeMap::new();
        for (cluster, objects, policies) in read {
            let mut there = Self {
                cluster,
                ..Self::default()
            };
            let known = policies.map(|(id, policy)| LocalPolicy {
                object: policy.object,
                entry: Entry::new(id, Arc::clone(&policy.layers)),
            });
            let mut policies: Table<PolicyId, Policy<'_>> = policies;
            let sources = Sources {
                local: Some(objects),
                ..sources
            };
            let unresolved = policies.rows_mut().iter_mut().map(|policy| {
                let profile = attachments.kinds.get(policy.kind).profile.as_ref();
                (policy, profile)
            });
            // No policy that lives on a cluster needs a grant.
            let none = Grants::default();
            let found = resolve_targets(unresolved, (&mut topology, sources), &none, options).into_iter();
            // The cluster has accepted what else may be wrong.
            findings.extend(found.filter(|finding| finding.code == Code::POLICY_TARGET_NOT_FOUND));
            for (id, policy) in policies.iter() {
                let nodes = policy.nodes().into_iter();
                let nodes = nodes.filter_map(|node| on_hub(&topology, &attachments.topology, node));
                for node in nodes.collect::<BTreeSet<Node>>() {
                    let here = there.by_node.entry((policy.kind, node)).or_default();
                    here.push(known.get(id).clone());
                }
            }
            by_cluster.insert(cluster, there);
        }
        by_cluster
    }

    /// The local policies of a kind on a node, by namespace and name.
    pub(super) fn on(&self, kind: KindId, node: Node) -> Vec<&LocalPolicy<'a>> {
        self.by_node.get(&(kind, node)).into_iter().flatten().collect()
    }

    /// The kinds and nodes that any of them targets, sorted.
    pub(super) fn targets(&self) -> impl Iterator<Item = (KindId, Node)> {
        self.by_node.keys().copied()
    }
}

/// The valid policies among the objects of a cluster, by kind, namespace and name.
fn policies<'a>(
    (hub, attachments): (&Hub, &Attachments<'_>),
    objects: &'a Objects,
    options: &Options<'_>,
    findings: &mut Findings,
) -> Table<PolicyId, Policy<'a>> {
    let mut policies: Table<PolicyId, Policy<'a>> = Table::default();
    for (kind, known) in attachments.kinds.iter() {
        let profile = known.profile.as_ref();
        for object in objects.of_kind(&profile.group, &profile.kind) {
            // An export of a live cluster has what an earlier run synced, which must not win against itself.
            if is_synced_copy(object) || !options.reads(object) {
                continue;
            }
            // What an API server refuses lives nowhere, so nothing is withheld for it.
            let has_crd = hub.crds.contains_key(&object.group_kind());
            let broken = rules::broken(object).into_iter();
            let broken = broken.chain(unknown_version(object, &hub.kinds));
            let broken = broken.filter(|finding| !has_crd && finding.severity == Severity::Error);
            let mut broken = broken.peekable();
            if broken.peek().is_some() {
                let left_out = "no API server takes it, so it does not count as a local policy";
                findings.extend(broken.map(|finding| finding.severity(Severity::Warning).note(left_out)));
                continue;
            }
            let id = policies.next();
            let (policy, found) = read_policy(object, (id, kind, true), profile, options);
            findings.extend(found);
            // Its controller would not accept it there either, so nothing gives way to it.
            if policy.invalid.is_none() {
                policies.push(policy);
            }
        }
    }
    policies
}

/// Our Gateways, and every ListenerSet, route, and backend of the hub, as a cluster has them that gets them.
fn hub_on_clusters<'a>(
    attachments: &Attachments<'a>,
    kinds: &SyncedKinds,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) -> (Objects, Vec<Original<'a>>) {
    let topology = &attachments.topology;
    let ours = topology.gateways.iter();
    let ours = ours.filter_map(|(node, gateway)| {
        let placed = gateways.get(kinds.gateway(node)?);
        Some((placed.downstream()?, gateway.object))
    });
    let routes = hub_routes(topology, kinds).into_iter();
    let routes = routes.map(|route| (assumed_route(&route, |_| true, gateways), route.object));
    // A Service is a target only where an attached route forwards to it.
    let backends = topology.backends.rows().iter();
    let backends = backends.filter_map(|backend| Some((backend.object?.clone(), backend.object?)));
    let all = ours.chain(routes).chain(backends);
    let all = all.map(|(copy, object)| {
        let assumed = false;
        (copy, Original { object, assumed })
    });
    Objects::with(all.collect())
}

/// The node of the hub that a node on a cluster stands for.
fn on_hub(there: &Topology<'_>, hub: &Topology<'_>, node: Node) -> Option<Node> {
    let identity = there.identity(node);
    let namespace = || {
        let downstream = identity.name.strip_prefix(NAMESPACE_PREFIX);
        // `kuadrant-shop` there is `shop` of the hub, if the hub has that.
        let namespace = downstream.and_then(|name| hub.find_namespace(name));
        namespace.or_else(|| hub.find_namespace(&identity.name))
    };
    let whole = match node {
        // A class of ours has another name there.
        Node::Class(_) => return None,
        Node::Mesh(root) => Node::Mesh(hub.find_namespace(there.namespaces.get(root).name)?),
        Node::Namespace(_) => Node::Namespace(namespace()?),
        _ => hub.find(&identity).into_iter().next()?,
    };
    hub.find_section(whole, there.section(node))
}

/// The spec of a synced policy next to local ones; `None`: nothing of it is left, and it is withheld.
pub(super) fn beside_local(
    attachments: &Attachments<'_>,
    synced: &SyncedPolicy,
    locals: &[&LocalPolicy<'_>],
) -> Option<SyncedSpec> {
    let profile = attachments.profile(synced.policy);
    let layers = without_idle_layers(profile, synced.entry(attachments)?);
    let left = match profile.same_target {
        SameTarget::AddUp => return Some(synced.spec.clone()),
        // Its controller would refuse one of the two by its age, and must never refuse the local one.
        SameTarget::Reject => return None,
        SameTarget::PerField => {
            let gives_way = locals.iter().any(|local| {
                let there = &local.entry.layers;
                meet(profile, there, &layers) || disagree(profile, there, &layers)
            });
            return (!gives_way).then(|| synced.spec.clone());
        }
        SameTarget::Merge | SameTarget::Unknown => {
            let entries: Vec<Entry> = locals.iter().map(|local| local.entry.clone()).collect();
            without_rules_of(profile, &layers, &entries)?
        }
    };
    // A spec that loses nothing stays as its author wrote it: taking it apart and putting it together may change its form.
    let mut pairs = left.iter().zip(layers.iter());
    let is_untouched =
        left.len() == layers.len() && pairs.all(|(left, all)| left.content.len() == all.content.len());
    Some(if is_untouched {
        synced.spec.clone()
    } else {
        reduced(attachments, profile, synced, &left)
    })
}

/// The layers of a policy, less those without which it means the same whatever is above and below it: atomic defaults all
/// of whose settings its own overrides replace must not withhold those overrides.
fn without_idle_layers(profile: &Profile, policy: Entry) -> Arc<[Layer]> {
    // Where the oldest wins, the layers of each side count by themselves.
    if profile.precedence == Precedence::OldestWins {
        return policy.layers;
    }
    let mut left = policy.clone();
    for idle in policy.layers.iter() {
        let rest = left.layers.iter().filter(|layer| layer.side != idle.side);
        let rest = Entry::new(policy.policy, rest.cloned().collect::<Vec<_>>());
        if is_order_independent(profile, slice::from_ref(&policy), slice::from_ref(&rest), &[]) {
            left = rest;
        }
    }
    left.layers
}

/// The spec with only the layers that are left.
fn reduced(
    attachments: &Attachments<'_>,
    profile: &Profile,
    synced: &SyncedPolicy,
    left: &[Layer],
) -> SyncedSpec {
    let (spec, mut settings) = match &synced.spec {
        SyncedSpec::AsWritten => {
            let object = attachments.policy(synced.policy).object;
            (object.value.get("spec").unwrap_or(&Value::Null), BTreeMap::new())
        }
        SyncedSpec::Rewritten { spec, settings, .. } => (spec.as_ref(), settings.clone()),
    };
    // A policy all of whose settings local ones define is no source there; the one that lends its name always is.
    settings.retain(|setting, _| left.iter().any(|layer| layer.content.contains_key(setting)));
    SyncedSpec::Rewritten {
        spec: Box::new(rewritten(spec, profile, left)),
        settings,
    }
}
