//! ResourceAllocatableCPU and ResourceAllocatableMemory: the most allocatable cluster gets 100, the least -100.

use super::super::fleet::{Fleet, at};

/// The two resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::placement) enum Resource {
    Cpu,
    Memory,
}

impl Resource {
    /// The key in `status.allocatable` and `status.capacity`.
    pub(in crate::placement) const fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        }
    }
}

/// What each cluster has to give, as float64; not a number where it has no score.
#[derive(Debug)]
pub(in crate::placement) struct Resources {
    cpu: Vec<f64>,
    memory: Vec<f64>,
}

impl Resources {
    pub(in crate::placement) fn new(fleet: &Fleet<'_>) -> Self {
        let column = |resource: Resource| {
            let allocatable = |cluster: &&crate::api::ocm::ManagedCluster<'_>| {
                // Both entries are needed, although only one counts.
                let amount = cluster.allocatable.get(resource.key())?;
                cluster.capacity.get(resource.key())?;
                Some(amount.approximate())
            };
            fleet
                .clusters
                .iter()
                .map(|cluster| allocatable(cluster).unwrap_or(f64::NAN))
                .collect()
        };
        Self {
            cpu: column(Resource::Cpu),
            memory: column(Resource::Memory),
        }
    }

    /// What a cluster has to give; `None`: no score.
    pub(in crate::placement) fn amount(&self, resource: Resource, cluster: u32) -> Option<f64> {
        let column = match resource {
            Resource::Cpu => &self.cpu,
            Resource::Memory => &self.memory,
        };
        at(column, cluster).copied().filter(|amount| !amount.is_nan())
    }

    /// The least and the most of some clusters; `None` when none of them has a score.
    pub(in crate::placement) fn range(&self, resource: Resource, clusters: &[u32]) -> Option<Range> {
        clusters
            .iter()
            .filter_map(|cluster| self.amount(resource, *cluster))
            .fold(None, |range: Option<Range>, amount| {
                Some(match range {
                    None => Range {
                        min: amount,
                        max: amount,
                    },
                    Some(range) => Range {
                        min: range.min.min(amount),
                        max: range.max.max(amount),
                    },
                })
            })
    }

    /// The scores of the candidates, 0 where there is none.
    pub(in crate::placement) fn scores(&self, kind: Resource, clusters: &[u32]) -> Vec<i64> {
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
pub(in crate::placement) struct Range {
    pub(in crate::placement) min: f64,
    pub(in crate::placement) max: f64,
}

/// 100 when all have the same; else `trunc((((a - min) / (max - min)) - 0.5) * 2 * 100)`.
#[allow(clippy::cast_possible_truncation, clippy::float_cmp)]
pub(in crate::placement) fn resource(amount: f64, range: Range) -> i64 {
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
