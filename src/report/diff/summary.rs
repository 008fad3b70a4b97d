//! A summary of a difference, most important first: what is lost, what is new, what changes; and the effective settings
//! that change, where equal changes of many paths are grouped ([`EffectiveGroup`]). No format is known here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::pointer;
use indexmap::IndexMap;
use kube_json::Value;

use super::compare::{Change, ClusterRow, Comparison, Effect, NewClusters, ObjectChange};
use super::fields::{FieldChange, field_changes_at, field_line};
use super::report::{DENIED, DiffReport, keys_of, listed};
use super::side::describe;
use super::terms::LocalChange;
use crate::diagnostic::{and_more, counted, first_names, one_line, one_or_many};
use crate::object::well_known::HUB_DIRECTORY;
use crate::outcome::{EffectiveChange, Presence, SettingChange, key_of};

/// So many other objects are named in each part; the folded details have all of them.
const MOST_OBJECTS: usize = 10;
/// So many paths that lose a setting are named at once.
const MOST_PATHS: usize = 4;
/// So many settings that are lost are named at once.
const MOST_SETTINGS: usize = 8;

/// So many characters of a change of the terms are shown.
const MOST_OF_TERM: usize = 300;

/// What is said before the name of a new cluster, or of several.
const NEW: [&str; 2] = ["new cluster ", "new: "];

/// A line, and what is below it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Point {
    pub text: Vec<Word>,
    pub below: Vec<String>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Plain(String),
    /// The name of something in the input.
    Name(String),
}

impl Point {
    fn plain(mut self, text: impl Into<String>) -> Self {
        self.text.push(Word::Plain(text.into()));
        self
    }

    fn name(mut self, text: impl Into<String>) -> Self {
        self.text.push(Word::Name(text.into()));
        self
    }

    /// Without the difference between words and names.
    pub(super) fn as_text(&self) -> String {
        let words = self.text.iter().map(|word| match word {
            Word::Plain(text) | Word::Name(text) => text.as_str(),
        });
        words.collect()
    }
}

/// Names of clusters.
pub(super) type Names<'c> = BTreeSet<&'c str>;

/// The clusters that come like others, or go: what happens to them is reported once.
pub(super) fn told_at_once(comparison: &Comparison) -> Names<'_> {
    let leaving = comparison.rows_that(Presence::Leaves);
    let leaving = leaving.flat_map(|row| &row.names).map(AsRef::as_ref);
    arriving(comparison).into_iter().chain(leaving).collect()
}

/// The clusters that receive what others have already.
pub(super) fn arriving(comparison: &Comparison) -> Names<'_> {
    let names = arrivals(comparison).flat_map(|arrival| &arrival.names);
    names.map(AsRef::as_ref).collect()
}

fn arrivals(comparison: &Comparison) -> impl Iterator<Item = &NewClusters> {
    let new_clusters = comparison.new_clusters.iter();
    new_clusters.filter(|new| !new.like.is_empty())
}

/// The clusters of a change without some.
pub(super) fn remaining(change: &ObjectChange, without: &Names<'_>) -> Vec<Arc<str>> {
    let clusters = change.clusters.iter();
    clusters
        .filter(|cluster| !without.contains(&***cluster))
        .cloned()
        .collect()
}

/// The parts of a summary that are not empty, with their titles. Clusters that join or leave as a whole get one line each, and
/// nothing else is reported about them.
pub(super) fn summary(report: &DiffReport) -> Vec<(&'static str, Vec<Point>)> {
    let told = told_at_once(&report.comparison);
    let summarizing = Summarizing { report, told };
    let mut parts = vec![
        ("New violations of rules", summarizing.violations()),
        ("Changes how it is judged", summarizing.terms()),
        ("Changes what some clusters get", summarizing.overlays()),
        ("On the clusters", summarizing.on_the_clusters()),
        ("Lost", summarizing.lost()),
        ("New", summarizing.added()),
        ("Changed", summarizing.changed()),
    ];
    parts.retain(|(_, points)| !points.is_empty());
    parts
}

/// The first points, and how many more there are.
fn limited(points: Vec<Point>, noun: &str) -> impl Iterator<Item = Point> {
    let more = and_more(points.len().saturating_sub(MOST_OBJECTS), noun);
    let more = more.map(|more| Point::default().plain(more));
    points.into_iter().take(MOST_OBJECTS).chain(more)
}

fn sentences(texts: impl Iterator<Item = String>) -> impl Iterator<Item = Point> {
    limited(texts.map(|text| Point::default().plain(text)).collect(), "object")
}

/// A point about an object.
fn about(object: &ObjectChange, text: impl Into<String>) -> Point {
    Point::default().name(object.object.to_string()).plain(text)
}

struct Summarizing<'r> {
    report: &'r DiffReport,
    told: Names<'r>,
}

/// The role of an object, if it decides how much its loss matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Gateway,
    Namespace,
    Route,
    Other,
}

fn weight(change: &ObjectChange) -> Weight {
    match (change.object.group.as_str(), change.object.kind.as_str()) {
        ("gateway.networking.k8s.io", "Gateway") => Weight::Gateway,
        ("", "Namespace") => Weight::Namespace,
        ("gateway.networking.k8s.io", kind) if kind.ends_with("Route") => Weight::Route,
        _ => Weight::Other,
    }
}

impl<'r> Summarizing<'r> {
    fn comparison(&self) -> &'r Comparison {
        &self.report.comparison
    }

    fn on(&self, clusters: &[impl AsRef<str>]) -> String {
        describe(&self.comparison().clusters, clusters)
    }

    /// Changes with an effect, the weightiest first, each with the clusters that are not told of at once.
    fn objects(&self, change: Change, effect: Effect) -> Vec<Placed<'r>> {
        let changes = self.comparison().changes.iter();
        let objects = changes.filter(|object| object.is(change, effect)).map(|object| {
            let mut clusters = remaining(object, &self.told);
            // Annotated hub objects go to no cluster.
            clusters.retain(|cluster| **cluster != *HUB_DIRECTORY);
            (object, clusters)
        });
        let mut objects: Vec<Placed<'r>> = objects.filter(|(_, clusters)| !clusters.is_empty()).collect();
        objects.sort_by_key(|(object, _)| weight(object));
        objects
    }

    /// One point for each field of the configuration, so that many changes of one do not hide those of another.
    fn terms(&self) -> Vec<Point> {
        let terms = &self.report.terms;
        let mut fields: BTreeMap<&str, Vec<&FieldChange>> = BTreeMap::new();
        for change in &terms.configuration {
            let field = change.path.split(['.', '[']).next().unwrap_or_default();
            fields.entry(field).or_default().push(change);
        }
        let fields = fields.into_iter().map(|(field, changes)| {
            let point = Point::default().plain("configuration: ");
            if let [change] = &*changes {
                return point.name(term_line(change));
            }
            let mut point = point.name(field);
            let lines = changes.iter().map(|change| term_line(change));
            point.below = listed(lines, MOST_SETTINGS, "change");
            point
        });
        let spokes = terms.spokes.iter().map(|local| {
            let mut point = self.on_clusters(local, " in `spokes` of ");
            let advice = "this hub does not ship it; to change a synced policy there, write a ClusterOverlay";
            point.below.extend(local.is_policy.then(|| advice.to_owned()));
            point
        });
        let suppressions = terms.suppressions.iter();
        let point = Point::default().plain("suppressed findings of ");
        let suppressions = suppressions.map(|change| point.clone().name(term_line(change)));
        fields
            .chain(limited(spokes.collect(), "local object"))
            .chain(limited(suppressions.collect(), "suppressing object"))
            .collect()
    }

    fn violations(&self) -> Vec<Point> {
        let rules = self.report.violations.iter();
        let violations =
            rules.flat_map(|rule| rule.violations.iter().map(move |violation| (rule, violation)));
        let violations = violations.map(|(rule, violation)| {
            let clusters = self.on(&violation.clusters);
            let point = Point::default().name(&rule.message).plain(": ");
            let mut point = point.name(&violation.subject);
            point
                .below
                .extend(violation.place.as_ref().map(ToString::to_string));
            point.plain(format!(" breaks it on {clusters}"))
        });
        limited(violations.collect(), "violation").collect()
    }

    fn overlays(&self) -> Vec<Point> {
        let overlays = self.report.terms.overlays.iter();
        let points = overlays.map(|overlay| self.on_clusters(overlay, ", for "));
        limited(points.collect(), "overlay").collect()
    }

    fn on_the_clusters(&self) -> Vec<Point> {
        let live = self.comparison().live.iter().map(|live| {
            let clusters = self.on(&live.clusters);
            let point = Point::default().name(live.object.to_string());
            point.plain(live.state.sentence(&clusters))
        });
        limited(live.collect(), "object").collect()
    }

    /// What happens to an object of some clusters.
    fn on_clusters(&self, change: &LocalChange, before: &str) -> Point {
        let clusters = self.on(&change.clusters);
        let text = format!(" is {}{before}{clusters}", <&str>::from(change.change));
        Point::default().name(change.object.to_string()).plain(text)
    }

    fn lost(&self) -> Vec<Point> {
        let comparison = self.comparison();
        let withdrawn = self.report.withdrawn.iter().cloned();
        let moved = comparison.moved();
        let moved = moved.map(|moved| comparison.sentence(moved, &moved.clusters));
        let mut points: Vec<Point> = sentences(withdrawn).chain(sentences(moved)).collect();
        points.extend(self.lost_settings());
        let leaving = comparison.rows_that(Presence::Leaves);
        let leaving = leaving.filter(|row| row.is_of_clusters());
        points.extend(leaving.map(|row| self.leaves(row)));
        let removed = self.objects(Change::Removed, Effect::Real);
        let removed_of = |kind: Weight| removed.iter().filter(move |(change, _)| weight(change) == kind);
        let gateways: Vec<_> = removed_of(Weight::Gateway).collect();
        points.extend(gateways.iter().map(|gateway| {
            let (change, clusters) = gateway;
            let with = with(&removed, gateway);
            let point = about(change, format!(" leaves {}{with}", self.on(clusters)));
            let point = match self.comes_to(change) {
                Some(there) => point.plain(format!("; it is added on {there}")),
                None => point,
            };
            let Some(renamed) = self.renamed_to(change, clusters) else {
                return point;
            };
            let new = renamed.new.as_ref();
            let asks = new.and_then(|new| new.pointer("/spec/addresses"));
            let address = if asks.is_some() { "" } else { ", at a new address" };
            let comes = format!(" comes with the same listeners: a new Gateway{address}");
            point.plain("; ").name(renamed.object.to_string()).plain(comes)
        }));
        points.extend(removed_of(Weight::Namespace).map(|(change, clusters)| {
            let on = self.on(clusters);
            about(change, format!(" is deleted on {on}, with all that is in it"))
        }));
        let others = removed.iter().filter(|other| {
            matches!(weight(other.0), Weight::Route | Weight::Other)
                && !gateways.iter().any(|gateway| goes_with(other, gateway))
        });
        self.others(&mut points, others, " is removed from ");
        points
    }

    /// Other clusters to which an object comes.
    fn comes_to(&self, change: &ObjectChange) -> Option<String> {
        let added = self.comparison().changes.iter();
        let added =
            added.filter(|other| other.object == change.object && other.is(Change::Added, Effect::Real));
        let there: BTreeSet<&Arc<str>> = added.flat_map(|other| &other.clusters).collect();
        let there: Vec<&Arc<str>> = there.into_iter().collect();
        (!there.is_empty()).then(|| self.on(&there))
    }

    /// The Gateway with the same listeners that takes the place of one that leaves: controllers give it an address of its
    /// own, and none of them moves the old one's.
    fn renamed_to(&self, old: &ObjectChange, clusters: &[Arc<str>]) -> Option<&'r ObjectChange> {
        let listeners = |object: &Option<Value>| -> Option<BTreeSet<[Option<String>; 3]>> {
            let listeners = object.as_ref()?.pointer("/spec/listeners")?.as_array()?;
            let field = |listener: &Value, key| listener.get(key).map(Value::to_string);
            let keys = ["port", "protocol", "hostname"];
            Some(
                listeners
                    .iter()
                    .map(|listener| keys.map(|key| field(listener, key)))
                    .collect(),
            )
        };
        let before = listeners(&old.old)?;
        let mut changes = self.comparison().changes.iter();
        changes.find(|new| {
            weight(new) == Weight::Gateway
                && new.change == Change::Added
                && new.clusters.iter().any(|cluster| clusters.contains(cluster))
                && listeners(&new.new).is_some_and(|after| after == before)
        })
    }

    fn leaves(&self, row: &ClusterRow) -> Point {
        let leaves = ["leaves, and loses", "leave, and each loses"];
        let point = self.about_clusters(&row.names, ["cluster ", ""], leaves);
        let point = self.objects_of(point, row, Change::Removed);
        match self.of_row(row, Change::Removed, Effect::Orphaned).count() {
            0 => point,
            orphaned => {
                let stay = one_or_many(orphaned, "stays", "stay");
                point.plain(format!("; {} {stay} there", counted(orphaned, "object")))
            }
        }
    }

    /// What one cluster, or several, do, each in their words: before their names, and behind them.
    fn about_clusters(&self, clusters: &[Arc<str>], before: [&str; 2], behind: [&str; 2]) -> Point {
        let [before, behind] = [before, behind].map(|[one, many]| one_or_many(clusters.len(), one, many));
        Point::default()
            .plain(before)
            .name(self.on(clusters))
            .plain(format!(" {behind} "))
    }

    /// Gateways by name, and how much else.
    fn objects_of(&self, mut point: Point, row: &ClusterRow, change: Change) -> Point {
        let all: Vec<&ObjectChange> = self.of_row(row, change, Effect::Real).collect();
        let gateways = all.iter().filter(|change| weight(change) == Weight::Gateway);
        let gateways: Vec<&&ObjectChange> = gateways.collect();
        for (position, gateway) in gateways.iter().take(MOST_OBJECTS).enumerate() {
            if position > 0 {
                point = point.plain(", ");
            }
            point = point.name(gateway.object.to_string());
        }
        let rest = all.len().saturating_sub(gateways.len().min(MOST_OBJECTS));
        match (gateways.is_empty(), rest) {
            (true, rest) => point.plain(counted(rest, "object")),
            (false, 0) => point,
            (false, rest) => point.plain(format!(" and {}", counted(rest, "other object"))),
        }
    }

    fn of_row(
        &self,
        row: &ClusterRow,
        change: Change,
        effect: Effect,
    ) -> impl Iterator<Item = &'r ObjectChange> {
        let cluster = row.names.first().cloned();
        self.comparison().changes.iter().filter(move |object| {
            let is_there = |cluster| object.clusters.binary_search(cluster).is_ok();
            object.is(change, effect) && cluster.as_ref().is_some_and(is_there)
        })
    }

    /// Which paths lose which settings, whatever is to blame.
    fn lost_settings(&self) -> Vec<Point> {
        let mut lost: IndexMap<LostSettings<'_>, Vec<&EffectiveChange>> = IndexMap::new();
        let changes = self.report.losing();
        for (change, is_denied) in changes.filter(|(change, _)| !change.lost_settings.is_empty()) {
            let key = (
                &*change.kind,
                &*change.lost_settings,
                change.lost_from(),
                [change.is_lost, is_denied],
                &change.clusters,
            );
            lost.entry(key).or_default().push(change);
        }
        let points = lost.into_iter().map(
            |((kind, settings, from, [is_lost, is_denied], clusters), changes)| {
                let on = format!("on {}", self.on(clusters));
                let names = settings.iter().map(|setting| named(setting));
                let names = listed(names, MOST_SETTINGS, "setting").join(", ");
                let point = Point::default().name(kind).plain(" loses ").name(names);
                let point = point.plain(" of ").name(from.join(", "));
                let (mut point, end) = match &*changes {
                    [change] => (point.plain(format!(" on {}, {on}", change.place)), ""),
                    _ => (point.plain(format!(" {on}")), ":"),
                };
                if is_lost {
                    point = point.plain(format!("; no {kind} applies anymore"));
                }
                if is_denied {
                    point = point.plain(DENIED);
                }
                point = point.plain(end);
                if changes.len() > 1 {
                    let labels = changes.iter().map(|change| change.label.clone());
                    point.below = listed(labels, MOST_PATHS, "path");
                }
                point
            },
        );
        points.collect()
    }

    fn others<'o>(&self, points: &mut Vec<Point>, objects: impl Iterator<Item = &'o Placed<'o>>, verb: &str) {
        let objects = objects.map(|(change, clusters)| about(change, format!("{verb}{}", self.on(clusters))));
        points.extend(limited(objects.collect(), "object"));
    }

    fn added(&self) -> Vec<Point> {
        let comparison = self.comparison();
        let arrivals = arrivals(comparison).map(|arrival| {
            let point = self.about_clusters(&arrival.names, NEW, ["receives what", "receive what"]);
            let have = one_or_many(arrival.like.len(), "has", "have");
            point.name(self.on(&arrival.like)).plain(format!(" {have}"))
        });
        let mut points: Vec<Point> = arrivals.collect();
        let arriving = arriving(comparison);
        let joining = comparison.rows_that(Presence::Joins).filter(|row| {
            row.is_of_clusters() && !row.names.iter().any(|cluster| arriving.contains(&**cluster))
        });
        points.extend(joining.map(|row| {
            let point = self.about_clusters(&row.names, NEW, ["receives", "each receive"]);
            self.objects_of(point, row, Change::Added)
        }));
        // A cluster that joins gets one line.
        let mut told = self.told.clone();
        let joins = comparison.rows_that(Presence::Joins);
        told.extend(joins.flat_map(|row| &row.names).map(AsRef::<str>::as_ref));
        let added = self.objects(Change::Added, Effect::Real).into_iter();
        let added = added.map(|(change, _)| (change, remaining(change, &told)));
        let added: Vec<Placed<'_>> = added.filter(|(_, clusters)| !clusters.is_empty()).collect();
        let heavy = |change: &ObjectChange| weight(change) == Weight::Gateway;
        let gateways: Vec<_> = added.iter().filter(|(change, _)| heavy(change)).collect();
        points.extend(gateways.iter().map(|gateway| {
            let (change, clusters) = gateway;
            let with = with(&added, gateway);
            about(change, format!(" is added on {}{with}", self.on(clusters)))
        }));
        let groups = remaining_groups(self.report, &told);
        // That there is a path is said of its objects.
        let groups = groups
            .iter()
            .filter(|group| group.change == Change::Added && !group.is_of_new_paths);
        points.extend(groups.map(group_point));
        let others = added
            .iter()
            .filter(|other| !heavy(other.0) && !gateways.iter().any(|gateway| goes_with(other, gateway)));
        self.others(&mut points, others, " is added on ");
        points
    }

    fn changed(&self) -> Vec<Point> {
        let groups = remaining_groups(self.report, &self.told);
        let changed = groups.iter().filter(|group| group.change == Change::Changed);
        let mut points: Vec<Point> = changed.map(group_point).collect();
        // The settings say what such an object changes.
        let kinds: BTreeSet<&str> = groups.iter().map(|group| group.kind.as_str()).collect();
        let mut objects = self.objects(Change::Changed, Effect::Real);
        objects.retain(|(change, _)| !kinds.contains(change.object.kind.as_str()));
        let objects = objects.iter().map(|(change, clusters)| {
            let point = about(change, format!(" changes on {}", self.on(clusters)));
            let lines: Vec<String> = change.fields.iter().map(field_line).collect();
            one_or_count(point, &lines, "field")
        });
        points.extend(limited(objects.collect(), "object"));
        let orphaned = self.objects(Change::Removed, Effect::Orphaned);
        points.extend(orphaned.iter().map(|(change, clusters)| {
            let on = self.on(clusters);
            about(change, format!(" is no longer managed, and stays on {on}"))
        }));
        points
    }
}

/// Kind, settings, names of the policies, whether nothing of the kind applies any more and whether the new side's `spokes`
/// deny it, clusters.
type LostSettings<'o> = (
    &'o str,
    &'o [String],
    Vec<&'o str>,
    [bool; 2],
    &'o Arc<Vec<String>>,
);

/// An object and the clusters where something happens to it.
type Placed<'o> = (&'o ObjectChange, Vec<Arc<str>>);

/// Whether an object comes or goes only where a Gateway does, in its work or, as policies on it, in its namespace.
fn goes_with((object, clusters): &Placed<'_>, (gateway, there): &Placed<'_>) -> bool {
    (object.work == gateway.work || object.object.namespace == gateway.object.namespace)
        && weight(object) != Weight::Gateway
        && clusters
            .iter()
            .all(|cluster| there.binary_search(cluster).is_ok())
}

/// `, with 3 other objects`: what comes or goes with a Gateway.
fn with(objects: &[Placed<'_>], gateway: &Placed<'_>) -> String {
    match objects.iter().filter(|object| goes_with(object, gateway)).count() {
        0 => String::new(),
        count => format!(", with {}", counted(count, "other object")),
    }
}

fn group_point(group: &EffectiveGroup) -> Point {
    let point = Point::default().plain(format!("{} on {}", group.title, group.clusters));
    one_or_count(point, &group.lines, "setting")
}

/// Cut off, so that no value is too long for the top of a comment, where the field must be named.
fn term_line(change: &FieldChange) -> String {
    one_line(&field_line(change), MOST_OF_TERM)
}

/// One line is behind, and more are counted.
fn one_or_count(point: Point, lines: &[String], noun: &str) -> Point {
    match lines {
        [] => point,
        [line] => point.plain(" (").name(line).plain(")"),
        lines => point.plain(format!(" ({})", counted(lines.len(), noun))),
    }
}

/// At most so many paths with one change are listed, the rest is counted.
const MOST_GROUP_PATHS: usize = 8;

/// At most so many settings are named in a title.
const MOST_GROUP_SETTINGS: usize = 3;

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

/// What the changes of a group have in common: its title, its lines, and its clusters.
type SameGroup = (String, Vec<String>, Arc<Vec<String>>);

/// All changes, in the order of their first path, what is lost first; without those on some clusters alone.
pub(super) fn remaining_groups(report: &DiffReport, without: &Names<'_>) -> Vec<EffectiveGroup> {
    let mut groups: IndexMap<SameGroup, EffectiveGroup> = IndexMap::new();
    let mut lines_of: HashMap<(*const Vec<SettingChange>, bool), Vec<String>> = HashMap::new();
    // Most paths share their set of clusters.
    let mut remaining: HashMap<*const Vec<String>, Arc<Vec<String>>> = HashMap::new();
    for change in &report.effective_changes {
        let several = change.old_policies.len() > 1 || change.new_policies.len() > 1;
        let lines = lines_of
            .entry((Arc::as_ptr(&change.settings), several))
            .or_insert_with(|| lines(&change.settings, several))
            .clone();
        let (happens, title) = what_happens(change);
        let remaining = remaining.entry(Arc::as_ptr(&change.clusters));
        let clusters = remaining.or_insert_with(|| {
            let clusters = change.clusters.iter();
            let clusters = clusters.filter(|name| !without.contains(name.as_str()));
            Arc::new(clusters.cloned().collect())
        });
        if clusters.is_empty() && !change.clusters.is_empty() {
            continue;
        }
        let group = groups
            .entry((title.clone(), lines.clone(), Arc::clone(clusters)))
            .or_insert_with(|| EffectiveGroup {
                kind: change.kind.clone(),
                change: happens,
                is_of_new_paths: change.presence == Presence::Joins,
                title,
                clusters: describe(&report.comparison.clusters, clusters),
                paths: Vec::new(),
                lines,
            });
        group.paths.push(change.label.clone());
    }
    let mut groups: Vec<EffectiveGroup> = groups.into_values().collect();
    groups.sort_by_key(|group| group.change.reading_order());
    for group in &mut groups {
        group.paths = listed(group.paths.drain(..), MOST_GROUP_PATHS, "path");
    }
    groups
}

/// Whether policies take effect, are no longer in effect, or change settings; and the winner now, and the winner before.
fn what_happens(change: &EffectiveChange) -> (Change, String) {
    let kind = &change.kind;
    let [old, new] = [&change.old_policies, &change.new_policies].map(|policies| keys_of(policies));
    if old == new {
        let settings = change.settings.iter().map(|change| named(&change.setting));
        let settings = first_names(settings, MOST_GROUP_SETTINGS);
        return (Change::Changed, format!("{kind} {new} changes {settings}"));
    }
    match (&*old, &*new, change.presence) {
        (_, "", Presence::Leaves) => (Change::Removed, format!("{kind} {old} goes with its paths")),
        (_, "", _) => (Change::Removed, format!("{kind} {old} is lost")),
        ("", _, Presence::Joins) => (Change::Added, format!("{kind} {new} applies to new paths")),
        ("", ..) => (Change::Added, format!("{kind} {new} now applies")),
        _ => (Change::Changed, format!("{kind} {new} instead of {old}")),
    }
}

/// `several`: more than one policy is named, so that each line has to say whose it is.
fn lines(settings: &[SettingChange], several: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for change in settings {
        let givers = [&change.old_from, &change.new_from].map(|from| from.as_deref().map(key_of));
        let from = match givers {
            _ if !several => String::new(),
            [Some(old), Some(new)] if old != new => format!(" (from {new}, before from {old})"),
            [_, Some(new)] => format!(" (from {new})"),
            [Some(old), None] => format!(" (before from {old})"),
            [None, None] => String::new(),
        };
        let (old, new) = (change.old.as_deref(), change.new.as_deref());
        let fields = field_changes_at(&dotted(&change.setting), old, new);
        lines.extend(fields.iter().map(|field| format!("{}{from}", field_line(field))));
    }
    lines
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
