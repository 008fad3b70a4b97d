//! The layout of the output tree: which file of a plan is where, which `kustomization.yaml` lists what, and Flux
//! Kustomizations, one for each directory of the tree: each applies the works of a cluster, and waits until they are
//! healthy. The expressions match `health.lua` of examples/argocd; a test compares the two on the same works.

use std::borrow::Cow;
use std::collections::BTreeSet;

use kube_yaml::scalar;

use super::plan::{Plan, REPLICA_SETS, ReplicaSet, Work, WorkId};
use super::selection::Selection;
use crate::object::well_known::HUB_DIRECTORY;
use crate::output::{FileKind, Tree, Turn};
use crate::parallel;

const KUSTOMIZATION: &str = "kustomization.yaml";

/// A plan as a tree of files, in byte order of their paths.
#[derive(Debug)]
pub struct Layout<'a> {
    plan: &'a Plan,
    clusters: Vec<(&'a str, &'a [WorkId])>,
    hub_files: Vec<(&'a str, &'a str)>,
    /// ManifestWorkReplicaSets, which are in the place of the clusters' works.
    sets: &'a [ReplicaSet],
    /// Their directories, each once.
    set_directories: Vec<&'a str>,
    /// All clusters of the fleet, also those that are filtered out: the root's kustomization lists them.
    all_clusters: Vec<String>,
    selection: Selection,
    files: Vec<File>,
}

/// One file; numbers instead of paths, because a fleet has a hundred thousand of them.
#[derive(Debug, Clone, Copy)]
enum File {
    Root,
    Cluster { cluster: u32 },
    Work { cluster: u32, work: u32 },
    HubList,
    HubObject { file: u32 },
    SetDirectories,
    SetList { directory: u32 },
    Set { set: u32 },
}

impl<'a> Layout<'a> {
    /// Lays out a plan. `all_clusters` are the sorted names of every cluster of the fleet.
    pub fn new(plan: &'a Plan, all_clusters: Vec<String>) -> Self {
        Self::of_part(plan, all_clusters, Selection::default())
    }

    /// Lays out the part of a fleet that `selection` selects, which is the part in `plan`. The directories of all other
    /// clusters belong to another run.
    pub fn of_part(plan: &'a Plan, all_clusters: Vec<String>, selection: Selection) -> Self {
        let sets = plan.replica_sets.as_deref();
        let clusters: Vec<(&str, &[WorkId])> = plan
            .clusters
            .iter()
            .filter(|_| sets.is_none())
            .map(|(name, works)| (name.as_str(), works.as_slice()))
            .collect();
        let set_directories: BTreeSet<&str> = sets
            .unwrap_or_default()
            .iter()
            .map(|set| set.directory.as_str())
            .collect();
        let hub_files: Vec<(&str, &str)> = plan
            .hub_objects
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let mut layout = Self {
            plan,
            clusters,
            hub_files,
            sets: sets.unwrap_or_default(),
            set_directories: set_directories.into_iter().collect(),
            all_clusters: if sets.is_none() { all_clusters } else { Vec::new() },
            selection,
            files: Vec::new(),
        };
        layout.files = layout.sorted_files();
        layout
    }

    fn sorted_files(&self) -> Vec<File> {
        // Each directory of the root by itself, and how the paths in it begin.
        let mut directories = vec![(KUSTOMIZATION.to_owned(), vec![File::Root])];
        for (cluster, (name, works)) in (0_u32..).zip(&self.clusters) {
            let works = (0_u32..).zip(works.iter());
            let works = works.map(|(work, _)| File::Work { cluster, work });
            let files = [File::Cluster { cluster }].into_iter().chain(works).collect();
            directories.push((format!("{name}/"), files));
        }
        if !self.hub_files.is_empty() {
            let objects = (0_u32..).zip(&self.hub_files);
            let objects = objects.map(|(file, _)| File::HubObject { file });
            let files = [File::HubList].into_iter().chain(objects).collect();
            directories.push((format!("{HUB_DIRECTORY}/"), files));
        }
        if !self.sets.is_empty() {
            let lists = (0_u32..).zip(&self.set_directories);
            let lists = lists.map(|(directory, _)| File::SetList { directory });
            let sets = (0_u32..).zip(self.sets).map(|(set, _)| File::Set { set });
            let files = [File::SetDirectories].into_iter().chain(lists).chain(sets);
            directories.push((format!("{REPLICA_SETS}/"), files.collect()));
        }
        let mut sorted: Vec<(String, Vec<File>)> = parallel::map_each(directories, |(begin, mut files)| {
            files.sort_by_cached_key(|file| self.path_of(*file).into_owned());
            (begin, files)
        });
        sorted.sort_by(|(begin, _), (other, _)| begin.cmp(other));
        sorted.into_iter().flat_map(|(_, files)| files).collect()
    }

    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The number of a work on a cluster.
    fn work_id(&self, cluster: u32, work: u32) -> Option<WorkId> {
        self.cluster(cluster).1.get(work as usize).copied()
    }

    fn cluster(&self, cluster: u32) -> (&'a str, &'a [WorkId]) {
        self.clusters.get(cluster as usize).copied().unwrap_or_default()
    }

    fn work(&self, cluster: u32, work: u32) -> Option<&'a Work> {
        self.work_id(cluster, work).map(|id| self.plan.works.get(id))
    }

    fn path_of(&self, file: File) -> Cow<'_, str> {
        match file {
            File::Root => Cow::Borrowed(KUSTOMIZATION),
            File::Cluster { cluster } => Cow::Owned([self.cluster(cluster).0, "/", KUSTOMIZATION].concat()),
            File::Work { cluster, work } => {
                let name = self.work(cluster, work).map_or("", |work| &work.name);
                Cow::Owned([self.cluster(cluster).0, "/", name, ".yaml"].concat())
            }
            File::HubList => Cow::Owned(format!("{HUB_DIRECTORY}/{KUSTOMIZATION}")),
            File::HubObject { file } => {
                let (name, _) = self.hub_files.get(file as usize).copied().unwrap_or_default();
                Cow::Owned(format!("{HUB_DIRECTORY}/{name}"))
            }
            File::SetDirectories => Cow::Owned(format!("{REPLICA_SETS}/{KUSTOMIZATION}")),
            File::SetList { directory } => {
                Cow::Owned(format!("{}/{KUSTOMIZATION}", self.set_directory(directory)))
            }
            File::Set { set } => {
                let set = self.sets.get(set as usize);
                let (directory, name) = set.map_or(("", ""), |set| (&set.directory, &set.name));
                Cow::Owned(format!("{directory}/{name}.yaml"))
            }
        }
    }

    /// Hub objects first, so that applying these in order begins with what others may refer to.
    fn root_resources(&self) -> Vec<&str> {
        let clusters = self.all_clusters.iter().map(String::as_str);
        let hub = (!self.hub_files.is_empty()).then_some(HUB_DIRECTORY);
        let sets = (!self.sets.is_empty()).then_some(REPLICA_SETS);
        hub.into_iter().chain(sets).chain(clusters).collect()
    }

    fn set_directory(&self, directory: u32) -> &'a str {
        self.set_directories
            .get(directory as usize)
            .copied()
            .unwrap_or_default()
    }
}

impl Tree for Layout<'_> {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn path(&self, index: usize) -> Cow<'_, str> {
        self.files
            .get(index)
            .map_or(Cow::Borrowed(""), |file| self.path_of(*file))
    }

    fn kind(&self, index: usize) -> FileKind {
        match self.files.get(index) {
            Some(File::Work { .. } | File::HubObject { .. } | File::Set { .. }) => FileKind::Object,
            _ => FileKind::Kustomization,
        }
    }

    fn turn(&self, index: usize) -> Turn {
        match self.files.get(index) {
            Some(File::HubObject { .. }) => Turn::First,
            Some(File::Work { cluster, work }) => {
                self.work(*cluster, *work).map_or(Turn::Rest, |work| work.turn)
            }
            Some(File::Set { set }) => self.sets.get(*set as usize).map_or(Turn::Rest, |set| set.turn),
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
        path.strip_suffix(".yaml").is_some() && start.starts_with(begins.as_bytes())
    }

    fn content(&self, index: usize, buffer: &mut Vec<u8>) {
        match self.files.get(index) {
            Some(File::Root) => buffer.extend(kustomization(&self.root_resources()).bytes()),
            Some(File::Cluster { cluster }) => {
                let works = self.cluster(*cluster).1.iter().map(|id| self.plan.works.get(*id));
                let files = works.map(|work| (work.turn, format!("{}.yaml", work.name)));
                buffer.extend(kustomization(&in_turn(files)).bytes());
            }
            Some(File::Work { cluster, work }) => {
                if let Some(found) = self.work(*cluster, *work) {
                    found.text.write(self.cluster(*cluster).0, buffer);
                }
            }
            Some(File::HubList) => {
                let names: Vec<&str> = self.hub_files.iter().map(|(name, _)| *name).collect();
                buffer.extend(kustomization(&names).bytes());
            }
            Some(File::HubObject { file }) => {
                let (_, text) = self.hub_files.get(*file as usize).copied().unwrap_or_default();
                buffer.extend_from_slice(text.as_bytes());
            }
            Some(File::SetDirectories) => {
                let names = self.set_directories.iter();
                let names: Vec<&str> = names
                    .filter_map(|path| path.rsplit_once('/'))
                    .map(|(_, name)| name)
                    .collect();
                buffer.extend(kustomization(&names).bytes());
            }
            Some(File::SetList { directory }) => {
                let directory = self.set_directory(*directory);
                // Sorted by namespace, so that those of one directory are together.
                let start = self
                    .sets
                    .partition_point(|set| set.directory.as_str() < directory);
                let files = self
                    .sets
                    .iter()
                    .skip(start)
                    .take_while(|set| set.directory == directory)
                    .map(|set| (set.turn, format!("{}.yaml", set.name)));
                buffer.extend(kustomization(&in_turn(files)).bytes());
            }
            Some(File::Set { set }) => {
                if let Some(set) = self.sets.get(*set as usize) {
                    buffer.extend_from_slice(set.text.as_bytes());
                }
            }
            None => {}
        }
    }
}

/// Names of files by their turn, and those of one turn in byte order.
fn in_turn(files: impl Iterator<Item = (Turn, String)>) -> Vec<String> {
    let mut files: Vec<(Turn, String)> = files.collect();
    files.sort_unstable();
    files.into_iter().map(|(_, name)| name).collect()
}

/// How each begins.
const LIST_BEGIN: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";

/// A kustomization that includes `resources` (files and directories beside it), in this order: kustomize sorts them by kind
/// and name unless the one that is built says otherwise, and each of ours may be (docs/systems/gitops.md#kustomize).
///
/// Canonical YAML (docs/systems/kubernetes.md#writing-safely): lists are not indented below their key, and whatever a YAML 1.1 or 1.2
/// reader could take for something other than a string, such as a cluster named `on` or `1e3`, is quoted.
pub(super) fn kustomization<S: AsRef<str>>(resources: &[S]) -> String {
    let names = resources.iter().map(AsRef::as_ref);
    let mut text = LIST_BEGIN.to_owned();
    if resources.is_empty() {
        text.push_str("resources: []\n");
        return text;
    }
    text.push_str("resources:\n");
    for name in names {
        text.push_str("- ");
        text.push_str(&scalar(name));
        text.push('\n');
    }
    text.push_str("sortOptions:\n  order: fifo\n");
    text
}

/// What Flux takes for the health of a work (docs/guides/flux.md#health). It asks in this order, and waits where none
/// holds or one fails: `has(status)` is no valid CEL, so a work that no agent has seen fails, and is waited for.
const HEALTH: &str = r"  wait: true
  healthCheckExprs:
  - apiVersion: work.open-cluster-management.io/v1
    kind: ManifestWork
    inProgress: >-
      has(status.conditions) &&
      status.conditions.exists(e, e.type in ['Applied', 'Available'] &&
        has(e.observedGeneration) && e.observedGeneration < metadata.generation)
    failed: >-
      has(status.conditions) &&
      (status.conditions.exists(e, (e.type == 'Applied' && e.status == 'False') ||
        (e.type == 'Degraded' && e.status == 'True' &&
        !(has(e.observedGeneration) && e.observedGeneration < metadata.generation))) ||
      (status.conditions.exists(e, e.type == 'Applied') &&
      has(status.resourceStatus) && has(status.resourceStatus.manifests) &&
      status.resourceStatus.manifests.exists(m, has(m.statusFeedback) && has(m.statusFeedback.values) &&
        m.statusFeedback.values.exists(v, v.name in ['accepted', 'attached', 'programmed', 'enforced'] &&
        v.fieldValue.string == 'False' &&
        !(v.name == 'programmed' && m.resourceMeta.resource == 'gateways') &&
        !m.statusFeedback.values.exists(r, r.name == v.name + 'Reason' &&
        r.fieldValue.string in ['Overridden', 'Pending', 'Unknown', 'Waiting'])))))
    current: >-
      has(status.conditions) &&
      status.conditions.exists(e, e.type == 'Applied' && e.status == 'True') &&
      status.conditions.exists(e, e.type == 'Available' && e.status == 'True') &&
      !status.conditions.exists(e, e.type == 'Progressing' && e.status == 'True' &&
        !(has(e.observedGeneration) && e.observedGeneration < metadata.generation)) &&
      (!has(spec.manifestConfigs) || spec.manifestConfigs.all(c, !has(c.feedbackRules) ||
        c.feedbackRules.all(f, !has(f.jsonPaths) || f.jsonPaths.all(p,
        !(p.name in ['accepted', 'attached', 'programmed', 'enforced']) ||
        (has(status.resourceStatus) && has(status.resourceStatus.manifests) &&
        status.resourceStatus.manifests.exists(m,
        m.resourceMeta.resource == c.resourceIdentifier.resource &&
        m.resourceMeta.group == c.resourceIdentifier.group &&
        m.resourceMeta.namespace == c.resourceIdentifier.namespace &&
        m.resourceMeta.name == c.resourceIdentifier.name &&
        has(m.statusFeedback) && has(m.statusFeedback.values) &&
        (m.statusFeedback.values.exists(v, v.name == p.name && v.fieldValue.string == 'True') ||
        m.statusFeedback.values.exists(v, v.name == p.name + 'Reason' && v.fieldValue.string == 'Overridden') ||
        (p.name == 'programmed' && m.resourceMeta.resource != 'gateways' &&
        !m.statusFeedback.values.exists(v, v.name == 'programmed') &&
        m.statusFeedback.values.exists(v, v.name == 'accepted' && v.fieldValue.string == 'True')))))))))
";

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
        Self {
            tree: tree.to_owned(),
            directories,
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
            buffer.extend(text(&self.tree, directory).bytes());
        }
    }
}

/// How each begins.
const BEGIN: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n";

/// One Kustomization. Its name is that of the cluster: Flux puts it into a label of every object, which has room for 63
/// characters. A directory of no cluster gets a name that no cluster can have.
fn text(tree: &str, directory: &str) -> String {
    let name = directory
        .strip_prefix('_')
        .map_or_else(|| directory.to_owned(), |rest| format!("rendered.{rest}"));
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
{HEALTH}",
        name = scalar(&name),
        path = scalar(&path),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        let layout = Layout::new(&plan, clusters);
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
