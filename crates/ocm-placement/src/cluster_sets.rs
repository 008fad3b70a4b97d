//! Which clusters a Placement may choose from (docs/systems/ocm-placement.md#before-the-scheduler). All Placements with
//! the same eligible sets share one list of clusters.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::SelectorError;

use crate::api::CLUSTER_SET_LABEL;
use crate::api::managed_cluster::{ManagedClusterSet, SetMembership};
use crate::api::placement::Placement;
use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, Distinct, EligibleId, PlacementId, SetId, Table};
use crate::input::Input;

/// An eligible set whose selector cannot be used: the Placement is not synced at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadSet {
    pub(crate) set: SetId,
    pub(crate) error: SelectorError,
}

/// The clusters that some eligible sets have together.
#[derive(Debug)]
pub(crate) struct Available {
    /// In the order of the names.
    pub(crate) sets: Vec<SetId>,
    /// Ascending.
    pub(crate) clusters: Result<Arc<[ClusterId]>, BadSet>,
}

/// What a Placement may choose from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Eligible {
    /// Whether the namespace has any binding to an existing set.
    pub(crate) bound: bool,
    /// Index into [`ClusterSets::available`].
    pub(crate) sets: EligibleId,
}

/// All sets, their members, and each distinct union of them.
#[derive(Debug)]
pub(crate) struct ClusterSets<'a> {
    pub(crate) all: Table<SetId, &'a ManagedClusterSet<'a>>,
    pub(crate) members: Table<SetId, Result<Vec<ClusterId>, SelectorError>>,
    pub(crate) available: Table<EligibleId, Available>,
    pub(crate) eligible: Table<PlacementId, Eligible>,
}

impl<'a> ClusterSets<'a> {
    pub(crate) fn new(input: &Input<'a>, fleet: &Fleet<'a>) -> Self {
        let inventory = input.inventory;
        let mut all: Vec<&ManagedClusterSet<'_>> = inventory.cluster_sets.iter().collect();
        all.sort_by(|a, b| a.name.cmp(b.name));
        all.dedup_by(|later, first| later.name == first.name);
        let all: Table<SetId, _> = Table::from_rows(all);
        let by_name: HashMap<&str, SetId> = all.iter().map(|(id, set)| (set.name, id)).collect();
        let mut bound: BTreeMap<&str, BTreeSet<SetId>> = BTreeMap::new();
        for binding in &inventory.bindings {
            // By the binding's own name: OCM looks at neither `spec.clusterSet` nor the binding's status.
            if let Some(set) = by_name.get(binding.name) {
                bound.entry(binding.namespace).or_default().insert(*set);
            }
        }
        let none = BTreeSet::new();
        let mut choices: Distinct<EligibleId, Vec<SetId>> = Distinct::new();
        let eligible = inventory.placements.rows().iter().map(|placement| {
            let bound = bound.get(placement.namespace).unwrap_or(&none);
            Eligible {
                bound: !bound.is_empty(),
                sets: choices.id(eligible_sets(placement, bound, &by_name)),
            }
        });
        let eligible = eligible.collect();
        let choices: Table<EligibleId, Vec<SetId>> = choices.map(|chosen| chosen);
        // A set that is eligible nowhere is not even looked at: its selector may be wrong.
        let used: BTreeSet<SetId> = choices.rows().iter().flatten().copied().collect();
        let members: Table<SetId, _> = all
            .iter()
            .map(|(id, set)| {
                if used.contains(&id) {
                    members(set, fleet)
                } else {
                    Ok(Vec::new())
                }
            })
            .collect();
        let available = choices.rows().iter().map(|chosen| Available {
            sets: chosen.clone(),
            clusters: union(chosen, &members, fleet),
        });
        Self {
            available: available.collect(),
            all,
            members,
            eligible,
        }
    }

    /// What a Placement may choose from.
    pub(crate) fn for_placement(&self, placement: PlacementId) -> &Available {
        &self.available[self.eligible[placement].sets]
    }

    /// The names of some sets.
    pub(crate) fn names(&self, sets: &[SetId]) -> Vec<String> {
        sets.iter().map(|set| self.all[*set].name.to_owned()).collect()
    }
}

/// One bad set spoils the whole union: OCM returns the error before it schedules, so the Placement keeps decisions and
/// status as they are (`getAvailableClusters` in open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/scheduling_controller.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
fn union(
    chosen: &[SetId],
    members: &Table<SetId, Result<Vec<ClusterId>, SelectorError>>,
    fleet: &Fleet<'_>,
) -> Result<Arc<[ClusterId]>, BadSet> {
    let mut bits = Bits::none(fleet.len());
    for set in chosen.iter().copied() {
        let bad = |error: &SelectorError| BadSet {
            set,
            error: error.clone(),
        };
        for member in members[set].as_ref().map_err(bad)? {
            bits.insert(*member);
        }
    }
    Ok(bits.to_list().into())
}

/// The bound sets, or those of them that the Placement names; by name, each once.
fn eligible_sets(
    placement: &Placement<'_>,
    bound: &BTreeSet<SetId>,
    by_name: &HashMap<&str, SetId>,
) -> Vec<SetId> {
    if placement.cluster_sets.is_empty() {
        return bound.iter().copied().collect();
    }
    let named = placement.cluster_sets.iter();
    let named: BTreeSet<SetId> = named.filter_map(|name| by_name.get(name)).copied().collect();
    named.intersection(bound).copied().collect()
}

/// Neither `hubAcceptsClient` nor the conditions of a cluster count: one that is gone shows in its taints
/// (docs/systems/ocm-placement.md#cluster-sets).
fn members(set: &ManagedClusterSet<'_>, fleet: &Fleet<'_>) -> Result<Vec<ClusterId>, SelectorError> {
    match &set.membership {
        SetMembership::ExclusiveLabel => {
            let labelled = fleet.labels.having(CLUSTER_SET_LABEL, set.name).iter().copied();
            Ok(labelled.filter(|id| fleet.live.contains(*id)).collect())
        }
        SetMembership::Selector(None) => Ok(Vec::new()),
        SetMembership::Selector(Some(selector)) => {
            let mut bits = fleet.labels.matching(&selector.compile()?);
            bits.keep(&fleet.live);
            Ok(bits.to_list())
        }
    }
}
