//! Open Cluster Management's placement scheduler, offline: which clusters each Placement selects, and why.
//!
//! Cluster sets, predicates, taints and tolerations, prioritizers, weights, ranking, decision groups,
//! PlacementDecisions and conditions are computed as OCM's scheduler computes them, with an explanation of every
//! decision: [`Object`]s and a clock reading in, an [`Evaluation`] out.
//!
//! One file for each subject, in the order of the pipeline: `api` (the kinds), `cluster_sets`, `predicates` (with
//! `cluster_selector` and `cel`), `taints_and_tolerations`, `filtered`, `weights`, `prioritizers` (`balance`, `steady`,
//! `resource_allocatable`, `add_on`), `ranking`, `decision_groups`, `placement_decisions`, `conditions`; `fleet` has
//! the clusters, `existing` the decisions as they are, `plan` the data that all Placements share; `schedule` runs one
//! Placement, `evaluate` all of them in a mode, `unsettled` in several orders.

// Input never causes a panic, and nothing speaks; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]
#![warn(unreachable_pub)]

mod ids;

mod api;
mod input;

mod fleet;

mod cel;
mod cluster_selector;
mod cluster_sets;
mod filtered;
mod predicates;
mod taints_and_tolerations;

mod prioritizers;
mod ranking;
mod weights;

mod decision_groups;
mod placement_decisions;

mod conditions;
mod existing;
mod outcome;
mod plan;
mod schedule;

mod evaluate;
mod evaluation;

mod explain;
mod problems;
mod report;
mod unsettled;

#[cfg(test)]
mod tests;

pub use api::{
    CLUSTER_SET_LABEL, FieldProblem, GROUP, GROUP_INDEX_LABEL, GROUP_NAME_LABEL, InvalidField, Inventory,
    Location, Object, ObjectId, PLACEMENT_LABEL, parse_time,
};
pub use conditions::{Condition, ConditionStatus};
pub use evaluate::evaluate;
pub use evaluation::Evaluation;
pub use explain::{Bearing, Explanation, Step};
pub use input::{Detail, Input, Mode, Options};
pub use outcome::{SchedulerStatus, Stage};
pub use problems::{Difference, Lost, Problem, ProblemKind};
pub use report::{
    Decision, DecisionGroupReport, DecisionObject, FilterReport, PlacementReport, PrioritizerReport, Ranked,
    Report,
};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
