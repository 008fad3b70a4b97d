//! Tests of policy attachment as a whole.

mod attaching;
mod cluster_outcomes;
mod costs;
mod delegation;
mod envoy_gateway;
mod gep_713;
mod losses;
mod merging;
mod mesh;
mod patching;
mod products;
mod properties;
mod settings;
mod targets;
