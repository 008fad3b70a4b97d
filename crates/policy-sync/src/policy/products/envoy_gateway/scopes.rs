//! The scopes that a policy is overridden in, or merged into, as Envoy Gateway's statuses report them
//! (`envoyproxy/gateway internal/gatewayapi/helpers.go@v1.9.0`, `policyScopeGraph`).

use std::collections::{BTreeMap, BTreeSet};

use crate::hub::Table;
use crate::policy::model::{Declared, KindId, NodePolicies, Policy, PolicyId};
use crate::topology::{GatewayId, ListenerId, Node, RouteId, Topology};

/// The policies of a kind, by the node that they are attached to.
type Nodes = BTreeMap<Node, NodePolicies>;

/// A parentRef of a route that leads to a Gateway of the input.
#[derive(Debug, Clone)]
pub(crate) struct Parent {
    /// The Gateway or the ListenerSet.
    pub(crate) node: Node,
    /// Its Gateway.
    pub(crate) gateway: GatewayId,
    /// The section that the reference names, whether or not there is one.
    pub(crate) section: Option<String>,
    /// The listeners that take the route through it.
    pub(crate) listeners: Vec<ListenerId>,
}

/// Scopes under others.
type Under = BTreeMap<Node, BTreeSet<Node>>;

/// The scopes of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scopes {
    /// The scopes whose policies override those above.
    displacing: Under,
    /// Routes whose policies merged with the one above.
    merged: Under,
}

impl Scopes {
    /// The scopes of a kind.
    pub(crate) fn new(
        topology: &Topology<'_>,
        nodes: &Nodes,
        policies: &Table<PolicyId, Policy<'_>>,
        id: KindId,
    ) -> Self {
        let mut scopes = Self::default();
        let of_kind = policies.iter().filter(|(_, policy)| policy.kind == id);
        for (id, policy) in of_kind.filter(|(_, policy)| policy.counts()) {
            for declared in &policy.targets {
                scopes.add(topology, nodes, (id, policy), declared);
            }
        }
        scopes
    }

    fn add(
        &mut self,
        topology: &Topology<'_>,
        nodes: &Nodes,
        (id, policy): (PolicyId, &Policy<'_>),
        declared: &Declared,
    ) {
        let found = declared.node();
        // A route counts as soon as it is there, even if its policy is refused.
        let target = found.or_else(|| owner(topology, policy, declared));
        if let Some(route) = target.and_then(Node::route) {
            for parent in parents_of(topology, route) {
                if let Some(scope) = topology.find_section(parent.node, parent.section.as_deref()) {
                    let displacing = self.displacing.entry(scope).or_default();
                    displacing.insert(Node::Route(route));
                }
            }
        }
        let applies = |node: &Node| {
            let mut accepted = nodes.get(node).into_iter().flat_map(|placed| &placed.accepted);
            accepted.any(|entry| entry.policy == id)
        };
        let Some(node) = found.filter(applies) else {
            return;
        };
        // A ListenerSet is under its Gateway, a listener under its owner; a route under what its parentRefs name,
        // above.
        let above = match node {
            Node::ListenerSet(set) => Node::Gateway(topology.listener_sets.get(set).gateway),
            Node::Listener(..) => whole(topology, node),
            _ => {
                for (_, _, with) in merged_with(topology, nodes, policy, node) {
                    self.merged.entry(with).or_default().insert(whole(topology, node));
                }
                return;
            }
        };
        self.displacing.entry(above).or_default().insert(node);
    }

    /// The routes whose policies merged with the one on a node.
    pub(crate) fn merged(&self, node: Node) -> BTreeSet<Node> {
        self.merged.get(&node).cloned().unwrap_or_default()
    }

    /// The scopes whose policies take the place of the one on a node, and did not merge with it: those under the node and
    /// its parts; for a listener, also the routes that are attached to all listeners.
    pub(crate) fn displacing(&self, topology: &Topology<'_>, node: Node) -> BTreeSet<Node> {
        let direct = |node: &Node| self.displacing.get(node).into_iter().flatten().copied();
        let parts = match node {
            Node::Gateway(gateway) => topology.nodes_of_gateway(gateway),
            node => std::iter::once(node).chain(topology.sections(node)).collect(),
        };
        let mut below: BTreeSet<Node> = parts.iter().flat_map(direct).collect();
        let owner = whole(topology, node);
        if owner != node {
            below.extend(direct(&owner).filter(|below| matches!(below, Node::Route(_))));
        }
        below.difference(&self.merged(node)).copied().collect()
    }
}

/// The object that a node is, or is a section of.
pub(crate) fn whole(topology: &Topology<'_>, node: Node) -> Node {
    match node {
        Node::Listener(gateway, listener) => match topology.listeners.get(listener).set {
            Some(set) => Node::ListenerSet(set),
            None => Node::Gateway(gateway),
        },
        Node::Rule(route, _) => Node::Route(route),
        other => other,
    }
}

/// The object that a target names, where only its section is missing.
pub(crate) fn owner(topology: &Topology<'_>, policy: &Policy<'_>, declared: &Declared) -> Option<Node> {
    declared.section.as_ref()?;
    declared.whole(topology, policy.object.namespace_or_empty())
}

/// The parents of a route that are in the input, in their order.
pub(crate) fn parents_of(topology: &Topology<'_>, route: RouteId) -> Vec<Parent> {
    let node = topology.routes.get(route);
    let own = node.object.namespace_or_empty();
    let named = topology.parents_of(node.route);
    let found = named.iter().filter_map(|parent| {
        let owner = topology.parent(own, parent).ok()?;
        let (gateway, set) = owner;
        let attached = &topology.gateways.get(gateway).attached;
        let section = parent.section_name.as_deref();
        let listeners = topology.listeners_of(owner, section).iter().copied();
        let listeners = listeners.filter(|listener| {
            let is_taken = attached.binary_search(&(*listener, route)).is_ok();
            is_taken && topology.listeners.get(*listener).is_meant(parent)
        });
        Some(Parent {
            node: set.map_or(Node::Gateway(gateway), Node::ListenerSet),
            gateway,
            section: section.map(str::to_owned),
            listeners: listeners.collect(),
        })
    });
    found.collect()
}

/// With whom a policy on a route or a rule merges, by the parent and the listener that the traffic takes.
pub(crate) fn merged_with(
    topology: &Topology<'_>,
    nodes: &Nodes,
    policy: &Policy<'_>,
    node: Node,
) -> Vec<(Parent, ListenerId, Node)> {
    let asks = policy.layers.iter().any(|layer| layer.strategy.merges());
    let Some(route) = node.route().filter(|_| asks) else {
        return Vec::new();
    };
    let mut merged = Vec::new();
    for parent in parents_of(topology, route) {
        for listener in &parent.listeners {
            let mut closest = topology.nodes_at(parent.gateway, *listener);
            let closest =
                closest.find(|node| nodes.get(node).is_some_and(|placed| !placed.accepted.is_empty()));
            merged.extend(closest.map(|closest| (parent.clone(), *listener, closest)));
        }
    }
    merged
}
