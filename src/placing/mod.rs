//! The clusters of each Gateway: decided already, or evaluated as OCM's scheduler would.
//!
//! Owns: PlacementDecisions of the input, what of the hub an evaluation reads, which of both counts for a Gateway, and
//! the findings of it all. The scheduler itself is the crate `ocm-placement`.
//! Flows in: the hub, our Gateways, an evaluation's input. Flows out: clusters, findings.
//! Must not know: what is shipped there.

mod location;

mod findings;
mod inventory;

mod given;
mod misspelled;
mod place;
mod sets;

#[cfg(test)]
mod tests;

pub use findings::{problems, unwritable};
pub(crate) use given::{Decided, decided_clusters};
pub use inventory::inventory;
pub(crate) use location::place_of;
pub(crate) use place::{Clusters, place};
