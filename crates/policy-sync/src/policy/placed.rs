//! The policies of one kind on one node.
//!
//! Owns: [`Placed`]. Flows in: the policies that are attached there. Flows out: the same, in role order. Must not know:
//! other nodes.

use std::collections::{BTreeMap, BTreeSet};

use super::ids::PolicyId;
use super::layer::Entry;
use crate::topology::ListenerId;

/// The policies of one kind on one node.
#[derive(Debug, Clone, Default)]
pub struct Placed {
    /// Those that count, established first.
    pub accepted: Vec<Entry>,
    /// Those that a kind without merging refuses, in role order: the first accepted one is in their way, or the first that
    /// sets what they set.
    pub rejected: Vec<PolicyId>,
    /// Of kinds that hold for workloads (Istio), those of the accepted ones that name a Service which a waypoint serves: they
    /// hold there, and not at the pods.
    pub(super) at_waypoint: Vec<Entry>,
    /// Of the same kinds, those that select the pods behind a Service: they apply at the pods.
    pub(super) at_workloads: Vec<Entry>,
    /// Those of the accepted ones that their controller refuses here: they have their place, and no settings.
    pub(crate) refused: BTreeSet<PolicyId>,
    /// Those of the accepted ones that their controller refuses before they take any place (Envoy Gateway's SecurityPolicy).
    pub(super) unfit: BTreeSet<PolicyId>,
    /// The listeners at which the accepted policy is refused (Envoy Gateway).
    pub(super) refused_at: BTreeMap<ListenerId, RefusedThere>,
}

impl Placed {
    /// Whether the controller refuses the accepted policy before it takes any place.
    fn stands_aside(&self) -> bool {
        let first = self.accepted.first();
        first.is_some_and(|entry| self.unfit.contains(&entry.policy))
    }

    /// The accepted policies, unless they stand aside.
    pub(super) fn counting(&self) -> &[Entry] {
        if self.stands_aside() { &[] } else { &self.accepted }
    }
}

/// A policy that its controller refuses at one listener.
#[derive(Debug, Clone)]
pub(super) struct RefusedThere {
    /// What is left of it there: no settings, or not even its place.
    pub(super) left: Option<Entry>,
    /// Why.
    pub(super) why: AtListener,
}

/// Why a policy is refused at one listener.
#[derive(Debug, Clone, Copy)]
pub(super) enum AtListener {
    /// Listeners that it is not for share the port.
    SharedPort,
    /// A setting is wrong there.
    Settings,
    /// There is no default host, in the controller's wording.
    NoDefaultHost(&'static str),
}
