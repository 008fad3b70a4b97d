//! Gateway API's own kinds (docs/systems/gateway-api.md#policy-kinds).
//!
//! Owns: their profiles. Flows in: nothing. Flows out: profiles. Must not know: objects.

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
