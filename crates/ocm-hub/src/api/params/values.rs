//! The parameters of a class, as values.
//!
//! Owns: [`Params`], their choices and defaults, and finding the entry of a kind. Must not know: the text that they are read from.

use kube_json::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::rollout::Rollout;
use crate::api::feedback_path::FeedbackPath;
use crate::api::gateway::GROUP;
use crate::diagnostic::Place;
use crate::object::Object;
use apimachinery::{GroupKind, Selector};

/// Class of the downstream Gateways when the parameters name none.
pub(super) const DEFAULT_DOWNSTREAM_CLASS: &str = "istio";
/// Bytes of manifests in a work when the parameters say nothing.
pub(super) const DEFAULT_MAX_WORK_BYTES: u64 = 204_800;
/// Whether server-side apply takes fields over when the parameters say nothing.
pub(super) const DEFAULT_FORCE: bool = true;

/// What one ManifestWork contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WorkPer {
    /// One object of the hub, which stays in its work whatever it refers to.
    #[default]
    Object,
    /// A Gateway with what goes with it alone.
    Gateway,
    /// Each object is in both works, so that neither agent nor order can lose it on the way from one layout to the other.
    Both,
}

/// How the work agent writes manifests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) enum UpdateType {
    /// OCM's default.
    #[default]
    Update,
    /// Server-side apply.
    ServerSideApply,
}

/// When the agent leaves fields out of what it applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum IgnoreCondition {
    /// Whenever the object already exists.
    #[default]
    OnSpokePresent,
    /// Unless another part of the manifest changes.
    OnSpokeChange,
}

/// The parameters of a GatewayClass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// Class of the downstream Gateways.
    pub downstream_class: String,
    /// Policy resources to sync, in the order of the parameters.
    pub policies_to_sync: Vec<SyncedResource>,
    /// Route resources to sync, in the order of the parameters.
    pub resources_to_sync: Vec<SyncedResource>,
    /// Other resources of which chosen objects are synced, in the order of the parameters.
    pub objects_to_sync: Vec<SyncedResource>,
    /// Group and plural of resources that are synced no longer, whose objects the agents may still delete.
    pub retained_resources: Vec<(String, String)>,
    /// Whether the spokes' agents report lists and mappings (OCM's gate RawFeedbackJsonString).
    pub raw_feedback: bool,
    /// What one work holds.
    pub work_per: WorkPer,
    /// How the agent applies.
    pub update_strategy: UpdateStrategy,
    /// How replica sets go from cluster to cluster; none: all at once.
    pub rollout: Option<Rollout>,
    /// A work with more bytes of manifests is refused.
    pub max_work_bytes: u64,
}

/// How the agent writes manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateStrategy {
    /// OCM's default: the whole object is replaced.
    Update,
    /// Field by field.
    ServerSideApply(ServerSideApply),
}

/// How server-side apply settles conflicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSideApply {
    /// Whether fields of other managers are taken over.
    pub force: bool,
    /// Fields that may differ on the spokes, each condition once.
    pub ignore_fields: Vec<IgnoreFields>,
}

impl Default for ServerSideApply {
    fn default() -> Self {
        Self {
            force: DEFAULT_FORCE,
            ignore_fields: Vec::new(),
        }
    }
}

/// Fields that the agent leaves out on one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreFields {
    /// The condition.
    pub condition: IgnoreCondition,
    /// The fields, by OCM's name for each way to name them.
    pub fields: Vec<(&'static str, Vec<String>)>,
}

impl Params {
    /// Group and plural of everything that is listed, whether or not there is an object of it. ReferenceGrants go along
    /// with routes that need them.
    pub fn listed(&self) -> impl Iterator<Item = (&str, &str)> {
        let lists = [
            &self.policies_to_sync,
            &self.resources_to_sync,
            &self.objects_to_sync,
        ];
        let synced = lists
            .into_iter()
            .flatten()
            .map(|resource| (&resource.group, &resource.resource));
        let retained = self
            .retained_resources
            .iter()
            .map(|(group, resource)| (group, resource));
        let grants = (!self.resources_to_sync.is_empty()).then_some((GROUP, "referencegrants"));
        let listed = synced.chain(retained);
        let listed = listed.map(|(group, resource)| (group.as_str(), resource.as_str()));
        listed.chain(grants)
    }

    /// The entry of `policiesToSync` for policies of this group and kind.
    #[must_use]
    pub fn synced_policy(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
        self.policies_to_sync
            .iter()
            .find(|resource| resource.group == group && resource.kind == kind)
    }

    /// The entry of `resourcesToSync` that chooses an object that is neither a policy nor a route.
    #[must_use]
    pub fn synced_object(&self, object: &Object) -> Option<&SyncedResource> {
        self.objects_to_sync
            .iter()
            .find(|resource| resource.chooses(object))
    }

    /// The entry of `resourcesToSync` for routes of this group and kind.
    #[must_use]
    pub fn synced_route(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
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
            objects_to_sync: Vec::new(),
            retained_resources: Vec::new(),
            raw_feedback: false,
            work_per: WorkPer::default(),
            update_strategy: UpdateStrategy::Update,
            rollout: None,
            max_work_bytes: DEFAULT_MAX_WORK_BYTES,
        }
    }
}

/// The role that objects of a listed resource must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// In `resourcesToSync`: what Gateways, routes and policies need beside them, chosen by name or label.
    Object,
    /// In `resourcesToSync`: they name parents.
    Route,
    /// In `policiesToSync`: they name a target.
    Policy,
}

/// A resource to sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncedResource {
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
    /// Of a resource that is neither a policy nor a route, which objects go.
    pub chosen: Option<Chosen>,
}

impl SyncedResource {
    /// Its group and kind.
    #[must_use]
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(self.group.as_str(), self.kind.as_str())
    }

    /// Whether it asks for an object of a kind that has neither targets nor parents.
    #[must_use]
    pub fn chooses(&self, object: &Object) -> bool {
        let is_of_kind = self.group == object.api_version.group && self.kind == object.kind;
        let chooses = |chosen: &Chosen| {
            chosen.names(object)
                || chosen
                    .labels
                    .as_ref()
                    .is_some_and(|labels| labels.matches(|key| object.label(key)))
        };
        is_of_kind && self.chosen.as_ref().is_some_and(chooses)
    }
}

/// Which objects of a resource go: those that are named, and those with these labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The entry.
    pub place: Place,
    /// Namespace and name of each.
    pub names: Vec<(String, String)>,
    /// The labels that others must have; none: nothing is chosen by label.
    pub labels: Option<Selector>,
}

impl Chosen {
    /// Whether an object of the resource is named.
    #[must_use]
    pub fn names(&self, object: &Object) -> bool {
        let mut names = self.names.iter();
        names.any(|(namespace, name)| *namespace == object.namespace_or_empty() && *name == object.name)
    }
}

/// A value to report from each spoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// Name in the work's status.
    pub name: String,
    /// Where it is.
    pub path: FeedbackPath,
}

/// An enum's value; `None` where the schema has already refused it.
pub(super) fn parse<T: DeserializeOwned>(value: &Value) -> Option<T> {
    kube_json::from_value(value).ok()
}
