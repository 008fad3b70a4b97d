//! Effective settings that differ between two sides, even if no policy itself does: because of a new route, or because a
//! policy that overrode another one was deleted.
//!
//! Every path of either side is compared with the same one of the other side. Where the other side does not have it, it is
//! compared with what would apply there to anything that is added: a new rule with any rule of its route, a new route with
//! any route of its listener. A route that moves to another listener or Gateway is compared with itself where it was. Only
//! afterwards are equal changes of neighboring paths put together (`collapse.rs`): a path represents others only if the
//! change is the same on all paths below it that have policies of the kind, on the clusters of the change.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use apimachinery::pointer;
use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;

use super::Which::{self, New, Old};
use super::collapse::{Below, Changing, below, distinct};
use super::{
    Alike, ByPath, Class, EffectiveSettings, Held, KindName, NodeName, OfKind, PathNames, Setting, Settings,
    prefixes,
};
use crate::diagnostic::Hidden;
use crate::outcome::{key_of, share};
use crate::parallel;
use crate::topology::Level;

/// Whether clusters or paths are on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// On both.
    Both,
    /// Only on the new side.
    #[serde(rename = "new")]
    Joins,
    /// Only on the old side.
    #[serde(rename = "gone")]
    Leaves,
    /// Only on the new side, while the old one is what runs: new, or not exported.
    #[serde(rename = "notCompared")]
    NotCompared,
}

/// A policy whose effective settings change on some path from a Gateway to a route, even if its own object does not.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveChange {
    /// Kind of the policy.
    pub kind: String,
    /// Its group, because two products may have a kind of the same name.
    pub group: String,
    /// Locators from the Gateway to the route, as in a `PolicyReport`.
    pub path: Vec<String>,
    /// The path for people.
    #[serde(skip)]
    pub label: String,
    /// The same as it is said in a sentence: `listener a of gw/web`.
    #[serde(skip)]
    pub place: String,
    /// How many paths it stands for: what changes on all paths of a listener is reported once.
    #[serde(skip)]
    pub paths: usize,
    /// Whether both sides have the path.
    pub presence: Presence,
    /// The clusters, sorted.
    pub clusters: Arc<Vec<String>>,
    /// Whether traffic still takes the path, but no policy of the kind applies there anymore.
    #[serde(rename = "lost")]
    pub is_lost: bool,
    /// The settings that applied and no longer apply, although traffic still takes the path: rules, or JSON pointers.
    pub lost_settings: Vec<String>,
    /// The effective settings before the change; none if no policy applied.
    pub old: Option<Value>,
    /// The effective settings after the change; none if no policy applies anymore.
    pub new: Option<Value>,
    /// Locators of the policies that `old` comes from, sorted.
    pub old_policies: Vec<String>,
    /// Locators of the policies that `new` comes from, sorted.
    pub new_policies: Vec<String>,
    /// The settings that differ; paths with one change share them.
    #[serde(skip)]
    pub settings: Arc<Vec<SettingChange>>,
}

impl EffectiveChange {
    /// `namespace/name` of the policies that gave the settings that are lost, sorted.
    pub fn lost_from(&self) -> Vec<&str> {
        let gone = self.settings.iter().filter(|setting| setting.new.is_none());
        let from = gone.filter_map(|setting| setting.old_from.as_deref());
        let from: BTreeSet<&str> = from.map(key_of).collect();
        from.into_iter().collect()
    }
}

/// A setting that differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingChange {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Absent if it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Arc<Value>>,
    /// Absent if it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Arc<Value>>,
    /// Locator of the policy that gave it.
    #[serde(skip)]
    pub old_from: Option<Arc<str>>,
    /// Locator of the policy that gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_from: Option<Arc<str>>,
}

/// Hides the values of Secrets in settings, of which each list is shared by many paths.
pub fn conceal<'s>(settings: impl Iterator<Item = &'s mut Arc<Vec<SettingChange>>>, hidden: &mut Hidden) {
    // By the list as it was, which is kept so that no new one has its address.
    let mut known: HashMap<*const Vec<SettingChange>, [Arc<Vec<SettingChange>>; 2]> = HashMap::new();
    for settings in settings {
        let [_, shown] = known.entry(Arc::as_ptr(settings)).or_insert_with(|| {
            let mut shown = Vec::clone(settings);
            for value in shown
                .iter_mut()
                .flat_map(|setting| [&mut setting.old, &mut setting.new])
            {
                *value = value.take().map(|value| Arc::new(hidden.conceal(&value, false)));
            }
            [Arc::clone(settings), Arc::new(shown)]
        });
        *settings = Arc::clone(shown);
    }
}

impl EffectiveSettings {
    /// The settings that differ on the new side, by kind and path.
    pub fn changes(old: &Self, new: &Self) -> Vec<EffectiveChange> {
        let mut sides = Sides {
            sides: [old, new],
            equal: equal_results(old, new),
            alike: Alike::new([&old.classes, &new.classes]),
            beginning: [old, new].map(beginning),
            below: [OnceLock::new(), OnceLock::new()],
            moved: BTreeMap::new(),
        };
        sides.moved = sides.moved();
        let mut changes = Vec::new();
        let kinds: BTreeSet<&KindName> = old.by_kind.keys().chain(new.by_kind.keys()).collect();
        let mut comparing = Comparing::default();
        for kind in kinds {
            for side in [Old, New] {
                let of_kind = sides.of_kind(side, kind).into_iter();
                let paths: Vec<_> = of_kind.flat_map(|of| &of.paths).collect();
                let found = parallel::map(&paths, |(path, held)| sides.compare(kind, side, path, held));
                for found in found.into_iter().flatten() {
                    comparing.add(found);
                }
            }
            for found in sides.compare_moved(kind) {
                comparing.add(found);
            }
            changes.extend(comparing.finish(kind, &mut sides));
        }
        changes
    }
}

/// Both sides, the old one first.
struct Sides<'s> {
    sides: [&'s EffectiveSettings; 2],
    /// The results of the old side and of the new one that are equal, by their addresses.
    equal: HashSet<[usize; 2]>,
    alike: Alike<'s>,
    /// By side, the classes where a path begins, ascending.
    beginning: [HashMap<NodeName, Vec<Class>>; 2],
    /// Made for the first change: mostly there is none.
    below: [OnceLock<Below<'s>>; 2],
    moved: Moved<'s>,
}

/// A path of the new side, and those of the old side on which the same route, or what is behind it, was attached.
type MovedPath<'s> = (&'s PathNames, Arc<[&'s PathNames]>);

/// The same by path and group of clusters.
type Moved<'s> = BTreeMap<(&'s PathNames, usize), Arc<[&'s PathNames]>>;

/// What applies on a path of one side.
#[derive(Debug, Clone, Copy, Default)]
struct Found<'s> {
    settings: Option<&'s Settings>,
    /// How many of its nodes the side has.
    length: usize,
    /// Whether nothing takes it that is not on a longer path.
    is_for_any: bool,
}

/// What is the same for groups of clusters that are one.
type Outcome = ([*const Settings; 2], Presence, usize);

/// A path with what applies there on the old side and on the new one.
struct Compared<'s> {
    path: PathNames,
    presence: Presence,
    settings: [Option<&'s Settings>; 2],
    groups: Vec<usize>,
}

impl<'s> Sides<'s> {
    fn of_kind(&self, side: Which, kind: &KindName) -> Option<&'s OfKind> {
        side.of(&self.sides).by_kind.get(kind)
    }

    /// What changes on a path of one side that the other one does not have: what both have is found from the old one.
    fn compare(
        &self,
        kind: &KindName,
        side: Which,
        path: &'s PathNames,
        held: &'s [Held],
    ) -> Vec<Compared<'s>> {
        let other = side.other();
        let there = self.of_kind(other, kind).and_then(|of| of.paths.get(path));
        match (there, held) {
            (Some(_), _) if side == New => return Vec::new(),
            // On most paths nothing changes: one result before, the same after, on the same clusters.
            (Some(there), [before]) if self.is_unchanged(before, there) => return Vec::new(),
            _ => {}
        }
        let classes = |side: Which, held: &[Held]| {
            let held = held.iter();
            held.flat_map(|held| self.alike.groups(side, &held.classes))
                .collect::<BTreeSet<usize>>()
        };
        let mut groups = classes(side, held);
        groups.extend(there.map(|there| classes(other, there)).unwrap_or_default());
        let Some(end) = level(path) else {
            return Vec::new();
        };
        let mut found: BTreeMap<Outcome, Compared<'s>> = BTreeMap::new();
        for group in groups {
            let [old, new] = [Old, New].map(|side| self.find(kind, side, path, end, group));
            if new.is_for_any && new.length == path.len() {
                continue;
            }
            if side == New && self.moved.contains_key(&(path, group)) {
                continue;
            }
            // Traffic for a port that is not named any more still comes to the backend.
            let is_whole = |found: Found<'_>| {
                found.length == path.len()
                    || (end == Level::Port && found.length.saturating_add(1) == path.len())
            };
            let presence = match (is_whole(old), is_whole(new)) {
                (true, false) => Presence::Leaves,
                (false, true) => Presence::Joins,
                _ => Presence::Both,
            };
            let settings = [old.settings, new.settings];
            let length = if presence == Presence::Leaves {
                old.length
            } else {
                new.length
            };
            let path = path.get(..length);
            let entry = found.entry((pointers(settings), presence, length));
            let compared = entry.or_insert_with(|| Compared {
                path: path.unwrap_or_default().into(),
                presence,
                settings,
                groups: Vec::new(),
            });
            compared.groups.push(group);
        }
        found.into_values().collect()
    }

    /// The paths of routes that were attached elsewhere before.
    fn moved(&self) -> Moved<'s> {
        let mut moved = Moved::new();
        let mut known: HashMap<[Vec<usize>; 2], Vec<MovedPath<'s>>> = HashMap::new();
        let all = |side: Which, group: usize| -> Vec<&'s HashSet<PathNames>> {
            let of_side = side.of(&self.sides);
            let classes = self.alike.classes(side, group).iter();
            let all = classes.filter_map(|class| of_side.all.get(*class));
            all.map(AsRef::as_ref).collect()
        };
        for group in 0..self.alike.groups.len() {
            let sides = [Old, New].map(|side| all(side, group));
            let key = sides
                .clone()
                .map(|all| all.iter().map(|all| std::ptr::from_ref(*all).addr()).collect());
            let of_pair = known.entry(key).or_insert_with(|| self.moved_between(sides));
            let of_pair = of_pair.iter();
            moved.extend(of_pair.map(|(path, before)| ((*path, group), Arc::clone(before))));
        }
        moved
    }

    fn moved_between(&self, [old, new]: [Vec<&'s HashSet<PathNames>>; 2]) -> Vec<MovedPath<'s>> {
        let old = old.into_iter().flatten();
        let old = old.filter(|path| behind_route(path).is_some());
        let old: BTreeSet<&'s PathNames> = old.collect();
        let joining = new.into_iter().flatten().filter_map(|path| {
            let of_route = behind_route(path)?;
            (!old.contains(path)).then_some((path, of_route))
        });
        let joining: BTreeMap<&'s PathNames, &[NodeName]> = joining.collect();
        if joining.is_empty() {
            return Vec::new();
        }
        let mut before: BTreeMap<&[NodeName], BTreeSet<&'s PathNames>> = BTreeMap::new();
        for path in old {
            if let Some(of_route) = behind_route(path) {
                before.entry(of_route).or_default().insert(path);
            }
        }
        let moved = joining.into_iter().filter_map(|(path, of_route)| {
            let before = before.get(of_route)?.iter().copied();
            Some((path, before.collect()))
        });
        moved.collect()
    }

    /// What a kind comes to on the paths of routes that were attached elsewhere: compared with where least of it applied.
    fn compare_moved(&self, kind: &KindName) -> Vec<Compared<'s>> {
        let compare = |((path, group), before): (&(&'s PathNames, usize), &Arc<[&'s PathNames]>)| {
            let end = level(path)?;
            let before = before.iter();
            let before = before.map(|before| self.find(kind, Old, before, end, *group).settings);
            let old = before.min_by_key(|settings| settings.map_or(0, |settings| settings.values.len()))?;
            let new = self.find(kind, New, path, end, *group);
            let is_held = old.is_some() || new.settings.is_some();
            is_held.then(|| Compared {
                path: (*path).clone(),
                presence: Presence::Joins,
                settings: [old, new.settings],
                groups: vec![*group],
            })
        };
        self.moved.iter().filter_map(compare).collect()
    }

    fn is_unchanged(&self, before: &Held, there: &[Held]) -> bool {
        let [after] = there else { return false };
        let results = [before, after].map(|held| Arc::as_ptr(&held.settings).addr());
        self.equal.contains(&results)
            && self.alike.groups(Old, &before.classes) == self.alike.groups(New, &after.classes)
    }

    /// The classes of a side that a group is in and that may have a path. A cluster may be in as many as there are
    /// Gateways, and a Gateway in as many as there are clusters.
    fn classes(&self, side: Which, path: &[NodeName], group: usize) -> Vec<Class> {
        let here = self.alike.classes(side, group);
        let start = path.first();
        let beginning = start.and_then(|start| side.of(&self.beginning).get(start));
        let there = beginning.map(Vec::as_slice).unwrap_or_default();
        let (few, many) = if here.len() < there.len() {
            (here, there)
        } else {
            (there, here)
        };
        let both = few.iter().filter(|class| many.binary_search(class).is_ok());
        both.copied().collect()
    }

    /// What applies on a path of one side, on some clusters; where it is not there, what would apply to it.
    fn find(&self, kind: &KindName, side: Which, path: &[NodeName], end: Level, group: usize) -> Found<'s> {
        let of_side = *side.of(&self.sides);
        let of_kind = of_side.by_kind.get(kind);
        let classes = self.classes(side, path, group);
        for path in prefixes(path).rev() {
            let mut all = classes.iter().filter_map(|class| of_side.all.get(*class));
            if !all.any(|all| all.contains(path)) {
                continue;
            }
            let held = |by_path: &'s ByPath| {
                let mut held = by_path.get(path).into_iter().flatten();
                let is_in = |held: &Held, class| held.classes.binary_search(class).is_ok();
                let held = held.find(|held| classes.iter().any(|class| is_in(held, class)))?;
                Some(held.settings.as_ref())
            };
            let of_kind = of_kind.filter(|of| level(path).is_some_and(|level| of.profile.counts(level, end)));
            let on_it = of_kind.and_then(|of| held(&of.paths));
            let for_any = of_kind.and_then(|of| held(&of.for_any));
            return Found {
                settings: on_it.or(for_any),
                length: path.len(),
                is_for_any: on_it.is_none() && for_any.is_some(),
            };
        }
        Found::default()
    }
}

/// What the end of a path is.
pub(super) fn level(path: &[NodeName]) -> Option<Level> {
    path.last().map(|last| last.level)
}

/// The part of a path from its route on.
fn behind_route(path: &[NodeName]) -> Option<&[NodeName]> {
    let at = path.iter().position(|name| name.level == Level::Route)?;
    path.get(at..)
}

/// The classes where each path begins.
fn beginning(side: &EffectiveSettings) -> HashMap<NodeName, Vec<Class>> {
    let mut beginning: HashMap<NodeName, Vec<Class>> = HashMap::new();
    for (class, all) in side.all.iter().enumerate() {
        let starts = all
            .iter()
            .filter_map(|path| path.first().filter(|_| path.len() == 1));
        for start in starts {
            beginning.entry(start.clone()).or_default().push(class);
        }
    }
    beginning
}

/// The results of the old side and of the new one that are equal, by their addresses.
fn equal_results(old: &EffectiveSettings, new: &EffectiveSettings) -> HashSet<[usize; 2]> {
    let both = old.results.intersection(&new.results);
    let both = both.filter_map(|result| Some([old.results.get(result)?, new.results.get(result)?]));
    both.map(|both| both.map(|result| Arc::as_ptr(result).addr()))
        .collect()
}

/// What tells changes of one kind apart, besides the paths.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct SameChange<'s> {
    presence: Presence,
    settings: *const Vec<SettingChange>,
    policies: [&'s [String]; 2],
}

/// The changes of one kind.
#[derive(Default)]
struct Comparing<'s> {
    /// The differences between two results, compared once.
    compared: HashMap<[*const Settings; 2], Arc<Vec<SettingChange>>>,
    /// The same, each once.
    distinct: HashSet<Arc<Vec<SettingChange>>>,
    /// By change and path.
    found: HashMap<(SameChange<'s>, PathNames), OnPath<'s>>,
}

/// A change on one path.
struct OnPath<'s> {
    settings: Arc<Vec<SettingChange>>,
    results: [Option<&'s Settings>; 2],
    groups: BTreeSet<usize>,
}

/// The addresses of results, by which equal ones are found fast.
fn pointers(results: [Option<&Settings>; 2]) -> [*const Settings; 2] {
    results.map(|settings| settings.map_or(std::ptr::null(), std::ptr::from_ref))
}

/// The policies that results come from.
fn policies(results: [Option<&Settings>; 2]) -> [&[String]; 2] {
    results.map(|settings| settings.map_or(&[][..], |settings| &settings.policies))
}

/// A change, and the groups of clusters where it happens.
type Key<'s> = (SameChange<'s>, Vec<usize>);

impl<'s> Comparing<'s> {
    fn add(&mut self, found: Compared<'s>) {
        let mut results = found.settings;
        let mut settings = self.differing(results);
        if found.presence == Presence::Leaves && !settings.is_empty() {
            // What would apply there applies to nothing.
            let [old, _] = results;
            results = [old, None];
            settings = self.differing(results);
        }
        if settings.is_empty() {
            return;
        }
        let change = SameChange {
            presence: found.presence,
            settings: Arc::as_ptr(&settings),
            policies: policies(results),
        };
        let on_path = self.found.entry((change, found.path)).or_insert_with(|| OnPath {
            settings,
            results,
            groups: BTreeSet::new(),
        });
        // What is shown of several that change alike is that of the first clusters: addresses have another order each time.
        let first = on_path.groups.first();
        if first.is_none_or(|first| found.groups.first().is_some_and(|group| group < first)) {
            on_path.results = results;
        }
        on_path.groups.extend(found.groups);
    }

    fn differing(&mut self, results: [Option<&'s Settings>; 2]) -> Arc<Vec<SettingChange>> {
        let distinct = &mut self.distinct;
        let compared = self
            .compared
            .entry(pointers(results))
            .or_insert_with(|| share(distinct, differing(results)));
        Arc::clone(compared)
    }

    /// Equal changes of neighboring paths together, in the order of their names.
    fn finish(&mut self, kind: &KindName, sides: &mut Sides<'s>) -> Vec<EffectiveChange> {
        let mut by_change: HashMap<Key<'s>, (OnPath<'s>, BTreeSet<PathNames>)> = HashMap::new();
        #[expect(
            clippy::iter_over_hash_type,
            reason = "paths and groups are sets, and changes are sorted below"
        )]
        for ((change, path), on_path) in std::mem::take(&mut self.found) {
            let groups: Vec<usize> = on_path.groups.iter().copied().collect();
            let entry = by_change.entry((change, groups));
            let (_, paths) = entry.or_insert_with(|| (on_path, BTreeSet::new()));
            paths.insert(path);
        }
        let mut changes: Vec<EffectiveChange> = Vec::new();
        let Some(of_kind) = [New, Old].into_iter().find_map(|side| sides.of_kind(side, kind)) else {
            return changes;
        };
        #[expect(clippy::iter_over_hash_type, reason = "the changes are sorted below")]
        for ((change, groups), (on_path, paths)) in by_change {
            let clusters = sides.alike.names(&groups);
            let side = match change.presence {
                Presence::Leaves => Old,
                Presence::Both | Presence::Joins | Presence::NotCompared => New,
            };
            let starts: BTreeSet<&[NodeName]> = paths.iter().filter_map(|path| path.get(..1)).collect();
            let of_group = |group: &usize| {
                let classes = starts.iter().map(|start| sides.classes(side, start, *group));
                classes.flatten().collect::<Vec<Class>>()
            };
            let classes: BTreeSet<Class> = groups.iter().flat_map(of_group).collect();
            // A route that comes or goes is not its Gateway, though it has no other.
            let (other, of_other) = (side.other(), side.other().of(&sides.sides));
            let is_whole = |path: &[NodeName]| {
                let classes = groups.iter();
                let classes = classes.flat_map(|group| sides.classes(other, path, *group));
                let mut all = classes.filter_map(|class| of_other.all.get(class));
                change.presence == Presence::Both || !all.any(|all| all.contains(path))
            };
            let settings = *side.of(&sides.sides);
            let all = classes.iter().filter_map(|class| settings.all.get(*class));
            let changing = Changing {
                settings,
                below: side.of(&sides.below).get_or_init(|| below(settings)),
                paths: &paths,
                around: paths.iter().flat_map(|path| prefixes(path)).collect(),
                all: distinct(all),
                profile: &of_kind.profile,
                is_whole: &is_whole,
            };
            let change = changed(kind, (change.presence, &on_path), clusters);
            let paths = changing.collapse().into_iter();
            changes.extend(paths.map(|path| changing.on_path(&path, change.clone())));
        }
        changes.sort_by(|one, other| {
            let [one, other] = [one, other].map(|change| {
                let policies = (&change.new_policies, &change.old_policies);
                (&change.path, &change.clusters, policies, &change.label)
            });
            one.cmp(&other)
        });
        changes
    }
}

/// A change, before it is known of which paths.
fn changed(
    kind: &KindName,
    (presence, on_path): (Presence, &OnPath<'_>),
    clusters: Arc<Vec<String>>,
) -> EffectiveChange {
    let [old, new] = on_path.results;
    let [old_policies, new_policies] = policies(on_path.results).map(<[String]>::to_vec);
    let is_taken = presence != Presence::Leaves;
    let [_, remains] = on_equal_terms(on_path.results);
    EffectiveChange {
        kind: kind.0.clone(),
        group: kind.1.clone(),
        path: Vec::new(),
        label: String::new(),
        place: String::new(),
        paths: 0,
        presence,
        clusters,
        is_lost: is_taken
            && remains.is_none_or(BTreeMap::is_empty)
            && old.is_some_and(|old| !old.values.is_empty()),
        lost_settings: if is_taken {
            lost(&on_path.settings, remains)
        } else {
            Vec::new()
        },
        old: old.map(|settings| settings.whole.clone()),
        new: new.map(|settings| settings.whole.clone()),
        old_policies,
        new_policies,
        settings: Arc::clone(&on_path.settings),
    }
}

/// The settings that are gone, each as the shortest pointer below which nothing remains.
fn lost(settings: &[SettingChange], remains: Option<&BTreeMap<Arc<str>, Setting>>) -> Vec<String> {
    let remain = |prefix: &str| {
        let mut remain = remains.into_iter().flat_map(BTreeMap::keys);
        remain.any(|setting| pointer::inside(setting, prefix).is_some())
    };
    let gone = settings.iter();
    let gone = gone.filter(|setting| setting.old.is_some() && setting.new.is_none());
    let names: BTreeSet<String> = gone
        .map(|setting| {
            if !setting.setting.starts_with('/') {
                return setting.setting.clone();
            }
            let mut prefix = String::new();
            for token in pointer::tokens(&setting.setting) {
                prefix = pointer::child(&prefix, &token);
                if !remain(&prefix) {
                    break;
                }
            }
            prefix
        })
        .collect();
    names.into_iter().collect()
}

/// The settings of both sides, by policy if one of them has them so.
fn on_equal_terms(results: [Option<&Settings>; 2]) -> [Option<&BTreeMap<Arc<str>, Setting>>; 2] {
    let by_policy = results.iter().flatten().any(|settings| settings.is_by_policy);
    results.map(|settings| {
        settings.map(|settings| {
            if by_policy && !settings.is_by_policy {
                &settings.by_policy
            } else {
                &settings.values
            }
        })
    })
}

/// The settings whose values differ, by name.
fn differing(results: [Option<&Settings>; 2]) -> Vec<SettingChange> {
    let none = BTreeMap::new();
    let [old, new] = on_equal_terms(results).map(|settings| settings.unwrap_or(&none));
    let names: BTreeSet<&Arc<str>> = old.keys().chain(new.keys()).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let (before, after) = (old.get(name), new.get(name));
            let value = |setting: Option<&Setting>| setting.map(|setting| Arc::clone(&setting.value));
            let from = |setting: Option<&Setting>| setting.map(|setting| Arc::clone(&setting.from));
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
