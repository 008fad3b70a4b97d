//! The order of the candidates, and `numberOfClusters` (docs/systems/ocm-placement.md#ranking). Total descending, then
//! name ascending; the first n.

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
