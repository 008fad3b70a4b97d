//! The data that all Placements of a run share, computed once.

use std::sync::{Arc, OnceLock};

use crate::cluster_sets::ClusterSets;
use crate::decision_groups::GroupSelectors;
use crate::filtered::Filtered;
use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, Distinct, FilteredId, PlacementId, Table};
use crate::input::Input;
use crate::predicates::Predicates;
use crate::prioritizers::add_on::AddOnColumns;
use crate::prioritizers::resource_allocatable::Resources;
use crate::taints_and_tolerations::Verdicts;

/// Everything about a run that no decision changes.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) fleet: Fleet<'a>,
    pub(crate) sets: ClusterSets<'a>,
    pub(crate) predicates: Predicates,
    pub(crate) verdicts: Verdicts,
    pub(crate) resources: Resources,
    pub(crate) add_ons: AddOnColumns<'a>,
    pub(crate) group_selectors: GroupSelectors,
    /// Filled when the first Placement asks.
    filtered: Table<FilteredId, OnceLock<Filtered>>,
    filtered_of: Table<PlacementId, FilteredId>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(input: &Input<'a>) -> Self {
        let fleet = Fleet::new(input);
        let sets = ClusterSets::new(input, &fleet);
        let predicates = Predicates::new(input, &fleet, &sets);
        let verdicts = Verdicts::new(input, &fleet);
        let resources = Resources::new(&fleet);
        let add_ons = AddOnColumns::new(input, &fleet);
        let group_selectors = GroupSelectors::new(input, &fleet);
        let mut alike = Distinct::new();
        let filtered_of = input.inventory.placements.ids().map(|placement| {
            let (list, tolerations) = (
                predicates.of_placement[placement],
                verdicts.of_placement[placement],
            );
            alike.id((sets.eligible[placement].sets, list, tolerations))
        });
        Self {
            filtered_of: filtered_of.collect(),
            filtered: alike.map(|_| OnceLock::new()),
            input: *input,
            fleet,
            sets,
            predicates,
            verdicts,
            resources,
            add_ons,
            group_selectors,
        }
    }

    /// What the filters leave of `available`; `predicate` is what the Placement's predicates admit, if it has any.
    pub(crate) fn filtered(
        &self,
        placement: PlacementId,
        available: &Arc<[ClusterId]>,
        predicate: Option<&Bits>,
    ) -> &Filtered {
        self.filtered[self.filtered_of[placement]].get_or_init(|| {
            let tolerations = self.verdicts.of_placement[placement];
            Filtered::new(available, predicate, tolerations, &self.verdicts, &self.fleet)
        })
    }
}
