//! The configuration file as types: the source of its JSON Schema.
//!
//! Owns: field names, types and choices as an author sees them. Flows out: the schema that
//! `spokewright schema config` prints and that every file is checked against. Must not know: what the fields do.

use std::collections::BTreeMap;

use kube_json::Value;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::api::params::CONTROLLER_NAME;
use apimachinery::Field;

/// Where placements come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PlacementSource {
    /// PlacementDecisions of the input, or, if it has none for a Placement, an evaluation.
    #[default]
    Auto,
    /// Only PlacementDecisions of the input.
    Decisions,
    /// Only evaluation.
    Evaluate,
}

/// How placements see each other's results (docs/systems/ocm-placement.md#the-order-of-placements).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PlacementMode {
    /// Each sees only the decisions of the input.
    Snapshot,
    /// In namespace/name order, each sees the earlier ones' results.
    Sequential,
    /// Rounds until nothing changes, which is closest to a live hub.
    #[default]
    Fixpoint,
}

/// Whether an object's creation timestamp decides between policies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OriginTimestamp {
    /// It does, if it is present.
    #[default]
    Use,
    /// It does not: names decide.
    Ignore,
}

/// What happens to the Secrets that Gateways refer to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Secrets {
    /// They are expected on the spokes.
    #[default]
    Omit,
    /// Those of the input are copied into works, in clear base64.
    Copy,
}

/// Whether the hub objects are written with what the renderer knows about them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HubObjects {
    /// They are not written.
    #[default]
    None,
    /// With annotations and labels, under `_hub/`.
    Annotated,
}

/// How much a change may do unless a user allows more. Without a limit, anything is allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Budget {
    /// Objects that may be deleted, counted over all clusters.
    pub max_removed: Option<u32>,
    /// Clusters that may change.
    pub max_clusters: Option<u32>,
    /// Paths that may lose the policies of a kind.
    pub max_lost_policies: Option<u32>,
}

impl Budget {
    /// These limits, and those of `other` where there is none here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            max_removed: self.max_removed.or(other.max_removed),
            max_clusters: self.max_clusters.or(other.max_clusters),
            max_lost_policies: self.max_lost_policies.or(other.max_lost_policies),
        }
    }

    /// The lower of each pair of limits.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let lower = |a: Option<u32>, b: Option<u32>| a.into_iter().chain(b).min();
        Self {
            max_removed: lower(self.max_removed, other.max_removed),
            max_clusters: lower(self.max_clusters, other.max_clusters),
            max_lost_policies: lower(self.max_lost_policies, other.max_lost_policies),
        }
    }
}

/// The file's apiVersion.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read through its schema only")]
enum ApiVersion {
    #[schemars(rename = "spokewright.dev/v1alpha1")]
    V1Alpha1,
}

/// The file's kind.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read through its schema only")]
enum Kind {
    RenderConfig,
}

/// Severity of a finding.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "read through its schema only")]
enum FindingSeverity {
    /// Nothing is rendered.
    Error,
    /// Reported.
    Warning,
    /// Not reported.
    Off,
}

/// The configuration file spokewright.yaml.
#[derive(JsonSchema)]
#[schemars(
    rename_all = "camelCase",
    deny_unknown_fields,
    title = "spokewright configuration"
)]
#[expect(dead_code, reason = "read through its schema only")]
struct ConfigFile {
    api_version: ApiVersion,
    kind: Kind,
    /// GatewayClasses with this spec.controllerName are ours.
    #[schemars(length(min = 1), default = "controller_name")]
    controller_name: String,
    /// Inputs: files and directories, relative to this file.
    #[schemars(length(min = 1), inner(length(min = 1)), default = "hub")]
    hub: Vec<String>,
    /// Directory of objects that already live on the spokes, with one directory per cluster. They are read but never
    /// rendered.
    #[schemars(length(min = 1), default = "spokes")]
    spokes: String,
    /// Files and directories of CustomResourceDefinitions, relative to this file. They define kinds and validate
    /// objects, but are not part of the hub.
    #[schemars(inner(length(min = 1)), default)]
    crds: Vec<String>,
    /// Output directory, relative to this file and in its repository. Every command skips it when it reads.
    #[schemars(length(min = 1), default = "output")]
    output: String,
    /// Globs of files and directories that are not read, as in .gitignore.
    #[schemars(inner(length(min = 1)), default)]
    exclude: Vec<String>,
    #[schemars(default)]
    placement: Option<PlacementFile>,
    #[schemars(default)]
    precedence: Option<PrecedenceFile>,
    #[schemars(default)]
    istio: Option<IstioFile>,
    /// What happens to the Secrets that Gateways refer to.
    #[schemars(default)]
    secrets: Secrets,
    /// Whether hub objects are written with annotations, under _hub/.
    #[schemars(default)]
    hub_objects: HubObjects,
    /// Profiles of policy kinds.
    #[schemars(default)]
    profiles: Vec<Value>,
    /// Severity of findings by their code: error, warning or off.
    #[schemars(default)]
    findings: BTreeMap<String, FindingSeverity>,
    /// Warnings that are accepted.
    #[schemars(default)]
    suppress: Vec<SuppressFile>,
    #[schemars(default)]
    diff: Option<DiffFile>,
}

/// Settings of the command `diff`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct DiffFile {
    #[schemars(default)]
    budget: Option<Budget>,
}

/// Warnings of one code that are accepted.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct SuppressFile {
    /// Their code, such as secret/not-rendered.
    #[schemars(length(min = 1))]
    code: String,
    /// The object that they are about, as KIND/[NAMESPACE/]NAME.
    #[schemars(length(min = 1))]
    object: Option<String>,
    /// Glob of the files that they are in, relative to this file.
    #[schemars(length(min = 1))]
    path: Option<String>,
    /// Why they are accepted.
    #[schemars(length(min = 1))]
    reason: String,
    /// Until when: a date, which is the last day, or an RFC 3339 time. It has an effect only with --now.
    #[schemars(length(min = 1))]
    until: Option<String>,
}

/// Placements.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct PlacementFile {
    /// Where placements come from.
    #[schemars(default)]
    source: PlacementSource,
    /// How placements see each other's results.
    #[schemars(default)]
    mode: PlacementMode,
}

/// Precedence of policies.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct PrecedenceFile {
    /// Whether an object's creation timestamp decides between policies.
    #[schemars(default)]
    creation_timestamp: OriginTimestamp,
}

/// Istio, if it is not installed in the usual way.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "read through its schema only")]
struct IstioFile {
    /// The namespace whose policies apply to the whole mesh: rootNamespace of its MeshConfig.
    #[schemars(length(min = 1), default = "root_namespace")]
    root_namespace: String,
}

fn root_namespace() -> String {
    "istio-system".to_owned()
}

fn controller_name() -> String {
    CONTROLLER_NAME.to_owned()
}

fn hub() -> Vec<String> {
    vec![".".to_owned()]
}

fn spokes() -> String {
    "spokes".to_owned()
}

fn output() -> String {
    "rendered".to_owned()
}

/// The JSON Schema of the configuration file.
#[must_use]
pub(crate) fn json_schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings
        .into_generator()
        .into_root_schema_for::<ConfigFile>()
        .to_value()
}

/// An enum's value; its default where the file has none, or one that the schema has refused.
pub(super) fn parse<T: DeserializeOwned + Default>(field: &Field<'_>) -> T {
    field
        .value()
        .and_then(|value| kube_json::from_value(value).ok())
        .unwrap_or_default()
}
