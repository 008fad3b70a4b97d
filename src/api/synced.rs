//! What marks an object of a spoke as a copy of an object of the hub.
//!
//! Owns: the label of a downstream Gateway, the annotation of a synced policy, and how a synced route is told.
//! Flows in: an object of a spoke. Flows out: whether it was synced.
//! Must not know: who synced it, and whether the hub still has it.

use super::ocm_work::is_owned_by_work;
use crate::object::Object;

/// Marks a downstream Gateway.
pub const MANAGED_LABEL: &str = "kuadrant.io/managed";
/// Marks a downstream policy (the RFC's annotation).
pub const POLICY_SYNCED: &str = "kuadrant.io/policy-synced";

/// Whether a policy or a route was synced: exported from a cluster, it is none of the cluster's own. The RFC's annotation
/// says so of a policy; nothing of the kind is agreed for routes, but the work agent owns what it applies.
#[must_use]
pub fn is_synced_copy(object: &Object) -> bool {
    object.annotation(POLICY_SYNCED) == Some("true")
        || (object.root().get("spec").get("parentRefs").is_present() && is_owned_by_work(object))
}

/// Whether an object was synced: a policy, a route or a Gateway.
#[must_use]
pub fn is_downstream(object: &Object) -> bool {
    is_synced_copy(object) || object.label(MANAGED_LABEL) == Some("true")
}
