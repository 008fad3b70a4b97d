//! Order and cut (OCM placement 1.2, Order and numberOfClusters).
//!
//! Owns: total descending, then name ascending; the first n. Flows in: candidates and totals. Flows out: who is
//! selected. Must not know: where the totals come from.

use std::cmp::Reverse;

/// A candidate and its total, in the order of selection when sorted: indices compare as names do.
pub(super) type Ranked = (Reverse<i64>, u32);

/// All candidates in the order of selection.
pub(super) fn rank(candidates: &[u32], totals: &[i64]) -> Vec<Ranked> {
    let mut ranking: Vec<Ranked> = candidates
        .iter()
        .zip(totals)
        .map(|(cluster, total)| (Reverse(*total), *cluster))
        .collect();
    ranking.sort_unstable();
    ranking
}

/// The first `number` of them, in the order of the names, without ordering the rest.
pub(super) fn select(candidates: &[u32], totals: &[i64], number: usize) -> Vec<u32> {
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
    let mut selected: Vec<u32> = ranking.into_iter().map(|(_, cluster)| cluster).collect();
    selected.sort_unstable();
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn selecting_is_ranking_and_cutting(totals in proptest::collection::vec(-3i64..3, 0..60), number in 0usize..70) {
            let candidates: Vec<u32> = (0u32..).take(totals.len()).collect();
            let mut expected: Vec<u32> = rank(&candidates, &totals)
                .into_iter()
                .take(number)
                .map(|(_, cluster)| cluster)
                .collect();
            expected.sort_unstable();
            proptest::prop_assert_eq!(select(&candidates, &totals, number), expected);
        }
    }
}
