//! The right fold: merging along a path from its end to its root.
//!
//! Owns: the direction of the fold, and whose strategy decides at each step: the established policy's, or the
//! challenger's. Flows in: layers by level, established first. Flows out: leaves with their sources.
//! Must not know: what the levels are; the earlier text of GEP-713.

use super::layer::{Content, Entry, Leaf};
use super::merge_patch::lay_under;
use super::merge_strategies::merge_into;
use super::profile::{ListKey, MergeUnit, Strategy};
use super::strategic_merge::lay_under_strategically;

/// The most specific, newest policy first; each further one towards the root is established against what has been
/// folded so far (docs/systems/gep-713.md#the-right-fold).
pub(super) fn right_fold(unit: &MergeUnit, levels: &[&[Entry]]) -> Content {
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

/// The same where the more specific policy dictates: as long as one asks for it, the next one towards the root is laid
/// under. One that does not stands alone, even if it says nothing (docs/systems/envoy-gateway.md#merge-types).
pub(super) fn challenger_first(unit: &MergeUnit, lists: &[ListKey], levels: &[&[Entry]]) -> Content {
    let mut entries = levels.iter().rev().flat_map(|level| level.iter().rev());
    let Some(first) = entries.next() else {
        return Content::new();
    };
    let (mut folded, mut strategy) = (content(first), strategy(first));
    for entry in entries {
        if !strategy.merges() {
            break;
        }
        // Go leaves out an empty list when it writes the patch (https://github.com/envoyproxy/gateway/issues/9233).
        folded.retain(|_, leaf| !is_empty_list(leaf));
        match strategy {
            Strategy::StrategicPatch => lay_under_strategically(&mut folded, &content(entry), unit, lists),
            _ => lay_under(&mut folded, &content(entry), unit),
        }
        strategy = self::strategy(entry);
    }
    folded
}

/// The settings of a policy, because these kinds have no overrides.
fn content(entry: &Entry) -> Content {
    let layers = entry.layers.iter();
    layers
        .flat_map(|layer| layer.content.iter())
        .map(|(key, leaf)| (key.clone(), leaf.clone()))
        .collect()
}

fn strategy(entry: &Entry) -> Strategy {
    entry
        .layers
        .first()
        .map_or(Strategy::Atomic, |layer| layer.strategy)
}

fn is_empty_list(leaf: &Leaf) -> bool {
    leaf.value.as_array().is_some_and(Vec::is_empty)
}
