//! The indexed set of hub objects.
//!
//! Owns: the kind/plural/scope table. Must not know: placement, policies, output.

pub mod kinds;
