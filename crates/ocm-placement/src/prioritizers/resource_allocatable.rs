//! ResourceAllocatableCPU and ResourceAllocatableMemory: the most allocatable cluster gets 100, the least -100. The
//! formula: docs/systems/ocm-placement.md#allocatable-resources. The numbers are read once for the whole fleet.

use crate::api::managed_cluster::ManagedCluster;
use crate::fleet::Fleet;
use crate::ids::{ClusterId, Table};

/// The two resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Resource {
    Cpu,
    Memory,
}

impl Resource {
    /// The key in `status.allocatable` and `status.capacity`.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        }
    }
}

/// What each cluster has to give, as Go's float64 of the quantity; `None` where it has no score.
#[derive(Debug)]
pub(crate) struct Resources {
    cpu: Table<ClusterId, Option<f64>>,
    memory: Table<ClusterId, Option<f64>>,
}

impl Resources {
    pub(crate) fn new(fleet: &Fleet<'_>) -> Self {
        let column = |resource: Resource| {
            let allocatable = |cluster: &&ManagedCluster<'_>| {
                // OCM asks for both entries, although it uses the allocatable one only (open-cluster-management-io/ocm
                // pkg/placement/plugins/resource/resource.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
                let amount = cluster.allocatable.get(resource.key())?;
                cluster.capacity.get(resource.key())?;
                Some(amount.approximate())
            };
            fleet.clusters.rows().iter().map(allocatable).collect()
        };
        Self {
            cpu: column(Resource::Cpu),
            memory: column(Resource::Memory),
        }
    }

    /// What a cluster has to give; `None`: no score.
    pub(crate) fn amount(&self, resource: Resource, cluster: ClusterId) -> Option<f64> {
        let column = match resource {
            Resource::Cpu => &self.cpu,
            Resource::Memory => &self.memory,
        };
        column[cluster]
    }

    /// The least and the most of some clusters; `None` when none of them has a score.
    pub(crate) fn range(&self, resource: Resource, clusters: &[ClusterId]) -> Option<Range> {
        let amounts = || {
            clusters
                .iter()
                .filter_map(|cluster| self.amount(resource, *cluster))
        };
        Some(Range {
            min: amounts().reduce(f64::min)?,
            max: amounts().reduce(f64::max)?,
        })
    }

    /// The scores of the candidates, 0 where there is none.
    pub(crate) fn scores(&self, kind: Resource, clusters: &[ClusterId]) -> Vec<i64> {
        let range = self.range(kind, clusters);
        clusters
            .iter()
            .map(|cluster| match (range, self.amount(kind, *cluster)) {
                (Some(range), Some(amount)) => resource(amount, range),
                _ => 0,
            })
            .collect()
    }
}

/// The least and the most among the candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// 100 when all have the same; else `trunc((((a - min) / (max - min)) - 0.5) * 2 * 100)`, in float64 and in this order:
/// another order of the same operations rounds otherwise.
#[allow(clippy::cast_possible_truncation, clippy::float_cmp)]
fn resource(amount: f64, range: Range) -> i64 {
    if range.max == range.min {
        return 100;
    }
    let share = (amount - range.min) / (range.max - range.min);
    ((share - 0.5) * 2.0 * 100.0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_resources_all_get_a_hundred() {
        let range = Range { min: 4.0, max: 4.0 };
        assert_eq!(resource(4.0, range), 100);
    }

    #[test]
    fn the_share_is_truncated_toward_zero() {
        let range = Range { min: 0.0, max: 3.0 };
        assert_eq!(resource(0.0, range), -100);
        assert_eq!(resource(1.0, range), -33);
        assert_eq!(resource(2.0, range), 33);
        assert_eq!(resource(3.0, range), 100);
    }
}
