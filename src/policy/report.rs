//! The JSON shapes that others rely on: `PolicyReport` (design section 10) and its parts.
//!
//! Owns: serialisable views of effective policies and statuses.
//! Flows in: attachments, effective policies, statuses, the clusters of each Gateway. Flows out: values for serde.
//! Must not know: text reports, files.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::attachment::{Attachments, PolicyId};
use super::effective::{EffectivePolicies, PathEffective};
use super::profile::MergeUnit;
use super::reach::Clusters;
use super::settings::{escape, flatten};
use super::status::{AncestorStatus, Condition, PolicyStatus, Statuses};

/// `policies -o json`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReport {
    /// `spokewright.dev/v1alpha1`.
    pub api_version: &'static str,
    /// `PolicyReport`.
    pub kind: &'static str,
    /// One entry per kind and path.
    pub effective: Vec<EffectiveEntry>,
    /// One entry per policy.
    pub policies: Vec<PolicyEntry>,
}

/// What holds on one path.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveEntry {
    /// The policy kind.
    pub kind: String,
    /// Its group: two products may use one kind's name.
    pub group: String,
    /// Locators from the GatewayClass on.
    pub path: Vec<String>,
    /// Rule id to value; of kinds with named rules, and of kinds that add up (policy to settings).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<BTreeMap<String, Value>>,
    /// Rule id to the policy that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_sources: Option<BTreeMap<String, String>>,
    /// All sources, sorted.
    pub source_policies: Vec<String>,
    /// The result as a spec; none where policies add up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<Value>,
    /// JSON pointer in `spec` to the policy that the value comes from.
    pub sources: BTreeMap<String, String>,
}

impl EffectiveEntry {
    /// The entry of a path.
    #[must_use]
    pub fn new(attachments: &Attachments<'_>, kind: usize, path: &PathEffective) -> Option<Self> {
        let profile = &attachments.kinds.get(kind)?.profile;
        let effective = &path.effective;
        let locator = |id: PolicyId| attachments.locator(id).to_string();
        let spec = effective.spec(profile);
        let named = spec.is_none() || matches!(profile.unit, MergeUnit::Rules(_));
        let mut sources = BTreeMap::new();
        if spec.is_some() {
            for leaf in effective.content.values() {
                flatten_leaf(&leaf.value, &leaf.at, &mut |pointer| {
                    sources.insert(pointer, locator(leaf.policy));
                });
            }
        }
        let policies: BTreeSet<String> = effective.sources().into_iter().map(locator).collect();
        Some(Self {
            kind: profile.kind.clone(),
            group: profile.group.clone(),
            path: attachments.topology.path_locators(&path.path),
            rules: named.then(|| {
                let rules = effective.content.iter();
                rules.map(|(id, leaf)| (id.to_string(), leaf.reported())).collect()
            }),
            rule_sources: named.then(|| {
                let rules = effective.content.iter();
                rules.map(|(id, leaf)| (id.to_string(), locator(leaf.policy))).collect()
            }),
            source_policies: policies.into_iter().collect(),
            spec,
            sources,
        })
    }
}

/// The pointers of the fields of a leaf: a rule has several.
fn flatten_leaf(value: &Value, at: &str, field: &mut dyn FnMut(String)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                flatten(value, format!("{at}/{}", escape(key)), &mut |pointer, _| field(pointer));
            }
        }
        _ => field(at.to_owned()),
    }
}

/// A policy and its predicted status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyEntry {
    /// Locator.
    pub policy: String,
    /// Condition Accepted.
    pub accepted: Condition,
    /// Condition Enforced, of kinds that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforced: Option<Condition>,
    /// Condition Programmed, of kinds that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programmed: Option<Condition>,
    /// All conditions.
    pub conditions: Vec<Condition>,
    /// `status.ancestors`, of kinds that have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<AncestorStatus>,
    /// Who took the place of what does not hold, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden_by: Vec<String>,
    /// Clusters of the Gateways that it reaches, sorted.
    pub clusters: Vec<String>,
}

impl PolicyEntry {
    /// The entry of a policy.
    #[must_use]
    pub fn new(attachments: &Attachments<'_>, id: PolicyId, status: &PolicyStatus, clusters: &Clusters) -> Self {
        let names: BTreeSet<String> = status
            .gateways
            .iter()
            .filter_map(|gateway| attachments.topology.gateway(*gateway))
            .filter_map(|gateway| clusters.get(&gateway.object.key()))
            .flatten()
            .cloned()
            .collect();
        let by: BTreeSet<String> = status
            .tally
            .by
            .iter()
            .map(|id| attachments.locator(*id).to_string())
            .collect();
        let effect_named = |name: &str| status.effect.clone().filter(|effect| effect.kind == name);
        Self {
            policy: attachments.locator(id).to_string(),
            accepted: status.accepted.clone(),
            enforced: effect_named("Enforced"),
            programmed: effect_named("Programmed"),
            conditions: std::iter::once(status.accepted.clone())
                .chain(status.effect.clone())
                .collect(),
            ancestors: status.ancestors.clone(),
            overridden_by: by.into_iter().collect(),
            clusters: names.into_iter().collect(),
        }
    }
}

impl PolicyReport {
    /// The whole report.
    #[must_use]
    pub fn new(
        attachments: &Attachments<'_>,
        effective: &EffectivePolicies,
        statuses: &Statuses,
        clusters: &Clusters,
    ) -> Self {
        Self {
            api_version: "spokewright.dev/v1alpha1",
            kind: "PolicyReport",
            effective: effective
                .iter()
                .filter_map(|(kind, path)| EffectiveEntry::new(attachments, kind, path))
                .collect(),
            policies: statuses
                .iter()
                .map(|(id, status)| PolicyEntry::new(attachments, id, status, clusters))
                .collect(),
        }
    }
}
