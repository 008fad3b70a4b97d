//! Looking up a declared target among the levels of the topology.
//!
//! Owns: GatewayClasses, Namespaces, Gateways, ListenerSets and routes with their sections; backends are for `targets`.
//! Flows in: a declared target whose namespace is settled. Flows out: its node.
//! Must not know: whether the target is permitted.

use super::node::{Node, number};
use super::targets::Declared;
use super::topology::Topology;
use crate::api::gateway::GROUP;
use crate::object::well_known::DOWNSTREAM_PREFIX;

/// Where a declared target is, as far as the topology's own levels go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Located {
    /// Here.
    Node(Node),
    /// It would be a GatewayClass, Namespace, Gateway, ListenerSet or route, and there is none.
    Missing,
    /// It is another kind: a backend, or virtual.
    Elsewhere,
}

/// Looks up a target whose namespace is settled. `local`: the reference stands on a spoke and uses spoke names.
#[must_use]
pub fn locate(topology: &Topology<'_>, declared: &Declared, namespace: &str, local: bool) -> Located {
    let found = match (declared.group.as_str(), declared.kind.as_str()) {
        (GROUP, "GatewayClass") => match &declared.section {
            None => topology.find_class(&declared.name).map(Node::Class),
            Some(_) => None,
        },
        ("", "Namespace") => find_namespace(topology, &declared.name, local),
        (GROUP, "Gateway") => find_gateway(topology, declared, namespace, local),
        (GROUP, "ListenerSet") => topology
            .find_listener_set(namespace, &declared.name, local)
            .and_then(|(gateway, set)| {
                listener(topology, gateway, Some(set), declared, Node::ListenerSet(set))
            }),
        (group, kind) if topology.is_route(group, kind) => find_rule(topology, declared, namespace, local),
        _ => return Located::Elsewhere,
    };
    found.map_or(Located::Missing, Located::Node)
}

/// A namespace exists when anything in the input lives in it.
fn find_namespace(topology: &Topology<'_>, name: &str, local: bool) -> Option<Node> {
    let hub_name = name.strip_prefix(DOWNSTREAM_PREFIX).filter(|_| local);
    hub_name
        .and_then(|name| topology.find_namespace(name))
        .or_else(|| topology.find_namespace(name))
        .map(Node::Namespace)
}

fn find_gateway(topology: &Topology<'_>, declared: &Declared, namespace: &str, local: bool) -> Option<Node> {
    let gateway = topology.find_gateway(namespace, &declared.name, local)?;
    listener(topology, gateway, None, declared, Node::Gateway(gateway))
}

fn listener(
    topology: &Topology<'_>,
    gateway: u32,
    set: Option<u32>,
    declared: &Declared,
    whole: Node,
) -> Option<Node> {
    let Some(section) = &declared.section else {
        return Some(whole);
    };
    let listeners = &topology.gateway(gateway)?.listeners;
    let found = listeners
        .iter()
        .position(|listener| listener.set == set && listener.name == section)?;
    Some(Node::Listener(gateway, number(found)))
}

fn find_rule(topology: &Topology<'_>, declared: &Declared, namespace: &str, local: bool) -> Option<Node> {
    let kind = (declared.group.as_str(), declared.kind.as_str());
    let route = topology.find_route(kind, namespace, &declared.name, local)?;
    let Some(section) = &declared.section else {
        return Some(Node::Route(route));
    };
    let rules = &topology.route(route)?.rules;
    position(rules.iter().map(|rule| rule.name.as_str()), section).map(|rule| Node::Rule(route, rule))
}

/// The position of a name.
pub(super) fn position<'n>(mut names: impl Iterator<Item = &'n str>, wanted: &str) -> Option<u32> {
    names.position(|name| name == wanted).map(number)
}
