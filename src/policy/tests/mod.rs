//! Tests of policy attachment as a whole.

mod attaching;
mod fates;
mod gep_713;
mod merging;
mod patching;
mod properties;
