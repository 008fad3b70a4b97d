//! What happens to an object if several changes of it apply on one cluster.
//!
//! Owns: which of two changes counts, and when they conflict. Flows in: changes, by pointers on the object as the hub has
//! it. Flows out: the changes that count, those that are overridden, and conflicts. Must not know: files and their order.

use kube_json::Value;

/// One change of an object on a cluster. The order of a list of them is that of the overlays' identities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'s> {
    pub(super) overlay: usize,
    pub(super) priority: i32,
    pub(super) pointer: &'s str,
    /// Nothing if the change removes the field.
    pub(super) value: Option<&'s Value>,
}

/// What happens to two changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Met {
    /// Different fields, neither inside the other.
    Apart,
    /// Both give the field the same value.
    Same,
    /// Only the first counts.
    First,
    /// Only the second counts.
    Second,
    /// Nobody decides.
    Conflict,
}

/// Whether one pointer is the other or leads to a field around it.
fn is_at_or_above(one: &str, other: &str) -> bool {
    let rest = other.strip_prefix(one);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What happens to two changes of one object on one cluster.
pub(super) fn meet(one: &Side<'_>, other: &Side<'_>) -> Met {
    let above = is_at_or_above(one.pointer, other.pointer);
    let below = is_at_or_above(other.pointer, one.pointer);
    let is_one_field = above && below;
    match one.priority.cmp(&other.priority) {
        _ if !above && !below => Met::Apart,
        _ if one.overlay == other.overlay => Met::Conflict,
        // Of two fields, the upper one must win as a whole: otherwise, half of each would remain.
        std::cmp::Ordering::Greater if above => Met::First,
        std::cmp::Ordering::Less if below => Met::Second,
        std::cmp::Ordering::Equal if is_one_field && one.value == other.value => Met::Same,
        _ => Met::Conflict,
    }
}

/// What several changes of one object come to on a cluster, by their positions in the list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Meeting {
    /// Those that count. Of two that are equal, both do.
    pub(super) counting: Vec<usize>,
    /// Of these, fields that are not inside each other: the object is what they make of it.
    pub(super) applied: Vec<usize>,
    /// Those that do not count, each with the one that overrides it.
    pub(super) overridden: Vec<(usize, usize)>,
    /// Each change that conflicts with earlier ones, after the first of them.
    pub(super) conflicts: Vec<(usize, usize)>,
}

impl Meeting {
    /// Of all changes of an object on a cluster. `pay` is asked for each two that meet; `None` if it refuses.
    pub(super) fn new(sides: &[Side<'_>], pay: impl Fn() -> bool) -> Option<Self> {
        let mut by_pointer: Vec<usize> = (0..sides.len()).collect();
        let tokens = |position: &usize| sides.get(*position).map(|side| side.pointer.split('/'));
        // What is inside a field follows it.
        by_pointer.sort_by(|one, other| match (tokens(one), tokens(other)) {
            (Some(one_tokens), Some(other_tokens)) => one_tokens.cmp(other_tokens).then(one.cmp(other)),
            _ => one.cmp(other),
        });
        let mut fates = vec![Fate::default(); sides.len()];
        for (rank, upper) in by_pointer.iter().enumerate() {
            for lower in by_pointer.iter().skip(rank.saturating_add(1)) {
                let (first, second) = (*upper.min(lower), *upper.max(lower));
                let (Some(one), Some(other)) = (sides.get(first), sides.get(second)) else {
                    continue;
                };
                let met = meet(one, other);
                if met == Met::Apart {
                    break;
                }
                if !pay() {
                    return None;
                }
                let (position, cause) = match met {
                    Met::Second => (first, Cause::Overridden(second)),
                    Met::First => (second, Cause::Overridden(first)),
                    Met::Conflict => (second, Cause::Conflict(first)),
                    _ => (second, Cause::Repeated),
                };
                if let Some(fate) = fates.get_mut(position) {
                    fate.add(cause, sides);
                }
            }
        }
        let mut meeting = Self::default();
        for (position, fate) in fates.iter().enumerate() {
            let Fate {
                overridden,
                conflict,
                is_repeated,
            } = *fate;
            meeting.overridden.extend(overridden.map(|by| (position, by)));
            meeting.conflicts.extend(conflict.map(|first| (first, position)));
            if overridden.is_none() && conflict.is_none() {
                meeting.counting.push(position);
                if !is_repeated {
                    meeting.applied.push(position);
                }
            }
        }
        Some(meeting)
    }
}

/// What happens to one change beside all others.
#[derive(Debug, Clone, Copy, Default)]
struct Fate {
    /// By the one with the highest priority.
    overridden: Option<usize>,
    /// With the first of those before it.
    conflict: Option<usize>,
    /// An earlier one does the same.
    is_repeated: bool,
}

enum Cause {
    Overridden(usize),
    Conflict(usize),
    Repeated,
}

impl Fate {
    fn add(&mut self, cause: Cause, sides: &[Side<'_>]) {
        let rank = |by: usize| (sides.get(by).map(|side| side.priority), std::cmp::Reverse(by));
        match cause {
            Cause::Overridden(by) => {
                let known = self.overridden.filter(|known| rank(*known) > rank(by));
                self.overridden = known.or(Some(by));
            }
            Cause::Conflict(first) => {
                self.conflict = self.conflict.map(|known| known.min(first)).or(Some(first));
            }
            Cause::Repeated => self.is_repeated = true,
        }
    }
}
