//! Effective settings that change, even if the policy itself does not: because of a new route, or because a policy that
//! overrode it was deleted.
//!
//! Owns: the settings of one side by path ([`EffectiveSettings`]), and the differences between two sides. Flows in:
//! evaluated policies. Flows out: [`EffectiveChange`]s. Must not know: works.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kube_json::{Value, json};

use super::node_names::{Elsewhere, NameId, NodeNames};
use super::report::{EffectiveChange, SettingChange};
use super::ways::{Steps, Ways};
use crate::outcome::{PolicyView, Seen};
use crate::parallel;
use crate::policy::{Attachments, Effective, Leaf, MergeUnit, Profile};
use crate::topology::{Level, Path};

/// Kind and group of policies.
type KindName = (String, String);

/// What holds on every path, and where: as many entries for a path as classes of clusters have other settings there.
/// Hashed, because ten thousand paths begin alike, and each is looked up for each class.
type ByPath = HashMap<Box<[NameId]>, Vec<Held>>;

/// Each result once, by its policies: two that are equal are one.
type Results = BTreeMap<Vec<String>, Vec<Arc<Settings>>>;

/// The settings that apply on every path of one side.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct EffectiveSettings {
    /// The names of what paths lead through.
    names: NodeNames,
    by_kind: BTreeMap<KindName, ByPath>,
    /// The classes of clusters that are alike, each sorted.
    classes: Vec<Vec<String>>,
    /// The ways that traffic takes, policies or none, by class.
    ways: Vec<Ways>,
    results: Results,
}

/// The position of a class.
type Class = usize;

/// The settings that apply on one path.
#[derive(Debug)]
struct Held {
    /// What stands at the end of the path for people, after its nodes.
    last: Option<&'static str>,
    /// Shared by all paths with one result.
    settings: Arc<Settings>,
    /// Where it applies: a thousand clusters on each of ten thousand paths would be ten million names.
    classes: Vec<Class>,
}

/// A result.
#[derive(Debug, PartialEq)]
struct Settings {
    /// By rule id or JSON pointer.
    values: BTreeMap<Arc<str>, Setting>,
    /// The whole: the rules, or a spec.
    whole: Value,
    /// Locators of the policies that it comes from, sorted.
    policies: Vec<String>,
    /// Their `namespace/name`, sorted.
    names: Vec<String>,
}

#[derive(Debug, PartialEq)]
struct Setting {
    value: Arc<Value>,
    /// `namespace/name` of the policy.
    from: String,
}

/// The cluster that stands for the hub, where a Gateway goes to no cluster, and where only a mesh leads.
const HUB: &str = "";

impl EffectiveSettings {
    /// The settings of one side, on the clusters that are asked for, and of what only a mesh leads to, which is not
    /// shipped.
    #[must_use]
    pub fn new(view: &PolicyView<'_>, admits: impl Fn(&str) -> bool) -> Self {
        Self::of_side(view, admits, true)
    }

    /// The same of the old side, which no ways are looked for in.
    #[must_use]
    pub fn of_base(view: &PolicyView<'_>, admits: impl Fn(&str) -> bool) -> Self {
        Self::of_side(view, admits, false)
    }

    fn of_side(view: &PolicyView<'_>, admits: impl Fn(&str) -> bool, with_ways: bool) -> Self {
        let mut settings = Self::default();
        for seen in view.seen() {
            let is_hub = seen.clusters.is_empty();
            let is_asked = |path: &Path| !is_hub || path.gateway().is_none();
            let clusters: Vec<String> = if is_hub {
                vec![HUB.to_owned()]
            } else {
                let clusters = seen.clusters.iter().filter(|cluster| admits(cluster));
                clusters.cloned().collect()
            };
            if clusters.is_empty() {
                continue;
            }
            settings.add(seen, clusters, with_ways, is_asked);
        }
        settings
    }

    /// The settings of one side on all clusters, and of Gateways that go to none.
    #[must_use]
    pub(crate) fn with_hub(view: &PolicyView<'_>) -> Self {
        let mut settings = Self::default();
        for seen in view.seen() {
            let clusters = if seen.clusters.is_empty() {
                vec![HUB.to_owned()]
            } else {
                seen.clusters.to_vec()
            };
            settings.add(seen, clusters, false, |_| true);
        }
        settings
    }

    /// Of some groups of clusters that are alike, on which policies of a kind held on a path: those where traffic still
    /// takes it and none of the kind holds any more. A class of clusters is asked once.
    fn lost(&self, kind: &KindName, steps: &Steps, groups: &[usize], alike: &Alike<'_>) -> Vec<usize> {
        let mut lost = BTreeSet::new();
        let by_path = self.by_kind.get(kind);
        let [_, of_class] = &alike.of_class;
        for (ways, of_class_here) in self.ways.iter().zip(of_class) {
            let mut here = groups
                .iter()
                .filter(|group| of_class_here.binary_search(group).is_ok())
                .peekable();
            let Some(one) = here.peek() else { continue };
            let is_there = |class: &Class| {
                let there = of_class.get(*class);
                there.is_some_and(|there| there.binary_search(one).is_ok())
            };
            let holds = |path: &[NameId]| {
                let held = by_path.and_then(|by_path| by_path.get(path));
                let held = held.into_iter().flatten();
                held.filter(|held| !held.settings.values.is_empty())
                    .any(|held| held.classes.iter().any(is_there))
            };
            if ways.is_lost(steps, holds) {
                lost.extend(here.copied());
            }
        }
        lost.into_iter().collect()
    }

    /// Adds one place where policies were evaluated. Settings that are the same there as elsewhere are kept once.
    fn add(
        &mut self,
        seen: Seen<'_>,
        clusters: Vec<String>,
        with_ways: bool,
        is_asked: impl Fn(&Path) -> bool,
    ) {
        let class = self.classes.len();
        self.classes.push(clusters);
        let attachments = seen.attachments;
        let mut names = self.names.within(&attachments.topology);
        if with_ways {
            self.ways.push(Ways::new(&mut names, &is_asked));
        }
        let results = &mut self.results;
        let mut known: HashMap<*const Effective, Arc<Settings>> = HashMap::new();
        for (id, kind) in attachments.kinds.iter() {
            let profile = kind.profile.as_ref();
            let name = (profile.kind.clone(), profile.group.clone());
            let by_path = self.by_kind.entry(name).or_default();
            if by_path.is_empty() {
                // Growing would hash all names again.
                by_path.reserve(seen.effective.of_kind(id).count());
            }
            let paths = seen.effective.of_kind(id);
            for path in paths.filter(|path| is_asked(&path.path)) {
                let settings = known
                    .entry(Arc::as_ptr(&path.effective))
                    .or_insert_with(|| one(results, Settings::new(attachments, profile, &path.effective)));
                let all = by_path.entry(names.path(&path.path)).or_default();
                match all.iter_mut().find(|held| Arc::ptr_eq(&held.settings, settings)) {
                    Some(held) => held.classes.push(class),
                    None => all.push(Held {
                        last: attachments.last_step_label(id, &path.path),
                        settings: Arc::clone(settings),
                        classes: vec![class],
                    }),
                }
            }
        }
    }

    /// The settings that differ on the new side, by kind and path.
    #[must_use]
    pub fn changes(old: &Self, new: &Self) -> Vec<EffectiveChange> {
        let mut comparing = Comparing::default();
        let mut alike = Alike::new([&old.classes, &new.classes]);
        let equal = equal_results(old, new);
        let (on_new, on_old) = (old.names.on(&new.names), new.names.on(&old.names));
        // On most paths nothing changes: one result before, the same after, on the same clusters.
        let is_unchanged = |before: &[Held], after: &[Held]| match (before, after) {
            ([before], [after]) => {
                let results = [before, after].map(|held| Arc::as_ptr(&held.settings).addr());
                equal.contains(&results) && alike.groups(0, before) == alike.groups(1, after)
            }
            _ => false,
        };
        let mut changed: Vec<Changed<'_>> = Vec::new();
        let kinds: BTreeSet<&KindName> = old.by_kind.keys().chain(new.by_kind.keys()).collect();
        let nothing = ByPath::new();
        for kind in kinds {
            let [of_old, of_new] = [old, new].map(|side| side.by_kind.get(kind).unwrap_or(&nothing));
            let before: Vec<_> = of_old.iter().collect();
            let of_before = parallel::map(&before, |(path, before)| {
                let after = elsewhere(path, &on_new, of_new).unwrap_or_default();
                (!is_unchanged(before, after)).then(|| Changed::new(kind, &old.names, path, [before, after]))
            });
            let after: Vec<_> = of_new.iter().collect();
            let added = parallel::map(&after, |(path, after)| {
                let is_new = elsewhere(path, &on_old, of_old).is_none();
                is_new.then(|| Changed::new(kind, &new.names, path, [&[], after]))
            });
            changed.extend(of_before.into_iter().chain(added).flatten());
        }
        changed.sort_by(|one, other| one.key().cmp(&other.key()));
        let mut changes = Vec::new();
        for path in &changed {
            let steps = || {
                // Only what held before can be lost, so these are names of the old side.
                let names = path
                    .path
                    .iter()
                    .map(|id| (old.names.level(*id), *on_new.get(*id)));
                Steps::new(names)
            };
            let mut of_path = Vec::new();
            for (pair, groups) in alike.pairs(path.held) {
                let lost = match pair {
                    [Some(before), after] if before.is_more_than(after) => steps()
                        .map(|steps| new.lost(path.kind, &steps, &groups, &alike))
                        .unwrap_or_default(),
                    _ => Vec::new(),
                };
                let [clusters, lost] = [groups, lost].map(|groups| alike.names(groups));
                comparing.add(&mut of_path, path, pair, clusters, lost);
            }
            changes.extend(of_path);
        }
        changes
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

/// What holds on a path of one side on the other one.
fn elsewhere<'s>(path: &[NameId], names: &Elsewhere, there: &'s ByPath) -> Option<&'s [Held]> {
    let path: Option<Vec<NameId>> = path.iter().map(|id| *names.get(*id)).collect();
    there.get(path?.as_slice()).map(Vec::as_slice)
}

/// A path on which something may have changed.
struct Changed<'s> {
    kind: &'s KindName,
    /// By its names on the old side, or on the new one if it is only there.
    path: &'s [NameId],
    locators: Vec<Cow<'s, str>>,
    /// For people.
    labels: Vec<&'s str>,
    /// What held there on the old side, and what holds on the new one.
    held: [&'s [Held]; 2],
}

impl<'s> Changed<'s> {
    fn new(kind: &'s KindName, names: &'s NodeNames, path: &'s [NameId], held: [&'s [Held]; 2]) -> Self {
        let in_label = path.iter().filter(|id| names.level(**id) != Level::GatewayClass);
        Self {
            kind,
            path,
            locators: path.iter().map(|id| names.locator(*id)).collect(),
            labels: in_label.map(|id| names.label(*id)).collect(),
            held,
        }
    }

    fn key(&self) -> (&KindName, &[Cow<'s, str>]) {
        (self.kind, &self.locators)
    }
}

/// The results of the old side and of the new one that are equal, by their addresses.
fn equal_results(old: &EffectiveSettings, new: &EffectiveSettings) -> HashSet<[usize; 2]> {
    let of_new = |policies: &Vec<String>| new.results.get(policies).into_iter().flatten();
    let pairs = old.results.iter().flat_map(|(policies, results)| {
        let pairs = results
            .iter()
            .flat_map(move |before| of_new(policies).map(move |after| (before, after)));
        pairs.filter(|(before, after)| before == after)
    });
    pairs
        .map(|(before, after)| [before, after].map(|held| Arc::as_ptr(held).addr()))
        .collect()
}

/// The settings that apply on one path before and after, and the groups of clusters with this change.
type Pair<'h> = ([Option<&'h Held>; 2], Vec<usize>);

/// The clusters that are alike on both sides: each is in the same classes as the others.
struct Alike<'s> {
    /// Each sorted.
    clusters: Vec<Vec<&'s str>>,
    /// By side and class: the positions of those that are in it.
    of_class: [Vec<Vec<usize>>; 2],
    /// The names of those that were asked for together.
    joined: HashMap<Vec<usize>, Arc<Vec<String>>>,
}

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
        let mut alike = Self {
            clusters: Vec::new(),
            of_class: sides.map(|classes| vec![Vec::new(); classes.len()]),
            joined: HashMap::new(),
        };
        for (position, (classes, clusters)) in groups.into_iter().enumerate() {
            for (of_side, classes) in alike.of_class.iter_mut().zip(classes) {
                for class in classes {
                    if let Some(there) = of_side.get_mut(class) {
                        there.push(position);
                    }
                }
            }
            alike.clusters.push(clusters);
        }
        alike
    }

    /// The positions of the clusters that have a result, on the old side (0) or the new one (1).
    fn groups(&self, side: usize, held: &Held) -> BTreeSet<usize> {
        let of_class = self.of_class.get(side).map(Vec::as_slice).unwrap_or_default();
        let groups = held.classes.iter().filter_map(|class| of_class.get(*class));
        groups.flatten().copied().collect()
    }

    /// The pairs of both sides that some clusters have.
    fn pairs<'h>(&self, sides: [&'h [Held]; 2]) -> Vec<Pair<'h>> {
        let mut by_group: BTreeMap<usize, [Option<usize>; 2]> = BTreeMap::new();
        for (side, (held, of_class)) in sides.into_iter().zip(&self.of_class).enumerate() {
            for (position, held) in held.iter().enumerate() {
                let groups = held.classes.iter().filter_map(|class| of_class.get(*class));
                for group in groups.flatten() {
                    if let Some(slot) = by_group.entry(*group).or_default().get_mut(side) {
                        *slot = Some(position);
                    }
                }
            }
        }
        let mut by_pair: BTreeMap<[Option<usize>; 2], Vec<usize>> = BTreeMap::new();
        for (group, pair) in by_group {
            by_pair.entry(pair).or_default().push(group);
        }
        let [before, after] = sides;
        let of = |side: &'h [Held], position: Option<usize>| position.and_then(|at| side.get(at));
        let by_pair = by_pair.into_iter();
        by_pair
            .map(|([old, new], groups)| ([of(before, old), of(after, new)], groups))
            .collect()
    }

    /// The names of their clusters, sorted.
    fn names(&mut self, groups: Vec<usize>) -> Arc<Vec<String>> {
        if let Some(known) = self.joined.get(&groups) {
            return Arc::clone(known);
        }
        let there = groups.iter().filter_map(|group| self.clusters.get(*group));
        let mut names: Vec<String> = there.flatten().map(|name| (*name).to_owned()).collect();
        names.sort_unstable();
        let names = Arc::new(names);
        self.joined.insert(groups, Arc::clone(&names));
        names
    }
}

/// Changes as they are found.
#[derive(Default)]
struct Comparing {
    /// The differences between two results, compared once.
    compared: HashMap<[*const Settings; 2], Arc<Vec<SettingChange>>>,
}

impl Comparing {
    /// Adds the change of a path on some clusters to the others of the path: several where clusters differ in what
    /// changes.
    fn add(
        &mut self,
        changes: &mut Vec<EffectiveChange>,
        path: &Changed<'_>,
        [before, after]: [Option<&Held>; 2],
        clusters: Arc<Vec<String>>,
        lost: Arc<Vec<String>>,
    ) {
        let pair = [before, after].map(|held| held.map(|held| held.settings.as_ref()));
        let pointers = pair.map(|settings| settings.map_or(std::ptr::null(), std::ptr::from_ref));
        let compared = self.compared.entry(pointers);
        let settings = Arc::clone(compared.or_insert_with(|| Arc::new(differing(pair))));
        let Some(held) = after.or(before).filter(|_| !settings.is_empty()) else {
            return;
        };
        let clusters = if clusters.iter().any(|cluster| cluster == HUB) {
            Arc::new(
                clusters
                    .iter()
                    .filter(|cluster| *cluster != HUB)
                    .cloned()
                    .collect(),
            )
        } else {
            clusters
        };
        let [old, new] = pair;
        let all = |settings: Option<&Settings>, of: fn(&Settings) -> &Vec<String>| {
            settings.map(of).cloned().unwrap_or_default()
        };
        let change = EffectiveChange {
            kind: path.kind.0.clone(),
            group: path.kind.1.clone(),
            path: path.locators.iter().map(|locator| locator.to_string()).collect(),
            label: {
                let labels: Vec<&str> = path.labels.iter().copied().chain(held.last).collect();
                labels.join(" > ")
            },
            clusters,
            old: old.map(|settings| settings.whole.clone()),
            new: new.map(|settings| settings.whole.clone()),
            old_policies: all(old, |settings| &settings.policies),
            new_policies: all(new, |settings| &settings.policies),
            old_names: all(old, |settings| &settings.names),
            new_names: all(new, |settings| &settings.names),
            settings,
            is_lost: !lost.is_empty(),
            lost_on: lost.iter().filter(|cluster| *cluster != HUB).cloned().collect(),
        };
        let same = |known: &&mut EffectiveChange| {
            known.settings == change.settings
                && known.old_policies == change.old_policies
                && known.new_policies == change.new_policies
        };
        match changes.iter_mut().find(same) {
            Some(known) => {
                let clusters = Arc::make_mut(&mut known.clusters);
                clusters.extend(change.clusters.iter().cloned());
                clusters.sort_unstable();
                known.is_lost |= change.is_lost;
                known.lost_on.extend(change.lost_on);
                known.lost_on.sort_unstable();
            }
            None => changes.push(change),
        }
    }
}

impl Held {
    /// Whether some settings apply here, and none there.
    fn is_more_than(&self, other: Option<&Self>) -> bool {
        !self.settings.values.is_empty() && other.is_none_or(|other| other.settings.values.is_empty())
    }
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
        let whole = match effective.spec(profile) {
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
            whole,
            policies: sources.into_iter().map(|(locator, _)| locator).collect(),
            names: names.into_iter().collect(),
        }
    }
}

/// The settings whose values differ, by name.
fn differing([old, new]: [Option<&Settings>; 2]) -> Vec<SettingChange> {
    let none = BTreeMap::new();
    let old = old.map_or(&none, |settings| &settings.values);
    let new = new.map_or(&none, |settings| &settings.values);
    let names: BTreeSet<&Arc<str>> = old.keys().chain(new.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let (before, after) = (old.get(name), new.get(name));
            let value = |setting: Option<&Setting>| setting.map(|setting| Arc::clone(&setting.value));
            let from = |setting: Option<&Setting>| setting.map(|setting| setting.from.clone());
            (value(before) != value(after)).then(|| SettingChange {
                setting: name.to_string(),
                old: value(before),
                new: value(after),
                old_from: from(before),
                new_from: from(after),
            })
        })
        .collect()
}
