//! Prioritizers: the scores that a cluster gets (docs/systems/ocm-placement.md#scores).
//!
//! Owns: one formula for each prioritizer. Flows in: candidates, counts of existing decisions, resources, add-on
//! scores. Flows out: integers. Must not know: weights, totals.

pub(crate) mod add_on;
pub(crate) mod balance;
pub(crate) mod resource_allocatable;
pub(crate) mod steady;
