//! All that is decided about the policies of one input, for reports.
//!
//! Owns: the bundle. Flows in and out: what `policy` and `sync` decided. Must not know: how it was made, or how
//! it is shown.

use std::collections::BTreeMap;

use crate::placing::Clusters;
use crate::policy::{Attachments, EffectivePolicies, Statuses};
use crate::sync::{LocalEffect, SyncedKinds, SyncedRoutes};

/// Everything that can be said about the policies of an input.
#[derive(Debug)]
pub struct PolicyView<'a> {
    /// What is attached where.
    pub attachments: &'a Attachments<'a>,
    /// What holds on each path.
    pub effective: EffectivePolicies,
    /// What the statuses would say.
    pub statuses: Statuses,
    /// The clusters of each Gateway of ours.
    pub clusters: Clusters,
    /// What spoke-local policies do to synced ones, by cluster.
    pub effects: BTreeMap<String, Vec<LocalEffect>>,
    /// Which kinds go with which Gateway of ours.
    pub kinds: &'a SyncedKinds,
    /// The routes that go to spokes.
    pub routes: &'a SyncedRoutes<'a>,
}
