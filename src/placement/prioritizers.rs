//! Prioritizers: the numbers that a cluster gets (OCM placement 1.2, Scores).
//!
//! Owns: one formula for each prioritizer; the columns of numbers behind them, read once for the whole fleet.
//! Flows in: candidates, counts of existing decisions, resources, add-on scores. Flows out: integers, aligned
//! with the candidates. Must not know: weights.

mod add_on;
mod balance;
mod resource;

pub(super) use add_on::AddOnColumns;
pub(super) use balance::Balance;
pub(super) use resource::{Resource, Resources};

use super::bits::Bits;

/// Steady: 100 for a cluster of an existing decision of this Placement, else 0.
pub(super) fn steady(mine: &Bits, cluster: u32) -> i64 {
    if mine.contains(cluster) { 100 } else { 0 }
}
