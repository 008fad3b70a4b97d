//! Which clusters a Placement may choose from (OCM placement 1.1).
//!
//! Owns: bindings, eligible sets, membership, the union. Flows in: the Placement and the fleet. Flows out: a list
//! of clusters, shared by all Placements with the same eligible sets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Input;
use super::bits::Bits;
use super::fleet::Fleet;
use crate::api::ocm::{CLUSTER_SET_LABEL, ManagedClusterSet, Placement, SetMembership};
use apimachinery::SelectorError;

/// An eligible set whose selector cannot be used: the Placement is not synced at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadSet {
    /// Index into [`Sets::all`].
    pub(super) set: usize,
    pub(super) error: SelectorError,
}

/// The clusters that some eligible sets have together.
#[derive(Debug)]
pub(super) struct Available {
    /// Indices into [`Sets::all`], in the order of the names.
    pub(super) sets: Vec<usize>,
    /// Ascending.
    pub(super) clusters: Result<Arc<[u32]>, BadSet>,
}

/// What a Placement may choose from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eligible {
    /// Whether the namespace has any binding to an existing set.
    pub(super) bound: bool,
    /// Index into [`Sets::available`].
    pub(super) available: usize,
}

/// All sets, their members, and each distinct union of them.
#[derive(Debug)]
pub(super) struct Sets<'a> {
    /// In the order of the names.
    pub(super) all: Vec<&'a ManagedClusterSet<'a>>,
    pub(super) members: Vec<Result<Vec<u32>, SelectorError>>,
    pub(super) available: Vec<Available>,
    /// For each Placement of the inventory, in its order.
    pub(super) eligible: Vec<Eligible>,
}

impl<'a> Sets<'a> {
    pub(super) fn new(input: &Input<'a>, fleet: &Fleet<'a>) -> Self {
        let inventory = input.inventory;
        let mut all: Vec<&ManagedClusterSet<'_>> = inventory.cluster_sets.iter().collect();
        all.sort_by(|a, b| a.name.cmp(b.name));
        all.dedup_by(|later, first| later.name == first.name);
        let by_name: HashMap<&str, usize> = all
            .iter()
            .enumerate()
            .map(|(index, set)| (set.name, index))
            .collect();
        let mut bound: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for binding in &inventory.bindings {
            if let Some(set) = by_name.get(binding.name) {
                bound.entry(binding.namespace).or_default().insert(*set);
            }
        }
        let mut sets = Self {
            members: Vec::new(),
            available: Vec::new(),
            eligible: Vec::with_capacity(inventory.placements.len()),
            all,
        };
        let none = BTreeSet::new();
        let mut distinct: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut choices: Vec<Vec<usize>> = Vec::new();
        for placement in &inventory.placements {
            let bound = bound.get(placement.namespace).unwrap_or(&none);
            let chosen = eligible_sets(placement, bound, &by_name);
            let available = *distinct.entry(chosen.clone()).or_insert_with(|| {
                choices.push(chosen);
                choices.len().saturating_sub(1)
            });
            sets.eligible.push(Eligible {
                bound: !bound.is_empty(),
                available,
            });
        }
        // A set that is eligible nowhere is not even looked at: its selector may be wrong.
        let used: BTreeSet<usize> = choices.iter().flatten().copied().collect();
        sets.members = sets
            .all
            .iter()
            .enumerate()
            .map(|(index, set)| {
                if used.contains(&index) {
                    members(set, fleet)
                } else {
                    Ok(Vec::new())
                }
            })
            .collect();
        sets.available = choices
            .into_iter()
            .map(|chosen| sets.union(chosen, fleet))
            .collect();
        sets
    }

    fn union(&self, chosen: Vec<usize>, fleet: &Fleet<'a>) -> Available {
        let mut bits = Bits::none(fleet.len());
        let mut bad = None;
        for set in &chosen {
            match self.members.get(*set) {
                Some(Ok(members)) => {
                    for member in members {
                        bits.insert(*member);
                    }
                }
                Some(Err(error)) => {
                    bad = bad.or(Some(BadSet {
                        set: *set,
                        error: error.clone(),
                    }));
                }
                None => {}
            }
        }
        Available {
            sets: chosen,
            clusters: bad.map_or_else(|| Ok(bits.to_list().into()), Err),
        }
    }

    /// The names of some sets.
    pub(super) fn names(&self, sets: &[usize]) -> Vec<String> {
        sets.iter()
            .filter_map(|set| self.all.get(*set))
            .map(|set| set.name.to_owned())
            .collect()
    }
}

/// The bound sets, or those of them that the Placement names; by name, each once.
fn eligible_sets(
    placement: &Placement<'_>,
    bound: &BTreeSet<usize>,
    by_name: &HashMap<&str, usize>,
) -> Vec<usize> {
    if placement.cluster_sets.is_empty() {
        return bound.iter().copied().collect();
    }
    let named: BTreeSet<usize> = placement
        .cluster_sets
        .iter()
        .filter_map(|name| by_name.get(name))
        .copied()
        .collect();
    named.intersection(bound).copied().collect()
}

fn members(set: &ManagedClusterSet<'_>, fleet: &Fleet<'_>) -> Result<Vec<u32>, SelectorError> {
    match &set.membership {
        SetMembership::ExclusiveLabel => {
            let labelled = fleet.labelled(CLUSTER_SET_LABEL, set.name).iter().copied();
            Ok(labelled.filter(|id| fleet.live.contains(*id)).collect())
        }
        SetMembership::Selector(None) => Ok(Vec::new()),
        SetMembership::Selector(Some(selector)) => {
            let mut bits = fleet.matching_labels(&selector.compile()?);
            bits.keep(&fleet.live);
            Ok(bits.to_list())
        }
    }
}
