//! Why a Placement has, or has not, selected a cluster.
//!
//! Owns: the order of the steps, and where they end. Flows in: an evaluation with full detail. Flows out: explanations.
//! Must not know: how they are printed.

use super::case::Case;
use super::explanation::{Bearing, Explanation, Stage, Step};
use crate::api::placement::LeftAlone;
use crate::evaluation::Evaluation;
use crate::ids::{ClusterId, PlacementId};
use crate::outcome::{FaultStage, Outcome, SchedulerStatus};

impl<'a> Evaluation<'a> {
    /// How each Placement decides about a cluster, by namespace and name; `None` if there is no such ManagedCluster.
    ///
    /// Needs an evaluation with full detail: without it, scores and ranks are left out.
    pub fn explain(&self, cluster: &str) -> Option<Vec<Explanation>> {
        let id = self.plan.fleet.cluster_id(cluster)?;
        let placements = self.outcomes.iter();
        Some(
            placements
                .map(|(placement, outcome)| self.explanation(placement, outcome, id))
                .collect(),
        )
    }

    /// How one Placement, given by its position in [`Self::placement_reports`], decides about each cluster.
    pub fn explain_placement(
        &self,
        position: usize,
    ) -> Option<impl Fn(&str) -> Option<Explanation> + Sync + use<'_, 'a>> {
        let (placement, outcome) = self.outcomes.iter().nth(position)?;
        Some(move |cluster: &str| {
            let id = self.plan.fleet.cluster_id(cluster)?;
            Some(self.explanation(placement, outcome, id))
        })
    }

    fn explanation(&self, placement_id: PlacementId, outcome: &Outcome<'a>, id: ClusterId) -> Explanation {
        let placement = &self.plan.input.inventory.placements[placement_id];
        let case = Case {
            plan: &self.plan,
            placement_id,
            placement,
            outcome,
            existing: &self.existing[placement_id],
            id,
            cluster: self.plan.fleet.clusters[id],
        };
        Explanation {
            namespace: placement.namespace.to_owned(),
            name: placement.name.to_owned(),
            selected: self.results[placement_id].clusters.contains(&id.into()),
            steps: case.steps(),
        }
    }
}

impl Case<'_, '_> {
    fn steps(&self) -> Vec<Step> {
        if let Some(reason) = self.outcome.left_alone {
            let (text, pointer) = match reason {
                LeftAlone::Deleting => ("the Placement is being deleted", "/metadata/deletionTimestamp"),
                LeftAlone::SchedulingDisabled => {
                    ("scheduling is disabled by an annotation", "/metadata/annotations")
                }
            };
            let text = format!("{text}: its decisions do not change");
            return vec![self.step(Stage::Scheduler, Bearing::Neutral, text, pointer)];
        }
        if let (SchedulerStatus::Error, Some(fault)) = (self.outcome.status, &self.outcome.fault) {
            let text = format!(
                "the Placement cannot be synced, so its decisions do not change: {}",
                fault.message
            );
            let at = fault.at.clone();
            return vec![Step::new(Stage::Scheduler, Bearing::Neutral, text, at)];
        }
        let mut steps = Vec::new();
        if !self.cluster_set(&mut steps) {
            return steps;
        }
        if self.misconfigured_by(Stage::Predicate, &mut steps) || !self.predicate(&mut steps) {
            return steps;
        }
        if self.misconfigured_by(Stage::TaintToleration, &mut steps) || !self.taints(&mut steps) {
            return steps;
        }
        if self.misconfigured_by(Stage::Prioritizer, &mut steps) {
            return steps;
        }
        self.prioritizers(&mut steps);
        if self.ranking(&mut steps) {
            self.decision(&mut steps);
        }
        steps
    }

    /// Whether the pipeline stopped at this stage.
    fn misconfigured_by(&self, stage: Stage, steps: &mut Vec<Step>) -> bool {
        if self.outcome.status != SchedulerStatus::Misconfigured {
            return false;
        }
        let Some(fault) = &self.outcome.fault else {
            return false;
        };
        let here = match stage {
            Stage::Predicate => fault.stage == FaultStage::Predicate,
            Stage::TaintToleration => fault.stage == FaultStage::TaintToleration,
            _ => fault.stage.plugin().is_none(),
        };
        if here {
            let text = format!(
                "the Placement is misconfigured and selects nothing: {}",
                fault.message
            );
            let at = fault.at.clone();
            steps.push(Step::new(Stage::Scheduler, Bearing::Against, text, at));
        }
        here
    }
}
