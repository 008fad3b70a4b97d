//! The data that all Placements of a run share, computed once: the fleet, the results of filters and prioritizers that no
//! decision changes, and the clusters that pass both filters, once for all Placements that filter alike.

use std::sync::{Arc, OnceLock};

use crate::api::placement::FieldFault;
use crate::cluster_sets::ClusterSets;
use crate::decision_groups::GroupSelectors;
use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, Distinct, FilteredId, PlacementId, Table};
use crate::input::Input;
use crate::predicates::Predicates;
use crate::prioritizers::{AddOnColumns, Resources};
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
            let (sets, list) = (sets.eligible[placement].sets, predicates.of_placement[placement]);
            alike.id((sets, list, verdicts.of_placement[placement]))
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

    /// What the filters leave of the available clusters of a Placement.
    ///
    /// # Errors
    /// What is wrong with its predicates. Without clusters OCM compiles nothing, so nothing is wrong.
    pub(crate) fn filtered(
        &self,
        placement: PlacementId,
        available: &Arc<[ClusterId]>,
    ) -> Result<&Filtered, &FieldFault> {
        let predicate = match self.predicates.for_placement(placement) {
            Some(Err(fault)) if !available.is_empty() => return Err(fault),
            Some(Ok(predicate)) => Some(predicate),
            _ => None,
        };
        let filtered = &self.filtered[self.filtered_of[placement]];
        Ok(filtered.get_or_init(|| self.filter(placement, available, predicate)))
    }

    fn filter(
        &self,
        placement: PlacementId,
        available: &Arc<[ClusterId]>,
        predicate: Option<&Bits>,
    ) -> Filtered {
        let tolerations = self.verdicts.of_placement[placement];
        let passed = match predicate {
            Some(bits) => {
                let available = available.iter().copied();
                available.filter(|id| bits.contains(*id)).collect()
            }
            None => available.clone(),
        };
        let mut if_selected = Vec::new();
        let mut unsure = Vec::new();
        let mut tolerated = Vec::new();
        for id in passed.iter().copied() {
            if !self.fleet.tainted.contains(id) {
                tolerated.push(id);
                continue;
            }
            let verdict = self.verdicts.verdict(tolerations, id);
            if verdict.unsure.iter().any(Option::is_some) {
                unsure.push(id);
            }
            if verdict.for_new {
                tolerated.push(id);
            } else if verdict.for_selected {
                if_selected.push(id);
            }
        }
        Filtered {
            // One list, if none is dropped.
            tolerated: if tolerated.len() < passed.len() {
                tolerated.into()
            } else {
                Arc::clone(&passed)
            },
            predicate: passed,
            if_selected,
            unsure,
        }
    }
}

/// What filters alike leave over.
#[derive(Debug)]
pub(crate) struct Filtered {
    /// After Predicate, ascending.
    pub(crate) predicate: Arc<[ClusterId]>,
    /// After TaintToleration, for a cluster in no existing decision, ascending.
    pub(crate) tolerated: Arc<[ClusterId]>,
    /// Of the predicate's, those that pass only when they are in an existing decision (NoSelectIfNew).
    pub(crate) if_selected: Vec<ClusterId>,
    /// Of the predicate's, those about which a toleration's expiry decides.
    pub(crate) unsure: Vec<ClusterId>,
}
