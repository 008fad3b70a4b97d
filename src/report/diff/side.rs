//! One side of a comparison: a plan or the files of a rendered tree, as texts of clusters, and the objects in these texts,
//! with the [`ObjectKey`] that pairs the objects of both sides. Sets of clusters are named here, too ([`describe()`]).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apimachinery::{Identity, key};
use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnostic::{Locate, first_names};
use crate::hub::{Hub, RowId as _};
use crate::object::well_known::HUB_DIRECTORY;
use crate::output::{TreeFile, TreeFiles};
use crate::render::{ManifestSummary, Plan, REPLICA_SETS, manifest_names};
use crate::report::exported::{Ownership, Parents};
use crate::report::prune::WorksAndSets;
use crate::report::stored_work::as_rendered;

/// Whether this is a cluster, and no directory of hub objects or sets.
pub(super) fn is_cluster(name: &str) -> bool {
    !name.starts_with('_')
}

/// How many names are listed at most.
const LISTED: usize = 5;
/// How many names are listed for many.
const LISTED_OF_MANY: usize = 3;

/// `eu-1`, `3 clusters: a, b, c`, `187 clusters (eu-*)`, `all 1000 clusters`, `999 clusters, all but eu-1`, or
/// `187 clusters: eu-001, eu-002, eu-003 and 184 more`.
///
/// Both are sorted, and `names` are in `all`. A glob is used only where it names exactly these among `all`.
pub(super) fn describe(all: &[Arc<str>], names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let [first, .., last] = names.as_slice() else {
        return names.first().copied().unwrap_or("no cluster").to_owned();
    };
    let count = names.len();
    let fleet = all.iter().filter(|name| is_cluster(name)).count();
    if count == fleet && names.iter().all(|name| is_cluster(name)) {
        return format!("all {count} clusters");
    }
    if count <= LISTED {
        return format!("{count} clusters: {}", names.join(", "));
    }
    if let Some(prefix) = common_prefix(first, last) {
        // Sorted names with one prefix stand side by side.
        let start = all.partition_point(|name| &**name < prefix);
        let matching = all.iter().skip(start).take_while(|name| name.starts_with(prefix));
        if matching.count() == count {
            return format!("{count} clusters ({prefix}*)");
        }
    }
    if count < fleet && fleet.saturating_sub(count) <= LISTED_OF_MANY {
        let missing = all.iter().map(AsRef::as_ref).filter(|name| is_cluster(name));
        let missing: Vec<&str> = missing
            .filter(|name| names.binary_search(name).is_err())
            .collect();
        return format!("{count} clusters, all but {}", missing.join(", "));
    }
    format!("{count} clusters: {}", first_names(names, LISTED_OF_MANY))
}

/// The common start of two names, up to and including the last separator; the names between two sorted ones share it.
fn common_prefix<'a>(first: &'a str, last: &str) -> Option<&'a str> {
    let same = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b);
    let shared = first.get(..same.count())?;
    let end = shared.rfind(['-', '.'])?.checked_add(1)?;
    shared.get(..end)
}

/// A rendered side.
#[derive(Debug, Default)]
pub struct Side<'a> {
    pub(super) bodies: Vec<Body<'a>>,
    /// By cluster, then by work: the position in `bodies`.
    pub(super) clusters: BTreeMap<&'a str, BTreeMap<&'a str, usize>>,
    /// Whether it is what runs. A cluster of which it has nothing is then not compared.
    pub(super) is_live: bool,
    /// How many works and sets of others are on the hub; `None` if it is no hub.
    pub(super) foreign: Option<usize>,
    /// The states of objects on clusters.
    pub(super) objects: &'a [LiveObject],
}

/// A distinct text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<'a> {
    /// Up to the name of the cluster.
    pub before: &'a str,
    /// From behind the name of the cluster; `None` where the text names no cluster.
    pub after: Option<&'a str>,
    /// The facts about the objects inside, for origins.
    pub summaries: &'a [ManifestSummary],
}

impl Body<'_> {
    /// Whether two bodies are the same text on any cluster.
    pub(super) fn is_same(&self, other: &Body<'_>) -> bool {
        self.before == other.before && self.after == other.after
    }

    /// Whether the text is exactly this on a cluster.
    fn is_text(&self, cluster: &str, bytes: &[u8]) -> bool {
        let Some(rest) = bytes.strip_prefix(self.before.as_bytes()) else {
            return false;
        };
        let Some(after) = self.after else {
            return rest.is_empty();
        };
        rest.strip_prefix(kube_yaml::scalar(cluster).as_bytes()) == Some(after.as_bytes())
    }
}

impl<'a> Side<'a> {
    /// The side of a plan that was just made.
    pub fn of_plan(plan: &'a Plan) -> Self {
        let mut side = Self::default();
        for work in plan.works.rows() {
            let (before, after) = work.text.halves();
            side.add(before, Some(after), &work.manifests);
        }
        let sets = plan.replica_sets.as_ref();
        for set in sets.into_iter().flatten() {
            side.add_whole(&set.directory, &set.name, &set.text, &set.manifests);
        }
        for (cluster, works) in plan.clusters.iter().filter(|_| sets.is_none()) {
            let works = works.iter();
            let works = works.map(|id| (plan.works.get(*id).name.as_str(), id.row() as usize));
            side.clusters.insert(cluster, works.collect());
        }
        for (file, text) in &plan.hub_objects {
            side.add_whole(HUB_DIRECTORY, stem(file), text, &[]);
        }
        side
    }

    /// The side of an output tree that was read from somewhere. Lists for kustomize are not compared: they
    /// follow from the rest.
    pub fn of_files(files: &'a [TreeFile]) -> Self {
        let mut side = Self::default();
        let mut known: HashMap<(&str, &str, &str), usize> = HashMap::new();
        for file in files {
            let Some((cluster, work)) = cluster_and_work(&file.path) else {
                continue;
            };
            match cut(&file.text, cluster).filter(|_| is_cluster(cluster)) {
                Some((before, after)) => {
                    let position = known.entry((work, before, after));
                    let position = *position.or_insert_with(|| side.add(before, Some(after), &[]));
                    side.clusters.entry(cluster).or_default().insert(work, position);
                }
                None => side.add_whole(cluster, work, &file.text, &[]),
            }
        }
        side
    }

    /// The side of an output tree that was read against `expected`: texts that both sides have are one body for both.
    pub fn of_tree(tree: &'a TreeFiles, expected: &Self) -> Self {
        let mut side = Self::of_files(&tree.others);
        let offset = side.bodies.len();
        side.bodies.extend_from_slice(&expected.bodies);
        for path in &tree.as_expected {
            if let Some((cluster, work)) = cluster_and_work(path)
                && let Some(position) = expected.position(cluster, work)
            {
                let works = side.clusters.entry(cluster).or_default();
                works.insert(work, position.saturating_add(offset));
            }
        }
        side
    }

    /// The side of the works and sets on a hub, of the clusters that `admits` selects. Works of rights were made for no
    /// object, so they are ours if `planned` has them.
    pub fn of_hub(works: &'a WorksAndSets, hub: &Hub, planned: &Self, admits: impl Fn(&str) -> bool) -> Self {
        let parents = Parents::new(hub);
        let mut side = Self {
            is_live: true,
            ..Self::default()
        };
        let mut foreign = 0_usize;
        let mut known: HashMap<&str, usize> = HashMap::new();
        let works = works.texts();
        for (object, (directory, text)) in works.filter(|(_, (of, _))| !is_cluster(of) || admits(of)) {
            let is_planned = planned.position(directory, &object.name).is_some();
            match parents.owner(object) {
                Ownership::OfSet => {}
                Ownership::Unclaimed if !is_planned => foreign = foreign.saturating_add(1),
                Ownership::Foreign => foreign = foreign.saturating_add(1),
                Ownership::Ours | Ownership::Unclaimed => {
                    let position = *known.entry(text).or_insert_with(|| side.add(text, None, &[]));
                    let of_cluster = side.clusters.entry(directory).or_default();
                    of_cluster.insert(&object.name, position);
                }
            }
        }
        side.foreign = Some(foreign);
        side
    }

    /// Whether the file at a path of an output tree would have exactly these bytes, so that its text need not be kept.
    /// A list for kustomize is not compared, regardless of its contents.
    ///
    /// A reader of a tree asks this file by file: a tree of 100,000 files is gigabytes, nearly all of it as expected,
    /// and never is in memory.
    pub fn expects(&self, path: &str, bytes: &[u8]) -> bool {
        let Some((cluster, work)) = cluster_and_work(path) else {
            return true;
        };
        let position = self.position(cluster, work);
        let body = position.and_then(|position| self.bodies.get(position));
        body.is_some_and(|body| body.is_text(cluster, bytes))
    }

    fn position(&self, cluster: &str, work: &str) -> Option<usize> {
        self.clusters.get(cluster)?.get(work).copied()
    }

    /// A text that names no cluster where a work does.
    fn add_whole(
        &mut self,
        cluster: &'a str,
        work: &'a str,
        text: &'a str,
        summaries: &'a [ManifestSummary],
    ) {
        let position = self.add(text, None, summaries);
        self.clusters.entry(cluster).or_default().insert(work, position);
    }

    /// Adds a text, and returns its position.
    fn add(&mut self, before: &'a str, after: Option<&'a str>, summaries: &'a [ManifestSummary]) -> usize {
        self.bodies.push(Body {
            before,
            after,
            summaries,
        });
        self.bodies.len().saturating_sub(1)
    }

    /// Whether there is no work.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// Keeps only the clusters that `keep` selects, as `--clusters` requests; hub objects stay.
    pub fn retain_clusters(&mut self, keep: impl Fn(&str) -> bool) {
        self.clusters
            .retain(|cluster, _| !is_cluster(cluster) || keep(cluster));
    }
}

/// What a file of an output tree is: the work of a cluster; `None` for a list for kustomize.
fn cluster_and_work(path: &str) -> Option<(&str, &str)> {
    // Sets are a directory deeper than works: below that of their namespace.
    let (cluster, name) = if path.starts_with(REPLICA_SETS) {
        let parts = path.rsplit_once('/')?;
        Some(parts).filter(|(directory, _)| *directory != REPLICA_SETS)?
    } else {
        path.split_once('/')?
    };
    (!name.contains('/') && name != "kustomization.yaml").then(|| (cluster, stem(name)))
}

/// A file name without its extension.
fn stem(name: &str) -> &str {
    name.strip_suffix(".yaml").unwrap_or(name)
}

/// Cuts a work where `render` puts the name of the cluster: the value of `metadata.namespace`. `None` for a text that
/// is not laid out as we write it; it is then compared as it is.
fn cut<'a>(text: &'a str, cluster: &str) -> Option<(&'a str, &'a str)> {
    const KEY: &str = "\n  namespace: ";
    // Only above `spec`: a manifest inside may have a namespace of the cluster's name.
    let head = text.get(..text.find("\nspec:")?)?;
    let at = head.find(KEY)?.checked_add(KEY.len())?;
    let after = text.get(at..)?.strip_prefix(&*kube_yaml::scalar(cluster))?;
    after.starts_with('\n').then_some((text.get(..at)?, after))
}

/// The texts of both sides, the old one first.
pub type BothSides<'a> = [&'a dyn Locate; 2];

/// The identity that pairs the objects of both sides. The version is not part of it, so a new version of an object is a
/// change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectKey {
    /// Whether it is the work around the objects and not one of them; sorts last.
    #[serde(skip)]
    pub is_work: bool,
    /// API group, `""` for core.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace, `""` for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// 0, unless one work carries one identity several times, which none of ours does.
    #[serde(skip)]
    pub ordinal: u32,
}

impl ObjectKey {
    pub(super) fn is_namespace(&self) -> bool {
        self.group.is_empty() && self.kind == "Namespace"
    }
}

impl std::fmt::Display for ObjectKey {
    /// For people: `Gateway gateways/prod-web`.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.kind, key(&self.namespace, &self.name))
    }
}

impl From<Identity> for ObjectKey {
    fn from(identity: Identity) -> Self {
        Self {
            is_work: false,
            group: identity.group_kind.group.to_string(),
            kind: identity.group_kind.kind.to_string(),
            namespace: identity.namespace.unwrap_or_default().to_string(),
            name: identity.name.to_string(),
            ordinal: 0,
        }
    }
}

/// An object on clusters, and what no difference of fields says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LiveObject {
    /// The object.
    #[serde(flatten)]
    pub(super) object: ObjectKey,
    #[serde(flatten)]
    pub(super) state: LiveState,
    /// The clusters, sorted.
    pub(super) clusters: Vec<String>,
}

/// The state of a planned object on a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(super) struct LiveState {
    /// Whether a work owns it. If not, it would be taken over, and its values are hidden.
    #[serde(rename = "owned")]
    pub(super) is_owned: bool,
    /// The managers other than the work agent that changed fields of its work, by `metadata.managedFields`.
    pub(super) managers: Vec<String>,
    /// JSON pointers of the fields that its work does not send; listed with `-v`.
    pub(super) extra: Vec<String>,
}

impl LiveState {
    /// The state in a sentence, after the name of the object.
    pub(super) fn sentence(&self, clusters: &str) -> String {
        if !self.is_owned {
            return format!(" exists on {clusters}, and no work owns it: it would be taken over");
        }
        let parts = [("was changed by", &self.managers), ("also has", &self.extra)];
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        let parts = parts.map(|(verb, names)| format!("{verb} {}", names.join(", ")));
        format!(" {} on {clusters}", parts.collect::<Vec<_>>().join(", and "))
    }
}

/// The objects of one text, and the work around them.
pub(super) type Objects = BTreeMap<ObjectKey, Value>;

/// Stands where the cluster's name would: any scalar does, it is dropped again.
const PLACEHOLDER: &str = "x";

/// Reads a text once for all clusters that share it; as an API server would keep it if `is_stored`.
pub(super) fn objects(body: &Body<'_>, is_stored: bool) -> Result<Objects, kube_yaml::Error> {
    let limits = kube_yaml::Limits::default();
    let value = match body.after {
        Some(after) => kube_yaml::read_document(&[body.before, PLACEHOLDER, after].concat(), &limits)?,
        None => kube_yaml::read_document(body.before, &limits)?,
    };
    Ok(take_apart(if is_stored { as_rendered(&value) } else { value }))
}

/// A ManifestWork or ManifestWorkReplicaSet as its manifests and what is left of it; anything else as one object.
fn take_apart(mut value: Value) -> Objects {
    let mut objects = Objects::new();
    let spec = match value.get("kind").and_then(Value::as_str) {
        Some("ManifestWork") => Some("/spec"),
        Some("ManifestWorkReplicaSet") => Some("/spec/manifestWorkTemplate"),
        _ => None,
    };
    let is_work = spec.is_some();
    if let Some(spec) = spec {
        let spec = value.pointer_mut(spec).and_then(Value::as_object_mut);
        let workload = spec.and_then(|spec| spec.remove("workload"));
        let manifests = workload.and_then(|mut workload| workload.get_mut("manifests").map(Value::take));
        // The namespace is the cluster: it tells nothing, and differs everywhere.
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("namespace");
        }
        if let Some(Value::Array(manifests)) = manifests {
            for manifest in manifests {
                insert(&mut objects, manifest, false);
            }
        }
    }
    if !value.is_null() {
        insert(&mut objects, value, is_work);
    }
    objects
}

fn insert(objects: &mut Objects, value: Value, is_work: bool) {
    let [group, kind, namespace, name] = manifest_names(&value).map(str::to_owned);
    let mut key = ObjectKey {
        is_work,
        group,
        kind,
        namespace,
        name,
        ordinal: 0,
    };
    while objects.contains_key(&key) {
        key.ordinal = key.ordinal.saturating_add(1);
    }
    objects.insert(key, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet() -> Vec<Arc<str>> {
        let names = (1..=20).map(|n| format!("eu-{n:02}"));
        let names = names.chain((1..=10).map(|n| format!("us-{n:02}")));
        names.map(Arc::from).collect()
    }

    #[test]
    fn a_glob_stands_only_for_exactly_its_clusters() {
        let all = fleet();
        assert_eq!(describe(&all, &all[..20]), "20 clusters (eu-*)");
        assert_eq!(
            describe(&all, &all[..19]),
            "19 clusters: eu-01, eu-02, eu-03 and 16 more"
        );
        assert_eq!(
            describe(&all, &all[10..25]),
            "15 clusters: eu-11, eu-12, eu-13 and 12 more"
        );
    }

    #[test]
    fn few_are_listed_one_is_named_and_all_are_all() {
        let all = fleet();
        assert_eq!(describe(&all, &all[3..4]), "eu-04");
        let three = ["eu-01", "eu-02", "us-10"];
        assert_eq!(describe(&all, &three), "3 clusters: eu-01, eu-02, us-10");
        assert_eq!(describe(&all, &all), "all 30 clusters");
        assert_eq!(describe(&all, &all[..0]), "no cluster");
    }
}
