//! The data of an explanation.
//!
//! Owns: steps, each with the place that decided it. Flows in: nothing. Flows out: data for reports.
//! Must not know: how it is found, or printed.

use crate::api::object::Location;

/// The explanation of one Placement for one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Namespace of the Placement.
    pub namespace: String,
    /// Name of the Placement.
    pub name: String,
    /// Whether the cluster is among its decisions.
    pub selected: bool,
    /// In the order of the pipeline; the last one decided.
    pub steps: Vec<Step>,
}

/// The stages of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
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
    /// Information that drops no cluster: a score, a requirement of another predicate.
    Neutral,
}

/// One step of an explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where in the pipeline.
    pub stage: Stage,
    /// Which way it points.
    pub bearing: Bearing,
    /// What happened, one sentence without a full stop.
    pub text: String,
    /// What decided it.
    pub at: Location,
    /// Other places that bear on it, with a few words each.
    pub related: Vec<(Location, String)>,
}

impl Step {
    pub(super) fn new(stage: Stage, bearing: Bearing, text: impl Into<String>, at: Location) -> Self {
        Self {
            stage,
            bearing,
            text: text.into(),
            at,
            related: Vec::new(),
        }
    }

    pub(super) fn related(mut self, at: Location, text: impl Into<String>) -> Self {
        self.related.push((at, text.into()));
        self
    }
}
