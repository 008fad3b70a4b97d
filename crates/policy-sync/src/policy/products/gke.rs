//! GKE (docs/systems/other-policies.md#gke): Direct kinds; the settings of four are under `spec.default`.

use crate::policy::profile::{Precedence, Profile, SameTarget, StatusShape, Wrappers};
use crate::topology::Level;

const GROUP: &str = "networking.gke.io";

#[rustfmt::skip] // one kind a line
pub(super) fn profiles() -> Vec<Profile> {
    let (flat, by_ancestor) = (StatusShape::Attached, StatusShape::AttachedToAncestors);
    let (default, bare) = (Wrappers::Default, Wrappers::Bare);
    vec![
        kind("GCPGatewayPolicy", default, flat, Level::Gateway),
        kind("GCPBackendPolicy", default, flat, Level::Backend),
        kind("HealthCheckPolicy", default, flat, Level::Backend),
        kind("GCPSessionAffinityPolicy", bare, flat, Level::Backend),
        kind("GCPTrafficDistributionPolicy", default, by_ancestor, Level::Backend),
        kind("GCPAuthzPolicy", bare, by_ancestor, Level::Gateway),
        kind("GCPClientTLSPolicy", bare, by_ancestor, Level::Port),
        // It targets Pods by their labels: no path from a Gateway ends there.
        kind("GCPServerTLSPolicy", bare, by_ancestor, Level::Backend),
        kind("GCPTrafficExtension", bare, StatusShape::Accepted, Level::Gateway),
        kind("GCPRoutingExtension", bare, StatusShape::Accepted, Level::Gateway),
    ]
}

fn kind(kind: &str, wrappers: Wrappers, status: StatusShape, end: Level) -> Profile {
    Profile {
        status,
        ..Profile::direct(GROUP, kind)
            .wrapped(wrappers, None)
            .same_target(SameTarget::Unknown, Precedence::EstablishedChallenger)
            .ends(&[end])
    }
}
