//! What is attached to what: GatewayClasses, Namespaces, Gateways, listeners, routes, rules, backends.

mod build;
mod delegation;
mod hierarchy;
mod hostname_intersection;
mod listeners;
mod names;
mod route_attachment;
mod route_match;
mod sources;

#[cfg(test)]
mod tests;

pub use hierarchy::{
    BackendId, ClassId, DelegationId, GatewayId, Level, ListenerId, ListenerNode, ListenerSetId, NamespaceId,
    Node, Path, RouteId, RuleId, Start, Topology,
};
pub(crate) use hierarchy::{
    GatewayNode, ListenerSetNode, NAMESPACE_NAME_LABEL, ObjectKey, RouteNode, object_key,
};
pub(crate) use hostname_intersection::covers;
pub(crate) use names::Located;
pub(crate) use route_attachment::{Condition, Refusal};
pub(crate) use route_match::{NamedMatch, RouteMatch, items};
pub use sources::{Controllers, Original, Seniority, Sources};
pub(crate) use sources::{Suggestion, Suggestions};
