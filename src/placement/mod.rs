//! Placement: which clusters each Gateway goes to.
//!
//! Owns: OCM's decisions, given or evaluated.
//! Flows in: the hub. Flows out: cluster names, and findings about what could not be decided.
//! Must not know: policies, works, files.

mod given;
mod place;

pub use given::{CLUSTER_GROUP, Given, GivenDecisions};
pub use place::place;
