//! The settings that apply on every path of one side, in full detail.
//!
//! Which paths a report lists depends on the policies that are there, so two sides cannot be compared by them. These are
//! all paths that traffic can be told apart by ([`Refinement`]), with what would apply to anything that is not there yet.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kube_json::{Value, json};

use super::alike_clusters::Class;
use super::node_names::{NameId, NodeNames};
use crate::diagnostic::Finding;
use crate::outcome::{PolicyView, Seen};
use crate::policy::{
    Attachments, Effective, Leaf, MergeUnit, PathEffective, Profile, Refinement, SameTarget, too_many_paths,
    unflatten,
};
use crate::topology::Start;
use apimachinery::Work;

/// Kind and group of policies.
pub(super) type KindName = (String, String);

/// The names of the nodes of a path, from its Gateway or Service on.
pub(super) type PathNames = Box<[NameId]>;

/// What holds on every path, and where: as many entries for a path as classes of clusters have other settings there.
/// Hashed, because ten thousand paths begin alike, and each is looked up for each class.
pub(super) type ByPath = HashMap<PathNames, Vec<Held>>;

/// Each result once, by its policies: two that are equal are one.
pub(super) type Results = BTreeMap<Vec<String>, Vec<Arc<Settings>>>;

/// The settings that apply on every path of one side.
#[derive(Debug, Default)]
pub struct EffectiveSettings {
    /// The names of what paths lead through.
    pub(super) names: NodeNames,
    pub(super) by_kind: BTreeMap<KindName, OfKind>,
    /// The classes of clusters that are alike, each sorted.
    pub(super) classes: Vec<Vec<String>>,
    /// By class, every path, policies or none, and what is above it. Those of most classes are the same.
    pub(super) all: Vec<Arc<HashSet<PathNames>>>,
    /// The GatewayClass of each Gateway.
    pub(super) class_of: BTreeMap<NameId, NameId>,
    pub(super) results: Results,
}

/// The settings of one kind.
#[derive(Debug)]
pub(super) struct OfKind {
    pub(super) profile: Arc<Profile>,
    pub(super) paths: ByPath,
    /// What would apply to anything that might come below a node.
    pub(super) for_any: ByPath,
}

/// The settings that apply on one path.
#[derive(Debug)]
pub(super) struct Held {
    /// Shared by all paths with one result.
    pub(super) settings: Arc<Settings>,
    /// Where it applies, ascending: a thousand clusters on each of ten thousand paths would be ten million names.
    pub(super) classes: Vec<Class>,
}

/// A result.
#[derive(Debug, PartialEq)]
pub(super) struct Settings {
    /// By rule id or JSON pointer.
    pub(super) values: BTreeMap<Arc<str>, Setting>,
    /// The same by the locators of the policies, where each applies as a whole, and wherever it may be compared with that:
    /// of a kind of which nobody knows what two on one target come to, one more or less changes the form.
    pub(super) by_policy: BTreeMap<Arc<str>, Setting>,
    /// Whether each applies as a whole.
    pub(super) is_by_policy: bool,
    /// The whole: the rules, or a spec.
    pub(super) whole: Value,
    /// Locators of the policies that it comes from, sorted.
    pub(super) policies: Vec<String>,
    /// Their `namespace/name`, sorted.
    pub(super) names: Vec<String>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) value: Arc<Value>,
    /// `namespace/name` of the policy.
    pub(super) from: String,
}

/// The cluster that stands for the hub, where a Gateway goes to no cluster, and where only a mesh leads.
pub(super) const HUB: &str = "";

impl EffectiveSettings {
    /// The settings of one side, on the clusters that are asked for, and of what only a mesh leads to, which is not
    /// shipped.
    ///
    /// # Errors
    ///
    /// That they are too many to be compared.
    #[expect(clippy::result_large_err, reason = "made once for each side")]
    pub fn new(view: &PolicyView<'_>, admits: impl Fn(&str) -> bool) -> Result<Self, Finding> {
        match view.too_much_to_list() {
            Some(too_much) => Err(too_much),
            None => Self::on(view, admits, |start| matches!(start, Start::Service(_))),
        }
    }

    /// The settings of one side on all clusters, and of Gateways that go to none.
    ///
    /// # Errors
    ///
    /// That they are too many to be compared.
    #[expect(clippy::result_large_err, reason = "made once for each side")]
    pub(crate) fn with_hub(view: &PolicyView<'_>) -> Result<Self, Finding> {
        Self::on(view, |_| true, |_| true)
    }

    #[expect(clippy::result_large_err, reason = "made once for each side")]
    fn on(
        view: &PolicyView<'_>,
        admits: impl Fn(&str) -> bool,
        on_hub: impl Fn(Start) -> bool,
    ) -> Result<Self, Finding> {
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
        too_many_paths(&work).map_or(Ok(settings), Err)
    }

    /// Adds one place where policies were evaluated. Settings that are the same there as elsewhere are kept once.
    fn add(&mut self, seen: Seen<'_>, clusters: Vec<String>, refinement: &Refinement) {
        let class = self.classes.len();
        self.classes.push(clusters);
        let attachments = seen.attachments;
        let mut names = self.names.within(&attachments.topology);
        let mut all: HashSet<PathNames> = HashSet::new();
        for path in &refinement.all {
            let path = names.path(path);
            // What is above a path is there, too.
            let above = (1..=path.len()).rev().filter_map(|length| path.get(..length));
            for path in above {
                if !all.insert(path.into()) {
                    break;
                }
            }
        }
        let known = self.all.iter().find(|known| ***known == all);
        self.all.push(known.map_or_else(|| Arc::new(all), Arc::clone));
        for start in attachments.topology.starts() {
            if let Start::Gateway(gateway) = start {
                let name = names.start(start);
                self.class_of.insert(name, names.class(gateway));
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
                        one(results, Settings::new(attachments, profile, &path.effective))
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

/// The one result that is equal.
fn one(results: &mut Results, settings: Settings) -> Arc<Settings> {
    let alike = results.entry(settings.policies.clone()).or_default();
    if let Some(known) = alike.iter().find(|known| ***known == settings) {
        return Arc::clone(known);
    }
    let settings = Arc::new(settings);
    alike.push(Arc::clone(&settings));
    settings
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
                    from: author(key, leaf).object.key(),
                };
                (Arc::clone(key), setting)
            })
            .collect();
        let rules = || {
            let rules = effective.content.iter();
            let rules: BTreeMap<&str, &Value> =
                rules.map(|(key, leaf)| (key.as_ref(), &*leaf.value)).collect();
            json!(rules)
        };
        let spec = effective.spec(profile);
        let is_by_policy = spec.is_none();
        let mut by_policy: BTreeMap<Arc<str>, Setting> = BTreeMap::new();
        if profile.same_target == SameTarget::Unknown && !is_by_policy {
            let mut leaves: BTreeMap<String, (Vec<&Leaf>, String)> = BTreeMap::new();
            for (key, leaf) in effective.content.iter() {
                let author = author(key, leaf);
                let of_author = leaves.entry(author.locator.to_string());
                let (leaves, _) = of_author.or_insert_with(|| (Vec::new(), author.object.key()));
                leaves.push(leaf);
            }
            by_policy.extend(leaves.into_iter().map(|(locator, (leaves, from))| {
                let value = Arc::new(unflatten(leaves.into_iter()));
                (Arc::from(locator), Setting { value, from })
            }));
        }
        let whole = match spec {
            Some(spec) if !matches!(profile.unit, MergeUnit::Rules(_)) => spec,
            _ => rules(),
        };
        let content = effective.content.iter();
        let sources: BTreeSet<(String, String)> = content
            .map(|(key, leaf)| author(key, leaf))
            .map(|author| (author.locator.to_string(), author.object.key()))
            .collect();
        let names: BTreeSet<String> = sources.iter().map(|(_, name)| name.clone()).collect();
        Self {
            values,
            by_policy,
            is_by_policy,
            whole,
            policies: sources.into_iter().map(|(locator, _)| locator).collect(),
            names: names.into_iter().collect(),
        }
    }
}
