//! What leaves the policy stage for the spokes: which policy, with what content, for which Gateways.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::params::PolicyResource;
use crate::object::Object;

/// One policy for the spokes: at most one reaches each target, unless its kind adds up.
#[derive(Debug, Clone)]
pub struct Shipment<'a> {
    /// The policy whose name and metadata it carries: the winner, or the established one of a merge.
    pub object: &'a Object,
    /// The whole object as it will be shipped, before its references and metadata are rewritten.
    pub value: Cow<'a, Value>,
    /// All policies it was made from, the established one first.
    pub sources: Vec<&'a Object>,
    /// The resource of the params that asks for this kind.
    pub resource: PolicyResource,
    /// The Gateways it goes to.
    pub targets: Vec<ShipmentTarget>,
}

/// One Gateway that a shipment goes to.
#[derive(Debug, Clone)]
pub struct ShipmentTarget {
    /// Position in [`Ours::gateways`](crate::hub::Ours::gateways).
    pub gateway: usize,
    /// The listener that is targeted, or the whole Gateway.
    pub section_name: Option<String>,
    /// Pointer of the reference inside the policy.
    pub pointer: String,
    /// Clusters where a spoke-local policy wins: nothing is shipped there for this target.
    pub withheld_from: BTreeSet<String>,
    /// Clusters where a spoke-local policy takes a part of it: what is shipped there instead.
    pub instead: BTreeMap<String, Value>,
}

/// A policy, or one target of it, that is not shipped although its kind is synced.
#[derive(Debug, Clone)]
pub struct Withheld<'a> {
    /// The policy.
    pub object: &'a Object,
    /// Position of the Gateway in [`Ours::gateways`](crate::hub::Ours::gateways).
    pub gateway: usize,
    /// The listener, or the whole Gateway.
    pub section_name: Option<String>,
    /// The cluster, where it is withheld from one only.
    pub cluster: Option<String>,
    /// Who wins.
    pub winner: &'a Object,
    /// The rule that decided, for people.
    pub rule: String,
}
