//! Istio (docs/systems/other-policies.md#istio): policies add up. There is no single winner, except among
//! PeerAuthentications.

use crate::policy::profile::{MergeUnit, Precedence, Profile, SameTarget, StatusShape, Strategy, Wrappers};
use crate::topology::Level;

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        Profile {
            authorizes: true,
            ..kind("security.istio.io", "AuthorizationPolicy")
        },
        kind("security.istio.io", "RequestAuthentication"),
        kind("telemetry.istio.io", "Telemetry"),
        kind("extensions.istio.io", "TrafficExtension"),
        kind("extensions.istio.io", "WasmPlugin"),
        kind("networking.istio.io", "EnvoyFilter"),
        // Of the mesh, of a namespace, of workloads: the narrowest one says how a workload takes connections, and of two of
        // one width the oldest (`istio/istio pilot/pkg/model/authentication.go@1.30.3`). Listeners of Gateways have `tls`.
        Profile {
            // Istio skips modes that are UNSET (`isMtlsModeUnset` in the same file).
            unset_modes: true,
            ..kind("security.istio.io", "PeerAuthentication")
                .merges(Strategy::Patch, MergeUnit::JsonMergePatch)
                .same_target(SameTarget::Reject, Precedence::EstablishedChallenger)
                .ends(&[Level::Backend])
        },
    ]
}

fn kind(group: &str, kind: &str) -> Profile {
    Profile {
        of_workloads: true,
        status: StatusShape::Nothing,
        ..Profile::inherited(group, kind)
            .wrapped(Wrappers::Bare, None)
            .merges(Strategy::Atomic, MergeUnit::Whole)
            .same_target(SameTarget::AddUp, Precedence::EstablishedChallenger)
            .ends(&[Level::Gateway, Level::Backend])
    }
}
