//! The built binary, driven as a person would.

mod bad_input;
mod deterministic;
mod help;
mod output;
mod placement;
mod real_crds;
mod rendering;
mod scratch;
mod status;
mod worked_example;
