//! Effective policies: one result per kind and path.
//!
//! Owns: what results are, with the source of every field and what was lost to whom, and computing all of them in
//! parallel.
//! Flows in: attachments. Flows out: [`EffectivePolicies`].
//! Must not know: statuses, clusters.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;

use super::attachment::{Attachments, PolicyId};
use super::leaves::unflatten;
use super::node::{Node, Path, index, number};
use super::precedence::{Rule, Standing};
use super::profile::{Level, Profile, SameTarget};
use super::settings::Content;
use super::walk::on_gateway;

/// What policies come to on one or more paths.
#[derive(Debug, Clone)]
pub struct Effective {
    /// The result, by rule id or JSON pointer; each leaf knows its source.
    pub content: Arc<Content>,
    /// The policies on the way with the level of each, least specific first, established first on a level.
    pub chain: Vec<(Level, PolicyId)>,
    /// What did not survive.
    pub losses: Vec<Loss>,
}

/// A unit of a policy that does not hold on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Whose it was.
    pub policy: PolicyId,
    /// Rule id or JSON pointer.
    pub key: Arc<str>,
    /// Whose took its place, sorted.
    pub by: Vec<PolicyId>,
}

impl Effective {
    /// The policies that something of the result comes from, each once.
    #[must_use]
    pub fn sources(&self) -> BTreeSet<PolicyId> {
        self.content.values().map(|leaf| leaf.policy).collect()
    }

    /// The result as a spec: unwrapped, without targets and strategy. `None` where policies add up.
    #[must_use]
    pub fn spec(&self, profile: &Profile) -> Option<Value> {
        (profile.same_target != SameTarget::AddUp).then(|| unflatten(self.content.values()))
    }

    /// Where a field of [`Effective::spec`] comes from: the policy, and the pointer of the field in it, which places it
    /// in a file and a line.
    #[must_use]
    pub fn origin(&self, pointer: &str) -> Option<(PolicyId, String)> {
        let holds = |at: &str| {
            let rest = pointer.strip_prefix(at);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let leaf = self.content.values().find(|leaf| holds(&leaf.at))?;
        Some((leaf.policy, format!("{}{pointer}", leaf.base)))
    }

    /// Where a policy stands on this path.
    fn standing<'r>(&self, attachments: &'r Attachments<'_>, id: PolicyId) -> Option<Standing<'r>> {
        let (level, _) = self.chain.iter().find(|(_, policy)| *policy == id)?;
        let policy = attachments.policy(id)?;
        Some(Standing {
            level: *level as usize,
            side: policy.side(),
            rank: &policy.rank,
        })
    }

    /// The rule by which one policy of this path displaced another.
    #[must_use]
    pub fn rule(&self, attachments: &Attachments<'_>, winner: PolicyId, loser: PolicyId) -> Option<Rule> {
        let beats_synced = |id| attachments.policy(id).is_some_and(|policy| policy.local);
        let (one, other) = (
            self.standing(attachments, winner)?,
            self.standing(attachments, loser)?,
        );
        if one.level == other.level && beats_synced(winner) && !beats_synced(loser) {
            return Some(Rule::SpokeLocal);
        }
        Some(Rule::between(one, other))
    }
}

/// A path and what holds there.
#[derive(Debug, Clone)]
pub struct PathEffective {
    /// The path.
    pub path: Path,
    /// The result; shared by all paths of a Gateway with the same policies on them.
    pub effective: Arc<Effective>,
}

/// All effective policies, by Gateway and kind.
#[derive(Debug, Default)]
pub struct EffectivePolicies {
    by_gateway: Vec<Vec<Vec<PathEffective>>>,
}

impl EffectivePolicies {
    /// Computes them for every Gateway of any class, in parallel.
    #[must_use]
    pub fn new(attachments: &Attachments<'_>) -> Self {
        Self::of(attachments, |_| true)
    }

    /// Computes them for the Gateways that `wanted` chooses by number.
    pub fn of(attachments: &Attachments<'_>, wanted: impl Fn(u32) -> bool + Sync) -> Self {
        let by_gateway = (0..number(attachments.topology.gateways.len()))
            .into_par_iter()
            .map(|gateway| {
                if !wanted(gateway) {
                    return Vec::new();
                }
                (0..attachments.kinds.len())
                    .map(|kind| on_gateway(attachments, kind, gateway, None))
                    .collect()
            })
            .collect();
        Self { by_gateway }
    }

    /// The paths of one kind below one Gateway.
    #[must_use]
    pub fn on(&self, kind: usize, gateway: u32) -> &[PathEffective] {
        self.by_gateway
            .get(index(gateway))
            .and_then(|kinds| kinds.get(kind))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Every path with its kind: by kind, then Gateway, then the order of the topology.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &PathEffective)> {
        let kinds = self.by_gateway.iter().map(Vec::len).max().unwrap_or_default();
        (0..kinds).flat_map(move |kind| {
            self.by_gateway
                .iter()
                .filter_map(move |by_kind| by_kind.get(kind))
                .flat_map(move |paths| paths.iter().map(move |path| (kind, path)))
        })
    }

    /// The paths that lead through a node or end there, with their kinds: what an explanation of an object starts from.
    #[must_use]
    pub fn through(&self, attachments: &Attachments<'_>, node: Node) -> Vec<(usize, &PathEffective)> {
        let gateways = super::reach::gateways_of(&attachments.topology, node);
        let on_path = |path: &Path| match node {
            Node::Class(_) | Node::Gateway(_) => true,
            Node::Namespace(namespace) => {
                let topology = &attachments.topology;
                let gateway = topology.gateway(path.gateway).map(|gateway| gateway.namespace);
                let route = path
                    .route
                    .and_then(|route| topology.route(route))
                    .map(|route| route.namespace);
                gateway == Some(namespace) || route == Some(namespace)
            }
            Node::ListenerSet(set) => path.listener.is_some_and(|listener| {
                let gateway = attachments.topology.gateway(path.gateway);
                let listener = gateway.and_then(|gateway| gateway.listeners.get(index(listener)));
                listener.is_some_and(|listener| listener.set == Some(set))
            }),
            other => path.nodes().contains(&other),
        };
        let mut found = Vec::new();
        for kind in 0..attachments.kinds.len() {
            for gateway in &gateways {
                let paths = self.on(kind, *gateway).iter().filter(|path| on_path(&path.path));
                found.extend(paths.map(|path| (kind, path)));
            }
        }
        found
    }

    /// How many paths there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_gateway.iter().flatten().map(Vec::len).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
