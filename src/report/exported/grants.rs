//! Which objects the ClusterRoles in a work let an agent delete.
//!
//! Owns: reading their rules (docs/systems/ocm-work.md#the-agents-rights). Flows in: specs of works. Flows out: [`Grant`]s.
//! Must not know: which deletions are wanted.

use kube_json::Value;

use super::spec::list;
use crate::render::RBAC_GROUP;

/// A rule that grants the deletion of all objects of its kinds.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::report) struct Grant {
    groups: Vec<String>,
    resources: Vec<String>,
}

impl Grant {
    /// The grants of a work; `None` where it has no ClusterRole.
    pub(super) fn of_spec(spec: &Value) -> Option<Vec<Self>> {
        let mut grants = None;
        for role in list(spec, "/workload/manifests") {
            let text = |pointer: &str| role.pointer(pointer).and_then(Value::as_str);
            let version = text("/apiVersion").unwrap_or_default();
            let is_rbac = version
                .split_once('/')
                .is_some_and(|(group, _)| group == RBAC_GROUP);
            if is_rbac && text("/kind") == Some("ClusterRole") {
                let granted: &mut Vec<Self> = grants.get_or_insert_default();
                granted.extend(list(role, "/rules").iter().filter_map(Self::of_rule));
            }
        }
        grants
    }

    fn of_rule(rule: &Value) -> Option<Self> {
        let texts = |pointer: &str| {
            let items = list(rule, pointer).iter();
            items
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let deletes = texts("/verbs").iter().any(|verb| verb == "*" || verb == "delete");
        let of_all = list(rule, "/resourceNames").is_empty();
        (deletes && of_all).then(|| Self {
            groups: texts("/apiGroups"),
            resources: texts("/resources"),
        })
    }

    /// Whether it covers all objects of a group and a plural.
    pub(in crate::report) fn allows(&self, group: &str, resource: &str) -> bool {
        let has = |all: &[String], one: &str| all.iter().any(|item| item == "*" || item == one);
        has(&self.groups, group) && has(&self.resources, resource)
    }
}
