//! GKE (docs/systems/other-policies.md#gke): Direct kinds whose settings stand under `spec.default`.
//!
//! Owns: the profiles of `networking.gke.io`. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{AllowedTarget, Profile, TargetField, Wrappers, whole};
use crate::topology::Level;

const GROUP: &str = "networking.gke.io";

pub(super) fn profiles() -> Vec<Profile> {
    let gateway = [whole("gateway.networking.k8s.io", "Gateway")];
    let backends = [whole("", "Service"), whole("net.gke.io", "ServiceImport")];
    vec![
        kind("GCPGatewayPolicy", &gateway, Level::Gateway),
        kind("GCPBackendPolicy", &backends, Level::Backend),
        kind("HealthCheckPolicy", &backends, Level::Backend),
        kind("GCPSessionAffinityPolicy", &backends, Level::Backend),
        kind("GCPTrafficDistributionPolicy", &backends, Level::Backend),
        kind("GCPAuthzPolicy", &gateway, Level::Gateway),
    ]
}

fn kind(kind: &str, targets: &[AllowedTarget], end: Level) -> Profile {
    Profile::direct(GROUP, kind)
        .targets(targets)
        .by(&[TargetField::TargetRef, TargetField::TargetRefs])
        .wrapped(Wrappers::Default, None)
        .ends(&[end])
}
