//! The objects that are synced to the spokes, each policy or route with its targets.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::Value;

use super::local_policies::{LocalPolicies, LocalPolicy, beside_local};
use super::routes::{Destination, SyncedRoutes};
use super::same_target::{Resolution, SyncedPolicy, SyncedSpec, resolve};
use crate::api::downstream::NAMESPACE_PREFIX;
use crate::api::params::{Role, SyncedResource};
use crate::diagnostic::broken;
use crate::hub::{Hub, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::parallel;
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

    /// An object that is neither a policy nor has parents.
    pub(super) fn other(
        object: &'a Object,
        resource: &'a SyncedResource,
        targets: Vec<SyncedTarget<'a>>,
    ) -> Self {
        Self {
            object,
            value: Cow::Borrowed(&object.value),
            role: Role::Object,
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
        targets.sort_unstable_by_key(|(kind, node)| (*node, *kind));
        let resolutions = parallel::map(&targets, |(kind, node)| {
            let destinations = syncing.destinations(*kind, *node);
            (!destinations.is_empty())
                .then(|| Some((destinations, resolve(syncing.attachments, *kind, *node)?)))?
        });
        for (target, resolved) in targets.into_iter().zip(resolutions) {
            let Some((destinations, resolution)) = resolved else {
                continue;
            };
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
        Self {
            objects: chosen
                .map(|chosen| chosen.synced(syncing.ours))
                .chain(sets)
                .chain(routes)
                .chain(grouping.policies.into_values())
                .collect(),
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
    let parents = parents
        .into_iter()
        .map(|(gateway, pointer)| SyncedTarget::new(vec![gateway], pointer, namespace));
    SyncedObject {
        role: Role::Route,
        ..SyncedObject::other(
            object,
            asked_for(object, Role::Route, first, ours),
            parents.collect(),
        )
    }
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
        self.routes.kinds.gateway(Node::Gateway(gateway))
    }

    /// Whether policies of a kind on a node go to clusters.
    pub fn is_synced(self, kind: KindId, node: Node) -> bool {
        self.routes.syncs(&self.attachments.topology, kind, node)
    }

    /// Where the policies of a kind on a node go, with Gateways whose class syncs the kind.
    fn destinations(self, kind: KindId, node: Node) -> Vec<Destination<'a>> {
        let topology = &self.attachments.topology;
        let mut all = self.routes.destinations(topology, node);
        for destination in &mut all {
            destination
                .gateways
                .retain(|gateway| self.routes.kinds.syncs(*gateway, kind));
        }
        all.retain(|destination| !destination.gateways.is_empty());
        all
    }

    /// Whether anything of a destination is on a cluster.
    fn reaches(self, destination: &Destination<'_>, cluster: &str) -> bool {
        let mut clusters = destination
            .gateways
            .iter()
            .map(|gateway| self.clusters.get(*gateway));
        clusters.any(|clusters| clusters.iter().any(|name| name == cluster))
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
        let mut all: Vec<Changes> = Vec::new();
        all.resize_with(resolution.synced.len(), Default::default);
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
        let others = others.filter(|source| *source != synced.policy);
        let policies: Vec<PolicyId> = std::iter::once(synced.policy).chain(others).collect();
        let known = self
            .policies
            .entry((synced.policy, own))
            .or_insert_with(|| SyncedObject {
                object,
                value: whole(attachments, synced.policy, &synced.spec),
                role: Role::Policy,
                sources: policies.iter().copied().map(policy).collect(),
                policies,
                settings,
                resource: asked_for(object, Role::Policy, gateways.first().copied(), self.syncing.ours),
                targets: Vec::new(),
            });
        known
            .targets
            .extend(synced.references.iter().map(|pointer| SyncedTarget {
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
