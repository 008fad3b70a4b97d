//! The names of the things that a policy can be attached to, and of the ways that lead to them.
//!
//! Owns: [`Node`] and [`Path`], both small and cheap to copy.
//! Flows in: numbers handed out by the hierarchy. Flows out: the same.
//! Must not know: what stands behind a number.

use super::ids::{
    BackendId, ClassId, GatewayId, ListenerId, ListenerSetId, NamespaceId, PortId, RouteId, RuleId,
};
use super::level::Level;

/// One thing of the hierarchy. A section carries its owner, so that nodes sort by owner first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A GatewayClass.
    Class(ClassId),
    /// A Namespace.
    Namespace(NamespaceId),
    /// A Gateway.
    Gateway(GatewayId),
    /// A ListenerSet.
    ListenerSet(ListenerSetId),
    /// A listener of a Gateway, or of one of its ListenerSets.
    Listener(GatewayId, ListenerId),
    /// A route.
    Route(RouteId),
    /// A rule of a route.
    Rule(RouteId, RuleId),
    /// A backend.
    Backend(BackendId),
    /// A port of a backend.
    Port(BackendId, PortId),
}

/// A way from a GatewayClass down to where an effective policy holds. Levels that do not matter are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Path {
    /// The Gateway; its class and Namespace follow from it.
    pub gateway: GatewayId,
    /// The listener.
    pub listener: Option<ListenerId>,
    /// The route.
    pub route: Option<RouteId>,
    /// The rule of the route.
    pub rule: Option<RuleId>,
    /// The backend.
    pub backend: Option<BackendId>,
    /// The port of the backend.
    pub port: Option<PortId>,
}

impl Path {
    /// The path that ends at the Gateway.
    #[must_use]
    pub(crate) const fn gateway(gateway: GatewayId) -> Self {
        Self {
            gateway,
            listener: None,
            route: None,
            rule: None,
            backend: None,
            port: None,
        }
    }

    /// The level where the path ends.
    #[must_use]
    pub(crate) const fn end(&self) -> Level {
        if self.port.is_some() {
            Level::Port
        } else if self.backend.is_some() {
            Level::Backend
        } else if self.rule.is_some() {
            Level::Rule
        } else if self.route.is_some() {
            Level::Route
        } else if self.listener.is_some() {
            Level::Listener
        } else {
            Level::Gateway
        }
    }

    /// The nodes of the path from the Gateway on.
    #[must_use]
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let mut nodes = vec![Node::Gateway(self.gateway)];
        nodes.extend(
            self.listener
                .map(|listener| Node::Listener(self.gateway, listener)),
        );
        if let Some(route) = self.route {
            nodes.push(Node::Route(route));
            nodes.extend(self.rule.map(|rule| Node::Rule(route, rule)));
        }
        if let Some(backend) = self.backend {
            nodes.push(Node::Backend(backend));
            nodes.extend(self.port.map(|port| Node::Port(backend, port)));
        }
        nodes
    }
}
