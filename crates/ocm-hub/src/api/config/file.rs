//! The configuration file as types: the source of its JSON Schema, `schemas/config.schema.json`. Only tests make it.
//!
//! Owns: field names, types and choices as an author sees them. Flows out: the schema. Must not know: what the fields do.

#![expect(dead_code, reason = "read through its schema only")]

use std::collections::BTreeMap;

use kube_json::Value;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use super::choices::{Budget, HubObjects, OriginTimestamp, PlacementMode, PlacementSource, Secrets};
use crate::api::params::CONTROLLER_NAME;

/// The file's apiVersion.
#[derive(JsonSchema)]
enum ApiVersion {
    #[schemars(rename = "spokewright.dev/v1alpha1")]
    V1Alpha1,
}

/// The file's kind.
#[derive(JsonSchema)]
enum Kind {
    RenderConfig,
}

/// Severity of a finding.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
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
    /// Files in the output directory that no run writes, relative to it, such as README.md. Any other file there is an
    /// error.
    #[schemars(inner(length(min = 1)), default)]
    output_exceptions: Vec<String>,
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
struct DiffFile {
    #[schemars(default)]
    budget: Option<Budget>,
}

/// Warnings of one code that are accepted.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
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
struct PrecedenceFile {
    /// Whether an object's creation timestamp decides between policies.
    #[schemars(default)]
    creation_timestamp: OriginTimestamp,
}

/// Istio, if it is not installed in the usual way.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
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
pub fn json_schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings
        .into_generator()
        .into_root_schema_for::<ConfigFile>()
        .to_value()
}
