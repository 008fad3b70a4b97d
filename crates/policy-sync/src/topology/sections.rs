//! Sections and their names: listeners of a Gateway or ListenerSet, rules of a route, ports of a backend.
//!
//! Owns: section names, and the sections of a node. Flows in: nodes. Flows out: nodes, names.
//! Must not know: which policies target a section.

use std::collections::BTreeSet;

use super::hierarchy::{Owner, Topology};
use super::ids::{GatewayId, ListenerId, ListenerSetId};
use super::node::Node;
use kube_json::Text;

/// The section name of a rule: its own, or its position, counted from 1, as policy-machinery counts
/// (docs/systems/gep-713.md#sections).
pub(super) fn rule_name(name: Option<&str>, position: usize) -> Text {
    name.map_or_else(
        || format!("rule-{}", position.saturating_add(1)).into(),
        Text::from,
    )
}

impl Topology<'_> {
    /// The sections of a node, in their order.
    pub fn sections(&self, node: Node) -> Vec<Node> {
        match node {
            Node::Gateway(_) | Node::ListenerSet(_) => {
                let owner = self.owner(node);
                let listeners = owner.into_iter().flat_map(|owner| self.listeners_of(owner, None));
                let node =
                    |listener: &ListenerId| owner.map(|(gateway, _)| Node::Listener(gateway, *listener));
                listeners.filter_map(node).collect()
            }
            Node::Route(route) => {
                let rules = self.routes.get(route).rules.iter();
                rules.map(|rule| Node::Rule(route, *rule)).collect()
            }
            Node::Backend(backend) => {
                let ports = self.backends.get(backend).ports.iter();
                ports.map(|port| Node::Port(backend, *port)).collect()
            }
            Node::Mesh(_)
            | Node::Class(_)
            | Node::Namespace(_)
            | Node::Listener(..)
            | Node::Rule(..)
            | Node::Port(..) => Vec::new(),
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
        match node {
            Node::Gateway(gateway) => {
                let all = self.gateways.get(gateway).listeners.iter();
                all.map(|listener| (gateway, *listener)).collect()
            }
            Node::Listener(gateway, listener) => vec![(gateway, listener)],
            Node::ListenerSet(set) => {
                let gateway = self.listener_sets.get(set).gateway;
                let all = self.listeners_of((gateway, Some(set)), None).iter();
                all.map(|listener| (gateway, *listener)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The name of the section that a node is, if it is one.
    pub fn section(&self, node: Node) -> Option<&str> {
        match node {
            Node::Listener(_, listener) => Some(self.listeners.get(listener).name),
            Node::Rule(_, rule) => Some(&self.rules.get(rule).name),
            Node::Port(_, port) => Some(self.ports.get(port)),
            Node::Mesh(_)
            | Node::Class(_)
            | Node::Namespace(_)
            | Node::Gateway(_)
            | Node::ListenerSet(_)
            | Node::Route(_)
            | Node::Backend(_) => None,
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
        let listeners = &self.gateways.get(gateway).listeners;
        let sets: BTreeSet<ListenerSetId> = listeners
            .iter()
            .filter_map(|listener| self.listeners.get(*listener).set)
            .collect();
        std::iter::once(Node::Gateway(gateway))
            .chain(sets.into_iter().map(Node::ListenerSet))
            .chain(
                listeners
                    .iter()
                    .map(|listener| Node::Listener(gateway, *listener)),
            )
            .collect()
    }
}
