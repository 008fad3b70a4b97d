//! Typed views of the kinds that spokewright interprets.
//!
//! Owns: what the fields of each kind mean and which values an API server or a controller would refuse.
//! Flows in: objects and texts. Flows out: typed views and findings.
//! Must not know: other objects of the input; that is `hub`.

pub mod crd;
pub mod feedback_path;
pub mod ocm_work;
pub mod params;
mod reading;
pub mod schema;
