//! Names of the things in the hierarchy, of their sections (listeners, rules, ports), and what a reference by group, kind,
//! namespace, name, and section leads to.

use std::collections::BTreeSet;

use apimachinery::Identity;

use super::hierarchy::{GatewayId, ListenerId, Node, Owner, Path, Topology};
use crate::api::gateway::{GROUP, is_listener_set};
use crate::object::Object;

/// Where a reference leads, as far as the hierarchy's own levels go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Located {
    /// Here.
    Node(Node),
    /// It would be a GatewayClass, Namespace, Gateway, ListenerSet or route, and there is none.
    Missing,
    /// It is another kind: a backend, or virtual.
    Elsewhere,
}

impl Located {
    /// The node, if it is here.
    pub(crate) fn node(self) -> Option<Node> {
        match self {
            Self::Node(node) => Some(node),
            Self::Missing | Self::Elsewhere => None,
        }
    }
}

impl<'a> Topology<'a> {
    /// The object behind a node; a section's owner, `None` for what is not in the input.
    pub fn object(&self, node: Node) -> Option<&'a Object> {
        match node {
            Node::Class(class) => self.classes.get(class).object,
            Node::Mesh(namespace) | Node::Namespace(namespace) => {
                self.namespaces.get(namespace).objects.first().copied()
            }
            Node::Gateway(gateway) => Some(self.gateways.get(gateway).object),
            Node::Listener(_, listener) => Some(self.listeners.get(listener).owner),
            Node::ListenerSet(set) => Some(self.listener_sets.get(set).object),
            Node::Route(route) | Node::Rule(route, _) => Some(self.routes.get(route).object),
            Node::Backend(backend) | Node::Port(backend, _) => self.backends.get(backend).object,
        }
    }

    /// The name of a node, or of the owner of a section: the one on the hub, if it comes from there.
    pub fn identity(&self, node: Node) -> Identity {
        match node {
            // A mesh is not an object. It has the name of its root namespace.
            Node::Mesh(root) => Identity::new("istio.io", "Mesh", None, self.namespaces.get(root).name),
            Node::Class(class) => Identity::new(GROUP, "GatewayClass", None, self.classes.get(class).name),
            Node::Namespace(namespace) => {
                Identity::new("", "Namespace", None, self.namespaces.get(namespace).name)
            }
            Node::Listener(_, listener) if self.listeners.get(listener).set.is_some() => {
                self.listeners.get(listener).owner.identity()
            }
            Node::Gateway(gateway) | Node::Listener(gateway, _) => {
                self.gateways.get(gateway).known_as().identity()
            }
            Node::ListenerSet(set) => self.listener_sets.get(set).object.identity(),
            Node::Route(route) | Node::Rule(route, _) => self.routes.get(route).object.identity(),
            Node::Backend(backend) | Node::Port(backend, _) => (*self.backends.get(backend).name).clone(),
        }
    }

    /// The locator of a node.
    pub fn locator(&self, node: Node) -> String {
        let mut locator = self.identity(node).locator();
        if let Some(section) = self.section(node) {
            locator.push('#');
            locator.push_str(section);
        }
        locator
    }

    /// The locators of a path, from its GatewayClass or its Service on.
    pub fn path_locators(&self, path: &Path) -> Vec<String> {
        let class = path.gateway().map(|gateway| self.class_locator(gateway));
        class
            .into_iter()
            .chain(self.nodes(path).into_iter().map(|node| self.locator(node)))
            .collect()
    }

    /// The locator of the class of a Gateway: the one on the hub, if it comes from there.
    pub fn class_locator(&self, gateway: GatewayId) -> String {
        let gateway = self.gateways.get(gateway);
        match gateway.original_class() {
            Some(class) => Identity::new(GROUP, "GatewayClass", None, class).locator(),
            None => self.locator(Node::Class(gateway.class)),
        }
    }

    /// A path for people, from its Gateway or Service on: `Gateway shop/storefront > listener web > HTTPRoute shop/cart > rule-1`.
    pub(crate) fn path_label(&self, path: &Path) -> String {
        let parts: Vec<String> = self
            .nodes(path)
            .into_iter()
            .map(|node| self.step_label(node))
            .collect();
        parts.join(" > ")
    }

    /// The part of a path's label that a node is.
    pub fn step_label(&self, node: Node) -> String {
        match (node, self.section(node)) {
            (Node::Listener(_, listener), Some(name)) => match self.listeners.get(listener).set {
                Some(set) => format!("{} > listener {name}", self.identity(Node::ListenerSet(set))),
                None => format!("listener {name}"),
            },
            (Node::Port(..), Some(name)) => format!("port {name}"),
            (_, Some(name)) => name.to_owned(),
            (_, None) => self.identity(node).to_string(),
        }
    }

    /// A node for people: `HTTPRoute shop/cart, rule rule-1`.
    pub fn described(&self, node: Node) -> String {
        let identity = self.identity(node);
        let word = match node {
            Node::Listener(..) => "listener",
            Node::Rule(..) => "rule",
            Node::Port(..) => "port",
            _ => return identity.to_string(),
        };
        let section = self.section(node).unwrap_or_default();
        format!("{identity}, {word} {section}")
    }

    /// The things that an object of the hub or of the cluster is, by group, kind, namespace (`None` for cluster-scoped
    /// kinds) and name, or a backend of this name that a route or policy refers to: where an explanation starts. A
    /// GatewayClass of the hub is its Gateways, as they have another class on a cluster.
    pub fn find(&self, identity: &Identity) -> Vec<Node> {
        let namespace = identity.namespace.as_deref().unwrap_or_default();
        let name = identity.name.as_str();
        let kind = &identity.group_kind;
        let found = match (kind.group.as_str(), kind.kind.as_str()) {
            (GROUP, "GatewayClass") => {
                let of_class = self
                    .gateways
                    .iter()
                    .filter(|(_, gateway)| gateway.original_class() == Some(name));
                let of_class: Vec<Node> = of_class.map(|(id, _)| Node::Gateway(id)).collect();
                if !of_class.is_empty() {
                    return of_class;
                }
                self.find_class(name).map(Node::Class)
            }
            (GROUP, "Gateway") => {
                let mut gateways = self.gateways.iter();
                // On a cluster, people ask by the name on the hub, which is in another namespace.
                let found = gateways.find(|(_, gateway)| {
                    let known = gateway.known_as();
                    known.name == name && known.namespace_or_empty() == namespace
                });
                found.map(|(id, _)| Node::Gateway(id))
            }
            (group, kind) => match self.find_whole((group, kind), namespace, name) {
                Located::Node(node) => Some(node),
                Located::Missing => None,
                Located::Elsewhere => self.find_backend(identity).map(Node::Backend),
            },
        };
        found.into_iter().collect()
    }

    /// Where a reference leads. The namespace is of no weight for cluster-scoped kinds.
    pub(crate) fn locate(
        &self,
        kind: (&str, &str),
        namespace: &str,
        name: &str,
        section: Option<&str>,
    ) -> Located {
        match self.find_whole(kind, namespace, name) {
            // Neither has sections that a policy could name.
            Located::Node(Node::Class(_)) if section.is_some() => Located::Missing,
            Located::Node(Node::Namespace(namespace)) => Located::Node(Node::Namespace(namespace)),
            Located::Node(whole) => {
                let found = self.find_section(whole, section);
                found.map_or(Located::Missing, Located::Node)
            }
            located => located,
        }
    }

    /// The GatewayClass, Namespace, Gateway, ListenerSet or route of this group and kind, namespace, and name. A namespace
    /// exists when anything in the input lives in it.
    pub(crate) fn find_whole(&self, (group, kind): (&str, &str), namespace: &str, name: &str) -> Located {
        let found = match (group, kind) {
            (GROUP, "GatewayClass") => self.find_class(name).map(Node::Class),
            ("", "Namespace") => self.find_namespace(name).map(Node::Namespace),
            (GROUP, "Gateway") => self.find_gateway(namespace, name).map(Node::Gateway),
            (group, kind) if is_listener_set(group, kind) => self
                .find_listener_set(kind, namespace, name)
                .map(Node::ListenerSet),
            (group, kind) if self.is_route(group, kind) => {
                self.find_route((group, kind), namespace, name).map(Node::Route)
            }
            _ => return Located::Elsewhere,
        };
        found.map_or(Located::Missing, Located::Node)
    }

    /// The sections of a node, in their order.
    pub fn sections(&self, node: Node) -> Vec<Node> {
        match node {
            Node::Gateway(_) | Node::ListenerSet(_) => {
                let owner = self.owner(node).into_iter();
                let listeners = |owner: Owner| {
                    let own = self.listeners_of(owner, None).iter();
                    own.map(move |listener| Node::Listener(owner.0, *listener))
                };
                owner.flat_map(listeners).collect()
            }
            Node::Route(route) => {
                let rules = self.routes.get(route).rules.iter();
                rules.map(|rule| Node::Rule(route, *rule)).collect()
            }
            Node::Backend(backend) => {
                let ports = self.backends.get(backend).ports.iter();
                ports.map(|port| Node::Port(backend, *port)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The owner of the listeners that are the sections of a node.
    fn owner(&self, node: Node) -> Option<Owner> {
        match node {
            Node::Gateway(gateway) => Some((gateway, None)),
            Node::ListenerSet(set) => Some((self.listener_sets.get(set).gateway, Some(set))),
            _ => None,
        }
    }

    /// The listeners of a Gateway's own, or of one of its ListenerSets; with a `section`, the one of that name.
    pub(crate) fn listeners_of(&self, owner: Owner, section: Option<&str>) -> &[ListenerId] {
        let Some(owned) = self.owned.get(&owner) else {
            return &[];
        };
        match section {
            Some(section) => owned.named.get(section).map(std::slice::from_ref),
            None => Some(owned.all.as_slice()),
        }
        .unwrap_or_default()
    }

    /// The listeners that a Gateway with its ListenerSets, a ListenerSet, or a listener stands for.
    pub(crate) fn listeners_at(&self, node: Node) -> Vec<(GatewayId, ListenerId)> {
        let (gateway, all) = match &node {
            Node::Gateway(gateway) => (*gateway, self.gateways.get(*gateway).listeners.as_slice()),
            Node::Listener(gateway, listener) => (*gateway, std::slice::from_ref(listener)),
            Node::ListenerSet(set) => {
                let gateway = self.listener_sets.get(*set).gateway;
                (gateway, self.listeners_of((gateway, Some(*set)), None))
            }
            _ => return Vec::new(),
        };
        all.iter().map(|listener| (gateway, *listener)).collect()
    }

    /// The nodes whose policies apply at a listener, the closest first: itself, its ListenerSet, its Gateway.
    pub(crate) fn nodes_at(&self, gateway: GatewayId, listener: ListenerId) -> impl Iterator<Item = Node> {
        let set = self.listeners.get(listener).set.map(Node::ListenerSet);
        let own = std::iter::once(Node::Listener(gateway, listener));
        own.chain(set).chain([Node::Gateway(gateway)])
    }

    /// The name of the section that a node is, if it is one.
    pub fn section(&self, node: Node) -> Option<&str> {
        match node {
            Node::Listener(_, listener) => Some(self.listeners.get(listener).name),
            Node::Rule(_, rule) => Some(&self.rules.get(rule).name),
            Node::Port(_, port) => Some(self.ports.get(port)),
            _ => None,
        }
    }

    /// The section of a node by its name; without a name, the node itself.
    pub(crate) fn find_section(&self, whole: Node, name: Option<&str>) -> Option<Node> {
        let Some(name) = name else { return Some(whole) };
        if let Some(owner) = self.owner(whole) {
            let listener = self.listeners_of(owner, Some(name)).first();
            return listener.map(|listener| Node::Listener(owner.0, *listener));
        }
        let mut sections = self.sections(whole).into_iter();
        sections.find(|section| self.section(*section) == Some(name))
    }

    /// The nodes of a Gateway that its own policies target: itself, its ListenerSets, its listeners.
    pub fn nodes_of_gateway(&self, gateway: GatewayId) -> Vec<Node> {
        let listeners = self.gateways.get(gateway).listeners.iter();
        let sets = listeners
            .clone()
            .filter_map(|listener| self.listeners.get(*listener).set);
        let sets: BTreeSet<Node> = sets.map(Node::ListenerSet).collect();
        let listeners = listeners.map(|listener| Node::Listener(gateway, *listener));
        let own = std::iter::once(Node::Gateway(gateway));
        own.chain(sets).chain(listeners).collect()
    }
}
