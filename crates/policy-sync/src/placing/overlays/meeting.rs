//! What happens to an object if several changes of it apply on one cluster.
//!
//! Owns: which of two changes counts, and when they conflict. Flows in: changes, by pointers on the object as the hub has
//! it. Flows out: the changes that are overridden, repeated, or in conflict. Must not know: files and their order.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use apimachinery::pointer;
use kube_json::Value;

use super::changes::ChangedField;

/// One change of an object on a cluster. The order of a list of them is that of the overlays' identities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'c> {
    /// The position of the overlay, and of the field in it.
    pub(super) overlay: usize,
    pub(super) position: usize,
    /// The position of its entry of `set` among all.
    pub(super) entry: usize,
    pub(super) priority: i32,
    pub(super) field: &'c ChangedField,
    /// The position of the value among those of the field.
    pub(super) choice: usize,
    /// Nothing if the change removes the field.
    pub(super) value: Option<&'c Value>,
}

/// What happens to the changes that do not simply count, by their positions in the list.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// Those that do not count, with the highest one that overrides them.
    pub(super) overridden: BTreeMap<usize, usize>,
    /// Those that conflict with earlier ones, with the first of these.
    pub(super) conflicts: BTreeMap<usize, usize>,
    /// Those that do what an earlier one does.
    pub(super) repeated: BTreeSet<usize>,
}

impl Meeting {
    /// Of all changes of an object on a cluster. `pay` is asked for each two that meet; `None` if it refuses.
    pub(super) fn new(changes: &[Change<'_>], pay: impl Fn() -> bool) -> Option<Self> {
        let mut by_pointer: Vec<(usize, &Change<'_>)> = changes.iter().enumerate().collect();
        // What is inside a field follows it.
        by_pointer
            .sort_by(|(_, one), (_, other)| one.field.pointer.split('/').cmp(other.field.pointer.split('/')));
        let mut meeting = Self::default();
        for (rank, upper) in by_pointer.iter().enumerate() {
            let below = by_pointer.iter().skip(rank.saturating_add(1));
            for lower in below.take_while(|lower| is_at_or_above(upper.1, lower.1)) {
                if !pay() {
                    return None;
                }
                meeting.add(*upper, *lower, changes);
            }
        }
        Some(meeting)
    }

    /// Decides between a change and one of the same field or of one inside it.
    fn add(
        &mut self,
        (upper_position, upper): (usize, &Change<'_>),
        (lower_position, lower): (usize, &Change<'_>),
        changes: &[Change<'_>],
    ) {
        let is_one_field = upper.field.pointer == lower.field.pointer;
        let is_one_overlay = upper.overlay == lower.overlay;
        let first = upper_position.min(lower_position);
        let second = upper_position.max(lower_position);
        let (winner, loser) = match upper.priority.cmp(&lower.priority) {
            // Of two fields, the upper one must win as a whole: otherwise, half of each would remain.
            Ordering::Greater if !is_one_overlay => (upper_position, lower_position),
            Ordering::Less if !is_one_overlay && is_one_field => (lower_position, upper_position),
            Ordering::Equal if !is_one_overlay && is_one_field && upper.value == lower.value => {
                self.repeated.insert(second);
                return;
            }
            _ => {
                let with = self.conflicts.entry(second).or_insert(first);
                *with = first.min(*with);
                return;
            }
        };
        let rank = |position: usize| {
            let priority = changes.get(position).map(|change| change.priority);
            (priority, Reverse(position))
        };
        let by = self.overridden.entry(loser).or_insert(winner);
        if rank(winner) > rank(*by) {
            *by = winner;
        }
    }

    /// Whether a change of this position counts.
    pub(super) fn counts(&self, position: usize) -> bool {
        !self.overridden.contains_key(&position) && !self.conflicts.contains_key(&position)
    }
}

/// Whether the pointer of one change is that of the other or leads to a field around it.
fn is_at_or_above(one: &Change<'_>, other: &Change<'_>) -> bool {
    pointer::inside(&other.field.pointer, &one.field.pointer).is_some()
}
