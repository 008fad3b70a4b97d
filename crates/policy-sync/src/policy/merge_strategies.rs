//! The merge strategies of GEP-713: how two specs become one.
//!
//! Owns: atomic defaults, atomic overrides, patch defaults, patch overrides, and what counts as empty. Flows in: the
//! result so far, the layer of an established policy. Flows out: the merged result. Must not know: which levels the two
//! are on.

use super::layer::{Content, Side};
use super::merge_patch::{lay_under, patch};
use super::profile::{MergeUnit, Strategy};

/// Merges the layer of an established policy into the result of its challengers
/// (docs/systems/gep-713.md#merge-strategies).
pub(super) fn merge_into(
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
pub(super) fn is_empty(content: &Content) -> bool {
    !content.values().any(|leaf| leaf.essential)
}
