//! What an API server would refuse of OCM's cluster kinds.
//!
//! Owns: their schemas. Flows in: dynamic objects. Flows out: findings for what was refused.
//! Must not know: what the scheduler makes of it.

mod schema;

pub use ocm_placement::{GROUP, parse_time};
pub use schema::validate;
