//! Effective settings that change, also where no object of the policy's own does: a new route, a policy that a deleted
//! one had displaced.
//!
//! Owns: the settings of one side by path ([`EffectiveSettings`]), and what differs between two. Flows in: evaluated
//! policies. Flows out: [`EffectiveChange`]s. Must not know: works.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};

use super::report::{EffectiveChange, SettingChange};
use crate::policy::profile::MergeUnit;
use crate::policy::status::Outcome;
use crate::policy::{Effective, PolicyId, PolicyView, Profile};

/// Kind and group of the policies, and the locators of a path.
type PathKey = (String, String, Vec<String>);

/// What holds on every path of one side.
#[derive(Debug, Default)]
pub struct EffectiveSettings {
    by_path: BTreeMap<PathKey, Held>,
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
        let attachments = &view.attachments;
        let topology = &attachments.topology;
        let mut known: HashMap<*const Effective, Arc<Settings>> = HashMap::new();
        let mut clusters_of: HashMap<u32, Arc<Vec<String>>> = HashMap::new();
        let mut by_path = BTreeMap::new();
        for (kind, path) in view.effective.iter() {
            let Some(profile) = attachments.kinds.get(kind).map(|kind| kind.profile.as_ref()) else {
                continue;
            };
            let gateway = path.path.gateway;
            let clusters = clusters_of.entry(gateway).or_insert_with(|| {
                let key = topology.gateway(gateway).map(|gateway| gateway.object.key());
                let all = key.and_then(|key| view.clusters.get(&key)).into_iter().flatten();
                Arc::new(all.filter(|cluster| admits(cluster)).cloned().collect())
            });
            let clusters = without_local(view, &path.effective, clusters);
            let settings = known
                .entry(Arc::as_ptr(&path.effective))
                .or_insert_with(|| Arc::new(Settings::new(view, profile, &path.effective)));
            by_path.insert(
                (
                    profile.kind.clone(),
                    profile.group.clone(),
                    topology.path_locators(&path.path),
                ),
                Held {
                    label: topology.path_label(&path.path),
                    settings: Arc::clone(settings),
                    clusters,
                },
            );
        }
        Self { by_path }
    }

    /// What holds otherwise on the new side, by kind and path. Paths that no cluster has are left out.
    #[must_use]
    pub fn changes(old: &Self, new: &Self) -> Vec<EffectiveChange> {
        let mut compared: HashMap<[*const Settings; 2], Arc<Vec<SettingChange>>> = HashMap::new();
        let keys: BTreeSet<_> = old.by_path.keys().chain(new.by_path.keys()).collect();
        let mut changes = Vec::new();
        for key in keys {
            let (before, after) = (old.by_path.get(key), new.by_path.get(key));
            let pair = [before, after].map(|held| held.map(|held| held.settings.as_ref()));
            let pointers = pair.map(|settings| settings.map_or(std::ptr::null(), std::ptr::from_ref));
            let settings = compared
                .entry(pointers)
                .or_insert_with(|| Arc::new(differing(pair)));
            if settings.is_empty() {
                continue;
            }
            let clusters = both(before, after);
            let Some(held) = after.or(before).filter(|_| !clusters.is_empty()) else {
                continue;
            };
            let [old, new] = pair;
            let all = |settings: Option<&Settings>, of: fn(&Settings) -> &Vec<String>| {
                settings.map(of).cloned().unwrap_or_default()
            };
            changes.push(EffectiveChange {
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
                settings: Arc::clone(settings),
            });
        }
        changes
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

fn both(before: Option<&Held>, after: Option<&Held>) -> Arc<Vec<String>> {
    match (before, after) {
        (Some(before), Some(after)) if before.clusters == after.clusters => Arc::clone(&after.clusters),
        (Some(before), Some(after)) => {
            let all: BTreeSet<&String> = before.clusters.iter().chain(after.clusters.iter()).collect();
            Arc::new(all.into_iter().cloned().collect())
        }
        (one, other) => one
            .or(other)
            .map(|held| Arc::clone(&held.clusters))
            .unwrap_or_default(),
    }
}

impl Settings {
    fn new(view: &PolicyView<'_>, profile: &Profile, effective: &Effective) -> Self {
        let attachments = &view.attachments;
        let name = |id: PolicyId| {
            let policy = attachments.policy(id);
            policy.map(|policy| policy.object.key()).unwrap_or_default()
        };
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
