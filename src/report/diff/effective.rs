//! Effective settings that change, also where no object of the policy's own does: a new route, a policy that a deleted
//! one had displaced.
//!
//! Owns: the settings of one side by path ([`EffectiveSettings`]), and what differs between two. Flows in: evaluated
//! policies. Flows out: [`EffectiveChange`]s. Must not know: works.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::policy_view::PolicyView;
use super::report::{EffectiveChange, SettingChange};
use crate::policy::{Effective, MergeUnit, Outcome, PolicyId, Profile};
use crate::topology::GatewayId;

/// Kind and group of the policies, and the locators of a path.
type PathKey = (String, String, Vec<String>);

type ByPath = BTreeMap<PathKey, Held>;

/// What holds on every path of one side.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct EffectiveSettings {
    /// Where nothing but what is synced counts.
    by_path: ByPath,
    /// On clusters that were looked at one by one, because something lives there already.
    on_cluster: BTreeMap<String, ByPath>,
}

/// What holds on one path.
#[derive(Debug)]
struct Held {
    /// The path for people.
    label: String,
    /// Shared by all paths with one result.
    settings: Arc<Settings>,
    /// Of the path's Gateway; shared by all of its paths.
    clusters: Arc<Vec<String>>,
}

/// A result.
#[derive(Debug)]
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

#[derive(Debug)]
struct Setting {
    value: Arc<Value>,
    /// `namespace/name` of the policy.
    from: String,
}

impl EffectiveSettings {
    /// The settings of one side, on the clusters that are asked for.
    #[must_use]
    pub fn new(view: &PolicyView<'_>, admits: impl Fn(&str) -> bool) -> Self {
        let mut clusters_of: HashMap<GatewayId, Arc<Vec<String>>> = HashMap::new();
        let topology = &view.attachments.topology;
        let by_path = by_path(view, |gateway, effective| {
            let clusters = clusters_of.entry(gateway).or_insert_with(|| {
                let key = topology.gateways.get(gateway).object.key();
                let all = view.clusters.get(&key).into_iter().flatten();
                Arc::new(all.filter(|cluster| admits(cluster)).cloned().collect())
            });
            without_local(view, effective, clusters)
        });
        Self {
            by_path,
            on_cluster: BTreeMap::new(),
        }
    }

    /// What is seen on one cluster, with what lives there, counts for that cluster instead of the common view. Both
    /// sides of a comparison look at the same clusters.
    pub fn look_at(&mut self, there: SettingsOnCluster) {
        self.on_cluster.insert(there.cluster, there.by_path);
    }

    /// What holds otherwise on the new side, by kind and path. Paths that no cluster has are left out.
    #[must_use]
    pub fn changes(old: &Self, new: &Self) -> Vec<EffectiveChange> {
        let looked_at: BTreeSet<&String> = old.on_cluster.keys().chain(new.on_cluster.keys()).collect();
        let mut comparing = Comparing::default();
        let mut keys: Vec<&PathKey> = old.by_path.keys().chain(new.by_path.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let sides = [old.by_path.get(key), new.by_path.get(key)];
            comparing.add(key, sides, &looked_at);
        }
        let nobody = BTreeSet::new();
        for cluster in looked_at {
            let sides = [old, new].map(|side| side.on(cluster));
            let mut keys: Vec<&PathKey> = sides.iter().flatten().map(|(key, _)| *key).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let held = sides.each_ref().map(|side| {
                    let held: &Held = side.get(key)?;
                    Some(Held {
                        label: held.label.clone(),
                        settings: Arc::clone(&held.settings),
                        clusters: Arc::new(vec![cluster.clone()]),
                    })
                });
                comparing.add(key, [held[0].as_ref(), held[1].as_ref()], &nobody);
            }
        }
        comparing.changes.into_values().flatten().collect()
    }

    /// What holds on one cluster.
    fn on(&self, cluster: &String) -> BTreeMap<&PathKey, &Held> {
        match self.on_cluster.get(cluster) {
            Some(there) => there.iter().collect(),
            None => {
                let common = self.by_path.iter();
                common
                    .filter(|(_, held)| held.clusters.binary_search(cluster).is_ok())
                    .collect()
            }
        }
    }
}

/// What holds on one cluster.
#[derive(Debug)]
#[non_exhaustive]
pub struct SettingsOnCluster {
    cluster: String,
    by_path: ByPath,
}

impl SettingsOnCluster {
    /// From the view of that cluster.
    #[must_use]
    pub fn new(cluster: &str, view: &PolicyView<'_>) -> Self {
        let alone = Arc::new(vec![cluster.to_owned()]);
        Self {
            cluster: cluster.to_owned(),
            by_path: by_path(view, |_, _| Arc::clone(&alone)),
        }
    }
}

/// All paths of a view; `clusters` says where a result of a Gateway holds.
fn by_path(
    view: &PolicyView<'_>,
    mut clusters: impl FnMut(GatewayId, &Effective) -> Arc<Vec<String>>,
) -> ByPath {
    let attachments = view.attachments;
    let mut known: HashMap<*const Effective, Arc<Settings>> = HashMap::new();
    let mut all = ByPath::new();
    for (kind, path) in view.effective.iter() {
        let profile = attachments.kinds.get(kind).profile.as_ref();
        let settings = known
            .entry(Arc::as_ptr(&path.effective))
            .or_insert_with(|| Arc::new(Settings::new(view, profile, &path.effective)));
        all.insert(
            (
                profile.kind.clone(),
                profile.group.clone(),
                attachments.topology.path_locators(&path.path),
            ),
            Held {
                label: attachments.topology.path_label(&path.path),
                settings: Arc::clone(settings),
                clusters: clusters(path.path.gateway, &path.effective),
            },
        );
    }
    all
}

/// Changes as they are found.
#[derive(Default)]
struct Comparing<'s> {
    /// What differs between two results, compared once.
    compared: HashMap<[*const Settings; 2], Arc<Vec<SettingChange>>>,
    /// By path; several where clusters differ in what changes.
    changes: BTreeMap<&'s PathKey, Vec<EffectiveChange>>,
}

impl<'s> Comparing<'s> {
    /// Adds a path, on all of its clusters but those `besides`.
    fn add(&mut self, key: &'s PathKey, [before, after]: [Option<&Held>; 2], besides: &BTreeSet<&String>) {
        let pair = [before, after].map(|held| held.map(|held| held.settings.as_ref()));
        let pointers = pair.map(|settings| settings.map_or(std::ptr::null(), std::ptr::from_ref));
        let compared = self.compared.entry(pointers);
        let settings = Arc::clone(compared.or_insert_with(|| Arc::new(differing(pair))));
        let Some(held) = after.or(before).filter(|_| !settings.is_empty()) else {
            return;
        };
        let clusters = both(before, after, besides);
        if clusters.is_empty() {
            return;
        }
        let [old, new] = pair;
        let all = |settings: Option<&Settings>, of: fn(&Settings) -> &Vec<String>| {
            settings.map(of).cloned().unwrap_or_default()
        };
        let change = EffectiveChange {
            kind: key.0.clone(),
            path: key.2.clone(),
            label: held.label.clone(),
            clusters,
            old: old.map(|settings| settings.whole.clone()),
            new: new.map(|settings| settings.whole.clone()),
            old_policies: all(old, |settings| &settings.policies),
            new_policies: all(new, |settings| &settings.policies),
            old_names: all(old, |settings| &settings.names),
            new_names: all(new, |settings| &settings.names),
            settings,
        };
        let changes = self.changes.entry(key).or_default();
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
            }
            None => changes.push(change),
        }
    }
}

/// The clusters where no policy that lives there took the place of one of these: something else holds there.
fn without_local(
    view: &PolicyView<'_>,
    effective: &Effective,
    clusters: &Arc<Vec<String>>,
) -> Arc<Vec<String>> {
    if view.effects.is_empty() {
        return Arc::clone(clusters);
    }
    let sources = effective.sources();
    let replaced = |cluster: &String| {
        let effects = view.effects.get(cluster).into_iter().flatten();
        effects
            .filter(|effect| effect.outcome == Outcome::Overridden)
            .any(|effect| sources.contains(&effect.policy))
    };
    if !clusters.iter().any(replaced) {
        return Arc::clone(clusters);
    }
    let kept = clusters.iter().filter(|cluster| !replaced(cluster)).cloned();
    Arc::new(kept.collect())
}

/// The clusters of either side, but for those `besides`.
fn both(before: Option<&Held>, after: Option<&Held>, besides: &BTreeSet<&String>) -> Arc<Vec<String>> {
    let mut sides: Vec<&Arc<Vec<String>>> = before
        .into_iter()
        .chain(after)
        .map(|held| &held.clusters)
        .collect();
    sides.dedup();
    if let [one] = sides.as_slice()
        && !one.iter().any(|cluster| besides.contains(cluster))
    {
        return Arc::clone(one);
    }
    let all: BTreeSet<&String> = sides.into_iter().flat_map(|clusters| clusters.iter()).collect();
    let kept = all.into_iter().filter(|cluster| !besides.contains(cluster));
    Arc::new(kept.cloned().collect())
}

impl Settings {
    fn new(view: &PolicyView<'_>, profile: &Profile, effective: &Effective) -> Self {
        let attachments = view.attachments;
        let name = |id: PolicyId| attachments.policy(id).object.key();
        let values: BTreeMap<Arc<str>, Setting> = effective
            .content
            .iter()
            .map(|(key, leaf)| {
                let setting = Setting {
                    value: Arc::clone(&leaf.value),
                    from: name(leaf.policy),
                };
                (Arc::clone(key), setting)
            })
            .collect();
        let rules = || {
            let rules = effective.content.iter();
            let rules: BTreeMap<&str, &Value> = rules
                .map(|(key, leaf)| (key.as_ref(), leaf.value.as_ref()))
                .collect();
            json!(rules)
        };
        let whole = match effective.spec(profile) {
            Some(spec) if !matches!(profile.unit, MergeUnit::Rules(_)) => spec,
            _ => rules(),
        };
        let sources = effective.sources();
        let mut policies: Vec<String> = sources
            .iter()
            .map(|id| attachments.locator(*id).to_string())
            .collect();
        policies.sort_unstable();
        let names: BTreeSet<String> = sources.into_iter().map(name).collect();
        Self {
            values,
            whole,
            policies,
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
