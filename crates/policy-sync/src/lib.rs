#![doc = include_str!("../README.md")]
//!
//! The stages from a hub to the contents of its clusters are pure functions. How an object gets to its cluster, and as
//! which file, is decided by the crates that use this one.

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

pub mod outcome;
pub mod placing;
pub mod policy;
pub mod request_matching;
pub mod sync;
pub mod topology;

use ocm_hub::{api, diagnostic, hub, object, parallel};

#[cfg(test)]
mod tests;
