//! The built binary, driven as a person would.

#[cfg(unix)]
mod argocd;
mod bad_input;
mod deterministic;
mod diff;
mod examples;
mod git_index;
mod help;
mod output;
mod parts;
mod placement;
#[cfg(unix)]
mod pre_commit;
mod real_crds;
mod rendering;
mod scratch;
mod status;
mod worked_example;
