//! Applies the changes of overlays to objects, and decides what happens if several of them apply on one cluster.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::{Identity, Work, pointer};
use kube_json::Value;

use super::changes::{ChangedField, MOST_NAMES, OverlaidClusters, Overlay, STEPS_PER_CHANGE, set};
use crate::diagnostic::{Code, Finding, Part, counted, first_names};
use crate::hub::Hub;
use crate::object::{Object, OverlaidField};

/// Longer values are not part of a message.
const LONGEST_VALUE: usize = 60;
/// What a changed object costs, besides its bytes.
const STEPS_PER_CHANGED_OBJECT: u64 = 100;
/// What an object costs in each class of clusters that gets it changed.
const STEPS_PER_OBJECT_OF_CLASS: u64 = 50;

/// Positions of entries of `set`, each with that of one of its values.
type Choices = Vec<(usize, usize)>;

/// Applies overlays.
pub(super) struct Applying<'o> {
    hub: &'o Hub,
    overlays: &'o [Overlay],
    work: &'o Work,
    /// The fields of each entry of `set`, after the position of its overlay and of the first of them there.
    entries: Vec<(usize, usize, &'o [ChangedField])>,
    /// What changes of an object come to: most are the same on many clusters.
    outcomes: BTreeMap<(&'o Identity, Choices), Arc<Outcome>>,
    /// Every distinct changed object.
    changed: Vec<Arc<Object>>,
    /// Their positions.
    positions: HashMap<(&'o Identity, Value), usize>,
    /// Where higher priorities override a field, by the positions of the overlay and of the field.
    pub(super) overridden: BTreeMap<(usize, usize), BTreeMap<String, Identity>>,
    /// Each two entries in conflict.
    conflicting: BTreeMap<[usize; 2], Conflict<'o>>,
}

/// Two entries in conflict.
struct Conflict<'o> {
    /// Two changes that show it.
    changes: [Change<'o>; 2],
    objects: BTreeSet<&'o Identity>,
    clusters: BTreeSet<&'o String>,
}

/// What changes of one object come to.
struct Outcome {
    resolution: Resolution,
    /// The position of the changed object; nothing if it is as on the hub.
    changed: Option<usize>,
    /// The overlays that change it.
    overlays: BTreeSet<usize>,
}

impl<'o> Applying<'o> {
    pub(super) fn new(hub: &'o Hub, overlays: &'o [Overlay], work: &'o Work) -> Self {
        let mut entries = Vec::new();
        for (number, overlay) in overlays.iter().enumerate() {
            let mut start = 0_usize;
            for fields in overlay.fields.chunk_by(|one, other| one.entry == other.entry) {
                entries.push((number, start, fields));
                start = start.saturating_add(fields.len());
            }
        }
        Self {
            hub,
            overlays,
            work,
            entries,
            outcomes: BTreeMap::new(),
            changed: Vec::new(),
            positions: HashMap::new(),
            overridden: BTreeMap::new(),
            conflicting: BTreeMap::new(),
        }
    }

    /// The clusters with changed objects; nothing if that takes more work than a run allows.
    pub(super) fn classes(&mut self) -> Option<Vec<OverlaidClusters>> {
        let mut classes: BTreeMap<Vec<usize>, (BTreeSet<&String>, BTreeSet<usize>)> = BTreeMap::new();
        for (choices, clusters) in self.alike()? {
            let mut objects = Vec::new();
            let mut overlays: BTreeSet<usize> = BTreeSet::new();
            for (object, changes) in self.changes(&choices)? {
                let outcome = self.outcome(object, &changes)?;
                self.note(object, &changes, &outcome.resolution, &clusters)?;
                if let Some(changed) = outcome.changed {
                    objects.push(changed);
                    overlays.extend(&outcome.overlays);
                }
            }
            if !objects.is_empty() {
                let (same, by) = classes.entry(objects).or_default();
                same.extend(clusters);
                by.extend(overlays);
            }
        }
        let objects = classes.keys().map(Vec::len).fold(0, usize::saturating_add);
        self.pay(objects, STEPS_PER_OBJECT_OF_CLASS)?;
        let changed = |position: &usize| self.changed.get(*position).cloned();
        let classes = classes.into_iter();
        let classes = classes.map(|(objects, (clusters, overlays))| OverlaidClusters {
            clusters: clusters.into_iter().cloned().collect(),
            objects: objects.iter().filter_map(changed).collect(),
            overlays: overlays.into_iter().collect(),
        });
        let mut classes: Vec<OverlaidClusters> = classes.collect();
        classes.sort_by(|one, other| one.clusters.cmp(&other.clusters));
        Some(classes)
    }

    /// Nothing if there is not enough work left.
    fn pay(&self, things: usize, steps: u64) -> Option<()> {
        self.work.pay(things, steps).then_some(())
    }

    /// Clusters on which the same entries have the same values.
    fn alike(&self) -> Option<BTreeMap<Choices, Vec<&'o String>>> {
        let mut by_cluster: BTreeMap<&String, Choices> = BTreeMap::new();
        for (entry, (_, _, fields)) in self.entries.iter().enumerate() {
            // All fields of an entry share its values.
            let values = fields.iter().take(1).flat_map(|field| field.here.iter());
            for (choice, value) in values.enumerate() {
                self.pay(value.clusters.len(), STEPS_PER_CHANGE)?;
                for cluster in value.clusters.iter() {
                    by_cluster.entry(cluster).or_default().push((entry, choice));
                }
            }
        }
        let mut alike: BTreeMap<Choices, Vec<&String>> = BTreeMap::new();
        for (cluster, choices) in by_cluster {
            alike.entry(choices).or_default().push(cluster);
        }
        Some(alike)
    }

    /// The changes of each object.
    fn changes(&self, choices: &Choices) -> Option<BTreeMap<&'o Identity, Vec<Change<'o>>>> {
        let mut changes: BTreeMap<&Identity, Vec<Change<'_>>> = BTreeMap::new();
        for (entry, choice) in choices {
            let (overlay, start, fields) = *self.entries.get(*entry)?;
            self.pay(fields.len(), STEPS_PER_CHANGE)?;
            for (position, field) in fields.iter().enumerate() {
                changes.entry(&field.object).or_default().push(Change {
                    overlay,
                    entry: *entry,
                    position: start.saturating_add(position),
                    priority: self.overlays.get(overlay)?.priority,
                    field,
                    choice: *choice,
                    value: field.here.get(*choice)?.value.as_ref(),
                });
            }
        }
        Some(changes)
    }

    /// What these changes of an object come to.
    fn outcome(&mut self, object: &'o Identity, changes: &[Change<'o>]) -> Option<Arc<Outcome>> {
        let choices = changes.iter().map(|change| (change.entry, change.choice));
        let key = (object, choices.collect());
        // Clusters with other values elsewhere may have the same changes of this object.
        if let Some(known) = self.outcomes.get(&key) {
            return Some(Arc::clone(known));
        }
        let resolution = Resolution::new(changes, || self.work.pay(1, STEPS_PER_CHANGE))?;
        let (mut overlays, mut applied) = (BTreeSet::new(), Vec::new());
        for (position, change) in changes.iter().enumerate() {
            // Where the hub has the value already, the object stays the hub's: no class of its own is made for it.
            if resolution.counts(position) && change.value != change.field.hub.as_ref() {
                overlays.insert(change.overlay);
                applied.extend((!resolution.repeated.contains(&position)).then_some(change));
            }
        }
        let changed = match applied.as_slice() {
            [] => None,
            applied => Some(self.changed(object, applied)?),
        };
        let outcome = Arc::new(Outcome {
            resolution,
            changed,
            overlays,
        });
        self.outcomes.insert(key, Arc::clone(&outcome));
        Some(outcome)
    }

    /// The position of an object after these changes. Clusters with equal objects are one class, whoever changed them.
    fn changed(&mut self, object: &'o Identity, changes: &[&Change<'_>]) -> Option<usize> {
        let target = self.hub.objects.get(object)?;
        let values = changes.iter().filter_map(|change| change.value);
        self.pay(1, STEPS_PER_CHANGED_OBJECT)?;
        if !values.chain([&target.value]).all(|value| self.work.keep(value)) {
            return None;
        }
        let mut value = target.value.clone();
        for change in changes {
            set(&mut value, &change.field.pointer, change.value);
        }
        let next = self.changed.len();
        let position = *self.positions.entry((object, value.clone())).or_insert(next);
        if position == next {
            let mut changed = target.with_value(value);
            let overlaid = changes.iter().filter_map(|change| self.overlaid(change));
            changed.overlaid = Some(overlaid.collect());
            self.changed.push(Arc::new(changed));
        }
        Some(position)
    }

    fn overlaid(&self, change: &Change<'_>) -> Option<OverlaidField> {
        let overlay = self.overlays.get(change.overlay)?;
        let (document, entry) = overlay.origin.field(&change.field.entry);
        Some(OverlaidField {
            pointer: change.field.pointer.clone(),
            hub: change.field.hub.clone(),
            overlay: overlay.identity.clone(),
            document,
            entry: entry.to_string(),
        })
    }

    /// Notes who is overridden, and what is in conflict, on these clusters.
    fn note(
        &mut self,
        object: &'o Identity,
        changes: &[Change<'o>],
        resolution: &Resolution,
        clusters: &[&'o String],
    ) -> Option<()> {
        let noted = resolution
            .overridden
            .len()
            .saturating_add(resolution.conflicts.len());
        self.pay(noted.saturating_mul(clusters.len()), STEPS_PER_CHANGE)?;
        for (loser, winner) in &resolution.overridden {
            let (loser, winner) = (changes.get(*loser)?, changes.get(*winner)?);
            let winner = &self.overlays.get(winner.overlay)?.identity;
            let there = self.overridden.entry((loser.overlay, loser.position));
            let clusters = clusters.iter().map(ToString::to_string);
            let there = there.or_default();
            there.extend(clusters.map(|cluster| (cluster, winner.clone())));
        }
        for (second, first) in &resolution.conflicts {
            let changes = [*changes.get(*first)?, *changes.get(*second)?];
            let conflict = self.conflicting.entry(changes.map(|change| change.entry));
            let conflict = conflict.or_insert_with(|| Conflict {
                changes,
                objects: BTreeSet::new(),
                clusters: BTreeSet::new(),
            });
            conflict.objects.insert(object);
            conflict.clusters.extend(clusters);
        }
        Some(())
    }

    /// One finding for each two entries of `set`.
    pub(super) fn conflicts(&self) -> Vec<Finding> {
        let conflicts = self.conflicting.values();
        conflicts.filter_map(|conflict| self.conflict(conflict)).collect()
    }

    fn conflict(&self, conflict: &Conflict<'_>) -> Option<Finding> {
        let [first, second] = &conflict.changes;
        let object = conflict.objects.first()?;
        let clusters = first_names(&conflict.clusters, MOST_NAMES);
        let overlay = &self.overlays.get(first.overlay)?.identity;
        let is_one_overlay = first.overlay == second.overlay;
        let (who, help) = if is_one_overlay {
            (format!("{overlay} changes"), "keep one of the two entries")
        } else {
            let help = "give one of them a higher `priority`, or select other clusters";
            ("two overlays change".to_owned(), help)
        };
        let mut fields = [first.field, second.field];
        fields.sort_by_key(|field| field.pointer.len());
        let is_one_field = first.field.pointer == second.field.pointer;
        let [upper, lower] = fields.map(|field| &field.path);
        let message = match (shown(first.value), shown(second.value)) {
            _ if !is_one_field => {
                format!("{who} `{upper}` of {object} and `{lower}`, which is inside it, on {clusters}")
            }
            _ if is_one_overlay => format!("{who} `{upper}` of {object} twice"),
            (Some(one), Some(other)) => {
                format!("two overlays set `{upper}` of {object} on {clusters}: {one} and {other}")
            }
            _ => format!("{who} `{upper}` of {object} on {clusters} differently"),
        };
        let place = |change: &Change<'_>| {
            let origin = &self.overlays.get(change.overlay)?.origin;
            let path = [&change.field.entry, "/path"].concat();
            Some(origin.place(&path, Part::Value))
        };
        let label = |change: &Change<'_>| match (change.value, shown(change.value)) {
            (None, _) => "removes it".to_owned(),
            (_, Some(value)) => format!("sets {value}"),
            _ => "sets another value".to_owned(),
        };
        let finding = Finding::new(Code::OVERLAY_CONFLICT, place(first)?, message)
            .label(label(first))
            .related(place(second)?, label(second))
            .help(help);
        Some(match conflict.objects.len().saturating_sub(1) {
            0 => finding,
            others => finding.note(format!("the same happens in {}", counted(others, "more object"))),
        })
    }
}

/// A value in a message, if it is short.
fn shown(value: Option<&Value>) -> Option<String> {
    let text = value.map(ToString::to_string);
    text.filter(|text| text.len() <= LONGEST_VALUE)
}

/// One change of an object on a cluster. The order of a list of them is that of the overlays' identities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'c> {
    /// The position of the overlay, and of the field in it.
    overlay: usize,
    pub(super) position: usize,
    /// The position of its entry of `set` among all.
    pub(super) entry: usize,
    priority: i32,
    field: &'c ChangedField,
    /// The position of the value among those of the field.
    choice: usize,
    /// Nothing if the change removes the field.
    value: Option<&'c Value>,
}

/// What happens to the changes that do not simply count, by their positions in the list.
#[derive(Debug, Default)]
pub(super) struct Resolution {
    /// Those that do not count, with the highest one that overrides them.
    pub(super) overridden: BTreeMap<usize, usize>,
    /// Those that conflict with earlier ones, with the first of these.
    conflicts: BTreeMap<usize, usize>,
    /// Those that do what an earlier one does.
    repeated: BTreeSet<usize>,
}

impl Resolution {
    /// Of all changes of an object on a cluster. `pay` is asked for each two that meet; `None` if it refuses.
    pub(super) fn new(changes: &[Change<'_>], pay: impl Fn() -> bool) -> Option<Self> {
        let mut by_pointer: Vec<(usize, &Change<'_>)> = changes.iter().enumerate().collect();
        // What is inside a field follows it.
        by_pointer
            // By part, not by text: `/a/b` comes before `/a-b`, so that what is inside a field follows it.
            .sort_by(|(_, one), (_, other)| one.field.pointer.split('/').cmp(other.field.pointer.split('/')));
        let mut resolution = Self::default();
        for (rank, upper) in by_pointer.iter().enumerate() {
            let below = by_pointer.iter().skip(rank.saturating_add(1));
            let is_inside =
                |lower: &Change<'_>| pointer::inside(&lower.field.pointer, &upper.1.field.pointer).is_some();
            for lower in below.take_while(|lower| is_inside(lower.1)) {
                if !pay() {
                    return None;
                }
                resolution.add(*upper, *lower, changes);
            }
        }
        Some(resolution)
    }

    /// Decides between a change and one of the same field or of one inside it.
    fn add(
        &mut self,
        (upper_position, upper): (usize, &Change<'_>),
        (lower_position, lower): (usize, &Change<'_>),
        changes: &[Change<'_>],
    ) {
        let is_one_field = upper.field.pointer == lower.field.pointer;
        let is_one_overlay = upper.overlay == lower.overlay;
        let first = upper_position.min(lower_position);
        let second = upper_position.max(lower_position);
        let (winner, loser) = match upper.priority.cmp(&lower.priority) {
            // Of two fields, the upper one must win as a whole: otherwise, half of each would remain.
            Ordering::Greater if !is_one_overlay => (upper_position, lower_position),
            Ordering::Less if !is_one_overlay && is_one_field => (lower_position, upper_position),
            Ordering::Equal if !is_one_overlay && is_one_field && upper.value == lower.value => {
                self.repeated.insert(second);
                return;
            }
            _ => {
                let with = self.conflicts.entry(second).or_insert(first);
                *with = first.min(*with);
                return;
            }
        };
        let rank = |position: usize| {
            let priority = changes.get(position).map(|change| change.priority);
            (priority, Reverse(position))
        };
        let by = self.overridden.entry(loser).or_insert(winner);
        if rank(winner) > rank(*by) {
            *by = winner;
        }
    }

    /// Whether a change of this position counts.
    fn counts(&self, position: usize) -> bool {
        !self.overridden.contains_key(&position) && !self.conflicts.contains_key(&position)
    }
}
