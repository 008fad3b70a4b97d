//! Policies of one kind on one target: which are synced, and which give way.
//!
//! Owns: the rule for them (docs/systems/why-we-differ.md#policies-on-one-target): the winner alone, one merged policy,
//! defaults and overrides side by side, all, or, if the result would depend on the order of creation, none. Flows in:
//! attachments. Flows out: a [`Resolution`] for each kind and node.
//! Must not know: clusters, works, names on the spoke.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::Value;

use super::any_order::{commute, holds_in_any_order, pairs};
use super::merged_policy::{Shipped, authored, merged_spec, shipped};
use crate::policy::{
    Attachments, Entry, KindId, PolicyId, Profile, Rule, SameTarget, Target, disagree, read_settings,
};
use crate::topology::Node;

/// What happens to the policies of one kind on one node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Resolution {
    /// The synced policies: one policy, one with defaults and one with overrides, or all of a kind that adds up.
    pub(crate) synced: Vec<SyncedPolicy>,
    /// The policies that give way.
    pub(crate) displaced: Vec<Displaced>,
    /// Two whose outcome nothing that is synced could have whichever is created first: so nothing is.
    pub(super) undecided: Option<[PolicyId; 2]>,
}

/// A policy that is synced for one target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SyncedPolicy {
    /// The policy whose name, labels and wrapper the object has.
    pub(crate) policy: PolicyId,
    /// Pointers of its references to this target: `/spec/targetRefs/0`.
    pub(super) references: Vec<String>,
    /// Its spec.
    pub(crate) spec: SyncedSpec,
}

/// The spec of a synced policy. Target references are the author's; rendering points them at the
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
    /// The policy that overrides it.
    pub(super) by: PolicyId,
    /// The rule that decided.
    pub(crate) rule: Rule,
}

/// What happens to the policies of one kind on one node, where nothing lives on the cluster; `None`: there is none.
pub(crate) fn resolve(attachments: &Attachments<'_>, kind: KindId, node: Node) -> Option<Resolution> {
    let known = attachments.kinds.get(kind);
    let placed = known.nodes.get(&node)?;
    let profile = known.profile.as_ref();
    let entries = placed.accepted.as_slice();
    let first = entries.first()?;
    let mut resolution = Resolution::default();
    let all = || {
        entries
            .iter()
            .map(|entry| as_written(attachments, entry.policy, node))
    };
    // The copies of two policies are created on a spoke within one second, in an order that nobody chose. Whatever
    // would depend on that order is decided here. docs/systems/why-we-differ.md#policies-on-one-target
    match profile.same_target {
        SameTarget::AddUp | SameTarget::Unknown => resolution.synced = all().collect(),
        // Its routes answer with an error, which must not end because it has no settings.
        SameTarget::Merge if !placed.refused.is_empty() => resolution.synced = all().collect(),
        SameTarget::Reject => {
            resolution
                .synced
                .push(as_written(attachments, first.policy, node));
            for loser in &placed.rejected {
                resolution.displace(attachments, *loser, first.policy);
            }
        }
        // Regardless of which is created first, policies that set nothing twice apply together.
        SameTarget::PerField if disagreeing(profile, entries).is_some() => {
            resolution.undecided = disagreeing(profile, entries);
        }
        SameTarget::PerField => {
            resolution.synced = all().collect();
            for loser in &placed.rejected {
                let by = attachments.conflicted_by(*loser, node).unwrap_or(first.policy);
                resolution.displace(attachments, *loser, by);
            }
        }
        SameTarget::Merge => match one_meaning(attachments, profile, entries, node) {
            Some(synced) => {
                resolution.synced = synced;
                let sources: BTreeSet<PolicyId> =
                    resolution.synced.iter().flat_map(SyncedPolicy::sources).collect();
                for loser in entries.iter().filter(|entry| !sources.contains(&entry.policy)) {
                    let by = displacer(attachments, loser, &resolution.synced).unwrap_or(first.policy);
                    resolution.displace(attachments, loser.policy, by);
                }
            }
            None => resolution.undecided = undecided_pair(attachments, profile, entries, node),
        },
    }
    Some(resolution)
}

/// Two of the policies that add up, of which the older one's settings count.
fn disagreeing(profile: &Profile, entries: &[Entry]) -> Option<[PolicyId; 2]> {
    let [one, other] = pairs(entries).find(|[one, other]| disagree(profile, &one.layers, &other.layers))?;
    Some([one.policy, other.policy])
}

impl SyncedPolicy {
    /// The policies that it is made of, and the one that lends its name.
    fn sources(&self) -> Vec<PolicyId> {
        match &self.spec {
            SyncedSpec::AsWritten => vec![self.policy],
            SyncedSpec::Rewritten { sources, .. } => sources.clone(),
        }
    }

    /// The policy as a controller reads the object; `None`: it would refuse it.
    pub(super) fn entry(&self, attachments: &Attachments<'_>) -> Option<Entry> {
        let layers = match &self.spec {
            SyncedSpec::AsWritten => authored(attachments, &attachments.policy(self.policy).layers),
            SyncedSpec::Rewritten { spec, .. } => {
                let read = read_settings(spec, attachments.profile(self.policy), self.policy);
                read.are_valid().then_some(read.layers)?
            }
        };
        Some(Entry {
            policy: self.policy,
            layers: Arc::from(layers),
        })
    }
}

/// What policies that may merge are shipped as; `None`: whatever is shipped would mean something else than they do, or
/// would depend on the order of creation.
fn one_meaning(
    attachments: &Attachments<'_>,
    profile: &Profile,
    entries: &[Entry],
    node: Node,
) -> Option<Vec<SyncedPolicy>> {
    if let [only] = entries {
        return Some(vec![as_written(attachments, only.policy, node)]);
    }
    let meant: Vec<Entry> = entries
        .iter()
        .map(|entry| Entry {
            policy: entry.policy,
            layers: Arc::from(authored(attachments, &entry.layers)),
        })
        .collect();
    let merged = || {
        let shipped = shipped(profile, entries)?.into_iter();
        let synced: Vec<SyncedPolicy> = shipped
            .map(|shipped| synced(attachments, profile, &shipped, node))
            .collect();
        let there: Option<Vec<Entry>> = synced.iter().map(|synced| synced.entry(attachments)).collect();
        holds_in_any_order(profile, &meant, &there?, &[]).then_some(synced)
    };
    merged().or_else(|| {
        let left = without_idle(profile, &meant)?.into_iter();
        Some(left.map(|policy| as_written(attachments, policy, node)).collect())
    })
}

/// Policies that come to the same in any order of creation, less those that change nothing, the newest first.
fn without_idle(profile: &Profile, entries: &[Entry]) -> Option<Vec<PolicyId>> {
    if !commute(profile, entries) {
        return None;
    }
    let mut left = entries.to_vec();
    for idle in entries.iter().rev().map(|entry| entry.policy) {
        let rest = left.iter().filter(|entry| entry.policy != idle);
        let rest: Vec<Entry> = rest.cloned().collect();
        if !rest.is_empty() && holds_in_any_order(profile, entries, &rest, &[]) {
            left = rest;
        }
    }
    Some(left.into_iter().map(|entry| entry.policy).collect())
}

fn synced(
    attachments: &Attachments<'_>,
    profile: &Profile,
    shipped: &Shipped<'_>,
    node: Node,
) -> SyncedPolicy {
    let name_giver = shipped.name_giver;
    let mut synced = as_written(attachments, name_giver.policy, node);
    if let Some(layers) = &shipped.instead {
        let layers = authored(attachments, layers);
        let settings: BTreeMap<Arc<str>, PolicyId> = layers
            .iter()
            .flat_map(|layer| layer.content.iter())
            .map(|(setting, leaf)| (Arc::clone(setting), leaf.policy))
            .collect();
        let sources: BTreeSet<PolicyId> = settings.values().copied().chain([name_giver.policy]).collect();
        synced.spec = SyncedSpec::Rewritten {
            spec: Box::new(merged_spec(attachments, profile, name_giver, &layers)),
            sources: sources.into_iter().collect(),
            settings,
        };
    }
    synced
}

/// The first two that have no one meaning even without the others; else two whose order matters.
fn undecided_pair(
    attachments: &Attachments<'_>,
    profile: &Profile,
    entries: &[Entry],
    node: Node,
) -> Option<[PolicyId; 2]> {
    let [one, other] = pairs(entries)
        .find(|pair| one_meaning(attachments, profile, pair, node).is_none())
        .or_else(|| pairs(entries).find(|pair| !commute(profile, pair)))
        .or_else(|| Some([entries.first()?.clone(), entries.last()?.clone()]))?;
    Some([one.policy, other.policy])
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

/// The policy whose value replaces the loser's: by name, else the one whose object is shipped.
fn displacer(attachments: &Attachments<'_>, loser: &Entry, synced: &[SyncedPolicy]) -> Option<PolicyId> {
    let keys = || loser.layers.iter().flat_map(|layer| layer.content.keys());
    let by_name = synced.iter().find_map(|synced| match &synced.spec {
        SyncedSpec::Rewritten { settings, .. } => keys().find_map(|key| settings.get(key)).copied(),
        SyncedSpec::AsWritten => {
            let layers = &attachments.policy(synced.policy).layers;
            let says = |key| layers.iter().any(|layer| layer.content.contains_key(key));
            keys().any(says).then_some(synced.policy)
        }
    });
    by_name.or_else(|| synced.first().map(|synced| synced.policy))
}
