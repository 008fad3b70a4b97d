//! The orphaning rule: which objects stay on a spoke when its work is deleted.
//!
//! Owns: `spec.deleteOption`. Flows in: the manifests of a work. Flows out: the option.
//! Must not know: whose work it is.

use kube_json::{Value, json};

use super::manifest::Manifest;

/// Namespaces are orphaned, so that removing a Gateway never deletes what else lives there: Secrets that were created on
/// the spoke, local policies, whatever other works put there. Only a rule keeps the agent from deleting what leaves a work,
/// also while the work lives on (docs/systems/ocm-work.md#appliedmanifestwork).
pub(super) fn delete_option(manifests: &[Manifest]) -> Option<Value> {
    let rules: Vec<Value> = manifests
        .iter()
        .filter(|manifest| manifest.resource.group.is_empty() && manifest.resource.resource == "namespaces")
        // The agent empties the namespace of a cluster-scoped kind before it compares, exactly, with this one.
        // docs/systems/ocm-work.md#orphaning-rules
        .map(|manifest| {
            json!({"group": "", "resource": "namespaces", "namespace": "", "name": manifest.resource.name})
        })
        .collect();
    (!rules.is_empty()).then(|| {
        json!({
            "propagationPolicy": "SelectivelyOrphan",
            "selectivelyOrphans": {"orphaningRules": rules},
        })
    })
}
