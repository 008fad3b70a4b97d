//! The text of the parameters, as types: the source of its JSON Schema, `schemas/params.schema.json`. Only tests make it.
//!
//! Owns: field names, types and ranges as an author sees them. Flows out: the schema. Must not know: other objects.

#![expect(dead_code, reason = "read through its schema only")]

use std::collections::BTreeMap;

use kube_json::Value;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

use super::values::{
    DEFAULT_DOWNSTREAM_CLASS, DEFAULT_FORCE, DEFAULT_MAX_WORK_BYTES, IgnoreCondition, UpdateType, WorkPer,
};
use crate::api::ocm_work::WEBHOOK_LIMIT;

/// GatewayClass parameters, the text under `data.params` of the ConfigMap.
#[derive(JsonSchema)]
#[schemars(
    rename_all = "camelCase",
    deny_unknown_fields,
    title = "spokewright GatewayClass parameters"
)]
struct ParamsFile {
    /// Class of the downstream Gateways. Only a class of kuadrant.io/mgc-gw-controller may leave it out.
    #[schemars(length(min = 1), default = "downstream_class")]
    downstream_class: String,
    /// Policy kinds to ship with a Gateway.
    #[schemars(default)]
    policies_to_sync: Option<Vec<ResourceFile>>,
    /// Older name of policiesToSync. Both together are an error.
    #[schemars(default)]
    experimental_policy_sync: Option<Vec<ResourceFile>>,
    /// Other resources to sync: those that attach to Gateways by spec.parentRefs, such as httproutes, and, of any other
    /// namespaced resource, the objects that the entry selects.
    #[schemars(default)]
    resources_to_sync: Option<Vec<ChosenFile>>,
    /// Resources that are no longer synced, but whose objects the spokes' work agents may still delete.
    #[schemars(default)]
    retained_resources: Option<Vec<RetainedFile>>,
    /// Whether the spokes' work agents have the feature gate RawFeedbackJsonString on. Addresses are then reported in
    /// full, not only the first one.
    #[schemars(default)]
    raw_feedback: bool,
    /// What one ManifestWork contains.
    #[schemars(default)]
    work_per: WorkPer,
    /// How the work agent writes manifests.
    #[schemars(default)]
    update_strategy: UpdateType,
    /// How server-side apply settles conflicts; with the update strategy ServerSideApply only.
    #[schemars(default)]
    server_side_apply: Option<ServerSideApplyFile>,
    /// How changes roll out from cluster to cluster with `--work-kind replica-set`.
    #[schemars(default)]
    rollout: Option<RolloutFile>,
    /// Refuse a ManifestWork with more bytes of manifests. OCM itself refuses more than 512000; client-side
    /// apply stops at 262144.
    #[schemars(range(min = 1, max = WEBHOOK_LIMIT), default = "max_work_bytes")]
    max_work_bytes: u64,
}

/// A resource to sync.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceFile {
    /// API group, without a version.
    group: String,
    /// Served version, such as v1.
    #[schemars(length(min = 1))]
    version: String,
    /// Plural resource name, such as authpolicies.
    #[schemars(length(min = 1))]
    resource: String,
    /// Further values to report from each spoke.
    #[schemars(default)]
    feedback: Option<Vec<FeedbackFile>>,
}

/// A resource to sync, or some of its objects.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct ChosenFile {
    /// API group, without a version.
    group: String,
    /// Served version, such as v1.
    #[schemars(length(min = 1))]
    version: String,
    /// Plural resource name, such as httproutes or configmaps.
    #[schemars(length(min = 1))]
    resource: String,
    /// Further values to report from each spoke.
    #[schemars(default)]
    feedback: Option<Vec<FeedbackFile>>,
    /// For a resource that is not a route: the objects to sync, each as NAMESPACE/NAME.
    #[schemars(default)]
    names: Option<Vec<String>>,
    /// For a resource that is not a route: the labels of the objects to sync.
    #[schemars(default)]
    label_selector: Option<LabelSelectorFile>,
}

/// A resource that is no longer synced.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct RetainedFile {
    /// API group, without a version.
    group: String,
    /// The version that was synced; a right does not depend on it.
    #[schemars(default)]
    version: Option<String>,
    /// Plural resource name, such as authpolicies.
    #[schemars(length(min = 1))]
    resource: String,
}

/// How server-side apply settles conflicts.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct ServerSideApplyFile {
    /// Take over fields of other managers; without it, one such field keeps the whole object from being applied.
    #[schemars(default = "force")]
    force: bool,
    /// Fields that may differ on the spokes, each condition once.
    #[schemars(default)]
    ignore_fields: Option<Vec<IgnoredFile>>,
}

/// Fields that may differ on the spokes.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct IgnoredFile {
    /// When they are left out.
    #[schemars(default)]
    condition: IgnoreCondition,
    /// Fields of mappings, as a path that ends with the field's name: .spec.replicas
    #[schemars(default)]
    json_paths: Option<Vec<String>>,
    /// Fields as JSON pointers, such as /spec/replicas; from OCM 1.3 on.
    #[schemars(default)]
    json_pointers: Option<Vec<String>>,
    /// Fields as jq paths; from OCM 1.3 on.
    #[schemars(default)]
    jq_path_expressions: Option<Vec<String>>,
}

/// The labels of objects to sync, as in any Kubernetes label selector.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct LabelSelectorFile {
    /// Labels with their values.
    #[schemars(default)]
    match_labels: Option<BTreeMap<String, String>>,
    /// Requirements on labels; all must be met.
    #[schemars(default)]
    match_expressions: Option<Vec<MatchExpressionFile>>,
}

/// A requirement on a label.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct MatchExpressionFile {
    /// The label's key.
    key: String,
    /// In, NotIn, Exists or DoesNotExist.
    operator: String,
    /// The values of In and NotIn.
    #[schemars(default)]
    values: Option<Vec<String>>,
}

/// A value to report from each spoke.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct FeedbackFile {
    /// Name of the value in the ManifestWork's status.
    #[schemars(length(min = 1))]
    name: String,
    /// Where it is on the object, in client-go's JSONPath dialect without braces: .status.phase
    #[schemars(length(min = 1))]
    path: String,
}

/// How changes go out with `--work-kind replica-set`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct RolloutFile {
    /// All clusters at once, some at a time, or one decision group after another.
    #[schemars(default)]
    r#type: RolloutType,
    /// Settings of the type All.
    #[schemars(default)]
    all: Option<AllFile>,
    /// Settings of the type Progressive.
    #[schemars(default)]
    progressive: Option<ProgressiveFile>,
    /// Settings of the type ProgressivePerGroup.
    #[schemars(default)]
    progressive_per_group: Option<PerGroupFile>,
}

#[derive(Default, Serialize, JsonSchema)]
enum RolloutType {
    #[default]
    All,
    Progressive,
    ProgressivePerGroup,
}

/// All clusters at once. Of its settings OCM looks at the deadline alone.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct AllFile {
    /// As for the other types, but OCM ignores it here.
    #[schemars(default, regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(default, regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// As for the other types, but OCM ignores it here.
    #[schemars(default, schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
}

/// Some clusters at a time, by name.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct ProgressiveFile {
    /// How long a cluster must be done before the next one follows: 90s, 5m. Without it, 0.
    #[schemars(default, regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(default, regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// How many clusters may fail before it stops: a number, or a percentage of all. Without it, 0.
    #[schemars(default, schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
    /// How many clusters at a time: a number, or a percentage of all. Without it, all.
    #[schemars(default, schema_with = "some_or_percentage")]
    max_concurrency: Option<Value>,
    /// Decision groups that go first, one after another; no cluster in them may fail.
    #[schemars(default)]
    mandatory_decision_groups: Option<Vec<GroupFile>>,
}

/// One decision group after another.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct PerGroupFile {
    /// How long a group must be done before the next one follows: 90s, 5m. Without it, 0.
    #[schemars(default, regex(pattern = DURATION))]
    min_success_time: Option<String>,
    /// How long a cluster that is not done may take before it counts as failed: 30s, 10m, 2h. Without it, there is no
    /// limit: None.
    #[schemars(default, regex(pattern = DEADLINE))]
    progress_deadline: Option<String>,
    /// How many clusters of a group may fail before it stops: a number, or a percentage of the group. Without it, 0.
    #[schemars(default, schema_with = "count_or_percentage")]
    max_failures: Option<Value>,
    /// Decision groups that go first, one after another; no cluster in them may fail.
    #[schemars(default)]
    mandatory_decision_groups: Option<Vec<GroupFile>>,
}

/// A decision group, by its name or its index.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct GroupFile {
    /// Its name in the Placement.
    #[schemars(default, length(min = 1))]
    group_name: Option<String>,
    /// Its index, from 0.
    #[schemars(default, range(min = 0))]
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

fn downstream_class() -> String {
    DEFAULT_DOWNSTREAM_CLASS.to_owned()
}

/// The hub's word counts, as it does with the strategy Update (docs/systems/ocm-work.md#server-side-apply).
const fn force() -> bool {
    DEFAULT_FORCE
}

const fn max_work_bytes() -> u64 {
    DEFAULT_MAX_WORK_BYTES
}

/// The JSON Schema of the parameters.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings
        .into_generator()
        .into_root_schema_for::<ParamsFile>()
        .to_value()
}
