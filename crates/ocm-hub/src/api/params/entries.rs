//! The entries of the parameters' lists, as an author writes them.

use serde::Deserialize;

use crate::api::label_selector::Labels;
use crate::api::schema::List;

/// A resource to sync, or some of its objects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Entry {
    /// API group, without a version.
    pub(super) group: String,
    /// Served version, such as v1.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) version: String,
    /// Plural resource name, such as httproutes or configmaps.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) resource: String,
    /// Further values to report from each spoke.
    #[serde(default)]
    pub(super) feedback: List<Reported>,
    /// For a resource that is not a route: the objects to sync, each as NAMESPACE/NAME.
    #[serde(default)]
    pub(super) names: List<String>,
    /// For a resource that is not a route: the labels of the objects to sync.
    pub(super) label_selector: Option<Labels>,
}

/// Policies have their targets: nothing is chosen.
#[cfg(feature = "schema")]
pub(super) fn without_choice(schema: &mut schemars::Schema) {
    let entry = schema
        .pointer_mut("/items")
        .and_then(serde_json::Value::as_object_mut);
    let Some(entry) = entry else { return };
    entry.insert("description".to_owned(), "A resource to sync.".into());
    if let Some(fields) = entry
        .get_mut("properties")
        .and_then(serde_json::Value::as_object_mut)
    {
        fields.retain(|name, _| !["names", "labelSelector"].contains(&name.as_str()));
        let resource = fields
            .get_mut("resource")
            .and_then(serde_json::Value::as_object_mut);
        let text = "Plural resource name, such as authpolicies.";
        resource.map(|resource| resource.insert("description".to_owned(), text.into()));
    }
}

/// A resource that is no longer synced.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Retained {
    /// API group, without a version.
    pub(super) group: String,
    /// The version that was synced; a right does not depend on it.
    #[serde(default)]
    version: Option<String>,
    /// Plural resource name, such as authpolicies.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) resource: String,
}

/// A value to report from each spoke.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Reported {
    /// Name of the value in the ManifestWork's status.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) name: String,
    /// Where it is on the object, in client-go's JSONPath dialect without braces: .status.phase
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub(super) path: String,
}
