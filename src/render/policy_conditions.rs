//! Which conditions a policy kind reports, so that feedback requests only those that exist
//! (docs/reference/what-is-rendered.md).
//!
//! Owns: the table of kinds. Flows in: a kind, the CRDs of the input. Flows out: [`PolicyConditions`]. Must not know:
//! feedback rules.

use crate::hub::Hub;
use apimachinery::GroupKind;

/// Where the conditions of a kind are, and their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PolicyConditions {
    /// `status.ancestors[].conditions` instead of `status.conditions`.
    pub ancestors: bool,
    /// The condition for an accepted policy, if there is one: `Accepted`, or its equivalent.
    pub acceptance: Option<&'static str>,
    /// The condition for a policy in effect, if the kind has one.
    pub outcome: Option<&'static str>,
}

/// Group, kinds (none: all others of the group), ancestors, acceptance, outcome.
type Row = (
    &'static str,
    &'static [&'static str],
    bool,
    &'static str,
    Option<&'static str>,
);

const GKE_FLAT: &[&str] = &[
    "GCPBackendPolicy",
    "GCPGatewayPolicy",
    "GCPSessionAffinityPolicy",
    "HealthCheckPolicy",
];

/// How policies report. Facts: docs/systems/kuadrant.md#conditions, docs/systems/envoy-gateway.md#status,
/// docs/systems/other-policies.md.
#[rustfmt::skip] // one row a line
const ROWS: &[Row] = &[
    ("extensions.kuadrant.io", &[], false, "Accepted", Some("Enforced")),
    ("gateway.envoyproxy.io", &["EnvoyPatchPolicy"], true, "Accepted", Some("Programmed")),
    ("gateway.envoyproxy.io", &[], true, "Accepted", None),
    ("gateway.kgateway.dev", &[], true, "Accepted", Some("Attached")),
    ("gateway.networking.k8s.io", &[], true, "Accepted", None),
    ("gateway.networking.x-k8s.io", &[], true, "Accepted", None),
    ("gateway.nginx.org", &["WAFPolicy"], true, "Accepted", Some("Programmed")),
    ("gateway.nginx.org", &[], true, "Accepted", None),
    ("kuadrant.io", &[], false, "Accepted", Some("Enforced")),
    ("networking.gke.io", GKE_FLAT, false, "Attached", None),
    ("networking.gke.io", &["GCPRoutingExtension", "GCPTrafficExtension"], true, "Accepted", None),
    ("networking.gke.io", &[], true, "Attached", None),
];

/// The status of a kind: built in; else the one in its CRD; else the one that GEP-713 requires of a policy.
pub(crate) fn policy_conditions(kind: &GroupKind, hub: &Hub) -> PolicyConditions {
    // Istio writes no condition of Gateway API (docs/systems/other-policies.md#istio): nobody waits for one.
    if kind.group.ends_with(".istio.io") {
        return PolicyConditions {
            ancestors: false,
            acceptance: None,
            outcome: None,
        };
    }
    let is_of = |(group, kinds, ..): &&Row| {
        *group == kind.group && (kinds.is_empty() || kinds.contains(&kind.kind.as_str()))
    };
    if let Some((_, _, ancestors, acceptance, outcome)) = ROWS.iter().find(is_of) {
        return PolicyConditions {
            ancestors: *ancestors,
            acceptance: Some(acceptance),
            outcome: *outcome,
        };
    }
    let schemas = hub.crds.get(kind).into_iter().flat_map(|crd| &crd.versions);
    let ancestors = schemas
        .filter_map(|version| version.schema.as_ref())
        .any(|schema| schema.has_field(&["status", "ancestors"]));
    PolicyConditions {
        ancestors,
        acceptance: Some("Accepted"),
        outcome: (!ancestors).then_some("Programmed"),
    }
}
