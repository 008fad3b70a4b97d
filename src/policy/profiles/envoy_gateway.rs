//! Envoy Gateway (docs/systems/envoy-gateway.md): the most specific policy replaces the whole, unless it says
//! `mergeType` itself.

use crate::policy::profile::{
    AllowedTarget, Dictates, Level, MergeUnit, Precedence, Profile, SameTarget, Strategy, Wrappers,
    gateway_api, whole,
};

const GROUP: &str = "gateway.envoyproxy.io";

pub(super) fn profiles() -> Vec<Profile> {
    let every = [
        "Gateway",
        "HTTPRoute",
        "GRPCRoute",
        "TLSRoute",
        "TCPRoute",
        "UDPRoute",
    ];
    vec![
        inherited(
            "ClientTrafficPolicy",
            &["Gateway", "ListenerSet"],
            Level::Listener,
        ),
        inherited("BackendTrafficPolicy", &every, Level::Rule),
        inherited("EnvoyExtensionPolicy", &every, Level::Rule),
        inherited(
            "SecurityPolicy",
            &["Gateway", "HTTPRoute", "GRPCRoute"],
            Level::Rule,
        ),
        Profile::inherited(GROUP, "EnvoyPatchPolicy")
            .targets(&[
                whole("gateway.networking.k8s.io", "Gateway"),
                whole("gateway.networking.k8s.io", "GatewayClass"),
            ])
            .wrapped(Wrappers::Bare, None)
            .merges(Strategy::Atomic, MergeUnit::Whole)
            .same_target(SameTarget::AddUp, Precedence::Roles)
            .ends(&[Level::Gateway]),
    ]
}

fn inherited(kind: &str, targets: &[&str], end: Level) -> Profile {
    let targets: Vec<AllowedTarget> = targets.iter().map(|kind| gateway_api(kind)).collect();
    Profile {
        dictates: Dictates::Challenger,
        ..Profile::inherited(GROUP, kind)
            .targets(&targets)
            .wrapped(Wrappers::Bare, Some("mergeType"))
            .merges(Strategy::Atomic, MergeUnit::JsonMergePatch)
            .same_target(SameTarget::Reject, Precedence::Roles)
            .ends(&[end])
    }
}
