//! What `spokewright argocd parameters` prints: every parameter with the default that applies here.
//!
//! Owns: titles and tooltips. Flows in: the configuration. Flows out: a JSON array. Must not know: who displays it.

use kube_json::{Value, json};
use serde::Serialize;

use super::parameter::{PARAMETERS, Shape};
use crate::api::config::RenderConfig;

/// A parameter, as Argo CD reads it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct Announcement {
    name: &'static str,
    title: &'static str,
    tooltip: &'static str,
    required: bool,
    /// The type of the value, or of the items of an array.
    item_type: &'static str,
    /// `string` or `array`: the field that has the default. Argo CD never infers it from the value.
    collection_type: &'static str,
    /// The default of a parameter that is a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    string: Option<String>,
    /// The default of a parameter that is a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<Vec<String>>,
}

/// The JSON Schema of what [`announcements`] returns.
#[cfg(test)]
pub(in crate::pipeline) fn json_schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<Vec<Announcement>>();
    schema.insert("title".to_owned(), "Parameters of Argo CD".into());
    schema.to_value()
}

/// Title and what a tooltip says.
const fn words(name: &str) -> (&'static str, &'static str) {
    match name.as_bytes() {
        b"allow-empty" => (
            "Allow an empty result",
            "true: accept a result without clusters, which deletes everything; false or true",
        ),
        b"clusters" => (
            "Clusters",
            "Render only the clusters whose names match this glob, such as eu-*; all of them when not set",
        ),
        b"hub" => (
            "Inputs",
            "Files and directories of hub objects, relative to the directory of the Application",
        ),
        b"hubObjects" => (
            "Hub objects",
            "Annotated: also render the Gateways and policies of the hub with what is known about them; None or Annotated",
        ),
        b"now" => (
            "Time",
            "The RFC 3339 time that tolerations and scores are compared with; needed only if the result depends on it",
        ),
        b"placement.mode" => (
            "Placement mode",
            "How Placements see each other's results: Snapshot, Sequential or Fixpoint",
        ),
        b"placement.source" => (
            "Placement source",
            "Where placements come from: Auto, Decisions or Evaluate",
        ),
        b"secrets" => (
            "Secrets",
            "Whether Secrets that Gateways refer to are copied into ManifestWorks: Omit or Copy",
        ),
        b"work-kind" => (
            "Kind of works",
            "replica-set: one ManifestWorkReplicaSet for each Gateway instead of a ManifestWork for each cluster; manifest-work or replica-set",
        ),
        _ => (
            "Spoke-local objects",
            "Directory with one directory per cluster of objects that already live there, relative to the Application",
        ),
    }
}

/// The announcement of every parameter as Argo CD's dynamic parameters command prints it
/// (docs/systems/gitops.md#plugin-parameters): a JSON array. The values serve only the user interface, and
/// are what applies when an Application sets nothing.
pub fn announcements(config: &RenderConfig) -> Value {
    let announce = |(name, shape): &(&'static str, Shape)| {
        let (title, tooltip) = words(name);
        let default = default(name, config);
        let text = default.as_ref().and_then(Value::as_str).map(str::to_owned);
        let items = default.as_ref().and_then(Value::as_array).map(|items| {
            let texts = items.iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        });
        json!(Announcement {
            name,
            title,
            tooltip,
            required: false,
            item_type: if *name == "allow-empty" {
                "boolean"
            } else {
                "string"
            },
            collection_type: shape.key(),
            string: text,
            array: items,
        })
    };
    PARAMETERS.iter().map(announce).collect()
}

fn default(name: &str, config: &RenderConfig) -> Option<Value> {
    fn word<T: Serialize>(value: &T) -> Option<Value> {
        kube_json::to_value(value).ok()
    }
    match name {
        "allow-empty" => Some(Value::from("false")),
        "hub" => word(&config.hub),
        "hubObjects" => word(&config.hub_objects),
        "placement.mode" => word(&config.placement.unwrap_or_default().mode),
        "placement.source" => word(&config.placement.unwrap_or_default().source),
        "secrets" => word(&config.secrets),
        "spokes" => word(&config.spokes),
        "work-kind" => Some(Value::from("manifest-work")),
        _ => None,
    }
}
