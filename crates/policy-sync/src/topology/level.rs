//! The levels of the hierarchy.
//!
//! Owns: [`Level`], and its order. Flows in and out: nothing else. Must not know: what is on a level.

use serde::{Deserialize, Serialize};

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
