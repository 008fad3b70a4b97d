//! Explanations: why a Placement has, or has not, selected a cluster.
//!
//! Owns: the explanation, step by step, each with the place that decided it; one file for each stage of the pipeline.
//! Flows in: an evaluation with full detail. Flows out: data. Must not know: how it is printed.

mod explanation;

mod case;

mod cluster_set;
mod decision;
mod predicate;
mod prioritizers;
mod ranking;
mod taints;

mod why;

pub use explanation::{Bearing, Explanation, Stage, Step};
