//! Typed views of the kinds that spokewright interprets.
//!
//! Each reads one object by itself: a reference stays a reference here, and `hub` resolves it. What an API server would
//! refuse is reported at the field.

pub mod catalog;
pub mod config;
pub mod controllers;
pub mod crd;
pub mod downstream;
pub mod feedback_path;
mod fields;
pub mod fleet_rule;
pub mod gateway;
pub mod kinds;
mod label_selector;
pub mod ocm;
pub mod ocm_work;
pub mod overlay;
pub mod own_kinds;
pub mod params;
pub mod policy;
mod reading;
pub mod route;
pub mod rules;
pub mod schema;
pub mod suppression;
pub mod targeting;
mod typed;
pub mod updates;
pub mod violation;

pub use fields::Reading;
pub(crate) use reading::decoded;
pub use typed::{Typed, View};
