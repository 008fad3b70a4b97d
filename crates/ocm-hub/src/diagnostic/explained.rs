//! Leaves out findings that another finding explains better: one mistake gives one finding.
//!
//! The order of the passes counts: severities are configured before, and what a pass drops explains nothing in the next.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kube_json::Text;

use super::place::Within;
use super::{Code, DocumentId, Finding, Place, Severity, counted};

/// Leaves out what others explain.
pub(super) fn leave_out_explained(found: &mut Vec<Arc<Finding>>) {
    // Where another directory was meant, every file was read as something that it is not.
    let is_elsewhere =
        |finding: &Finding| finding.code == Code::CONFIG_ELSEWHERE && matches!(finding.place, Place::Path(_));
    if all(found).any(is_elsewhere) {
        found.retain(|finding| is_elsewhere(finding));
    }
    drop_repeats_of_schemas(found);
    explain_rules(found);
    drop_around_misspelled(found);
    drop_explained_emptiness(found);
    drop_consequences(found);
}

/// A schema reports what is wrong with a value, in the API server's wording. The reader of the value finds the same
/// mistake and need not report it again. A finding that knows more about that value than its schema replaces the
/// schema's.
fn drop_repeats_of_schemas(found: &mut Vec<Arc<Finding>>) {
    let by_schema = || all(found).filter(|finding| finding.settles_field);
    let settled: HashSet<(DocumentId, &str)> =
        by_schema().filter_map(|finding| finding.place.field()).collect();
    // An unknown field has no meaning that anybody could know more of.
    let refused: HashSet<&Place> = by_schema()
        .filter(|finding| finding.code == Code::OBJECT_SCHEMA)
        .map(|finding| &finding.place)
        .collect();
    let knows_more = |finding: &&Finding| {
        !finding.settles_field
            && finding.severity == Severity::Error
            && finding.code.is_about_meaning()
            && refused.contains(&finding.place)
    };
    let replaced: HashSet<&Place> = all(found)
        .filter(knows_more)
        .map(|finding| &finding.place)
        .collect();
    let is_repeat = |finding: &Finding| {
        if finding.settles_field {
            return replaced.contains(&finding.place);
        }
        let repeats = finding.code.is_about_shape()
            || (finding.code.is_about_meaning() && !refused.contains(&finding.place));
        repeats
            && finding
                .place
                .field()
                .is_some_and(|field| settled.contains(&field))
    };
    let drops = all(found).map(is_repeat).collect();
    drop_those(found, drops);
}

/// A rule of a schema becomes a note of the error that shows which part of its value is wrong. If a field does not
/// exist, an API server does not get as far as its rules.
fn explain_rules(found: &mut Vec<Arc<Finding>>) {
    // The first finding in each value; a rule is the last resort. Several stages may have found the same.
    let mut telling: Within<'_, (bool, usize)> = Within::default();
    let mut at: HashMap<&Place, Vec<usize>> = HashMap::new();
    let mut with_unknown = HashSet::new();
    for (position, finding) in all(found).enumerate() {
        let is_error = finding.severity == Severity::Error;
        if is_error && (finding.code.is_about_meaning() || finding.code.is_about_shape()) {
            telling.add(&finding.place, (finding.is_rule, position));
            at.entry(&finding.place).or_default().push(position);
        }
        if is_error && finding.code == Code::OBJECT_UNKNOWN_FIELD {
            with_unknown.extend(finding.place.object());
        }
    }
    let mut notes: Vec<(usize, Text)> = Vec::new();
    let mut drops = Vec::with_capacity(found.len());
    for (position, finding) in all(found).enumerate() {
        let is_beside_unknown = || {
            finding
                .place
                .object()
                .is_some_and(|object| with_unknown.contains(&object))
        };
        if !finding.is_rule || is_beside_unknown() {
            drops.push(finding.is_rule);
            continue;
        }
        let first = finding.place.field().and_then(|field| telling.least(field));
        let first = first.map(|(_, first)| first).filter(|first| *first != position);
        let explaining = first.and_then(|first| found.get(first));
        let equal = explaining
            .and_then(|explaining| at.get(&explaining.place))
            .into_iter()
            .flatten();
        let equal = equal.filter(|position| found.get(**position) == explaining);
        notes.extend(equal.map(|position| (*position, finding.message.clone())));
        drops.push(explaining.is_some());
    }
    for (position, note) in notes {
        if let Some(explaining) = found.get_mut(position) {
            Arc::make_mut(explaining).notes.push(note);
        }
    }
    drop_those(found, drops);
}

/// A misspelled key explains what is reported about the field that is missing because of it, of its mapping as a
/// whole, and of its neighbors, which mean something else without it. Only that a neighbor has a wrong shape is a
/// mistake of its own.
fn drop_around_misspelled(found: &mut Vec<Arc<Finding>>) {
    let mut missing: Within<'_, ()> = Within::default();
    let mut mappings: HashSet<(DocumentId, &str)> = HashSet::new();
    for finding in all(found).filter(|finding| finding.severity == Severity::Error) {
        if let Some(field) = &finding.misspells {
            missing.add(field, ());
            mappings.extend(
                field
                    .field()
                    .map(|(document, pointer)| (document, parent(pointer))),
            );
        }
    }
    let follows = |finding: &Finding| {
        let Some((document, pointer)) = finding.place.field() else {
            return false;
        };
        let is_neighbor =
            || !finding.code.is_about_shape() && mappings.contains(&(document, parent(pointer)));
        missing.is_around(&finding.place) || mappings.contains(&(document, pointer)) || is_neighbor()
    };
    let drops = all(found)
        .map(|finding| finding.misspells.is_none() && !finding.code.is_unknown_field() && follows(finding))
        .collect();
    drop_those(found, drops);
}

/// Any other error explains better than `empty/nothing-rendered` why nothing is rendered. Only the configured
/// severities show whether there is one: an error that the configuration makes a warning stops nothing, and must
/// not hide that the result is empty.
fn drop_explained_emptiness(found: &mut Vec<Arc<Finding>>) {
    let is_empty = |finding: &Finding| finding.code == Code::EMPTY_NOTHING_RENDERED;
    let explains = |finding: &Finding| finding.severity == Severity::Error && !is_empty(finding);
    if all(found).any(explains) {
        found.retain(|finding| !is_empty(finding));
    }
}

/// What follows from one warning is listed up to here, and then counted.
const MOST_LISTED: usize = 3;

/// Drops what only follows from something else that is found, and is as severe. What follows from an object as a whole
/// follows from an error in it, or from its placement: any other warning leaves the object as it is. A warning stops
/// nothing, so it lists what follows from it.
fn drop_consequences(found: &mut Vec<Arc<Finding>>) {
    let (mut roots, mut of_objects) = (Within::default(), Within::default());
    let is_empty = |finding: &Finding| finding.code == Code::EMPTY_NOTHING_RENDERED;
    // Nobody reads a note of what is suppressed, and a refused update says nothing about what the object itself needs.
    let is_root = |finding: &Finding| {
        finding.causes.is_empty()
            && finding.suppressed.is_none()
            && !is_empty(finding)
            && finding.code != Code::OBJECT_UPDATE_REFUSED
    };
    for (position, finding) in all(found).enumerate().filter(|(_, finding)| is_root(finding)) {
        let root = (finding.severity, position);
        roots.add(&finding.place, root);
        let is_about_placement =
            finding.code.group() == "placement" || Code::UNPLACED.contains(&finding.code);
        if is_about_placement || finding.severity == Severity::Error {
            of_objects.add(&finding.place, root);
        }
    }
    // The warnings that explain why nothing is rendered are a part of that error, which is in their object.
    let empty_at = all(found).find(|finding| is_empty(finding));
    let empty_at = empty_at.and_then(|finding| finding.place.object());
    let explains = |finding: &Finding, cause: &Place| {
        let is_whole_object = cause.field() == cause.object();
        let roots = if is_whole_object { &of_objects } else { &roots };
        let worst = roots.least(cause.field()?);
        worst.filter(|(severity, _)| *severity <= finding.severity)
    };
    let mut following: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut drops = Vec::with_capacity(found.len());
    for finding in all(found) {
        let explained = finding.causes.iter().find_map(|cause| explains(finding, cause));
        let goes_nowhere = ["placement", "policy", "route", "listener-set"].contains(&finding.code.group());
        if let Some((Severity::Warning, position)) = explained.filter(|_| goes_nowhere) {
            let is_same = found
                .get(position)
                .is_some_and(|root| root.message == finding.message);
            following.entry(position).or_default().insert(if is_same {
                format!("it is {}", finding.label)
            } else {
                format!("therefore {}", finding.message)
            });
        }
        let is_part = Code::UNPLACED.contains(&finding.code)
            && empty_at.is_some()
            && empty_at == finding.place.object();
        drops.push(is_part || explained.is_some());
    }
    for (position, consequences) in following {
        if let Some(root) = found.get_mut(position) {
            Arc::make_mut(root).notes.extend(listed(&consequences));
        }
    }
    drop_those(found, drops);
}

/// What follows from a warning, as its notes.
fn listed(following: &BTreeSet<String>) -> Vec<Text> {
    let first = following
        .iter()
        .take(MOST_LISTED)
        .map(|text| text.as_str().into());
    let more = following.len().saturating_sub(MOST_LISTED);
    let more = (more > 0).then(|| format!("and {} with it", counted(more, "more object")).into());
    first.chain(more).collect()
}

/// Drops the findings at whose position there is true.
fn drop_those(found: &mut Vec<Arc<Finding>>, drops: Vec<bool>) {
    let mut drops = drops.into_iter();
    found.retain(|_| !drops.next().unwrap_or_default());
}

fn all(found: &[Arc<Finding>]) -> impl Iterator<Item = &Finding> {
    found.iter().map(Arc::as_ref)
}

/// The mapping or the list that a value is in.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}
