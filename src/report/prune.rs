//! Works and sets on the hub that are ours and no longer planned.
//!
//! Two things make a deletion unsafe, and both are only a matter of order. An object that moves to another work must be
//! applied there first: the agent deletes what it alone owns (docs/systems/ocm-work.md#appliedmanifestwork). And the
//! rights of an agent must outlive the objects that it has to delete. So a work that must wait is not listed now, but
//! by a later run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use apimachinery::key;
use kube_json::{Value, json};

use super::exported::{ExportedWork, Ownership, Parents, Shared};
use super::stored_work::as_rendered;
use crate::api::downstream::is_synced_policy;
use crate::api::ocm_work::{GROUP, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, REPLICA_SET_LABEL};
use crate::diagnostic::Findings;
use crate::hub::Hub;
use crate::object::Object;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL};
use crate::output::Turn;
use crate::render::{MANIFEST_KEY_LABEL, Plan, RBAC_GROUP, REPLICA_SETS, list, manifest_names};

/// Everything that a list is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pruning<'p> {
    /// The planned works and sets.
    pub plan: &'p Plan,
    /// The hub.
    pub hub: &'p Hub,
    /// The works and sets of the hub; `None` if they were not exported.
    pub exported: Option<&'p WorksAndSets>,
    /// The works and sets of the rendered tree that a rendering would remove: regardless of their contents, they are
    /// ours.
    pub rendered: &'p WorksAndSets,
    /// Whether no other input renders into this hub, so that all that MGC or spokewright made is ours.
    pub is_sole: bool,
    /// Whether the plan is of all clusters. A set is for all of them: of a part nothing can be reported about sets.
    pub is_whole: bool,
}

/// The works and sets of a hub or of a rendered tree, as far as a list is made from them.
#[derive(Debug, Default)]
pub struct WorksAndSets {
    /// Works first, by namespace and name.
    all: Vec<WorkOrSet>,
}

impl WorksAndSets {
    /// Of objects whose identities are unique; others are left out.
    pub(crate) fn new(mut all: Vec<WorkOrSet>) -> Self {
        let is_kind = |of: &WorkOrSet, kind| of.object.is(GROUP, kind);
        all.retain(|of| is_kind(of, MANIFEST_WORK) || is_kind(of, MANIFEST_WORK_REPLICA_SET));
        all.sort_by(|a, b| a.order().cmp(&b.order()));
        Self { all }
    }

    /// Each work or set whose text was kept, with its directory in a rendered tree.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&Object, &(String, Arc<str>))> {
        let all = self.all.iter();
        all.filter_map(|of| Some((&of.object, of.text.as_ref()?)))
    }
}

/// A work or a set, without what no list is made from: there may be a hundred thousand.
#[derive(Debug)]
pub(crate) struct WorkOrSet {
    /// Its value has only the parts that show who owns it.
    object: Object,
    is_deleting: bool,
    turn: Turn,
    /// Its directory and its text in a rendered tree, if they are kept. Most works of a fleet share theirs.
    text: Option<(String, Arc<str>)>,
    /// The objects of its spec, or of its template.
    manifests: Arc<Vec<ManifestName>>,
    /// Those of them that its agent has applied, as the spec is now.
    applied: Arc<Vec<ManifestName>>,
}

/// Group, kind, namespace and name of an object in a work.
type ManifestName = [Box<str>; 4];

impl AsRef<Object> for WorkOrSet {
    fn as_ref(&self) -> &Object {
        &self.object
    }
}

impl WorkOrSet {
    /// Reads any object; `shared` has what many of them have in common.
    pub(crate) fn read(object: &Object, shared: &Shared, keeps_text: bool) -> Self {
        // A status that cannot be read proves nothing: then nothing counts as applied. It is not kept, so neither is what
        // it could share with others.
        let read = ExportedWork::read_status(object, &Shared::default(), &mut Findings::new());
        let manifests = match object.kind.as_str() {
            MANIFEST_WORK_REPLICA_SET => "/spec/manifestWorkTemplate/workload/manifests",
            _ => "/spec/workload/manifests",
        };
        let values = list(&object.value, manifests);
        let manifests = values.iter().map(manifest_names);
        let manifests: Vec<ManifestName> = manifests.map(|names| names.map(Box::from)).collect();
        let in_namespace = |value: &&Value| value.pointer("/metadata/namespace").is_some();
        let mut in_namespaces = values.iter().filter(in_namespace).peekable();
        let turn = if is_rbac(object) {
            Turn::Rights
        } else if in_namespaces.peek().is_some() && in_namespaces.all(is_synced_policy) {
            Turn::Policies
        } else {
            Turn::Rest
        };
        let is_settled = !read.is_deleting && read.unobserved.is_none();
        let applied = manifests
            .iter()
            .filter(|names| is_settled && read.applies(borrowed(names)));
        let applied = shared.manifests.share(applied.cloned().collect::<Vec<_>>());
        let text = keeps_text.then(|| {
            let directory = match object.kind.as_str() {
                MANIFEST_WORK => object.namespace_or_empty().to_owned(),
                _ => format!("{REPLICA_SETS}/{}", object.namespace_or_empty()),
            };
            let text = kube_yaml::write_document(&as_rendered(&object.value));
            (directory, shared.texts.share(text))
        });
        Self {
            text,
            manifests: shared.manifests.share(manifests),
            applied,
            is_deleting: read.is_deleting,
            turn,
            object: object.with_value(shared.marks(object)),
        }
    }

    /// Kind, namespace and name.
    fn order(&self) -> (&str, &str, &str) {
        let object = &self.object;
        (&object.kind, object.namespace_or_empty(), &object.name)
    }
}

fn borrowed(names: &ManifestName) -> Manifest<'_> {
    names.each_ref().map(|part| &**part)
}

/// A work or a set of the hub.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prunable {
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
pub struct PruneList {
    /// The objects that may be deleted now, against the order in which they are applied: policies after what they
    /// protect, and rights last. Those of one turn are sorted by kind, namespace, and name.
    pub remove: Vec<Prunable>,
    /// The objects that are not planned and have to wait, and for what.
    pub waiting: Vec<(Prunable, String)>,
    /// What MGC or spokewright made, is not planned, and may be another input's.
    pub unclaimed: Vec<Prunable>,
}

/// The same, borrowed.
type Manifest<'x> = [&'x str; 4];

impl Prunable {
    fn new(object: &Object) -> Self {
        Self {
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
#[derive(Default)]
struct There<'x> {
    /// Of each cluster, its works.
    works: BTreeMap<&'x str, Vec<&'x WorkOrSet>>,
    /// Of each set, by the label of its works, those works.
    of_sets: BTreeMap<&'x str, Vec<&'x WorkOrSet>>,
}

impl<'x> Pruning<'x> {
    /// Makes the list. `admits` selects the clusters.
    pub(crate) fn list(&self, admits: impl Fn(&str) -> bool) -> PruneList {
        let planned = self.planned();
        let rendered = self.rendered.all.iter();
        let rendered: BTreeSet<Prunable> = rendered.map(|of| Prunable::new(&of.object)).collect();
        let parents = Parents::new(self.hub);
        let is_asked_for = |of: &&WorkOrSet| match of.object.kind.as_str() {
            MANIFEST_WORK => admits(of.object.namespace_or_empty()),
            _ => self.is_whole,
        };
        let all = &self.exported.unwrap_or(self.rendered).all;
        let mut list = PruneList::default();
        let mut candidates: Vec<&WorkOrSet> = Vec::new();
        for of in all.iter().filter(is_asked_for) {
            if of.is_deleting || planned.contains(&of.order()) {
                continue;
            }
            let entry = Prunable::new(&of.object);
            let of_tree = rendered.contains(&entry);
            match parents.owner(&of.object) {
                Ownership::Ours => candidates.push(of),
                Ownership::Unclaimed if of_tree || self.is_sole => candidates.push(of),
                Ownership::Unclaimed => list.unclaimed.push(entry),
                Ownership::OfSet | Ownership::Foreign => {}
            }
        }
        let there = There::new(all);
        let leaving: HashSet<*const WorkOrSet> =
            candidates.iter().map(|of| std::ptr::from_ref(*of)).collect();
        let is_leaving = |of: &WorkOrSet| leaving.contains(&std::ptr::from_ref(of));
        let mut remove = Vec::new();
        for of in candidates {
            let entry = Prunable::new(&of.object);
            match self.reason_to_wait(of, &there, &planned, &is_leaving) {
                Some(because) => list.waiting.push((entry, because)),
                None => remove.push((Reverse(of.turn), entry)),
            }
        }
        remove.sort();
        list.remove = remove.into_iter().map(|(_, entry)| entry).collect();
        list.waiting.sort();
        list.unclaimed.sort();
        list
    }

    /// Kind, namespace and name of everything that a rendering would write.
    fn planned(&self) -> HashSet<(&'static str, &'x str, &'x str)> {
        let sets = self.plan.replica_sets.iter().flatten();
        let sets = sets.map(|set| (MANIFEST_WORK_REPLICA_SET, &*set.namespace, &*set.name));
        let works = self.plan.placed().filter(|_| self.plan.replica_sets.is_none());
        let works = works.map(|(cluster, work)| (MANIFEST_WORK, cluster, work.name.as_str()));
        sets.chain(works).collect()
    }

    /// Why a work or a set must stay for now.
    fn reason_to_wait(
        &self,
        of: &WorkOrSet,
        there: &There<'x>,
        planned: &HashSet<(&str, &str, &str)>,
        is_leaving: &impl Fn(&WorkOrSet) -> bool,
    ) -> Option<String> {
        for (cluster, manifests) in self.carried(of, there) {
            let works = there.works.get(cluster).map(Vec::as_slice).unwrap_or_default();
            let goes_on = self.on_cluster(cluster);
            // It is leaving itself.
            let stays = |work: &&&WorkOrSet| !is_leaving(work) && !is_of_set(&work.object, &of.object);
            let others = || works.iter().filter(stays).copied();
            let mut moved = manifests
                .iter()
                .filter(|manifest| goes_on.contains(&comparable(**manifest)));
            let not_yet = moved.find(|manifest| {
                let mut carriers = others().flat_map(|work| work.applied.iter());
                !carriers.any(|carried| comparable(borrowed(carried)) == comparable(**manifest))
            });
            if let Some([_, kind, namespace, name]) = not_yet {
                let moved = format!("{kind} {} moved to another work", key(namespace, name));
                return Some(if self.exported.is_some() {
                    format!("{moved}, which is not applied on {cluster} yet")
                } else {
                    format!("{moved}: apply that first, then use `--works`")
                });
            }
            // Their agent deletes with the rights of that moment.
            if is_rbac(&of.object) {
                let needs = |work: &&Object| {
                    let planned_as = match set_of(work) {
                        Some((namespace, set)) => (MANIFEST_WORK_REPLICA_SET, namespace, set),
                        None => (MANIFEST_WORK, work.namespace_or_empty(), &*work.name),
                    };
                    let is_planned = planned.contains(&planned_as);
                    work.label(MANAGED_WORK_LABEL) == Some(MANAGED) && !is_rbac(work) && !is_planned
                };
                if let Some(Object { name, .. }) = works.iter().map(|work| &work.object).find(needs) {
                    let because = format!("the agent of {cluster} needs these rights to delete {name}");
                    return Some(because);
                }
            }
        }
        None
    }

    /// The current contents of a work or a set, by cluster.
    fn carried<'o>(&self, of: &'o WorkOrSet, there: &There<'o>) -> Vec<(&'o str, Vec<Manifest<'o>>)>
    where
        'x: 'o,
    {
        let names = |of: &'o WorkOrSet| of.manifests.iter().map(borrowed).collect();
        let of_work = |work: &'o WorkOrSet| (work.object.namespace_or_empty(), names(work));
        if of.object.kind == MANIFEST_WORK {
            return vec![of_work(of)];
        }
        let label = format!("{}.{}", of.object.namespace_or_empty(), of.object.name);
        if let Some(works) = there.of_sets.get(label.as_str()) {
            return works.iter().copied().map(of_work).collect();
        }
        if !there.works.is_empty() {
            return Vec::new();
        }
        // Where no work was exported, it may be on every cluster.
        let template: Vec<Manifest<'_>> = names(of);
        let clusters = self.plan.clusters.keys().map(String::as_str);
        clusters.map(|cluster| (cluster, template.clone())).collect()
    }

    /// The objects that the plan ships to a cluster. A Namespace is never deleted with a work
    /// (docs/systems/ocm-work.md#orphaning-rules).
    fn on_cluster(&self, cluster: &str) -> HashSet<Manifest<'x>> {
        let manifests = self.plan.works_of(cluster).flat_map(|work| &work.manifests);
        let manifests = manifests.map(|manifest| comparable(manifest.names()));
        manifests
            .filter(|[group, kind, ..]| [*group, *kind] != ["", "Namespace"])
            .collect()
    }
}

impl<'x> There<'x> {
    fn new(all: &'x [WorkOrSet]) -> Self {
        let mut there = Self::default();
        for work in all.iter().filter(|of| of.object.kind == MANIFEST_WORK) {
            let cluster = work.object.namespace_or_empty();
            there.works.entry(cluster).or_default().push(work);
            if let Some(set) = work.object.label(REPLICA_SET_LABEL) {
                there.of_sets.entry(set).or_default().push(work);
            }
        }
        there
    }
}

/// Namespace and name of the set that the hub made a work from.
fn set_of(work: &Object) -> Option<(&str, &str)> {
    work.label(REPLICA_SET_LABEL)?.split_once('.')
}

/// Whether the hub made a work from a set.
fn is_of_set(work: &Object, set: &Object) -> bool {
    set.kind == MANIFEST_WORK_REPLICA_SET && set_of(work) == Some((set.namespace_or_empty(), &set.name))
}

/// Works of RBAC were made for no object.
fn is_rbac(object: &Object) -> bool {
    object.label(MANIFEST_KEY_LABEL).is_none()
}

/// A role counts by what it is: the rights of a cluster have other names in sets.
fn comparable([group, kind, namespace, name]: Manifest<'_>) -> Manifest<'_> {
    if group == RBAC_GROUP {
        [group, kind, "", ""]
    } else {
        [group, kind, namespace, name]
    }
}
