//! One object inside a work, and its identifier in OCM.
//!
//! Owns: [`Manifest`] and its [`ResourceIdentifier`].
//! Flows in: objects as they are on a spoke. Flows out: the same.
//! Must not know: which work it is in.

use std::sync::Arc;

use kube_json::Value;
use kube_yaml::append_text;

use super::condition_rules::Reported;
use crate::object::Origin;

/// So many spaces are before a field of `manifestConfigs[]` in a ManifestWork: rules that many manifests have are written
/// for this place.
pub(super) const CONFIG_COLUMN: usize = 4;

/// The identifier of one manifest of a work in `manifestConfigs` and in orphaning rules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ResourceIdentifier {
    /// API group, `""` for core.
    pub group: String,
    /// Plural.
    pub resource: String,
    /// Namespace, `""` for cluster-scoped kinds (OCM empties it before matching).
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ResourceIdentifier {
    /// Appends it as it is in a ManifestWork, its fields behind `indent` spaces; OCM leaves an absent namespace empty.
    pub(super) fn append(&self, out: &mut String, indent: usize) {
        append_text(out, "group", &self.group, indent);
        append_text(out, "name", &self.name, indent);
        if !self.namespace.is_empty() {
            append_text(out, "namespace", &self.namespace, indent);
        }
        append_text(out, "resource", &self.resource, indent);
    }
}

/// One object inside a work.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Manifest {
    /// Its identifier in `manifestConfigs`.
    pub resource: ResourceIdentifier,
    /// Its kind, for reports.
    pub kind: String,
    /// The object: the clusters that it goes to share it.
    pub value: Value,
    /// Its `feedbackRules`, behind [`CONFIG_COLUMN`] spaces; none if nothing is reported back.
    pub feedback: Option<Arc<str>>,
    /// The conditions that its controllers report.
    pub reported: Reported,
    /// The hub objects it was made from, the main one first; none for what is ours (Namespaces, RBAC).
    pub origins: Vec<Origin>,
}

impl Manifest {
    /// An object of ours without a namespace (a Namespace, RBAC), about which nothing is reported. `resource` are its group
    /// and plural.
    pub(super) fn ours((group, resource): (&str, &str), kind: &str, name: &str, value: Value) -> Self {
        Self {
            resource: ResourceIdentifier {
                group: group.to_owned(),
                resource: resource.to_owned(),
                namespace: String::new(),
                name: name.to_owned(),
            },
            kind: kind.to_owned(),
            value,
            feedback: None,
            reported: Reported::Nothing,
            origins: Vec::new(),
        }
    }
}
