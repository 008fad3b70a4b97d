//! Which policy is attached where.
//!
//! Owns: all policies of the input, the nodes that they are attached to, and who is accepted on each node.
//! Flows in: the hub's objects, profiles. Flows out: [`Attachments`].
//! Must not know: what the policies come to together; clusters and works.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::ids::{KindId, PolicyId};
use super::kinds::policy_kinds;
use super::layer::Entry;
use super::local_wins::without_rules_of;
use super::one_policy::Policy;
use super::options::Options;
use super::precedence::Rule;
use super::profile::{Profile, SameTarget};
use super::reading::read_policy;
use super::targets::Resolver;
use crate::diagnostic::Findings;
use crate::hub::{Grants, Objects, Table};
use crate::object::Object;
use crate::topology::{Node, Sources, Topology};
use apimachinery::Identity;

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

/// All policies and where they are attached: enough to decide what reaches a spoke.
#[derive(Debug, Default)]
pub struct Attachments<'a> {
    /// The hierarchy.
    pub topology: Topology<'a>,
    /// Policy kinds that occur, sorted.
    pub kinds: Table<KindId, Kind>,
    /// All policies, by kind, namespace and name; spoke-local ones after the hub's of their kind.
    pub policies: Table<PolicyId, Policy<'a>>,
    /// The cluster that this is a view of.
    pub cluster: Option<&'a str>,
    policy_ids: HashMap<Identity, PolicyId>,
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
        let mut attachments = Self {
            topology,
            cluster: sources.local.map(|(cluster, _)| cluster),
            ..Self::default()
        };
        for profile in policy_kinds(sources, options) {
            attachments.kinds.push(Kind {
                profile,
                nodes: BTreeMap::new(),
            });
        }
        let mut unread: Table<PolicyId, (&Object, KindId, bool)> = Table::default();
        for (id, kind) in attachments.kinds.iter() {
            for (object, local) in sources.of_kind(&kind.profile.group, &kind.profile.kind) {
                unread.push((object, id, local));
            }
        }
        let unread: Vec<_> = unread.iter().collect();
        let read: Vec<(Policy<'a>, Findings)> = unread
            .into_par_iter()
            .map(|(id, (object, kind, local))| {
                let mut findings = Findings::new();
                let profile = &attachments.kinds.get(*kind).profile;
                let policy = read_policy(object, (id, *kind, *local), profile, options, &mut findings);
                (policy, findings)
            })
            .collect();
        for (policy, wrong) in read {
            findings.extend(wrong.iter().cloned());
            let identity = policy.object.identity();
            let id = attachments.policies.push(policy);
            // A cluster's own policy may carry the name of a hub policy, which comes first.
            attachments.policy_ids.entry(identity).or_insert(id);
        }
        attachments.resolve_targets(sources, grants, findings);
        attachments.place();
        attachments
    }

    fn resolve_targets(&mut self, sources: Sources<'a>, grants: &Grants<'a>, findings: &mut Findings) {
        let mut resolver = Resolver {
            topology: &mut self.topology,
            sources,
            grants,
            findings,
        };
        for policy in self.policies.rows_mut() {
            if policy.invalid.is_none() {
                resolver.resolve(policy, &self.kinds.get(policy.kind).profile);
            }
        }
    }

    /// Puts every policy on its nodes, in role order, and refuses what its kind refuses.
    fn place(&mut self) {
        for (id, policy) in self.policies.iter() {
            if policy.invalid.is_some() {
                continue;
            }
            let kind = self.kinds.get_mut(policy.kind);
            for node in policy.nodes() {
                kind.nodes
                    .entry(node)
                    .or_default()
                    .accepted
                    .push(entry_of(id, policy));
            }
        }
        let policies = &self.policies;
        for kind in self.kinds.rows_mut() {
            let profile = Arc::clone(&kind.profile);
            for placed in kind.nodes.values_mut() {
                settle(placed, &profile, policies);
            }
        }
    }

    /// The policy with this identity.
    #[must_use]
    pub(crate) fn find(&self, identity: &Identity) -> Option<PolicyId> {
        self.policy_ids.get(identity).copied()
    }

    /// The policy with this number.
    #[must_use]
    pub fn policy(&self, id: PolicyId) -> &Policy<'a> {
        self.policies.get(id)
    }

    /// The profile of a policy.
    #[must_use]
    pub fn profile(&self, id: PolicyId) -> &Profile {
        &self.kinds.get(self.policy(id).kind).profile
    }

    /// The rule by which one policy beats another on the same node.
    #[must_use]
    pub(crate) fn rule_on_one_node(&self, winner: PolicyId, loser: PolicyId) -> Rule {
        Rule::on_one_level(self.policy(winner).standing(), self.policy(loser).standing())
    }

    /// The locator of a policy.
    #[must_use]
    pub(crate) fn locator(&self, id: PolicyId) -> Arc<str> {
        Arc::clone(&self.policy(id).locator)
    }

    /// The accepted policies of a kind on a node, established first.
    #[must_use]
    pub(crate) fn on(&self, kind: KindId, node: Node) -> &[Entry] {
        let placed = self.kinds.get(kind).nodes.get(&node);
        placed
            .map(|placed| placed.accepted.as_slice())
            .unwrap_or_default()
    }

    /// What would be accepted on a node if one policy did not exist.
    #[must_use]
    pub(super) fn on_without(&self, kind: KindId, node: Node, without: PolicyId) -> Placed {
        let kind = self.kinds.get(kind);
        let Some(placed) = kind.nodes.get(&node) else {
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
            accepted: ids.into_iter().map(|id| entry_of(id, self.policy(id))).collect(),
            ..Placed::default()
        };
        settle(&mut placed, &kind.profile, &self.policies);
        placed
    }

    /// Who is in the way of a policy on a node, if its kind refuses it there.
    #[must_use]
    pub fn conflicted_by(&self, id: PolicyId, node: Node) -> Option<PolicyId> {
        let placed = self.kinds.get(self.policy(id).kind).nodes.get(&node)?;
        if !placed.rejected.contains(&id) {
            return None;
        }
        placed.accepted.first().map(|entry| entry.policy)
    }
}

/// A policy with all its settings.
fn entry_of(policy: PolicyId, known: &Policy<'_>) -> Entry {
    Entry {
        policy,
        layers: Arc::clone(&known.layers),
    }
}

/// Orders the policies of one node and applies what happens to two of them: local ones first of all, then age
/// and name; a kind without merging keeps one.
fn settle(placed: &mut Placed, profile: &Profile, policies: &Table<PolicyId, Policy<'_>>) {
    // A policy of the cluster challenges the synced ones, whatever its age, so that the rules that it defines stay its
    // own (docs/systems/policy-sync.md#local-policies-win).
    placed
        .accepted
        .sort_by_key(|entry| (policies.get(entry.policy).local, &policies.get(entry.policy).rank));
    if profile.same_target == SameTarget::AddUp {
        return;
    }
    let is_local = |entry: &Entry| policies.get(entry.policy).local;
    let first_local = placed.accepted.iter().position(is_local);
    if let Some(at) = first_local.filter(|at| *at > 0) {
        let locals = placed.accepted.split_off(at);
        let synced = std::mem::take(&mut placed.accepted);
        for entry in synced {
            match (without_rules_of(profile, &entry.layers, &locals), locals.first()) {
                (Some(layers), _) => placed.accepted.push(Entry {
                    policy: entry.policy,
                    layers,
                }),
                (None, Some(by)) => placed.overridden.push((entry.policy, by.policy)),
                (None, None) => {}
            }
        }
        placed.accepted.extend(locals);
    }
    if profile.same_target == SameTarget::Reject && placed.accepted.len() > 1 {
        placed.rejected = placed.accepted.drain(1..).map(|entry| entry.policy).collect();
    }
}
