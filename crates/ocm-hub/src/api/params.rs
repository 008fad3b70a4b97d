//! GatewayClass parameters: the fields of `data.params` with their defaults, and the status that MGC would give a class
//! whose parameters are wrong ([`InvalidParameters`]). [`Params`] is also the source of their JSON Schema
//! (`schemas/params.schema.json`).
//!
//! What users may write: docs/reference/parameters.md. What MGC read and reported:
//! docs/systems/mgc.md#gatewayclass-parameters, docs/systems/mgc.md#gatewayclass-status.

mod read;
mod resources;

#[cfg(test)]
mod tests;

pub use read::{ParamsPlace, read_class, written};

use kube_json::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::feedback_path::FeedbackPath;
use super::gateway::GROUP;
use super::schema::{Labels, List};
use crate::diagnostic::Place;
use crate::object::Object;
use apimachinery::{GroupKind, Selector};

/// What one ManifestWork contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(title = "spokewright GatewayClass parameters")]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Params {
    /// Class of the downstream Gateways. Only a class of kuadrant.io/mgc-gw-controller may leave it out.
    #[schemars(length(min = 1))]
    pub downstream_class: String,
    /// Policy kinds to ship with a Gateway.
    #[serde(rename = "policiesToSync")]
    #[schemars(transform = without_choice)]
    policies: List<Entry>,
    /// Older name of policiesToSync. Both together are an error.
    #[schemars(transform = without_choice)]
    experimental_policy_sync: List<Entry>,
    /// Other resources to sync: those that attach to Gateways by spec.parentRefs, such as httproutes, and, of any other
    /// namespaced resource, the objects that the entry selects.
    #[serde(rename = "resourcesToSync")]
    resources: List<Entry>,
    /// Resources that are no longer synced, but whose objects the spokes' work agents may still delete.
    #[serde(rename = "retainedResources")]
    retained: List<Retained>,
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
    #[schemars(range(min = 1, max = crate::api::ocm_work::WEBHOOK_LIMIT))]
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
        let policies = self.policies_to_sync.iter();
        policies
            .chain(&self.resources_to_sync)
            .chain(&self.objects_to_sync)
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
        let mut policies = self.policies_to_sync.iter();
        policies.find(|policy| policy.group == group && policy.kind == kind)
    }

    /// The entry of `resourcesToSync` that chooses an object that is neither a policy nor a route.
    pub fn synced_object(&self, object: &Object) -> Option<&SyncedResource> {
        let mut resources = self.objects_to_sync.iter();
        resources.find(|resource| resource.chooses(object))
    }

    /// The entry of `resourcesToSync` for routes of this group and kind.
    pub fn synced_route(&self, group: &str, kind: &str) -> Option<&SyncedResource> {
        let mut routes = self.resources_to_sync.iter();
        routes.find(|route| route.group == group && route.kind == kind)
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
        let has = |labels: &Selector| labels.matches(|key| object.label(key));
        let chooses = |chosen: &Chosen| chosen.names(object) || chosen.labels.as_ref().is_some_and(has);
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

/// A resource to sync, or some of its objects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    /// API group, without a version.
    group: String,
    /// Served version, such as v1.
    #[schemars(length(min = 1))]
    version: String,
    /// Plural resource name, such as httproutes or configmaps.
    #[schemars(length(min = 1))]
    resource: String,
    /// Further values to report from each spoke.
    #[serde(default)]
    feedback: List<Reported>,
    /// For a resource that is not a route: the objects to sync, each as NAMESPACE/NAME.
    #[serde(default)]
    names: List<String>,
    /// For a resource that is not a route: the labels of the objects to sync.
    label_selector: Option<Labels>,
}

/// Policies have their targets: nothing is chosen.
fn without_choice(schema: &mut schemars::Schema) {
    let plural = "Plural resource name, such as authpolicies.";
    for (field, text) in [("", "A resource to sync."), ("/properties/resource", plural)] {
        if let Some(description) = schema.pointer_mut(&format!("/items{field}/description")) {
            *description = text.into();
        }
    }
    if let Some(serde_json::Value::Object(fields)) = schema.pointer_mut("/items/properties") {
        fields.retain(|name, _| !["names", "labelSelector"].contains(&name.as_str()));
    }
}

/// A resource that is no longer synced.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Retained {
    /// API group, without a version.
    group: String,
    /// The version that was synced; a right does not depend on it.
    #[serde(default)]
    version: Option<String>,
    /// Plural resource name, such as authpolicies.
    #[schemars(length(min = 1))]
    resource: String,
}

/// A value to report from each spoke.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reported {
    /// Name of the value in the ManifestWork's status.
    #[schemars(length(min = 1))]
    name: String,
    /// Where it is on the object, in client-go's JSONPath dialect without braces: .status.phase
    #[schemars(length(min = 1))]
    path: String,
}

/// How the work agent writes manifests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum UpdateStrategy {
    /// OCM's default.
    #[default]
    Update,
    /// Server-side apply.
    ServerSideApply,
}

/// When the agent leaves fields out of what it applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum IgnoreCondition {
    /// Whenever the object already exists.
    #[default]
    OnSpokePresent,
    /// Unless another part of the manifest changes.
    OnSpokeChange,
}

/// How server-side apply settles conflicts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServerSideApply {
    /// Take over fields of other managers; without it, one such field keeps the whole object from being applied.
    pub force: bool,
    /// Fields that may differ on the spokes, each condition once.
    pub ignore_fields: List<IgnoreFields>,
}

impl Default for ServerSideApply {
    /// The hub's word counts, as it does with the strategy Update (docs/systems/ocm-work.md#server-side-apply).
    fn default() -> Self {
        Self {
            force: true,
            ignore_fields: List::default(),
        }
    }
}

/// Fields that may differ on the spokes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IgnoreFields {
    /// When they are left out.
    pub condition: IgnoreCondition,
    /// Fields of mappings, as a path that ends with the field's name: .spec.replicas
    json_paths: List<String>,
    /// Fields as JSON pointers, such as /spec/replicas; from OCM 1.3 on.
    json_pointers: List<String>,
    /// Fields as jq paths; from OCM 1.3 on.
    jq_path_expressions: List<String>,
}

impl IgnoreFields {
    /// The fields, by OCM's name for each way to name them.
    fn ways(&self) -> [(&'static str, &List<String>); 3] {
        [
            ("jsonPaths", &self.json_paths),
            ("jsonPointers", &self.json_pointers),
            ("jqPathExpressions", &self.jq_path_expressions),
        ]
    }

    /// The fields that are named, by OCM's name for each way to name them.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Vec<&str>)> {
        let named = self.ways().map(|(way, fields)| {
            let texts: Vec<&str> = fields.items().map(|(_, field)| field.as_str()).collect();
            (way, texts)
        });
        named.into_iter().filter(|(_, fields)| !fields.is_empty())
    }
}

/// How changes go out with `--work-kind replica-set`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Rollout {
    /// All clusters at once, some at a time, or one decision group after another.
    r#type: RolloutType,
    /// Settings of the type All.
    all: Option<All>,
    /// Settings of the type Progressive.
    progressive: Option<Progressive>,
    /// Settings of the type ProgressivePerGroup.
    progressive_per_group: Option<ProgressivePerGroup>,
    /// All of it, as OCM takes it: the value of `placementRefs[].rolloutStrategy`.
    #[serde(skip)]
    pub strategy: Value,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
enum RolloutType {
    #[default]
    All,
    Progressive,
    ProgressivePerGroup,
}

/// All clusters at once. Of its settings OCM looks at the deadline alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct All {
    /// As for the other types, but OCM ignores it here.
    #[schemars(regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// As for the other types, but OCM ignores it here.
    #[schemars(schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
}

/// Some clusters at a time, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Progressive {
    /// How long a cluster must be done before the next one follows: 90s, 5m. Without it, 0.
    #[schemars(regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// How many clusters may fail before it stops: a number, or a percentage of all. Without it, 0.
    #[schemars(schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
    /// How many clusters at a time: a number, or a percentage of all. Without it, all.
    #[schemars(schema_with = "some_or_percentage")]
    max_concurrency: Option<Value>,
    /// Decision groups that go first, one after another; no cluster in them may fail.
    mandatory_decision_groups: List<Group>,
}

/// One decision group after another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ProgressivePerGroup {
    /// How long a group must be done before the next one follows: 90s, 5m. Without it, 0.
    #[schemars(regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// How many clusters of a group may fail before it stops: a number, or a percentage of the group. Without it, 0.
    #[schemars(schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
    /// Decision groups that go first, one after another; no cluster in them may fail.
    mandatory_decision_groups: List<Group>,
}

/// A decision group, by its name or its index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Group {
    /// Its name in the Placement.
    #[schemars(length(min = 1))]
    group_name: Option<String>,
    /// Its index, from 0.
    #[schemars(range(min = 0))]
    group_index: Option<i32>,
}

/// As Go parses durations.
const DURATION: &str = r"^(0|([0-9]+(\.[0-9]*)?(ns|us|ms|s|m|h))+)$";
/// One unit, unlike a duration.
const DEADLINE: &str = "^([0-9]+[hms]|None)$";

fn count_or_percentage(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}]
    })
}

/// Not zero, which OCM takes for all.
fn some_or_percentage(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^(100|[1-9][0-9]?)%$"}]
    })
}

impl Rollout {
    /// The decision groups that go first, by the field that they are in.
    fn groups(&self) -> impl Iterator<Item = (&'static str, usize, &Group)> {
        let progressive = self.progressive.iter();
        let progressive = progressive.map(|settings| ("progressive", &settings.mandatory_decision_groups));
        let per_group = self.progressive_per_group.iter();
        let per_group =
            per_group.map(|settings| ("progressivePerGroup", &settings.mandatory_decision_groups));
        let lists = progressive.chain(per_group);
        lists.flat_map(|(field, groups)| groups.items().map(move |(index, group)| (field, index, group)))
    }

    /// The names of the decision groups that go first.
    pub fn mandatory_groups(&self) -> impl Iterator<Item = &str> {
        let groups = self.groups();
        groups.filter_map(|(_, _, group)| group.group_name.as_deref())
    }
}

/// The controller whose GatewayClasses are ours unless the configuration names another
/// (docs/systems/mgc.md#gatewayclass).
pub const CONTROLLER_NAME: &str = "kuadrant.io/mgc-gw-controller";

/// Status `False`, reason `InvalidParameters`; displays as the condition's message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidParameters {
    /// Case 2. Case 1, another class name than MGC's own, is no failure here: any class of the controller counts.
    #[error("Invalid Parameters - unable to retrieve parameters for GroupKind {0}")]
    UnsupportedKind(GroupKind),
    /// Case 3.
    #[error("Invalid Parameters - Namespace must be defined")]
    NamespaceMissing,
    /// Case 4, where the API error is that there is no such ConfigMap.
    #[error("Invalid Parameters - failed to get object {namespace}/{name}: configmaps \"{name}\" not found")]
    NotFound {
        /// Namespace of the reference.
        namespace: String,
        /// Name of the reference.
        name: String,
    },
    /// Case 5.
    #[error("Invalid Parameters - Parameters must be defined in \"params\" field of ConfigMap")]
    ParamsMissing,
    /// Case 6, with our reason in the place of Go's.
    #[error("Invalid Parameters - Failed to unmarshal params: {0}")]
    Unmarshal(String),
    /// What MGC has no message for: a resource that does not exist or is not a policy, which the RFC promises to refuse, and
    /// a class of another controller without a class for the clusters.
    #[error("Invalid Parameters - {0}")]
    Resource(String),
}

impl InvalidParameters {
    /// Type of the condition, for failures and for success.
    pub const CONDITION: &'static str = "Accepted";
    /// Reason of the condition.
    pub const REASON: &'static str = "InvalidParameters";

    /// Case 7: the message of `Accepted=True`, reason `Accepted`.
    pub fn accepted_message(controller_name: &str) -> String {
        format!("Handled by {controller_name}")
    }
}
