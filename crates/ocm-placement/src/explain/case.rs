//! One Placement and one cluster.
//!
//! Owns: the questions that every stage of an explanation asks about them. Flows in: an evaluation. Flows out: answers.
//! Must not know: the wording of a step.

use apimachinery::Requirement;

use super::explanation::{Bearing, Stage, Step};
use crate::api::managed_cluster::ManagedCluster;
use crate::api::placement::Placement;
use crate::existing::Existing;
use crate::ids::{ClusterId, PlacementId};
use crate::outcome::Outcome;
use crate::plan::Plan;

/// One Placement and one cluster.
pub(super) struct Case<'w, 'a> {
    pub(super) plan: &'w Plan<'a>,
    pub(super) placement_id: PlacementId,
    pub(super) placement: &'a Placement<'a>,
    pub(super) outcome: &'w Outcome<'a>,
    /// The decisions of the Placement before it was scheduled.
    pub(super) existing: &'w Existing,
    pub(super) id: ClusterId,
    pub(super) cluster: &'a ManagedCluster<'a>,
}

impl Case<'_, '_> {
    /// A step that a field of the Placement decides.
    pub(super) fn step(
        &self,
        stage: Stage,
        bearing: Bearing,
        text: impl Into<String>,
        pointer: &str,
    ) -> Step {
        Step::new(stage, bearing, text, self.placement.object.at(pointer))
    }

    /// Whether the cluster was selected before.
    pub(super) fn was_selected(&self) -> bool {
        self.existing.clusters.contains(&self.id.into())
    }

    /// What a list that is aligned with the candidates holds for the cluster, if that is one of them.
    pub(super) fn scored<T: Copy>(&self, scores: &[T]) -> Option<T> {
        let candidates = self.outcome.trace.as_ref()?.tolerated.as_deref()?;
        let position = candidates.binary_search(&self.id).ok()?;
        scores.get(position).copied()
    }

    pub(super) fn first_unmet_label(&self, requirements: &[Requirement]) -> Option<Requirement> {
        let label = |key: &str| self.plan.fleet.label(self.cluster, key);
        requirements
            .iter()
            .find(|requirement| !requirement.accepts(label(&requirement.key)))
            .cloned()
    }

    pub(super) fn labelled(&self, key: &str) -> String {
        match self.plan.fleet.label(self.cluster, key) {
            Some(value) => format!("{key}={value}"),
            None => format!("no label `{key}`"),
        }
    }
}
