//! The work `gateway-rbac`: the work agent's right to what is synced (docs/systems/mgc.md#rbac-work).
//!
//! Owns: the ClusterRole and its binding. Flows in: the custom resources of a cluster's works. Flows out: the work.
//! Must not know: who asks for a resource.
//!
//! The stock agent may write core kinds and RBAC, but no custom resource (docs/systems/ocm-work.md#the-agents-rights).
//! Current OCM adds a labelled ClusterRole to the agent's own, older agents need the binding: both are written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::condition_rules::Reported;
use super::manifest::{Manifest, ResourceIdentifier};
use super::work::WorkParts;

/// The name of the RBAC work.
pub(super) const WORK_NAME: &str = "gateway-rbac";

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
/// What the agent does with an object. MGC granted `*`, and with it whatever verbs a controller may invent.
const VERBS: [&str; 7] = ["create", "delete", "get", "list", "patch", "update", "watch"];

/// Custom resources in the works of a cluster, as (group, plural); sorted, so that equal sets are one text.
pub(super) type CustomResources = BTreeSet<(String, String)>;

/// The name of the ClusterRole.
pub(super) const ROLE_NAME: &str = "open-cluster-management:klusterlet-work:gateway";

/// The custom resources among some manifests.
pub(super) fn custom_resources(manifests: &[Manifest]) -> CustomResources {
    let resources = manifests.iter().map(|manifest| &manifest.resource);
    resources
        .filter(|resource| !resource.group.is_empty())
        .map(|resource| (resource.group.clone(), resource.resource.clone()))
        .collect()
}

/// The work with the ClusterRole `name` over exactly these resources, one rule an API group, and its binding. It grows and
/// shrinks with what is synced: a right that nothing needs is one that only an intruder on the hub would use.
pub(super) fn work(name: &str, resources: &CustomResources) -> WorkParts {
    let mut by_group: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (group, resource) in resources {
        by_group.entry(group).or_default().push(resource);
    }
    let rules: Vec<Value> = by_group
        .iter()
        .map(|(group, resources)| json!({"apiGroups": [group], "resources": resources, "verbs": VERBS}))
        .collect();
    let role = json!({
        "apiVersion": format!("{RBAC_GROUP}/v1"),
        "kind": "ClusterRole",
        "metadata": {
            "name": name,
            "labels": {"open-cluster-management.io/aggregate-to-work": "true"},
        },
        "rules": rules,
    });
    let binding = json!({
        "apiVersion": format!("{RBAC_GROUP}/v1"),
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": name},
        "subjects": [{
            "kind": "ServiceAccount",
            "name": "klusterlet-work-sa",
            "namespace": "open-cluster-management-agent",
        }],
    });
    WorkParts {
        name: WORK_NAME.to_owned(),
        parent: None,
        manifests: vec![
            manifest("ClusterRole", "clusterroles", name, role),
            manifest("ClusterRoleBinding", "clusterrolebindings", name, binding),
        ],
    }
}

fn manifest(kind: &str, plural: &str, name: &str, value: Value) -> Manifest {
    Manifest {
        resource: ResourceIdentifier {
            group: RBAC_GROUP.to_owned(),
            resource: plural.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        },
        kind: kind.to_owned(),
        value,
        feedback: Vec::new(),
        reported: Reported::Nothing,
        origins: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_rule_a_group_and_both_are_sorted() {
        let resources = [("kuadrant.io", "b"), ("a.io", "z"), ("kuadrant.io", "a")]
            .map(|(group, resource)| (group.to_owned(), resource.to_owned()))
            .into();
        let work = work(ROLE_NAME, &resources);
        let rules = work.manifests.first().and_then(|role| role.value.get("rules"));
        assert_eq!(
            rules,
            Some(&json!([
                {"apiGroups": ["a.io"], "resources": ["z"], "verbs": VERBS},
                {"apiGroups": ["kuadrant.io"], "resources": ["a", "b"], "verbs": VERBS},
            ]))
        );
    }
}
