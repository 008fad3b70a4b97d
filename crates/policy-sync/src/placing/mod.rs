//! The clusters of each Gateway: decided already, or evaluated as OCM's scheduler would.

mod findings;
pub mod overlays;
mod place;

#[cfg(test)]
mod tests;

pub use findings::{inventory, place_of, problems, unwritable};
pub use place::{Clusters, Decided, is_among, known_clusters, place, share};
