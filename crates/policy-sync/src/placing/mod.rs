//! The clusters of each Gateway: decided already, or evaluated as OCM's scheduler would.

mod findings;
mod inventory;
pub mod overlays;
mod place;

#[cfg(test)]
mod tests;

pub use findings::{place_of, problems, unwritable};
pub use inventory::inventory;
pub use place::{Clusters, Decided, is_among, known_clusters, place};
