//! Envoy Gateway (docs/systems/envoy-gateway.md): the most specific policy replaces all others, unless it sets
//! `mergeType` itself.

use crate::policy::profile::{
    Dictates, Filled, ListKey, MergeUnit, Open, Precedence, Profile, SameTarget, StatusShape, Strategy,
    Wrappers, owned,
};
use crate::topology::Level;

pub(in crate::policy) const GROUP: &str = "gateway.envoyproxy.io";

/// The fields of a SecurityPolicy that authenticate.
const IDENTITIES: [&str; 5] = ["/apiKeyAuth", "/basicAuth", "/extAuth", "/jwt", "/oidc"];

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        kind("ClientTrafficPolicy", Level::Listener).wrapped(Wrappers::Bare, None),
        Profile {
            list_keys: vec![
                ListKey::keyed("/compression", "type"),
                ListKey::keyed("/compressor", "type"),
                ListKey::keyed("/httpUpgrade", "type"),
                // Each rule gets the name of its policy before they are merged, so that no two are one.
                ListKey::all("/rateLimit/global/rules"),
                // A rule for all clients is then not a rule but the default, and there is only one.
                ListKey {
                    without: Some("clientSelectors".to_owned()),
                    ..ListKey::all("/rateLimit/local/rules")
                },
            ],
            // The controller sets what is not set yet of a TCP or UDP route, and of an HTTP route all or nothing
            // (docs/systems/envoy-gateway.md#levels).
            filled: vec![
                filled(
                    &["TCPRoute", "TLSRoute"],
                    &[
                        "loadBalancer",
                        "proxyProtocol",
                        "healthCheck",
                        "circuitBreaker",
                        "tcpKeepalive",
                        "timeout",
                        "dns",
                    ],
                ),
                filled(&["UDPRoute"], &["loadBalancer", "dns"]),
            ],
            ..kind("BackendTrafficPolicy", Level::Rule)
        },
        kind("EnvoyExtensionPolicy", Level::Rule),
        Profile {
            list_keys: vec![ListKey::keyed("/extAuth/contextExtensions", "name")],
            // Regardless of the other settings on the Gateway, a TCP route has no requests that it could apply to.
            filled: vec![Filled {
                only: true,
                ..filled(&["TCPRoute"], &["authorization"])
            }],
            // One with CORS alone does not restrict clients, and one may let all of them in.
            open: vec![
                Open::new(&[], &[IDENTITIES.as_slice(), &["/authorization"]].concat()),
                Open::new(
                    &["/authorization/defaultAction=Allow"],
                    &[IDENTITIES.as_slice(), &["/authorization/rules"]].concat(),
                ),
            ],
            ..kind("SecurityPolicy", Level::Rule)
        },
        Profile {
            priority_field: Some("priority".to_owned()),
            ..Profile::inherited(GROUP, "EnvoyPatchPolicy")
                .wrapped(Wrappers::Bare, None)
                // All of them apply: envoyproxy/gateway internal/gatewayapi/envoypatchpolicy.go@v1.9.0.
                .merges(Strategy::Atomic, MergeUnit::Whole)
                .same_target(SameTarget::AddUp, Precedence::EstablishedChallenger)
                .ends(&[Level::Gateway])
        },
    ]
}

/// A kind of which one policy applies to a target (docs/systems/envoy-gateway.md#merge-types).
fn kind(kind: &str, end: Level) -> Profile {
    Profile {
        dictates: Dictates::Challenger,
        status: StatusShape::EnvoyGateway,
        ..Profile::inherited(GROUP, kind)
            .wrapped(Wrappers::Bare, Some("mergeType"))
            .merges(Strategy::Atomic, MergeUnit::JsonMergePatch)
            .same_target(SameTarget::Reject, Precedence::EstablishedChallenger)
            .ends(&[end])
    }
}

fn filled(routes: &[&str], fields: &[&str]) -> Filled {
    Filled {
        routes: owned(routes),
        fields: owned(fields),
        only: false,
    }
}
