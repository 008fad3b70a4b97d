//! The work `gateway-rbac`: the work agent's right to what is synced (docs/systems/mgc.md#rbac-work).
//!
//! It has a ClusterRole and its binding for the resources that the works of a cluster ship, and those that parameters list.
//!
//! The stock agent has the role `admin` in every namespace and may write RBAC, but it has no right to custom resources
//! (docs/systems/ocm-work.md#the-agents-rights). Current OCM adds a labeled ClusterRole to the agent's own; older
//! agents need the binding. So both are written.
//!
//! The right to delete must outlive the object: an agent that may no longer delete an object that has left a work tries
//! forever, and the work stays Applied all the while. So the role covers all listed kinds, shipped or not, and follows
//! the parameters instead of the objects; `narrowed` in `earlier_works.rs` handles a kind that leaves the parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::ApiVersion;
use kube_json::{Value, json};

use super::manifest::Manifest;
use super::work::WorkParts;
use crate::api::params::Params;
use crate::output::Turn;

/// The name of the RBAC work.
pub(crate) const WORK_NAME: &str = "gateway-rbac";

pub(crate) const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
/// What the agent does with an object: it looks each one up by name, so that it never lists or watches a kind unless a work
/// asks for `feedbackScrapeType: Watch`, and none of ours does (docs/systems/ocm-work.md#the-agents-rights). MGC
/// granted `*`, and with it any verb that a controller may invent.
const VERBS: [&str; 5] = ["create", "delete", "get", "patch", "update"];

/// Resources that the agent may apply and delete, as (group, plural); sorted, so that equal sets are one text.
pub(crate) type Rights = BTreeSet<(String, String)>;

/// What the stock agent may write in any namespace, of the core group.
const CORE: [&str; 8] = [
    "configmaps",
    "namespaces",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "secrets",
    "serviceaccounts",
    "services",
];

/// The name of the ClusterRole.
pub(super) const ROLE_NAME: &str = "open-cluster-management:klusterlet-work:gateway";

/// Whether the stock agent may write and delete objects of a resource without a right from us.
pub(crate) fn is_agents_own(group: &str, resource: &str) -> bool {
    group == RBAC_GROUP || (group.is_empty() && CORE.contains(&resource))
}

/// The rights that the objects of a work need, and those that the parameters of its class list.
pub(super) fn rights(manifests: &[Arc<Manifest>], params: &Params) -> Rights {
    let resources = manifests.iter().map(|manifest| &manifest.summary);
    let shipped = resources.map(|resource| (resource.group.as_str(), resource.resource.as_str()));
    let all = shipped.chain(params.listed());
    // Thousands of manifests are of few kinds.
    let needed = all.filter(|(group, resource)| !is_agents_own(group, resource));
    let needed: BTreeSet<(&str, &str)> = needed.collect();
    let needed = needed.into_iter();
    needed
        .map(|(group, resource)| (group.to_owned(), resource.to_owned()))
        .collect()
}

/// The resources of which the ClusterRoles among the manifests of a work let an agent delete every object; `None` if there
/// is no ClusterRole.
pub(crate) fn deletable(manifests: &[Value]) -> Option<Rights> {
    let mut deletable: Option<Rights> = None;
    for role in manifests {
        let is_role = text(role, "/kind") == "ClusterRole";
        if is_role && ApiVersion::parse(text(role, "/apiVersion")).group == RBAC_GROUP {
            let rights = deletable.get_or_insert_default();
            for rule in list(role, "/rules") {
                let words = |field| list(rule, field).iter().filter_map(Value::as_str);
                let is_deletion = words("/verbs").any(|verb| matches!(verb, "delete" | "*"));
                // A rule with names lets the agent delete these objects alone, and not what else has left a work.
                if !is_deletion || !list(rule, "/resourceNames").is_empty() {
                    continue;
                }
                for group in words("/apiGroups") {
                    let resources = words("/resources");
                    rights.extend(resources.map(|resource| (group.to_owned(), resource.to_owned())));
                }
            }
        }
    }
    deletable
}

/// A resource as `kubectl` spells it: `httproutes.gateway.networking.k8s.io`; the plural alone for core kinds.
pub(crate) fn dotted(group: &str, resource: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    format!("{resource}{dot}{group}")
}

/// The items of a list in a value; none if there is no list.
pub(crate) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    let items = value.pointer(pointer).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

/// The text at a pointer in a value; empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Group, kind, namespace and name of a manifest, each empty where it has none.
pub(crate) fn manifest_names(manifest: &Value) -> [&str; 4] {
    let version = text(manifest, "/apiVersion");
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    let [kind, namespace, name] =
        ["/kind", "/metadata/namespace", "/metadata/name"].map(|pointer| text(manifest, pointer));
    [group, kind, namespace, name]
}

/// The work with the ClusterRole `name` over exactly these resources, one rule an API group, and its binding. A right that
/// nothing needs is one that only an intruder on the hub would use.
pub(super) fn work(name: &str, resources: &Rights) -> WorkParts {
    let mut by_group: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (group, resource) in resources {
        by_group.entry(group).or_default().push(resource);
    }
    let rule = |(group, resources)| json!({"apiGroups": [group], "resources": resources, "verbs": VERBS});
    let rules: Vec<Value> = by_group.iter().map(rule).collect();
    let role = json!({
        "apiVersion": format!("{RBAC_GROUP}/v1"),
        "kind": "ClusterRole",
        "metadata": {
            "name": name,
            // By this label current OCM adds the role to the agent's own; older agents have the binding below
            // (docs/systems/ocm-work.md#the-agents-rights).
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
        turn: Turn::Rights,
        manifests: vec![
            manifest("ClusterRole", "clusterroles", name, role),
            manifest("ClusterRoleBinding", "clusterrolebindings", name, binding),
        ],
        ..WorkParts::default()
    }
}

fn manifest(kind: &str, plural: &str, name: &str, value: Value) -> Arc<Manifest> {
    Arc::new(Manifest::new((RBAC_GROUP, plural), kind, name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rights_of_a_work_are_those_of_its_manifests_and_of_the_parameters() {
        let params = Params::default();
        let listed: Rights = params
            .listed()
            .map(|(group, resource)| (group.to_owned(), resource.to_owned()))
            .collect();
        let things = |group: &str| {
            let mut thing = (*manifest("Thing", "things", "a", Value::Null)).clone();
            thing.summary.group = group.to_owned();
            Arc::new(thing)
        };
        for groups in [
            ["b.io", "a.io"].as_slice(),
            &["a.io", "b.io", "a.io"],
            &["a.io"],
            &["c.io"],
            &["", "a.io"],
            &[],
        ] {
            let manifests: Vec<Arc<Manifest>> = groups.iter().map(|group| things(group)).collect();
            let mut expected = listed.clone();
            expected.extend(
                groups
                    .iter()
                    .map(|group| ((*group).to_owned(), "things".to_owned())),
            );
            assert_eq!(rights(&manifests, &params), expected, "{groups:?}");
        }
    }

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
