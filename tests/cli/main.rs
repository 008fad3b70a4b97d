//! The built binary, driven as a person would.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

#[cfg(unix)]
mod argocd;
#[cfg(unix)]
mod attacks;
mod bad_input;
mod bombs_cel;
#[cfg(target_os = "linux")]
mod cases;
#[cfg(feature = "shells")]
mod completion;
mod costs;
mod coverage;
mod deterministic;
mod diff_budget;
mod examples;
mod exported;
mod finding;
mod help;
#[cfg(unix)]
mod hostile_text;
mod init;
mod interrupted;
#[cfg(target_os = "linux")]
mod mistakes;
mod output;
mod packaging;
mod page;
mod policies;
#[cfg(unix)]
mod pre_commit;
#[cfg(target_os = "linux")]
mod progress;
#[cfg(feature = "real-crds")]
mod real_crds;
mod replica_sets;
mod repository;
mod rules;
mod schemas;
mod scratch;
mod secrets;
mod typos;
mod watch;
mod worked_example;
