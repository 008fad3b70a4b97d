//! Which policy is attached where.
//!
//! Owns: all policies of the input, the nodes that they are attached to, and who is accepted on each node.
//! Flows in: the hub's objects, profiles. Flows out: [`Attachments`].
//! Must not know: what the policies come to together; clusters and works.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;

use super::merge::Entry;
use super::node::{Node, number};
use super::precedence::{Ages, Rank, Rule, Standing};
use super::profile::{Profile, SameTarget, Strategy};
use super::profiles::Profiles;
use super::reading::{policy_kinds, read_policy};
use super::settings::{Layer, Side};
use super::targets::{Declared, Resolver, Target};
use super::topology::{Sources, Topology};
use crate::diagnostic::Findings;
use crate::hub::{Grants, Objects};
use crate::object::Object;
use apimachinery::{GroupKind, Identity};

/// A policy, by its position in [`Attachments::policies`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PolicyId(pub u32);

/// How a policy's spec becomes what its controller would read: defaults of its schema applied, nulls pruned.
/// `None` leaves the spec as it is, less its nulls.
pub type Interpret<'i> = &'i (dyn Fn(&Object) -> Option<Value> + Sync);

/// What the configuration and the parameters say.
#[derive(Clone, Copy, Default)]
pub struct Options<'o> {
    /// Profiles; `None`: the built-in ones.
    pub profiles: Option<&'o Profiles>,
    /// Whether creation times count.
    pub ages: Ages,
    /// Further policy kinds: those in `policiesToSync`, which may carry no label.
    pub kinds: &'o [GroupKind],
    /// Further route kinds: those in `resourcesToSync` that are not Gateway API's.
    pub routes: &'o [GroupKind],
    /// Schema defaults, where a CRD is in the input.
    pub interpret: Option<Interpret<'o>>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Options")
            .field("ages", &self.ages)
            .field("kinds", &self.kinds)
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}

/// A policy kind of the input.
#[derive(Debug, Clone)]
pub struct Kind {
    /// What is known about it.
    pub profile: Arc<Profile>,
    /// Its policies by the node that they are attached to.
    pub nodes: BTreeMap<Node, Placed>,
}

/// The policies of one kind on one node.
#[derive(Debug, Clone, Default)]
pub struct Placed {
    /// Those that count, established first.
    pub accepted: Vec<Entry>,
    /// Those that a kind without merging refuses, in role order: the first accepted one is in their way.
    pub rejected: Vec<PolicyId>,
    /// Synced policies that a spoke-local one replaces, in a view of a cluster.
    pub overridden: Vec<(PolicyId, PolicyId)>,
}

/// A policy.
#[derive(Debug, Clone)]
pub struct Policy<'a> {
    /// The object.
    pub object: &'a Object,
    /// Position of its kind in [`Attachments::kinds`].
    pub kind: usize,
    /// Whether it lives on the cluster that is looked at.
    pub local: bool,
    /// Age and `namespace/name`.
    pub rank: Rank,
    /// Its locator in reports.
    pub locator: Arc<str>,
    /// Its settings.
    pub layers: Arc<[Layer]>,
    /// Its targets, in their order; selectors are followed by what they select.
    pub targets: Vec<Declared>,
    /// Why nothing of it counts.
    pub invalid: Option<String>,
}

impl Policy<'_> {
    /// Where it stands against another policy of the same node: only side, age and name can decide.
    fn standing(&self) -> Standing<'_> {
        Standing {
            level: 0,
            side: self.side(),
            rank: &self.rank,
        }
    }

    /// The nodes that it is attached to, each once.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        let nodes: BTreeSet<Node> = self
            .targets
            .iter()
            .filter_map(|declared| match declared.target {
                Target::Attached(node) => Some(node),
                _ => None,
            })
            .collect();
        nodes.into_iter().collect()
    }

    /// The side that its settings stand on; overrides when it has both.
    #[must_use]
    pub fn side(&self) -> Side {
        self.layers.last().map_or(Side::Defaults, |layer| layer.side)
    }

    /// How it merges where its strategy counts.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.layers
            .first()
            .map_or(Strategy::Atomic, |layer| layer.strategy)
    }
}

/// All policies and where they are attached: enough to decide what reaches a spoke.
#[derive(Debug, Default)]
pub struct Attachments<'a> {
    /// The hierarchy.
    pub topology: Topology<'a>,
    /// Policy kinds that occur, sorted.
    pub kinds: Vec<Kind>,
    /// All policies, by kind, namespace and name; spoke-local ones after the hub's of their kind.
    pub policies: Vec<Policy<'a>>,
    /// The cluster that this is a view of.
    pub cluster: Option<&'a str>,
    kind_numbers: BTreeMap<GroupKind, usize>,
    policy_numbers: HashMap<Identity, PolicyId>,
}

impl<'a> Attachments<'a> {
    /// Reads and attaches every policy of the hub.
    pub fn new(
        hub: &'a Objects,
        grants: &Grants<'a>,
        options: &Options<'_>,
        findings: &mut Findings,
    ) -> Self {
        Self::of(Sources { hub, local: None }, grants, options, findings)
    }

    /// The same with what lives on one cluster: its Gateways, routes and policies, which use spoke names.
    pub fn on_cluster(
        hub: &'a Objects,
        cluster: (&'a str, &'a Objects),
        grants: &Grants<'a>,
        options: &Options<'_>,
        findings: &mut Findings,
    ) -> Self {
        let sources = Sources {
            hub,
            local: Some(cluster),
        };
        Self::of(sources, grants, options, findings)
    }

    fn of(sources: Sources<'a>, grants: &Grants<'a>, options: &Options<'_>, findings: &mut Findings) -> Self {
        let topology = Topology::new(sources, grants, options.routes, findings);
        let kinds: Vec<Kind> = policy_kinds(sources, options)
            .into_iter()
            .map(|profile| Kind {
                profile,
                nodes: BTreeMap::new(),
            })
            .collect();
        let mut drafts = Vec::new();
        for (position, kind) in kinds.iter().enumerate() {
            for (object, local) in sources.of_kind(&kind.profile.group, &kind.profile.kind) {
                let id = PolicyId(number(drafts.len()));
                drafts.push((id, object, position, local));
            }
        }
        let read: Vec<(Policy<'a>, Findings)> = drafts
            .into_par_iter()
            .map(|(id, object, kind, local)| {
                let mut findings = Findings::new();
                let profile = kinds.get(kind).map(|kind| kind.profile.as_ref());
                let policy = read_policy(object, (id, kind, local), profile, options, &mut findings);
                (policy, findings)
            })
            .collect();
        let mut attachments = Self {
            topology,
            kind_numbers: kinds
                .iter()
                .enumerate()
                .map(|(position, kind)| (kind.profile.group_kind(), position))
                .collect(),
            kinds,
            policies: Vec::with_capacity(read.len()),
            cluster: sources.local.map(|(cluster, _)| cluster),
            policy_numbers: HashMap::with_capacity(read.len()),
        };
        for (policy, wrong) in read {
            findings.extend(wrong.iter().cloned());
            let id = PolicyId(number(attachments.policies.len()));
            // A cluster's own policy may carry the name of a hub policy, which comes first.
            attachments
                .policy_numbers
                .entry(policy.object.identity())
                .or_insert(id);
            attachments.policies.push(policy);
        }
        attachments.resolve_targets(sources, grants, findings);
        attachments.place();
        attachments
    }

    fn resolve_targets(&mut self, sources: Sources<'a>, grants: &Grants<'a>, findings: &mut Findings) {
        let mut policies = std::mem::take(&mut self.policies);
        let mut resolver = Resolver {
            topology: &mut self.topology,
            sources,
            grants,
            findings,
        };
        for policy in &mut policies {
            if policy.invalid.is_none()
                && let Some(kind) = self.kinds.get(policy.kind)
            {
                resolver.resolve(policy, &kind.profile);
            }
        }
        self.policies = policies;
    }

    /// Puts every policy on its nodes, in role order, and refuses what its kind refuses.
    fn place(&mut self) {
        for (position, policy) in self.policies.iter().enumerate() {
            if policy.invalid.is_some() {
                continue;
            }
            let id = PolicyId(number(position));
            let Some(kind) = self.kinds.get_mut(policy.kind) else {
                continue;
            };
            for node in policy.nodes() {
                kind.nodes.entry(node).or_default().accepted.push(Entry {
                    policy: id,
                    layers: Arc::clone(&policy.layers),
                });
            }
        }
        let policies = &self.policies;
        for kind in &mut self.kinds {
            let profile = Arc::clone(&kind.profile);
            for placed in kind.nodes.values_mut() {
                settle(placed, &profile, policies);
            }
        }
    }

    /// The kind with this group and kind, if it is a policy kind of the input.
    #[must_use]
    pub fn kind(&self, kind: &GroupKind) -> Option<usize> {
        self.kind_numbers.get(kind).copied()
    }

    /// The policy with this identity.
    #[must_use]
    pub fn find(&self, identity: &Identity) -> Option<PolicyId> {
        self.policy_numbers.get(identity).copied()
    }

    /// The policy with this number.
    #[must_use]
    pub fn policy(&self, id: PolicyId) -> Option<&Policy<'a>> {
        self.policies.get(super::node::index(id.0))
    }

    /// All numbers.
    pub fn ids(&self) -> impl Iterator<Item = PolicyId> + use<> {
        (0..number(self.policies.len())).map(PolicyId)
    }

    /// The profile of a policy.
    #[must_use]
    pub fn profile(&self, id: PolicyId) -> Option<&Profile> {
        let policy = self.policy(id)?;
        self.kinds.get(policy.kind).map(|kind| kind.profile.as_ref())
    }

    /// The locator of a policy; empty for a number that is none.
    #[must_use]
    pub fn locator(&self, id: PolicyId) -> Arc<str> {
        self.policy(id)
            .map_or_else(|| Arc::from(""), |policy| Arc::clone(&policy.locator))
    }

    /// The accepted policies of a kind on a node, established first.
    #[must_use]
    pub fn on(&self, kind: usize, node: Node) -> &[Entry] {
        self.kinds
            .get(kind)
            .and_then(|kind| kind.nodes.get(&node))
            .map(|placed| placed.accepted.as_slice())
            .unwrap_or_default()
    }

    /// What would be accepted on a node if one policy did not exist.
    #[must_use]
    pub fn on_without(&self, kind: usize, node: Node, without: PolicyId) -> Placed {
        let Some((kind, placed)) = self
            .kinds
            .get(kind)
            .and_then(|kind| Some((kind, kind.nodes.get(&node)?)))
        else {
            return Placed::default();
        };
        let everybody = placed
            .accepted
            .iter()
            .map(|entry| entry.policy)
            .chain(placed.rejected.iter().copied())
            .chain(placed.overridden.iter().map(|(policy, _)| *policy));
        let ids: BTreeSet<PolicyId> = everybody.filter(|policy| *policy != without).collect();
        let mut placed = Placed {
            accepted: ids
                .into_iter()
                .filter_map(|id| {
                    Some(Entry {
                        policy: id,
                        layers: Arc::clone(&self.policy(id)?.layers),
                    })
                })
                .collect(),
            ..Placed::default()
        };
        settle(&mut placed, &kind.profile, &self.policies);
        placed
    }

    /// The rule by which one policy beats another on the same node.
    #[must_use]
    pub fn rule_on_one_node(&self, winner: PolicyId, loser: PolicyId) -> Option<Rule> {
        let (wins, loses) = (self.policy(winner)?, self.policy(loser)?);
        Some(Rule::between(wins.standing(), loses.standing()))
    }

    /// Who is in the way of a policy on a node, if its kind refuses it there.
    #[must_use]
    pub fn conflicted_by(&self, id: PolicyId, node: Node) -> Option<PolicyId> {
        let policy = self.policy(id)?;
        let placed = self.kinds.get(policy.kind)?.nodes.get(&node)?;
        if !placed.rejected.contains(&id) {
            return None;
        }
        placed.accepted.first().map(|entry| entry.policy)
    }
}

/// Orders the policies of one node and applies what happens to two of them: local ones first of all, then age
/// and name; a kind without merging keeps one.
fn settle(placed: &mut Placed, profile: &Profile, policies: &[Policy<'_>]) {
    let policy_of = |id: PolicyId| policies.get(super::node::index(id.0));
    placed
        .accepted
        .sort_by(|a, b| match (policy_of(a.policy), policy_of(b.policy)) {
            // The local policy challenges, so that the rules that it defines stay its own.
            (Some(a), Some(b)) => (a.local, &a.rank).cmp(&(b.local, &b.rank)),
            _ => a.policy.cmp(&b.policy),
        });
    if profile.same_target == SameTarget::AddUp {
        return;
    }
    let is_local = |entry: &Entry| policy_of(entry.policy).is_some_and(|policy| policy.local);
    if let Some(first_local) = placed.accepted.iter().position(is_local)
        && first_local > 0
    {
        let locals = placed.accepted.split_off(first_local);
        let synced = std::mem::take(&mut placed.accepted);
        let by = locals.first().map(|entry| entry.policy);
        for entry in synced {
            let left = super::local_wins::without_rules_of(&entry.layers, &locals);
            match (left, by) {
                (Some(layers), _) => placed.accepted.push(Entry {
                    policy: entry.policy,
                    layers,
                }),
                (None, Some(by)) => placed.overridden.push((entry.policy, by)),
                (None, None) => {}
            }
        }
        placed.accepted.extend(locals);
    }
    if profile.same_target == SameTarget::Reject && placed.accepted.len() > 1 {
        placed.rejected = placed.accepted.drain(1..).map(|entry| entry.policy).collect();
    }
}
