//! The names of the things that a policy can be attached to, and of the ways that lead to them.
//!
//! Owns: [`Node`] and [`Path`], both small and cheap to copy.
//! Flows in: numbers handed out by `topology`. Flows out: the same.
//! Must not know: what stands behind a number.

use super::profile::Level;

/// One thing of the topology, by its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A GatewayClass.
    Class(u32),
    /// A Namespace.
    Namespace(u32),
    /// A Gateway.
    Gateway(u32),
    /// A ListenerSet.
    ListenerSet(u32),
    /// A listener: Gateway, position.
    Listener(u32, u32),
    /// A route.
    Route(u32),
    /// A rule: route, position.
    Rule(u32, u32),
    /// A backend.
    Backend(u32),
    /// A port: backend, position.
    Port(u32, u32),
}

/// A way from a GatewayClass down to where an effective policy holds. Levels that do not matter are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    /// The Gateway; its class and Namespace follow from it.
    pub gateway: u32,
    /// Position of the listener in the Gateway.
    pub listener: Option<u32>,
    /// The route.
    pub route: Option<u32>,
    /// Position of the rule in the route.
    pub rule: Option<u32>,
    /// The backend.
    pub backend: Option<u32>,
    /// Position of the port in the backend.
    pub port: Option<u32>,
}

impl Path {
    /// The path that ends at the Gateway.
    #[must_use]
    pub const fn gateway(gateway: u32) -> Self {
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
    pub const fn end(&self) -> Level {
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
    pub fn nodes(&self) -> Vec<Node> {
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

    /// The node where the path ends.
    #[must_use]
    pub fn last(&self) -> Node {
        match (self.backend, self.port, self.route, self.rule, self.listener) {
            (Some(backend), Some(port), ..) => Node::Port(backend, port),
            (Some(backend), None, ..) => Node::Backend(backend),
            (None, _, Some(route), Some(rule), _) => Node::Rule(route, rule),
            (None, _, Some(route), None, _) => Node::Route(route),
            (None, _, None, _, Some(listener)) => Node::Listener(self.gateway, listener),
            (None, _, None, _, None) => Node::Gateway(self.gateway),
        }
    }
}

/// A position or a number of a node from an index. The input would have to be far beyond any limit to overflow;
/// then the node is simply not found.
#[must_use]
pub fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The index that a number stands for.
#[must_use]
pub const fn index(number: u32) -> usize {
    number as usize
}
