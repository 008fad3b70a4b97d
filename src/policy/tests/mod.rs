//! Tests of policy attachment as a whole.

mod attaching;
mod costs;
mod delegation;
mod envoy_gateway;
mod fates;
mod gep_713;
mod merging;
mod mesh;
mod patching;
mod products;
mod properties;
mod targets;
