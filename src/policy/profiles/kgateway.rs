//! kgateway (docs/systems/other-policies.md#kgateway): labelled Direct, behaves like Inherited; the more
//! specific wins per field.
//!
//! Owns: the profiles of `gateway.kgateway.dev`. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{
    AllowedTarget, MergeUnit, Precedence, Profile, SameTarget, Strategy, Wrappers, gateway_api, service,
    whole,
};
use crate::topology::Level;

const GROUP: &str = "gateway.kgateway.dev";

pub(super) fn profiles() -> Vec<Profile> {
    let listeners = [gateway_api("Gateway"), gateway_api("ListenerSet")];
    let backend = whole(GROUP, "Backend");
    vec![
        kind(
            "TrafficPolicy",
            &[
                gateway_api("Gateway"),
                gateway_api("ListenerSet"),
                gateway_api("HTTPRoute"),
                backend.clone(),
            ],
            &[Level::Rule],
        ),
        kind("HTTPListenerPolicy", &listeners, &[Level::Listener]),
        kind("ListenerPolicy", &listeners, &[Level::Listener]),
        kind("BackendConfigPolicy", &[service(), backend], &[Level::Backend]),
    ]
}

fn kind(kind: &str, targets: &[AllowedTarget], ends: &[Level]) -> Profile {
    Profile::inherited(GROUP, kind)
        .targets(targets)
        .wrapped(Wrappers::Bare, None)
        .merges(Strategy::Patch, MergeUnit::JsonMergePatch)
        .same_target(SameTarget::Merge, Precedence::OldestWins)
        .ends(ends)
}
