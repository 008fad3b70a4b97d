//! Why a Placement has, or has not, selected a cluster.
//!
//! Owns: the explanation, step by step, each with the place that decided it. Flows in: an evaluation with full
//! detail. Flows out: data. Must not know: how it is printed.

mod steps;

use super::fleet::at;
use super::outcome::{Outcome, SchedulerStatus};
use super::run::Evaluation;
use crate::api::ocm::{LeftAlone, ManagedCluster, Placement};
use crate::diagnostic::Place;

/// What one Placement makes of one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Namespace of the Placement.
    pub namespace: String,
    /// Name of the Placement.
    pub name: String,
    /// The Placement.
    pub place: Place,
    /// Whether the cluster is among its decisions.
    pub selected: bool,
    /// In the order of the pipeline; the last one decided.
    pub steps: Vec<Step>,
}

/// The rooms of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Bindings, eligible sets, membership.
    ClusterSet,
    /// Label, claim and CEL selectors.
    Predicate,
    /// Taints and tolerations.
    TaintToleration,
    /// Scores.
    Prioritizer,
    /// Order and cut.
    Ranking,
    /// Decision groups and objects.
    Decision,
    /// The Placement was not scheduled, or is misconfigured.
    Scheduler,
}

/// Which way a step points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bearing {
    /// The cluster passes.
    For,
    /// The cluster is dropped here.
    Against,
    /// Something to know that drops nobody: a score, a requirement of another predicate.
    Neutral,
}

/// One step of an explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where in the pipeline.
    pub room: Room,
    /// Which way it points.
    pub bearing: Bearing,
    /// What happened, one sentence without a full stop.
    pub text: String,
    /// What decided it.
    pub place: Place,
    /// Other places that bear on it, with a few words each.
    pub related: Vec<(Place, String)>,
}

impl Step {
    fn new(room: Room, bearing: Bearing, text: impl Into<String>, place: Place) -> Self {
        Self {
            room,
            bearing,
            text: text.into(),
            place,
            related: Vec::new(),
        }
    }

    fn related(mut self, place: Place, text: impl Into<String>) -> Self {
        self.related.push((place, text.into()));
        self
    }
}

impl Evaluation<'_> {
    /// The names of the ManagedClusters, sorted.
    pub fn cluster_names(&self) -> impl Iterator<Item = &str> {
        self.plan
            .input
            .inventory
            .clusters
            .iter()
            .map(|cluster| cluster.name)
    }

    /// What each Placement makes of a cluster, by namespace and name; `None` when there is no such ManagedCluster.
    ///
    /// Needs an evaluation with full detail: without it, scores and ranks are left out.
    #[must_use]
    pub fn why(&self, cluster: &str) -> Option<Vec<Explanation>> {
        let id = self.plan.fleet.id(cluster)?;
        let cluster = self.plan.fleet.cluster(id)?;
        let placements = self.plan.input.inventory.placements.iter().enumerate();
        Some(
            placements
                .zip(&self.outcomes)
                .map(|((index, placement), outcome)| {
                    let result = self.results.get(index);
                    Explanation {
                        namespace: placement.namespace.to_owned(),
                        name: placement.name.to_owned(),
                        place: placement.object.place(""),
                        selected: result.is_some_and(|result| result.clusters.contains(&id)),
                        steps: Why {
                            evaluation: self,
                            index,
                            placement,
                            outcome,
                            cluster,
                            id,
                        }
                        .steps(),
                    }
                })
                .collect(),
        )
    }
}

/// One Placement and one cluster.
struct Why<'w, 'a> {
    evaluation: &'w Evaluation<'a>,
    index: usize,
    placement: &'w Placement<'a>,
    outcome: &'w Outcome,
    cluster: &'a ManagedCluster<'a>,
    id: u32,
}

impl Why<'_, '_> {
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Some(reason) = self.outcome.left_alone {
            let (text, pointer) = match reason {
                LeftAlone::Deleting => ("the Placement is being deleted", "/metadata/deletionTimestamp"),
                LeftAlone::SchedulingDisabled => {
                    ("scheduling is disabled by an annotation", "/metadata/annotations")
                }
            };
            let text = format!("{text}: its decisions stay as they are");
            steps.push(Step::new(
                Room::Scheduler,
                Bearing::Neutral,
                text,
                self.placement.object.place(pointer),
            ));
            return steps;
        }
        if let (SchedulerStatus::Error, Some(fault)) = (self.outcome.status, &self.outcome.fault) {
            let text = format!(
                "the Placement cannot be synced, its decisions stay as they are: {}",
                fault.message
            );
            steps.push(Step::new(
                Room::Scheduler,
                Bearing::Neutral,
                text,
                fault.place.clone(),
            ));
            return steps;
        }
        if !self.cluster_set(&mut steps) {
            return steps;
        }
        if self.misconfigured_by(Room::Predicate, &mut steps) || !self.predicate(&mut steps) {
            return steps;
        }
        if self.misconfigured_by(Room::TaintToleration, &mut steps) || !self.taints(&mut steps) {
            return steps;
        }
        if self.misconfigured_by(Room::Prioritizer, &mut steps) {
            return steps;
        }
        self.prioritizers(&mut steps);
        if self.ranking(&mut steps) {
            self.decision(&mut steps);
        }
        steps
    }

    /// Whether the pipeline stopped in this room.
    fn misconfigured_by(&self, room: Room, steps: &mut Vec<Step>) -> bool {
        use super::outcome::{PREDICATE, TAINT_TOLERATION};
        if self.outcome.status != SchedulerStatus::Misconfigured {
            return false;
        }
        let Some(fault) = &self.outcome.fault else {
            return false;
        };
        let here = match room {
            Room::Predicate => fault.plugin == PREDICATE,
            Room::TaintToleration => fault.plugin == TAINT_TOLERATION,
            _ => fault.plugin.is_empty(),
        };
        if here {
            let text = format!(
                "the Placement is misconfigured and selects nothing: {}",
                fault.message
            );
            steps.push(Step::new(
                Room::Scheduler,
                Bearing::Against,
                text,
                fault.place.clone(),
            ));
        }
        here
    }

    /// The cluster's position among the candidates, and its score there.
    fn scored<T: Copy>(&self, scores: &[T]) -> Option<T> {
        let candidates = self.outcome.trace.as_ref()?.tolerated.as_deref()?;
        let position = candidates.binary_search(&self.id).ok()?;
        at(scores, u32::try_from(position).ok()?).copied()
    }
}
