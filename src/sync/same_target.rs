//! Policies of one kind on one target: which are synced, and which give way.
//!
//! Owns: the rule for them (docs/systems/why-we-differ.md#policies-on-one-target): the winner alone, one merged policy, or
//! all.
//! Flows in: attachments. Flows out: a [`Resolution`] for each kind and node.
//! Must not know: clusters, works, names on the spoke.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::merged_policy::{contest, contributors, merged_spec};
use crate::policy::{Attachments, Content, Entry, KindId, PolicyId, Rule, SameTarget, Target};
use crate::topology::Node;

/// What happens to the policies of one kind on one node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Resolution {
    /// What is synced: one policy, or all of a kind that adds up.
    pub(crate) synced: Vec<SyncedPolicy>,
    /// What gives way.
    pub(crate) displaced: Vec<Displaced>,
}

/// A policy that is synced for one target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SyncedPolicy {
    /// The policy whose name, labels and wrapper the object has.
    pub(crate) policy: PolicyId,
    /// Pointers of its references to this target: `/spec/targetRefs/0`.
    pub(super) references: Vec<String>,
    /// What its spec says.
    pub(crate) spec: SyncedSpec,
}

/// The spec of a synced policy. Target references are the author's; whoever writes the object points them at the
/// downstream Gateway.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SyncedSpec {
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

/// A policy that gives way to another one of the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Displaced {
    /// The policy.
    pub(crate) policy: PolicyId,
    /// Whose takes its place.
    pub(super) by: PolicyId,
    /// The rule that decided.
    pub(crate) rule: Rule,
}

/// What happens to the policies of one kind on one node, where nothing lives on the cluster; `None`: there is none.
#[must_use]
pub(crate) fn resolve(attachments: &Attachments<'_>, kind: KindId, node: Node) -> Option<Resolution> {
    let known = attachments.kinds.get(kind);
    let placed = known.nodes.get(&node)?;
    let profile = known.profile.as_ref();
    let entries = placed.accepted.as_slice();
    let first = entries.first()?;
    let mut resolution = Resolution::default();
    // The copies of two policies are created on a spoke within one second, in an order that nobody chose. Whatever would
    // depend on that order is decided here. docs/systems/why-we-differ.md#policies-on-one-target
    match profile.same_target {
        SameTarget::AddUp => {
            let all = entries.iter();
            resolution.synced = all
                .map(|entry| as_written(attachments, entry.policy, node))
                .collect();
        }
        SameTarget::Reject => {
            resolution
                .synced
                .push(as_written(attachments, first.policy, node));
            for loser in &placed.rejected {
                resolution.displace(attachments, *loser, first.policy);
            }
        }
        SameTarget::Merge => {
            let Some((winner, merged)) = contest(profile, entries) else {
                return Some(resolution);
            };
            let mut kept = BTreeSet::from([winner.policy]);
            let mut synced = as_written(attachments, winner.policy, node);
            if let Some(content) = &merged {
                kept = contributors(winner, content);
                synced.spec = SyncedSpec::Rewritten {
                    spec: Box::new(merged_spec(attachments, profile, winner, entries, content)),
                    sources: kept.iter().copied().collect(),
                    settings: content
                        .iter()
                        .map(|(setting, leaf)| (Arc::clone(setting), leaf.policy))
                        .collect(),
                };
            }
            resolution.synced.push(synced);
            for loser in entries.iter().filter(|entry| !kept.contains(&entry.policy)) {
                let by = displacer(loser, merged.as_deref(), winner.policy);
                resolution.displace(attachments, loser.policy, by);
            }
        }
    }
    Some(resolution)
}

impl Resolution {
    fn displace(&mut self, attachments: &Attachments<'_>, loser: PolicyId, winner: PolicyId) {
        self.displaced.push(Displaced {
            policy: loser,
            by: winner,
            rule: attachments.rule_on_one_node(winner, loser),
        });
    }
}

fn as_written(attachments: &Attachments<'_>, policy: PolicyId, node: Node) -> SyncedPolicy {
    let targets = attachments.policy(policy).targets.iter();
    let here = targets.filter(|declared| declared.target == Target::Attached(node));
    let references: BTreeSet<String> = here.map(|declared| declared.pointer.clone()).collect();
    SyncedPolicy {
        policy,
        references: references.into_iter().collect(),
        spec: SyncedSpec::AsWritten,
    }
}

/// Whose value stands where the loser's would: by name, else the name-giver's.
fn displacer(loser: &Entry, merged: Option<&Content>, winner: PolicyId) -> PolicyId {
    let keys = loser.layers.iter().flat_map(|layer| layer.content.keys());
    merged
        .and_then(|content| keys.into_iter().find_map(|key| content.get(key)))
        .map_or(winner, |leaf| leaf.policy)
}
