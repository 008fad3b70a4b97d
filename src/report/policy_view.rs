//! All that is decided about the policies of one input, for reports.
//!
//! Owns: the bundle. Flows in and out: what `policy` and `sync` decided. Must not know: how it was made, or how
//! it is shown.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::placing::Clusters;
use crate::policy::{Attachments, EffectivePolicies, Statuses, effective_policy_documents};
use crate::sync::{LocalEffect, SyncedKinds, SyncedRoutes};

/// Everything that can be said about the policies of an input.
#[derive(Debug)]
pub struct PolicyView<'a> {
    /// What is attached where.
    pub(crate) attachments: &'a Attachments<'a>,
    /// What holds on each path.
    pub(crate) effective: EffectivePolicies,
    /// What the statuses would say.
    pub(crate) statuses: Statuses,
    /// The clusters of each Gateway of ours.
    pub(crate) clusters: Clusters,
    /// What spoke-local policies do to synced ones, by cluster.
    pub(crate) effects: BTreeMap<String, Vec<LocalEffect>>,
    /// Which kinds go with which Gateway of ours.
    pub(crate) kinds: &'a SyncedKinds,
    /// The routes that go to spokes.
    pub(crate) routes: &'a SyncedRoutes<'a>,
    /// Whether all this is as seen on one cluster.
    pub(crate) of_one_cluster: bool,
}

impl PolicyView<'_> {
    /// `EffectivePolicy` documents, one for each path and kind.
    #[must_use]
    pub fn effective_policy_documents(&self) -> Vec<Value> {
        effective_policy_documents(self.attachments, &self.effective)
    }

    /// On how many paths something was evaluated, over all kinds.
    #[must_use]
    pub fn path_count(&self) -> usize {
        self.effective.len()
    }
}
