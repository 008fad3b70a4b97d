//! Works and sets on the hub that are ours and no longer planned.
//!
//! Owns: which works and sets may be deleted, which have to wait and for what, and their text for `kubectl delete -f
//! -`. Flows in: a [`Pruning`]: the plan, the works and sets of the hub or of a rendered tree. Flows out: a
//! [`PruneList`]. Must not know: files.
//!
//! Two things make a deletion unsafe, and both are only a matter of order. An object that moves to another work must be
//! applied there first: the agent deletes what it alone owns (docs/systems/ocm-work.md#appliedmanifestwork). And the
//! rights of an agent must outlive the objects that it has to delete. So a work that must wait is not listed now, but
//! by a later run.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kube_json::{Value, json};

use super::exported::{ExportedWork, Shared};
use super::whose::{Parents, Whose};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, REPLICA_SET_LABEL};
use crate::diagnostic::Findings;
use crate::hub::{Hub, Objects};
use crate::object::Object;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL};
use crate::render::{MANIFEST_KEY_LABEL, Plan};

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// Everything that a list is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pruning<'p> {
    /// The planned works and sets.
    pub plan: &'p Plan,
    /// The hub.
    pub hub: &'p Hub,
    /// The works and sets of the hub; `None` if they were not exported.
    pub exported: Option<&'p Objects>,
    /// The works and sets of the rendered tree that a rendering would remove: regardless of their contents, they are
    /// ours.
    pub rendered: &'p [Object],
    /// Whether no other input renders into this hub, so that all that MGC or spokewright made is ours.
    pub is_sole: bool,
    /// Whether the plan is of all clusters. A set is for all of them: of a part nothing can be reported about sets.
    pub is_whole: bool,
}

/// A work or a set of the hub.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Prunable {
    /// Whether it grants rights, which go last.
    pub is_rbac: bool,
    /// ManifestWork or ManifestWorkReplicaSet.
    pub kind: String,
    /// Its version, with the group.
    pub api_version: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

/// The works and sets that may be deleted, and those that may not.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PruneList {
    /// The objects that may be deleted now: those that grant rights last, then by kind, namespace, and name.
    pub remove: Vec<Prunable>,
    /// The objects that are not planned and have to wait, and for what.
    pub waiting: Vec<(Prunable, String)>,
    /// What MGC or spokewright made, is not planned, and may be another input's.
    pub unclaimed: Vec<Prunable>,
}

/// Group, kind, namespace and name of an object in a work.
type Manifest<'x> = [&'x str; 4];

impl Prunable {
    fn new(object: &Object) -> Self {
        Self {
            is_rbac: is_rbac(object),
            kind: object.kind.to_string(),
            api_version: object.api_version.to_string(),
            namespace: object.namespace_or_empty().to_owned(),
            name: object.name.to_string(),
        }
    }
}

impl std::fmt::Display for Prunable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

impl PruneList {
    /// The objects that may be deleted, as `kubectl delete -f -` reads them; empty if there are none.
    #[must_use]
    pub fn documents(&self) -> String {
        let documents = self.remove.iter().map(|entry| {
            kube_yaml::write_document(&json!({
                "apiVersion": entry.api_version,
                "kind": entry.kind,
                "metadata": {"name": entry.name, "namespace": entry.namespace},
            }))
        });
        documents.collect::<Vec<_>>().join("---\n")
    }
}

/// Works and sets as they are now.
struct There<'x> {
    /// Of each cluster, its works.
    works: BTreeMap<&'x str, Vec<&'x Object>>,
    /// Of each set, by the label of its works, those works.
    of_sets: BTreeMap<&'x str, Vec<&'x Object>>,
}

impl<'x> Pruning<'x> {
    /// Makes the list. `admits` selects the clusters.
    pub(crate) fn list(&self, admits: impl Fn(&str) -> bool) -> PruneList {
        let planned = self.planned();
        let rendered: BTreeSet<Prunable> = self.rendered.iter().map(Prunable::new).collect();
        let parents = Parents::new(self.hub);
        let is_asked_for = |object: &&Object| match object.kind.as_str() {
            MANIFEST_WORK => admits(object.namespace_or_empty()),
            _ => self.is_whole,
        };
        let all: Vec<&Object> = match self.exported {
            Some(exported) => [MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET]
                .into_iter()
                .flat_map(|kind| exported.of_kind(GROUP, kind))
                .collect(),
            None => self.rendered.iter().collect(),
        };
        let mut list = PruneList::default();
        let mut candidates: Vec<&Object> = Vec::new();
        for object in all.iter().copied().filter(is_asked_for) {
            let entry = Prunable::new(object);
            let is_planned = planned.contains(&(object.kind.as_str(), &entry.namespace, &entry.name));
            if is_planned || is_deleting(object) {
                continue;
            }
            let of_tree = rendered.contains(&entry);
            match parents.whose(object) {
                Whose::Ours => candidates.push(object),
                Whose::Unclaimed if of_tree || self.is_sole => candidates.push(object),
                Whose::Unclaimed => list.unclaimed.push(entry),
                Whose::OfSet | Whose::Foreign => {}
            }
        }
        let there = There::new(&all);
        let leaving: HashSet<*const Object> = candidates
            .iter()
            .map(|object| std::ptr::from_ref(*object))
            .collect();
        let is_leaving = |object: &Object| leaving.contains(&std::ptr::from_ref(object));
        for object in candidates {
            let entry = Prunable::new(object);
            match self.reason_to_wait(object, &there, &planned, &is_leaving) {
                Some(because) => list.waiting.push((entry, because)),
                None => list.remove.push(entry),
            }
        }
        list.remove.sort();
        list.waiting.sort();
        list.unclaimed.sort();
        list
    }

    /// Kind, namespace and name of everything that a rendering would write.
    fn planned(&self) -> HashSet<(&'static str, &'x str, &'x str)> {
        if let Some(sets) = &self.plan.replica_sets {
            let sets = sets.iter();
            return sets
                .map(|set| {
                    (
                        MANIFEST_WORK_REPLICA_SET,
                        set.namespace.as_str(),
                        set.name.as_str(),
                    )
                })
                .collect();
        }
        let clusters = self.plan.clusters.iter();
        clusters
            .flat_map(|(cluster, works)| {
                let works = works.iter().map(|id| self.plan.works.get(*id));
                works.map(|work| (MANIFEST_WORK, cluster.as_str(), work.name.as_str()))
            })
            .collect()
    }

    /// Why a work or a set must stay for now.
    fn reason_to_wait(
        &self,
        object: &Object,
        there: &There<'x>,
        planned: &HashSet<(&str, &str, &str)>,
        is_leaving: &impl Fn(&Object) -> bool,
    ) -> Option<String> {
        for (cluster, manifests) in self.carried(object, there) {
            let works = there.works.get(cluster).map(Vec::as_slice).unwrap_or_default();
            let goes_on = self.on_cluster(cluster);
            let others = || {
                works.iter().copied().filter(|work| {
                    !std::ptr::eq(*work, object) && !is_of_set(work, object) && !is_leaving(work)
                })
            };
            let mut moved = manifests
                .iter()
                .filter(|manifest| goes_on.contains(&comparable(**manifest)));
            let not_yet = moved.find(|manifest| {
                let mut carriers = others().flat_map(applied);
                !carriers.any(|carried| comparable(carried) == comparable(**manifest))
            });
            if let Some([_, kind, namespace, name]) = not_yet {
                let slash = if namespace.is_empty() { "" } else { "/" };
                return Some(if self.exported.is_some() {
                    format!(
                        "{kind} {namespace}{slash}{name} moved to another work, which is not applied on {cluster} yet"
                    )
                } else {
                    format!(
                        "{kind} {namespace}{slash}{name} moved to another work: apply that first, then use `--works`"
                    )
                });
            }
            // Their agent deletes with the rights of that moment.
            if is_rbac(object) {
                let needs = |work: &&&Object| {
                    let is_planned = match work.label(REPLICA_SET_LABEL).and_then(|set| set.split_once('.')) {
                        Some((namespace, set)) => {
                            planned.contains(&(MANIFEST_WORK_REPLICA_SET, namespace, set))
                        }
                        None => planned.contains(&(MANIFEST_WORK, work.namespace_or_empty(), &work.name)),
                    };
                    work.label(MANAGED_WORK_LABEL) == Some(MANAGED) && !is_rbac(work) && !is_planned
                };
                if let Some(work) = works.iter().find(needs) {
                    return Some(format!(
                        "the agent of {cluster} needs these rights to delete {}",
                        work.name
                    ));
                }
            }
        }
        None
    }

    /// The current contents of a work or a set, by cluster.
    fn carried<'o>(&self, object: &'o Object, there: &There<'o>) -> Vec<(&'o str, Vec<Manifest<'o>>)>
    where
        'x: 'o,
    {
        if object.kind == MANIFEST_WORK {
            return vec![(object.namespace_or_empty(), manifests(object, "/spec"))];
        }
        let label = format!("{}.{}", object.namespace_or_empty(), object.name);
        if let Some(works) = there.of_sets.get(label.as_str()) {
            let works = works.iter();
            return works
                .map(|work| (work.namespace_or_empty(), manifests(work, "/spec")))
                .collect();
        }
        if !there.works.is_empty() {
            return Vec::new();
        }
        // Where no work was exported, it may be on every cluster.
        let template = manifests(object, "/spec/manifestWorkTemplate");
        let clusters = self.plan.clusters.keys();
        clusters
            .map(|cluster| (cluster.as_str(), template.clone()))
            .collect()
    }

    /// The objects that the plan ships to a cluster. A Namespace is never deleted with a work
    /// (docs/systems/ocm-work.md#orphaning-rules).
    fn on_cluster(&self, cluster: &str) -> HashSet<Manifest<'x>> {
        let works = self.plan.clusters.get(cluster).into_iter().flatten();
        let manifests = works.flat_map(|id| &self.plan.works.get(*id).manifests);
        manifests
            .map(|manifest| {
                let [group, kind] = [manifest.group.as_str(), manifest.kind.as_str()];
                comparable([group, kind, &manifest.namespace, &manifest.name])
            })
            .filter(|[group, kind, ..]| !(group.is_empty() && *kind == "Namespace"))
            .collect()
    }
}

impl<'x> There<'x> {
    fn new(all: &[&'x Object]) -> Self {
        let mut there = Self {
            works: BTreeMap::new(),
            of_sets: BTreeMap::new(),
        };
        for work in all.iter().filter(|object| object.kind == MANIFEST_WORK) {
            there
                .works
                .entry(work.namespace_or_empty())
                .or_default()
                .push(work);
            if let Some(set) = work.label(REPLICA_SET_LABEL) {
                there.of_sets.entry(set).or_default().push(work);
            }
        }
        there
    }
}

/// An exported object, of whose value only that is left which a list is made from: the names of its manifests, and what
/// became of them.
pub(crate) fn prunable(object: Object) -> Object {
    let mut value = object.value;
    let mut remove = |pointer: &str, key: &str| {
        let fields = value.pointer_mut(pointer).and_then(Value::as_object_mut);
        fields.and_then(|fields| fields.remove(key));
    };
    remove("/metadata", "managedFields");
    for spec in ["/spec", "/spec/manifestWorkTemplate"] {
        remove(spec, "manifestConfigs");
    }
    for manifests in [
        "/spec/workload/manifests",
        "/spec/manifestWorkTemplate/workload/manifests",
    ] {
        let manifests = value.pointer_mut(manifests).and_then(Value::as_array_mut);
        for manifest in manifests.into_iter().flatten() {
            *manifest = json!({
                "apiVersion": manifest.get("apiVersion"),
                "kind": manifest.get("kind"),
                "metadata": {
                    "name": manifest.pointer("/metadata/name"),
                    "namespace": manifest.pointer("/metadata/namespace"),
                },
            });
        }
    }
    let statuses = value
        .pointer_mut("/status/resourceStatus/manifests")
        .and_then(Value::as_array_mut);
    for status in statuses.into_iter().flatten().filter_map(Value::as_object_mut) {
        status.remove("statusFeedback");
    }
    Object { value, ..object }
}

/// Whether the hub made a work from a set.
fn is_of_set(work: &Object, set: &Object) -> bool {
    let made = work
        .label(REPLICA_SET_LABEL)
        .and_then(|label| label.split_once('.'));
    set.kind == MANIFEST_WORK_REPLICA_SET && made == Some((set.namespace_or_empty(), &set.name))
}

/// Works of RBAC were made for no object.
fn is_rbac(object: &Object) -> bool {
    object.label(MANIFEST_KEY_LABEL).is_none()
}

fn is_deleting(object: &Object) -> bool {
    object
        .root()
        .get("metadata")
        .get("deletionTimestamp")
        .is_present()
}

/// A role counts by what it is: the rights of a cluster have other names in sets.
fn comparable([group, kind, namespace, name]: Manifest<'_>) -> Manifest<'_> {
    if group == RBAC_GROUP {
        [group, kind, "", ""]
    } else {
        [group, kind, namespace, name]
    }
}

/// The objects of a work's spec.
fn manifests<'o>(work: &'o Object, spec: &str) -> Vec<Manifest<'o>> {
    let list = work
        .value
        .pointer(spec)
        .and_then(|spec| spec.pointer("/workload/manifests"));
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let text = |manifest: &'o Value, pointer: &str| {
        let text = manifest.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default()
    };
    list.map(|manifest| {
        let version = text(manifest, "/apiVersion");
        let group = version.split_once('/').map_or("", |(group, _)| group);
        [
            group,
            text(manifest, "/kind"),
            text(manifest, "/metadata/namespace"),
            text(manifest, "/metadata/name"),
        ]
    })
    .collect()
}

/// The objects of a work's spec that its agent has applied, as the spec is now.
fn applied(work: &Object) -> Vec<Manifest<'_>> {
    // Objects that cannot be read were reported when the export was read.
    let read = ExportedWork::read_status(work, &Shared::default(), &mut Findings::new());
    if read.is_deleting || read.unobserved.is_some() {
        return Vec::new();
    }
    let mut manifests = manifests(work, "/spec");
    manifests.retain(|manifest| read.applies(*manifest));
    manifests
}
