//! Prioritizers: which a Placement uses, how much each counts (docs/systems/ocm-placement.md#weights), and the scores
//! that each gives a cluster (docs/systems/ocm-placement.md#scores): Balance, Steady, ResourceAllocatable, AddOn.

use std::collections::HashMap;

use strum::IntoStaticStr;

use crate::api::managed_cluster::{AddOnPlacementScore, ManagedCluster};
use crate::api::placement::{AddOnScore, FieldFault, PrioritizerPolicy, ScoreCoordinate};
use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, Table};
use crate::input::Input;

/// A prioritizer of OCM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind<'a> {
    Balance,
    Steady,
    Allocatable(Resource),
    AddOn(AddOnScore<'a>),
}

impl Kind<'_> {
    /// The name in reports.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Balance => "Balance".to_owned(),
            Self::Steady => "Steady".to_owned(),
            Self::Allocatable(Resource::Cpu) => "ResourceAllocatableCPU".to_owned(),
            Self::Allocatable(Resource::Memory) => "ResourceAllocatableMemory".to_owned(),
            Self::AddOn(score) => format!("AddOn/{}/{}", score.resource_name, score.score_name),
        }
    }
}

/// A prioritizer that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Prioritizer<'a> {
    pub(crate) kind: Kind<'a>,
    /// Never 0.
    pub(crate) weight: i64,
    /// The configuration that says so; `None`: a default.
    pub(crate) configuration: Option<usize>,
}

/// One entry of OCM's map of weights. Its key is a whole `ScoreCoordinate`, which holds a Go *pointer* to `addOn`: two
/// entries with that block are never the same key, whatever it says. So repeated AddOn entries add up, and a BuiltIn
/// entry with such a block adds to the default instead of overriding it (docs/systems/ocm-placement.md#weights;
/// `mergeWeights` in open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/schedule.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
struct Entry<'a> {
    coordinate: ScoreCoordinate<'a>,
    weight: i64,
    configuration: Option<usize>,
}

const POLICY: &str = "/spec/prioritizerPolicy";

/// The prioritizers of a policy, the defaults first, then in the order of the configurations; those of weight 0 are not
/// used.
pub(crate) fn prioritizers<'a>(policy: &PrioritizerPolicy<'a>) -> Result<Vec<Prioritizer<'a>>, FieldFault> {
    let default = |built_in| Entry {
        coordinate: ScoreCoordinate {
            is_add_on: false,
            built_in,
            add_on: None,
        },
        weight: 1,
        configuration: None,
    };
    let mut entries = match policy.mode {
        "" | "Additive" => vec![default("Balance"), default("Steady")],
        "Exact" => Vec::new(),
        other => {
            return Err(FieldFault {
                message: format!("incorrect prioritizer policy mode: {other}"),
                pointer: format!("{POLICY}/mode"),
            });
        }
    };
    for (index, configuration) in policy.configurations.iter().enumerate() {
        let coordinate = configuration.coordinate;
        let same = entries
            .iter_mut()
            .find(|entry| coordinate.add_on.is_none() && entry.coordinate == coordinate);
        let entry = Entry {
            coordinate,
            weight: configuration.weight,
            configuration: Some(index),
        };
        match same {
            Some(same) => *same = entry,
            None => entries.push(entry),
        }
    }
    // Weight 0 goes first: a prioritizer that nobody knows is no fault then.
    entries
        .iter()
        .filter(|entry| entry.weight != 0)
        .map(prioritizer)
        .collect()
}

fn prioritizer<'a>(entry: &Entry<'a>) -> Result<Prioritizer<'a>, FieldFault> {
    let fault = |message: String, field: &str| FieldFault {
        message,
        pointer: match entry.configuration {
            Some(index) => format!("{POLICY}/configurations/{index}/scoreCoordinate{field}"),
            None => POLICY.to_owned(),
        },
    };
    let ScoreCoordinate {
        is_add_on,
        built_in,
        add_on,
    } = entry.coordinate;
    let kind = match (is_add_on, add_on, built_in) {
        (true, Some(score), _) => Kind::AddOn(score),
        (true, None, _) => return Err(fault("addOn should not be empty".to_owned(), "")),
        (false, _, "Balance") => Kind::Balance,
        (false, _, "Steady") => Kind::Steady,
        (false, _, "ResourceAllocatableCPU") => Kind::Allocatable(Resource::Cpu),
        (false, _, "ResourceAllocatableMemory") => Kind::Allocatable(Resource::Memory),
        (false, _, other) => {
            return Err(fault(
                format!("incorrect builtin prioritizer: {other}"),
                "/builtIn",
            ));
        }
    };
    Ok(Prioritizer {
        kind,
        weight: entry.weight,
        configuration: entry.configuration,
    })
}

/// Balance: the fewer decisions of others, the more points. It is the closest that OCM has to spreading, because
/// `spreadPolicy` is in the API only (docs/systems/ocm-placement.md#balance).
///
/// 100 for a cluster that no other Placement has; otherwise `2 * trunc(100 * (0.5 - count / max))`: OCM converts to an
/// integer, toward zero, before it doubles, so 98 down to -100 in even steps. Doubling first would give 33 for one of
/// three instead of 32.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn balance(count: u32, max: u32) -> i64 {
    if count == 0 {
        return 100;
    }
    let share = f64::from(count) / f64::from(max);
    let half = (100.0 * (0.5 - share)) as i64;
    half.saturating_mul(2)
}

/// Steady: 100 for a cluster of an existing decision of this Placement, else 0 (docs/systems/ocm-placement.md#steady).
///
/// The existing decisions are those before the run: decisions of the run itself would make every score depend on the
/// order in which clusters are processed (open-cluster-management-io/ocm
/// pkg/placement/plugins/steady/steady.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
pub(crate) fn steady(mine: &Bits, cluster: ClusterId) -> i64 {
    if mine.contains(cluster) { 100 } else { 0 }
}

/// The two resources of ResourceAllocatableCPU and ResourceAllocatableMemory, by their keys in `status.allocatable` and
/// `status.capacity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Resource {
    Cpu,
    Memory,
}

/// What each cluster has to give, read once for the whole fleet, as Go's float64 of the quantity; `None` where it has no score.
#[derive(Debug)]
pub(crate) struct Resources {
    cpu: Table<ClusterId, Option<f64>>,
    memory: Table<ClusterId, Option<f64>>,
}

impl Resources {
    pub(crate) fn new(fleet: &Fleet<'_>) -> Self {
        let column = |resource: Resource| {
            let key: &str = resource.into();
            let allocatable = |cluster: &&ManagedCluster<'_>| {
                // OCM asks for both entries, although it uses the allocatable one only (open-cluster-management-io/ocm
                // pkg/placement/plugins/resource/resource.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
                let amount = cluster.allocatable.get(key)?;
                cluster.capacity.get(key)?;
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

/// ResourceAllocatable: the most allocatable cluster gets 100, the least -100
/// (docs/systems/ocm-placement.md#allocatable-resources).
///
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

/// One score of an AddOnPlacementScore, of the whole fleet (docs/systems/ocm-placement.md#add-on-scores).
#[derive(Debug)]
pub(crate) struct AddOnColumn {
    values: Table<ClusterId, i32>,
    /// Whose object has expired: 0, and the run ends in a Warning.
    pub(crate) expired: Bits,
    /// Whose object has an expiry and a value, and the time is not given.
    pub(crate) unsure: Bits,
}

impl AddOnColumn {
    fn new(score: &AddOnScore<'_>, objects: &AddOnObjects<'_>, input: &Input<'_>, fleet: &Fleet<'_>) -> Self {
        let mut column = Self {
            values: Table::from_rows(vec![0; fleet.len()]),
            expired: Bits::none(fleet.len()),
            unsure: Bits::none(fleet.len()),
        };
        for (id, cluster) in fleet.clusters.iter() {
            let Some(object) = objects.get(&(cluster.name, score.resource_name)) else {
                continue;
            };
            let value = object.value(score.score_name).unwrap_or_default();
            match (object.valid_until, input.now) {
                // Strictly after, Go's `time.After`: at the boundary it is still valid.
                (Some(until), Some(now)) if now > until => {
                    column.expired.insert(id);
                    continue;
                }
                (Some(_), None) if value != 0 => column.unsure.insert(id),
                _ => {}
            }
            column.values[id] = value;
        }
        column
    }

    /// The cluster's score; 0 when there is none, or none that still holds.
    pub(crate) fn score(&self, cluster: ClusterId) -> i64 {
        i64::from(self.values[cluster])
    }
}

/// By cluster and name.
type AddOnObjects<'a> = HashMap<(&'a str, &'a str), &'a AddOnPlacementScore<'a>>;

/// Every score that some Placement requests.
#[derive(Debug, Default)]
pub(crate) struct AddOnColumns<'a> {
    columns: HashMap<AddOnScore<'a>, AddOnColumn>,
    objects: AddOnObjects<'a>,
}

impl<'a> AddOnColumns<'a> {
    pub(crate) fn new(input: &Input<'a>, fleet: &Fleet<'a>) -> Self {
        let mut objects = AddOnObjects::new();
        for object in &input.inventory.scores {
            // Of two objects with one identity (an error elsewhere) the first one counts.
            objects.entry((object.cluster, object.name)).or_insert(object);
        }
        let mut columns = HashMap::new();
        for placement in input.inventory.placements.rows() {
            for prioritizer in prioritizers(&placement.prioritizer_policy).into_iter().flatten() {
                if let Kind::AddOn(score) = prioritizer.kind {
                    let column = columns.entry(score);
                    column.or_insert_with(|| AddOnColumn::new(&score, &objects, input, fleet));
                }
            }
        }
        Self { columns, objects }
    }

    pub(crate) fn column(&self, score: &AddOnScore<'a>) -> Option<&AddOnColumn> {
        self.columns.get(score)
    }

    /// The object of a cluster.
    pub(crate) fn object(&self, cluster: &str, name: &str) -> Option<&'a AddOnPlacementScore<'a>> {
        // A map with shorter lived keys: the names asked for need not live as long as the input.
        let objects: &HashMap<(&str, &str), &'a AddOnPlacementScore<'a>> = &self.objects;
        objects.get(&(cluster, name)).copied()
    }
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

    proptest::proptest! {
        #[test]
        fn balance_stays_between_minus_and_plus_a_hundred(count in 0u32..10_000, more in 0u32..10_000) {
            let score = balance(count, count.saturating_add(more));
            proptest::prop_assert!((-100..=100).contains(&score) && score % 2 == 0);
        }
    }

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
