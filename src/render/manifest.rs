//! One object inside a work, and its identifier in OCM.
//!
//! Owns: [`Manifest`] and its [`ResourceIdentifier`].
//! Flows in: objects as they are on a spoke. Flows out: the same.
//! Must not know: which work it is in.

use kube_json::Value;

use super::condition_rules::Reported;
use crate::object::Origin;

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
    /// As it is in a ManifestWork; OCM leaves an absent namespace empty.
    #[must_use]
    pub(super) fn to_value(&self) -> Value {
        let namespace = (!self.namespace.is_empty()).then_some(("namespace", &self.namespace));
        [("group", &self.group), ("name", &self.name)]
            .into_iter()
            .chain(namespace)
            .chain([("resource", &self.resource)])
            .map(|(field, text)| (field, Value::from(text)))
            .collect()
    }
}

/// One object inside a work.
#[derive(Debug, Clone)]
pub(super) struct Manifest {
    /// Its identifier in `manifestConfigs`.
    pub resource: ResourceIdentifier,
    /// Its kind, for reports.
    pub kind: String,
    /// The object: the clusters that it goes to share it.
    pub value: Value,
    /// Its `feedbackRules`; none if nothing is reported back.
    pub feedback: Option<Value>,
    /// The conditions that its controllers report.
    pub reported: Reported,
    /// The hub objects it was made from, the main one first; none for what is ours (Namespaces, RBAC).
    pub origins: Vec<Origin>,
}
