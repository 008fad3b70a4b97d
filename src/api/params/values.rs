//! The parameters as values.
//!
//! Owns: [`Params`], their defaults, and finding the entry of a kind. Must not know: the text they are read from.

use super::file::{DEFAULT_DOWNSTREAM_CLASS, DEFAULT_MAX_WORK_BYTES, UpdateStrategy, WorkPer};
use crate::api::feedback_path::FeedbackPath;

/// What a GatewayClass asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Params {
    /// Class of the downstream Gateways.
    pub downstream_class: String,
    /// Policy resources to sync, in the order of the parameters.
    pub policies_to_sync: Vec<SyncedResource>,
    /// Route resources to sync, in the order of the parameters.
    pub resources_to_sync: Vec<SyncedResource>,
    /// Whether the spokes' agents report lists and mappings (OCM's gate RawFeedbackJsonString).
    pub raw_feedback: bool,
    /// What one work holds.
    pub work_per: WorkPer,
    /// How the agent applies.
    pub update_strategy: UpdateStrategy,
    /// A work with more bytes of manifests is refused.
    pub max_work_bytes: u64,
}

impl Params {
    /// The entry of `policiesToSync` for policies of this group and kind.
    #[must_use]
    pub(crate) fn synced_policy(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
        self.policies_to_sync
            .iter()
            .find(|resource| resource.group == group && resource.kind == kind)
    }

    /// The entry of `resourcesToSync` for routes of this group and kind.
    #[must_use]
    pub(crate) fn synced_route(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
        self.resources_to_sync
            .iter()
            .find(|resource| resource.group == group && resource.kind == kind)
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            downstream_class: DEFAULT_DOWNSTREAM_CLASS.to_owned(),
            policies_to_sync: Vec::new(),
            resources_to_sync: Vec::new(),
            raw_feedback: false,
            work_per: WorkPer::Gateway,
            update_strategy: UpdateStrategy::Update,
            max_work_bytes: DEFAULT_MAX_WORK_BYTES,
        }
    }
}

/// What the objects of a listed resource have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// In `resourcesToSync`: they name parents.
    Route,
    /// In `policiesToSync`: they name a target.
    Policy,
}

/// A resource to sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyncedResource {
    /// API group.
    pub group: String,
    /// Version that is synced.
    pub version: String,
    /// Plural resource name.
    pub resource: String,
    /// Its kind, from the catalog.
    pub kind: String,
    /// Further values to report.
    pub feedback: Vec<Feedback>,
}

/// A value to report from each spoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// Name in the work's status.
    pub name: String,
    /// Where it stands.
    pub path: FeedbackPath,
}
