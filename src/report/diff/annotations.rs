//! The formats for tools that annotate files: one finding for each hub object whose rendering changes.
//!
//! Owns: the place of each finding, and their maximum number. Flows in: a [`DiffReport`], the texts of both
//! sides. Flows out: findings. Must not know: how findings are written.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::pointer;
use kube_json::Value;

use super::clusters::describe;
use super::compare::{Effect, ObjectChange, Which};
use super::field_line::field_line;
use super::fields::field_changes;
use super::limit::Exceeded;
use super::report::DiffReport;
use super::sections::word;
use super::side::{BothSides, Touched};
use super::summary::{remaining, remaining_groups, told_at_once, without_objects};
use crate::diagnostic::{Code, Finding, Findings, Locate as _, Part, Place, Severity, and_more, first_items};

/// How many fields an annotation lists at most.
const LISTED_FIELDS: usize = 10;
/// How many changes of one object its message lists at most.
const LISTED_CHANGES: usize = 3;

/// So many annotations of one severity GitHub shows for a step of a job; the others are in its log only
/// (docs/systems/gitops.md#github).
pub const MOST_ON_GITHUB: usize = 10;

/// The differences as findings: first `diff/over-budget` for each limit that is exceeded, then `diff/changed`,
/// beginning with what is lost. The others are one for each hub object, on the first of its lines that the change
/// touched, and one without a place for each object that has no origin (what spokewright adds itself, or an output
/// tree). An object that is rendered differently because of a line elsewhere is named there, if the change is in one
/// file. Works around objects are left out where something inside changes, and so is what clusters receive that come or
/// go as a whole. Where no object changes, effective settings are reported instead.
///
/// The places count the files of `locate`. Beyond `most`, the last one counts and names the rest.
#[must_use]
pub fn annotations(report: &DiffReport, locate: &BothSides<'_>, most: usize) -> Findings {
    let mut findings = over_budget(&report.exceeded);
    let mut room = most;
    let mut rest = Vec::new();
    let mut all = lost(report, locate);
    all.extend(all_objects(report, locate));
    let count = all.iter().count();
    for finding in all {
        if count <= most || room > 1 {
            room = room.saturating_sub(1);
            findings.push(finding);
        } else {
            rest.push(finding.message.clone());
        }
    }
    if !rest.is_empty() {
        let message = format!(
            "{} more changes; all of them: {}",
            rest.len(),
            report.titles.command
        );
        let finding = changed(Place::Run, message);
        findings.push(rest.into_iter().fold(finding, Finding::note));
    }
    findings
}

/// The limits that are exceeded and were not allowed.
#[must_use]
pub fn over_budget(exceeded: &[Exceeded]) -> Findings {
    let mut findings = Findings::new();
    for exceeded in exceeded.iter().filter(|exceeded| !exceeded.allowed) {
        let finding = Finding::new(Code::DIFF_OVER_BUDGET, Place::Run, exceeded.sentence()).help(format!(
            "if this is meant, pass `--allow {}`, or raise the limit",
            exceeded.limit.as_str()
        ));
        let listed = exceeded.offenders.iter().take(LISTED_FIELDS).cloned();
        let more = and_more(exceeded.offenders.len().saturating_sub(LISTED_FIELDS), "line");
        findings.push(listed.chain(more).fold(finding, Finding::note));
    }
    findings
}

fn changed(place: Place, message: String) -> Finding {
    Finding::new(Code::DIFF_CHANGED, place, message).severity(Severity::Warning)
}

/// Policies that no longer apply, and clusters that join or leave: they have no line of their own, so they are reported
/// where the change is.
fn lost(report: &DiffReport, locate: &BothSides<'_>) -> Findings {
    let place = locate.only_touched().unwrap_or(Place::Run);
    let mut findings = Findings::new();
    for point in without_objects(report) {
        let finding = changed(place.clone(), point.as_text().trim_end_matches(':').to_owned());
        findings.push(point.below.into_iter().fold(finding, Finding::note));
    }
    findings
}

fn all_objects(report: &DiffReport, locate: &BothSides<'_>) -> Findings {
    let mut by_place: BTreeMap<Place, Vec<(&ObjectChange, Vec<u32>)>> = BTreeMap::new();
    let mut findings = Findings::new();
    let told = told_at_once(&report.comparison);
    // Where something inside a work changes, on which cluster.
    let inside: BTreeSet<(&str, u32)> = report
        .comparison
        .changes
        .iter()
        .filter(|change| !change.object.is_work)
        .flat_map(|change| {
            change
                .clusters
                .iter()
                .map(|cluster| (change.work.as_str(), *cluster))
        })
        .collect();
    for change in &report.comparison.changes {
        let is_explained = |cluster: &u32| inside.contains(&(change.work.as_str(), *cluster));
        let clusters = remaining(change, &told);
        let is_nothing = clusters.is_empty() || change.effect == Effect::OtherWork;
        if is_nothing || change.object.is_work && clusters.iter().all(is_explained) {
            continue;
        }
        match change.origins.first() {
            Some(sided) => {
                let place = sided.origin.place("", Part::Value);
                let place = match sided.side {
                    Which::Old => locate.old_place(place),
                    Which::New => place,
                };
                by_place.entry(place).or_default().push((change, clusters));
            }
            None => findings.push(finding(report, locate, Place::Run, &[(change, clusters)])),
        }
    }
    findings.extend(
        by_place
            .into_iter()
            .map(|(place, changes)| finding(report, locate, place, &changes)),
    );
    if report.comparison.changes.is_empty() {
        findings.extend(remaining_groups(report, &told).into_iter().map(|group| {
            let message = format!("{} on {}", group.title, group.clusters);
            let notes = group.paths.into_iter().chain(group.lines);
            notes
                .take(LISTED_FIELDS)
                .fold(changed(Place::Run, message), Finding::note)
        }));
    }
    findings.order_by_position(locate, None);
    findings
}

fn finding(
    report: &DiffReport,
    locate: &BothSides<'_>,
    place: Place,
    changes: &[(&ObjectChange, Vec<u32>)],
) -> Finding {
    let place = match changes.first() {
        Some((change, _)) => touched_place(change, locate, place),
        None => place,
    };
    let on = |clusters: &[u32]| describe(&report.comparison.clusters, clusters);
    let message = match changes {
        [(one, clusters)] => format!("{}: {} on {}", one.object, word(one), on(clusters)),
        [(first, _), ..] => {
            // Each with its clusters: an object that is new on one cluster does not change on the others.
            let each = changes
                .iter()
                .map(|(change, clusters)| format!("{} on {}", word(change), on(clusters)));
            format!(
                "{}: {}",
                first.object,
                first_items(each.collect::<Vec<_>>(), LISTED_CHANGES)
            )
        }
        [] => String::new(),
    };
    let mut finding = changed(place, message);
    let mut room = LISTED_FIELDS;
    for (change, clusters) in changes {
        if changes.len() > 1 {
            if room == 0 {
                break;
            }
            room = room.saturating_sub(1);
            finding = finding.note(format!("{} on {}", word(change), on(clusters)));
        }
        if let (Some(old), Some(new)) = (&change.old, &change.new) {
            let fields = field_changes(old, new);
            for field in fields.iter().take(room) {
                finding = finding.note(field_line(field));
            }
            if let Some(more) = and_more(fields.len().saturating_sub(room), "field") {
                finding = finding.note(more);
            }
            room = room.saturating_sub(fields.len());
        }
    }
    finding
}

/// A line of the object that the change touched; else the line of an object that it was made from as well; else
/// wherever the change is. If it is unknown what was touched, the field that changes, or the object.
fn touched_place(change: &ObjectChange, locate: &BothSides<'_>, place: Place) -> Place {
    let line = changed_line(change, locate);
    let origins = change.origins.iter().filter(|sided| sided.side == Which::New);
    let mut is_untouched = false;
    for sided in origins {
        match locate.touched(&sided.origin.place("", Part::Value), line.as_ref()) {
            Touched::At(place) => return place,
            Touched::No => is_untouched = true,
            Touched::Unknown => {}
        }
    }
    if is_untouched {
        return locate.only_touched().unwrap_or(Place::Run);
    }
    line.unwrap_or_else(|| locate.for_readers_of_new(place))
}

/// The place of the change in the hub object, as far as the shipped object shows it: most fields are there at the same
/// pointer.
fn changed_line(change: &ObjectChange, locate: &BothSides<'_>) -> Option<Place> {
    let sided = change.origins.first().filter(|sided| sided.side == Which::New)?;
    let (old, new) = (change.old.as_ref()?, change.new.as_ref()?);
    let mut pointer = first_difference(old, new);
    while !pointer.is_empty() {
        let place = sided.origin.place(&pointer, Part::Value);
        if locate.locate(&place).is_some() {
            return Some(place);
        }
        let parent = pointer.rfind('/').unwrap_or_default();
        pointer.truncate(parent);
    }
    None
}

/// The pointer, in the new value, of the first field that differs; of its parent if it is gone.
fn first_difference(old: &Value, new: &Value) -> String {
    let inside = |name: &str, old: Option<&Value>, new: &Value| {
        let rest = old.map(|old| first_difference(old, new)).unwrap_or_default();
        pointer::child("", name) + &rest
    };
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let mut differing = new.iter().filter(|(key, value)| old.get(key) != Some(*value));
            differing
                .next()
                .map(|(key, value)| inside(key, old.get(key), value))
                .unwrap_or_default()
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let mut pairs = old.iter().zip(new).enumerate();
            pairs
                .find(|(_, (old, new))| old != new)
                .map(|(index, (old, new))| inside(&index.to_string(), Some(old), new))
                .unwrap_or_default()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_as_deep_as_both_sides_have_it() {
        let at = |old: Value, new: Value| first_difference(&old, &new);
        assert_eq!(
            at(json!({"a": {"b/c": [1, 2]}}), json!({"a": {"b/c": [1, 3]}})),
            "/a/b~1c/1"
        );
        assert_eq!(
            at(json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": {"d": 1}}})),
            "/a/c"
        );
        assert_eq!(at(json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": 1}})), "/a");
        assert_eq!(at(json!({"a": [1]}), json!({"a": [1, 2]})), "/a");
        assert_eq!(at(json!(1), json!(1)), "");
    }
}
