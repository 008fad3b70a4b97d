//! ClusterOverlays: which clusters each of them selects, what it changes there, and what several come to.
//!
//! Owns: the changed objects of each cluster, and the findings about overlays that do not depend on what is attached.
//! Flows in: the hub. Flows out: [`Overlays`]: clusters that get the same changed objects, and every change of a field.
//! Must not know: where objects go.
//!
//! All pointers are those of the object as the hub has it, and no change affects which objects there are
//! ([`protected`]). So neither the order of overlays nor that of files decides anything.

mod effects;
mod meeting;
mod protected;
mod settings;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::{Identity, Work, pointer};
use kube_json::Value;

pub use self::effects::effects;
use self::meeting::{Meeting, Side};
use self::settings::{Fleet, Settings};
use crate::api::overlay;
use crate::api::own_kinds::{GROUP, OVERLAY};
use crate::diagnostic::{Code, Finding, Findings, Place, counted, first_names};
use crate::hub::Hub;
use crate::object::{Object, Origin, OverlaidField};

/// At most so many clusters are named in a finding.
const MOST_NAMES: usize = 10;
/// Longer values are not part of a message.
const LONGEST_VALUE: usize = 60;

/// What a changed object costs, besides its bytes.
const STEPS_PER_CHANGED_OBJECT: u64 = 100;
/// What an object costs in each class of clusters that gets it changed.
const STEPS_PER_OBJECT_OF_CLASS: u64 = 50;
/// What a change costs on each group of clusters, and with each other change that it meets.
const STEPS_PER_CHANGE: u64 = 2;

/// A list of clusters, sorted, that many share.
pub type ClusterNames = Arc<[String]>;

/// Every ClusterOverlay of a hub, and what it changes where. None if applying them takes more work than a run allows.
#[derive(Debug, Default)]
pub struct Overlays {
    /// By their identities.
    pub overlays: Vec<Overlay>,
    /// The clusters with changed objects, by their first cluster.
    pub classes: Vec<OverlaidClusters>,
}

/// A ClusterOverlay.
#[derive(Debug)]
pub struct Overlay {
    /// The overlay.
    pub identity: Identity,
    /// Where it is.
    pub origin: Origin,
    /// The higher one wins.
    pub priority: i32,
    /// The clusters that it selects, of the whole fleet.
    pub clusters: ClusterNames,
    /// The clusters that it names, each with the pointer of the name in the overlay, in its order.
    pub named: Vec<(String, String)>,
    /// Those of them that the run is for.
    pub applied_on: ClusterNames,
    /// Clusters without a ManagedCluster, which its selectors may or may not select.
    pub unknown: ClusterNames,
    /// Whether nothing is wrong with it: only then does it say something that it lacks a cluster or a change.
    pub is_whole: bool,
    /// What it changes: in the order of its entries, then of the objects.
    pub fields: Vec<ChangedField>,
}

/// One field of one object that an overlay changes.
#[derive(Debug)]
pub struct ChangedField {
    /// The object.
    pub object: Identity,
    /// The path of the field, as `diff` prints it.
    pub path: String,
    /// Its pointer in the object.
    pub pointer: String,
    /// The value on the hub; nothing if the overlay adds the field.
    pub hub: Option<Value>,
    /// Each value that the overlay gives the field, regardless of what overrides it.
    pub here: Arc<[ValueHere]>,
    /// The entry of `changes` that it belongs to.
    pub change: usize,
    /// The pointer of the entry of `set`, in the overlay.
    pub entry: String,
    /// Clusters without a ManagedCluster, whose value is therefore unknown.
    pub unknown: ClusterNames,
    /// Where a higher priority overrides it, with the overlay that does.
    pub overridden: Vec<(ClusterNames, Identity)>,
    /// The clusters whose value is that of the hub.
    pub same_as_hub: ClusterNames,
}

/// A value of a field.
#[derive(Debug, Clone)]
pub struct ValueHere {
    /// Nothing if the field is removed.
    pub value: Option<Value>,
    /// The clusters that have it.
    pub clusters: ClusterNames,
}

/// Clusters that get the same changed objects.
#[derive(Debug)]
pub struct OverlaidClusters {
    /// The clusters.
    pub clusters: Vec<String>,
    /// The objects that differ from those of the hub, by identity.
    pub objects: Vec<Arc<Object>>,
    /// The overlays that change them, by their positions.
    pub overlays: Vec<usize>,
}

impl Overlays {
    /// Reads all overlays of a hub, and applies them for the clusters that `admits` accepts. Names of clusters are judged
    /// against the whole fleet.
    pub fn new(hub: &Hub, admits: impl Fn(&str) -> bool, findings: &mut Findings) -> Self {
        let work = Work::default();
        let mut written = Vec::new();
        for object in hub.objects.of_kind(GROUP, OVERLAY) {
            let (overlay, wrong) = overlay::read(object);
            findings.extend(wrong);
            written.extend(overlay.map(|overlay| (object, overlay)));
        }
        if written.is_empty() {
            return Self::default();
        }
        let fleet = Fleet::new(hub, admits);
        let Some(settings) = Settings::read(hub, &written, &fleet, &work, findings) else {
            findings.push(too_costly());
            return Self::default();
        };
        let mut applying = Applying::new(&settings, &fleet, &work);
        let Some(classes) = applying.classes() else {
            findings.push(too_costly());
            return Self::default();
        };
        findings.extend(applying.conflicts());
        Self {
            overlays: settings.overlays(&fleet, &applying.overridden),
            classes,
        }
    }
}

fn too_costly() -> Finding {
    let consequence = "no overlay is applied";
    Finding::too_costly("applying all ClusterOverlays", Place::Run, consequence)
        .help("select fewer clusters or objects, or use fewer values that differ from cluster to cluster")
}

/// Where higher priorities override a setting, by the numbers of the setting, of the other overlay, and of clusters.
type Overridden = BTreeMap<(usize, usize), Vec<usize>>;
/// A change on one cluster: the numbers of a setting, and of its value.
type SetValue = (usize, usize);

/// Applies settings to objects.
struct Applying<'s, 'a> {
    settings: &'s Settings<'a>,
    fleet: &'s Fleet<'a>,
    work: &'s Work,
    /// What changes of an object come to.
    outcomes: BTreeMap<Vec<SetValue>, Arc<Outcome>>,
    /// Every distinct changed object, and the number of each.
    changed: Vec<Arc<Object>>,
    numbers: HashMap<(usize, Value), usize>,
    overridden: Overridden,
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
    fn new(settings: &'s Settings<'a>, fleet: &'s Fleet<'a>, work: &'s Work) -> Self {
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
    fn classes(&mut self) -> Option<Vec<OverlaidClusters>> {
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
            let next = self.changed.len();
            let number = *self.numbers.entry((object, value.clone())).or_insert(next);
            if number == next {
                self.changed.push(Arc::new(Object {
                    value,
                    overlaid: Some(fields.into()),
                    ..target.clone_without_value()
                }));
            }
            Some(number)
        };
        let outcome = Arc::new(Outcome { changed, ..outcome });
        self.outcomes.insert(changes, Arc::clone(&outcome));
        Some(outcome)
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
    fn conflicts(&self) -> Vec<Finding> {
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

/// Sets the field at a pointer whose parent exists, or removes it.
pub(super) fn set(object: &mut Value, pointer: &str, value: Option<&Value>) {
    let Some((parent, token)) = pointer.rsplit_once('/') else {
        return;
    };
    match (object.pointer_mut(parent), value) {
        (Some(Value::Object(members)), Some(value)) => {
            members.insert(&*pointer::unescape(token), value.clone());
        }
        (Some(Value::Object(members)), None) => {
            members.remove(&pointer::unescape(token));
        }
        (Some(Value::Array(_)), Some(value)) => {
            if let Some(item) = object.pointer_mut(pointer) {
                *item = value.clone();
            }
        }
        _ => {}
    }
}
