//! What goes to the spokes with each of our Gateways: the kinds of policies (`policiesToSync` of its class), ListenerSets,
//! routes, and the objects that `resources_to_sync` chooses. The copies of policies go to the clusters of their targets.
//!
//! A set stays in its own namespace, as a route does: its owner keeps its Secrets and its routes there
//! (docs/systems/why-we-differ.md#listenersets). Only Gateways, and what is about their Namespaces, move to a downstream
//! namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::{GroupKind, Identity};

use crate::api::gateway::ParentRef;
use crate::api::params::SyncedResource;
use crate::api::route::Route;
use crate::diagnostic::{Code, Finding, Findings, Severity, broken, first_items};
use crate::hub::{OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::policy::{Attachments, KindId, Profile};
use crate::topology::{
    BackendId, Condition, GatewayId, ListenerId, ListenerNode, ListenerSetId, NamespaceId, Node, ObjectKey,
    Refusal, RouteId, Topology, object_key,
};

/// Most clusters that one finding names.
const MOST_CLUSTERS: usize = 3;

/// Reports the listeners that are shipped to clusters where they give way to local objects, each once.
pub fn report_outdone_listeners<'t, 'a: 't>(
    spokes: impl Iterator<Item = (&'t [String], &'t Topology<'a>)>,
    findings: &mut Findings,
) {
    let mut outdone = BTreeMap::new();
    for (clusters, topology) in spokes {
        for (listener, winner) in topology.outdone_there() {
            let said = |listener| {
                let node = topology.listeners.get(listener);
                let set = |set| topology.listener_sets.get(set).object.identity();
                (node.set.map(set), node.name)
            };
            let new = || (topology, (listener, winner), BTreeSet::new());
            let key = (said(listener), said(winner));
            let (_, _, on) = outdone.entry(key).or_insert_with(new);
            on.extend(clusters);
        }
    }
    for (topology, gives_way, clusters) in outdone.into_values() {
        findings.extend(topology.outdone(gives_way, &first_items(clusters, MOST_CLUSTERS)));
    }
}

/// The ListenerSet that a node is, or is a listener of.
pub(super) fn set_of(topology: &Topology<'_>, node: Node) -> Option<ListenerSetId> {
    match node {
        Node::ListenerSet(set) => Some(set),
        Node::Listener(_, listener) => topology.listeners.get(listener).set,
        _ => None,
    }
}

/// What goes to the spokes with our Gateways: the kinds of policies, ListenerSets, routes, and other objects.
#[derive(Debug, Default)]
pub struct SyncedRoutes<'a> {
    /// What the classes of our Gateways sync.
    pub kinds: SyncedKinds,
    routes: BTreeMap<RouteId, SyncedRoute<'a>>,
    /// ParentRefs to Gateways of ours that no listener takes.
    dropped: Vec<DroppedParent<'a>>,
    /// Routes of a synced kind without a parent.
    parentless: Vec<(RouteId, &'a Object)>,
    /// The ListenerSets of synced kinds on Gateways of ours, each with its Gateway.
    pub sets: BTreeMap<ListenerSetId, OurGatewayId>,
    /// The objects that go along because an entry of `resourcesToSync` chooses them.
    pub chosen: ChosenObjects<'a>,
}

/// A route of a synced kind that is attached to a Gateway of ours, or that takes what such a route hands on.
#[derive(Debug)]
pub struct SyncedRoute<'a> {
    /// The object.
    pub object: &'a Object,
    /// The parentRefs that go along, in their order; never none.
    pub parents: Vec<SyncedParent>,
}

/// A parentRef to a Gateway of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncedParent {
    /// Pointer of the reference inside the route: `/spec/parentRefs/0`. Empty where another route hands requests on to
    /// it.
    pub pointer: String,
    /// Which Gateway of ours.
    pub gateway: OurGatewayId,
    /// The same in the hierarchy.
    pub node: GatewayId,
    /// The ListenerSet that it names.
    pub set: Option<ListenerSetId>,
    /// The listeners that are meant and have a hostname in common with the route. None where another route hands
    /// requests on to it: no listener is asked then.
    pub listeners: Vec<ListenerId>,
}

/// A parentRef that goes nowhere.
#[derive(Debug)]
struct DroppedParent<'a> {
    object: &'a Object,
    pointer: String,
    gateway: OurGatewayId,
    /// The ListenerSet that it names.
    set: Option<&'a Object>,
    /// The pointer of the listener that it names.
    listener: Option<String>,
    why: DropReason,
}

/// Why no listener takes a route through one of its parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DropReason {
    /// None has the port (and, where it is given, the name).
    Port,
    /// None has a hostname in common with it.
    Hostname,
    /// The parent is a ListenerSet that stays on the hub.
    ListenerSet,
    /// The listener that it names gives way to another one.
    GivesWay,
    /// The class of the Gateway does not sync its kind, and that of another parent does: a copy goes there without this
    /// parent.
    OtherClass,
}

impl SyncedRoute<'_> {
    /// The Gateways that bring it, each once.
    pub(crate) fn gateways(&self) -> BTreeSet<OurGatewayId> {
        self.parents.iter().map(|parent| parent.gateway).collect()
    }
}

impl<'a> SyncedRoutes<'a> {
    /// Matches the routes of the topology with our Gateways. Linear in parents and the listeners behind them. The objects
    /// that are chosen are not there yet.
    pub(super) fn from_topology(topology: &Topology<'a>, kinds: SyncedKinds) -> Self {
        let sets = topology.listener_sets.iter();
        let sets = sets.filter_map(|(id, set)| {
            let gateway = kinds.gateway(set.gateway)?;
            kinds.syncs_route(gateway, set.object).then_some((id, gateway))
        });
        let mut found = Self {
            sets: sets.collect(),
            kinds,
            ..Self::default()
        };
        for (id, node) in topology.routes.iter() {
            let object = node.object;
            let (mut parents, mut unsynced) = (Vec::new(), Vec::new());
            let named = topology.parents_of(node.route);
            // A route of a kind that no class syncs may be for a mesh, or be brought by another tool.
            if named.is_empty() && found.kinds.syncs_kind_of(object) {
                found.parentless.push((id, object));
            }
            for parent in named.iter() {
                match found.parent(topology, node.route, parent) {
                    Some(Ok(parent)) => parents.push(parent),
                    Some(Err(dropped)) if dropped.why == DropReason::OtherClass => unsynced.push(dropped),
                    Some(Err(dropped)) => found.dropped.push(dropped),
                    None => {}
                }
            }
            if !parents.is_empty() {
                // Most routes have one, and there may be many thousands of them.
                parents.shrink_to_fit();
                found.routes.insert(id, SyncedRoute { object, parents });
                // Only now does a copy lack a parent. A route that no class syncs is left to another tool as a whole.
                found.dropped.append(&mut unsynced);
            }
        }
        found.add_children(topology);
        found
    }

    /// Adds the routes that get requests from a route that is synced.
    fn add_children(&mut self, topology: &Topology<'a>) {
        // Whatever hands requests on is before what takes them.
        for delegation in topology.delegations() {
            let object = topology.routes.get(delegation.child).object;
            let Some(from) = self.routes.get(&delegation.from.0) else {
                continue;
            };
            let parents = from.parents.iter();
            let parents = parents.filter(|parent| self.kinds.syncs_route(parent.gateway, object));
            let parents = parents.map(|parent| SyncedParent {
                pointer: String::new(),
                gateway: parent.gateway,
                node: parent.node,
                set: None,
                listeners: Vec::new(),
            });
            let parents: Vec<SyncedParent> = parents.collect();
            if parents.is_empty() {
                continue;
            }
            let new = || SyncedRoute {
                object,
                parents: Vec::new(),
            };
            let known = &mut self.routes.entry(delegation.child).or_insert_with(new).parents;
            for parent in parents {
                // Several rules may delegate to it, of several routes of one Gateway.
                if !known.contains(&parent) {
                    known.push(parent);
                }
            }
        }
    }

    /// Whether a route is shipped with a parent. `None`: the parent is nothing that is synced, or something that is reported
    /// elsewhere.
    fn parent(
        &self,
        topology: &Topology<'a>,
        route: Route<'a>,
        parent: &ParentRef,
    ) -> Option<Result<SyncedParent, DroppedParent<'a>>> {
        let object = route.object;
        let owner = topology.parent(object.namespace_or_empty(), parent).ok()?;
        let (node, set) = owner;
        let gateway = self.kinds.gateway(node)?;
        let section = parent.section_name.as_deref();
        let dropped = |why| {
            let listener = section.and_then(|_| topology.listeners_of(owner, section).first());
            Some(Err(DroppedParent {
                object,
                pointer: parent.pointer(),
                gateway,
                set: set.map(|set| topology.listener_sets.get(set).object),
                listener: listener.map(|listener| topology.listeners.get(*listener).pointer.to_owned()),
                why,
            }))
        };
        if !self.kinds.syncs_route(gateway, object) {
            return dropped(DropReason::OtherClass);
        }
        if set.is_some_and(|set| !self.sets.contains_key(&set)) {
            return dropped(DropReason::ListenerSet);
        }
        let conditions: [Condition<'_, 'a>; 3] = [
            (&|listener| listener.is_meant(parent), Refusal::Port),
            // Hub and clusters agree about hostnames; namespaces and labels differ there, which `allowed_routes`
            // checks.
            (&|listener| listener.serves(route), Refusal::Hostname),
            (
                &|listener| !surely_gives_way(topology, listener),
                Refusal::GivesWay,
            ),
        ];
        match topology.listeners_with(owner, section, &conditions) {
            Ok(listeners) => Some(Ok(SyncedParent {
                pointer: parent.pointer(),
                gateway,
                node,
                set,
                listeners,
            })),
            // That the section does not exist is reported about every route.
            Err(Refusal::Section) if section.is_some() => None,
            Err(Refusal::GivesWay) => dropped(DropReason::GivesWay),
            Err(Refusal::Hostname) => dropped(DropReason::Hostname),
            Err(_) => dropped(DropReason::Port),
        }
    }

    /// The route, if it goes anywhere.
    pub fn get(&self, route: RouteId) -> Option<&SyncedRoute<'a>> {
        self.routes.get(&route)
    }

    /// All of them, by kind, namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = (RouteId, &SyncedRoute<'a>)> {
        self.routes.iter().map(|(number, route)| (*number, route))
    }

    /// Reports parentRefs that no listener takes, where the Gateway goes anywhere.
    pub fn report_loose(
        &self,
        ours: &Ours<'_>,
        clusters: &Table<OurGatewayId, Arc<[String]>>,
        findings: &mut Findings,
    ) {
        // One that gets requests from another route needs no parent.
        for (_, object) in self.parentless.iter().filter(|(id, _)| self.get(*id).is_none()) {
            let what = "is not shipped: it names no parent";
            findings.push(
                object
                    .finding(Code::ROUTE_NOT_ATTACHED, "/spec", what)
                    .label("no `parentRefs`")
                    .help("name its Gateway in `parentRefs`, or remove the route"),
            );
        }
        for dropped in &self.dropped {
            if !clusters.get(dropped.gateway).is_empty() {
                findings.push(dropped.finding(ours.gateways.get(dropped.gateway).gateway.object));
            }
        }
    }
}

/// Whether a listener gives way on every cluster. Between two ListenerSets a cluster goes by when each of them came
/// there, which is unknown: what is attached to either goes there.
fn surely_gives_way(topology: &Topology<'_>, listener: &ListenerNode<'_>) -> bool {
    let winner = listener.gives_way_to.map(|winner| topology.listeners.get(winner));
    winner.is_some_and(|winner| winner.set.is_none())
}

impl DroppedParent<'_> {
    fn finding(&self, gateway: &Object) -> Finding {
        let gateway_name = gateway.identity();
        let (field, message, label, help) = match self.why {
            DropReason::Port => (
                "/port",
                format!("is not shipped with {gateway_name}: no listener has this port"),
                "no such port",
                "correct `port`, or leave it out".to_owned(),
            ),
            DropReason::Hostname => (
                "",
                format!("is not shipped with {gateway_name}: they have no hostname in common"),
                "no listener serves its hostnames",
                "correct `hostnames` of the route, or `hostname` of a listener".to_owned(),
            ),
            DropReason::ListenerSet => (
                "",
                "is not shipped: its ListenerSet stays on the hub".to_owned(),
                "a ListenerSet that is not shipped",
                format!(
                    "list its kind in `resourcesToSync` of the class of {gateway_name}, or name the Gateway as the parent"
                ),
            ),
            DropReason::GivesWay => (
                "",
                format!("is not shipped with {gateway_name}: its listener conflicts with another one"),
                "a listener that accepts nothing",
                "give the listener another `port` or `hostname`".to_owned(),
            ),
            DropReason::OtherClass => (
                "",
                format!("is not shipped with {gateway_name}, whose class does not sync its kind"),
                "left out of the copy that its other parents bring",
                format!(
                    "list its kind in `resourcesToSync` of the class of {gateway_name}, or remove this parent"
                ),
            ),
        };
        let set = self.set.filter(|_| self.why != DropReason::OtherClass);
        let owner = set.unwrap_or(gateway);
        let (field, related, shown) = match &self.listener {
            _ if self.why == DropReason::OtherClass => ("", "/spec/gatewayClassName", "its class"),
            Some(listener) if field.is_empty() => ("/sectionName", listener.as_str(), "the listener"),
            Some(listener) => (field, listener.as_str(), "the listener"),
            None => (field, "/spec/listeners", "the listeners"),
        };
        let pointer = format!("{}{field}", self.pointer);
        let mut finding = self
            .object
            .finding(Code::ROUTE_NOT_ATTACHED, &pointer, message)
            .label(label)
            .related(owner.place(related), shown)
            .help(help);
        // A port that no listener of the Gateway has is nowhere else.
        if self.why == DropReason::Port {
            finding.severity = Severity::Error;
        }
        let set = self.set.filter(|_| self.why == DropReason::GivesWay).into_iter();
        set.fold(finding, |finding, set| finding.follows_from(set.place("")))
    }
}

/// One namespace on the clusters that copies go to.
#[derive(Debug)]
pub(super) struct Destination<'t> {
    /// The Gateways of ours that they go with; never none.
    pub(super) gateways: BTreeSet<OurGatewayId>,
    /// The namespace, the same on the hub; `None`: the downstream namespace of the Gateways.
    pub(super) namespace: Option<&'t str>,
}

impl<'t> Destination<'t> {
    const fn new(gateways: BTreeSet<OurGatewayId>, namespace: Option<&'t str>) -> Self {
        Self { gateways, namespace }
    }
}

impl<'a> SyncedRoutes<'a> {
    /// Where what targets a node goes; nowhere if the node is on no cluster, or on all of them by itself.
    pub(super) fn destinations<'t>(&'t self, topology: &'t Topology<'a>, node: Node) -> Vec<Destination<'t>> {
        let mut all: Vec<Destination<'t>> = match node {
            Node::Route(route) | Node::Rule(route, _) => {
                let own = |route: &SyncedRoute<'t>| Some(route.object.namespace_or_empty());
                let route = self.get(route).into_iter();
                route
                    .map(|route| Destination::new(route.gateways(), own(route)))
                    .collect()
            }
            Node::Gateway(_) | Node::ListenerSet(_) | Node::Listener(..) => match set_of(topology, node) {
                Some(set) => {
                    let gateway = self.sets.get(&set).copied();
                    let namespace = topology.listener_sets.get(set).object.namespace_or_empty();
                    vec![Destination::new(gateway.into_iter().collect(), Some(namespace))]
                }
                None => {
                    let gateways = topology.gateways_of(node).into_iter();
                    let ours = gateways.filter_map(|gateway| self.kinds.gateway(gateway));
                    vec![Destination::new(ours.collect(), None)]
                }
            },
            Node::Backend(backend) | Node::Port(backend, _) => self.of_backend(topology, backend),
            Node::Namespace(namespace) => self.of_namespace(topology, namespace),
            // No work has a GatewayClass, and a mesh is not a Gateway's.
            Node::Class(_) | Node::Mesh(_) => Vec::new(),
        };
        all.retain(|destination| !destination.gateways.is_empty());
        all
    }

    /// A Service or another backend is where the routes are that send requests to it, shipped or brought by another tool;
    /// and where it is shipped itself.
    fn of_backend<'t>(&'t self, topology: &'t Topology<'a>, backend: BackendId) -> Vec<Destination<'t>> {
        let backend = topology.backends.get(backend);
        let mut in_place: BTreeSet<OurGatewayId> = BTreeSet::new();
        for id in &backend.routes {
            match self.get(*id) {
                Some(route) => in_place.extend(route.gateways()),
                None => {
                    let route = topology.routes.get(*id);
                    let gateways = route.gateways.iter();
                    let ours = gateways.filter_map(|gateway| self.kinds.gateway(*gateway));
                    // If its class syncs the kind and it is not shipped, the route is nowhere, and so is what it leads
                    // to.
                    in_place.extend(ours.filter(|gateway| !self.kinds.syncs_route(*gateway, route.object)));
                }
            }
        }
        let mut with_gateways = BTreeSet::new();
        if let Some(chosen) = backend.object.and_then(|object| self.chosen.get(object)) {
            in_place.extend(&chosen.in_place);
            with_gateways.extend(&chosen.with_gateways);
        }
        let namespace = backend.name.namespace.as_deref();
        let mut all = vec![Destination::new(with_gateways, None)];
        all.extend(namespace.map(|_| Destination::new(in_place, namespace)));
        all
    }

    /// A Namespace is wherever a Gateway, a ListenerSet, a route, or a chosen object of it is shipped.
    fn of_namespace<'t>(&'t self, topology: &'t Topology<'a>, id: NamespaceId) -> Vec<Destination<'t>> {
        let namespace = topology.namespaces.get(id);
        let own = namespace.gateways.iter();
        // Gateways are also listed where routes of the namespace are attached to them.
        let own = own.filter(|gateway| topology.gateways.get(**gateway).namespace == id);
        let with_gateways = own.filter_map(|gateway| self.kinds.gateway(*gateway));
        let in_place = self.chosen.shipped_in.get(namespace.name).cloned();
        vec![
            Destination::new(with_gateways.collect(), None),
            Destination::new(in_place.unwrap_or_default(), Some(namespace.name)),
        ]
    }

    /// The Gateways of ours with which something that targets a node goes.
    pub fn gateways_of(&self, topology: &Topology<'a>, node: Node) -> BTreeSet<OurGatewayId> {
        let all = self.destinations(topology, node).into_iter();
        all.flat_map(|destination| destination.gateways).collect()
    }

    /// Whether policies of a kind on a node go to clusters.
    pub fn syncs(&self, topology: &Topology<'a>, kind: KindId, node: Node) -> bool {
        let mut gateways = self.gateways_of(topology, node).into_iter();
        gateways.any(|gateway| self.kinds.syncs(gateway, kind))
    }

    /// The clusters where something that targets a node would be.
    pub fn clusters_of<'c>(
        &self,
        topology: &Topology<'a>,
        clusters: &'c Table<OurGatewayId, Arc<[String]>>,
        node: Node,
    ) -> BTreeSet<&'c str> {
        let gateways = self.gateways_of(topology, node).into_iter();
        let clusters = gateways.flat_map(|gateway| clusters.get(gateway).iter());
        clusters.map(String::as_str).collect()
    }
}

/// The policy kinds that the classes of our Gateways sync.
#[derive(Debug, Default)]
pub struct SyncedKinds {
    gateways: Table<OurGatewayId, SyncedWith>,
    ours: BTreeMap<GatewayId, OurGatewayId>,
}

/// The kinds that go with one Gateway.
#[derive(Debug)]
struct SyncedWith {
    /// The policy kinds.
    kinds: BTreeSet<KindId>,
    /// The kinds of routes and ListenerSets.
    routes: Vec<GroupKind>,
}

impl SyncedKinds {
    /// Finds our Gateways in the hierarchy, and the kinds of their classes among those of the input.
    pub fn new(attachments: &Attachments<'_>, ours: &Ours<'_>) -> Self {
        let mut in_hierarchy = BTreeMap::new();
        let gateways = ours.gateways.map(|(id, known)| {
            let object = known.gateway.object;
            let topology = &attachments.topology;
            let Some(gateway) = topology.find_gateway(object.namespace_or_empty(), &object.name) else {
                broken(format_args!("{} is not in the hierarchy", object.identity()))
            };
            in_hierarchy.insert(gateway, id);
            let params = &known.params;
            let kinds = attachments.kinds.iter();
            let synced = kinds.filter(|(_, kind)| {
                let Profile { group, kind, .. } = kind.profile.as_ref();
                params.synced_policy(group, kind).is_some()
            });
            let routes = params.resources_to_sync.iter();
            SyncedWith {
                kinds: synced.map(|(id, _)| id).collect(),
                routes: routes.map(SyncedResource::group_kind).collect(),
            }
        });
        Self {
            gateways,
            ours: in_hierarchy,
        }
    }

    /// The Gateway of ours that one of the hierarchy is.
    pub fn gateway(&self, gateway: GatewayId) -> Option<OurGatewayId> {
        self.ours.get(&gateway).copied()
    }

    /// Whether policies of a kind go with a Gateway.
    pub(crate) fn syncs(&self, gateway: OurGatewayId, kind: KindId) -> bool {
        self.gateways.get(gateway).kinds.contains(&kind)
    }

    /// Whether a route or a ListenerSet goes with a Gateway that it is attached to.
    pub(crate) fn syncs_route(&self, gateway: OurGatewayId, route: &Object) -> bool {
        let mut kinds = self.gateways.get(gateway).routes.iter();
        kinds.any(|kind| kind.group == route.api_version.group && kind.kind == route.kind)
    }

    /// Whether routes of the kind of this one go with any.
    pub(super) fn syncs_kind_of(&self, route: &Object) -> bool {
        let mut gateways = self.gateways.iter();
        gateways.any(|(gateway, _)| self.syncs_route(gateway, route))
    }

    /// The Gateways that policies of a kind go with.
    pub(super) fn gateways_with(&self, kind: KindId) -> impl Iterator<Item = OurGatewayId> + '_ {
        let gateways = self.gateways.iter();
        let gateways = gateways.filter(move |(_, with)| with.kinds.contains(&kind));
        gateways.map(|(id, _)| id)
    }

    /// Whether policies of a kind go with any.
    pub(super) fn any(&self, kind: KindId) -> bool {
        self.gateways_with(kind).next().is_some()
    }
}

/// The chosen objects.
#[derive(Debug, Default)]
pub struct ChosenObjects<'a> {
    /// Those that go anywhere, by kind, namespace, and name.
    pub(super) objects: BTreeMap<ObjectKey<'a>, ChosenObject<'a>>,
    /// By namespace of the hub: the Gateways that bring anything that keeps this namespace.
    pub(super) shipped_in: BTreeMap<&'a str, BTreeSet<OurGatewayId>>,
}

/// A chosen object, and the Gateways that it goes with.
#[derive(Debug)]
pub(super) struct ChosenObject<'a> {
    pub(super) object: &'a Object,
    /// In the downstream namespace of each.
    pub(super) with_gateways: Vec<OurGatewayId>,
    /// In its own namespace.
    pub(super) in_place: Vec<OurGatewayId>,
}

impl<'a> ChosenObjects<'a> {
    /// The chosen object that an object of the hub is, if it goes anywhere.
    pub(super) fn get<'s>(&'s self, object: &'s Object) -> Option<&'s ChosenObject<'a>> {
        self.objects.get(&object_key(object))
    }

    /// Whether an object is chosen to be in the namespace of a Gateway's copy.
    pub(super) fn goes_beside(&self, object: &Identity, gateway: OurGatewayId) -> bool {
        let GroupKind { group, kind } = &object.group_kind;
        let namespace = object.namespace.as_deref().unwrap_or_default();
        let chosen = self.objects.get(&(group, kind, namespace, &object.name));
        chosen.is_some_and(|chosen| chosen.with_gateways.contains(&gateway))
    }
}
