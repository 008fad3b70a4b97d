//! The built binary, driven as a person would.

#[cfg(unix)]
mod argocd;
mod bad_input;
mod codes;
mod deterministic;
mod diff;
mod diff_effective;
mod diff_git;
mod examples;
mod git_index;
mod graph;
mod help;
mod interrupted;
mod output;
mod parts;
mod placement;
mod policies;
#[cfg(unix)]
mod pre_commit;
mod real_crds;
mod rendering;
mod repository;
mod scratch;
mod status;
mod worked_example;
