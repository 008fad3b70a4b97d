//! The clusters, as all Placements share them.
//!
//! Owns: a number for each cluster, its labels, claims and taints after the options, the index that selectors query.
//! Flows in: the input. Flows out: lookups by number. Must not know: any particular Placement.

mod bits;

mod availability_taints;
mod exclusive_cluster_set_label;
mod label_index;

mod clusters;

pub(crate) use availability_taints::FleetTaint;
pub(crate) use bits::Bits;
pub(crate) use clusters::Fleet;
