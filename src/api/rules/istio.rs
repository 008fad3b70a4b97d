//! Istio's policies that have targets or select workloads (docs/systems/other-policies.md#istio).
//!
//! Owns: that they do one of it. Flows in: policies. Flows out: complaints. Must not know: which targets they may have.

use super::choices::at_most_one;
use super::complaints::Complaints;

/// A policy of Istio. PeerAuthentications and EnvoyFilters are not held to it by their CRDs.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    if matches!(
        complaints.kind(),
        "AuthorizationPolicy" | "RequestAuthentication" | "Telemetry" | "TrafficExtension" | "WasmPlugin"
    ) {
        let spec = complaints.spec();
        at_most_one(complaints, &spec, &["targetRef", "targetRefs", "selector"]);
    }
}
