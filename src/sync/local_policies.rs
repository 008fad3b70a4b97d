//! What lives on a spoke beats what is synced to it, rule by rule where the synced policy's strategy merges.
//!
//! Owns: the local policies of one cluster by target, taking from a synced policy what they define, and what becomes
//! of synced policies there (docs/systems/policy-sync.md#local-policies-win).
//! Flows in: the objects of a cluster, attachments. Flows out: [`Locals`].
//! Must not know: works, placements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::synced::is_synced_copy;
use crate::diagnostic::Findings;
use crate::hub::Objects;
use crate::object::Object;
use crate::policy::attachment::{Attachments, Options, PolicyId};
use crate::policy::local_wins::without_rules_of;
use crate::policy::locate::{Located, locate};
use crate::policy::merge::Entry;
use crate::policy::node::Node;
use crate::policy::profile::{SameTarget, StatusShape};
use crate::policy::reading::read_policy;
use crate::policy::settings::Layer;
use crate::policy::status::{Condition, Outcome, effect_of};

/// A policy that lives on a cluster.
#[derive(Debug, Clone)]
pub struct Local<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its locator, with the names of the spoke.
    pub locator: String,
    /// `namespace/name` on the spoke.
    pub key: String,
    /// Its settings; the policy number in it means nothing.
    pub entry: Entry,
}

/// The local policies of one cluster, by what they target.
#[derive(Debug, Default)]
pub struct Locals<'a> {
    /// The cluster.
    pub cluster: &'a str,
    by_node: BTreeMap<(usize, Node), Vec<Local<'a>>>,
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

impl<'a> Locals<'a> {
    /// Reads the policies among the objects of a cluster that have a kind, and a target, that the hub knows too.
    /// Linear in the cluster's objects.
    pub fn read(
        attachments: &Attachments<'_>,
        cluster: &'a str,
        objects: &'a Objects,
        options: &Options<'_>,
        findings: &mut Findings,
    ) -> Self {
        let mut by_node: BTreeMap<(usize, Node), Vec<Local<'a>>> = BTreeMap::new();
        for (kind, known) in attachments.kinds.iter().enumerate() {
            let profile = known.profile.as_ref();
            for object in objects.of_kind(&profile.group, &profile.kind) {
                if is_synced_copy(object) {
                    continue;
                }
                let policy = read_policy(
                    object,
                    (PolicyId(u32::MAX), kind, true),
                    Some(profile),
                    options,
                    findings,
                );
                if policy.invalid.is_some() {
                    continue;
                }
                let own = object.namespace_or_empty();
                let nodes: BTreeSet<Node> = policy
                    .targets
                    .iter()
                    .filter_map(|declared| {
                        let namespace = declared.namespace.as_deref().unwrap_or(own);
                        match locate(&attachments.topology, declared, namespace, true) {
                            Located::Node(node) => Some(node),
                            Located::Missing | Located::Elsewhere => None,
                        }
                    })
                    .collect();
                for node in nodes {
                    by_node.entry((kind, node)).or_default().push(Local {
                        object,
                        locator: policy.locator.to_string(),
                        key: policy.rank.key.clone(),
                        entry: Entry {
                            policy: PolicyId(u32::MAX),
                            layers: Arc::clone(&policy.layers),
                        },
                    });
                }
            }
        }
        Self { cluster, by_node }
    }

    /// The local policies of a kind on a node, by namespace and name.
    #[must_use]
    pub fn on(&self, kind: usize, node: Node) -> &[Local<'a>] {
        self.by_node
            .get(&(kind, node))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The kinds and nodes that any of them targets, sorted.
    #[must_use]
    pub fn targets(&self) -> Vec<(usize, Node)> {
        let mut targets: Vec<(usize, Node)> = self.by_node.keys().copied().collect();
        targets.sort_unstable();
        targets
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_node.is_empty()
    }

    /// What becomes of the synced policies on this cluster, by policy. `here` says whether a node reaches the cluster:
    /// whether its Gateway is placed there.
    pub fn effects(&self, attachments: &Attachments<'_>, here: impl Fn(Node) -> bool) -> Vec<LocalEffect> {
        let mut taken: BTreeMap<PolicyId, Taken> = BTreeMap::new();
        for ((kind, node), locals) in &self.by_node {
            let Some(known) = attachments.kinds.get(*kind) else {
                continue;
            };
            if !here(*node) || known.profile.same_target == SameTarget::AddUp {
                continue;
            }
            let entries: Vec<Entry> = locals.iter().map(|local| local.entry.clone()).collect();
            for entry in attachments.on(*kind, *node) {
                let left = match known.profile.same_target {
                    SameTarget::Merge => without_rules_of(&entry.layers, &entries),
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
            .filter_map(|(id, taken)| {
                let policy = attachments.policy(id)?;
                let profile = attachments.profile(id)?;
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
                Some(LocalEffect {
                    policy: id,
                    outcome,
                    by,
                    condition,
                })
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
