//! The names of the rules that decide which policy goes first.
//!
//! Owns: conflict resolution on one level (docs/systems/gep-713.md#established-and-challenger) and [`Rule`], the reason
//! that every decision carries.
//! Flows in: ranks. Flows out: reasons.
//! Must not know: topology.

use std::cmp::Ordering;

use serde::Serialize;

use super::layer::Side;
use crate::object::Rank;

/// Where a policy stands when it meets another one of its level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing<'r> {
    /// Defaults or overrides.
    pub(super) side: Side,
    /// Its rank.
    pub(super) rank: &'r Rank,
}

/// The rule that decided between two policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The second line of the earlier text of GEP-713.
    OverridesBeatDefaults,
    /// Between levels, the less specific override.
    LessSpecificOverrides,
    /// Between levels, the more specific default.
    MoreSpecificDefaults,
    /// Between levels, the less specific one where an annotation prefers it (kgateway).
    ParentPreferred,
    /// Between levels, the less specific one where the more specific one is refused (Envoy Gateway).
    Refused,
    /// What goes before age, of kinds that have it: a weight or a priority.
    Priority,
    /// The older policy.
    Older,
    /// The first by `namespace/name`.
    FirstByName,
    /// Defaults of the established policy give way to the challenger, which is the newer one.
    NewerChallenger,
    /// Defaults of the established policy give way to the challenger, which is the later by `namespace/name`.
    LaterChallenger,
    /// What lives on the spoke beats what is synced to it.
    SpokeLocal,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::OverridesBeatDefaults,
        Self::LessSpecificOverrides,
        Self::MoreSpecificDefaults,
        Self::ParentPreferred,
        Self::Refused,
        Self::Priority,
        Self::Older,
        Self::FirstByName,
        Self::NewerChallenger,
        Self::LaterChallenger,
        Self::SpokeLocal,
    ];

    /// The name in JSON, stable: `first-by-name`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OverridesBeatDefaults => "overrides-beat-defaults",
            Self::LessSpecificOverrides => "less-specific-overrides",
            Self::MoreSpecificDefaults => "more-specific-defaults",
            Self::ParentPreferred => "parent-preferred",
            Self::Refused => "refused",
            Self::Priority => "priority",
            Self::Older => "older",
            Self::FirstByName => "first-by-name",
            Self::NewerChallenger => "newer-challenger",
            Self::LaterChallenger => "later-challenger",
            Self::SpokeLocal => "spoke-local",
        }
    }

    /// Why, for people; follows "because".
    pub const fn because(self) -> &'static str {
        match self {
            Self::OverridesBeatDefaults => "overrides win over defaults",
            Self::LessSpecificOverrides => "the overrides of the less specific level win",
            Self::MoreSpecificDefaults => "the more specific level wins over defaults",
            Self::ParentPreferred => {
                "an annotation of its target gives it precedence over more specific policies"
            }
            Self::Refused => "the more specific policy is refused there, so it overrides nothing",
            Self::Priority => "its weight or priority puts it first",
            Self::Older => "it is older",
            Self::FirstByName => "it is first by namespace/name, and no creation time decides",
            Self::NewerChallenger => "on one level, the newer policy overrides the defaults of the older one",
            Self::LaterChallenger => {
                "on one level, the policy that is later by namespace/name overrides defaults, and no creation time decides"
            }
            Self::SpokeLocal => "a policy that lives on the cluster overrides a synced one",
        }
    }

    /// The rule by which `winner` beat `loser`; `levels` compares where they are, the less specific being less.
    /// `may_prefer` says whether a Gateway of this kind may prefer its own policies.
    pub(super) fn between(
        levels: Ordering,
        winner: Standing<'_>,
        loser: Standing<'_>,
        may_prefer: bool,
    ) -> Self {
        match levels {
            Ordering::Greater => Self::MoreSpecificDefaults,
            Ordering::Less if loser.side == Side::Overrides => Self::LessSpecificOverrides,
            Ordering::Less if winner.side == Side::Defaults && may_prefer => Self::ParentPreferred,
            Ordering::Less if winner.side == Side::Defaults => Self::Refused,
            Ordering::Less => Self::OverridesBeatDefaults,
            Ordering::Equal => Self::on_one_level(winner, loser),
        }
    }

    /// The rule by which `winner` beat `loser` on one level. That the newer one won is no mistake: it challenged
    /// defaults (docs/systems/kuadrant.md#policies-on-one-target).
    pub(super) fn on_one_level(winner: Standing<'_>, loser: Standing<'_>) -> Self {
        if winner.side == Side::Overrides && loser.side == Side::Defaults {
            return Self::OverridesBeatDefaults;
        }
        if winner.rank.priority < loser.rank.priority {
            return Self::Priority;
        }
        match (winner.rank.by_age(loser.rank), winner.rank.key < loser.rank.key) {
            (Ordering::Less, _) => Self::Older,
            (Ordering::Greater, _) => Self::NewerChallenger,
            (Ordering::Equal, true) => Self::FirstByName,
            (Ordering::Equal, false) => Self::LaterChallenger,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_between_levels_has_its_case() {
        let rank = Rank::default();
        let standing = |side| Standing { side, rank: &rank };
        let (defaults, overrides) = (Side::Defaults, Side::Overrides);
        for (levels, winner, loser, may_prefer, rule) in [
            (
                Ordering::Less,
                overrides,
                overrides,
                true,
                Rule::LessSpecificOverrides,
            ),
            (
                Ordering::Less,
                overrides,
                defaults,
                true,
                Rule::OverridesBeatDefaults,
            ),
            (Ordering::Less, defaults, defaults, true, Rule::ParentPreferred),
            (Ordering::Less, defaults, defaults, false, Rule::Refused),
            (
                Ordering::Greater,
                defaults,
                defaults,
                true,
                Rule::MoreSpecificDefaults,
            ),
            (
                Ordering::Greater,
                defaults,
                overrides,
                false,
                Rule::MoreSpecificDefaults,
            ),
        ] {
            let decided = Rule::between(levels, standing(winner), standing(loser), may_prefer);
            assert_eq!(decided, rule, "{levels:?} {winner:?} {loser:?} {may_prefer}");
        }
    }

    #[test]
    fn each_rule_on_one_level_has_its_case() {
        let rank = |priority, age: Option<&str>, key: &str| Rank {
            priority,
            age: age.map(|age| age.parse().unwrap()),
            key: key.to_owned(),
        };
        let (old, new) = (Some("2026-01-01T00:00:00Z"), Some("2026-02-01T00:00:00Z"));
        let (defaults, overrides) = (Side::Defaults, Side::Overrides);
        for (winner, loser, rule) in [
            (
                (overrides, rank(1, new, "n/b")),
                (defaults, rank(0, old, "n/a")),
                Rule::OverridesBeatDefaults,
            ),
            (
                (overrides, rank(0, new, "n/b")),
                (overrides, rank(1, old, "n/a")),
                Rule::Priority,
            ),
            (
                (defaults, rank(0, old, "n/b")),
                (defaults, rank(0, new, "n/a")),
                Rule::Older,
            ),
            (
                (defaults, rank(0, new, "n/a")),
                (defaults, rank(0, old, "n/b")),
                Rule::NewerChallenger,
            ),
            (
                (defaults, rank(0, None, "n/a")),
                (defaults, rank(0, None, "n/b")),
                Rule::FirstByName,
            ),
            (
                (defaults, rank(0, old, "n/b")),
                (defaults, rank(0, old, "n/a")),
                Rule::LaterChallenger,
            ),
        ] {
            let [won, lost] = [&winner, &loser].map(|(side, rank)| Standing { side: *side, rank });
            assert_eq!(Rule::on_one_level(won, lost), rule, "{winner:?} {loser:?}");
        }
    }
}
