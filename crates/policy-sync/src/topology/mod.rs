//! What is attached to what: GatewayClasses, Namespaces, Gateways, listeners, routes, rules, backends.
//!
//! Owns: the hierarchy of Gateway API with numbers and names for everything in it, which listener accepts which route,
//! and what a reference leads to. Flows in: the hub's objects, and for a view of one cluster its local objects. Flows
//! out: [`Topology`], findings at parentRefs.
//! Must not know: policies, clusters other than the one in view.

mod level;

mod ids;
mod node;

mod request;

mod hostname_intersection;
mod listener;
mod ports;

mod controllers;
mod delegation;
mod hierarchy;
mod sections;

mod way;

mod names;
mod reference;
mod traffic;

mod route_attachment;

mod taking;

mod near;
mod sources;

mod handing_on;
mod listener_sets;
mod parents;

mod build;

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
