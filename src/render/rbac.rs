//! The work `gateway-rbac`: the work agent's right to what is shipped (docs/systems/mgc.md#rbac-work).
//!
//! The stock agent may write core kinds; custom resources need a ClusterRole. Current OCM aggregates it by
//! label, older agents need the binding: both are written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// The name of the RBAC work.
pub const WORK_NAME: &str = "gateway-rbac";

/// Kubernetes' group of Roles.
pub(super) const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
const VERBS: [&str; 7] = ["create", "delete", "get", "list", "patch", "update", "watch"];

/// Custom resources that are shipped to a cluster, as (group, plural).
pub type Shipped = BTreeSet<(String, String)>;

/// The name of the ClusterRole.
pub const ROLE_NAME: &str = "open-cluster-management:klusterlet-work:gateway";

/// The ClusterRole `name` over exactly `shipped`, one rule an API group, and its binding.
#[must_use]
pub fn manifests(name: &str, shipped: &Shipped) -> Vec<Value> {
    let mut by_group: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (group, resource) in shipped {
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
    vec![role, binding]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_rule_a_group_and_both_are_sorted() {
        let shipped = [("kuadrant.io", "b"), ("a.io", "z"), ("kuadrant.io", "a")]
            .map(|(group, resource)| (group.to_owned(), resource.to_owned()))
            .into();
        let manifests = manifests(ROLE_NAME, &shipped);
        let rules = manifests.first().and_then(|role| role.get("rules"));
        assert_eq!(
            rules,
            Some(&json!([
                {"apiGroups": ["a.io"], "resources": ["z"], "verbs": VERBS},
                {"apiGroups": ["kuadrant.io"], "resources": ["a", "b"], "verbs": VERBS},
            ]))
        );
    }
}
