//! NGINX Gateway Fabric (docs/systems/other-policies.md#nginx-gateway-fabric).
//!
//! Owns: the profiles of `gateway.nginx.org`. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{MergeUnit, Precedence, Profile, SameTarget, Strategy, Wrappers};
use crate::topology::Level;

const GROUP: &str = "gateway.nginx.org";

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        inherited("ClientSettingsPolicy"),
        inherited("ProxySettingsPolicy"),
        inherited("RateLimitPolicy"),
        inherited("WAFPolicy"),
        inherited("PayloadProcessor"),
        direct("ObservabilityPolicy", Level::Route),
        direct("SnippetsPolicy", Level::Gateway),
        direct("ExternalLoadBalancer", Level::Gateway),
        direct("UpstreamSettingsPolicy", Level::Backend),
    ]
}

fn inherited(kind: &str) -> Profile {
    Profile::inherited(GROUP, kind)
        .wrapped(Wrappers::Bare, None)
        .merges(Strategy::Patch, MergeUnit::JsonMergePatch)
        .same_target(SameTarget::Merge, Precedence::OldestWins)
        .ends(&[Level::Gateway, Level::Route])
}

fn direct(kind: &str, end: Level) -> Profile {
    Profile::direct(GROUP, kind).ends(&[end])
}
