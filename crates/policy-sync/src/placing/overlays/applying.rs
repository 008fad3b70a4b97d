//! Applies the settings of overlays to objects.
//!
//! Owns: the changed objects, the clusters that get the same ones, and the findings about conflicts. Flows in: settings.
//! Flows out: classes of clusters. Must not know: how overlays are written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use apimachinery::Work;
use kube_json::Value;

use super::fleet::Fleet;
use super::meeting::{Meeting, Side};
use super::settings::Settings;
use super::{MOST_NAMES, OverlaidClusters, Overridden, STEPS_PER_CHANGE, SetValue, set};
use crate::diagnostic::{Code, Finding, counted, first_names};
use crate::object::{Object, OverlaidField};

/// Longer values are not part of a message.
const LONGEST_VALUE: usize = 60;
/// What a changed object costs, besides its bytes.
const STEPS_PER_CHANGED_OBJECT: u64 = 100;
/// What an object costs in each class of clusters that gets it changed.
const STEPS_PER_OBJECT_OF_CLASS: u64 = 50;

/// Applies settings to objects.
pub(super) struct Applying<'s, 'a> {
    settings: &'s Settings<'a>,
    fleet: &'s Fleet<'a>,
    work: &'s Work,
    /// What changes of an object come to.
    outcomes: BTreeMap<Vec<SetValue>, Arc<Outcome>>,
    /// Every distinct changed object.
    changed: Vec<Arc<Object>>,
    /// Their numbers, by the position of the object in the hub and the hash of the value.
    numbers: HashMap<(usize, u64), Vec<usize>>,
    pub(super) overridden: Overridden,
    /// Each two entries in conflict: the changes that show it, the objects, and the clusters.
    conflicting: BTreeMap<(usize, usize), Conflict>,
}

/// Two entries in conflict.
struct Conflict {
    first: SetValue,
    second: SetValue,
    objects: BTreeSet<usize>,
    clusters: BTreeSet<usize>,
}

/// What changes of one object come to.
struct Outcome {
    /// The number of the changed object; nothing if it is as on the hub.
    changed: Option<usize>,
    /// The overlays that change it.
    overlays: BTreeSet<usize>,
    overridden: Vec<(usize, usize)>,
    conflicts: Vec<(SetValue, SetValue)>,
}

impl<'s, 'a> Applying<'s, 'a> {
    pub(super) fn new(settings: &'s Settings<'a>, fleet: &'s Fleet<'a>, work: &'s Work) -> Self {
        Self {
            settings,
            fleet,
            work,
            outcomes: BTreeMap::new(),
            changed: Vec::new(),
            numbers: HashMap::new(),
            overridden: Overridden::new(),
            conflicting: BTreeMap::new(),
        }
    }

    /// The clusters with changed objects; nothing if there are more than the run allows.
    pub(super) fn classes(&mut self) -> Option<Vec<OverlaidClusters>> {
        let mut classes: BTreeMap<Vec<usize>, (Vec<usize>, BTreeSet<usize>)> = BTreeMap::new();
        for (chosen, clusters) in self.settings.groups(self.fleet, self.work)? {
            let mut objects = Vec::new();
            let mut overlays: BTreeSet<usize> = BTreeSet::new();
            let first = clusters.first().copied().unwrap_or_default();
            for (object, changes) in self.settings.changes(&chosen, first, self.work)? {
                let outcome = self.outcome(object, changes)?;
                self.note(object, &outcome, &clusters)?;
                if let Some(changed) = outcome.changed {
                    objects.push(changed);
                    overlays.extend(&outcome.overlays);
                }
            }
            if objects.is_empty() {
                continue;
            }
            let (same, by) = classes.entry(objects).or_default();
            same.extend(clusters);
            by.extend(overlays);
        }
        let objects = classes.keys().map(Vec::len).fold(0, usize::saturating_add);
        if !self.work.pay(objects, STEPS_PER_OBJECT_OF_CLASS) {
            return None;
        }
        let classes = classes
            .into_iter()
            .map(|(objects, (clusters, overlays))| OverlaidClusters {
                clusters: self.fleet.sorted_names(&clusters),
                objects: objects
                    .iter()
                    .filter_map(|number| self.changed.get(*number).cloned())
                    .collect(),
                overlays: overlays.into_iter().collect(),
            });
        let mut classes: Vec<OverlaidClusters> = classes.collect();
        classes.sort_by(|one, other| one.clusters.cmp(&other.clusters));
        Some(classes)
    }

    /// Notes who is overridden, and what is in conflict, on these clusters.
    fn note(&mut self, object: usize, outcome: &Outcome, clusters: &[usize]) -> Option<()> {
        let noted = outcome.overridden.len().saturating_add(outcome.conflicts.len());
        if !self
            .work
            .pay(noted.saturating_mul(clusters.len()), STEPS_PER_CHANGE)
        {
            return None;
        }
        for overridden in &outcome.overridden {
            self.overridden.entry(*overridden).or_default().extend(clusters);
        }
        for (first, second) in &outcome.conflicts {
            let entry = |change: &SetValue| self.settings.setting(change.0).map(|setting| setting.entry);
            let (Some(one), Some(other)) = (entry(first), entry(second)) else {
                continue;
            };
            let conflict = self.conflicting.entry((one, other)).or_insert_with(|| Conflict {
                first: *first,
                second: *second,
                objects: BTreeSet::new(),
                clusters: BTreeSet::new(),
            });
            conflict.objects.insert(object);
            conflict.clusters.extend(clusters);
        }
        Some(())
    }

    /// What these changes of an object come to.
    fn outcome(&mut self, object: usize, changes: Vec<SetValue>) -> Option<Arc<Outcome>> {
        if let Some(known) = self.outcomes.get(&changes) {
            return Some(Arc::clone(known));
        }
        let sides = changes.iter().filter_map(|change| self.side(*change));
        let sides: Vec<Side<'_>> = sides.collect();
        let pay = || self.work.pay(1, STEPS_PER_CHANGE);
        let meeting = Meeting::new(&sides, pay)?;
        let number = |position: usize| changes.get(position).map(|(setting, _)| *setting);
        let overlay_of = |position: usize| sides.get(position).map(|side| side.overlay);
        let overridden = meeting.overridden.iter();
        let overridden = overridden.filter_map(|(one, by)| Some((number(*one)?, overlay_of(*by)?)));
        let conflicts = meeting.conflicts.iter();
        let conflicts =
            conflicts.filter_map(|(one, other)| Some((*changes.get(*one)?, *changes.get(*other)?)));
        let target = self.settings.object(object)?;
        let differs = |position: &usize| {
            let side = sides.get(*position);
            side.is_some_and(|side| target.value.pointer(side.pointer) != side.value)
        };
        let overlays = meeting.counting.iter().filter(|position| differs(position));
        let overlays = overlays.filter_map(|position| overlay_of(*position)).collect();
        let applied: Vec<usize> = meeting
            .applied
            .iter()
            .filter(|position| differs(position))
            .copied()
            .collect();
        let fields = applied
            .iter()
            .filter_map(|position| self.settings.overlaid_field(number(*position)?));
        let fields: Vec<OverlaidField> = fields.collect();
        let sides: Vec<Side<'_>> = applied
            .iter()
            .filter_map(|position| sides.get(*position).copied())
            .collect();
        let outcome = Outcome {
            changed: None,
            overlays,
            overridden: overridden.collect(),
            conflicts: conflicts.collect(),
        };
        let changed = if fields.is_empty() {
            None
        } else {
            let mut kept = sides.iter().filter_map(|side| side.value).chain([&target.value]);
            if !self.work.pay(1, STEPS_PER_CHANGED_OBJECT) || !kept.all(|value| self.work.keep(value)) {
                return None;
            }
            let mut value = target.value.clone();
            for side in sides {
                set(&mut value, side.pointer, side.value);
            }
            Some(self.number(object, target, value, fields))
        };
        let outcome = Arc::new(Outcome { changed, ..outcome });
        self.outcomes.insert(changes, Arc::clone(&outcome));
        Some(outcome)
    }

    /// The number of a changed object: clusters with equal ones are one class, whoever changed them.
    fn number(
        &mut self,
        position: usize,
        target: &Object,
        value: Value,
        fields: Vec<OverlaidField>,
    ) -> usize {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        let alike = self.numbers.entry((position, hasher.finish())).or_default();
        let is_equal = |number: &&usize| {
            self.changed
                .get(**number)
                .is_some_and(|known| known.value == value)
        };
        if let Some(known) = alike.iter().find(is_equal) {
            return *known;
        }
        let number = self.changed.len();
        alike.push(number);
        self.changed.push(Arc::new(Object {
            value,
            overlaid: Some(fields.into()),
            ..target.clone_without_value()
        }));
        number
    }

    fn side(&self, (setting, value): SetValue) -> Option<Side<'s>> {
        let setting = self.settings.setting(setting)?;
        let entry = self.settings.entry(setting.entry)?;
        Some(Side {
            overlay: entry.overlay,
            priority: self.settings.overlay(entry.overlay)?.1.priority,
            pointer: &setting.pointer,
            value: entry.values.get(value)?.as_ref(),
        })
    }

    /// One finding for each two entries of `set`.
    pub(super) fn conflicts(&self) -> Vec<Finding> {
        let conflicts = self.conflicting.values();
        conflicts.filter_map(|conflict| self.conflict(conflict)).collect()
    }

    fn conflict(&self, conflict: &Conflict) -> Option<Finding> {
        let changes = [conflict.first, conflict.second];
        let [first, second] = changes.map(|change| self.side(change));
        let (first, second) = (first?, second?);
        let [one, other] = changes.map(|(setting, _)| self.settings.setting(setting));
        let (one, other) = (one?, other?);
        let paths = [self.settings.path(one)?, self.settings.path(other)?];
        let object = self.settings.object(*conflict.objects.first()?)?.identity();
        let clusters: Vec<usize> = conflict.clusters.iter().copied().collect();
        let clusters = first_names(self.fleet.sorted_names(&clusters), MOST_NAMES);
        let is_one_overlay = first.overlay == second.overlay;
        let overlay = self.settings.overlay(first.overlay)?.0.identity();
        let message = match (is_one_overlay, first.pointer == second.pointer) {
            (true, true) => format!("{overlay} changes `{}` of {object} twice", paths[0]),
            (_, false) => {
                let [upper, lower] = if first.pointer.len() < second.pointer.len() {
                    &paths
                } else {
                    &[paths[1].clone(), paths[0].clone()]
                };
                let who = if is_one_overlay {
                    format!("{overlay} changes")
                } else {
                    "two overlays change".to_owned()
                };
                format!("{who} `{upper}` of {object} and `{lower}`, which is inside it, on {clusters}")
            }
            (false, true) => match (shown(first.value), shown(second.value)) {
                (Some(one), Some(other)) => {
                    format!(
                        "two overlays set `{}` of {object} on {clusters}: {one} and {other}",
                        paths[0]
                    )
                }
                _ => format!(
                    "two overlays change `{}` of {object} on {clusters} differently",
                    paths[0]
                ),
            },
        };
        let label = |side: &Side<'_>| match (side.value, shown(side.value)) {
            (None, _) => "removes it".to_owned(),
            (_, Some(value)) => format!("sets {value}"),
            _ => "sets another value".to_owned(),
        };
        let finding = Finding::new(Code::OVERLAY_CONFLICT, self.settings.place(one)?, message)
            .label(label(&first))
            .related(self.settings.place(other)?, label(&second));
        let finding = match conflict.objects.len().saturating_sub(1) {
            0 => finding,
            others => finding.note(format!("the same happens in {}", counted(others, "more object"))),
        };
        Some(finding.help(if is_one_overlay {
            "keep one of the two entries"
        } else {
            "give one of them a higher `priority`, or select other clusters"
        }))
    }
}

/// A value in a message, if it is short.
fn shown(value: Option<&Value>) -> Option<String> {
    value
        .map(ToString::to_string)
        .filter(|text| text.len() <= LONGEST_VALUE)
}
