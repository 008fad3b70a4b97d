//! The report: what was compared, what differs, and the findings about it.
//!
//! Owns: the parts of a report, and its headline. Flows in: a [`Comparison`], effective changes. Flows out: a
//! [`DiffReport`]. Must not know: formats.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::sync::Arc;

use kube_json::Value;
use serde::{Serialize, Serializer};

use super::compare::{Comparison, Presence};
use super::limit::Exceeded;
use super::terms::Terms;
use crate::diagnostic::{Hidden, counted};
use crate::render::REPLICA_SETS;
use crate::report::render_report::key_of;

/// What the sides are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Titles {
    /// Such as `HEAD`.
    pub old: String,
    /// Such as `work tree`.
    pub new: String,
    /// The command that shows everything, for readers of a part.
    #[serde(skip)]
    pub command: String,
    /// The name of the fleet, if it has one.
    #[serde(rename = "title", skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
}

/// A policy whose effective settings change on some path from a Gateway to a route, even if its own object does not.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
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
    #[serde(serialize_with = "names")]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
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
    /// `namespace/name` of `old_policies`.
    #[serde(skip)]
    pub old_names: Vec<String>,
    /// `namespace/name` of `new_policies`.
    #[serde(skip)]
    pub new_names: Vec<String>,
    /// The settings that differ; paths with one change share them.
    #[serde(skip)]
    pub settings: Arc<Vec<SettingChange>>,
}

impl EffectiveChange {
    /// `namespace/name` of the policies that gave the settings that are lost, sorted.
    pub(super) fn lost_from(&self) -> Vec<&str> {
        let gone = self.settings.iter().filter(|setting| setting.new.is_none());
        let from: BTreeSet<&str> = gone.filter_map(|setting| setting.old_from.as_deref()).collect();
        from.into_iter().collect()
    }
}

/// Locator of the policy that gives the new value of a setting, of those that hold then.
pub(in crate::report) fn giver<'p>(policies: &'p [String], setting: &SettingChange) -> Option<&'p str> {
    let key = setting.new_from.as_deref()?;
    let mut policies = policies.iter().map(String::as_str);
    policies.find(|locator| key_of(locator) == key)
}

/// A setting that differs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SettingChange {
    /// Rule id or JSON pointer.
    pub setting: String,
    /// Absent if it was added.
    pub old: Option<Arc<Value>>,
    /// Absent if it was removed.
    pub new: Option<Arc<Value>>,
    /// `namespace/name` of the policy that gave it.
    pub old_from: Option<String>,
    /// `namespace/name` of the policy that gives it.
    pub new_from: Option<String>,
}

fn names<S: Serializer>(names: &Arc<Vec<String>>, serializer: S) -> Result<S::Ok, S::Error> {
    names.as_slice().serialize(serializer)
}

/// Hides the values of Secrets in settings, of which each list is shared by many paths.
pub(in crate::report) fn conceal(changes: &mut [EffectiveChange], hidden: &mut Hidden) {
    // By the address of the list as it was: all of those exist before the first new one is made.
    let mut known: HashMap<*const Vec<SettingChange>, Arc<Vec<SettingChange>>> = HashMap::new();
    for change in changes {
        let shown = known.entry(Arc::as_ptr(&change.settings)).or_insert_with(|| {
            let mut shown = Vec::clone(&change.settings);
            for value in shown
                .iter_mut()
                .flat_map(|setting| [&mut setting.old, &mut setting.new])
            {
                *value = value.take().map(|value| Arc::new(hidden.conceal(&value, false)));
            }
            Arc::new(shown)
        });
        change.settings = Arc::clone(shown);
    }
}

/// Everything that differs between two sides.
#[derive(Debug)]
#[non_exhaustive]
pub struct DiffReport {
    /// What the sides are called.
    pub titles: Titles,
    /// Works and objects.
    pub comparison: Comparison,
    /// Policies.
    pub effective_changes: Vec<EffectiveChange>,
    /// What else is lost if clusters are as the old side says: only the new side's `spokes` deny it.
    pub denied: Vec<EffectiveChange>,
    /// What decides about the change, and changes with it.
    pub terms: Terms,
    /// Where the change exceeds its budget.
    pub exceeded: Vec<Exceeded>,
    /// The objects that are still in the input but on no cluster any more, each in a sentence.
    pub withdrawn: Vec<String>,
}

impl DiffReport {
    /// Puts a report together; `effective_changes` are what the comparison of objects cannot see.
    pub fn new(
        titles: Titles,
        mut comparison: Comparison,
        mut effective_changes: Vec<EffectiveChange>,
    ) -> Self {
        conceal(&mut effective_changes, &mut comparison.hidden);
        Self {
            titles,
            comparison,
            effective_changes,
            denied: Vec::new(),
            terms: Terms::default(),
            exceeded: Vec::new(),
            withdrawn: Vec::new(),
        }
    }

    /// Adds what decides about the change.
    pub fn judge_by(&mut self, mut denied: Vec<EffectiveChange>, mut terms: Terms) {
        conceal(&mut denied, &mut self.comparison.hidden);
        terms.conceal(&mut self.comparison.hidden);
        (self.denied, self.terms) = (denied, terms);
    }

    /// The changes that may lose something, each with whether the new side's `spokes` deny that.
    pub(super) fn losing(&self) -> impl Iterator<Item = (&EffectiveChange, bool)> {
        let changes = self.effective_changes.iter().map(|change| (change, false));
        changes.chain(self.denied.iter().map(|change| (change, true)))
    }

    /// How many paths have lost all policies of a kind, also where only the new side's `spokes` deny that, and how many
    /// policies are away while they change their works.
    pub fn lost_policies(&self) -> usize {
        let lost = self.losing().filter(|(change, _)| change.is_lost);
        let moved = self.comparison.moved().filter(|moved| moved.is_policy()).count();
        let lost = lost.map(|(change, _)| change.paths);
        lost.fold(moved, usize::saturating_add)
    }

    /// How many objects are deleted on all clusters together, also those that come back in another work.
    pub fn removed_objects(&self) -> usize {
        let moved = self.comparison.moved().map(|moved| moved.clusters.len());
        moved.fold(self.comparison.objects.removed, usize::saturating_add)
    }

    /// Whether both sides are the same, and a later change would be judged as before.
    pub fn is_empty(&self) -> bool {
        self.comparison.changes.is_empty() && self.effective_changes.is_empty() && self.terms.is_empty()
    }

    /// `187 of 1000 clusters change; in total, 0 objects added, 187 changed, 0 removed`.
    pub fn headline(&self) -> String {
        let comparison = &self.comparison;
        if comparison.changes.is_empty() {
            return if self.effective_changes.is_empty() {
                "nothing changes on any cluster".to_owned()
            } else {
                "no object changes, but effective settings do".to_owned()
            };
        }
        let fleet = comparison.fleet();
        let counts = comparison.objects;
        let is_of_sets = |name: &String| name.starts_with(REPLICA_SETS);
        let who = if fleet == 0 && comparison.clusters.iter().any(is_of_sets) {
            // The hub decides which clusters get them.
            "replica sets change".to_owned()
        } else {
            let changed = comparison.changed_clusters;
            let change = if changed == 1 { "changes" } else { "change" };
            format!("{changed} of {} {change}", counted(fleet, "cluster"))
        };
        let left = match comparison.orphaned {
            0 => String::new(),
            orphaned => format!(", {orphaned} left behind"),
        };
        format!(
            "{who}; in total, {} added, {} changed, {} removed{left}",
            counted(counts.added, "object"),
            counts.changed,
            counts.removed
        )
    }
}
