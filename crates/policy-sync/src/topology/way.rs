//! The nodes that a path leads through, including those of routes that delegate requests.
//!
//! Owns: that order. Flows in: paths. Flows out: nodes and levels. Must not know: which route delegates to which,
//! policies.

use super::delegation::Delegation;
use super::hierarchy::Topology;
use super::ids::{DelegationId, RouteId, RuleId};
use super::level::Level;
use super::node::{Node, Path};

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
