//! What lives on a spoke beats what is synced to it, rule by rule where the synced policy's strategy merges.
//!
//! Owns: the local policies of one cluster by target, and what becomes of synced policies there
//! (docs/systems/policy-sync.md#local-policies-win).
//! Flows in: the objects of a cluster, attachments. Flows out: [`LocalPolicies`].
//! Must not know: works, placements.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::downstream::is_synced_copy;
use crate::diagnostic::Findings;
use crate::hub::{Objects, Table};
use crate::object::Object;
use crate::policy::{
    Attachments, Condition, Entry, KindId, Layer, Options, Outcome, PolicyId, SameTarget, StatusShape,
    effect_of, read_policy, without_rules_of,
};
use crate::topology::{Located, Node};

/// A policy that lives on a cluster.
#[derive(Debug, Clone)]
pub(super) struct LocalPolicy<'a> {
    /// The object.
    pub(super) object: &'a Object,
    /// `namespace/name` on the spoke.
    key: String,
    /// Its settings.
    pub(super) entry: Entry,
}

/// The local policies of one cluster.
#[derive(Debug, Default)]
pub(crate) struct LocalPolicies<'a> {
    /// The cluster.
    pub(super) cluster: &'a str,
    /// In the order of the kinds, then by namespace and name. Their numbers are their own: the hub's policies have others.
    policies: Table<PolicyId, LocalPolicy<'a>>,
    by_node: BTreeMap<(KindId, Node), Vec<PolicyId>>,
}

/// What becomes of a synced policy on one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalEffect {
    /// The synced policy.
    pub policy: PolicyId,
    /// Partial or Overridden.
    pub outcome: Outcome,
    /// `namespace/name` of the local policies, sorted.
    pub by: Vec<String>,
    /// The condition there: Enforced or Programmed, which names them.
    pub condition: Condition,
}

impl<'a> LocalPolicies<'a> {
    /// Reads the policies among the objects of a cluster that have a kind, and a target, that the hub knows too.
    /// Linear in the cluster's objects.
    pub(crate) fn read(
        attachments: &Attachments<'_>,
        cluster: &'a str,
        objects: &'a Objects,
        options: &Options<'_>,
        findings: &mut Findings,
    ) -> Self {
        let mut read = Self {
            cluster,
            ..Self::default()
        };
        for (kind, known) in attachments.kinds.iter() {
            let profile = known.profile.as_ref();
            for object in objects.of_kind(&profile.group, &profile.kind) {
                // An export of a live cluster has what an earlier run synced, which must not win against itself.
                if is_synced_copy(object) {
                    continue;
                }
                let id = read.policies.next();
                let policy = read_policy(object, (id, kind, true), profile, options, findings);
                if policy.invalid.is_some() {
                    continue;
                }
                let own = object.namespace_or_empty();
                let nodes: BTreeSet<Node> = policy
                    .targets
                    .iter()
                    .filter_map(|declared| {
                        let namespace = declared.namespace.as_deref().unwrap_or(own);
                        match attachments.topology.locate(declared.locator(namespace, true)) {
                            Located::Node(node) => Some(node),
                            Located::Missing | Located::Elsewhere => None,
                        }
                    })
                    .collect();
                for node in nodes {
                    read.by_node.entry((kind, node)).or_default().push(id);
                }
                read.policies.push(LocalPolicy {
                    object,
                    key: policy.rank.key,
                    entry: Entry {
                        policy: id,
                        layers: policy.layers,
                    },
                });
            }
        }
        read
    }

    /// The local policies of a kind on a node, by namespace and name.
    #[must_use]
    pub(super) fn on(&self, kind: KindId, node: Node) -> Vec<&LocalPolicy<'a>> {
        let there = self.by_node.get(&(kind, node)).into_iter().flatten();
        there.map(|id| self.policies.get(*id)).collect()
    }

    /// The kinds and nodes that any of them targets, sorted.
    pub(super) fn targets(&self) -> impl Iterator<Item = (KindId, Node)> {
        self.by_node.keys().copied()
    }

    /// What becomes of the synced policies on this cluster, by policy. `here` says whether a node reaches the cluster:
    /// whether its Gateway is placed there.
    pub(crate) fn effects(
        &self,
        attachments: &Attachments<'_>,
        here: impl Fn(Node) -> bool,
    ) -> Vec<LocalEffect> {
        let mut taken: BTreeMap<PolicyId, Taken> = BTreeMap::new();
        for (kind, node) in self.by_node.keys() {
            let known = attachments.kinds.get(*kind);
            let locals = self.on(*kind, *node);
            if !here(*node) || known.profile.same_target == SameTarget::AddUp {
                continue;
            }
            let entries: Vec<Entry> = locals.iter().map(|local| local.entry.clone()).collect();
            for entry in attachments.on(*kind, *node) {
                let left = match known.profile.same_target {
                    SameTarget::Merge => without_rules_of(&known.profile, &entry.layers, &entries),
                    SameTarget::Reject | SameTarget::AddUp => None,
                };
                let gone = left.is_none();
                if gone || left.is_some_and(|left| count(&left) < count(&entry.layers)) {
                    let taken = taken.entry(entry.policy).or_default();
                    taken.by.extend(locals.iter().map(|local| local.key.clone()));
                    if gone {
                        taken.whole.insert(*node);
                    }
                }
            }
        }
        taken
            .into_iter()
            .map(|(id, taken)| {
                let policy = attachments.policy(id);
                let profile = attachments.profile(id);
                let everywhere = policy
                    .nodes()
                    .into_iter()
                    .all(|node| !here(node) || taken.whole.contains(&node));
                let outcome = if everywhere {
                    Outcome::Overridden
                } else {
                    Outcome::Partial
                };
                let by: Vec<String> = taken.by.into_iter().collect();
                let mut condition = effect_of(&policy.object.kind, profile.status, outcome, &by);
                if outcome == Outcome::Partial && profile.status == StatusShape::Kuadrant {
                    condition.message = format!(
                        "{} has been partially enforced, in part overridden by [{}]",
                        policy.object.kind,
                        by.join(" ")
                    );
                }
                LocalEffect {
                    policy: id,
                    outcome,
                    by,
                    condition,
                }
            })
            .collect()
    }
}

/// What local policies take from a synced one.
#[derive(Debug, Default)]
struct Taken {
    /// Nodes on which nothing of it is left.
    whole: BTreeSet<Node>,
    /// The local policies.
    by: BTreeSet<String>,
}

fn count(layers: &[Layer]) -> usize {
    layers.iter().map(|layer| layer.content.len()).sum()
}
