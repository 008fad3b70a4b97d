//! The numbers of policies and of their kinds.
//!
//! Owns: one type for each. Flows in and out: nothing else. Must not know: what a number stands for.

use apimachinery::row_ids;

/// A policy as written, among those that the one of this number stands for: see
/// [`Authored`](super::one_policy::Authored).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AuthoredId {
    /// The policy.
    pub policy: PolicyId,
    /// Position among the originals.
    pub(super) position: u32,
}

row_ids! {
    /// A policy.
    pub PolicyId,
    /// A policy kind of the input.
    pub KindId,
}
