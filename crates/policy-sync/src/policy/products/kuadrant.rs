//! Kuadrant (docs/systems/kuadrant.md#policy-kinds).

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::Field;

use crate::object::Object;
use crate::policy::profile::{
    MergeUnit, Open, Paths, Precedence, Profile, RulePath, SameTarget, StatusShape, Strategy, Wrappers,
};
use crate::topology::{GatewayId, Level, ListenerId, Topology};

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

#[rustfmt::skip] // one rule a line
fn auth_rules() -> Vec<RulePath> {
    vec![
        each("/rules/authentication", "authentication#", true),
        each("/rules/metadata", "metadata#", true),
        each("/rules/authorization", "authorization#", true),
        each("/rules/callbacks", "callbacks#", true),
        single("/rules/response/unauthenticated", "response.unauthenticated#", true),
        single("/rules/response/unauthorized", "response.unauthorized#", true),
        each("/rules/response/success/headers", "response.success.headers#", true),
        each("/rules/response/success/filters", "response.success.metadata#", true),
        each("/patterns", "patterns#", false),
        single("/when", "conditions#", false),
    ]
}

/// The listeners of a Gateway at which the controller of a kind does not act. Kuadrant follows no ListenerSet, neither in
/// Kuadrant/policy-machinery@v0.7.1 nor in Kuadrant/kuadrant-operator@v1.5.2.
pub(crate) fn ignored_listeners(
    profile: &Profile,
    topology: &Topology<'_>,
    gateway: GatewayId,
) -> BTreeSet<ListenerId> {
    if profile.status != StatusShape::Kuadrant {
        return BTreeSet::new();
    }
    let gateway = topology.gateways.get(gateway);
    let is_tls_policy = profile.kind == "TLSPolicy";
    let faults = is_tls_policy.then(|| certificate_faults(gateway.object));
    let faults = faults.unwrap_or_default();
    let is_ignored = |listener: &ListenerId| {
        let node = topology.listeners.get(*listener);
        // Where there is no TLS, its place is that of any policy.
        let is_of_tls = ["HTTPS", "TLS"].contains(&node.protocol);
        node.set.is_some() || (is_of_tls && faults.contains_key(node.pointer))
    };
    gateway.listeners.iter().copied().filter(is_ignored).collect()
}

/// The listeners of a Gateway, by their pointers, for which a TLSPolicy makes no Certificate, and why:
/// Kuadrant/kuadrant-operator internal/controller/effective_tls_policies_reconciler.go@v1.5.2.
pub(crate) fn certificate_faults(gateway: &Object) -> BTreeMap<String, String> {
    let own = gateway.namespace_or_empty();
    let listeners = gateway.root().get("spec").get("listeners");
    let listeners = listeners.items().map(|listener| {
        let secrets = listener.get("tls").get("certificateRefs").items();
        let secrets = secrets.map(|secret| {
            let namespace = secret.text("namespace").filter(|namespace| !namespace.is_empty());
            (namespace.unwrap_or(own), secret.text("name").unwrap_or_default())
        });
        (listener, secrets.collect())
    });
    let listeners: Vec<(Field<'_>, BTreeSet<(&str, &str)>)> = listeners.collect();
    let mut named_by: BTreeMap<&(&str, &str), Vec<usize>> = BTreeMap::new();
    for (position, (_, secrets)) in listeners.iter().enumerate() {
        for secret in secrets {
            named_by.entry(secret).or_default().push(position);
        }
    }
    let fault = |position: usize, (listener, secrets): &(Field<'_>, BTreeSet<(&str, &str)>)| {
        let mode = listener.get("tls").text("mode").unwrap_or_default();
        let hostname = listener.text("hostname").unwrap_or_default();
        let is_elsewhere = secrets.iter().any(|(namespace, _)| *namespace != own);
        let faults = [
            (listener.member("tls").is_none(), "it has no `tls`"),
            (!["", "Terminate"].contains(&mode), "TLS does not end there"),
            (hostname.is_empty(), "it has no hostname"),
            (secrets.is_empty(), "it names no Secret"),
            (is_elsewhere, "its Secret is in another namespace"),
        ];
        if let Some((_, fault)) = faults.into_iter().find(|(is_so, _)| *is_so) {
            return Some(fault.to_owned());
        }
        let mut others = secrets.iter().filter_map(|secret| {
            let mut others = named_by.get(secret)?.iter().filter(|other| **other != position);
            listeners.get(*others.next()?)
        });
        let name = others.next()?.0.text("name").unwrap_or_default();
        Some(format!("listener `{name}` names its Secret, too"))
    };
    let faults = listeners.iter().enumerate();
    let faults = faults.filter_map(|(position, listener)| {
        let fault = fault(position, listener)?;
        Some((listener.0.pointer(), fault))
    });
    faults.collect()
}
