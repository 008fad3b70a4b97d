//! Typed views of the kinds that spokewright interprets.
//!
//! Each reads one object by itself: a reference stays a reference here, and `hub` resolves it. What an API server would
//! refuse is reported at the field.

pub mod catalog;
pub mod condition;
pub mod config;
pub mod controllers;
pub mod crd;
pub mod downstream;
pub mod feedback_path;
pub mod fleet_rule;
pub mod gateway;
pub mod kinds;
pub mod ocm;
pub mod ocm_work;
pub mod overlay;
pub mod own_kinds;
pub mod params;
pub mod policy;
pub mod route;
pub mod rules;
pub mod schema;
pub mod suppression;
pub mod targeting;
mod typed;
pub mod updates;
pub mod violation;

pub(crate) use schema::decoded;
pub use typed::{Reading, Typed, View};
