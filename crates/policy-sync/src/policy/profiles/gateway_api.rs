//! Gateway API's own kinds (docs/systems/gateway-api.md#policy-kinds).

use crate::policy::profile::{Profile, StatusShape};
use crate::topology::Level;

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        kind("gateway.networking.k8s.io", "BackendTLSPolicy", Level::Port),
        kind(
            "gateway.networking.x-k8s.io",
            "XBackendTrafficPolicy",
            Level::Backend,
        ),
    ]
}

fn kind(group: &str, kind: &str, end: Level) -> Profile {
    Profile {
        status: StatusShape::Accepted,
        ..Profile::direct(group, kind).ends(&[end])
    }
}
