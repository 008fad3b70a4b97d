//! Balance: the fewer decisions of others, the more points. It is the closest that OCM has to spreading, because
//! `spreadPolicy` is in the API only.
//!
//! Owns: the formula (docs/systems/ocm-placement.md#balance). Flows in: how often each name is in decisions.
//! Flows out: scores. Must not know: weights.

use crate::ids::{NameId, Table};

/// What Balance knows: the largest count of any name, also of one that is no candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Balance {
    pub(crate) max: u32,
    /// Scores by count, as far as counts are small.
    table: Vec<i64>,
}

/// Counts up to here are looked up.
const TABLE: u32 = 4096;

impl Balance {
    /// From the counts of all names, this Placement's own decisions left out. A name that is no candidate, even one
    /// without a cluster, still raises the maximum: OCM takes it over all decisions (open-cluster-management-io/ocm
    /// pkg/placement/plugins/balance/balance.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
    pub(crate) fn new(counts: &Table<NameId, u32>) -> Self {
        let max = counts.rows().iter().copied().max().unwrap_or_default();
        Self {
            max,
            table: (0..=max.min(TABLE)).map(|count| balance(count, max)).collect(),
        }
    }

    pub(crate) fn score(&self, count: u32) -> i64 {
        let known = usize::try_from(count)
            .ok()
            .and_then(|count| self.table.get(count));
        known.copied().unwrap_or_else(|| balance(count, self.max))
    }
}

/// 100 for a cluster that no other Placement has; otherwise `2 * trunc(100 * (0.5 - count / max))`: OCM converts to an
/// integer, toward zero, before it doubles, so 98 down to -100 in even steps. Doubling first would give 33 for one of
/// three instead of 32.
#[allow(clippy::cast_possible_truncation)]
fn balance(count: u32, max: u32) -> i64 {
    if count == 0 {
        return 100;
    }
    let share = f64::from(count) / f64::from(max);
    let half = (100.0 * (0.5 - share)) as i64;
    half.saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balance_truncates_toward_zero_before_it_doubles() {
        assert_eq!(balance(1, 3), 32);
        assert_eq!(balance(2, 3), -32);
        assert_eq!(balance(1, 2), 0);
        assert_eq!(balance(3, 3), -100);
        assert_eq!(balance(0, 3), 100);
    }

    #[test]
    fn counts_beyond_the_table_score_by_the_formula() {
        let balance_of = Balance::new(&Table::of(vec![0, 1, 1_000_000]));
        for count in [0, 1, 4_096, 4_097, 500_000, 1_000_000] {
            assert_eq!(balance_of.score(count), balance(count, 1_000_000), "{count}");
        }
    }

    proptest::proptest! {
        #[test]
        fn balance_stays_between_minus_and_plus_a_hundred(count in 0u32..10_000, more in 0u32..10_000) {
            let score = balance(count, count.saturating_add(more));
            proptest::prop_assert!((-100..=100).contains(&score) && score % 2 == 0);
        }
    }
}
