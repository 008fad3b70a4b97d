//! The parameters of a class, as values. [`Params`] is also the shape of the text, and the source of its JSON Schema
//! (`schemas/params.schema.json`).

use serde::{Deserialize, Serialize};

use super::entries::{Entry, Retained};
use super::rollout::Rollout;
use super::update::{ServerSideApply, UpdateStrategy};
use crate::api::feedback_path::FeedbackPath;
use crate::api::gateway::GROUP;
use crate::api::schema::List;
use crate::diagnostic::Place;
use crate::object::Object;
use apimachinery::{GroupKind, Selector};

/// What one ManifestWork contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WorkPer {
    /// One object of the hub, whose work does not depend on what the object refers to.
    #[default]
    Object,
    /// A Gateway, and the objects that go with no other Gateway of the cluster.
    Gateway,
    /// The works of both layouts, for the step from one to the other: an agent does not delete an object that another
    /// applied work contains.
    Both,
}

/// GatewayClass parameters, the text under `data.params` of the ConfigMap.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "spokewright GatewayClass parameters"))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Params {
    /// Class of the downstream Gateways. Only a class of kuadrant.io/mgc-gw-controller may leave it out.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub downstream_class: String,
    /// Policy kinds to ship with a Gateway.
    #[serde(rename = "policiesToSync")]
    #[cfg_attr(feature = "schema", schemars(transform = super::entries::without_choice))]
    pub(super) policies: List<Entry>,
    /// Older name of policiesToSync. Both together are an error.
    #[cfg_attr(feature = "schema", schemars(transform = super::entries::without_choice))]
    pub(super) experimental_policy_sync: List<Entry>,
    /// Other resources to sync: those that attach to Gateways by spec.parentRefs, such as httproutes, and, of any other
    /// namespaced resource, the objects that the entry selects.
    #[serde(rename = "resourcesToSync")]
    pub(super) resources: List<Entry>,
    /// Resources that are no longer synced, but whose objects the spokes' work agents may still delete.
    #[serde(rename = "retainedResources")]
    pub(super) retained: List<Retained>,
    /// Whether the spokes' work agents have the feature gate RawFeedbackJsonString on. Addresses are then reported in
    /// full, not only the first one.
    pub raw_feedback: bool,
    /// What one ManifestWork contains.
    pub work_per: WorkPer,
    /// How the work agent writes manifests.
    pub update_strategy: UpdateStrategy,
    /// How server-side apply settles conflicts; with the update strategy ServerSideApply only.
    pub server_side_apply: Option<ServerSideApply>,
    /// How changes roll out from cluster to cluster with `--work-kind replica-set`.
    pub rollout: Option<Rollout>,
    /// Refuse a ManifestWork with more bytes of manifests. OCM itself refuses more than 512000; client-side
    /// apply stops at 262144.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = crate::api::ocm_work::WEBHOOK_LIMIT)))]
    pub max_work_bytes: u64,
    /// The policies to sync that exist, in the order of the parameters.
    #[serde(skip)]
    pub policies_to_sync: Vec<SyncedResource>,
    /// The routes to sync that exist.
    #[serde(skip)]
    pub resources_to_sync: Vec<SyncedResource>,
    /// Other resources of which chosen objects are synced.
    #[serde(skip)]
    pub objects_to_sync: Vec<SyncedResource>,
    /// Group and plural of resources that are synced no longer, whose objects the agents may still delete.
    #[serde(skip)]
    pub retained_resources: Vec<(String, String)>,
}

impl Params {
    /// Everything that is synced.
    pub fn synced(&self) -> impl Iterator<Item = &SyncedResource> {
        let lists = [
            &self.policies_to_sync,
            &self.resources_to_sync,
            &self.objects_to_sync,
        ];
        lists.into_iter().flatten()
    }

    /// Group and plural of everything that is listed, whether or not there is an object of it. ReferenceGrants go along
    /// with routes that need them.
    pub fn listed(&self) -> impl Iterator<Item = (&str, &str)> {
        let synced = self.synced();
        let synced = synced.map(|resource| (resource.group.as_str(), resource.resource.as_str()));
        let retained = self.retained_resources.iter();
        let retained = retained.map(|(group, resource)| (group.as_str(), resource.as_str()));
        let grants = (!self.resources_to_sync.is_empty()).then_some((GROUP, "referencegrants"));
        synced.chain(retained).chain(grants)
    }

    /// The entry of `policiesToSync` for policies of this group and kind.
    pub fn synced_policy(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
        self.policies_to_sync
            .iter()
            .find(|resource| resource.group == group && resource.kind == kind)
    }

    /// The entry of `resourcesToSync` that chooses an object that is neither a policy nor a route.
    pub fn synced_object(&self, object: &Object) -> Option<&SyncedResource> {
        self.objects_to_sync
            .iter()
            .find(|resource| resource.chooses(object))
    }

    /// The entry of `resourcesToSync` for routes of this group and kind.
    pub fn synced_route(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
        self.resources_to_sync
            .iter()
            .find(|resource| resource.group == group && resource.kind == kind)
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            downstream_class: "istio".to_owned(),
            policies: List::default(),
            experimental_policy_sync: List::default(),
            resources: List::default(),
            retained: List::default(),
            raw_feedback: false,
            work_per: WorkPer::default(),
            update_strategy: UpdateStrategy::default(),
            server_side_apply: None,
            rollout: None,
            max_work_bytes: 204_800,
            policies_to_sync: Vec::new(),
            resources_to_sync: Vec::new(),
            objects_to_sync: Vec::new(),
            retained_resources: Vec::new(),
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
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(self.group.as_str(), self.kind.as_str())
    }

    /// Whether it asks for an object of a kind that has neither targets nor parents.
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
