//! [`Hub`], everything that a run knows about its input, and [`Objects`], which are found by identity, kind, and
//! namespace, always in the same order.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::kustomized::Kustomization;
use super::passed_over::PassedOver;
use crate::api::crd::Crd;
use crate::api::kinds::KindTable;
use crate::api::updates;
use crate::diagnostic::{DocumentId, Place};
use crate::object::Object;
use apimachinery::{GroupKind, Identity};
use crd_schema::Schema;

/// The directory below `spokes/` of what lives on every cluster; no cluster is called that.
const EVERY_CLUSTER: &str = "_all";

/// Everything that was read: the hub's objects, and what lives on each spoke.
#[derive(Debug, Default)]
pub struct Hub {
    /// The hub's own objects.
    pub objects: Objects,
    /// The objects that already live on a cluster, by cluster name: read, never rendered.
    pub spokes: Arc<BTreeMap<String, Objects>>,
    /// The CRDs of the input.
    pub crds: Arc<HashMap<GroupKind, Crd>>,
    /// The definitions of the built-in catalog for kinds that the input has objects of, but no CRD.
    pub(crate) catalog: Arc<HashMap<GroupKind, Crd>>,
    /// Kinds that are attached to what is ours and without a schema, sorted: their objects are taken as they are.
    pub without_schema: Vec<GroupKind>,
    /// Kinds: built in, and taught by the CRDs of the input.
    pub kinds: Arc<KindTable>,
    /// Documents that were read and are not objects: values files, workflows, files for tools.
    pub passed_over: Vec<PassedOver>,
    /// Objects of the hub that an API server would refuse, or that are there already: only findings speak of them.
    pub refused: Vec<Object>,
    /// Words of which one is in every text that may contain an object that rendering uses.
    pub(super) words_of_used: BTreeSet<String>,
    /// The kustomizations of the input.
    pub(crate) kustomizations: Vec<Kustomization>,
}

impl Hub {
    /// A hub of these objects and nothing else.
    pub fn of(objects: Objects) -> Self {
        Self {
            objects,
            ..Self::default()
        }
    }

    /// The hub's own objects, then those on each cluster.
    pub fn everywhere(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().chain(self.spokes.values().flatten())
    }

    /// Marks the objects that rendering does not use: the hub's own, then those that are refused.
    pub(super) fn mark_bystanders(&mut self, are_bystanders: impl Iterator<Item = bool>) {
        let objects = self.objects.sorted.iter_mut().chain(&mut self.refused);
        for (object, is_bystander) in objects.zip(are_bystanders) {
            object.is_bystander = is_bystander;
        }
    }

    /// The same hub without ManagedClusters. Where everything goes is decided before ClusterOverlays make other hubs of this
    /// one, and most fleets have more clusters than other objects.
    #[must_use]
    pub fn without_clusters(&self) -> Self {
        let objects = self.objects.iter();
        let objects = objects.filter(|object| !object.is(ocm_placement::GROUP, "ManagedCluster"));
        self.with_objects(Objects::new(objects.cloned().collect()))
    }

    /// The same hub with other objects in place of those of the same identities.
    #[must_use]
    pub fn with_changed<'o>(&self, changed: impl Iterator<Item = &'o Object>) -> Self {
        let mut objects = self.objects.clone();
        for object in changed {
            if let Some(position) = objects.position(object)
                && let Some(slot) = objects.sorted.get_mut(position)
            {
                slot.clone_from(object);
            }
        }
        self.with_objects(objects)
    }

    fn with_objects(&self, objects: Objects) -> Self {
        Self {
            objects,
            spokes: Arc::clone(&self.spokes),
            crds: Arc::clone(&self.crds),
            catalog: Arc::clone(&self.catalog),
            without_schema: self.without_schema.clone(),
            kinds: Arc::clone(&self.kinds),
            // Nothing asks them about a part of the clusters.
            passed_over: Vec::new(),
            refused: Vec::new(),
            words_of_used: BTreeSet::new(),
            kustomizations: Vec::new(),
        }
    }

    /// Adds what lives on every cluster (`spokes/_all/`) to each of these; where a cluster has an object of its own of
    /// that identity, its own counts.
    pub fn share_among(&mut self, clusters: Vec<String>) {
        let spokes = Arc::make_mut(&mut self.spokes);
        let Some(shared) = spokes.remove(EVERY_CLUSTER) else {
            return;
        };
        for cluster in clusters.into_iter().filter(|cluster| cluster != EVERY_CLUSTER) {
            let own = spokes.remove(&cluster).unwrap_or_default().sorted;
            // The first of one identity stays.
            let all = own.into_iter().chain(shared.iter().cloned());
            let (all, _) = Objects::with(all.map(|object| (object, ())).collect());
            spokes.insert(cluster, all);
        }
    }

    /// The schema of a version of a kind: of the input's CRD, or of the built-in catalog where there is none.
    pub fn schema(&self, kind: &GroupKind, version: &str) -> Option<&Schema> {
        let definition = self.crds.get(kind).or_else(|| self.catalog.get(kind))?;
        definition.version(version)?.schema.as_ref()
    }

    /// The schemas whose rules may refuse to update an object of a kind, by server-side apply or not, each with the version
    /// that it is for: of the input's CRD, or what is known of all versions where there is none.
    pub fn update_rules(&self, kind: &GroupKind, server_side: bool) -> Vec<(Option<&str>, &Schema)> {
        let Some(crd) = self.crds.get(kind) else {
            let rules = updates::rules(&kind.group, &kind.kind, server_side);
            return rules.map(|schema| (None, schema)).collect();
        };
        let versions = crd.versions.iter();
        let schemas = versions.filter_map(|version| Some((Some(&*version.name), version.schema.as_ref()?)));
        schemas.filter(|(_, schema)| schema.has_transitions()).collect()
    }
}

/// A set of objects, sorted by identity.
#[derive(Debug, Default, Clone)]
pub struct Objects {
    sorted: Vec<Object>,
    /// Where the objects of each kind are, in the same order.
    runs: Vec<Range<usize>>,
}

impl Objects {
    /// Sorts objects whose identities are unique.
    pub fn new(mut sorted: Vec<Object>) -> Self {
        sorted.sort_by(order);
        let mut runs = Vec::new();
        let mut start = 0_usize;
        for run in sorted.chunk_by(|a, b| kind_of(a) == kind_of(b)) {
            let end = start.saturating_add(run.len());
            runs.push(start..end);
            start = end;
        }
        // They stay until the end of the run.
        sorted.shrink_to_fit();
        Self { sorted, runs }
    }

    /// The same for objects that each come with something, which then is in the order of the objects. Of several objects of
    /// one identity, the first stays.
    pub fn with<T>(mut objects: Vec<(Object, T)>) -> (Self, Vec<T>) {
        objects.sort_by(|(a, _), (b, _)| order(a, b));
        objects.dedup_by(|(later, _), (first, _)| order(later, first).is_eq());
        let (objects, with) = objects.into_iter().unzip();
        (Self::new(objects), with)
    }

    /// All objects, by identity.
    pub fn iter(&self) -> std::slice::Iter<'_, Object> {
        self.sorted.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The object with this identity.
    pub fn get(&self, identity: &Identity) -> Option<&Object> {
        let GroupKind { group, kind } = &identity.group_kind;
        self.find(group, kind, identity.namespace.as_deref(), &identity.name)
    }

    /// The object of this group, kind, namespace (`None` for cluster-scoped kinds) and name.
    pub fn find(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<&Object> {
        self.sorted.get(self.search((group, kind), (namespace, name))?)
    }

    /// Where the object of the same identity is in the order.
    pub fn position(&self, like: &Object) -> Option<usize> {
        self.search(kind_of(like), name_of(like))
    }

    fn search(&self, (group, kind): (&str, &str), name: (Option<&str>, &str)) -> Option<usize> {
        let run = self.run(group, kind)?;
        let objects = self.sorted.get(run.clone())?;
        let position = objects.binary_search_by(|object| name_of(object).cmp(&name));
        run.start.checked_add(position.ok()?)
    }

    /// Where the objects of a kind are in the order.
    fn run(&self, group: &str, kind: &str) -> Option<Range<usize>> {
        let kind_of_run = |run: &Range<usize>| self.sorted.get(run.start).map(kind_of);
        let runs = &self.runs;
        let found = runs.binary_search_by(|run| kind_of_run(run).cmp(&Some((group, kind))));
        runs.get(found.ok()?).cloned()
    }

    /// All objects of a kind, in order of namespace and name, regardless of their version.
    pub fn of_kind(&self, group: &str, kind: &str) -> &[Object] {
        let run = self.run(group, kind);
        run.and_then(|run| self.sorted.get(run)).unwrap_or_default()
    }

    /// All kinds that occur, sorted.
    pub fn group_kinds(&self) -> Vec<GroupKind> {
        let first = self.runs.iter().filter_map(|run| self.sorted.get(run.start));
        first.map(Object::group_kind).collect()
    }
}

/// Objects by where they are, to find the one that a place is in.
#[derive(Debug)]
pub struct ObjectsByPlace<'h>(HashMap<(DocumentId, &'h str), &'h Object>);

impl<'h> ObjectsByPlace<'h> {
    /// Of two at one place, the first counts.
    pub fn new(objects: impl IntoIterator<Item = &'h Object>) -> Self {
        let mut by_place = HashMap::new();
        for object in objects {
            by_place.entry(object.origin.object()).or_insert(object);
        }
        Self(by_place)
    }

    /// The object that a place is in: the innermost, as a list may contain lists.
    pub fn at(&self, place: &Place) -> Option<&'h Object> {
        let (document, pointer) = place.field()?;
        let mut pointers = std::iter::successors(Some(pointer), |inner| inner.get(..inner.rfind('/')?));
        pointers.find_map(|pointer| self.0.get(&(document, pointer)).copied())
    }
}

/// The order of identities.
fn order(a: &Object, b: &Object) -> Ordering {
    (kind_of(a), name_of(a)).cmp(&(kind_of(b), name_of(b)))
}

/// The first half of the order of identities.
fn kind_of(object: &Object) -> (&str, &str) {
    (&object.api_version.group, &object.kind)
}

/// The second half.
fn name_of(object: &Object) -> (Option<&str>, &str) {
    (object.namespace.as_deref(), &object.name)
}

impl<'a> IntoIterator for &'a Objects {
    type Item = &'a Object;
    type IntoIter = std::slice::Iter<'a, Object>;

    fn into_iter(self) -> Self::IntoIter {
        self.sorted.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_json::json;

    #[test]
    fn each_kind_is_found_among_those_of_its_length_and_of_others_and_listed_in_order() {
        let kinds = [
            ("", "Zed"),
            ("a.io", "Alpha"),
            ("a.io", "Gamma"),
            ("b.io", "Beta"),
            ("bb.io", "A"),
        ];
        let object = |(group, kind): (&str, &str)| {
            let api_version = if group.is_empty() {
                "v1".to_owned()
            } else {
                format!("{group}/v1")
            };
            Object::alone(json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}))
        };
        let objects = Objects::new(kinds.into_iter().rev().map(object).collect());
        let listed = objects.group_kinds();
        let listed: Vec<_> = listed
            .iter()
            .map(|of| (of.group.as_str(), of.kind.as_str()))
            .collect();
        assert_eq!(listed, kinds);
        for (group, kind) in kinds {
            let [found] = objects.of_kind(group, kind) else {
                panic!("{group} {kind}")
            };
            assert_eq!(kind_of(found), (group, kind));
        }
        for (group, kind) in [
            ("", "Zee"),
            ("a.io", "Delta"),
            ("io.a", "Alpha"),
            ("b.io", "Alpha"),
            ("", ""),
        ] {
            assert!(objects.of_kind(group, kind).is_empty(), "{group} {kind}");
        }
    }

    #[test]
    fn of_two_objects_of_one_identity_the_first_stays_with_what_it_came_with() {
        let object = |kind: &str, name: &str, version: &str| {
            let api_version = format!("example.com/{version}");
            Object::alone(
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "a"}}),
            )
        };
        let all = [
            ("B", "y", "v1"),
            ("A", "z", "v1"),
            ("B", "x", "v1"),
            ("A", "z", "v2"),
            ("B", "y", "v2"),
        ];
        let all = (0..).zip(all);
        let all: Vec<(Object, usize)> = all
            .map(|(number, (kind, name, version))| (object(kind, name, version), number))
            .collect();
        let (objects, with) = Objects::with(all.clone());
        let names = objects
            .iter()
            .map(|object| format!("{} {}", object.kind, object.name));
        assert_eq!(names.collect::<Vec<_>>(), ["A z", "B x", "B y"]);
        assert_eq!(with, [1, 2, 0]);
        let positions = all.iter().map(|(object, _)| objects.position(object));
        assert_eq!(
            positions.collect::<Vec<_>>(),
            [Some(2), Some(0), Some(1), Some(0), Some(2)]
        );
        let own = objects.iter().map(|object| objects.position(object));
        assert_eq!(own.collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
        assert_eq!(objects.position(&object("C", "y", "v1")), None);
        assert_eq!(objects.position(&object("A", "y", "v1")), None);
    }
}
