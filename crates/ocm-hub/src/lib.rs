#![doc = include_str!("../README.md")]
//!
//! Files become documents, documents become objects, and objects become a [`hub::Hub`] with typed views. What follows from
//! the objects, such as which clusters receive them and which policies win, is decided by the crates that use this one.

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
