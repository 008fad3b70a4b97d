//! Where the traffic through a node comes from.
//!
//! Owns: the way up from any node to its Gateways and to the Services of a mesh. Flows in: nodes. Flows out:
//! [`Start`]s.
//! Must not know: policies, clusters.

use std::collections::BTreeSet;

use super::hierarchy::Topology;
use super::ids::{BackendId, GatewayId, ListenerId, RouteId};
use super::node::{Node, Start};

impl Topology<'_> {
    /// The Gateways that traffic through a node comes from, sorted.
    pub fn gateways_of(&self, node: Node) -> Vec<GatewayId> {
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
                let services: BTreeSet<BackendId> = routes
                    .flat_map(|route| self.routes.get(*route).services.iter().copied())
                    .chain(itself)
                    .collect();
                services.into_iter().collect()
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
