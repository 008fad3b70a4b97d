//! Typed views of the kinds that spokewright interprets.
//!
//! Owns: reading a dynamic object as a GatewayClass, a Gateway, a policy's target references, OCM's cluster,
//! placement and work kinds, GatewayClass parameters, CRDs, ClusterOverlays; the defaults of their CRDs; and what an API server would
//! refuse.
//! Flows in: objects. Flows out: typed views, and findings at the field that is wrong.
//! Must not know: other objects. A reference stays a reference here; `hub` resolves it.

pub mod catalog;
pub mod config;
pub mod controllers;
pub mod crd;
pub mod downstream;
pub mod feedback_path;
mod fields;
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
