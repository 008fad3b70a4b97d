//! Effective policies: the settings that apply on a path.
//!
//! Owns: a result with the source of every field, and which settings were overridden by which policy.
//! Flows in: what `paths` merges. Flows out: [`Effective`]s. Must not know: which paths there are, statuses, clusters.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kube_json::Value;

use super::attachment::Attachments;
use super::ids::{AuthoredId, PolicyId};
use super::layer::{Content, Leaf};
use super::leaves::unflatten;
use super::losses::Loss;
use super::precedence::Rule;
use super::profile::{Profile, SameTarget};
use crate::topology::{Level, Path};

/// The result of policies on one or more paths.
#[derive(Debug, Clone)]
pub struct Effective {
    /// The result, by rule id or JSON pointer; each leaf knows its source.
    pub content: Arc<Content>,
    /// The policies on the way with the level of each, least specific first, established first on a level.
    pub chain: Vec<(Level, PolicyId)>,
    /// How many steps from the start each of them first is on the way.
    steps: HashMap<PolicyId, usize>,
    /// The settings that did not survive.
    pub losses: Vec<Loss>,
    /// Those of the chain that their controller refuses here: no setting of theirs takes effect.
    pub refused: BTreeSet<PolicyId>,
}

impl Effective {
    /// `at` gives the step of each policy of the chain.
    pub(super) fn new(
        content: Arc<Content>,
        (chain, at): (Vec<(Level, PolicyId)>, &[usize]),
        losses: Vec<Loss>,
        refused: BTreeSet<PolicyId>,
    ) -> Self {
        let mut steps = HashMap::new();
        for ((_, policy), step) in chain.iter().zip(at) {
            steps.entry(*policy).or_insert(*step);
        }
        Self {
            content,
            chain,
            steps,
            losses,
            refused,
        }
    }

    /// The policies that something of the result comes from, each once.
    pub fn sources(&self, attachments: &Attachments<'_>) -> BTreeSet<AuthoredId> {
        let content = self.content.iter();
        content
            .map(|(key, leaf)| attachments.author_of(key, leaf))
            .collect()
    }

    /// The result as a spec: unwrapped, without targets and strategy. `None` where policies add up.
    pub fn spec(&self, profile: &Profile) -> Option<Value> {
        let is_whole_policy = |leaf: &Leaf| leaf.at.is_empty();
        let adds_up = profile.same_target == SameTarget::AddUp || self.content.values().any(is_whole_policy);
        (!adds_up).then(|| unflatten(self.content.values()))
    }

    /// The rule by which one policy of this path displaced another.
    pub fn rule(&self, attachments: &Attachments<'_>, winner: AuthoredId, loser: AuthoredId) -> Option<Rule> {
        let step = |id: AuthoredId| self.steps.get(&id.policy);
        let levels = step(winner)?.cmp(step(loser)?);
        let is_local = |id: AuthoredId| attachments.policy(id.policy).local;
        if levels.is_eq() && is_local(winner) && !is_local(loser) {
            return Some(Rule::SpokeLocal);
        }
        let may_prefer = attachments.profile(loser.policy).inheritance.is_some();
        let (winner, loser) = (attachments.authored(winner), attachments.authored(loser));
        Some(Rule::between(
            levels,
            winner.standing(),
            loser.standing(),
            may_prefer,
        ))
    }
}

/// A path and the settings that apply there.
#[derive(Debug, Clone)]
pub struct PathEffective {
    /// The path.
    pub path: Path,
    /// The result; shared by all paths of a Gateway with the same policies on them.
    pub effective: Arc<Effective>,
}
