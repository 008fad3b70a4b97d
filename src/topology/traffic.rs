//! Where the traffic through a node comes from.
//!
//! Owns: the way up from any node to its Gateways. Flows in: nodes. Flows out: Gateways.
//! Must not know: policies, clusters.

use std::collections::BTreeSet;

use super::hierarchy::Topology;
use super::ids::GatewayId;
use super::node::Node;

impl Topology<'_> {
    /// The Gateways that traffic through a node comes from, sorted.
    #[must_use]
    pub(crate) fn gateways_of(&self, node: Node) -> Vec<GatewayId> {
        match node {
            Node::Gateway(gateway) | Node::Listener(gateway, _) => vec![gateway],
            Node::ListenerSet(set) => vec![self.listener_sets.get(set).gateway],
            Node::Route(route) | Node::Rule(route, _) => self.routes.get(route).gateways.clone(),
            Node::Backend(backend) | Node::Port(backend, _) => {
                let routes = self.backends.get(backend).routes.iter();
                let gateways: BTreeSet<GatewayId> = routes
                    .flat_map(|route| self.routes.get(*route).gateways.iter().copied())
                    .collect();
                gateways.into_iter().collect()
            }
            Node::Class(class) => self.classes.get(class).gateways.clone(),
            Node::Namespace(namespace) => self.namespaces.get(namespace).gateways.clone(),
        }
    }
}
