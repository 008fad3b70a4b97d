//! Effective policies: what holds on a path.
//!
//! Owns: a result with the source of every field, and what was lost to whom.
//! Flows in: what `paths` merges. Flows out: [`Effective`]s. Must not know: which paths there are, statuses, clusters.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::attachment::Attachments;
use super::ids::PolicyId;
use super::layer::Content;
use super::leaves::unflatten;
use super::losses::Loss;
use super::precedence::Rule;
use super::profile::{Profile, SameTarget};
use crate::topology::{Level, Path};

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

    /// The rule by which one policy of this path displaced another.
    #[must_use]
    pub(crate) fn rule(
        &self,
        attachments: &Attachments<'_>,
        winner: PolicyId,
        loser: PolicyId,
    ) -> Option<Rule> {
        let level = |id| {
            let (level, _) = self.chain.iter().find(|(_, policy)| *policy == id)?;
            Some(*level)
        };
        let levels = level(winner)?.cmp(&level(loser)?);
        let (one, other) = (attachments.policy(winner), attachments.policy(loser));
        if levels.is_eq() && one.local && !other.local {
            return Some(Rule::SpokeLocal);
        }
        Some(Rule::between(levels, one.standing(), other.standing()))
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
