//! The hierarchy: GatewayClass > Namespace > Gateway > listener > Namespace > route > rule > backend > port, with numbers and
//! levels, and the [`Delegation`]s by which routes get requests from rules of other routes. Also the paths through it, and the
//! Gateways whose traffic reaches a node.

use std::collections::HashMap;
use std::sync::Arc;

use apimachinery::{GroupKind, Identity, row_ids};
use kube_json::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::route_match::RouteMatch;
use crate::api::gateway::{Admission, AdmittedNamespaces, Gateway};
use crate::api::route::{Route, is_route};
use crate::hub::Table;
use crate::object::{Object, Rank};

row_ids! {
    /// A GatewayClass.
    pub ClassId,
    /// A Namespace.
    pub NamespaceId,
    /// A Gateway. What is rendered has numbers of its own: these count every Gateway of the input, of any class.
    pub GatewayId,
    /// A ListenerSet.
    pub ListenerSetId,
    /// A listener. Within a Gateway they are in the order of its spec, then those of its ListenerSets.
    pub ListenerId,
    /// A route.
    pub RouteId,
    /// A rule of a route. Within a route they are in the order of its spec.
    pub RuleId,
    /// A route that takes what a rule of another one hands on to it.
    pub DelegationId,
    /// A backend.
    pub BackendId,
    /// A port of a backend.
    pub PortId,
}

/// A level of the hierarchy of GEP-713, least specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Level {
    /// The mesh as a whole (Istio's root namespace).
    Mesh,
    /// The GatewayClass.
    GatewayClass,
    /// The Namespace of the Gateway.
    GatewayNamespace,
    /// The Gateway.
    Gateway,
    /// A listener.
    Listener,
    /// The Service that clients inside a mesh request.
    Service,
    /// The Namespace of the route.
    RouteNamespace,
    /// The route.
    Route,
    /// A rule of the route.
    Rule,
    /// The Namespace of the backend, for kinds that apply to workloads.
    BackendNamespace,
    /// The backend: a Service, or another object that a route forwards to.
    Backend,
    /// A port of the backend.
    Port,
}

impl Level {
    /// For people: `route rule`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::GatewayClass => "GatewayClass",
            Self::GatewayNamespace => "Namespace of the Gateway",
            Self::Gateway => "Gateway",
            Self::Listener => "listener",
            Self::Service => "Service of a mesh",
            Self::RouteNamespace => "Namespace of the route",
            Self::Route => "route",
            Self::Rule => "route rule",
            Self::BackendNamespace => "Namespace of the backend",
            Self::Backend => "backend",
            Self::Port => "backend port",
        }
    }
}

/// Where traffic begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Start {
    /// At a Gateway, where it comes in.
    Gateway(GatewayId),
    /// At a Service that clients inside a mesh ask for, and that routes have as their parent
    /// (docs/systems/gateway-api.md#meshes).
    Service(BackendId),
}

impl Start {
    /// The same as a node.
    pub const fn node(self) -> Node {
        match self {
            Self::Gateway(gateway) => Node::Gateway(gateway),
            Self::Service(service) => Node::Backend(service),
        }
    }
}

/// One thing of the hierarchy. A section carries its owner, so that nodes sort by owner first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// The mesh whose root namespace this is (Istio).
    Mesh(NamespaceId),
    /// A GatewayClass.
    Class(ClassId),
    /// A Namespace.
    Namespace(NamespaceId),
    /// A Gateway.
    Gateway(GatewayId),
    /// A ListenerSet.
    ListenerSet(ListenerSetId),
    /// A listener of a Gateway, or of one of its ListenerSets.
    Listener(GatewayId, ListenerId),
    /// A route.
    Route(RouteId),
    /// A rule of a route.
    Rule(RouteId, RuleId),
    /// A backend.
    Backend(BackendId),
    /// A port of a backend.
    Port(BackendId, PortId),
}

impl Node {
    /// The route that the node is, or is a rule of.
    pub(crate) const fn route(self) -> Option<RouteId> {
        match self {
            Self::Route(route) | Self::Rule(route, _) => Some(route),
            _ => None,
        }
    }
}

/// A way from where traffic begins down to where an effective policy holds. Levels that do not matter are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// The Gateway, from which its class and Namespace follow, or the Service of a mesh.
    pub start: Start,
    /// The listener.
    pub listener: Option<ListenerId>,
    /// How the route comes by its requests, if rules of other routes hand them on to it.
    pub via: Option<DelegationId>,
    /// The route.
    pub route: Option<RouteId>,
    /// The rule of the route.
    pub rule: Option<RuleId>,
    /// The backend.
    pub backend: Option<BackendId>,
    /// The port of the backend.
    pub port: Option<PortId>,
}

impl Path {
    /// The path that ends where it begins.
    pub const fn from(start: Start) -> Self {
        Self {
            start,
            listener: None,
            via: None,
            route: None,
            rule: None,
            backend: None,
            port: None,
        }
    }

    /// The level where the path ends.
    pub const fn end(&self) -> Level {
        if self.port.is_some() {
            Level::Port
        } else if self.backend.is_some() {
            Level::Backend
        } else if self.rule.is_some() {
            Level::Rule
        } else if self.route.is_some() {
            Level::Route
        } else if self.listener.is_some() {
            Level::Listener
        } else {
            match self.start {
                Start::Gateway(_) => Level::Gateway,
                Start::Service(_) => Level::Service,
            }
        }
    }

    /// The Gateway that it begins at.
    pub const fn gateway(&self) -> Option<GatewayId> {
        match self.start {
            Start::Gateway(gateway) => Some(gateway),
            Start::Service(_) => None,
        }
    }
}

/// The label by which any Namespace can be selected by its name.
pub(crate) const NAMESPACE_NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// A GatewayClass that some Gateway or policy names.
#[derive(Debug, Clone, Default)]
pub struct ClassNode<'a> {
    /// Its name.
    pub name: &'a str,
    /// The object, when it is in the input.
    pub object: Option<&'a Object>,
    /// Its Gateways, sorted.
    pub gateways: Vec<GatewayId>,
}

/// A namespace that some object lives in.
#[derive(Debug, Clone, Default)]
pub struct NamespaceNode<'a> {
    /// Its name.
    pub name: &'a str,
    /// The Namespace, when it is in the input: of a cluster, as it is shipped, then the cluster's own.
    pub objects: Vec<&'a Object>,
    /// Of a cluster, the Namespace of the hub: what another tool delivers is assumed to find its labels, unless the
    /// cluster has a Namespace of its own.
    pub on_hub: Option<&'a Object>,
    /// Gateways that live in it or that routes of it are attached to, sorted.
    pub gateways: Vec<GatewayId>,
    /// Services of a mesh that live in it or that routes of it have as parents, sorted.
    pub services: Vec<BackendId>,
}

/// A listener.
#[derive(Debug, Clone)]
pub struct ListenerNode<'a> {
    /// Its name.
    pub name: &'a str,
    /// The Gateway or the ListenerSet that has it.
    pub owner: &'a Object,
    /// The ListenerSet that it comes from.
    pub set: Option<ListenerSetId>,
    /// The listener of its Gateway, or of an earlier ListenerSet, in whose favor it takes nothing.
    pub gives_way_to: Option<ListenerId>,
    /// Where it is in its owner.
    pub pointer: &'a str,
    /// Its hostname as written; none is any.
    pub hostname: Option<&'a str>,
    /// Its port; none is one that its implementation chooses.
    pub port: Option<i64>,
    /// Its protocol.
    pub protocol: &'a str,
    /// Whether TLS ends behind it, so that it sees no request.
    pub(crate) passes_through: bool,
    /// The routes that it accepts.
    pub(crate) admission: &'a Admission,
}

/// A ListenerSet that is attached to a Gateway.
#[derive(Debug, Clone, Copy)]
pub struct ListenerSetNode<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its Gateway.
    pub gateway: GatewayId,
    /// Whether it is a set of the hub that is not synced, and that another tool is assumed to deliver.
    pub assumed: bool,
    /// Whether it lives on the cluster that is looked at, and does not come from the hub.
    pub local: bool,
}

/// Why a ListenerSet is attached to no Gateway.
#[derive(Debug, Clone)]
pub(crate) enum Detached<'a> {
    /// Its parent is something else.
    NoGateway,
    /// Its Gateway is there and cannot be read, which is reported there.
    Unread(&'a Object),
    /// Its Gateway, `namespace/name`, is not in the input.
    NotFound(String),
    /// Its Gateway takes no ListenerSet of its namespace.
    NotAllowed(GatewayId),
}

/// A Gateway.
#[derive(Debug, Clone)]
pub struct GatewayNode<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its class.
    pub class: ClassId,
    /// Its namespace.
    pub namespace: NamespaceId,
    /// Its listeners in the order of the spec, then those of its ListenerSets, the first set first.
    pub listeners: Vec<ListenerId>,
    /// Which namespaces it takes ListenerSets from.
    pub(crate) allowed_listeners: &'a AdmittedNamespaces,
    /// Whether routes that request default Gateways are attached to it.
    pub is_default: bool,
    /// Which listener takes which route, sorted.
    pub attached: Vec<(ListenerId, RouteId)>,
    /// The Gateway of the hub that it was made from, where a cluster is looked at.
    pub original: Option<&'a Object>,
    /// Whether it lives on the cluster that is looked at, and does not come from the hub.
    pub local: bool,
}

impl<'a> GatewayNode<'a> {
    /// The class of the Gateway on the hub, where a cluster is looked at and the Gateway was synced.
    pub fn original_class(&self) -> Option<&'a str> {
        Some(&Gateway::new(self.original?)?.view().class_name)
    }

    /// The object whose name it is known by: the hub's, if it comes from there.
    pub fn known_as(&self) -> &'a Object {
        self.original.unwrap_or(self.object)
    }

    /// Its namespace as a route or a ListenerSet sees it. It is unknown how one that is not synced reaches the clusters:
    /// it is attached there to what it is attached to here.
    pub(super) fn home(&self, assumed: bool) -> &'a str {
        let seen = if assumed { self.known_as() } else { self.object };
        seen.namespace_or_empty()
    }
}

/// An object, and the part of it whose findings explain something else.
pub(super) type Cause<'a> = (&'a Object, &'static str);

/// A route.
#[derive(Debug, Clone)]
pub struct RouteNode<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its parents and hostnames.
    pub route: Route<'a>,
    /// Its namespace.
    pub namespace: NamespaceId,
    /// Its rules, in their order.
    pub rules: Vec<RuleId>,
    /// Gateways that it is attached to, or that what hands requests on to it is attached to, sorted.
    pub gateways: Vec<GatewayId>,
    /// Services of a mesh that are its parents, sorted.
    pub services: Vec<BackendId>,
    /// Where it is attached to nothing: the places at which it may be said why.
    pub(super) refused_at: Vec<Cause<'a>>,
    /// Whether it is a route of the hub that is not synced, and that another tool is assumed to deliver.
    pub assumed: bool,
    /// Which of two routes that match the same requests wins.
    pub(crate) rank: Rank,
}

/// A rule of a route.
#[derive(Debug, Clone)]
pub struct RuleNode {
    /// Its own name, or `rule-<1-based index>`.
    pub name: Text,
    /// Backends, each once, in their order.
    pub backends: Vec<BackendId>,
}

/// A backend.
#[derive(Debug, Clone)]
pub struct BackendNode<'a> {
    /// Its name.
    pub(crate) name: Arc<Identity>,
    /// The object, when it is in the input.
    pub object: Option<&'a Object>,
    /// Its ports.
    pub ports: Box<[PortId]>,
    /// Routes that forward to it, sorted.
    pub routes: Vec<RouteId>,
    /// Routes whose parent it is, sorted.
    pub meshed: Vec<RouteId>,
}

/// Whose listeners: a Gateway's own, or those of one of its ListenerSets.
pub(super) type Owner = (GatewayId, Option<ListenerSetId>);

/// Listeners of one owner: in their order, and by name.
#[derive(Debug, Default)]
pub(super) struct Owned<'a> {
    pub(super) all: Vec<ListenerId>,
    pub(super) named: HashMap<&'a str, ListenerId>,
}

/// Group, kind, namespace and name.
pub(crate) type ObjectKey<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The key of an object.
pub(crate) fn object_key(object: &Object) -> ObjectKey<'_> {
    let (group, kind) = (object.api_version.group.as_str(), object.kind.as_str());
    (group, kind, object.namespace_or_empty(), &object.name)
}

/// The hierarchy, with indexes.
#[derive(Debug, Default)]
pub struct Topology<'a> {
    /// GatewayClasses.
    pub classes: Table<ClassId, ClassNode<'a>>,
    /// Namespaces.
    pub namespaces: Table<NamespaceId, NamespaceNode<'a>>,
    /// Gateways, by namespace and name.
    pub gateways: Table<GatewayId, GatewayNode<'a>>,
    /// ListenerSets.
    pub listener_sets: Table<ListenerSetId, ListenerSetNode<'a>>,
    /// Listeners of all Gateways.
    pub listeners: Table<ListenerId, ListenerNode<'a>>,
    /// Routes of all kinds, by kind, namespace and name.
    pub routes: Table<RouteId, RouteNode<'a>>,
    /// Rules of all routes.
    pub rules: Table<RuleId, RuleNode>,
    /// Backends that a route or a policy names.
    pub backends: Table<BackendId, BackendNode<'a>>,
    /// Names of the ports of all backends.
    pub ports: Table<PortId, String>,
    pub(super) class_ids: HashMap<&'a str, ClassId>,
    pub(super) namespace_ids: HashMap<&'a str, NamespaceId>,
    pub(super) gateway_ids: HashMap<(&'a str, &'a str), GatewayId>,
    /// By kind, namespace and name.
    pub(super) set_ids: HashMap<(&'a str, &'a str, &'a str), ListenerSetId>,
    /// The ListenerSets that are attached to no Gateway, and why.
    pub(super) detached: HashMap<Identity, (&'a Object, Detached<'a>)>,
    pub(super) route_ids: HashMap<ObjectKey<'a>, RouteId>,
    /// Route kinds besides those of Gateway API.
    pub(super) more_routes: Vec<GroupKind>,
    /// The delegations from rules to other routes.
    pub(crate) delegations: Delegations<'a>,
    /// The listeners of each Gateway's own and of each of its ListenerSets.
    pub(super) owned: HashMap<Owner, Owned<'a>>,
    /// Whether routes name more listeners than are looked at: then none has parents.
    pub(super) is_too_wide: bool,
    pub(super) backend_ids: HashMap<Arc<Identity>, BackendId>,
}

impl<'a> Topology<'a> {
    /// The Gateway of this namespace and name.
    pub(crate) fn find_gateway(&self, namespace: &str, name: &str) -> Option<GatewayId> {
        self.gateway_ids.get(&(namespace, name)).copied()
    }

    /// Whether this group and kind is a route: one of Gateway API's, or one of the parameters'.
    pub fn is_route(&self, group: &str, kind: &str) -> bool {
        let is_more = |more: &GroupKind| more.group == group && more.kind == kind;
        is_route(group, kind) || self.more_routes.iter().any(is_more)
    }

    /// The route of this group and kind, namespace and name.
    pub(crate) fn find_route(
        &self,
        (group, kind): (&str, &str),
        namespace: &str,
        name: &str,
    ) -> Option<RouteId> {
        self.route_ids.get(&(group, kind, namespace, name)).copied()
    }

    /// The GatewayClass of this name.
    pub(crate) fn find_class(&self, name: &str) -> Option<ClassId> {
        self.class_ids.get(name).copied()
    }

    /// The namespace of this name.
    pub(crate) fn find_namespace(&self, name: &str) -> Option<NamespaceId> {
        self.namespace_ids.get(name).copied()
    }

    /// The namespace of a backend, if anything is known of it.
    pub fn namespace_of(&self, backend: BackendId) -> Option<NamespaceId> {
        let namespace = self.backends.get(backend).name.namespace.as_deref()?;
        self.find_namespace(namespace)
    }

    /// The ListenerSet of this kind, namespace and name, if it is attached to a Gateway.
    pub(crate) fn find_listener_set(&self, kind: &str, namespace: &str, name: &str) -> Option<ListenerSetId> {
        self.set_ids.get(&(kind, namespace, name)).copied()
    }

    /// The backend of this identity, if a route or a policy named it.
    pub(crate) fn find_backend(&self, identity: &Identity) -> Option<BackendId> {
        self.backend_ids.get(identity).copied()
    }

    /// A label of a Namespace of the input, or its name under the key that every Namespace has.
    pub(crate) fn namespace_label(&self, namespace: &str, key: &str) -> Option<&'a str> {
        self.namespace_label_of(false, namespace, key)
    }

    /// The same as an object of the namespace finds it that is `assumed` to be delivered by another tool.
    pub(super) fn namespace_label_of(&self, assumed: bool, namespace: &str, key: &str) -> Option<&'a str> {
        let node = self.namespaces.get(self.find_namespace(namespace)?);
        let on_hub = node.on_hub.filter(|_| assumed && node.objects.is_empty());
        let mut labels = node
            .objects
            .iter()
            .copied()
            .chain(on_hub)
            .filter_map(|object| object.label(key));
        labels
            .next()
            .or_else(|| (key == NAMESPACE_NAME_LABEL).then_some(node.name))
    }
}

/// A route that gets requests from a rule of another one. A route that gets requests in several ways has one for each:
/// which requests it matches, and which policies it inherits, depends on the way.
#[derive(Debug, Clone)]
pub struct Delegation<'a> {
    /// How the rule that hands them on comes by the requests; `None`: from a listener.
    pub(crate) above: Option<DelegationId>,
    /// That rule.
    pub from: (RouteId, RuleId),
    /// The route that takes them.
    pub child: RouteId,
    /// Its rules that take any, each with its matches on this way.
    pub(crate) rules: Vec<(RuleId, Vec<RouteMatch<'a>>)>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Delegations<'a> {
    /// In the order in which they were found: what is above one is before it.
    pub(crate) all: Table<DelegationId, Delegation<'a>>,
    delegations_from: HashMap<(Option<DelegationId>, RuleId), Vec<DelegationId>>,
}

impl<'a> Delegations<'a> {
    pub(super) fn add(&mut self, delegation: Delegation<'a>) -> DelegationId {
        let from = (delegation.above, delegation.from.1);
        let id = self.all.push(delegation);
        self.delegations_from.entry(from).or_default().push(id);
        id
    }
}

impl Topology<'_> {
    /// The nodes of a path from its start on.
    pub fn nodes(&self, path: &Path) -> Vec<Node> {
        let mut nodes = vec![path.start.node()];
        nodes.extend(
            path.gateway()
                .zip(path.listener)
                .map(|(gateway, listener)| Node::Listener(gateway, listener)),
        );
        for delegation in self.chain(path.via) {
            let (route, rule) = delegation.from;
            nodes.extend([Node::Route(route), Node::Rule(route, rule)]);
        }
        if let Some(route) = path.route {
            nodes.push(Node::Route(route));
            nodes.extend(path.rule.map(|rule| Node::Rule(route, rule)));
        }
        if let Some(backend) = path.backend {
            nodes.push(Node::Backend(backend));
            nodes.extend(path.port.map(|port| Node::Port(backend, port)));
        }
        nodes
    }

    /// The nodes of a path, each with its level.
    pub fn levels(&self, path: &Path) -> Vec<(Level, Node)> {
        let nodes = self.nodes(path).into_iter().enumerate();
        nodes
            .map(|(position, node)| {
                let level = match node {
                    // At the start of a path, it is the Service that clients in the mesh call, not what a rule forwards
                    // to.
                    Node::Backend(_) if position == 0 => Level::Service,
                    Node::Mesh(_) => Level::Mesh,
                    Node::Class(_) => Level::GatewayClass,
                    Node::Namespace(_) => Level::GatewayNamespace,
                    Node::Gateway(_) => Level::Gateway,
                    Node::ListenerSet(_) | Node::Listener(..) => Level::Listener,
                    Node::Route(_) => Level::Route,
                    Node::Rule(..) => Level::Rule,
                    Node::Backend(_) => Level::Backend,
                    Node::Port(..) => Level::Port,
                };
                (level, node)
            })
            .collect()
    }

    /// The route of a path that is attached to its listener.
    pub fn hanging(&self, path: &Path) -> Option<RouteId> {
        let first = self.chain(path.via).first().map(|delegation| delegation.from.0);
        first.or(path.route)
    }

    /// The delegations that lead to one, the outermost first.
    pub fn chain(&self, via: Option<DelegationId>) -> Vec<&Delegation<'_>> {
        let step =
            |delegation: &&Delegation<'_>| delegation.above.map(|above| self.delegations.all.get(above));
        let innermost = via.map(|via| self.delegations.all.get(via));
        let mut chain: Vec<&Delegation<'_>> = std::iter::successors(innermost, step).collect();
        chain.reverse();
        chain
    }

    /// Every route that gets requests from others, with the way on which it does.
    pub fn delegations(&self) -> impl Iterator<Item = &Delegation<'_>> {
        self.delegations.all.rows().iter()
    }

    /// The routes to which a rule hands on the requests that it gets on a way, each with its own way; none if it serves
    /// them itself.
    pub(crate) fn delegations_from(
        &self,
        via: Option<DelegationId>,
        rule: RuleId,
    ) -> impl Iterator<Item = (DelegationId, RouteId)> {
        let ways = self
            .delegations
            .delegations_from
            .get(&(via, rule))
            .into_iter()
            .flatten();
        ways.map(|way| (*way, self.delegations.all.get(*way).child))
    }

    /// The rules of a route that take anything on a way, in their order.
    pub(crate) fn rules_on(&self, via: Option<DelegationId>, route: RouteId) -> Vec<RuleId> {
        match via {
            None => self.routes.get(route).rules.clone(),
            Some(via) => {
                let rules = self.delegations.all.get(via).rules.iter();
                rules.map(|(rule, _)| *rule).collect()
            }
        }
    }

    /// The Gateways that traffic through a node comes from, sorted.
    pub fn gateways_of(&self, node: Node) -> Vec<GatewayId> {
        match node {
            Node::Gateway(gateway) | Node::Listener(gateway, _) => vec![gateway],
            Node::ListenerSet(set) => vec![self.listener_sets.get(set).gateway],
            Node::Route(route) | Node::Rule(route, _) => self.routes.get(route).gateways.clone(),
            Node::Backend(backend) | Node::Port(backend, _) => {
                let routes = self.backends.get(backend).routes.iter();
                let gateways = routes.flat_map(|route| &self.routes.get(*route).gateways);
                sorted(gateways.copied().collect())
            }
            Node::Class(class) => self.classes.get(class).gateways.clone(),
            Node::Namespace(namespace) => self.namespaces.get(namespace).gateways.clone(),
            // Policies of the root namespace are for the whole mesh, and so for every Gateway
            // (docs/systems/other-policies.md#istio).
            Node::Mesh(_) => self.gateways.ids().collect(),
        }
    }

    /// The Services of a mesh that traffic through a node comes from, sorted.
    pub(crate) fn services_of(&self, node: Node) -> Vec<BackendId> {
        match node {
            Node::Route(route) | Node::Rule(route, _) => self.routes.get(route).services.clone(),
            Node::Backend(backend) | Node::Port(backend, _) => {
                let known = self.backends.get(backend);
                let routes = known.routes.iter();
                let itself = (!known.meshed.is_empty()).then_some(backend);
                let services = routes.flat_map(|route| &self.routes.get(*route).services);
                sorted(services.copied().chain(itself).collect())
            }
            Node::Namespace(namespace) => self.namespaces.get(namespace).services.clone(),
            Node::Mesh(_) => self.mesh_services().collect(),
            Node::Class(_) | Node::Gateway(_) | Node::ListenerSet(_) | Node::Listener(..) => Vec::new(),
        }
    }

    /// The routes that get traffic where it begins, below a Gateway once for each of its listeners.
    pub fn attached(&self, start: Start) -> Vec<(Option<ListenerId>, RouteId)> {
        match start {
            Start::Gateway(gateway) => {
                let attached = self.gateways.get(gateway).attached.iter();
                attached
                    .map(|(listener, route)| (Some(*listener), *route))
                    .collect()
            }
            Start::Service(service) => {
                let meshed = self.backends.get(service).meshed.iter();
                meshed.map(|route| (None, *route)).collect()
            }
        }
    }

    /// Every Service that is the parent of a route.
    pub fn mesh_services(&self) -> impl Iterator<Item = BackendId> {
        let services = self
            .backends
            .iter()
            .filter(|(_, service)| !service.meshed.is_empty());
        services.map(|(id, _)| id)
    }

    /// Where the traffic through a node begins.
    pub fn starts_of(&self, node: Node) -> Vec<Start> {
        let gateways = self.gateways_of(node).into_iter().map(Start::Gateway);
        let services = self.services_of(node).into_iter().map(Start::Service);
        gateways.chain(services).collect()
    }

    /// Every place where traffic begins: the Gateways, then the Services of a mesh.
    pub fn starts(&self) -> impl Iterator<Item = Start> {
        let gateways = self.gateways.ids().map(Start::Gateway);
        gateways.chain(self.mesh_services().map(Start::Service))
    }
}

/// The same numbers, sorted, each once.
pub(super) fn sorted<I: Copy + Ord>(mut ids: Vec<I>) -> Vec<I> {
    ids.sort_unstable();
    ids.dedup();
    ids.shrink_to_fit();
    ids
}
