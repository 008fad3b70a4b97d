//! Steady: selected clusters stay selected.
//!
//! The formula: docs/systems/ocm-placement.md#steady. The existing decisions are those before the run: decisions of the
//! run itself would make every score depend on the order in which clusters are processed
//! (open-cluster-management-io/ocm pkg/placement/plugins/steady/steady.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).

use crate::fleet::Bits;
use crate::ids::ClusterId;

/// 100 for a cluster of an existing decision of this Placement, else 0.
pub(crate) fn steady(mine: &Bits, cluster: ClusterId) -> i64 {
    if mine.contains(cluster) { 100 } else { 0 }
}
