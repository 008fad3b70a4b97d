//! Finding things in the topology, and what they are called.
//!
//! Owns: lookups by name, objects behind nodes, locators of nodes and paths (README.md#json).
//! Flows in: names, nodes. Flows out: numbers, objects, locators.
//! Must not know: how the topology is linked; policies.

use std::collections::BTreeSet;

use super::node::{Node, Path, index, number};
use super::topology::{GatewayNode, RouteNode, Topology};
use crate::api::gateway::GROUP;
use crate::api::route::is_route;
use crate::object::Object;
use crate::object::well_known::DOWNSTREAM_PREFIX;
use apimachinery::{GroupKind, Identity};

impl<'a> Topology<'a> {
    /// The Gateway that a reference means. A reference on a spoke uses spoke names: `kuadrant-<namespace>` is a hub
    /// Gateway, any other namespace the cluster's own.
    #[must_use]
    pub fn find_gateway(&self, namespace: &str, name: &str, seen_on_spoke: bool) -> Option<u32> {
        let known = |local, namespace| self.gateway_numbers.get(&(local, namespace, name)).copied();
        if !seen_on_spoke {
            return known(false, namespace);
        }
        namespace
            .strip_prefix(DOWNSTREAM_PREFIX)
            .and_then(|hub| known(false, hub))
            .or_else(|| known(true, namespace))
    }

    /// Whether this group and kind is a route: one of Gateway API's, or one of the parameters'.
    #[must_use]
    pub fn is_route(&self, group: &str, kind: &str) -> bool {
        let is_more = |more: &GroupKind| more.group == group && more.kind == kind;
        is_route(group, kind) || self.more_routes.iter().any(is_more)
    }

    /// The route of this group and kind, namespace and name. Routes keep their names on spokes; seen from there, the cluster's own
    /// come first.
    #[must_use]
    pub fn find_route(
        &self,
        (group, kind): (&str, &str),
        namespace: &str,
        name: &str,
        seen_on_spoke: bool,
    ) -> Option<u32> {
        let key = (group, kind, namespace, name);
        let known = |local| self.route_numbers.get(&(local, key)).copied();
        known(true).filter(|_| seen_on_spoke).or_else(|| known(false))
    }

    /// The GatewayClass of this name.
    #[must_use]
    pub fn find_class(&self, name: &str) -> Option<u32> {
        self.class_numbers.get(name).copied()
    }

    /// The namespace of this name.
    #[must_use]
    pub fn find_namespace(&self, name: &str) -> Option<u32> {
        self.namespace_numbers.get(name).copied()
    }

    /// The ListenerSet of this namespace and name, and its Gateway: (gateway, set).
    #[must_use]
    pub fn find_listener_set(&self, namespace: &str, name: &str, seen_on_spoke: bool) -> Option<(u32, u32)> {
        let known = |local| self.set_numbers.get(&(local, namespace, name)).copied();
        known(true).filter(|_| seen_on_spoke).or_else(|| known(false))
    }

    /// The backend of this identity, if a route or a policy named it.
    #[must_use]
    pub fn find_backend(&self, identity: &Identity) -> Option<u32> {
        self.backend_numbers.get(identity).copied()
    }

    /// The Gateway with this number.
    #[must_use]
    pub fn gateway(&self, number: u32) -> Option<&GatewayNode<'a>> {
        self.gateways.get(index(number))
    }

    /// The route with this number.
    #[must_use]
    pub fn route(&self, number: u32) -> Option<&RouteNode<'a>> {
        self.routes.get(index(number))
    }

    /// The node of an object of the input or of what a route or policy names, by group, kind, namespace (`None` for
    /// cluster-scoped kinds) and name: where an explanation starts.
    #[must_use]
    pub fn find(&self, identity: &Identity) -> Option<Node> {
        let namespace = identity.namespace.as_deref().unwrap_or_default();
        let name = identity.name.as_str();
        match (
            identity.group_kind.group.as_str(),
            identity.group_kind.kind.as_str(),
        ) {
            (GROUP, "GatewayClass") => self.find_class(name).map(Node::Class),
            ("", "Namespace") => self.find_namespace(name).map(Node::Namespace),
            (GROUP, "Gateway") => self.find_gateway(namespace, name, false).map(Node::Gateway),
            (GROUP, "ListenerSet") => self
                .find_listener_set(namespace, name, false)
                .map(|(_, set)| Node::ListenerSet(set)),
            (group, kind) if self.is_route(group, kind) => self
                .find_route((group, kind), namespace, name, false)
                .map(Node::Route),
            _ => self.find_backend(identity).map(Node::Backend),
        }
    }

    /// The sections of a node in their order: listeners of a Gateway or ListenerSet, rules of a route, ports of a
    /// backend.
    #[must_use]
    pub fn sections(&self, node: Node) -> Vec<Node> {
        let listeners = |gateway: u32, set: Option<u32>| {
            let known = self.gateway(gateway).map(|gateway| gateway.listeners.as_slice());
            let all = known.unwrap_or_default().iter().enumerate();
            all.filter(|(_, listener)| listener.set == set)
                .map(|(position, _)| Node::Listener(gateway, number(position)))
                .collect()
        };
        match node {
            Node::Gateway(gateway) => listeners(gateway, None),
            Node::ListenerSet(set) => self
                .listener_sets
                .get(index(set))
                .map_or_else(Vec::new, |known| listeners(known.gateway, Some(set))),
            Node::Route(route) => (0..self.route(route).map_or(0, |route| number(route.rules.len())))
                .map(|rule| Node::Rule(route, rule))
                .collect(),
            Node::Backend(backend) => {
                let known = self.backends.get(index(backend));
                (0..known.map_or(0, |backend| number(backend.ports.len())))
                    .map(|port| Node::Port(backend, port))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The object behind a node; a section's owner, `None` for what is not in the input.
    #[must_use]
    pub fn object(&self, node: Node) -> Option<&'a Object> {
        match node {
            Node::Class(class) => self.classes.get(index(class))?.object,
            Node::Namespace(namespace) => self.namespaces.get(index(namespace))?.object,
            Node::Gateway(gateway) => self.gateway(gateway).map(|gateway| gateway.object),
            Node::Listener(gateway, listener) => {
                let gateway = self.gateway(gateway)?;
                match gateway.listeners.get(index(listener))?.set {
                    Some(set) => self.listener_sets.get(index(set)).map(|set| set.object),
                    None => Some(gateway.object),
                }
            }
            Node::ListenerSet(set) => self.listener_sets.get(index(set)).map(|set| set.object),
            Node::Route(route) | Node::Rule(route, _) => self.route(route).map(|route| route.object),
            Node::Backend(backend) | Node::Port(backend, _) => self.backends.get(index(backend))?.object,
        }
    }

    /// What a node, or the owner of a section, is called.
    #[must_use]
    pub fn identity(&self, node: Node) -> Option<Identity> {
        match node {
            Node::Class(class) => {
                let name = self.classes.get(index(class))?.name;
                Some(Identity::new(GROUP, "GatewayClass", None, name))
            }
            Node::Namespace(namespace) => {
                let name = self.namespaces.get(index(namespace))?.name;
                Some(Identity::new("", "Namespace", None, name))
            }
            Node::Backend(backend) | Node::Port(backend, _) => {
                Some(self.backends.get(index(backend))?.identity.clone())
            }
            other => self.object(other).map(Object::identity),
        }
    }

    /// The nodes of a Gateway that its own policies target: itself, its ListenerSets, its listeners.
    #[must_use]
    pub fn nodes_of_gateway(&self, gateway: u32) -> Vec<Node> {
        let Some(known) = self.gateway(gateway) else {
            return Vec::new();
        };
        let sets: BTreeSet<u32> = known
            .listeners
            .iter()
            .filter_map(|listener| listener.set)
            .collect();
        std::iter::once(Node::Gateway(gateway))
            .chain(sets.into_iter().map(Node::ListenerSet))
            .chain((0..number(known.listeners.len())).map(|listener| Node::Listener(gateway, listener)))
            .collect()
    }

    /// The nodes of a route that policies target: itself and its rules.
    #[must_use]
    pub fn nodes_of_route(&self, route: u32) -> Vec<Node> {
        let rules = self.route(route).map_or(0, |route| number(route.rules.len()));
        std::iter::once(Node::Route(route))
            .chain((0..rules).map(|rule| Node::Rule(route, rule)))
            .collect()
    }

    /// The name of the section that a node is, if it is one.
    #[must_use]
    pub fn section(&self, node: Node) -> Option<&str> {
        match node {
            Node::Listener(gateway, listener) => {
                Some(self.gateway(gateway)?.listeners.get(index(listener))?.name)
            }
            Node::Rule(route, rule) => Some(&self.route(route)?.rules.get(index(rule))?.name),
            Node::Port(backend, port) => Some(self.backends.get(index(backend))?.ports.get(index(port))?),
            _ => None,
        }
    }

    /// The locator of a node (README.md#json).
    #[must_use]
    pub fn locator(&self, node: Node) -> String {
        let mut locator = self
            .identity(node)
            .map(|identity| identity.locator())
            .unwrap_or_default();
        if let Some(section) = self.section(node) {
            locator.push('#');
            locator.push_str(section);
        }
        locator
    }

    /// The locators of a path, from its GatewayClass on.
    #[must_use]
    pub fn path_locators(&self, path: &Path) -> Vec<String> {
        let class = self
            .gateway(path.gateway)
            .map(|gateway| self.locator(Node::Class(gateway.class)));
        class
            .into_iter()
            .chain(path.nodes().into_iter().map(|node| self.locator(node)))
            .collect()
    }

    /// A path for people, from its Gateway on: `Gateway shop/storefront > listener web > HTTPRoute shop/cart > rule-1`.
    #[must_use]
    pub fn path_label(&self, path: &Path) -> String {
        let parts: Vec<String> = path
            .nodes()
            .into_iter()
            .map(|node| match (node, self.section(node)) {
                (Node::Listener(..), Some(name)) => format!("listener {name}"),
                (Node::Port(..), Some(name)) => format!("port {name}"),
                (_, Some(name)) => name.to_owned(),
                (_, None) => self
                    .identity(node)
                    .map(|identity| identity.to_string())
                    .unwrap_or_default(),
            })
            .collect();
        parts.join(" > ")
    }
}
