//! Which conditions a policy kind reports, so that feedback asks for what is there
//! (README.md#what-is-rendered).
//!
//! Owns: the table of groups. Flows in: a kind, the CRDs of the input. Flows out: [`PolicyConditions`]. Must not know:
//! feedback rules.

use crate::hub::Hub;
use apimachinery::GroupKind;

/// Where the conditions of a kind stand, and which one says that the policy took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PolicyConditions {
    /// `status.ancestors[].conditions` instead of `status.conditions`.
    pub ancestors: bool,
    /// Whether there is an `Accepted`.
    pub accepted: bool,
    /// `Enforced` or `Programmed`, where the kind has one of them.
    pub outcome: Option<&'static str>,
}

/// Groups whose policies report in one way: (group, ancestors, outcome). Facts:
/// docs/systems/kuadrant.md#conditions, docs/systems/envoy-gateway.md#status, docs/systems/other-policies.md.
const GROUPS: &[(&str, bool, Option<&str>)] = &[
    ("extensions.kuadrant.io", false, Some("Enforced")),
    ("gateway.envoyproxy.io", true, None),
    ("gateway.kgateway.dev", true, None),
    ("gateway.networking.k8s.io", true, None),
    ("gateway.networking.x-k8s.io", true, None),
    ("gateway.nginx.org", true, None),
    ("kuadrant.io", false, Some("Enforced")),
    ("networking.gke.io", false, None),
];

/// The status of a kind: built in; else what its CRD has; else what GEP-713 asks of a policy.
#[must_use]
pub(crate) fn policy_conditions(kind: &GroupKind, hub: &Hub) -> PolicyConditions {
    // Istio writes no condition of Gateway API (docs/systems/other-policies.md#istio): nobody waits for one.
    if kind.group.ends_with(".istio.io") {
        return PolicyConditions {
            ancestors: false,
            accepted: false,
            outcome: None,
        };
    }
    if let Some((_, ancestors, outcome)) = GROUPS.iter().find(|(group, ..)| *group == kind.group) {
        return PolicyConditions {
            ancestors: *ancestors,
            accepted: true,
            outcome: *outcome,
        };
    }
    let schemas = hub.crds.get(kind).into_iter().flat_map(|crd| &crd.versions);
    let ancestors = schemas
        .filter_map(|version| version.schema.as_ref())
        .any(|schema| schema.has_field(&["status", "ancestors"]));
    PolicyConditions {
        ancestors,
        accepted: true,
        outcome: (!ancestors).then_some("Programmed"),
    }
}
