//! The right fold: merging along a path from its end to its root.
//!
//! Owns: the direction of the fold, and whose strategy decides at each step: the established policy's, or the
//! challenger's. Flows in: layers by level, established first. Flows out: leaves with their sources.
//! Must not know: what the levels are; the earlier text of GEP-713.

use super::layer::{Content, Entry};
use super::merge_strategies::merge_into;
use super::profile::MergeUnit;

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
