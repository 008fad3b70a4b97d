//! Open Cluster Management's placement scheduler, offline: which clusters each Placement selects, and why.
//!
//! Cluster sets, predicates, taints and tolerations, prioritizers, weights, ranking, decision groups,
//! PlacementDecisions and conditions are computed as OCM's scheduler computes them, with an explanation of every
//! decision: [`Object`]s and a clock reading in, an [`Evaluation`] out.
//!
//! One file for each subject, in the order of the pipeline: `api` (the kinds), `cluster_sets`, `predicates` (with `cel`),
//! `taints_and_tolerations`, `prioritizers`, `decision_groups`, `placement_decisions`, `conditions`; `fleet` has the
//! clusters, `plan` the data that all Placements share; `schedule` runs one Placement, `evaluate` all of them in a mode,
//! `problems` in several orders.

// Input never causes a panic, and nothing speaks; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]
#![warn(unreachable_pub)]

mod api;
mod cel;
mod cluster_sets;
mod conditions;
mod decision_groups;
mod evaluate;
mod explain;
mod fleet;
mod ids;
mod input;
mod outcome;
mod placement_decisions;
mod plan;
mod predicates;
mod prioritizers;
mod problems;
mod report;
mod schedule;
mod taints_and_tolerations;

#[cfg(test)]
mod tests;

pub use api::{
    CLUSTER_SET_LABEL, FieldProblem, GROUP, GROUP_INDEX_LABEL, GROUP_NAME_LABEL, InvalidField, Location,
    Object, ObjectId, PLACEMENT_LABEL, parse_time,
};
pub use conditions::{Condition, ConditionStatus};
pub use evaluate::{Evaluation, evaluate};
pub use explain::{Bearing, Explanation, Step};
pub use input::{Detail, Input, Inventory, Mode, Options};
pub use outcome::{SchedulerStatus, Stage};
pub use problems::{Difference, EmptiedBy, Problem, ProblemKind};
pub use report::{
    Decision, DecisionGroupReport, DecisionObject, FilterReport, PlacementReport, PrioritizerReport, Ranked,
    Report,
};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
