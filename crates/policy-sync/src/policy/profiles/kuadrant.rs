//! Kuadrant (docs/systems/kuadrant.md#policy-kinds).

use crate::policy::profile::{
    MergeUnit, Open, Paths, Precedence, Profile, RulePath, SameTarget, StatusShape, Strategy, Wrappers,
};
use crate::topology::Level;

const GROUP: &str = "kuadrant.io";

pub(super) fn profiles() -> Vec<Profile> {
    vec![
        Profile {
            // Without an identity that somebody has to show, and without a condition on it, everybody may come. None that is
            // configured counts as anonymous: Kuadrant/authorino controllers/auth_config_controller.go.
            open: vec![
                Open::new(&["authentication#*/anonymous"], &["authorization#*"]),
                Open::new(&[], &["authentication#*", "authorization#*"]),
            ],
            ..merging("AuthPolicy", auth_rules()).versions(&["v1"])
        },
        merging("RateLimitPolicy", limit_rules()).versions(&["v1"]),
        merging("TokenRateLimitPolicy", limit_rules()).versions(&["v1alpha1"]),
        per_listener("DNSPolicy").versions(&["v1"]),
        per_listener("TLSPolicy").versions(&["v1"]),
        extension("OIDCPolicy"),
        extension("PipelinePolicy"),
        extension("PlanPolicy"),
        extension("TelemetryPolicy"),
        extension("ThreatPolicy"),
    ]
}

/// Kinds whose named rules merge along GatewayClass > Gateway > listener > route > rule. Two on one target are both
/// accepted and fold like two levels: Kuadrant/kuadrant-operator api/v1/merge_strategies.go@v1.5.2.
fn merging(kind: &str, rules: Vec<RulePath>) -> Profile {
    of_product(GROUP, kind, SameTarget::Merge, Level::Rule)
        .wrapped(Wrappers::OneOfDefaultsOverrides, Some("strategy"))
        .merges(Strategy::Atomic, MergeUnit::Rules(rules))
}

/// Kinds that own listeners: a listener's policy takes it, a Gateway's takes the others; the older wins. Where two are
/// equally old Kuadrant refuses neither; here the name decides, because a tie is what a work makes
/// (docs/systems/kuadrant.md#policies-on-one-target).
fn per_listener(kind: &str) -> Profile {
    of_product(GROUP, kind, SameTarget::Reject, Level::Listener)
}

/// The extension kinds carry no label and merge nothing.
fn extension(kind: &str) -> Profile {
    of_product("extensions.kuadrant.io", kind, SameTarget::Merge, Level::Rule)
}

fn of_product(group: &str, kind: &str, same_target: SameTarget, end: Level) -> Profile {
    Profile {
        paths: Paths::EveryLevel,
        status: StatusShape::Kuadrant,
        ..Profile::inherited(group, kind)
            .wrapped(Wrappers::Bare, None)
            .merges(Strategy::Atomic, MergeUnit::Whole)
            .same_target(same_target, Precedence::EstablishedChallenger)
            .ends(&[end])
    }
}

fn each(pointer: &str, id: &str, essential: bool) -> RulePath {
    RulePath {
        pointer: pointer.to_owned(),
        each: true,
        id: id.to_owned(),
        essential,
    }
}

fn single(pointer: &str, id: &str, essential: bool) -> RulePath {
    RulePath {
        each: false,
        ..each(pointer, id, essential)
    }
}

fn limit_rules() -> Vec<RulePath> {
    vec![
        each("/limits", "", true),
        single("/when", "###_TOP_LEVEL_PREDICATES_###", false),
    ]
}

fn auth_rules() -> Vec<RulePath> {
    vec![
        each("/rules/authentication", "authentication#", true),
        each("/rules/metadata", "metadata#", true),
        each("/rules/authorization", "authorization#", true),
        each("/rules/callbacks", "callbacks#", true),
        single(
            "/rules/response/unauthenticated",
            "response.unauthenticated#",
            true,
        ),
        single("/rules/response/unauthorized", "response.unauthorized#", true),
        each(
            "/rules/response/success/headers",
            "response.success.headers#",
            true,
        ),
        each(
            "/rules/response/success/filters",
            "response.success.metadata#",
            true,
        ),
        each("/patterns", "patterns#", false),
        single("/when", "conditions#", false),
    ]
}
