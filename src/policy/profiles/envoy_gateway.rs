//! Envoy Gateway (docs/systems/envoy-gateway.md): the most specific policy replaces the whole, unless it says
//! `mergeType` itself.
//!
//! Owns: the profiles of `gateway.envoyproxy.io`. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{Dictates, MergeUnit, Precedence, Profile, SameTarget, Strategy, Wrappers};
use crate::topology::Level;

const GROUP: &str = "gateway.envoyproxy.io";

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        inherited("ClientTrafficPolicy", Level::Listener),
        inherited("BackendTrafficPolicy", Level::Rule),
        inherited("EnvoyExtensionPolicy", Level::Rule),
        inherited("SecurityPolicy", Level::Rule),
        Profile::inherited(GROUP, "EnvoyPatchPolicy")
            .wrapped(Wrappers::Bare, None)
            // All of them apply: envoyproxy/gateway internal/gatewayapi/envoypatchpolicy.go@v1.9.0.
            .merges(Strategy::Atomic, MergeUnit::Whole)
            .same_target(SameTarget::AddUp, Precedence::EstablishedChallenger)
            .ends(&[Level::Gateway]),
    ]
}

fn inherited(kind: &str, end: Level) -> Profile {
    Profile {
        // `mergeType` counts on the more specific policy (docs/systems/envoy-gateway.md#merge-types).
        dictates: Dictates::Challenger,
        ..Profile::inherited(GROUP, kind)
            .wrapped(Wrappers::Bare, Some("mergeType"))
            // Also for `StrategicMerge`, whose lists would need the controller's Go tags to be merged by key
            // (docs/systems/envoy-gateway.md#not-followed-yet).
            .merges(Strategy::Atomic, MergeUnit::JsonMergePatch)
            .same_target(SameTarget::Reject, Precedence::EstablishedChallenger)
            .ends(&[end])
    }
}
