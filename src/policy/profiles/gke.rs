//! GKE (docs/systems/other-policies.md#gke): Direct kinds; the settings of four stand under `spec.default`.
//!
//! Owns: the profiles of `networking.gke.io`. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{Profile, StatusShape, Wrappers};
use crate::topology::Level;

const GROUP: &str = "networking.gke.io";

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        kind("GCPGatewayPolicy", Wrappers::Default, Level::Gateway),
        kind("GCPBackendPolicy", Wrappers::Default, Level::Backend),
        kind("HealthCheckPolicy", Wrappers::Default, Level::Backend),
        kind("GCPTrafficDistributionPolicy", Wrappers::Default, Level::Backend),
        kind("GCPSessionAffinityPolicy", Wrappers::Bare, Level::Backend),
        kind("GCPAuthzPolicy", Wrappers::Bare, Level::Gateway),
        extension("GCPTrafficExtension"),
        extension("GCPRoutingExtension"),
        kind("GCPClientTLSPolicy", Wrappers::Bare, Level::Port),
        // It targets Pods by their labels: no path from a Gateway ends there.
        kind("GCPServerTLSPolicy", Wrappers::Bare, Level::Backend),
    ]
}

fn kind(kind: &str, wrappers: Wrappers, end: Level) -> Profile {
    Profile {
        status: StatusShape::Attached,
        ..Profile::direct(GROUP, kind).wrapped(wrappers, None).ends(&[end])
    }
}

/// These report Accepted for each ancestor.
fn extension(kind: &str) -> Profile {
    Profile {
        status: StatusShape::Accepted,
        ..self::kind(kind, Wrappers::Bare, Level::Gateway)
    }
}
