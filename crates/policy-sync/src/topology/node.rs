//! The things that a policy can be attached to, with their numbers and levels, and the paths that lead to them.

use apimachinery::row_ids;
use serde::{Deserialize, Serialize};

row_ids! {
    /// A GatewayClass.
    pub ClassId,
    /// A Namespace.
    pub NamespaceId,
    /// A Gateway. What is rendered has numbers of its own: these count every Gateway of the input, of any class.
    pub GatewayId,
    /// A ListenerSet.
    pub ListenerSetId,
    /// A listener. Within a Gateway they are in the order of its spec, then those of its ListenerSets.
    pub ListenerId,
    /// A route.
    pub RouteId,
    /// A rule of a route. Within a route they are in the order of its spec.
    pub RuleId,
    /// A route that takes what a rule of another one hands on to it.
    pub DelegationId,
    /// A backend.
    pub BackendId,
    /// A port of a backend.
    pub PortId,
}

/// A level of the hierarchy of GEP-713, least specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Level {
    /// The mesh as a whole (Istio's root namespace).
    Mesh,
    /// The GatewayClass.
    GatewayClass,
    /// The Namespace of the Gateway.
    GatewayNamespace,
    /// The Gateway.
    Gateway,
    /// A listener.
    Listener,
    /// The Service that clients inside a mesh request.
    Service,
    /// The Namespace of the route.
    RouteNamespace,
    /// The route.
    Route,
    /// A rule of the route.
    Rule,
    /// The Namespace of the backend, for kinds that apply to workloads.
    BackendNamespace,
    /// The backend: a Service, or another object that a route forwards to.
    Backend,
    /// A port of the backend.
    Port,
}

impl Level {
    /// For people: `route rule`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::GatewayClass => "GatewayClass",
            Self::GatewayNamespace => "Namespace of the Gateway",
            Self::Gateway => "Gateway",
            Self::Listener => "listener",
            Self::Service => "Service of a mesh",
            Self::RouteNamespace => "Namespace of the route",
            Self::Route => "route",
            Self::Rule => "route rule",
            Self::BackendNamespace => "Namespace of the backend",
            Self::Backend => "backend",
            Self::Port => "backend port",
        }
    }
}

/// Where traffic begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Start {
    /// At a Gateway, where it comes in.
    Gateway(GatewayId),
    /// At a Service that clients inside a mesh ask for, and that routes have as their parent
    /// (docs/systems/gateway-api.md#meshes).
    Service(BackendId),
}

impl Start {
    /// The same as a node.
    pub const fn node(self) -> Node {
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
pub struct Path {
    /// The Gateway, from which its class and Namespace follow, or the Service of a mesh.
    pub start: Start,
    /// The listener.
    pub listener: Option<ListenerId>,
    /// How the route comes by its requests, if rules of other routes hand them on to it.
    pub via: Option<DelegationId>,
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
    pub const fn from(start: Start) -> Self {
        Self {
            start,
            listener: None,
            via: None,
            route: None,
            rule: None,
            backend: None,
            port: None,
        }
    }

    /// The level where the path ends.
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
            match self.start {
                Start::Gateway(_) => Level::Gateway,
                Start::Service(_) => Level::Service,
            }
        }
    }

    /// The Gateway that it begins at.
    pub const fn gateway(&self) -> Option<GatewayId> {
        match self.start {
            Start::Gateway(gateway) => Some(gateway),
            Start::Service(_) => None,
        }
    }
}
