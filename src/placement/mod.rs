//! OCM's scheduler, offline: which clusters each Placement selects, and why.
//!
//! Owns: cluster sets, predicates, taints and tolerations, prioritizers, weights, ranking, decision groups,
//! PlacementDecisions and conditions, bit for bit as OCM's scheduler computes them (OCM placement 1), and the
//! explanation of every decision. Flows in: typed views and a clock reading. Flows out: an [`Evaluation`].
//! Must not know: files, Gateways, or how anything is printed.
//!
//! One file a room, in the order of the pipeline: `sets`, `predicate` (with `cel`), `taints`, `weights`,
//! `prioritizers`, `ranking`, `groups`, `decisions`, `conditions`; `fleet` and `bits` hold the clusters as
//! numbers, `schedule` runs one Placement through, `run` runs all of them in a mode.

mod bits;
mod cel;
mod conditions;
mod decisions;
mod findings;
mod fleet;
mod given;
mod groups;
mod input;
mod outcome;
mod place;
mod plan;
mod pool;
mod predicate;
mod prioritizers;
mod ranking;
mod report;
mod run;
mod schedule;
mod sets;
mod taints;
#[cfg(test)]
mod tests;
mod weights;
mod why;
mod write;

pub use conditions::{Condition, ConditionStatus};
pub use findings::Difference;
pub use given::{CLUSTER_GROUP, Given, GivenDecisions};
pub use input::{Detail, Input, Mode, Options};
pub use outcome::{NeedsNow, SchedulerStatus};
pub use place::{inventory, place};
pub use report::{
    Decision, DecisionGroupReport, DecisionObject, FilterReport, PlacementReport, PrioritizerReport, Ranked,
    Report,
};
pub use run::{Evaluation, evaluate};
pub use why::{Bearing, Explanation, Room, Step};
