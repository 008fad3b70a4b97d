//! What is attached to what: GatewayClasses, Namespaces, Gateways, listeners, routes, rules, backends.
//!
//! Owns: the hierarchy of Gateway API with numbers and names for everything in it, which listener accepts which route,
//! and what a reference leads to. Flows in: the hub's objects, and for a view of one cluster its local objects. Flows
//! out: [`Topology`], findings at parentRefs.
//! Must not know: policies, clusters other than the one in view.

mod build;
mod controllers;
mod delegation;
mod handing_on;
mod hierarchy;
mod hostname_intersection;
mod ids;
mod level;
mod listener;
mod listener_sets;
mod names;
mod near;
mod node;
mod parents;
mod ports;
mod reference;
mod request;
mod route_attachment;
mod sections;
mod sources;
mod taking;
mod traffic;
mod way;

#[cfg(test)]
mod tests;

pub use controllers::Controllers;
pub use hierarchy::Topology;
pub(crate) use hierarchy::{GatewayNode, NAMESPACE_NAME_LABEL, RouteNode};
pub(crate) use hostname_intersection::covers;
pub use ids::{BackendId, ClassId, GatewayId, ListenerId, ListenerSetId, NamespaceId, RouteId, RuleId};
pub use level::Level;
pub use listener::ListenerNode;
pub(crate) use near::{Near, NearObjects};
pub use node::{Node, Path, Start};
pub(crate) use reference::{Located, Reference};
pub use request::{NoRequest, Request, is_request};
pub(crate) use route_attachment::Refusal;
pub use sources::{Original, Seniority, Sources};
pub use taking::{Candidate, Taken};
