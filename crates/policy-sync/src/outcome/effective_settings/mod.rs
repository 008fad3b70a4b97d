//! The settings that apply on every path of one side, in full detail.
//!
//! Which paths a report lists depends on the policies of the input, so two sides cannot be compared by them. These are all
//! paths that distinguish traffic ([`Refinement`]), with what would apply to anything that is added. Names of nodes are made
//! once ([`Names`]): ten thousand paths lead through one Gateway, which a thousand classes of clusters may have.
//! Of clusters that are alike on both sides ([`Alike`]), one is compared for all.

mod changes;
mod collapse;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use apimachinery::Work;
use kube_json::{Text, Value};
use serde::Serialize;

use super::{PolicyView, Seen, share};
pub use changes::{EffectiveChange, Presence, SettingChange, conceal};

use crate::diagnostic::Finding;
use crate::policy::{
    Attachments, Effective, Leaf, MergeUnit, PathEffective, Profile, Refinement, SameTarget, too_many_paths,
    unflatten,
};
use crate::topology::{Level, Node, Path, Start, Topology};

/// One of the two sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// The base.
    #[default]
    Old,
    /// What is compared with it.
    New,
}

impl Which {
    /// The other side.
    const fn other(self) -> Self {
        match self {
            Self::Old => Self::New,
            Self::New => Self::Old,
        }
    }

    /// The one of both that is of this side.
    pub fn of<T>(self, [old, new]: &[T; 2]) -> &T {
        match self {
            Self::Old => old,
            Self::New => new,
        }
    }
}

/// The position of a class of clusters that one side evaluated together.
type Class = usize;

/// The clusters of both sides in groups that are alike.
struct Alike<'s> {
    groups: Vec<Group<'s>>,
    /// By side and class: the positions of the groups that are in it.
    of_class: [Vec<Vec<usize>>; 2],
    /// The names of those that were asked for together.
    joined: HashMap<Vec<usize>, Arc<Vec<String>>>,
}

/// Clusters that are in the same classes on both sides: these, ascending, and their names, sorted.
type Group<'s> = ([Vec<Class>; 2], Vec<&'s str>);

impl<'s> Alike<'s> {
    fn new(sides: [&'s [Vec<String>]; 2]) -> Self {
        let mut of_cluster: BTreeMap<&str, [Vec<Class>; 2]> = BTreeMap::new();
        for (side, classes) in sides.into_iter().enumerate() {
            for (class, clusters) in classes.iter().enumerate() {
                for cluster in clusters {
                    if let Some(of_side) = of_cluster.entry(cluster).or_default().get_mut(side) {
                        of_side.push(class);
                    }
                }
            }
        }
        let mut groups: BTreeMap<[Vec<Class>; 2], Vec<&str>> = BTreeMap::new();
        for (cluster, classes) in of_cluster {
            groups.entry(classes).or_default().push(cluster);
        }
        let mut of_class = sides.map(|classes| vec![Vec::new(); classes.len()]);
        for (position, (classes, _)) in groups.iter().enumerate() {
            for (of_side, classes) in of_class.iter_mut().zip(classes) {
                for class in classes {
                    if let Some(there) = of_side.get_mut(*class) {
                        there.push(position);
                    }
                }
            }
        }
        Self {
            groups: groups.into_iter().collect(),
            of_class,
            joined: HashMap::new(),
        }
    }

    /// The positions of the groups that are in some classes of a side.
    fn groups(&self, side: Which, classes: &[Class]) -> BTreeSet<usize> {
        let of_class = side.of(&self.of_class);
        let groups = classes.iter().filter_map(|class| of_class.get(*class));
        groups.flatten().copied().collect()
    }

    /// The classes of a side that a group is in.
    fn classes(&self, side: Which, group: usize) -> &[Class] {
        let group = self.groups.get(group);
        let classes = group.map(|(classes, _)| side.of(classes));
        classes.map(Vec::as_slice).unwrap_or_default()
    }

    /// The names of the clusters of some groups, sorted, without the one that stands for the hub.
    fn names(&mut self, groups: &[usize]) -> Arc<Vec<String>> {
        if let Some(known) = self.joined.get(groups) {
            return Arc::clone(known);
        }
        let there = groups.iter().filter_map(|group| self.groups.get(*group));
        let clusters = there
            .flat_map(|(_, clusters)| clusters)
            .filter(|name| **name != HUB);
        let mut names: Vec<String> = clusters.map(|name| (*name).to_owned()).collect();
        names.sort_unstable();
        let names = Arc::new(names);
        self.joined.insert(groups.to_vec(), Arc::clone(&names));
        names
    }
}

/// Kind and group of policies.
type KindName = (String, String);

/// The names of the nodes of a path, from its Gateway or Service on.
type PathNames = Box<[NodeName]>;

/// What holds on every path, and where: as many entries for a path as classes of clusters have other settings there.
/// Hashed, because ten thousand paths begin alike, and each is looked up for each class.
type ByPath = HashMap<PathNames, Vec<Held>>;

/// The settings that apply on every path of one side.
#[derive(Debug, Default)]
pub struct EffectiveSettings {
    by_kind: BTreeMap<KindName, OfKind>,
    /// The classes of clusters that are alike, each sorted.
    classes: Vec<Vec<String>>,
    /// By class, every path, policies or none, and what is above it. Those of most classes are the same.
    all: Vec<Arc<HashSet<PathNames>>>,
    /// The locator of the GatewayClass of each Gateway.
    class_of: HashMap<NodeName, String>,
    /// Each result once.
    results: HashSet<Arc<Settings>>,
}

/// The settings of one kind.
#[derive(Debug)]
struct OfKind {
    profile: Arc<Profile>,
    paths: ByPath,
    /// What would apply to anything that might come below a node.
    for_any: ByPath,
}

/// The settings that apply on one path.
#[derive(Debug)]
struct Held {
    /// Shared by all paths with one result.
    settings: Arc<Settings>,
    /// Where it applies, ascending: a thousand clusters on each of ten thousand paths would be ten million names.
    classes: Vec<Class>,
}

/// A result.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Settings {
    /// By rule id or JSON pointer.
    values: BTreeMap<Arc<str>, Setting>,
    /// The same by the locators of the policies, where each applies as a whole, and wherever it may be compared with that:
    /// of a kind of which nobody knows what two on one target come to, one more or less changes the form.
    by_policy: BTreeMap<Arc<str>, Setting>,
    /// Whether each applies as a whole.
    is_by_policy: bool,
    /// The whole: the rules, or a spec.
    whole: Value,
    /// Locators of the policies that it comes from, sorted.
    policies: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Setting {
    value: Arc<Value>,
    /// Locator of the policy.
    from: Arc<str>,
}

/// The cluster that stands for the hub, where a Gateway goes to no cluster, and where only a mesh leads.
const HUB: &str = "";

impl EffectiveSettings {
    /// The settings of one side, on the clusters that are asked for, and of what only a mesh leads to, which is not
    /// shipped.
    ///
    /// # Errors
    ///
    /// That they are too many to be compared.
    pub fn new(view: &PolicyView<'_>, admits: impl Fn(&str) -> bool) -> Result<Self, Box<Finding>> {
        match view.too_much_to_list() {
            Some(too_much) => Err(Box::new(too_much)),
            None => Self::on(view, admits, |start| matches!(start, Start::Service(_))),
        }
    }

    /// The settings of one side on all clusters, and of Gateways that go to none.
    ///
    /// # Errors
    ///
    /// That they are too many to be compared.
    pub fn with_hub(view: &PolicyView<'_>) -> Result<Self, Box<Finding>> {
        Self::on(view, |_| true, |_| true)
    }

    fn on(
        view: &PolicyView<'_>,
        admits: impl Fn(&str) -> bool,
        on_hub: impl Fn(Start) -> bool,
    ) -> Result<Self, Box<Finding>> {
        let work = Work::default();
        let mut settings = Self::default();
        for seen in view.seen() {
            let is_hub = seen.clusters.is_empty();
            let clusters: Vec<String> = if is_hub {
                vec![HUB.to_owned()]
            } else {
                let clusters = seen.clusters.iter().filter(|cluster| admits(cluster));
                clusters.cloned().collect()
            };
            if !clusters.is_empty() {
                let wanted = |start| seen.effective.has(start) && (!is_hub || on_hub(start));
                let refinement = Refinement::new(seen.attachments, &work, wanted);
                settings.add(seen, clusters, &refinement);
            }
        }
        too_many_paths(&work).map_or(Ok(settings), |too_many| Err(Box::new(too_many)))
    }

    /// Adds one place where policies were evaluated. Settings that are the same there as elsewhere are kept once.
    fn add(&mut self, seen: Seen<'_>, clusters: Vec<String>, refinement: &Refinement) {
        let class = self.classes.len();
        self.classes.push(clusters);
        let attachments = seen.attachments;
        let topology = &attachments.topology;
        let mut names = Names {
            topology,
            known: HashMap::new(),
        };
        let mut all: HashSet<PathNames> = HashSet::new();
        for path in &refinement.all {
            let path = names.path(path);
            // What is above a path is there, too.
            for path in prefixes(&path).rev() {
                if !all.insert(path.into()) {
                    break;
                }
            }
        }
        let known = self.all.iter().find(|known| ***known == all);
        self.all.push(known.map_or_else(|| Arc::new(all), Arc::clone));
        for start in topology.starts() {
            if let Start::Gateway(gateway) = start {
                let name = names.node(Path::from(start).end(), start.node());
                self.class_of.insert(name, topology.class_locator(gateway));
            }
        }
        let results = &mut self.results;
        let mut known: HashMap<*const Effective, Arc<Settings>> = HashMap::new();
        for (kind, [paths, for_any]) in &refinement.by_kind {
            let profile = &attachments.kinds.get(*kind).profile;
            let of_kind = self
                .by_kind
                .entry((profile.kind.clone(), profile.group.clone()))
                .or_insert_with(|| OfKind {
                    profile: Arc::clone(profile),
                    paths: ByPath::new(),
                    for_any: ByPath::new(),
                });
            let mut add = |by_path: &mut ByPath, found: &[PathEffective]| {
                by_path.reserve(found.len());
                for path in found {
                    let settings = known.entry(Arc::as_ptr(&path.effective)).or_insert_with(|| {
                        share(results, Settings::new(attachments, profile, &path.effective))
                    });
                    let all = by_path.entry(names.path(&path.path)).or_default();
                    match all.iter_mut().find(|held| Arc::ptr_eq(&held.settings, settings)) {
                        Some(held) if held.classes.last() == Some(&class) => {}
                        Some(held) => held.classes.push(class),
                        None => all.push(Held {
                            settings: Arc::clone(settings),
                            classes: vec![class],
                        }),
                    }
                }
            };
            add(&mut of_kind.paths, paths);
            add(&mut of_kind.for_any, for_any);
        }
    }
}

/// A path and what is above it, the shortest first.
fn prefixes<T>(path: &[T]) -> impl DoubleEndedIterator<Item = &[T]> {
    (1..=path.len()).filter_map(|length| path.get(..length))
}

impl Settings {
    fn new(attachments: &Attachments<'_>, profile: &Profile, effective: &Effective) -> Self {
        let author = |key: &str, leaf: &Leaf| attachments.authored(attachments.author_of(key, leaf));
        let values: BTreeMap<Arc<str>, Setting> = effective
            .content
            .iter()
            .map(|(key, leaf)| {
                let setting = Setting {
                    value: Arc::clone(&leaf.value),
                    from: Arc::clone(&author(key, leaf).locator),
                };
                (Arc::clone(key), setting)
            })
            .collect();
        let spec = effective.spec(profile);
        let is_by_policy = spec.is_none();
        let mut by_policy: BTreeMap<Arc<str>, Setting> = BTreeMap::new();
        if profile.same_target == SameTarget::Unknown && !is_by_policy {
            let mut leaves: BTreeMap<&Arc<str>, Vec<&Leaf>> = BTreeMap::new();
            for (key, leaf) in effective.content.iter() {
                leaves.entry(&author(key, leaf).locator).or_default().push(leaf);
            }
            by_policy.extend(leaves.into_iter().map(|(locator, leaves)| {
                let value = Arc::new(unflatten(leaves.into_iter()));
                let from = Arc::clone(locator);
                (Arc::clone(locator), Setting { value, from })
            }));
        }
        let whole = match spec {
            Some(spec) if !matches!(profile.unit, MergeUnit::Rules(_)) => spec,
            _ => {
                let rules = effective.content.iter();
                let rules = rules.map(|(key, leaf)| (Text::from(&**key), Value::clone(&leaf.value)));
                Value::Object(rules.collect())
            }
        };
        let authors = effective.sources(attachments).into_iter();
        let policies: BTreeSet<String> = authors
            .map(|author| attachments.authored(author).locator.to_string())
            .collect();
        Self {
            values,
            by_policy,
            is_by_policy,
            whole,
            policies: policies.into_iter().collect(),
        }
    }
}

/// A node by what it is on a path, and its locator: the same on both sides.
type NodeName = Arc<Named>;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    level: Level,
    locator: String,
    /// Its part of the label of a path.
    label: String,
}

impl Hash for Named {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The rest follows from it, but for a Service, which may be a start or a backend: ten thousand paths lead through
        // one Gateway, and each is looked up for each class.
        self.locator.hash(state);
    }
}

/// The names of the nodes of one topology, each made once.
struct Names<'t, 'a> {
    topology: &'t Topology<'a>,
    known: HashMap<(Level, Node), NodeName>,
}

impl Names<'_, '_> {
    fn node(&mut self, level: Level, node: Node) -> NodeName {
        let topology = self.topology;
        let name = self.known.entry((level, node)).or_insert_with(|| {
            Arc::new(Named {
                level,
                locator: topology.locator(node),
                label: topology.step_label(node),
            })
        });
        Arc::clone(name)
    }

    /// The nodes of a path.
    fn path(&mut self, path: &Path) -> PathNames {
        let nodes = self.topology.levels(path).into_iter();
        nodes.map(|(level, node)| self.node(level, node)).collect()
    }
}
