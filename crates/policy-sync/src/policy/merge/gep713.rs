//! The merge strategies of GEP-713, and the two orders in which policies are merged along a path.
//!
//! [`right_fold`] is today's text, [`oldest_wins`] the earlier one. [`Composed`] is the result of the policies of one node
//! as a function of the more specific policies, for questions about any challenger.

use std::collections::BTreeMap;

use super::json_merge_patch::{lay_under, patch};
use crate::policy::model::{Content, Entry, Layer, PolicyId, Side};
use crate::policy::profile::{Dictates, MergeUnit, Profile, Strategy};

/// Merges the layer of an established policy into the result of its challengers
/// (docs/systems/gep-713.md#merge-strategies).
fn merge_into(
    challenger: &mut Content,
    side: Side,
    strategy: Strategy,
    established: &Content,
    unit: &MergeUnit,
) {
    match (strategy, side) {
        // Atomic defaults give way as a whole, but not to a policy without settings of its kind: Kuadrant falls
        // back to the parent (docs/systems/kuadrant.md#empty-policies).
        (Strategy::None | Strategy::Atomic, Side::Defaults) => {
            if is_empty(challenger) {
                *challenger = established.clone();
            }
        }
        // Atomic overrides apply as a whole, even empty ones.
        (Strategy::None | Strategy::Atomic, Side::Overrides) => *challenger = established.clone(),
        // Which of the two is the patch matters: the patch's lists replace, and its nulls delete.
        (Strategy::Patch | Strategy::StrategicPatch, Side::Defaults) => {
            lay_under(challenger, established, unit);
        }
        (Strategy::Patch | Strategy::StrategicPatch, Side::Overrides) => patch(challenger, established, unit),
    }
}

/// Kuadrant's and GEP-713's "empty": nothing that its kind is about.
fn is_empty(content: &Content) -> bool {
    !content.values().any(|leaf| leaf.essential)
}

/// The most specific, newest policy first; each further one towards the root is established against what has been
/// folded so far (docs/systems/gep-713.md#the-right-fold).
pub(crate) fn right_fold(unit: &MergeUnit, levels: &[&[Entry]]) -> Content {
    let mut folded = Content::new();
    // From the leaf to the root, not down as the diagram of the GEP goes: downwards, the default of a rule would beat
    // the override of a Gateway as soon as a route between them has a policy
    // (fixtures/policy/40-rlp-three-levels-gateway-atomic-override-wins). Kuadrant goes up, too:
    // Kuadrant/kuadrant-operator api/v1/merge_strategies.go@v1.5.2.
    //
    // On one level the same order makes the newest policy the first challenger, so that the *newer* of two policies
    // with atomic defaults wins (docs/systems/kuadrant.md#policies-on-one-target). It looks the wrong way round, but
    // GEP-713 requires it and the controllers do it.
    for entry in levels.iter().rev().flat_map(|level| level.iter().rev()) {
        // Defaults are before overrides in `layers`, so that a policy with both (GEP-2649) first gives way and then
        // insists.
        for layer in entry.layers.iter() {
            merge_into(&mut folded, layer.side, layer.strategy, &layer.content, unit);
        }
    }
    folded
}

/// Between levels the order is that of the right fold: overrides from the root, defaults from the leaf. On one level the
/// oldest wins in defaults *and* in overrides (docs/systems/gep-713.md#conflicts-in-the-earlier-text): roles cannot
/// say that, because there defaults give way to the newer policy. So the policies of a level first become one.
pub(crate) fn oldest_wins(unit: &MergeUnit, levels: &[&[Entry]]) -> Content {
    let mut folded = Content::new();
    for level in levels.iter().rev() {
        for side in [Side::Defaults, Side::Overrides] {
            if let Some((strategy, together)) = one_level(unit, level, side) {
                merge_into(&mut folded, side, strategy, &together, unit);
            }
        }
    }
    folded
}

/// One side of one level. The strategy of the oldest policy counts, against its peers and against what is below.
pub(crate) fn one_level(unit: &MergeUnit, level: &[Entry], side: Side) -> Option<(Strategy, Content)> {
    let layers = level.iter().flat_map(|entry| entry.layers.iter());
    let mut layers = layers.filter(|layer| layer.side == side);
    let oldest = layers.next()?;
    let mut together = (*oldest.content).clone();
    for newer in layers {
        if oldest.strategy.merges() {
            lay_under(&mut together, &newer.content, unit);
        } else if is_empty(&together) {
            together = newer.content.as_ref().clone();
        }
    }
    Some((oldest.strategy, together))
}

/// The result of the policies of one node over a challenger, by the right fold
/// (docs/systems/gep-713.md#merge-strategies).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Composed {
    /// These settings, regardless of the challenger.
    Always(Content),
    /// `defaults` under the challenger, `overrides` over it.
    Depends {
        /// The settings that the challenger may change.
        defaults: Content,
        /// The settings that it may not change.
        overrides: Content,
        /// The settings for an empty challenger: atomic defaults, and the policy that they come from.
        fallback: Option<(PolicyId, Content)>,
    },
}

impl Composed {
    /// Composes the policies of one node. `None` if no such form expresses their result.
    pub(crate) fn new(profile: &Profile, entries: &[Entry]) -> Option<Self> {
        // Whose strategy counts then depends on the policies below, which are no part of a function of their settings.
        if profile.dictates == Dictates::Challenger && entries.len() > 1 {
            return None;
        }
        let mut composed = Some(Self::Depends {
            defaults: Content::new(),
            overrides: Content::new(),
            fallback: None,
        });
        for entry in entries.iter().rev() {
            for layer in entry.layers.iter() {
                composed = Self::with(composed, entry.policy, layer, &profile.unit);
            }
        }
        composed.map(|composed| composed.without_idle_fallback(&profile.unit))
    }

    /// The same without a fallback all of whose settings others have anyway.
    fn without_idle_fallback(mut self, unit: &MergeUnit) -> Self {
        if let Self::Depends {
            defaults,
            overrides,
            fallback: fallback @ Some(_),
        } = &mut self
        {
            let over_defaults = |settings: Option<&Content>| {
                let mut result = defaults.clone();
                for settings in settings.into_iter().chain([&*overrides]) {
                    patch(&mut result, settings, unit);
                }
                // Which policy a value is from makes no difference here.
                let values = result.into_iter().map(|(key, leaf)| (key, leaf.value));
                values.collect::<BTreeMap<_, _>>()
            };
            let settings = fallback.as_ref().map(|(_, settings)| settings);
            let is_idle = !overrides.is_empty() || !defaults.is_empty();
            if is_idle && over_defaults(settings) == over_defaults(None) {
                *fallback = None;
            }
        }
        self
    }

    /// The same with the layer of an older policy.
    fn with(composed: Option<Self>, policy: PolicyId, layer: &Layer, unit: &MergeUnit) -> Option<Self> {
        let own = layer.content.as_ref();
        let merges = layer.strategy.merges();
        // Regardless of the result of the newer ones.
        if !merges && layer.side == Side::Overrides {
            return Some(Self::Always(own.clone()));
        }
        let mut composed = composed?;
        match &mut composed {
            Self::Always(settings) => merge_into(settings, layer.side, layer.strategy, own, unit),
            Self::Depends {
                defaults,
                overrides,
                fallback,
            } => match (merges, layer.side) {
                (true, Side::Defaults) => lay_under(defaults, own, unit),
                (true, Side::Overrides) => patch(overrides, own, unit),
                (false, _) => {
                    let stands_in = fallback.as_ref().is_some_and(|(_, settings)| !is_empty(settings));
                    let never_empty = stands_in || !is_empty(defaults) || !is_empty(overrides);
                    if !never_empty {
                        // Beside settings that count as empty (a condition without a limit, say), a fallback would be a
                        // third case.
                        if !defaults.is_empty() || !overrides.is_empty() {
                            return None;
                        }
                        *fallback = Some((policy, own.clone()));
                    }
                }
            },
        }
        Some(composed)
    }
}
