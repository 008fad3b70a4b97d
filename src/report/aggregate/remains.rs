//! Objects that stay on a cluster although nothing ships them any longer, and why they stay.
//!
//! Owns: which applied resources are in no work (docs/systems/ocm-work.md#appliedmanifestwork), and which deletions the
//! works of a cluster no longer grant (docs/systems/ocm-work.md#the-agents-rights). Flows in: exported works,
//! AppliedManifestWorks of clusters, resources of the parameters. Flows out: [`ManifestProblem`]s, text. Must not know:
//! what is planned.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::api::ocm_work::{APPLIED_MANIFEST_WORK, GROUP};
use crate::diagnostic::first_names;
use crate::hub::Objects;
use crate::object::Object;
use crate::outcome::ManifestProblem;
use crate::report::exported::{AppliedWork, ExportedWork, Grant, Shared};

/// So many resources are named in one message.
const MOST_RESOURCES: usize = 5;

/// The applied resources that are in no work of the cluster, according to `has`.
pub(super) fn remains(applied: &AppliedWork, has: impl Fn([&str; 4]) -> bool) -> Vec<ManifestProblem> {
    let resources = applied.resources.iter();
    let resources = resources.map(|resource| resource.each_ref().map(|part| &**part));
    let problems = resources
        .filter(|resource| !has(*resource))
        .map(|[group, resource, namespace, name]| ManifestProblem {
            kind: called(group, resource),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            reason: String::new(),
            message: "its agent applied it, but no work contains it anymore".to_owned(),
        });
    problems.collect()
}

/// A resource as `kubectl` spells it.
fn called(group: &str, resource: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    format!("{resource}{dot}{group}")
}

/// Group and plural of resources.
pub(super) type Resources<'x> = BTreeSet<(&'x str, &'x str)>;

/// The kinds that the ClusterRoles in the works of each cluster let an agent delete.
#[derive(Debug, Default)]
pub(super) struct Rights<'x> {
    /// By cluster.
    deletions: HashMap<&'x str, Vec<&'x [Grant]>>,
}

impl<'x> Rights<'x> {
    /// The ClusterRoles of all works: another work than `gateway-rbac` may grant it, too.
    pub(super) fn read(works: impl IntoIterator<Item = &'x ExportedWork>) -> Self {
        let mut rights = Self::default();
        for work in works {
            if let Some(grants) = &work.grants {
                let granted = rights
                    .deletions
                    .entry(work.object.namespace_or_empty())
                    .or_default();
                granted.push(grants);
            }
        }
        rights
    }

    /// The wanted resources that the works of a cluster do not let its agent delete, in words; `None` where that is
    /// none, or where no work there grants anything: then nothing relies on them.
    pub(super) fn lacking(&self, cluster: &str, wanted: &Resources<'_>) -> Option<String> {
        let granted = self.deletions.get(cluster)?;
        let allows = |(group, resource): &&(&str, &str)| {
            let mut granted = granted.iter().copied().flatten();
            granted.any(|grant| grant.allows(group, resource))
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

/// The AppliedManifestWorks of each cluster: those of its folder, and those among the exported works that can only be of
/// one cluster. `left_over` are the others.
pub(super) fn applied_works<'x>(
    works: &'x [AppliedWork],
    spokes: &'x [(&'x str, AppliedWork)],
    candidates: impl Fn(&str) -> Vec<&'x str>,
    left_over: &mut Vec<&'x Object>,
) -> Vec<(&'x str, &'x AppliedWork)> {
    let mut found: Vec<(&str, &AppliedWork)> = Vec::new();
    found.extend(spokes.iter().map(|(cluster, applied)| (*cluster, applied)));
    for applied in works {
        match candidates(&applied.work).as_slice() {
            [cluster] => found.push((cluster, applied)),
            _ => left_over.push(&applied.object),
        }
    }
    found
}

/// The AppliedManifestWorks of the folders of clusters.
pub(super) fn of_folders(spokes: &BTreeMap<String, Objects>) -> Vec<(&str, AppliedWork)> {
    let shared = Shared::default();
    let mut found = Vec::new();
    for (cluster, objects) in spokes {
        let applied = objects.of_kind(GROUP, APPLIED_MANIFEST_WORK).iter();
        let applied = applied.filter_map(|object| AppliedWork::read(object, |text| shared.text(text)));
        found.extend(applied.map(|applied| (cluster.as_str(), applied)));
    }
    found
}
