//! The comparison of two sides: each pair of distinct texts is compared once, and each distinct change is one
//! [`ObjectChange`] with its clusters. Here is what counts as one change, and in which order changes are read.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use kube_json::Value;
use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use super::fields::{FieldChange, field_changes};
use super::side::{Body, BothSides, LiveObject, ObjectKey, Objects, Side, describe, is_cluster, objects};
use crate::api::downstream::is_synced_policy;
use crate::diagnostic::{Hidden, Part};
use crate::object::Origin;
use crate::object::well_known::HUB_DIRECTORY;
use crate::outcome::{Presence, Which};
use crate::render::{ManifestSummary, list, text};

/// What happened to an object, a work, or a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Change {
    /// Only the new side has it.
    Added,
    /// Both have it, with different values.
    Changed,
    /// Only the old side has it.
    Removed,
}

impl Change {
    /// What happened to what is, or is not, on the old side and on the new one.
    pub(super) const fn between<T>(sides: [&Option<T>; 2]) -> Self {
        match sides {
            [None, _] => Self::Added,
            [_, None] => Self::Removed,
            _ => Self::Changed,
        }
    }

    /// What is lost is read first, then what is new, then what changes.
    pub(super) const fn reading_order(self) -> u8 {
        match self {
            Self::Removed => 0,
            Self::Added => 1,
            Self::Changed => 2,
        }
    }
}

/// How much was added, changed, and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Counts {
    /// Only on the new side.
    pub added: usize,
    /// On both, and different.
    pub changed: usize,
    /// Only on the old side.
    pub removed: usize,
}

impl Counts {
    /// Counts one more.
    pub fn count(&mut self, change: Change) {
        let field = match change {
            Change::Added => &mut self.added,
            Change::Changed => &mut self.changed,
            Change::Removed => &mut self.removed,
        };
        *field = field.saturating_add(1);
    }
}

/// Everything that differs.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The names of all clusters of either side, sorted.
    pub clusters: Vec<Arc<str>>,
    /// How many clusters receive anything else than before.
    pub changed_clusters: usize,
    /// The changes in the order of reading: changed, removed, added, each by object; the works around them last.
    pub changes: Vec<ObjectChange>,
    /// Clusters to which the same happens, in one row; those with nothing in none.
    pub rows: Vec<ClusterRow>,
    /// Objects on all clusters together; on a cluster where nothing inside any work changes, the works around them.
    pub objects: Counts,
    /// Works on all clusters together.
    pub works: Counts,
    /// Objects that leave their works and stay on the clusters, on all clusters together.
    pub orphaned: usize,
    /// How many works and sets of others are on the hub; `None` if the old side is no hub.
    pub foreign: Option<usize>,
    /// The states of objects on clusters.
    pub live: Vec<LiveObject>,
    /// Clusters that join: first those that receive exactly what others have that were there before.
    pub new_clusters: Vec<NewClusters>,
    /// The names of hidden values.
    pub hidden: Hidden,
}

/// Clusters that receive the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewClusters {
    /// The clusters, sorted.
    pub names: Vec<Arc<str>>,
    /// Clusters that were there before and receive the same; none if no cluster does.
    pub like: Vec<Arc<str>>,
}

/// The effect of a change of a work on its clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// The change itself: the object is added, changed, or removed.
    Real,
    /// None: another work of the cluster has the object too, or the same happens there.
    OtherWork,
    /// The object leaves its work, whose `deleteOption` leaves it on the cluster
    /// (docs/systems/ocm-work.md#orphaning-rules).
    Orphaned,
}

/// One change of one object, the same on all of its clusters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectChange {
    /// What happened to it in its work.
    pub change: Change,
    /// Its effect on the clusters.
    pub effect: Effect,
    /// Which object.
    #[serde(flatten)]
    pub object: ObjectKey,
    /// The work that contains it.
    pub work: String,
    /// The work that contained the object before, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// The clusters, sorted.
    pub clusters: Vec<Arc<str>>,
    /// Where the hub objects are that it was made from, the main one first; none if its side was read as files.
    #[serde(rename = "origins")]
    pub places: Vec<OriginPlace>,
    /// What differs inside a changed object.
    pub fields: Vec<FieldChange>,
    /// The whole object, if it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The whole object, if it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// The changed object on the old side and on the new one, values of Secrets concealed as everywhere.
    #[serde(skip)]
    pub both: Option<[Value; 2]>,
    /// The hub objects of `places`.
    #[serde(skip)]
    pub origins: Vec<Origin>,
}

/// Where a hub object is that an object was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OriginPlace {
    /// `old` or `new`: whose file it is.
    #[schemars(with = "String")]
    pub side: Which,
    /// The file.
    pub path: String,
    /// The line.
    pub line: usize,
}

impl ObjectChange {
    /// Whether the agents may delete and recreate it, because it leaves one work for another. Works orphan Namespaces.
    pub fn is_moved(&self) -> bool {
        self.moved_from.is_some() && !self.object.is_namespace()
    }

    /// The effect of a change of a work, if it differs from the change itself.
    pub(super) fn what_happens(&self) -> String {
        let work = &self.work;
        if let Some(before) = &self.moved_from {
            let recreated = if self.is_moved() {
                ", and the agents may delete and recreate it"
            } else {
                ""
            };
            return format!(": it moves from the work {before} to {work}{recreated}");
        }
        match (self.effect, self.change) {
            (Effect::Real, _) => String::new(),
            (Effect::Orphaned, _) => format!(": it leaves the work {work} and stays there"),
            (Effect::OtherWork, Change::Removed) => {
                format!(": it leaves the work {work}, but another one still has it")
            }
            (Effect::OtherWork, Change::Added) => {
                format!(": it is added to the work {work}, but another one also has it")
            }
            (Effect::OtherWork, Change::Changed) => format!(": the same in the work {work}"),
        }
    }

    /// Finds the places of its origins: on the new side, unless only the old one has the object.
    pub(super) fn locate(&mut self, texts: &BothSides<'_>) {
        let side = match self.change {
            Change::Removed => Which::Old,
            Change::Added | Change::Changed => Which::New,
        };
        let texts = *side.of(texts);
        let spans = self.origins.iter();
        let spans = spans.filter_map(|origin| texts.locate(&origin.place("", Part::Value)));
        let places = spans.map(|span| OriginPlace {
            side,
            path: span.path.to_owned(),
            line: span.line,
        });
        self.places = places.collect();
    }

    /// The object on the old side and on the new one.
    pub(super) fn sides(&self) -> [Option<&Value>; 2] {
        match &self.both {
            Some([old, new]) => [Some(old), Some(new)],
            None => [self.old.as_ref(), self.new.as_ref()],
        }
    }

    /// Whether this happens to an object, and not to the work around objects.
    pub(super) fn is(&self, change: Change, effect: Effect) -> bool {
        !self.object.is_work && self.change == change && self.effect == effect
    }

    /// Whether it is a shipped policy.
    pub(super) fn is_policy(&self) -> bool {
        self.sides().into_iter().flatten().any(is_synced_policy)
    }
}

impl Comparison {
    /// The objects that leave one work for another.
    pub(super) fn moved(&self) -> impl Iterator<Item = &ObjectChange> {
        self.changes.iter().filter(|change| change.is_moved())
    }

    /// How many real clusters there are.
    pub(super) fn fleet(&self) -> usize {
        self.clusters.iter().filter(|name| is_cluster(name)).count()
    }

    /// The rows of clusters that join, leave, or stay.
    pub(super) fn rows_that(&self, presence: Presence) -> impl Iterator<Item = &ClusterRow> {
        self.rows.iter().filter(move |row| row.presence == presence)
    }

    /// What happens to an object, and on which of its clusters.
    pub(super) fn sentence(&self, change: &ObjectChange, clusters: &[Arc<str>]) -> String {
        let clusters = describe(&self.clusters, clusters);
        format!("{} on {clusters}{}", change.object, change.what_happens())
    }
}

/// Clusters to which the same happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClusterRow {
    /// The clusters, sorted.
    pub names: Vec<Arc<str>>,
    /// Whether they come, go or stay.
    pub presence: Presence,
    /// Works, on each of them.
    pub works: Counts,
    /// Objects, on each of them.
    pub objects: Counts,
}

impl ClusterRow {
    /// Whether it is about clusters: replica sets and hub objects come and go without a cluster that does.
    pub(super) fn is_of_clusters(&self) -> bool {
        self.names.iter().all(|name| is_cluster(name))
    }
}

/// A text that is no YAML, and so cannot be compared: only an output tree that was edited by hand has one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the work `{work}` of `{cluster}` cannot be read: {message}")]
pub struct Unreadable {
    /// Which side.
    pub side: Which,
    /// A cluster that has it.
    pub cluster: String,
    /// The work.
    pub work: String,
    /// What is wrong with it.
    pub message: String,
}

/// What happens to one work, the same wherever the same two texts meet, and to what is in it: positions in
/// `Comparing::found`. `None` if the API server would store the same.
type WorkOutcome = Option<(Change, Vec<usize>)>;

/// A change of a work, before it is known what it comes to on a cluster. Those that are equal in all of this are one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Found {
    object: ObjectKey,
    work: String,
    moved_from: Option<String>,
    old: Option<Value>,
    new: Option<Value>,
    /// Whether the work that loses the object leaves it on the cluster.
    is_orphaned: bool,
}

impl Found {
    fn change(&self) -> Change {
        Change::between([&self.old, &self.new])
    }
}

/// The works of one cluster on one side: the position of each one's text.
type Works<'a> = BTreeMap<&'a str, usize>;

/// Compares `old` with `new`.
///
/// # Errors
/// A text is not YAML. Texts of a plan always are.
pub fn compare(old: &Side<'_>, new: &Side<'_>) -> Result<Comparison, Unreadable> {
    let [before, after] = [(Which::Old, old), (Which::New, new)].map(|(side, of)| Parsed {
        side,
        bodies: &of.bodies,
        is_stored: old.is_live,
        read: HashMap::new(),
    });
    let mut comparing = Comparing {
        old: before,
        new: after,
        ..Comparing::default()
    };
    let names: BTreeSet<&str> = old.clusters.keys().chain(new.clusters.keys()).copied().collect();
    let mut comparison = Comparison {
        clusters: names.into_iter().map(Arc::from).collect(),
        foreign: old.foreign,
        live: old.objects.to_vec(),
        ..Comparison::default()
    };
    let mut rows: BTreeMap<(Presence, Vec<usize>, Counts), ClusterRow> = BTreeMap::new();
    let none = BTreeMap::new();
    for name in comparison.clusters.clone() {
        let cluster = &*name;
        let (before, after) = (old.clusters.get(cluster), new.clusters.get(cluster));
        let presence = match (before, after) {
            // Nobody delivers annotated objects.
            _ if old.is_live && cluster == HUB_DIRECTORY => continue,
            (None, _) if old.is_live && is_cluster(cluster) => Presence::NotCompared,
            (None, _) => Presence::Joins,
            (_, None) => Presence::Leaves,
            _ => Presence::Both,
        };
        let (before, after) = (before.unwrap_or(&none), after.unwrap_or(&none));
        let mut works = Counts::default();
        let mut happens = Vec::new();
        let added = after.keys().filter(|work| !before.contains_key(*work));
        let added = added.filter(|_| presence != Presence::NotCompared);
        for work in before.keys().chain(added) {
            let pair = (before.get(work).copied(), after.get(work).copied());
            if let Some((change, changes)) = &*comparing.outcome(cluster, work, pair)? {
                works.count(*change);
                happens.extend_from_slice(changes);
            }
        }
        let is_compared = presence != Presence::NotCompared;
        if happens.is_empty() && is_compared {
            continue;
        }
        let mut happens = comparing.on_cluster((before, after), &happens)?;
        let objects = comparing.happened(&name, &happens, &mut comparison.orphaned);
        if is_cluster(cluster) && is_compared {
            comparison.changed_clusters = comparison.changed_clusters.saturating_add(1);
        }
        add(&mut comparison.objects, objects);
        add(&mut comparison.works, works);
        // Clusters share a row only where the very same changes happen, which is more than equal counts.
        happens.sort_unstable();
        let row = rows
            .entry((presence, happens, works))
            .or_insert_with(|| ClusterRow {
                names: Vec::new(),
                presence,
                works,
                objects,
            });
        row.names.push(name);
    }
    comparison.rows = rows.into_values().collect();
    comparison.rows.sort_by(|a, b| a.names.cmp(&b.names));
    comparison.new_clusters = new_clusters(old, new, &comparison);
    comparison.changes = comparing.changes.into_values().collect();
    comparison.hidden = comparing.hidden;
    let changes = &mut comparison.changes;
    changes.sort_by(|a, b| reading_order(a).cmp(&reading_order(b)));
    Ok(comparison)
}

/// What only moves between works is read after all other changes, then the works around the objects.
fn reading_order(change: &ObjectChange) -> impl Ord + '_ {
    (
        change.object.is_work,
        change.effect != Effect::Real,
        change.change.reading_order(),
        &change.object,
        &change.work,
        &change.clusters,
    )
}

/// The clusters of the new side alone: those whose works are those of a cluster that both sides have, then the others.
fn new_clusters(old: &Side<'_>, new: &Side<'_>, comparison: &Comparison) -> Vec<NewClusters> {
    let joins = |name: &str| is_cluster(name) && !old.is_live && !old.clusters.contains_key(name);
    if !new.clusters.keys().any(|name| joins(name)) {
        return Vec::new();
    }
    let mut by_works: BTreeMap<&Works<'_>, NewClusters> = BTreeMap::new();
    for name in &comparison.clusters {
        let Some(works) = new.clusters.get(&**name).filter(|_| is_cluster(name)) else {
            continue;
        };
        let alike = by_works.entry(works).or_default();
        let names = if joins(name) {
            &mut alike.names
        } else {
            &mut alike.like
        };
        names.push(Arc::clone(name));
    }
    let mut all: Vec<NewClusters> = by_works.into_values().collect();
    all.retain(|alike| !alike.names.is_empty() && !alike.like.is_empty());
    all.sort_by(|a, b| a.names.cmp(&b.names));
    let arriving: BTreeSet<&Arc<str>> = all.iter().flat_map(|alike| &alike.names).collect();
    let rows = comparison.rows_that(Presence::Joins);
    let others = rows.filter(|row| row.is_of_clusters()).map(|row| {
        let names = row.names.iter().filter(|name| !arriving.contains(name));
        NewClusters {
            names: names.cloned().collect(),
            like: Vec::new(),
        }
    });
    let others: Vec<NewClusters> = others.filter(|others| !others.names.is_empty()).collect();
    all.extend(others);
    all
}

fn add(total: &mut Counts, more: Counts) {
    total.added = total.added.saturating_add(more.added);
    total.changed = total.changed.saturating_add(more.changed);
    total.removed = total.removed.saturating_add(more.removed);
}

#[derive(Default)]
struct Comparing<'a> {
    old: Parsed<'a>,
    new: Parsed<'a>,
    outcomes: HashMap<(Option<usize>, Option<usize>), Rc<WorkOutcome>>,
    /// Each with its origins.
    found: IndexMap<Found, Vec<Origin>>,
    hidden: Hidden,
    /// By the position in `found`, and what it comes to.
    changes: IndexMap<(usize, Effect), ObjectChange>,
}

impl Comparing<'_> {
    fn outcome(
        &mut self,
        cluster: &str,
        work: &str,
        pair: (Option<usize>, Option<usize>),
    ) -> Result<Rc<WorkOutcome>, Unreadable> {
        // By the pair of texts and not by the work: what a thousand clusters share is compared once, and where the text
        // names the cluster it has been cut out of it.
        if let Some(compared) = self.outcomes.get(&pair) {
            return Ok(Rc::clone(compared));
        }
        let outcome = Rc::new(self.compare_work(cluster, work, pair)?);
        self.outcomes.insert(pair, Rc::clone(&outcome));
        Ok(outcome)
    }

    fn compare_work(
        &mut self,
        cluster: &str,
        work: &str,
        (old, new): (Option<usize>, Option<usize>),
    ) -> Result<WorkOutcome, Unreadable> {
        let bodies = (self.old.body(old), self.new.body(new));
        // Equal texts are equal values, and of most works both are the same: reading YAML is what costs, so only those
        // that differ are read.
        if matches!(bodies, (Some(old), Some(new)) if old.is_same(new)) {
            return Ok(None);
        }
        let mut changes = Vec::new();
        let before = self.old.objects(old, cluster, work)?;
        let after = self.new.objects(new, cluster, work)?;
        let is_pair = old.is_some() && new.is_some();
        let keys: BTreeSet<&ObjectKey> = before.keys().chain(after.keys()).collect();
        let many = keys.len() > 1;
        let orphans = Orphans::of(&before);
        for key in keys {
            let (before, after) = (before.get(key), after.get(key));
            // The work around added objects says nothing that they do not say.
            if before == after || (key.is_work && !is_pair && many) {
                continue;
            }
            let body = if after.is_none() { bodies.0 } else { bodies.1 };
            let mut summaries = body.into_iter().flat_map(|body| body.summaries);
            let summary = summaries.find(|summary| is_about(summary, key));
            let is_orphaned = after.is_none() && orphans.hold(key, summary);
            // Only concealed values are kept, compared or printed from here on.
            let [old, new] = [before, after].map(|side| side.map(|value| self.hidden.conceal(value, true)));
            let found = self.found.entry(Found {
                object: key.clone(),
                work: work.to_owned(),
                moved_from: None,
                old,
                new,
                is_orphaned,
            });
            let position = found.index();
            found.or_insert_with(|| summary.map(|summary| summary.origins.clone()).unwrap_or_default());
            changes.push(position);
        }
        // Two texts for one value, as another release may have written.
        let is_same = is_pair && changes.is_empty();
        Ok((!is_same).then(|| (Change::between([&old, &new]), changes)))
    }

    /// What was found in the works of a cluster, as changes with what they come to there. An object that another work
    /// of the cluster has too neither comes nor goes, and what two works say in the same way happens once.
    fn on_cluster(
        &mut self,
        (before, after): (&Works<'_>, &Works<'_>),
        found: &[usize],
    ) -> Result<Vec<usize>, Unreadable> {
        // By the names of the works: of those that say the same, the first counts on every cluster and on both sides.
        let mut by_object: BTreeMap<&ObjectKey, BTreeSet<(&str, usize)>> = BTreeMap::new();
        for position in found {
            if let Some((found, _)) = self.found.get_index(*position) {
                let of_object = by_object.entry(&found.object).or_default();
                of_object.insert((&found.work, *position));
            }
        }
        let mut effects: HashMap<usize, Effect> = HashMap::new();
        let mut moving: Vec<[usize; 2]> = Vec::new();
        for (object, positions) in by_object {
            let of = |change: Change| {
                let positions = positions.iter().map(|(_, position)| *position);
                let found =
                    positions.filter_map(|position| Some((position, self.found.get_index(position)?.0)));
                found.filter(move |(_, found)| found.change() == change)
            };
            for (change, side, works) in [
                (Change::Added, &mut self.old, before),
                (Change::Removed, &mut self.new, after),
            ] {
                let Some((first, _)) = of(change).next() else {
                    continue;
                };
                let owner = of(change).find(|(_, found)| !found.is_orphaned);
                let is_elsewhere = !side.works_with(works, object)?.is_empty();
                let (real, effect) =
                    owner.map_or((first, Effect::Orphaned), |(owner, _)| (owner, Effect::Real));
                effects.extend(of(change).map(|(position, _)| (position, Effect::OtherWork)));
                if !is_elsewhere {
                    effects.insert(real, effect);
                }
            }
            let is_elsewhere = |(position, _): &(usize, _)| effects.get(position) == Some(&Effect::OtherWork);
            let moves = [Change::Removed, Change::Added].map(|change| of(change).find(is_elsewhere));
            if let ([Some((gone, _)), Some((come, _))], false) = (moves, object.is_work) {
                // A work that had it and has it still keeps it in place.
                let held = self.old.works_with(before, object)?;
                let holds = self.new.works_with(after, object)?;
                if !holds.iter().any(|work| held.contains(work)) {
                    moving.push([gone, come]);
                }
            }
            let mut said: HashSet<[&Option<Value>; 2]> = HashSet::new();
            for (position, found) in of(Change::Changed) {
                let is_new = said.insert([&found.old, &found.new]);
                effects.insert(position, if is_new { Effect::Real } else { Effect::OtherWork });
            }
        }
        let mut found: BTreeSet<usize> = found.iter().copied().collect();
        for pair in moving {
            if let Some((position, effect)) = self.moved(pair) {
                found.retain(|position| !pair.contains(position));
                found.insert(position);
                effects.insert(position, effect);
            }
        }
        // A Namespace that another work has neither comes nor goes.
        let is_news = |position: &usize| {
            let found = self.found.get_index(*position);
            effects.get(position) != Some(&Effect::OtherWork)
                || !found.is_some_and(|(found, _)| found.object.is_namespace())
        };
        found.retain(is_news);
        let changes = found.into_iter().filter_map(|position| {
            let effect = effects.get(&position).copied().unwrap_or(Effect::Real);
            let (found, origins) = self.found.get_index(position)?;
            let entry = self.changes.entry((position, effect));
            let position = entry.index();
            entry.or_insert_with(|| {
                let both = found.old.clone().zip(found.new.clone()).map(<[Value; 2]>::from);
                let whole = |side: &Option<Value>| side.clone().filter(|_| both.is_none());
                ObjectChange {
                    change: found.change(),
                    effect,
                    object: found.object.clone(),
                    work: found.work.clone(),
                    moved_from: found.moved_from.clone(),
                    clusters: Vec::new(),
                    places: Vec::new(),
                    fields: both
                        .as_ref()
                        .map_or_else(Vec::new, |[old, new]| field_changes(old, new)),
                    old: whole(&found.old),
                    new: whole(&found.new),
                    both,
                    origins: origins.clone(),
                }
            });
            Some(position)
        });
        Ok(changes.collect())
    }

    /// What leaves one work and comes to another, as one change, and whether anything but the work changes.
    fn moved(&mut self, pair: [usize; 2]) -> Option<(usize, Effect)> {
        let [gone, come] = pair.map(|position| self.found.get_index(position));
        let ((gone, _), (come, origins)) = (gone?, come?);
        let is_same = gone.old == come.new;
        let effect = if is_same { Effect::OtherWork } else { Effect::Real };
        let origins = origins.clone();
        let moved = self.found.entry(Found {
            moved_from: Some(gone.work.clone()),
            old: gone.old.clone(),
            is_orphaned: gone.is_orphaned,
            ..come.clone()
        });
        let position = moved.index();
        moved.or_insert(origins);
        Some((position, effect))
    }

    /// Notes the cluster at each of its changes, and counts them.
    fn happened(&mut self, cluster: &Arc<str>, happens: &[usize], orphaned: &mut usize) -> Counts {
        let mut counts = Counts::default();
        let mut around = Counts::default();
        for position in happens {
            if let Some((_, change)) = self.changes.get_index_mut(*position) {
                change.clusters.push(Arc::clone(cluster));
                match change.effect {
                    Effect::Real if change.object.is_work => around.count(change.change),
                    Effect::Real => counts.count(change.change),
                    Effect::Orphaned => *orphaned = orphaned.saturating_add(1),
                    Effect::OtherWork => {}
                }
            }
        }
        let is_inside = counts != Counts::default();
        if is_inside { counts } else { around }
    }
}

/// Whether a summary is about an object.
fn is_about(summary: &ManifestSummary, key: &ObjectKey) -> bool {
    !key.is_work && summary.names() == [&key.group, &key.kind, &key.namespace, &key.name]
}

/// What a work leaves on its clusters, by its `deleteOption`: the agent has taken itself off the owners of these
/// objects, so what counts is the work that was applied last.
struct Orphans<'o> {
    all: bool,
    rules: &'o [Value],
}

impl<'o> Orphans<'o> {
    fn of(objects: &'o Objects) -> Self {
        let pointers = ["/spec/deleteOption", "/spec/manifestWorkTemplate/deleteOption"];
        let work = objects.iter().find(|(key, _)| key.is_work);
        let option = work.and_then(|(_, work)| pointers.iter().find_map(|pointer| work.pointer(pointer)));
        let policy = option.map_or("", |option| text(option, "/propagationPolicy"));
        let rules = option.filter(|_| policy == "SelectivelyOrphan");
        Self {
            all: policy == "Orphan",
            rules: rules.map_or(&[], |option| list(option, "/selectivelyOrphans/orphaningRules")),
        }
    }

    /// A rule names the plural; of a text without a list of plurals, Namespaces alone are known by their
    /// kind.
    fn hold(&self, key: &ObjectKey, summary: Option<&ManifestSummary>) -> bool {
        if key.is_work {
            return false;
        }
        let is_resource = |plural: &str| match summary {
            Some(summary) => summary.resource == plural,
            None => plural.strip_suffix('s') == Some(key.kind.to_lowercase().as_str()),
        };
        self.all
            || self.rules.iter().any(|rule| {
                let names = ["/group", "/namespace", "/name"].map(|pointer| text(rule, pointer));
                let resource = rule.get("resource").and_then(Value::as_str);
                names == [&key.group, &key.namespace, &key.name] && resource.is_some_and(is_resource)
            })
    }
}

/// How many read texts are kept. Shared texts are few; those of one cluster each are needed once, and a fleet of
/// them would not fit into memory.
const KEPT: usize = 256;

/// The texts of a side, with those that were read last.
#[derive(Default)]
struct Parsed<'a> {
    side: Which,
    bodies: &'a [Body<'a>],
    /// Whether its works are compared as an API server keeps them.
    is_stored: bool,
    read: HashMap<usize, Rc<Objects>>,
}

impl<'a> Parsed<'a> {
    fn body(&self, position: Option<usize>) -> Option<&'a Body<'a>> {
        self.bodies.get(position?)
    }

    /// The works of a cluster that have an object. Texts of a plan say what is in them, and others are read.
    fn works_with<'w>(&mut self, works: &Works<'w>, key: &ObjectKey) -> Result<Vec<&'w str>, Unreadable> {
        let mut found = Vec::new();
        for (work, position) in works {
            let Some(body) = self.bodies.get(*position) else {
                continue;
            };
            let holds = if body.summaries.is_empty() {
                // The name of the cluster only is in a message about a text that has been read before.
                self.objects(Some(*position), "", work)?.contains_key(key)
            } else {
                body.summaries.iter().any(|summary| is_about(summary, key))
            };
            if holds && !key.is_work {
                found.push(*work);
            }
        }
        Ok(found)
    }

    /// None for no text.
    fn objects(
        &mut self,
        position: Option<usize>,
        cluster: &str,
        work: &str,
    ) -> Result<Rc<Objects>, Unreadable> {
        let (Some(position), Some(body)) = (position, self.body(position)) else {
            return Ok(Rc::default());
        };
        if let Some(objects) = self.read.get(&position) {
            return Ok(Rc::clone(objects));
        }
        let read = Rc::new(objects(body, self.is_stored).map_err(|error| Unreadable {
            side: self.side,
            cluster: cluster.to_owned(),
            work: work.to_owned(),
            // A work may carry a Secret.
            message: error.unquoted().message.into_owned(),
        })?);
        if self.read.len() >= KEPT {
            self.read.clear();
        }
        self.read.insert(position, Rc::clone(&read));
        Ok(read)
    }
}
