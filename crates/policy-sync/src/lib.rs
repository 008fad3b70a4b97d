#![doc = include_str!("../README.md")]
//!
//! Owns: the clusters of each Gateway, the attachment of routes and policies, who wins, what each cluster receives, and
//! what applies there. Flows in: an [`ocm_hub::hub::Hub`]. Flows out: what each cluster receives, and what becomes of each
//! policy. Must not know: files, or what carries an object to its cluster.

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
