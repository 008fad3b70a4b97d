//! The objects that are synced to the spokes, each policy or route with its targets, and which variant of it goes to which
//! clusters: an object may target several Gateways, each with clusters of its own, and keeps on a cluster the references
//! to the Gateways that are there, and to the routes that go with them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::core_group;
use indexmap::IndexMap;
use kube_json::{Map, Value, json};

use super::copies::{PlacedGateway, downstream_route, set_metadata, shipped};
use super::local_policies::{LocalPolicies, LocalPolicy, beside_local};
use super::routes::{Destination, SyncedRoutes};
use super::same_target::{Resolution, SyncedPolicy, SyncedSpec, resolve};
use crate::api::downstream::{NAMESPACE_PREFIX, POLICY_SYNCED, downstream_name, downstream_namespace};
use crate::api::params::{Role, SyncedResource};
use crate::diagnostic::broken;
use crate::hub::{Hub, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::object::well_known::ORIGIN_CREATION;
use crate::parallel;
use crate::placing::is_among;
use crate::policy::{Attachments, KindId, PolicyId, Rule};
use crate::topology::{GatewayId, Node};

/// One policy or route for the spokes.
#[derive(Debug, Clone)]
pub struct SyncedObject<'a> {
    /// The object whose name and metadata it has.
    pub object: &'a Object,
    /// The whole object, before its references and metadata are rewritten.
    pub value: Cow<'a, Value>,
    /// What it is: the targets of a route are its parents, those of a policy its target references.
    pub role: Role,
    /// All objects that it was made from, the name-giver first; more than one: a merged policy.
    pub sources: Vec<&'a Object>,
    /// Of a policy, the same by number.
    pub policies: Vec<PolicyId>,
    /// Of a merged policy, which one each setting comes from.
    pub settings: BTreeMap<Arc<str>, PolicyId>,
    /// The entry of the parameters that lists its kind, in those of the first Gateway's class.
    pub resource: &'a SyncedResource,
    /// The objects that it is attached to; never empty.
    pub targets: Vec<SyncedTarget<'a>>,
}

/// One Gateway or listener, or route or rule, that a synced object is attached to.
#[derive(Debug, Clone, Default)]
pub struct SyncedTarget<'a> {
    /// The Gateways that it goes with, sorted; more than one only behind a route.
    pub gateways: Vec<OurGatewayId>,
    /// Pointer of the reference inside the object.
    pub pointer: String,
    /// If a selector selects it: a reference to it by name.
    pub selected: Option<Value>,
    /// The namespace of what it is or targets, the same on hub and spokes; `None`: its target is in the downstream
    /// namespace of a Gateway.
    pub route_namespace: Option<&'a str>,
    /// The policies of the hub that gave way to it on this target.
    pub displaced: Vec<PolicyId>,
    /// Clusters where a local policy wins: nothing is synced there for this target.
    pub withheld_from: BTreeSet<String>,
    /// Clusters where a local policy takes a part: the whole object that is synced there instead.
    pub instead: BTreeMap<String, Value>,
}

impl<'a> SyncedTarget<'a> {
    /// A target that nothing on any cluster changes.
    pub(super) fn new(
        gateways: Vec<OurGatewayId>,
        pointer: String,
        route_namespace: Option<&'a str>,
    ) -> Self {
        Self {
            gateways,
            pointer,
            route_namespace,
            ..Self::default()
        }
    }
}

impl<'a> SyncedObject<'a> {
    /// Gives the Gateways that it goes with other numbers, in the same order.
    pub fn renumber(&mut self, number: impl Fn(OurGatewayId) -> OurGatewayId) {
        for gateway in self.targets.iter_mut().flat_map(|target| &mut target.gateways) {
            *gateway = number(*gateway);
        }
    }

    /// An object that is no policy.
    pub(super) fn new(
        object: &'a Object,
        role: Role,
        resource: &'a SyncedResource,
        targets: Vec<SyncedTarget<'a>>,
    ) -> Self {
        Self {
            object,
            value: Cow::Borrowed(&object.value),
            role,
            sources: vec![object],
            policies: Vec::new(),
            settings: BTreeMap::new(),
            resource,
            targets,
        }
    }
}

/// A policy that is not synced for a target.
#[derive(Debug, Clone)]
pub struct Withheld<'a> {
    /// The policy.
    pub policy: PolicyId,
    /// The target.
    pub node: Node,
    /// The cluster, if it is withheld from only one.
    pub cluster: Option<&'a str>,
    /// The winner.
    pub winner: &'a Object,
    /// The rule that decided.
    pub rule: Rule,
}

/// Everything that is synced, and every policy that is withheld although its kind is.
#[derive(Debug, Clone, Default)]
pub struct SyncedObjects<'a> {
    /// The objects chosen by name or label, then the ListenerSets, then the routes, each by kind, namespace, and name;
    /// then the policies in their order.
    pub objects: Vec<SyncedObject<'a>>,
    /// By target.
    pub withheld: Vec<Withheld<'a>>,
}

/// What decides about all that is synced.
#[derive(Debug, Clone, Copy)]
pub struct Syncing<'a> {
    /// The hub.
    pub hub: &'a Hub,
    /// Our Gateways.
    pub ours: &'a Ours<'a>,
    /// The clusters of each.
    pub clusters: &'a Table<OurGatewayId, Arc<[String]>>,
    /// The policies of the hub.
    pub attachments: &'a Attachments<'a>,
    /// What goes with which Gateway.
    pub routes: &'a SyncedRoutes<'a>,
}

impl<'a> SyncedObjects<'a> {
    /// Decides for every target and the kinds that are synced there. `locals` are the policies that live on each cluster.
    pub fn new(syncing: Syncing<'a>, locals: &'a BTreeMap<&'a str, LocalPolicies<'a>>) -> Self {
        let mut disturbed: BTreeMap<(KindId, Node), Vec<&LocalPolicies<'a>>> = BTreeMap::new();
        for there in locals.values() {
            for target in there.targets() {
                disturbed.entry(target).or_default().push(there);
            }
        }
        let mut grouping = Grouping {
            syncing,
            disturbed,
            policies: BTreeMap::new(),
            withheld: Vec::new(),
        };
        let kinds = syncing.attachments.kinds.iter();
        let kinds = kinds.filter(|(kind, _)| syncing.routes.kinds.any(*kind));
        let targets = kinds.flat_map(|(kind, known)| known.nodes.keys().map(move |node| (kind, *node)));
        let mut targets: Vec<(KindId, Node)> = targets.collect();
        // By node first: the targets of an object are then in the order of the hierarchy.
        targets.sort_unstable_by_key(|(kind, node)| (*node, *kind));
        let resolutions = parallel::map(&targets, |(kind, node)| {
            let destinations = syncing.destinations(*kind, *node);
            // Resolving merges every order of the policies, which is dear: not for what stays on the hub.
            let is_synced = !destinations.is_empty();
            let resolution = is_synced.then(|| resolve(syncing.attachments, *kind, *node))??;
            Some(((*kind, *node), destinations, resolution))
        });
        for (target, destinations, resolution) in resolutions.into_iter().flatten() {
            grouping.target(target, &destinations, &resolution);
        }
        let sets = syncing.routes.sets.iter().map(|(set, gateway)| {
            let set = syncing.attachments.topology.listener_sets.get(*set).object;
            with_parents(set, vec![(*gateway, "/spec/parentRef".to_owned())], syncing.ours)
        });
        let routes = syncing.routes.iter().map(|(_, route)| {
            let parents = route.parents.iter();
            let parents = parents.map(|parent| (parent.gateway, parent.pointer.clone()));
            with_parents(route.object, parents.collect(), syncing.ours)
        });
        let chosen = syncing.routes.chosen.objects.values();
        let chosen = chosen.map(|chosen| chosen.synced(syncing.ours));
        let policies = grouping.policies.into_values();
        Self {
            objects: chosen.chain(sets).chain(routes).chain(policies).collect(),
            withheld: grouping.withheld,
        }
    }
}

/// A route or a ListenerSet with the parents that go along.
fn with_parents<'a>(
    object: &'a Object,
    parents: Vec<(OurGatewayId, String)>,
    ours: &'a Ours<'_>,
) -> SyncedObject<'a> {
    let first = parents.first().map(|(gateway, _)| *gateway);
    let namespace = Some(object.namespace_or_empty());
    let resource = asked_for(object, Role::Route, first, ours);
    let target = |(gateway, pointer)| SyncedTarget::new(vec![gateway], pointer, namespace);
    let targets = parents.into_iter().map(target).collect();
    SyncedObject::new(object, Role::Route, resource, targets)
}

/// The entry of the parameters of a Gateway's class that asks for an object: it goes with the Gateway only because of it.
pub(super) fn asked_for<'a>(
    object: &Object,
    role: Role,
    gateway: Option<OurGatewayId>,
    ours: &'a Ours<'_>,
) -> &'a SyncedResource {
    let (group, kind) = (&object.api_version.group, &object.kind);
    let asked = gateway.and_then(|gateway| {
        let params = &ours.gateways.get(gateway).params;
        match role {
            Role::Object => params.synced_object(object),
            Role::Route => params.synced_route(group, kind),
            Role::Policy => params.synced_policy(group, kind),
        }
    });
    asked.unwrap_or_else(|| broken(format_args!("no class asks for {}", object.identity())))
}

struct Grouping<'a> {
    syncing: Syncing<'a>,
    /// The clusters with local policies of a kind on a node.
    disturbed: BTreeMap<(KindId, Node), Vec<&'a LocalPolicies<'a>>>,
    /// As-written policies once, with all their targets; rewritten ones once for each target, as what they are merged with is
    /// another policy on each.
    policies: BTreeMap<(PolicyId, Option<Node>), SyncedObject<'a>>,
    withheld: Vec<Withheld<'a>>,
}

impl<'a> Syncing<'a> {
    /// The Gateway of ours that one of the hierarchy is.
    pub(super) fn our_gateway(self, gateway: GatewayId) -> Option<OurGatewayId> {
        self.routes.kinds.gateway(gateway)
    }

    /// Whether policies of a kind on a node go to clusters.
    pub fn is_synced(self, kind: KindId, node: Node) -> bool {
        self.routes.syncs(&self.attachments.topology, kind, node)
    }

    /// Where the policies of a kind on a node go, with Gateways whose class syncs the kind.
    fn destinations(self, kind: KindId, node: Node) -> Vec<Destination<'a>> {
        let topology = &self.attachments.topology;
        let mut all = self.routes.destinations(topology, node);
        let syncs = |gateway: &OurGatewayId| self.routes.kinds.syncs(*gateway, kind);
        for destination in &mut all {
            destination.gateways.retain(syncs);
        }
        all.retain(|destination| !destination.gateways.is_empty());
        all
    }

    /// Whether anything of a destination is on a cluster.
    fn reaches(self, destination: &Destination<'_>, cluster: &str) -> bool {
        let mut gateways = destination.gateways.iter();
        gateways.any(|gateway| is_among(self.clusters.get(*gateway), cluster))
    }
}

/// The clusters where local policies take a policy's place, and those where they take a part of it.
type Changes = (BTreeSet<String>, BTreeMap<String, Value>);

impl<'a> Grouping<'a> {
    fn target(
        &mut self,
        (kind, node): (KindId, Node),
        destinations: &[Destination<'a>],
        resolution: &Resolution,
    ) {
        let attachments = self.syncing.attachments;
        for displaced in &resolution.displaced {
            self.withheld.push(Withheld {
                policy: displaced.policy,
                node,
                cluster: None,
                winner: attachments.policy(displaced.by).object,
                rule: displaced.rule,
            });
        }
        for destination in destinations {
            // A policy that gave way is reported once, even if two policies override it.
            let displaced = resolution.displaced.iter();
            let mut displaced = displaced.map(|displaced| displaced.policy).collect();
            let changes = self.changes((kind, node), destination, resolution);
            for (synced, changes) in resolution.synced.iter().zip(changes) {
                self.sync(synced, node, destination, std::mem::take(&mut displaced), changes);
            }
        }
    }

    /// What the local policies on a target change, by synced policy.
    fn changes(
        &mut self,
        (kind, node): (KindId, Node),
        destination: &Destination<'a>,
        resolution: &Resolution,
    ) -> Vec<Changes> {
        let attachments = self.syncing.attachments;
        let mut all = vec![Changes::default(); resolution.synced.len()];
        let disturbed = self.disturbed.get(&(kind, node)).into_iter().flatten();
        for there in disturbed.filter(|there| self.syncing.reaches(destination, there.cluster)) {
            let mut locals = there.on(kind, node);
            // A Namespace of the hub may be two on a cluster: of its Gateways, and of all else.
            if let Node::Namespace(_) = node {
                let in_downstream = |local: &&LocalPolicy<'_>| {
                    local.object.namespace_or_empty().starts_with(NAMESPACE_PREFIX)
                };
                locals.retain(|local| in_downstream(local) == destination.namespace.is_none());
            }
            if locals.is_empty() {
                continue;
            }
            for (synced, (withheld_from, instead)) in resolution.synced.iter().zip(&mut all) {
                match beside_local(attachments, synced, &locals) {
                    None => {
                        withheld_from.insert(there.cluster.to_owned());
                        self.withheld.extend(locals.first().map(|local| Withheld {
                            policy: synced.policy,
                            node,
                            cluster: Some(there.cluster),
                            winner: local.object,
                            rule: Rule::SpokeLocal,
                        }));
                    }
                    Some(spec) if spec != synced.spec => {
                        let value = whole(attachments, synced.policy, &spec);
                        instead.insert(there.cluster.to_owned(), value.into_owned());
                    }
                    Some(_) => {}
                }
            }
        }
        all
    }

    fn sync(
        &mut self,
        synced: &SyncedPolicy,
        node: Node,
        destination: &Destination<'a>,
        displaced: Vec<PolicyId>,
        (withheld_from, instead): Changes,
    ) {
        let attachments = self.syncing.attachments;
        let gateways: Vec<OurGatewayId> = destination.gateways.iter().copied().collect();
        let route_namespace = destination.namespace;
        let policy = |id: PolicyId| attachments.policy(id).object;
        let object = policy(synced.policy);
        let selected = |pointer: &str| {
            let mut here = attachments.policy(synced.policy).targets_at(node);
            here.find(|declared| declared.pointer == pointer)?.selected()
        };
        let (own, settings) = match &synced.spec {
            SyncedSpec::AsWritten => (None, BTreeMap::new()),
            SyncedSpec::Rewritten { settings, .. } => (Some(node), settings.clone()),
        };
        let others = synced.sources().into_iter();
        // The name-giver comes first, as its metadata is that of the object.
        let others = others.filter(|source| *source != synced.policy);
        let policies: Vec<PolicyId> = std::iter::once(synced.policy).chain(others).collect();
        let known = self.policies.entry((synced.policy, own));
        let known = known.or_insert_with(|| SyncedObject {
            object,
            value: whole(attachments, synced.policy, &synced.spec),
            role: Role::Policy,
            sources: policies.iter().copied().map(policy).collect(),
            policies,
            settings,
            resource: asked_for(object, Role::Policy, gateways.first().copied(), self.syncing.ours),
            targets: Vec::new(),
        });
        let references = synced.references.iter();
        known.targets.extend(references.map(|pointer| SyncedTarget {
            selected: selected(pointer),
            displaced: displaced.clone(),
            withheld_from: withheld_from.clone(),
            instead: instead.clone(),
            ..SyncedTarget::new(gateways.clone(), pointer.clone(), route_namespace)
        }));
    }
}

/// The whole object with the spec that is synced.
fn whole<'a>(attachments: &Attachments<'a>, policy: PolicyId, spec: &SyncedSpec) -> Cow<'a, Value> {
    let object = attachments.policy(policy).object;
    match spec {
        SyncedSpec::AsWritten => Cow::Borrowed(&object.value),
        SyncedSpec::Rewritten { spec, .. } => {
            let mut value = object.value.clone();
            if let Some(fields) = value.as_object_mut() {
                fields.insert("spec".to_owned(), (**spec).clone());
            }
            Cow::Owned(value)
        }
    }
}

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
type VariantKey = Vec<(usize, OurGatewayId, Option<String>)>;

/// The variants of a synced object.
pub fn variants(
    synced: &SyncedObject<'_>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
) -> Vec<Variant> {
    let by_content = match alike(synced) {
        Some((gateway, same)) => BTreeMap::from([(same, Arc::clone(&gateways.get(gateway).clusters))]),
        None => by_content(synced, gateways),
    };
    let somewhere = by_content
        .into_iter()
        .filter(|(_, clusters)| !clusters.is_empty());
    let variants = somewhere.map(|(same, clusters)| {
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
fn alike(synced: &SyncedObject<'_>) -> Option<(OurGatewayId, VariantKey)> {
    let gateway = *synced.targets.first()?.gateways.first()?;
    let mut same = VariantKey::new();
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
) -> BTreeMap<VariantKey, Arc<[String]>> {
    let mut clusters: BTreeMap<&str, VariantKey> = BTreeMap::new();
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
    let mut by_content: BTreeMap<VariantKey, Vec<String>> = BTreeMap::new();
    for (cluster, same) in clusters {
        by_content.entry(same).or_default().push(cluster.to_owned());
    }
    let by_content = by_content.into_iter();
    let by_content = by_content.map(|(same, clusters)| (same, clusters.into()));
    by_content.collect()
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
type CopyKey<'s> = ((String, String), Option<&'s Value>);

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
    let mut by_place: IndexMap<CopyKey<'_>, Vec<(usize, &SyncedTarget<'_>)>> = IndexMap::new();
    for (position, target) in targets {
        if let Some((on_hub, downstream)) = namespaces(target, gateways) {
            let name = downstream_name(object.namespace_or_empty(), &object.name, on_hub);
            let own = cluster.and_then(|cluster| target.instead.get(cluster));
            let there = by_place.entry(((downstream.into_owned(), name), own));
            there.or_default().push((*position, target));
        }
    }
    // Copies are in the order of their namespaces and names, whatever the order of the targets is.
    by_place.sort_by(|(one, _), _, (other, _), _| one.cmp(other));
    let copies = by_place.into_iter().map(|(((downstream, name), own), targets)| {
        let (positions, targets): (Vec<usize>, Vec<&SyncedTarget<'_>>) = targets.into_iter().unzip();
        let content = own.unwrap_or(&synced.value);
        let place = (name.as_str(), downstream.as_str());
        let value = match synced.role {
            Role::Object => shipped(content, &name, &downstream),
            Role::Policy => downstream_policy(synced, content, place, (&targets, &withheld)),
            Role::Route => {
                let parent = |pointer: &str| {
                    let mut targets = targets.iter().filter(|target| target.pointer == pointer);
                    targets.find_map(|target| target.gateways.first().copied())
                };
                downstream_route(content, place, parent, gateways)
            }
        };
        Copy {
            object: object.with_value(value).with_name(downstream, name),
            targets: positions,
        }
    });
    copies.collect()
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
        let text = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = (core_group(text("group")), text("kind"));
        if kind == ("", "Namespace") && scope == "namespace" {
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
    let is_withheld = |target: &&&SyncedTarget<'_>| withheld.contains(target.pointer.as_str());
    let named = targets.iter().filter(is_withheld);
    let named: Vec<Value> = named.filter_map(|target| target.selected.clone()).collect();
    if !named.is_empty() {
        spec.insert_if_absent("targetRefs", || json!([]));
        if let Some(references) = spec.get_mut("targetRefs").and_then(Value::as_array_mut) {
            references.extend(named);
        }
        if spec.get("targetSelectors") == Some(&json!([])) {
            spec.remove("targetSelectors");
        }
    }
}
