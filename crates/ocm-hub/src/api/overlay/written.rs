//! A ClusterOverlay as an author writes it. Its fields are also the source of its JSON Schema
//! (`schemas/overlay.schema.json`).

use kube_json::Value;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ValueType;
use crate::api::config::ApiVersion;
use crate::api::schema::{Labels, List};

/// The most changes of an overlay, and the most fields of a change.
const MOST: u32 = 64;

/// Fields of hub objects of a namespace that are different on some clusters.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(title = "spokewright ClusterOverlay")]
#[schemars(extend("required" = ["apiVersion", "kind", "metadata", "spec"]))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    /// The object's apiVersion.
    api_version: ApiVersion,
    /// The object's kind.
    kind: Kind,
    /// Name and namespace: an overlay changes objects of its own namespace only.
    #[schemars(schema_with = "crate::api::schema::mapping")]
    metadata: IgnoredAny,
    /// Which clusters get which changes.
    #[serde(default)]
    pub(super) spec: Spec,
}

/// The object's kind.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
enum Kind {
    ClusterOverlay,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["clusters", "changes"]))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Spec {
    /// Of two overlays that change a field on a cluster, the one with the higher priority decides. Those of equal priority
    /// must agree.
    #[schemars(range(min = -1000, max = 1000))]
    pub(super) priority: i32,
    /// The clusters that get the changes: those that match all fields.
    #[schemars(extend("minProperties" = 1))]
    pub(super) clusters: Clusters,
    /// The changes. Their order means nothing.
    #[schemars(length(min = 1, max = MOST))]
    pub(super) changes: List<Change>,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(in crate::api) struct Clusters {
    /// Names of clusters.
    #[schemars(length(min = 1), inner(length(min = 1)))]
    pub(super) names: List<String>,
    /// Labels of the ManagedClusters; without requirements, it selects every cluster.
    pub(super) label_selector: Option<Labels>,
    /// Claims of the ManagedClusters.
    pub(super) claim_selector: Option<Labels>,
}

/// Fields of an object, or of several of a kind.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Change {
    /// The objects: of this group and kind, with either this name or these labels.
    pub(super) target: Target,
    /// The fields. Their order means nothing.
    #[schemars(length(min = 1, max = MOST))]
    pub(super) set: List<Field>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Target {
    /// API group, without a version; "" for the core group.
    pub(super) group: String,
    /// Kind, such as RateLimitPolicy.
    #[schemars(length(min = 1))]
    pub(super) kind: String,
    /// Name of the object. Exclusive with labelSelector.
    #[schemars(length(min = 1))]
    pub(super) name: Option<String>,
    /// Labels of the objects. Exclusive with name.
    pub(super) label_selector: Option<Labels>,
}

/// A field that is set or removed.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Field {
    /// Path of the field, as diff prints it: `spec.limits.reads.rates[0].limit`
    #[schemars(length(min = 1))]
    pub(super) path: String,
    /// The value there, any YAML; it replaces lists and mappings as a whole. Its texts may contain values of the cluster,
    /// such as ${cluster.name}. Exclusive with remove.
    #[schemars(schema_with = "any")]
    #[serde(default)]
    pub(super) value: Option<Value>,
    /// true to remove the field. Exclusive with value.
    pub(super) remove: Option<bool>,
    /// Type of a value that is one text with a value of the cluster.
    #[serde(rename = "as")]
    pub(super) value_type: Option<ValueType>,
    /// The value, any YAML, on a cluster without one of those that value refers to.
    #[schemars(schema_with = "any")]
    #[serde(default)]
    pub(super) default: Option<Value>,
}

/// As a CustomResourceDefinition writes it.
fn any(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"nullable": true, "x-kubernetes-preserve-unknown-fields": true})
}
