//! What reaches a spoke, and what is withheld and why.
//!
//! Owns: the same-target rule of docs/systems/why-we-differ.md#policies-on-one-target: the winner alone, one
//! merged policy, or all; and per cluster, what spoke-local policies take from it.
//! Flows in: attachments, the local policies of a cluster. Flows out: [`Decision`]s per Gateway or route.
//! Must not know: works, names on the spoke, placements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::local_policies::Locals;
use super::merged_policy::{contest, contributors, merged_spec};
use crate::policy::attachment::{Attachments, PolicyId};
use crate::policy::leaves::unflatten;
use crate::policy::local_wins::without_rules_of;
use crate::policy::merge::Entry;
use crate::policy::node::Node;
use crate::policy::precedence::Rule;
use crate::policy::profile::{Profile, SameTarget};
use crate::policy::settings::{Content, Layer, Leaf, exchanged};

/// What happens to the policies of one kind on one node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// Position of the kind in [`Attachments::kinds`].
    pub kind: usize,
    /// The node; `None` only in the default.
    pub node: Option<Node>,
    /// What is shipped: one policy, or all of a kind that adds up.
    pub shipped: Vec<Shipped>,
    /// What is not.
    pub withheld: Vec<Withheld>,
}

/// A policy that is shipped for one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Shipped {
    /// The policy whose name, labels and wrapper the object has.
    pub policy: PolicyId,
    /// Pointers of its references to this target: `/spec/targetRefs/0`.
    pub references: Vec<String>,
    /// What its spec says.
    pub content: ShippedSpec,
}

/// The spec of a shipped policy. Target references are the author's; whoever writes the object points them at the
/// downstream Gateway.
#[derive(Debug, Clone, PartialEq)]
pub enum ShippedSpec {
    /// As the author wrote it.
    AsWritten,
    /// With other settings.
    Rewritten {
        /// The whole spec.
        spec: Box<Value>,
        /// The policies that the settings come from, sorted, and the one that lends its name; more than one: a merged
        /// policy.
        sources: Vec<PolicyId>,
        /// Of a merged policy: which one each setting comes from, by rule id or JSON pointer.
        settings: BTreeMap<Arc<str>, PolicyId>,
    },
}

/// A policy that is not shipped for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// The policy.
    pub policy: PolicyId,
    /// Whose takes its place.
    pub by: Displacer,
    /// The rule that decided.
    pub rule: Rule,
}

/// Who takes the place of a withheld policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Displacer {
    /// Another policy of the hub.
    Hub(PolicyId),
    /// A policy that lives on the cluster.
    Local {
        /// Its locator.
        locator: String,
        /// Its `namespace/name`.
        key: String,
    },
}

/// The decisions for some nodes and kinds, on a cluster where nothing else lives. Nodes without policies are left out.
#[must_use]
pub fn decisions(attachments: &Attachments<'_>, nodes: &[Node], kinds: &BTreeSet<usize>) -> Vec<Decision> {
    on_cluster(attachments, nodes, kinds, None)
}

/// The decisions for some nodes and kinds on a cluster with these local policies.
#[must_use]
pub fn on_cluster(
    attachments: &Attachments<'_>,
    nodes: &[Node],
    kinds: &BTreeSet<usize>,
    locals: Option<&Locals<'_>>,
) -> Vec<Decision> {
    let mut decisions = Vec::new();
    for kind in kinds {
        for node in nodes {
            let Some(decision) = decide(attachments, *kind, *node) else {
                continue;
            };
            let there = locals.map(|locals| locals.on(*kind, *node)).unwrap_or_default();
            decisions.push(if there.is_empty() {
                decision
            } else {
                beside_locals(attachments, decision, there)
            });
        }
    }
    decisions
}

/// The decision for one kind on one node; `None` when no policy is there.
#[must_use]
pub fn decide(attachments: &Attachments<'_>, kind: usize, node: Node) -> Option<Decision> {
    let known = attachments.kinds.get(kind)?;
    let placed = known.nodes.get(&node)?;
    let profile = known.profile.as_ref();
    let mut decision = Decision {
        kind,
        node: Some(node),
        ..Decision::default()
    };
    let entries = placed.accepted.as_slice();
    let first = entries.first()?;
    match profile.same_target {
        SameTarget::AddUp => {
            for entry in entries {
                decision.shipped.push(as_written(attachments, entry.policy, node));
            }
        }
        SameTarget::Reject => {
            decision.shipped.push(as_written(attachments, first.policy, node));
            for loser in &placed.rejected {
                withhold(attachments, &mut decision, *loser, first.policy);
            }
        }
        SameTarget::Merge => {
            let Some((winner, merged)) = contest(profile, entries) else {
                return Some(decision);
            };
            let contributors = merged.as_ref().map(|content| contributors(winner, content));
            match (&merged, &contributors) {
                (Some(content), Some(sources)) => {
                    let spec = merged_spec(attachments, profile, winner, entries, content)?;
                    decision.shipped.push(Shipped {
                        policy: winner.policy,
                        references: references(attachments, winner.policy, node),
                        content: ShippedSpec::Rewritten {
                            spec: Box::new(spec),
                            sources: sources.iter().copied().collect(),
                            settings: content
                                .iter()
                                .map(|(setting, leaf)| (Arc::clone(setting), leaf.policy))
                                .collect(),
                        },
                    });
                }
                _ => decision
                    .shipped
                    .push(as_written(attachments, winner.policy, node)),
            }
            let kept = contributors.unwrap_or_else(|| BTreeSet::from([winner.policy]));
            for loser in entries.iter().filter(|entry| !kept.contains(&entry.policy)) {
                let by = displacer(loser, merged.as_deref(), winner.policy);
                withhold(attachments, &mut decision, loser.policy, by);
            }
        }
    }
    Some(decision)
}

fn as_written(attachments: &Attachments<'_>, policy: PolicyId, node: Node) -> Shipped {
    Shipped {
        policy,
        references: references(attachments, policy, node),
        content: ShippedSpec::AsWritten,
    }
}

fn references(attachments: &Attachments<'_>, policy: PolicyId, node: Node) -> Vec<String> {
    let targets = attachments.policy(policy).map(|policy| policy.targets.as_slice());
    let here = targets
        .unwrap_or_default()
        .iter()
        .filter(|declared| declared.target == crate::policy::targets::Target::Attached(node));
    let pointers: BTreeSet<String> = here.map(|declared| declared.pointer.clone()).collect();
    pointers.into_iter().collect()
}

/// Whose value stands where the loser's would: by name, else the name-giver's.
fn displacer(loser: &Entry, merged: Option<&Content>, winner: PolicyId) -> PolicyId {
    let keys = loser.layers.iter().flat_map(|layer| layer.content.keys());
    merged
        .and_then(|content| keys.into_iter().find_map(|key| content.get(key)))
        .map_or(winner, |leaf| leaf.policy)
}

fn withhold(attachments: &Attachments<'_>, decision: &mut Decision, loser: PolicyId, winner: PolicyId) {
    if let Some(rule) = attachments.rule_on_one_node(winner, loser) {
        decision.withheld.push(Withheld {
            policy: loser,
            by: Displacer::Hub(winner),
            rule,
        });
    }
}

/// What is left of a decision where local policies of the kind have the same target.
pub(super) fn beside_locals(
    attachments: &Attachments<'_>,
    mut decision: Decision,
    locals: &[super::local_policies::Local<'_>],
) -> Decision {
    let Some(profile) = attachments.kinds.get(decision.kind).map(|kind| &kind.profile) else {
        return decision;
    };
    let (Some(first), false) = (locals.first(), profile.same_target == SameTarget::AddUp) else {
        return decision;
    };
    let entries: Vec<Entry> = locals.iter().map(|local| local.entry.clone()).collect();
    let mut shipped = Vec::new();
    for mut one in std::mem::take(&mut decision.shipped) {
        let layers = shipped_layers(attachments, profile, &one);
        let left = match profile.same_target {
            SameTarget::Merge => without_rules_of(&layers, &entries),
            SameTarget::Reject | SameTarget::AddUp => None,
        };
        let Some(left) = left else {
            decision.withheld.push(for_local(one.policy, first));
            continue;
        };
        let untouched = left.len() == layers.len()
            && left
                .iter()
                .zip(layers.iter())
                .all(|(a, b)| a.content.len() == b.content.len());
        if !untouched {
            let before = sources_of(&one);
            one.content = reduced(attachments, profile, &one, &left);
            let after = sources_of(&one);
            let gone = before.into_iter().filter(|source| !after.contains(source));
            decision
                .withheld
                .extend(gone.map(|source| for_local(source, first)));
        }
        shipped.push(one);
    }
    decision.shipped = shipped;
    decision
}

fn for_local(policy: PolicyId, local: &super::local_policies::Local<'_>) -> Withheld {
    Withheld {
        policy,
        by: Displacer::Local {
            locator: local.locator.clone(),
            key: local.key.clone(),
        },
        rule: Rule::SpokeLocal,
    }
}

/// The policies that a shipped one is made of.
fn sources_of(one: &Shipped) -> Vec<PolicyId> {
    match &one.content {
        ShippedSpec::AsWritten => vec![one.policy],
        ShippedSpec::Rewritten { sources, .. } => sources.clone(),
    }
}

fn shipped_layers(attachments: &Attachments<'_>, profile: &Profile, one: &Shipped) -> Arc<[Layer]> {
    match &one.content {
        ShippedSpec::AsWritten => attachments
            .policy(one.policy)
            .map_or_else(|| Arc::from(Vec::new()), |policy| Arc::clone(&policy.layers)),
        ShippedSpec::Rewritten { spec, .. } => {
            Arc::from(crate::policy::settings::read(spec, profile, one.policy).layers)
        }
    }
}

/// The spec with only the layers that are left.
fn reduced(attachments: &Attachments<'_>, profile: &Profile, one: &Shipped, left: &[Layer]) -> ShippedSpec {
    let written = attachments
        .policy(one.policy)
        .and_then(|policy| policy.object.value.get("spec"))
        .cloned()
        .unwrap_or_default();
    let (mut spec, mut settings) = match &one.content {
        ShippedSpec::AsWritten => (written, BTreeMap::new()),
        ShippedSpec::Rewritten { spec, settings, .. } => ((**spec).clone(), settings.clone()),
    };
    settings.retain(|setting, _| left.iter().any(|layer| layer.content.contains_key(setting)));
    let sources: BTreeSet<PolicyId> = settings.values().copied().chain([one.policy]).collect();
    let before = shipped_layers(attachments, profile, one);
    for layer in before.iter() {
        let kept = left.iter().find(|kept| kept.side == layer.side);
        let leaves: BTreeMap<&str, &Leaf> = kept
            .into_iter()
            .flat_map(|kept| kept.content.iter().map(|(key, leaf)| (key.as_ref(), leaf)))
            .collect();
        spec = exchanged(&spec, profile, layer.base, unflatten(leaves.into_values()));
    }
    ShippedSpec::Rewritten {
        spec: Box::new(spec),
        sources: sources.into_iter().collect(),
        settings,
    }
}
