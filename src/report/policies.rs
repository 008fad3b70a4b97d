//! What policies come to, as JSON: `PolicyReport` and its parts (README.md#json).
//!
//! Owns: serializable views of effective policies and statuses.
//! Flows in: attachments, effective policies, statuses, the clusters of each Gateway. Flows out: values for serde.
//! Must not know: text reports, files.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::pointer;
use serde::Serialize;
use serde_json::Value;

use super::policy_view::PolicyView;
use crate::diagnostic::API_VERSION;
use crate::placing::Clusters;
use crate::policy::{
    AncestorStatus, Attachments, Condition, EffectivePolicies, KindId, MergeUnit, PathEffective, PolicyId,
    PolicyStatus, Rule, Statuses, displacing, flatten,
};
use crate::sync::LocalEffect;
use crate::topology::{GatewayId, Level, Node};

/// `policies -o json`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PolicyReport {
    /// `spokewright.dev/v1alpha1`.
    pub api_version: &'static str,
    /// `PolicyReport`.
    pub kind: &'static str,
    /// One entry per kind and path.
    pub effective: Vec<EffectiveEntry>,
    /// Gateways that policies are attached to and no path of that kind leads through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_paths: Vec<WithoutPaths>,
    /// One entry per policy.
    pub policies: Vec<PolicyEntry>,
}

/// A Gateway whose policies have nothing to hold for: no route hangs on it in the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WithoutPaths {
    /// The policy kind.
    pub kind: String,
    /// Its group.
    pub group: String,
    /// The Gateway's locator.
    pub gateway: String,
    /// The policies on it and its listeners.
    pub policies: Vec<String>,
    /// Where paths of this kind end: `route rule`.
    pub ends: &'static str,
}

/// What is known about clusters.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OnClusters<'c> {
    /// The clusters of each Gateway; `None`: nobody looked.
    pub clusters: Option<&'c Clusters>,
    /// What spoke-local policies do to synced ones, by cluster.
    pub effects: Option<&'c BTreeMap<String, Vec<LocalEffect>>>,
    /// Whether `clusters` is that of one cluster: what is neither placed nor lives there is left out.
    pub one: bool,
}

impl OnClusters<'_> {
    /// Whether a Gateway is to be spoken of.
    fn admits(&self, attachments: &Attachments<'_>, gateway: GatewayId) -> bool {
        let gateway = attachments.topology.gateways.get(gateway);
        let placed = || {
            self.clusters?
                .get(&gateway.object.key())
                .map(|clusters| !clusters.is_empty())
        };
        !self.one || gateway.local || placed().unwrap_or(false)
    }
}

/// What holds on one path.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
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
    pub fn new(attachments: &Attachments<'_>, kind: KindId, path: &PathEffective) -> Self {
        let profile = &attachments.kinds.get(kind).profile;
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
        Self {
            kind: profile.kind.clone(),
            group: profile.group.clone(),
            path: attachments.topology.path_locators(&path.path),
            rules: named.then(|| {
                let rules = effective.content.iter();
                rules
                    .map(|(id, leaf)| (id.to_string(), (*leaf.value).clone()))
                    .collect()
            }),
            rule_sources: named.then(|| {
                let rules = effective.content.iter();
                rules
                    .map(|(id, leaf)| (id.to_string(), locator(leaf.policy)))
                    .collect()
            }),
            source_policies: policies.into_iter().collect(),
            spec,
            sources,
        }
    }
}

/// The pointers of the fields of a leaf: a rule has several.
fn flatten_leaf(value: &Value, at: &str, field: &mut dyn FnMut(String)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                flatten(value, pointer::child(at, key), &mut |pointer, _| {
                    field(pointer);
                });
            }
        }
        _ => field(at.to_owned()),
    }
}

/// A policy and its predicted status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
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
    /// For each of them, and for whoever is in the way of a refused policy: the rule that decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionEntry>,
    /// Clusters of the Gateways that it reaches, sorted.
    pub clusters: Vec<String>,
    /// Clusters where something else holds than here: a spoke-local policy is in the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_clusters: Vec<OnCluster>,
}

/// Why another policy won.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct DecisionEntry {
    /// Its locator.
    pub winner: String,
    /// The rule's name: `first-by-name`.
    pub rule: &'static str,
    /// The rule in words.
    pub because: &'static str,
}

/// The status of a policy on one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OnCluster {
    /// The cluster.
    pub cluster: String,
    /// Condition Enforced, of kinds that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforced: Option<Condition>,
    /// Condition Programmed, of kinds that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programmed: Option<Condition>,
}

impl PolicyEntry {
    /// The entry of a policy; `there` is what becomes of it on single clusters.
    #[must_use]
    pub fn new(
        attachments: &Attachments<'_>,
        effective: &EffectivePolicies,
        (id, status): (PolicyId, &PolicyStatus),
        clusters: Option<&Clusters>,
        there: &[(&str, &LocalEffect)],
    ) -> Self {
        let names: BTreeSet<String> = status
            .gateways
            .iter()
            .map(|gateway| attachments.topology.gateways.get(*gateway))
            .filter_map(|gateway| clusters?.get(&gateway.object.key()))
            .flatten()
            .cloned()
            .collect();
        let by: BTreeSet<String> = status
            .tally
            .by
            .iter()
            .map(|id| attachments.locator(*id).to_string())
            .collect();
        let named = |effect: &Condition, name: &str| (effect.kind == name).then(|| effect.clone());
        let effect_named = |name: &str| status.effect.as_ref().and_then(|effect| named(effect, name));
        let on_clusters = there
            .iter()
            .map(|(cluster, effect)| OnCluster {
                cluster: (*cluster).to_owned(),
                enforced: named(&effect.condition, "Enforced"),
                programmed: named(&effect.condition, "Programmed"),
            })
            .collect();
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
            decisions: decisions(attachments, effective, id, status),
            clusters: names.into_iter().collect(),
            on_clusters,
        }
    }
}

/// The decisions against a policy, sorted.
fn decisions(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    id: PolicyId,
    status: &PolicyStatus,
) -> Vec<DecisionEntry> {
    let mut against: BTreeSet<(PolicyId, Rule)> = BTreeSet::new();
    if status.tally.lost {
        against.extend(displacing(attachments, effective, id));
    }
    for node in attachments.policy(id).nodes() {
        let by = attachments.conflicted_by(id, node);
        against.extend(by.map(|by| (by, attachments.rule_on_one_node(by, id))));
    }
    let entries: BTreeSet<DecisionEntry> = against
        .into_iter()
        .map(|(winner, rule)| DecisionEntry {
            winner: attachments.locator(winner).to_string(),
            rule: rule.name(),
            because: rule.because(),
        })
        .collect();
    entries.into_iter().collect()
}

impl PolicyReport {
    /// The whole report.
    #[must_use]
    pub fn of(view: &PolicyView<'_>) -> Self {
        let on = OnClusters {
            clusters: Some(&view.clusters),
            effects: Some(&view.effects),
            one: view.of_one_cluster,
        };
        Self::new(view.attachments, &view.effective, &view.statuses, on)
    }

    /// The report of what has been evaluated.
    pub(crate) fn new(
        attachments: &Attachments<'_>,
        effective: &EffectivePolicies,
        statuses: &Statuses,
        clusters: OnClusters<'_>,
    ) -> Self {
        let mut there: BTreeMap<PolicyId, Vec<(&str, &LocalEffect)>> = BTreeMap::new();
        for (cluster, effects) in clusters.effects.into_iter().flatten() {
            for effect in effects {
                there.entry(effect.policy).or_default().push((cluster, effect));
            }
        }
        Self {
            api_version: API_VERSION,
            kind: "PolicyReport",
            effective: effective
                .iter()
                .map(|(kind, path)| EffectiveEntry::new(attachments, kind, path))
                .collect(),
            without_paths: without_paths(attachments, effective, clusters),
            policies: statuses
                .iter()
                .filter(|(id, status)| {
                    let lives_there = attachments.policy(*id).local;
                    let admits = |gateway: &GatewayId| clusters.admits(attachments, *gateway);
                    !clusters.one || lives_there || status.gateways.iter().any(admits)
                })
                .map(|(id, status)| {
                    let there = there.get(&id).map(Vec::as_slice).unwrap_or_default();
                    PolicyEntry::new(attachments, effective, (id, status), clusters.clusters, there)
                })
                .collect(),
        }
    }
}

/// Gateways with policies of a kind and no path of it.
#[must_use]
fn without_paths(
    attachments: &Attachments<'_>,
    effective: &EffectivePolicies,
    clusters: OnClusters<'_>,
) -> Vec<WithoutPaths> {
    let mut found = Vec::new();
    for (position, kind) in attachments.kinds.iter() {
        for gateway in attachments.topology.gateways.ids() {
            if !effective.on(position, gateway).is_empty() || !clusters.admits(attachments, gateway) {
                continue;
            }
            let nodes = attachments.topology.nodes_of_gateway(gateway);
            let policies: BTreeSet<String> = nodes
                .iter()
                .flat_map(|node| attachments.on(position, *node))
                .map(|entry| attachments.locator(entry.policy).to_string())
                .collect();
            if !policies.is_empty() {
                found.push(WithoutPaths {
                    kind: kind.profile.kind.clone(),
                    group: kind.profile.group.clone(),
                    gateway: attachments.topology.locator(Node::Gateway(gateway)),
                    policies: policies.into_iter().collect(),
                    ends: kind.profile.ends.last().copied().unwrap_or(Level::Gateway).name(),
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
