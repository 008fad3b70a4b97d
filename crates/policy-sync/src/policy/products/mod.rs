//! What differs by product: the profiles of its kinds, and what its controller does that no profile says. One file, or
//! folder, each; Gateway API's own two kinds are here.

pub(crate) mod envoy_gateway;
mod gke;
pub(crate) mod istio;
pub(crate) mod kgateway;
pub(crate) mod kuadrant;
pub(crate) mod nginx;

use super::profile::{Profile, StatusShape};
use crate::api::gateway::{GROUP, X_GROUP};
use crate::topology::Level;

/// The profiles of a product, and whether it serves routes of a mesh, whose parent is a Service.
type Product = (fn() -> Vec<Profile>, bool);

pub(super) const BUILT_IN: [Product; 7] = [
    (envoy_gateway::profiles, false),
    (gateway_api, true),
    (gke::profiles, false),
    (istio::profiles, true),
    (kgateway::profiles, false),
    (kuadrant::profiles, false),
    (nginx::profiles, false),
];

/// Gateway API's own kinds (docs/systems/gateway-api.md#policy-kinds).
fn gateway_api() -> Vec<Profile> {
    vec![
        kind(GROUP, "BackendTLSPolicy", Level::Port),
        kind(X_GROUP, "XBackendTrafficPolicy", Level::Backend),
    ]
}

fn kind(group: &str, kind: &str, end: Level) -> Profile {
    Profile {
        status: StatusShape::Accepted,
        ..Profile::direct(group, kind).ends(&[end])
    }
}
