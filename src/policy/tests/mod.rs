//! Tests of policy attachment as a whole.

mod attaching;
mod gep_713;
mod merging;
mod patching;
mod properties;
