//! The names of the things that a policy can be attached to, and of the ways that lead to them.
//!
//! Owns: [`Node`] and [`Path`], both small and cheap to copy.
//! Flows in: numbers handed out by the hierarchy. Flows out: the same.
//! Must not know: what stands behind a number.

use super::ids::{
    BackendId, ClassId, GatewayId, ListenerId, ListenerSetId, NamespaceId, PortId, RouteId, RuleId,
};
use super::level::Level;

/// Where traffic begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Start {
    /// At a Gateway, where it comes in.
    Gateway(GatewayId),
    /// At a Service that clients inside of a mesh ask for, and that routes have as their parent
    /// (docs/systems/gateway-api.md#meshes).
    Service(BackendId),
}

impl Start {
    /// The same as a node.
    #[must_use]
    pub(crate) const fn node(self) -> Node {
        match self {
            Self::Gateway(gateway) => Node::Gateway(gateway),
            Self::Service(service) => Node::Backend(service),
        }
    }
}

/// One thing of the hierarchy. A section carries its owner, so that nodes sort by owner first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// The mesh whose root namespace this is (Istio).
    Mesh(NamespaceId),
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

/// A way from where traffic begins down to where an effective policy holds. Levels that do not matter are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Path {
    /// The Gateway, from which its class and Namespace follow, or the Service of a mesh.
    pub start: Start,
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
    /// The path that ends where it begins.
    #[must_use]
    pub(crate) const fn from(start: Start) -> Self {
        Self {
            start,
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
            match self.start {
                Start::Gateway(_) => Level::Gateway,
                Start::Service(_) => Level::Service,
            }
        }
    }

    /// The Gateway that it begins at.
    #[must_use]
    pub(crate) const fn gateway(&self) -> Option<GatewayId> {
        match self.start {
            Start::Gateway(gateway) => Some(gateway),
            Start::Service(_) => None,
        }
    }

    /// The nodes of the path, each with its level.
    #[must_use]
    pub(crate) fn levels(&self) -> Vec<(Level, Node)> {
        let nodes = self.nodes().into_iter().enumerate();
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

    /// The nodes of the path from its start on.
    #[must_use]
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let mut nodes = vec![self.start.node()];
        nodes.extend(
            self.gateway()
                .zip(self.listener)
                .map(|(gateway, listener)| Node::Listener(gateway, listener)),
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
