//! The clusters of each Gateway: decided already, or evaluated as OCM's scheduler would.
//!
//! Owns: PlacementDecisions of the input, the objects that an evaluation reads, which of the two applies to a Gateway,
//! and the findings about all of this. The scheduler itself is the crate `ocm-placement`.
//! Flows in: the hub, our Gateways, an evaluation's input. Flows out: clusters, findings.
//! Must not know: what is shipped to the clusters.

mod findings;
mod inventory;
pub mod overlays;
mod place;

#[cfg(test)]
mod tests;

pub use findings::{place_of, problems, unwritable};
pub use inventory::inventory;
pub use place::{Clusters, Decided, known_clusters, place};
