//! Merging along a path in the order of GEP-713's earlier text: on one level, the oldest wins.
//!
//! Owns: merging the policies of one level before levels are merged.
//! Flows in: layers by level, oldest first. Flows out: leaves with their sources.
//! Must not know: what the levels are; whose strategy decides in today's text.

use super::layer::{Content, Entry, Side};
use super::merge_patch::lay_under;
use super::merge_strategies::{is_empty, merge_into};
use super::profile::{MergeUnit, Strategy};

/// Between levels the order is that of the right fold: overrides from the root, defaults from the leaf. On one level the
/// oldest wins in defaults *and* in overrides (docs/systems/gep-713.md#conflicts-in-the-earlier-text): roles cannot
/// say that, because there defaults give way to the newer policy. So the policies of a level first become one.
pub(super) fn oldest_wins(unit: &MergeUnit, levels: &[&[Entry]]) -> Content {
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
    let mut layers = level
        .iter()
        .flat_map(|entry| entry.layers.iter())
        .filter(|layer| layer.side == side);
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
