//! The clusters of each Gateway: decided already, or evaluated as OCM's scheduler would.
//!
//! Owns: PlacementDecisions of the input, the objects that an evaluation reads, which of the two applies to a Gateway,
//! and the findings about all of this. The scheduler itself is the crate `ocm-placement`.
//! Flows in: the hub, our Gateways, an evaluation's input. Flows out: clusters, findings.
//! Must not know: what is shipped to the clusters.

mod findings;
mod given;
mod inventory;
mod location;
mod misspelled;
pub mod overlays;
mod place;
mod sets;

#[cfg(test)]
mod tests;

pub use findings::{problems, unwritable};
pub use given::{Decided, known_clusters};
pub use inventory::inventory;
pub use location::place_of;
pub use place::{Clusters, place};
