//! The result of an evaluation, and its clusters. Every Placement has an outcome, with its decisions before and after.

use std::collections::HashSet;

use crate::existing::Existing;
use crate::ids::{PlacementId, Table};
use crate::outcome::Outcome;
use crate::plan::Plan;

/// The outcome of every Placement of an input.
#[derive(Debug)]
pub struct Evaluation<'a> {
    pub(crate) plan: Plan<'a>,
    pub(crate) outcomes: Table<PlacementId, Outcome<'a>>,
    /// For each Placement what it had when it was scheduled (last).
    pub(crate) existing: Table<PlacementId, Existing>,
    /// For each Placement what it has then.
    pub(crate) results: Table<PlacementId, Existing>,
    pub(crate) rounds: usize,
    pub(crate) converged: Option<bool>,
}

impl Evaluation<'_> {
    /// How many decisions all Placements have together.
    pub fn decision_count(&self) -> usize {
        self.results
            .rows()
            .iter()
            .map(|result| result.clusters.len())
            .sum()
    }

    /// The clusters of a Placement in the order of output, each once; `None` if there is no such Placement.
    ///
    /// For one that is left alone or cannot be synced, these are the clusters of its given decisions.
    pub fn clusters_of(&self, namespace: &str, name: &str) -> Option<Vec<&str>> {
        let placement = self.plan.input.inventory.placement(namespace, name)?;
        let mut seen = HashSet::new();
        let clusters = self.results[placement].clusters.iter();
        let names = clusters.map(|cluster| self.plan.fleet.name(*cluster));
        Some(
            names
                .filter(|name| !name.is_empty() && seen.insert(*name))
                .collect(),
        )
    }
}
