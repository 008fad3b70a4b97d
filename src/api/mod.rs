//! Typed views of the kinds that spokewright interprets.
//!
//! Owns: reading a dynamic object as a GatewayClass, a Gateway, a policy's target references, OCM's cluster,
//! placement and work kinds, GatewayClass parameters, CRDs; the defaults of their CRDs; what an API server
//! would refuse.
//! Flows in: objects. Flows out: typed views, and findings at the field that is wrong.
//! Must not know: other objects. A reference stays a reference here; `hub` resolves it.

pub mod gateway;
pub mod labels;
pub mod policy;
mod reading;
pub mod route;

pub use reading::{Reading, dotted};
