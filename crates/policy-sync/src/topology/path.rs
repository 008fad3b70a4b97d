//! The nodes that a path leads through, including those of routes that delegate requests, and the Gateways whose traffic
//! reaches a node.

use std::collections::BTreeSet;

use super::hierarchy::{Delegation, Topology};
use super::node::{
    BackendId, DelegationId, GatewayId, Level, ListenerId, Node, Path, RouteId, RuleId, Start,
};

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
    pub fn chain(&self, via: Option<DelegationId>) -> Vec<&Delegation> {
        let step = |delegation: &&Delegation| delegation.above.map(|above| self.delegations.get(above));
        let innermost = via.map(|via| self.delegations.get(via));
        let mut chain: Vec<&Delegation> = std::iter::successors(innermost, step).collect();
        chain.reverse();
        chain
    }

    /// Every route that gets requests from others, with the way on which it does.
    pub fn delegations(&self) -> impl Iterator<Item = &Delegation> {
        self.delegations.iter()
    }

    /// The routes to which a rule hands on the requests that it gets on a way, each with its own way; none if it serves
    /// them itself.
    pub(crate) fn handed_on(
        &self,
        via: Option<DelegationId>,
        rule: RuleId,
    ) -> impl Iterator<Item = (DelegationId, RouteId)> {
        let ways = self.delegations.from(via, rule).iter();
        ways.map(|way| (*way, self.delegations.get(*way).child))
    }

    /// The rules of a route that take anything on a way, in their order.
    pub(crate) fn rules_on(&self, via: Option<DelegationId>, route: RouteId) -> Vec<RuleId> {
        match via {
            None => self.routes.get(route).rules.clone(),
            Some(via) => {
                let rules = self.delegations.get(via).rules.iter();
                rules.map(|(rule, _)| *rule).collect()
            }
        }
    }
}

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
