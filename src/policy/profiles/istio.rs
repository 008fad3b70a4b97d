//! Istio (docs/systems/other-policies.md#istio): policies add up; there is never one winner.
//!
//! Owns: the profiles of Istio's kinds. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{MergeUnit, Precedence, Profile, SameTarget, Strategy, Wrappers};
use crate::topology::Level;

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        kind("security.istio.io", "AuthorizationPolicy"),
        kind("security.istio.io", "RequestAuthentication"),
        kind("telemetry.istio.io", "Telemetry"),
        kind("extensions.istio.io", "WasmPlugin"),
        kind("networking.istio.io", "EnvoyFilter"),
    ]
}

fn kind(group: &str, kind: &str) -> Profile {
    Profile {
        namespace_wide: true,
        ..Profile::inherited(group, kind)
            .wrapped(Wrappers::Bare, None)
            .merges(Strategy::Atomic, MergeUnit::Whole)
            .same_target(SameTarget::AddUp, Precedence::EstablishedChallenger)
            .ends(&[Level::Gateway, Level::Backend])
    }
}
