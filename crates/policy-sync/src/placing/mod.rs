//! The clusters of each Gateway: decided already, or evaluated as OCM's scheduler would; and the order in which changes reach
//! them.

mod findings;
pub mod overlays;
mod place;
mod waves;

#[cfg(test)]
mod tests;

pub use findings::{inventory, place_of, problems, unwritable};
pub use place::{Clusters, Decided, is_among, known_clusters, place, share};
pub use waves::{Wave, waves};
