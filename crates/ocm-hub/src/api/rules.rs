//! Rules beyond structure by which an API server refuses Gateways, ListenerSets, routes, and policies.
//!
//! The CRDs of these kinds express the same rules in CEL. A hub that has the CRDs is checked by them; these rules are
//! for all others. They do not cover types, enums, lengths, and required fields.

mod complaints;
mod gateway_policies;
mod listeners;
mod policies;
mod routes;

#[cfg(test)]
mod tests;

use complaints::Complaints;

use super::gateway::{GROUP, X_GROUP, is_listener_set};
use super::route::is_route;
use crate::diagnostic::{Code, Finding};
use crate::object::Object;

/// What an API server with the CRD of this kind would refuse, and what no controller would accept.
pub fn broken(object: &Object) -> Vec<Finding> {
    let by = |code, check| Complaints::find(object, code, check);
    match (object.api_version.group.as_str(), object.kind.as_str()) {
        (GROUP, "Gateway") => by(Code::GATEWAY_INVALID, listeners::gateway),
        (group, kind) if is_listener_set(group, kind) => by(Code::GATEWAY_INVALID, listeners::listeners),
        (group, kind) if is_route(group, kind) => by(Code::ROUTE_INVALID, routes::route),
        (GROUP, "BackendTLSPolicy") => by(Code::POLICY_INVALID, gateway_policies::backend_tls),
        (X_GROUP, "XBackendTrafficPolicy") => by(Code::POLICY_INVALID, gateway_policies::backend_traffic),
        _ => by(Code::POLICY_INVALID, policies::policy),
    }
}

/// What every API server accepts and no controller serves: also reported if the CRD is in the input.
pub fn conflicting(object: &Object) -> Vec<Finding> {
    Complaints::find(object, Code::GATEWAY_INVALID, listeners::protocols_on_one_port)
}
