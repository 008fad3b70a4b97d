//! Effective settings that change, for people: equal changes of many paths are grouped, and winning policies are named.
//!
//! Owns: which changes form a group, and the wording. Flows in: a [`DiffReport`]. Flows out: [`EffectiveGroup`]s. Must
//! not know: formats, terminals.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::change::Change;
use super::clusters::describe_names;
use super::compare::Presence;
use super::field_line::field_line;
use super::fields::{FieldChange, field_changes};
use super::report::{DiffReport, EffectiveChange, SettingChange};
use crate::diagnostic::{and_more, first_names};
use apimachinery::pointer;

/// At most so many paths with one change are listed, the rest is counted.
const MOST_PATHS: usize = 8;

/// At most so many settings are named in a title.
const MOST_SETTINGS: usize = 3;

/// Changes that are the same on some paths.
pub(super) struct EffectiveGroup {
    /// Kind of the policies.
    pub kind: String,
    /// Whether policies take effect, are no longer in effect, or change settings.
    pub change: Change,
    /// Whether only the new side has the paths.
    pub is_of_new_paths: bool,
    /// `RateLimitPolicy shop/per-client instead of shop/api-burst`.
    pub title: String,
    /// `2 clusters: eu-1, us-1`.
    pub clusters: String,
    /// The paths, the last line counting those that are too many.
    pub paths: Vec<String>,
    /// One line for each field.
    pub lines: Vec<String>,
}

/// All changes, in the order of their first path, what is lost first; without those on some clusters alone.
pub(super) fn groups(report: &DiffReport, without: &BTreeSet<&str>) -> Vec<EffectiveGroup> {
    let mut order: Vec<(EffectiveGroup, usize)> = Vec::new();
    let mut positions: BTreeMap<(String, Vec<String>, usize), usize> = BTreeMap::new();
    let mut lines_of: HashMap<*const Vec<SettingChange>, Vec<String>> = HashMap::new();
    let mut sets = Sets::default();
    for change in &report.effective_changes {
        let several = change.old_names.len() > 1 || change.new_names.len() > 1;
        let lines = lines_of
            .entry(Arc::as_ptr(&change.settings))
            .or_insert_with(|| lines(&change.settings, several))
            .clone();
        let title = title(change);
        let clusters = sets.without(&change.clusters, without);
        if clusters.is_empty() && !change.clusters.is_empty() {
            continue;
        }
        let set = sets.number(&clusters);
        let position = *positions
            .entry((title.clone(), lines.clone(), set))
            .or_insert_with(|| {
                let names: Vec<&str> = clusters.iter().map(String::as_str).collect();
                let group = EffectiveGroup {
                    kind: change.kind.clone(),
                    change: what_happens(change),
                    is_of_new_paths: change.presence == Presence::Joins,
                    title,
                    clusters: describe_names(&report.comparison.clusters, &names),
                    paths: Vec::new(),
                    lines,
                };
                order.push((group, 0));
                order.len().saturating_sub(1)
            });
        if let Some((group, count)) = order.get_mut(position) {
            if *count < MOST_PATHS {
                group.paths.push(change.label.clone());
            }
            *count = count.saturating_add(1);
        }
    }
    order.sort_by_key(|(group, _)| match group.change {
        Change::Removed => 0,
        Change::Added => 1,
        Change::Changed => 2,
    });
    order
        .into_iter()
        .map(|(mut group, count)| {
            group
                .paths
                .extend(and_more(count.saturating_sub(MOST_PATHS), "path"));
            group
        })
        .collect()
}

/// Sets of clusters by number: most paths share theirs.
#[derive(Default)]
struct Sets {
    by_place: HashMap<*const Vec<String>, usize>,
    by_names: HashMap<Arc<Vec<String>>, usize>,
    /// By its place, what is left of a set.
    shorter: HashMap<*const Vec<String>, Arc<Vec<String>>>,
}

impl Sets {
    /// A set without some clusters.
    fn without(&mut self, set: &Arc<Vec<String>>, without: &BTreeSet<&str>) -> Arc<Vec<String>> {
        if without.is_empty() {
            return Arc::clone(set);
        }
        let shorter = self.shorter.entry(Arc::as_ptr(set)).or_insert_with(|| {
            let left = set.iter().filter(|name| !without.contains(name.as_str()));
            Arc::new(left.cloned().collect())
        });
        Arc::clone(shorter)
    }

    fn number(&mut self, set: &Arc<Vec<String>>) -> usize {
        let Self {
            by_place, by_names, ..
        } = self;
        *by_place.entry(Arc::as_ptr(set)).or_insert_with(|| {
            let next = by_names.len();
            *by_names.entry(Arc::clone(set)).or_insert(next)
        })
    }
}

fn what_happens(change: &EffectiveChange) -> Change {
    match (change.old_names.is_empty(), change.new_names.is_empty()) {
        (_, true) => Change::Removed,
        (true, false) => Change::Added,
        (false, false) => Change::Changed,
    }
}

/// The winner now, and the winner before.
fn title(change: &EffectiveChange) -> String {
    let (kind, old, new) = (
        &change.kind,
        change.old_names.join(", "),
        change.new_names.join(", "),
    );
    if old == new {
        let settings: Vec<String> = change
            .settings
            .iter()
            .map(|change| named(&change.setting))
            .collect();
        format!("{kind} {new} changes {}", first_names(&settings, MOST_SETTINGS))
    } else if new.is_empty() {
        let what = if change.presence == Presence::Leaves {
            "goes with its paths"
        } else {
            "is lost"
        };
        format!("{kind} {old} {what}")
    } else if old.is_empty() {
        let what = if change.presence == Presence::Joins {
            "applies to new paths"
        } else {
            "now applies"
        };
        format!("{kind} {new} {what}")
    } else {
        format!("{kind} {new} instead of {old}")
    }
}

/// `several`: more than one policy is named, so that each line has to say whose it is.
fn lines(settings: &[SettingChange], several: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for change in settings {
        let name = dotted(&change.setting);
        let from = match (&change.old_from, &change.new_from) {
            _ if !several => String::new(),
            (Some(old), Some(new)) if old != new => format!(" (from {new}, before from {old})"),
            (_, Some(new)) => format!(" (from {new})"),
            (Some(old), None) => format!(" (before from {old})"),
            (None, None) => String::new(),
        };
        match (&change.old, &change.new) {
            (Some(old), Some(new)) => {
                for mut field in field_changes(old, new) {
                    field.path = inside(&name, &field.path);
                    lines.push(format!("{}{from}", field_line(&field)));
                }
            }
            (old, new) => {
                let field = FieldChange {
                    path: name,
                    old: old.as_deref().cloned(),
                    new: new.as_deref().cloned(),
                };
                lines.push(format!("{}{from}", field_line(&field)));
            }
        }
    }
    lines
}

fn inside(name: &str, path: &str) -> String {
    match (name, path) {
        (name, "") => name.to_owned(),
        ("", path) => path.to_owned(),
        (name, path) if path.starts_with('[') => format!("{name}{path}"),
        (name, path) => format!("{name}.{path}"),
    }
}

/// A setting in a sentence. A policy of an unknown form is one setting without a name.
pub(super) fn named(setting: &str) -> String {
    match dotted(setting) {
        name if name.is_empty() => "its spec".to_owned(),
        name => name,
    }
}

/// A JSON pointer as people write a path; the id of a rule as it is.
fn dotted(setting: &str) -> String {
    if !setting.starts_with('/') {
        return setting.to_owned();
    }
    pointer::tokens(setting).collect::<Vec<_>>().join(".")
}
