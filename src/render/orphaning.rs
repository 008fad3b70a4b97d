//! The orphaning rule: which objects stay on a spoke when its work is deleted.
//!
//! Owns: `spec.deleteOption`. Flows in: the manifests of a work. Flows out: the option.
//! Must not know: whose work it is.

use std::sync::Arc;

use kube_json::Value;

use super::manifest::Manifest;

/// Namespaces are orphaned, so that removing a Gateway never deletes what else lives there: Secrets that were created on
/// the spoke, local policies, whatever other works put there. Only a rule keeps the agent from deleting what leaves a work,
/// also while the work lives on (docs/systems/ocm-work.md#appliedmanifestwork).
pub(super) fn delete_option(manifests: &[Arc<Manifest>]) -> Option<Value> {
    let rules: Vec<Value> = manifests
        .iter()
        .filter(|manifest| manifest.resource.group.is_empty() && manifest.resource.resource == "namespaces")
        // The agent empties the namespace of a cluster-scoped kind before it compares, exactly, with this one.
        // docs/systems/ocm-work.md#orphaning-rules
        .map(|manifest| {
            Value::from_iter([
                ("group", Value::from("")),
                ("name", Value::from(&manifest.resource.name)),
                ("namespace", Value::from("")),
                ("resource", Value::from("namespaces")),
            ])
        })
        .collect();
    (!rules.is_empty()).then(|| {
        let orphans = Value::from_iter([("orphaningRules", Value::Array(rules))]);
        Value::from_iter([
            ("propagationPolicy", Value::from("SelectivelyOrphan")),
            ("selectivelyOrphans", orphans),
        ])
    })
}
