//! Names of the things in the hierarchy.
//!
//! Owns: objects behind nodes, locators and labels of nodes and paths (docs/reference/json.md).
//! Flows in: nodes, paths. Flows out: objects, identities, text.
//! Must not know: how the hierarchy is linked; policies.

use super::hierarchy::Topology;
use super::ids::GatewayId;
use super::node::{Node, Path};
use crate::api::gateway::GROUP;
use crate::object::Object;
use apimachinery::Identity;

impl<'a> Topology<'a> {
    /// The object behind a node; a section's owner, `None` for what is not in the input.
    pub fn object(&self, node: Node) -> Option<&'a Object> {
        match node {
            Node::Class(class) => self.classes.get(class).object,
            Node::Mesh(namespace) | Node::Namespace(namespace) => {
                self.namespaces.get(namespace).objects.first().copied()
            }
            Node::Gateway(gateway) => Some(self.gateways.get(gateway).object),
            Node::Listener(gateway, listener) => Some(match self.listeners.get(listener).set {
                Some(set) => self.listener_sets.get(set).object,
                None => self.gateways.get(gateway).object,
            }),
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
            Node::Gateway(gateway) => self.gateways.get(gateway).known_as().identity(),
            Node::Listener(gateway, listener) => match self.listeners.get(listener).set {
                Some(set) => self.listener_sets.get(set).object.identity(),
                None => self.gateways.get(gateway).known_as().identity(),
            },
            Node::ListenerSet(set) => self.listener_sets.get(set).object.identity(),
            Node::Route(route) | Node::Rule(route, _) => self.routes.get(route).object.identity(),
            Node::Backend(backend) | Node::Port(backend, _) => self.backends.get(backend).name.clone(),
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
}
