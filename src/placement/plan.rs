//! What all Placements of a run share, worked out once.
//!
//! Owns: the fleet, sets, predicates, taints, columns, group selectors, and the pools that Placements which
//! filter alike have in common. Flows in: the input. Flows out: lookups. Must not know: decisions.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::Input;
use super::fleet::Fleet;
use super::groups::GroupSelectors;
use super::pool::Pool;
use super::predicate::Predicates;
use super::prioritizers::{AddOnColumns, Resources};
use super::sets::Sets;
use super::taints::Taints;

/// Everything about a run that no decision changes.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) input: Input<'a>,
    pub(super) fleet: Fleet<'a>,
    pub(super) sets: Sets<'a>,
    pub(super) predicates: Predicates,
    pub(super) taints: Taints,
    pub(super) resources: Resources,
    pub(super) add_ons: AddOnColumns<'a>,
    pub(super) group_selectors: GroupSelectors<'a>,
    /// Filled when the first Placement asks.
    pools: Vec<OnceLock<Pool>>,
    /// For each Placement of the inventory its pool.
    pool_of: Vec<usize>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(input: &Input<'a>) -> Self {
        let fleet = Fleet::new(input);
        let sets = Sets::new(input, &fleet);
        let predicates = Predicates::new(input, &fleet, &sets);
        let taints = Taints::new(input, &fleet);
        let resources = Resources::new(&fleet);
        let add_ons = AddOnColumns::new(input, &fleet);
        let group_selectors = GroupSelectors::new(input, &fleet);
        let mut pools = Vec::new();
        let mut known = HashMap::new();
        let eligible = sets.eligible.iter().map(|eligible| eligible.available);
        let keys = eligible.zip(&predicates.of_placement).zip(&taints.of_placement);
        let pool_of = keys
            .map(|key| {
                *known.entry(key).or_insert_with(|| {
                    pools.push(OnceLock::new());
                    pools.len().saturating_sub(1)
                })
            })
            .collect();
        Self {
            input: *input,
            fleet,
            sets,
            predicates,
            taints,
            resources,
            add_ons,
            group_selectors,
            pools,
            pool_of,
        }
    }

    /// The pool of a Placement whose predicates could be built; `available` is what it may choose from.
    pub(super) fn pool(&self, placement: usize, available: &Arc<[u32]>) -> Option<&Pool> {
        let pool = self.pools.get(*self.pool_of.get(placement)?)?;
        Some(pool.get_or_init(|| {
            let list = self.predicates.of_placement.get(placement).copied().flatten();
            let predicate = list.and_then(|list| self.predicates.results.get(list)?.as_ref().ok());
            let tolerations = self
                .taints
                .of_placement
                .get(placement)
                .copied()
                .unwrap_or(usize::MAX);
            Pool::new(available, predicate, tolerations, &self.taints, &self.fleet)
        }))
    }
}
