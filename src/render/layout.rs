//! The layout of the output tree: which file of a plan is where, which `kustomization.yaml` lists what, and Flux
//! Kustomizations, one for each directory of the tree: each applies the works of a cluster once those of the wave before are
//! healthy, and waits until its own are. The expressions match `health.lua` of examples/argocd; a test compares the two on
//! the same works.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kube_yaml::scalar;
use rayon::slice::ParallelSliceMut as _;

use super::plan::{Plan, REPLICA_SETS, ReplicaSet, Work};
use super::selection::Selection;
use crate::object::well_known::HUB_DIRECTORY;
use crate::output::{FileKind, Tree, Turn};

const KUSTOMIZATION: &str = "kustomization.yaml";

/// A plan as a tree of files, in byte order of their paths.
#[derive(Debug)]
pub struct Layout<'a> {
    plan: &'a Plan,
    /// All clusters of the fleet, also those that are filtered out: the root's kustomization lists them. None if there are
    /// sets instead.
    all_clusters: Vec<String>,
    selection: Selection,
    files: Vec<File<'a>>,
}

/// One file.
#[derive(Debug, Clone, Copy)]
enum File<'a> {
    /// The list at the root.
    Root,
    /// The list of the works of a cluster.
    Works(&'a str),
    /// A work of a cluster.
    Work(&'a str, &'a Work),
    /// The list of the annotated hub objects.
    HubObjects,
    /// A hub object: the name of its file, and its text.
    HubObject(&'a str, &'a str),
    /// The list of the directories of sets.
    SetDirectories,
    /// The list of the sets in a directory.
    Sets(&'a str),
    /// A ManifestWorkReplicaSet, which is in the place of the clusters' works.
    Set(&'a ReplicaSet),
}

impl<'a> Layout<'a> {
    /// Lays out the part of a fleet that `selection` selects, which is the part in `plan`. The directories of all other
    /// clusters belong to another run. `all_clusters` are the sorted names of every cluster of the fleet.
    pub fn new(plan: &'a Plan, all_clusters: Vec<String>, selection: Selection) -> Self {
        let has_sets = plan.replica_sets.is_some();
        let mut files = vec![File::Root];
        for cluster in plan.clusters.keys().filter(|_| !has_sets) {
            files.push(File::Works(cluster));
            files.extend(plan.works_of(cluster).map(|work| File::Work(cluster, work)));
        }
        if !plan.hub_objects.is_empty() {
            files.push(File::HubObjects);
            let objects = plan.hub_objects.iter();
            files.extend(objects.map(|(name, text)| File::HubObject(name, text)));
        }
        if !plan.sets().is_empty() {
            files.push(File::SetDirectories);
            files.extend(set_directories(plan).into_iter().map(File::Sets));
            files.extend(plan.sets().iter().map(File::Set));
        }
        // By their bytes, as the engine compares them: `a-b/` is before `a/`, which no order of the clusters gives.
        files.par_sort_by_cached_key(|file| file.path());
        Self {
            plan,
            all_clusters: if has_sets { Vec::new() } else { all_clusters },
            selection,
            files,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// Hub objects first, so that applying these in order begins with what others may refer to.
    fn root_resources(&self) -> Vec<&str> {
        let clusters = self.all_clusters.iter().map(String::as_str);
        let hub = (!self.plan.hub_objects.is_empty()).then_some(HUB_DIRECTORY);
        let sets = (!self.plan.sets().is_empty()).then_some(REPLICA_SETS);
        hub.into_iter().chain(sets).chain(clusters).collect()
    }
}

/// The directories of ManifestWorkReplicaSets.
fn set_directories(plan: &Plan) -> BTreeSet<&str> {
    plan.sets().iter().map(|set| set.directory.as_str()).collect()
}

impl File<'_> {
    fn path(&self) -> String {
        match self {
            Self::Root => KUSTOMIZATION.to_owned(),
            Self::Works(directory) | Self::Sets(directory) => format!("{directory}/{KUSTOMIZATION}"),
            Self::Work(cluster, work) => [cluster, "/", &work.name, ".yaml"].concat(),
            Self::HubObjects => format!("{HUB_DIRECTORY}/{KUSTOMIZATION}"),
            Self::HubObject(name, _) => format!("{HUB_DIRECTORY}/{name}"),
            Self::SetDirectories => format!("{REPLICA_SETS}/{KUSTOMIZATION}"),
            Self::Set(set) => format!("{}/{}.yaml", set.directory, set.name),
        }
    }
}

impl Tree for Layout<'_> {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn path(&self, index: usize) -> Cow<'_, str> {
        self.files.get(index).map(File::path).unwrap_or_default().into()
    }

    fn kind(&self, index: usize) -> FileKind {
        match self.files.get(index) {
            Some(File::Work(..) | File::HubObject(..) | File::Set(_)) => FileKind::Object,
            _ => FileKind::Kustomization,
        }
    }

    fn turn(&self, index: usize) -> Turn {
        match self.files.get(index) {
            Some(File::HubObject(..)) => Turn::First,
            Some(File::Work(_, work)) => work.turn,
            Some(File::Set(set)) => set.turn,
            _ => Turn::Rest,
        }
    }

    /// Files that no cluster owns (the root's list, `_hub/`, `_replica-sets/`) are the same in every part, and belong
    /// to every part.
    fn owns(&self, path: &str) -> bool {
        match path.split_once('/') {
            Some((directory, _)) if !directory.starts_with('_') => self.selection.admits(directory),
            _ => true,
        }
    }

    fn has_shape(&self, path: &str, start: &[u8]) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        let begins: &str = match parts.as_slice() {
            [KUSTOMIZATION] | [_, KUSTOMIZATION] | [REPLICA_SETS, _, KUSTOMIZATION] => LIST_BEGIN,
            [HUB_DIRECTORY, _] => "apiVersion: ",
            [REPLICA_SETS, _, _] => {
                "apiVersion: work.open-cluster-management.io/v1alpha1\nkind: ManifestWorkReplicaSet\n"
            }
            [_, _] => "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\n",
            _ => return false,
        };
        // The beginning is enough: that the rest has not changed, the hash in the record says.
        path.strip_suffix(".yaml").is_some() && start.starts_with(begins.as_bytes())
    }

    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        let list = match self.files.get(index) {
            None => return,
            Some(File::Work(cluster, work)) => return work.text.write(cluster, buffer),
            Some(File::HubObject(_, text)) => return buffer.extend_from_slice(text.as_bytes()),
            Some(File::Set(set)) => return buffer.extend_from_slice(set.text.as_bytes()),
            Some(File::Root) => kustomization(&self.root_resources()),
            Some(File::Works(cluster)) => {
                let works = self.plan.works_of(cluster);
                in_turn(works.map(|work| (work.turn, work.name.as_str())))
            }
            Some(File::HubObjects) => {
                let names = self.plan.hub_objects.keys();
                kustomization(&names.collect::<Vec<&String>>())
            }
            Some(File::SetDirectories) => {
                let directories = set_directories(self.plan).into_iter();
                let names = directories.filter_map(|path| path.rsplit_once('/'));
                kustomization(&names.map(|(_, name)| name).collect::<Vec<&str>>())
            }
            Some(File::Sets(directory)) => {
                let sets = self.plan.sets().iter().filter(|set| set.directory == *directory);
                in_turn(sets.map(|set| (set.turn, set.name.as_str())))
            }
        };
        buffer.extend_from_slice(list.as_bytes());
    }
}

/// The list of objects by their turn, and those of one turn in byte order of their files.
fn in_turn<'n>(objects: impl Iterator<Item = (Turn, &'n str)>) -> String {
    let files = objects.map(|(turn, name)| (turn, format!("{name}.yaml")));
    let files: BTreeSet<(Turn, String)> = files.collect();
    let names: Vec<&String> = files.iter().map(|(_, name)| name).collect();
    kustomization(&names)
}

/// How each begins.
const LIST_BEGIN: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";

/// A kustomization that includes `resources` (files and directories beside it), in this order: kustomize sorts them by kind
/// and name unless the one that is built says otherwise, and each of ours may be (docs/systems/gitops.md#kustomize).
///
/// Canonical YAML (docs/systems/kubernetes.md#writing-safely): lists are not indented below their key, and whatever a YAML 1.1 or 1.2
/// reader could take for something other than a string, such as a cluster named `on` or `1e3`, is quoted.
fn kustomization<S: AsRef<str>>(resources: &[S]) -> String {
    if resources.is_empty() {
        return format!("{LIST_BEGIN}resources: []\n");
    }
    let names = resources
        .iter()
        .map(|name| format!("- {}\n", scalar(name.as_ref())));
    let names: String = names.collect();
    format!("{LIST_BEGIN}resources:\n{names}sortOptions:\n  order: fifo\n")
}

/// What Flux takes for the health of a work (docs/guides/flux.md#health). It asks in this order, and waits where none
/// holds or one fails: `has(status)` is no valid CEL, so a work that no agent has seen fails, and is waited for.
const HEALTH: &str = include_str!("flux_health.yaml");

/// A Kustomization for each directory of a tree, and a `kustomization.yaml` that lists them.
///
/// They carry what a bootstrapped Flux has: the namespace and the GitRepository `flux-system`. A kustomization that
/// includes the directory changes what is otherwise elsewhere, and puts clusters into an order (examples/flux).
#[derive(Debug)]
pub struct FluxKustomizations {
    /// The directory of the tree, from the root of its repository.
    tree: String,
    /// The directories below it, by the name of their file.
    directories: Vec<(String, String)>,
    /// What the Kustomization of a cluster waits for: those of the wave before its own.
    dependencies: HashMap<String, Arc<str>>,
}

impl FluxKustomizations {
    /// For every directory that the root of `layout` lists. `tree` is the path of the tree from the root of its
    /// repository, with `/` between components.
    pub fn new(layout: &Layout<'_>, tree: &str) -> Self {
        let directories = layout.root_resources();
        let mut directories: Vec<(String, String)> = directories
            .into_iter()
            // A cluster may be called `kustomization`.
            .map(|directory| (format!("works-{directory}.yaml"), directory.to_owned()))
            .collect();
        directories.sort_unstable();
        let mut dependencies = HashMap::new();
        let waves = layout.plan.waves.iter().filter(|wave| !wave.clusters.is_empty());
        // The wave before is enough, because its Kustomizations wait for the one before them.
        for (before, wave) in waves.clone().zip(waves.skip(1)) {
            let names = before.clusters.iter();
            let names = names.map(|cluster| format!("  - name: {}\n", scalar(cluster)));
            let depends_on: Arc<str> = format!("  dependsOn:\n{}", names.collect::<String>()).into();
            let clusters = wave.clusters.iter().cloned();
            dependencies.extend(clusters.map(|cluster| (cluster, Arc::clone(&depends_on))));
        }
        Self {
            tree: tree.to_owned(),
            directories,
            dependencies,
        }
    }
}

impl Tree for FluxKustomizations {
    fn len(&self) -> usize {
        self.directories.len().saturating_add(1)
    }

    fn path(&self, index: usize) -> Cow<'_, str> {
        // `kustomization.yaml` comes before `works-`.
        let at = index.checked_sub(1).and_then(|index| self.directories.get(index));
        Cow::Borrowed(at.map_or(KUSTOMIZATION, |(file, _)| file))
    }

    fn kind(&self, index: usize) -> FileKind {
        if index == 0 {
            FileKind::Kustomization
        } else {
            FileKind::Object
        }
    }

    fn has_shape(&self, path: &str, start: &[u8]) -> bool {
        let begins: &str = if path == KUSTOMIZATION { LIST_BEGIN } else { BEGIN };
        !path.contains('/') && path.strip_suffix(".yaml").is_some() && start.starts_with(begins.as_bytes())
    }

    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        let Some(index) = index.checked_sub(1) else {
            let files: Vec<&str> = self.directories.iter().map(|(file, _)| file.as_str()).collect();
            buffer.extend(kustomization(&files).bytes());
            return;
        };
        if let Some((_, directory)) = self.directories.get(index) {
            let depends_on = self.dependencies.get(directory).map_or("", AsRef::as_ref);
            buffer.extend(text(&self.tree, directory, depends_on).bytes());
        }
    }
}

/// How each begins.
const BEGIN: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n";

/// One Kustomization. Its name is that of the cluster: Flux puts it into a label of every object, which has room for 63
/// characters. A directory of no cluster gets a name that no cluster can have.
fn text(tree: &str, directory: &str, depends_on: &str) -> String {
    let name = directory
        .strip_prefix('_')
        .map_or_else(|| directory.to_owned(), |rest| format!("rendered.{rest}"));
    // `tree` is empty if it is the root of its repository.
    let path = format!("./{tree}/{directory}").replace("//", "/");
    format!(
        "{BEGIN}metadata:
  name: {name}
  namespace: flux-system
spec:
  interval: 10m
  retryInterval: 1m
  timeout: 5m
  path: {path}
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
{depends_on}{HEALTH}",
        name = scalar(&name),
        path = scalar(&path),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::plan::WorkId;
    use super::super::rbac::Rights;
    use super::super::work::{WorkParts, work_text};
    use super::*;

    fn work(name: &str, parent: &str) -> Work {
        let parts = WorkParts {
            name: name.to_owned(),
            parent: Some(parent.to_owned()),
            ..WorkParts::default()
        };
        Work {
            name: name.to_owned(),
            text: work_text(&parts, None),
            manifests: Vec::new(),
            rights: Rights::new(),
            turn: Turn::Rest,
        }
    }

    #[test]
    fn files_are_in_the_order_of_their_paths_whatever_the_names() {
        let mut plan = Plan::default();
        let names = ["a", "a-b", "a.b", "kustomization-1", "z"];
        let works = names.iter().map(|name| plan.works.push(work(name, "")));
        let works: Vec<WorkId> = works.collect();
        for cluster in ["a", "a-b", "a.b", "kustomization.yaml-1", "zz"] {
            plan.clusters.insert(cluster.to_owned(), works.clone());
        }
        for name in ["b", "b-c"] {
            plan.hub_objects.insert(format!("{name}.yaml"), String::new());
        }
        let clusters = plan.clusters.keys().cloned().collect();
        let layout = Layout::new(&plan, clusters, Selection::default());
        let paths: Vec<Cow<'_, str>> = (0..layout.len()).map(|index| layout.path(index)).collect();
        assert_eq!(paths.len(), 1 + 5 * (1 + names.len()) + 3);
        assert!(paths.is_sorted_by(|path, next| path < next), "{paths:#?}");
    }

    #[test]
    fn a_kustomization_lists_resources_in_the_order_that_is_asked_for() {
        assert_eq!(
            kustomization(&["_hub", "10", "eu-1"]),
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- _hub\n- \"10\"\n- eu-1\nsortOptions:\n  order: fifo\n"
        );
        assert!(kustomization::<&str>(&[]).ends_with("\nresources: []\n"));
    }

    #[test]
    fn what_a_yaml_reader_could_take_for_something_else_is_quoted_and_nothing_more() {
        for name in [
            "on",
            "off",
            "yes",
            "no",
            "y",
            "n",
            "true",
            "false",
            "null",
            "NO",
            "Yes",
            "1e3",
            "0x1f",
            "0o17",
            "0b1",
            "017",
            "1",
            "1.5",
            "1-2",
            "2001-01-01",
            "1_000",
            ".5",
            ".inf",
            "~",
            "-a",
            "...",
            "a: b",
            "a #b",
            "",
            "\"",
            "a\tb",
            "*a",
            "&a",
            "1e-3",
            "0",
        ] {
            let text = kustomization(&[name]);
            assert!(text.lines().nth(3).unwrap().starts_with("- \""), "{text}");
        }
        for name in [
            "eu-1",
            "once",
            "1a",
            "10.0.0.1",
            "_hub",
            "gateway-a.yaml",
            "0x1g",
            "nope",
            "100m",
            "1-cluster",
        ] {
            assert_eq!(
                kustomization(&[name]).lines().nth(3),
                Some(format!("- {name}").as_str())
            );
        }
    }

    proptest! {
        #[test]
        fn a_kustomization_is_read_back_as_exactly_the_names(
            names in proptest::collection::btree_set("[ -~]{0,8}|[0-9a-fxo._eE-]{1,6}|[^\\x00]{0,4}", 0..6),
        ) {
            let names = names.into_iter().collect::<Vec<_>>();
            let read = kube_yaml::read_all(&kustomization(&names), &kube_yaml::Limits::default()).unwrap();
            prop_assert_eq!(&read[0]["resources"], &kube_json::json!(names));
        }
    }
}
