#![doc = include_str!("../README.md")]
//!
//! Owns: which files are input, what a document says, the typed views of the kinds, and findings about all of it. Flows
//! in: directories, a Git revision, one stream of text. Flows out: a [`hub::Hub`], [`diagnostic::Findings`]. Must not
//! know: what follows from the objects (which clusters receive what, which policies win).

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

pub mod api;
pub mod diagnostic;
pub mod hub;
pub mod object;
pub mod parallel;
pub mod progress;
pub mod sandbox;
pub mod source;

#[cfg(test)]
mod tests;
