//! The nodes and edges of everything that is attached, from evaluated policies, in the order of the topology,
//! and the state of a policy in one word.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use indexmap::IndexMap;

use super::PolicyView;
use crate::diagnostic::first_names;
use crate::hub::Table;
use crate::object::Object;
use crate::policy::{Attachments, Everywhere, Outcome, PolicyId, accepted};
use crate::topology::{GatewayId, Node, RouteId};
use apimachinery::Identity;

/// At most so many clusters are named where a policy loses to local ones.
const MOST_CLUSTERS: usize = 3;

/// What a node is, from the top of the hierarchy down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// A GatewayClass.
    Class,
    /// A Namespace, or the mesh of one.
    Namespace,
    /// A Gateway.
    Gateway,
    /// A ListenerSet.
    ListenerSet,
    /// A listener.
    Listener,
    /// A route.
    Route,
    /// A backend, or a Service of a mesh.
    Backend,
    /// A policy.
    Policy,
    /// A cluster.
    Cluster,
}

/// How a node is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As its part of the hierarchy is.
    Plain,
    /// Of another controller's class: it is not rendered.
    Aside,
    /// A policy all of which holds.
    Holds,
    /// A policy some of which lost somewhere.
    Partial,
    /// A policy nothing of which holds.
    Overridden,
    /// A policy that is not accepted.
    Refused,
    /// A policy whose kind the class does not sync.
    NotSynced,
    /// A policy that is on no path.
    NoPath,
}

/// From one node to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The position of the first node.
    pub from: usize,
    /// The position of the second one.
    pub to: usize,
    /// Its meaning.
    pub link: Link,
    /// The section that a policy targets, where it is no node of its own.
    pub label: Option<String>,
}

/// What an edge means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// The second is attached to the first, or goes there.
    Leads,
    /// The policy is attached there.
    Targets,
}

/// A node: one thing, or several that are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vertex {
    /// What it is.
    pub part: Layer,
    /// The kind in words: `HTTPRoute`, `listener`, `cluster`.
    pub kind: String,
    /// `namespace/name` of each thing that it stands for.
    pub names: Vec<String>,
    /// How it is colored.
    pub state: State,
    /// A second line: the state in words.
    pub note: String,
}

impl Vertex {
    /// One thing.
    pub fn new(part: Layer, kind: &str, name: impl Into<String>) -> Self {
        Self {
            part,
            kind: kind.to_owned(),
            names: vec![name.into()],
            state: State::Plain,
            note: String::new(),
        }
    }
}

/// What is drawn of a view, while it is put together.
#[derive(Debug)]
pub struct AttachmentGraph<'b, 'a> {
    view: &'b PolicyView<'a>,
    /// The objects to draw: the hub's, or those of the cluster in view.
    attachments: &'b Attachments<'b>,
    /// Which of `lists` has the clusters that are drawn of each Gateway of the topology.
    goes_to: Table<GatewayId, usize>,
    /// Each distinct list once: a thousand Gateways of one Placement share the names of its clusters.
    lists: Vec<Vec<&'b str>>,
    /// The Gateways, by `namespace/name` on the hub, that go to any cluster that is drawn.
    going: BTreeSet<String>,
    /// The objects that ClusterOverlays change, with the clusters that are drawn and get them changed.
    overlaid: BTreeMap<&'b str, BTreeSet<&'b str>>,
    vertices: Vec<Vertex>,
    edges: BTreeSet<Edge>,
    positions: HashMap<Node, usize>,
}

impl<'b, 'a> AttachmentGraph<'b, 'a> {
    /// Nothing to draw: the one cluster that is looked at gets nothing.
    pub fn new(view: &'b PolicyView<'a>, admits: &dyn Fn(&str) -> bool) -> Option<Self> {
        let mut overlaid: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for change in view.overlays.iter().filter(|change| change.is_effective()) {
            let clusters = change.clusters.iter().map(String::as_str);
            let clusters = clusters.filter(|name| admits(name));
            overlaid.entry(&change.object).or_default().extend(clusters);
        }
        let attachments = match (view.cluster, view.spokes.first()) {
            (Some(_), Some(spoke)) => &spoke.attachments,
            (Some(_), None) => return None,
            (None, _) => view.hub,
        };
        let is_drawn = |name: &&str| admits(name) && view.cluster.is_none_or(|cluster| cluster == *name);
        // One that lives on the cluster in view has a list of its own.
        let mut lists: IndexMap<Option<*const [String]>, Vec<&str>> = IndexMap::new();
        let goes_to = attachments.topology.gateways.map(|(_, gateway)| {
            let clusters = view.clusters_of(&gateway.known_as().key());
            let list = lists.entry((!gateway.local).then_some(std::ptr::from_ref(clusters)));
            let position = list.index();
            list.or_insert_with(|| {
                if gateway.local {
                    view.cluster.into_iter().collect()
                } else {
                    clusters.iter().map(String::as_str).filter(is_drawn).collect()
                }
            });
            position
        });
        let lists: Vec<Vec<&str>> = lists.into_values().collect();
        let gateways = attachments.topology.gateways.iter();
        let going =
            gateways.filter(|(id, _)| lists.get(*goes_to.get(*id)).is_some_and(|list| !list.is_empty()));
        let going = going.map(|(_, gateway)| gateway.known_as().key()).collect();
        Some(Self {
            view,
            attachments,
            goes_to,
            lists,
            going,
            overlaid,
            vertices: Vec::new(),
            edges: BTreeSet::new(),
            positions: HashMap::new(),
        })
    }

    fn clusters_of(&self, gateway: GatewayId) -> &[&'b str] {
        let list = self.lists.get(*self.goes_to.get(gateway));
        list.map(Vec::as_slice).unwrap_or_default()
    }

    /// How many edges from Gateways to clusters there are.
    #[must_use]
    pub fn drawn(&self) -> usize {
        let gateways = self.goes_to.ids();
        let edges = gateways.map(|gateway| self.clusters_of(gateway).len());
        edges.fold(0, usize::saturating_add)
    }

    /// The nodes, and the edges, sorted, each once. `counted`: clusters that receive the same Gateways are one node.
    #[must_use]
    pub fn build(mut self, counted: bool) -> (Vec<Vertex>, Vec<Edge>) {
        self.hierarchy();
        self.services();
        self.delegations();
        self.policies();
        self.overlays();
        self.clusters(counted);
        (self.vertices, self.edges.into_iter().collect())
    }
}

impl AttachmentGraph<'_, '_> {
    fn add(&mut self, vertex: Vertex) -> usize {
        self.vertices.push(vertex);
        self.vertices.len().saturating_sub(1)
    }

    fn link(&mut self, from: usize, to: usize, link: Link, label: Option<String>) {
        self.edges.insert(Edge {
            from,
            to,
            link,
            label,
        });
    }

    fn node(&mut self, node: Node, vertex: Vertex) -> usize {
        let position = self.add(vertex);
        self.positions.insert(node, position);
        position
    }

    fn backend(&mut self, node: Node) -> usize {
        let identity = self.attachments.topology.identity(node);
        let kind = &identity.group_kind.kind;
        self.node(node, Vertex::new(Layer::Backend, kind, identity.key()))
    }

    /// Draws a node below another one, if that is drawn.
    fn below(&mut self, owner: Node, node: Node, vertex: Vertex) {
        if self.positions.contains_key(&owner) {
            self.node(node, vertex);
            self.lead(owner, node);
        }
    }

    /// Draws an edge between two nodes that are both drawn.
    fn lead(&mut self, from: Node, to: Node) {
        if let Some((from, to)) = self.positions.get(&from).zip(self.positions.get(&to)) {
            self.link(*from, *to, Link::Leads, None);
        }
    }

    /// Classes, Gateways, listeners, routes.
    fn hierarchy(&mut self) {
        let view = self.view;
        let topology = &self.attachments.topology;
        let whole = view.cluster.is_none();
        let shown = topology.gateways.iter().filter(|(id, gateway)| {
            let nowhere = view.clusters_of(&gateway.known_as().key()).is_empty();
            gateway.local || !self.clusters_of(*id).is_empty() || (whole && nowhere)
        });
        let shown: BTreeSet<GatewayId> = shown.map(|(id, _)| id).collect();
        for (class, known) in topology.classes.iter() {
            let is_used = known.gateways.iter().any(|gateway| shown.contains(gateway));
            if is_used || (whole && known.gateways.is_empty()) {
                let mut gateways = known
                    .gateways
                    .iter()
                    .map(|gateway| topology.gateways.get(*gateway));
                let on_hub = gateways.find_map(|gateway| gateway.original_class());
                let vertex = Vertex::new(Layer::Class, "GatewayClass", on_hub.unwrap_or(known.name));
                self.node(Node::Class(class), vertex);
            }
        }
        for (gateway, known) in topology.gateways.iter().filter(|(id, _)| shown.contains(id)) {
            let key = known.known_as().key();
            let mut vertex = Vertex::new(Layer::Gateway, "Gateway", key.clone());
            if known.local {
                "lives on the cluster".clone_into(&mut vertex.note);
            } else if whole && view.routes.kinds.gateway(gateway).is_none() {
                vertex.state = State::Aside;
                "not rendered".clone_into(&mut vertex.note);
            } else if view.clusters_of(&key).is_empty() {
                "on no cluster".clone_into(&mut vertex.note);
            }
            self.node(Node::Gateway(gateway), vertex);
            self.lead(Node::Class(known.class), Node::Gateway(gateway));
        }
        for (set, known) in topology.listener_sets.iter() {
            let vertex = Vertex::new(Layer::ListenerSet, &known.object.kind, known.object.key());
            self.below(Node::Gateway(known.gateway), Node::ListenerSet(set), vertex);
        }
        for (gateway, known) in topology.gateways.iter() {
            for listener in &known.listeners {
                let its = topology.listeners.get(*listener);
                let owner = its.set.map_or(Node::Gateway(gateway), Node::ListenerSet);
                let vertex = Vertex::new(Layer::Listener, "listener", its.name);
                self.below(owner, Node::Listener(gateway, *listener), vertex);
            }
        }
        for (route, known) in topology.routes.iter() {
            let hangs = known.gateways.iter().any(|gateway| shown.contains(gateway));
            if hangs || (whole && known.gateways.is_empty()) {
                let mut vertex = Vertex::new(Layer::Route, &known.object.kind, known.object.key());
                if self.is_shipped(route) {
                    "shipped".clone_into(&mut vertex.note);
                }
                self.node(Node::Route(route), vertex);
            }
        }
        for (gateway, known) in topology.gateways.iter() {
            for (listener, route) in &known.attached {
                self.lead(Node::Listener(gateway, *listener), Node::Route(*route));
            }
        }
    }

    /// Routes that hand requests on to others.
    fn delegations(&mut self) {
        let topology = &self.attachments.topology;
        for delegation in topology.delegations() {
            self.lead(Node::Route(delegation.from.0), Node::Route(delegation.child));
        }
    }

    /// The Services of a mesh that are parents of the routes that are drawn.
    fn services(&mut self) {
        let topology = &self.attachments.topology;
        for service in topology.mesh_services() {
            let known = topology.backends.get(service);
            let is_drawn = |route: &RouteId| self.positions.contains_key(&Node::Route(*route));
            if !known.meshed.iter().any(is_drawn) {
                continue;
            }
            let node = Node::Backend(service);
            self.backend(node);
            for route in &known.meshed {
                self.lead(node, Node::Route(*route));
            }
            for route in &known.routes {
                self.lead(Node::Route(*route), node);
            }
        }
    }

    /// Whether a route is shipped to any cluster that is drawn.
    fn is_shipped(&self, route: RouteId) -> bool {
        let identity = self.attachments.topology.identity(Node::Route(route));
        let on_hub = self.view.hub.topology.find(&identity).into_iter();
        let mut shipped = on_hub.filter_map(|node| match node {
            Node::Route(route) => self.view.routes.get(route),
            _ => None,
        });
        shipped.any(|route| {
            let gateways = &self.view.hub.topology.gateways;
            let mut parents = route.parents.iter();
            parents.any(|parent| self.going.contains(&gateways.get(parent.node).object.key()))
        })
    }

    /// Policies, and the namespaces and backends that some are attached to.
    fn policies(&mut self) {
        let whole = self.view.cluster.is_none();
        let mut drawn: BTreeSet<String> = BTreeSet::new();
        for (id, policy) in self.attachments.policies.iter() {
            for (_, authored) in policy.authors(id) {
                let nodes: Vec<Node> = policy.nodes().into_iter().collect();
                let state = self.state((self.attachments, id), &authored.locator);
                drawn.insert(authored.locator.to_string());
                self.policy(authored.object, &nodes, state, whole || policy.local);
            }
        }
        // A policy that is withheld from the cluster is not an object there.
        let Some(there) = self.view.seen().last().filter(|_| !whole) else {
            return;
        };
        let hub = self.view.hub;
        for (id, policy) in hub.policies.iter() {
            let locator = policy.locator();
            if self.view.fates.of(&locator).is_some() && !drawn.contains(locator.as_ref()) {
                let nodes = policy.nodes().into_iter();
                let nodes: Vec<Node> = nodes.flat_map(|node| there.find(hub, node)).collect();
                let state = self.state((hub, id), &locator);
                self.policy(policy.object, &nodes, state, false);
            }
        }
    }

    fn policy(
        &mut self,
        object: &Object,
        nodes: &[Node],
        (state, note): (State, String),
        even_without_target: bool,
    ) {
        let targets: Vec<(usize, Option<String>)> =
            nodes.iter().filter_map(|node| self.target(*node)).collect();
        if targets.is_empty() && !(nodes.is_empty() && even_without_target) {
            return;
        }
        let position = self.add(Vertex {
            state,
            note,
            ..Vertex::new(Layer::Policy, &object.kind, object.key())
        });
        self.note_overlays(&object.identity(), position);
        for (target, section) in targets {
            self.link(position, target, Link::Targets, section);
        }
    }

    /// Notes where ClusterOverlays change Gateways, ListenerSets, and routes.
    fn overlays(&mut self) {
        let drawn: Vec<(Node, usize)> = self.positions.iter().map(|(node, at)| (*node, *at)).collect();
        let is_object =
            |node: &Node| matches!(node, Node::Gateway(_) | Node::ListenerSet(_) | Node::Route(_));
        for (node, position) in drawn.into_iter().filter(|(node, _)| is_object(node)) {
            self.note_overlays(&self.attachments.topology.identity(node), position);
        }
    }

    fn note_overlays(&mut self, object: &Identity, position: usize) {
        let clusters = self.overlaid.get(&*object.locator());
        let clusters = clusters.filter(|clusters| !clusters.is_empty());
        if let Some((clusters, vertex)) = clusters.zip(self.vertices.get_mut(position)) {
            let changed = format!("changed on {}", first_names(clusters, MOST_CLUSTERS));
            vertex.note = match vertex.note.as_str() {
                "" => changed,
                note => format!("{note}, {changed}"),
            };
        }
    }

    /// The node that a policy's edge leads to, and the section that is not a node; `None` if it is not drawn.
    fn target(&mut self, node: Node) -> Option<(usize, Option<String>)> {
        let topology = &self.attachments.topology;
        let (drawn, section) = match node {
            Node::Rule(route, _) => (Node::Route(route), topology.section(node)),
            Node::Port(backend, _) => (Node::Backend(backend), topology.section(node)),
            other => (other, None),
        };
        let position = match self.positions.get(&drawn) {
            Some(position) => *position,
            None => self.on_demand(drawn)?,
        };
        Some((position, section.map(str::to_owned)))
    }

    /// Namespaces and backends are drawn only where a policy is on them: else they would hide the rest.
    fn on_demand(&mut self, node: Node) -> Option<usize> {
        let topology = &self.attachments.topology;
        let whole = self.view.cluster.is_none();
        let gateways = topology.gateways_of(node);
        let is_drawn = |gateway: &GatewayId| self.positions.contains_key(&Node::Gateway(*gateway));
        let is_loose = whole && gateways.is_empty();
        if !is_loose && !gateways.iter().any(is_drawn) {
            return None;
        }
        match node {
            Node::Mesh(_) => {
                let identity = topology.identity(node);
                Some(self.node(node, Vertex::new(Layer::Namespace, "mesh of", identity.name)))
            }
            Node::Namespace(namespace) => {
                let identity = topology.identity(node);
                let position = self.node(node, Vertex::new(Layer::Namespace, "Namespace", identity.name));
                let gateways = topology.gateways.iter();
                for (gateway, _) in gateways.filter(|(_, known)| known.namespace == namespace) {
                    self.lead(node, Node::Gateway(gateway));
                }
                let routes = topology.routes.iter();
                for (route, _) in routes.filter(|(_, known)| known.namespace == namespace) {
                    self.lead(node, Node::Route(route));
                }
                Some(position)
            }
            Node::Backend(backend) => {
                let position = self.backend(node);
                for route in &topology.backends.get(backend).routes {
                    self.lead(Node::Route(*route), node);
                }
                Some(position)
            }
            _ => None,
        }
    }

    /// The fate of a policy: a color, and a text.
    fn state(&self, (attachments, id): (&Attachments<'_>, PolicyId), locator: &str) -> (State, String) {
        let accepted = accepted(attachments, id, None);
        if !accepted.is_true() {
            return match accepted.reason.as_str() {
                "Conflicted" => (State::Refused, "conflicted".to_owned()),
                reason => (State::Refused, format!("not accepted: {reason}")),
            };
        }
        let everywhere = self.view.fates.of(locator);
        if everywhere.is_none() && self.leads_to_clusters(attachments, id) {
            return (State::NotSynced, "not synced".to_owned());
        }
        let common = everywhere.and_then(|everywhere| everywhere.common());
        let outcome = common.map_or(Outcome::NoPath, |(outcome, _)| outcome);
        let there = everywhere.map(losing).unwrap_or_default();
        let word = attachments.profile(id).status.outcome().unwrap_or("in effect");
        match outcome {
            Outcome::Whole if there.is_empty() => (State::Holds, word.to_owned()),
            Outcome::Whole => (State::Partial, format!("{word}, but not as a whole on {there}")),
            Outcome::Partial => (State::Partial, format!("partly {word}")),
            Outcome::Overridden => (State::Overridden, "overridden".to_owned()),
            Outcome::NoPath => (State::NoPath, "on no path".to_owned()),
        }
    }

    /// Whether a policy is on Gateways that go to clusters.
    fn leads_to_clusters(&self, attachments: &Attachments<'_>, id: PolicyId) -> bool {
        let topology = &attachments.topology;
        let nodes = attachments.policy(id).nodes().into_iter();
        let mut gateways = nodes.flat_map(|node| topology.gateways_of(node));
        gateways.any(|gateway| {
            let gateway = topology.gateways.get(gateway).known_as();
            !self.view.clusters_of(&gateway.key()).is_empty()
        })
    }

    /// Clusters, and which Gateways go there: those with the same ones together, where they are `counted`.
    fn clusters(&mut self, counted: bool) {
        let mut gateways: Vec<Vec<usize>> = vec![Vec::new(); self.lists.len()];
        for (gateway, list) in self.goes_to.iter() {
            if let Some(of_list) = gateways.get_mut(*list) {
                of_list.extend(self.positions.get(&Node::Gateway(gateway)));
            }
        }
        let mut by_cluster: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        if let Some(cluster) = self.view.cluster {
            by_cluster.entry(cluster).or_default();
        }
        for (number, (list, gateways)) in self.lists.iter().zip(&gateways).enumerate() {
            for cluster in list.iter().filter(|_| !gateways.is_empty()) {
                by_cluster.entry(cluster).or_default().push(number);
            }
        }
        // A Gateway is in one list, so clusters in the same lists receive the same Gateways.
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        for (cluster, lists) in by_cluster {
            let alike = known.get(&lists).filter(|_| counted);
            if let Some(vertex) = alike.and_then(|position| self.vertices.get_mut(*position)) {
                vertex.names.push(cluster.to_owned());
                continue;
            }
            let to = self.add(Vertex::new(Layer::Cluster, "cluster", cluster));
            for from in lists.iter().filter_map(|list| gateways.get(*list)).flatten() {
                self.link(*from, to, Link::Leads, None);
            }
            known.insert(lists, to);
        }
    }
}

/// The clusters where others override something of a policy that applies elsewhere.
fn losing(everywhere: &Everywhere<'_>) -> String {
    let exceptions = everywhere.exceptions(false);
    let lost = exceptions.iter().filter(|(_, tally)| tally.lost);
    let names = lost.flat_map(|(clusters, _)| clusters.iter().map(AsRef::as_ref));
    let names: BTreeSet<&str> = names.collect();
    if names.len() > MOST_CLUSTERS {
        format!("{} clusters", names.len())
    } else {
        names.into_iter().collect::<Vec<_>>().join(", ")
    }
}
