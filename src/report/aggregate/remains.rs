//! What stays on a cluster though nothing ships it any more, and why it stays.
//!
//! Owns: which applied resources are in no work (docs/systems/ocm-work.md#appliedmanifestwork), and which deletions the
//! works of a cluster no longer grant (docs/systems/ocm-work.md#the-agents-rights). Flows in: exported works,
//! AppliedManifestWorks of clusters, resources of the parameters. Flows out: [`ManifestProblem`]s, words. Must not
//! know: what is planned.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::api::ocm_work::{APPLIED_MANIFEST_WORK, GROUP, MANIFEST_WORK};
use crate::diagnostic::first_names;
use crate::hub::Objects;
use crate::object::Object;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL};
use crate::report::status::ManifestProblem;

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
/// So many resources are named in one message.
const MOST_RESOURCES: usize = 5;

/// What a work agent notes of one work.
#[derive(Debug)]
pub(super) struct AppliedWork<'x> {
    /// The work's name.
    pub(super) work: &'x str,
    /// Whether MGC, or we, made the work: agents copy its labels.
    pub(super) is_managed: bool,
    resources: Vec<[&'x str; 4]>,
}

impl<'x> AppliedWork<'x> {
    /// Reads an AppliedManifestWork; `None` where it does not say of which work.
    pub(super) fn read(object: &'x Object) -> Option<Self> {
        let root = object.root();
        let resources = root.get("status").get("appliedResources");
        let resources = resources.items().map(|resource| {
            let text = |name: &'static str| resource.get(name).str().unwrap_or_default();
            [text("group"), text("resource"), text("namespace"), text("name")]
        });
        Some(Self {
            work: root.get("spec").get("manifestWorkName").str()?,
            is_managed: object.label(MANAGED_WORK_LABEL) == Some(MANAGED),
            resources: resources.collect(),
        })
    }

    /// The applied resources that are in no work of the cluster: `has` says which are.
    pub(super) fn remains(&self, has: impl Fn([&str; 4]) -> bool) -> Vec<ManifestProblem> {
        let remains = self.resources.iter().filter(|resource| !has(**resource));
        let problems = remains.map(|[group, resource, namespace, name]| ManifestProblem {
            kind: called(group, resource),
            namespace: (*namespace).to_owned(),
            name: (*name).to_owned(),
            reason: String::new(),
            message: "its agent applied it, but no work contains it any more".to_owned(),
        });
        problems.collect()
    }
}

/// A resource as `kubectl` spells it.
fn called(group: &str, resource: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    format!("{resource}{dot}{group}")
}

/// Group and plural of resources.
pub(super) type Resources<'x> = BTreeSet<(&'x str, &'x str)>;

/// API groups and plurals of a rule that grants the deletion of all objects of their kinds.
type Grant<'x> = (Vec<&'x str>, Vec<&'x str>);

/// What the ClusterRoles in the works of each cluster let an agent delete.
#[derive(Debug, Default)]
pub(super) struct Rights<'x> {
    /// By cluster.
    deletions: HashMap<&'x str, Vec<Grant<'x>>>,
}

impl<'x> Rights<'x> {
    /// Reads the ClusterRoles of all works: another work than `gateway-rbac` may grant it, too.
    pub(super) fn read(works: &'x Objects) -> Self {
        let mut rights = Self::default();
        for work in works.of_kind(GROUP, MANIFEST_WORK) {
            for role in list(&work.value, "/spec/workload/manifests") {
                let text = |pointer: &str| role.pointer(pointer).and_then(Value::as_str);
                let version = text("/apiVersion").unwrap_or_default();
                let is_rbac = version
                    .split_once('/')
                    .is_some_and(|(group, _)| group == RBAC_GROUP);
                if !is_rbac || text("/kind") != Some("ClusterRole") {
                    continue;
                }
                let granted = rights.deletions.entry(work.namespace_or_empty()).or_default();
                granted.extend(list(role, "/rules").iter().filter_map(deletion));
            }
        }
        rights
    }

    /// The wanted resources that the works of a cluster do not let its agent delete, in words; `None` where that is
    /// none, or where no work there grants anything: then nothing relies on them.
    pub(super) fn lacking(&self, cluster: &str, wanted: &Resources<'_>) -> Option<String> {
        let granted = self.deletions.get(cluster)?;
        let allows = |(group, resource): &&(&str, &str)| {
            granted.iter().any(|(groups, resources)| {
                let has = |all: &[&str], one: &str| all.iter().any(|item| *item == "*" || *item == one);
                has(groups, group) && has(resources, resource)
            })
        };
        let lacking: Vec<String> = wanted
            .iter()
            .filter(|resource| !allows(resource))
            .map(|(group, resource)| called(group, resource))
            .collect();
        let names: Vec<&str> = lacking.iter().map(String::as_str).collect();
        (!lacking.is_empty()).then(|| {
            format!(
                "{}, which the parameters list; objects of it that left their work are still there",
                first_names(names, MOST_RESOURCES)
            )
        })
    }
}

/// What a rule lets an agent delete.
fn deletion(rule: &Value) -> Option<Grant<'_>> {
    let texts = |pointer: &str| {
        let items = list(rule, pointer).iter();
        items.filter_map(Value::as_str).collect::<Vec<_>>()
    };
    let deletes = texts("/verbs").iter().any(|verb| ["*", "delete"].contains(verb));
    let of_all = list(rule, "/resourceNames").is_empty();
    (deletes && of_all).then(|| (texts("/apiGroups"), texts("/resources")))
}

fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    let items = value.pointer(pointer).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

/// The AppliedManifestWorks of each cluster: those of its folder, and those among the exported works that can only be
/// of one cluster. `left_over` are the others.
pub(super) fn applied_works<'x>(
    works: &'x Objects,
    spokes: &'x BTreeMap<String, Objects>,
    candidates: impl Fn(&str) -> Vec<&'x str>,
    left_over: &mut Vec<&'x Object>,
) -> Vec<(&'x str, AppliedWork<'x>)> {
    let mut found: Vec<(&str, AppliedWork<'_>)> = Vec::new();
    for (cluster, objects) in spokes {
        let applied = objects.of_kind(GROUP, APPLIED_MANIFEST_WORK).iter();
        found.extend(applied.filter_map(|object| Some((cluster.as_str(), AppliedWork::read(object)?))));
    }
    for object in works.of_kind(GROUP, APPLIED_MANIFEST_WORK) {
        let Some(applied) = AppliedWork::read(object) else {
            continue;
        };
        match candidates(applied.work).as_slice() {
            [cluster] => found.push((cluster, applied)),
            _ => left_over.push(object),
        }
    }
    found
}
