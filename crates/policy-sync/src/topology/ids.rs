//! Numbers for the things in the hierarchy.
//!
//! Owns: one type for each kind of thing. Flows in and out: nothing else. Must not know: what a number stands for.

use apimachinery::row_ids;

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
