//! NGINX Gateway Fabric (docs/systems/other-policies.md#nginx-gateway-fabric).
//!
//! Owns: the profiles of `gateway.nginx.org`. Flows in: nothing. Flows out: profiles. Must not know: objects.

use crate::policy::profile::{
    AllowedTarget, MergeUnit, Precedence, Profile, SameTarget, Strategy, Wrappers, gateway_api, whole,
};
use crate::topology::Level;

const GROUP: &str = "gateway.nginx.org";

pub(super) fn profiles() -> Vec<Profile> {
    let everywhere = ["Gateway", "HTTPRoute", "GRPCRoute"];
    vec![
        inherited("ClientSettingsPolicy", &everywhere),
        inherited("ProxySettingsPolicy", &everywhere),
        inherited("RateLimitPolicy", &everywhere),
        direct("ObservabilityPolicy", &["HTTPRoute", "GRPCRoute"], Level::Route),
        direct("SnippetsPolicy", &everywhere, Level::Route),
        direct("WAFPolicy", &everywhere, Level::Route),
        Profile::direct(GROUP, "UpstreamSettingsPolicy")
            .targets(&[whole("", "Service")])
            .ends(&[Level::Backend]),
    ]
}

fn inherited(kind: &str, targets: &[&str]) -> Profile {
    Profile::inherited(GROUP, kind)
        .targets(&kinds(targets))
        .wrapped(Wrappers::Bare, None)
        .merges(Strategy::Patch, MergeUnit::JsonMergePatch)
        .same_target(SameTarget::Merge, Precedence::OldestWins)
        .ends(&[Level::Gateway, Level::Route])
}

fn direct(kind: &str, targets: &[&str], end: Level) -> Profile {
    let mut ends = vec![end];
    if targets.contains(&"Gateway") {
        ends.insert(0, Level::Gateway);
    }
    Profile::direct(GROUP, kind).targets(&kinds(targets)).ends(&ends)
}

fn kinds(targets: &[&str]) -> Vec<AllowedTarget> {
    targets
        .iter()
        .map(|kind| AllowedTarget {
            sections: false,
            ..gateway_api(kind)
        })
        .collect()
}
