//! The rendered example on real control planes: what CONTRIBUTING.md#an-end-to-end-test says.
//!
//! `needs` finds the programs of others, `programs` runs them, `clusters` makes an API server of two of them,
//! `controllers` starts OCM's, `steps` and `handover` say what must hold in a `world` of all of them, `report` prints it. `runner.rs` is a test of its own, with
//! stand-ins for the programs.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]
#![cfg(unix)]

mod clusters;
mod controllers;
mod handover;
mod needs;
mod programs;
mod report;
mod steps;
mod world;

use std::env::var_os;
use std::process::ExitCode;

fn main() -> ExitCode {
    let world = world::World::new(
        &var_os("PATH").unwrap_or_default(),
        var_os("SPOKEWRIGHT_CRDS").as_deref(),
        var_os("SPOKEWRIGHT_E2E_KEEP").is_some(),
    );
    let passed = report::run(steps::STEPS, world, &mut std::io::stdout());
    // What libtest ends with, too.
    ExitCode::from(if passed.is_ok_and(|passed| passed) { 0 } else { 101 })
}
