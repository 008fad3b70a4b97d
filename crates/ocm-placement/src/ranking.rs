//! The order of the candidates, and `numberOfClusters` (docs/systems/ocm-placement.md#ranking).
//!
//! Owns: total descending, then name ascending; the first n. Flows in: candidates and totals. Flows out: the selected
//! clusters. Must not know: where the totals come from.

use std::cmp::Reverse;

use crate::ids::ClusterId;

/// A candidate and its total, in the order of selection when sorted. The name is part of the key, not left to a
/// stable sort: OCM compares names on equal scores (open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/schedule.go@805fa6103d8bc1761dbc9cb4e420def42703ec53), and numbers compare as names.
pub(crate) type Ranked = (Reverse<i64>, ClusterId);

/// All candidates in the order of selection.
pub(crate) fn rank(candidates: &[ClusterId], totals: &[i64]) -> Vec<Ranked> {
    let mut ranking: Vec<Ranked> = candidates
        .iter()
        .zip(totals)
        .map(|(cluster, total)| (Reverse(*total), *cluster))
        .collect();
    ranking.sort_unstable();
    ranking
}

/// The first `number` of them, in the order of the names, without ordering the rest.
pub(crate) fn select(candidates: &[ClusterId], totals: &[i64], number: usize) -> Vec<ClusterId> {
    if number == 0 {
        return Vec::new();
    }
    let mut ranking: Vec<Ranked> = candidates
        .iter()
        .zip(totals)
        .map(|(cluster, total)| (Reverse(*total), *cluster))
        .collect();
    if number < ranking.len() {
        ranking.select_nth_unstable(number.saturating_sub(1));
        ranking.truncate(number);
    }
    let mut selected: Vec<ClusterId> = ranking.into_iter().map(|(_, cluster)| cluster).collect();
    selected.sort_unstable();
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Id as _;

    proptest::proptest! {
        #[test]
        fn selecting_is_ranking_and_cutting(totals in proptest::collection::vec(-3i64..3, 0..60), number in 0usize..70) {
            let candidates: Vec<ClusterId> = (0..totals.len()).map(ClusterId::new).collect();
            let mut expected: Vec<ClusterId> = rank(&candidates, &totals)
                .into_iter()
                .take(number)
                .map(|(_, cluster)| cluster)
                .collect();
            expected.sort_unstable();
            proptest::prop_assert_eq!(select(&candidates, &totals, number), expected);
        }
    }
}
