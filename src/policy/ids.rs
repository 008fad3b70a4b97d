//! The numbers of policies and of their kinds.
//!
//! Owns: one type for each. Flows in and out: nothing else. Must not know: what stands behind a number.

use crate::hub::row_ids;

row_ids! {
    /// A policy.
    pub PolicyId,
    /// A policy kind of the input.
    pub KindId,
}
