//! The forms for machines that annotate files: one finding for each hub object whose rendering changes.
//!
//! Owns: which finding stands where, and how many there may be. Flows in: a [`DiffReport`], the texts of both
//! sides. Flows out: findings. Must not know: how findings are written.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::pointer;
use serde_json::Value;

use super::clusters::describe;
use super::compare::{ObjectChange, Which};
use super::effective_text::groups;
use super::field_line::field_line;
use super::fields::field_changes;
use super::report::DiffReport;
use super::side::BothSides;
use crate::diagnostic::{Code, Finding, Findings, Locate as _, Part, Place, Severity, and_more};

/// How many fields an annotation lists at most.
const LISTED_FIELDS: usize = 10;

/// So many annotations of one severity GitHub shows for a step of a job; the others stand in its log only
/// (docs/systems/gitops.md#github).
pub const MOST_ON_GITHUB: usize = 10;

/// The differences as findings of the code `diff/changed`: one at the origin of each hub object, and one without
/// a place for each object that has no origin (what spokewright adds itself, or an output tree). Works around
/// objects are left out where something inside changes. Where no object changes, effective settings are said instead.
///
/// The places count the files of `locate`. Beyond `most`, the last one counts and names the rest.
#[must_use]
pub fn annotations(report: &DiffReport, locate: &BothSides<'_>, most: usize) -> Findings {
    let all = all(report, locate);
    if all.iter().count() <= most {
        return all;
    }
    let (mut findings, mut rest) = (Findings::new(), Vec::new());
    for (position, finding) in all.into_iter().enumerate() {
        if position.saturating_add(1) < most {
            findings.push(finding);
        } else {
            rest.push(finding.message);
        }
    }
    let message = format!(
        "{} more hub objects change; all of them: {}",
        rest.len(),
        report.titles.command
    );
    let finding = Finding::new(Code::DIFF_CHANGED, Place::Run, message).severity(Severity::Warning);
    findings.push(rest.into_iter().fold(finding, Finding::note));
    findings
}

fn all(report: &DiffReport, locate: &BothSides<'_>) -> Findings {
    let mut by_place: BTreeMap<Place, Vec<&ObjectChange>> = BTreeMap::new();
    let mut findings = Findings::new();
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
        if change.object.is_work && change.clusters.iter().all(is_explained) {
            continue;
        }
        match change.origins.first() {
            Some(sided) => {
                let place = sided.origin.place("", Part::Value);
                let place = match sided.side {
                    Which::Old => locate.old_place(place),
                    Which::New => place,
                };
                by_place.entry(place).or_default().push(change);
            }
            None => findings.push(finding(report, locate, Place::Run, &[change])),
        }
    }
    findings.extend(
        by_place
            .into_iter()
            .map(|(place, changes)| finding(report, locate, place, &changes)),
    );
    if report.comparison.changes.is_empty() {
        findings.extend(groups(report).into_iter().map(|group| {
            let message = format!("{} on {}", group.title, group.clusters);
            let finding = Finding::new(Code::DIFF_CHANGED, Place::Run, message).severity(Severity::Warning);
            let notes = group.paths.into_iter().chain(group.lines);
            notes.take(LISTED_FIELDS).fold(finding, Finding::note)
        }));
    }
    findings.order_by_position(locate);
    findings
}

fn finding(report: &DiffReport, locate: &BothSides<'_>, place: Place, changes: &[&ObjectChange]) -> Finding {
    let place = changes
        .first()
        .and_then(|change| changed_line(change, locate))
        .unwrap_or_else(|| locate.for_readers_of_new(place));
    let on = |clusters: &[u32]| describe(&report.comparison.clusters, clusters);
    let clusters: Vec<u32> = changes
        .iter()
        .flat_map(|change| change.clusters.iter().copied())
        .collect::<BTreeSet<u32>>()
        .into_iter()
        .collect();
    let message = match changes {
        [one] => format!("{}: {} on {}", one.object, one.change.as_str(), on(&clusters)),
        [first, ..] => format!("{}: {} changes on {}", first.object, changes.len(), on(&clusters)),
        [] => String::new(),
    };
    let mut finding = Finding::new(Code::DIFF_CHANGED, place, message).severity(Severity::Warning);
    let mut room = LISTED_FIELDS;
    for change in changes {
        if changes.len() > 1 {
            if room == 0 {
                break;
            }
            room = room.saturating_sub(1);
            finding = finding.note(format!("{} on {}", change.change.as_str(), on(&change.clusters)));
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

/// Where the hub object says what changed, as far as that can be told from what is shipped: most of it stands there at
/// the same pointer.
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

/// The pointer, in the new value, of the first field that differs; of what holds it where it is gone.
fn first_difference(old: &Value, new: &Value) -> String {
    let inside = |name: &str, old: Option<&Value>, new: &Value| {
        let rest = old.map(|old| first_difference(old, new)).unwrap_or_default();
        pointer::child("", name) + &rest
    };
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let mut differing = new.iter().filter(|(key, value)| old.get(*key) != Some(*value));
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
    use serde_json::json;

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
