//! The text of the parameters, as types: the source of its JSON Schema.
//!
//! Owns: field names, types, ranges, defaults as an author sees them. Flows out: the schema that
//! `spokewright schema params` prints and that every text is checked against. Must not know: other objects.

use std::collections::BTreeMap;

use kube_json::Value;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::rollout::RolloutFile;
use crate::api::ocm_work::WEBHOOK_LIMIT;

/// Class of the downstream Gateways when the parameters name none.
pub(super) const DEFAULT_DOWNSTREAM_CLASS: &str = "istio";
/// Bytes of manifests in a work when the parameters say nothing.
pub(super) const DEFAULT_MAX_WORK_BYTES: u64 = 204_800;
/// Whether server-side apply takes fields over when the parameters say nothing.
pub(super) const DEFAULT_FORCE: bool = true;

/// What one ManifestWork contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum WorkPer {
    /// A Gateway and its policies.
    #[default]
    Gateway,
    /// One hub object.
    Object,
}

/// How the work agent writes manifests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) enum UpdateType {
    /// OCM's default.
    #[default]
    Update,
    /// Server-side apply.
    ServerSideApply,
}

/// When the agent leaves fields out of what it applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub(crate) enum IgnoreCondition {
    /// Whenever the object already exists.
    #[default]
    OnSpokePresent,
    /// Unless another part of the manifest changes.
    OnSpokeChange,
}

/// GatewayClass parameters, the text under `data.params` of the ConfigMap.
#[derive(JsonSchema)]
#[schemars(
    rename_all = "camelCase",
    deny_unknown_fields,
    title = "spokewright GatewayClass parameters"
)]
#[expect(dead_code, reason = "read through its schema only")]
struct ParamsFile {
    /// Class of the downstream Gateways.
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
#[expect(dead_code, reason = "read through its schema only")]
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
#[expect(dead_code, reason = "read through its schema only")]
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
#[expect(dead_code, reason = "read through its schema only")]
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
#[expect(dead_code, reason = "read through its schema only")]
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
#[expect(dead_code, reason = "read through its schema only")]
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
#[expect(dead_code, reason = "read through its schema only")]
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
#[expect(dead_code, reason = "read through its schema only")]
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
#[expect(dead_code, reason = "read through its schema only")]
struct FeedbackFile {
    /// Name of the value in the ManifestWork's status.
    #[schemars(length(min = 1))]
    name: String,
    /// Where it is on the object, in client-go's JSONPath dialect without braces: .status.phase
    #[schemars(length(min = 1))]
    path: String,
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
pub(crate) fn json_schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings
        .into_generator()
        .into_root_schema_for::<ParamsFile>()
        .to_value()
}

/// An enum's value; `None` where the schema has already refused it.
pub(super) fn parse<T: DeserializeOwned>(value: &Value) -> Option<T> {
    kube_json::from_value(value).ok()
}
