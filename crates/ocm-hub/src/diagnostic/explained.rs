//! What need not be said, because another finding says it better.
//!
//! Owns: which findings explain which others. Flows in: all findings of a run, with the severities that are configured.
//! Flows out: those that are left. Must not know: the order in which they are shown, output formats.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kube_json::Text;

use super::within::Within;
use super::{Code, DocumentId, Finding, Place, Severity, counted};

/// Leaves out what others explain.
pub(super) fn leave_out_explained(found: &mut Vec<Arc<Finding>>) {
    // Where another directory was meant, every file was read as something that it is not.
    let is_elsewhere =
        |finding: &Finding| finding.code == Code::CONFIG_ELSEWHERE && matches!(finding.place, Place::Path(_));
    if all(found).any(is_elsewhere) {
        found.retain(|finding| is_elsewhere(finding));
    }
    drop_settled(found);
    explain_rules(found);
    drop_around_misspelled(found);
    drop_explained_emptiness(found);
    drop_consequences(found);
}

/// A schema reports what is wrong with a value, in the API server's wording. The reader of the value finds the same
/// mistake and need not report it again. A finding that knows more about that value than its schema replaces the
/// schema's.
fn drop_settled(found: &mut Vec<Arc<Finding>>) {
    let is_asked = |finding: &&Finding| {
        !finding.settles_any() && (finding.code.is_about_shape() || finding.code.is_about_meaning())
    };
    let mut asked = all(found).filter(is_asked).peekable();
    if asked.peek().is_none() {
        return;
    }
    // What is found in other documents settles nothing.
    let documents: HashSet<DocumentId> = asked.filter_map(|finding| finding.place.document()).collect();
    let is_there = |place: &Place| {
        place
            .field()
            .is_none_or(|(document, _)| documents.contains(&document))
    };
    let by_schema = |finding: &&Finding| finding.settles_any();
    let of_schemas = || all(found).filter(by_schema);
    // An unknown field has no meaning that anybody could know more of.
    let own: HashSet<&Place> = of_schemas()
        .filter(|finding| finding.code == Code::OBJECT_SCHEMA)
        .map(|finding| &finding.place)
        .filter(|place| is_there(place))
        .collect();
    let settled: HashSet<(DocumentId, &Text)> = of_schemas()
        .flat_map(Finding::settled)
        .filter(|(document, _)| documents.contains(document))
        .collect();
    let is_settled = |place: &Place| match place {
        Place::Field {
            document, pointer, ..
        } => settled.contains(&(*document, pointer)),
        _ => false,
    };
    let knows_more = |finding: &&Finding| {
        !finding.settles_any()
            && finding.severity == Severity::Error
            && finding.code.is_about_meaning()
            && own.contains(&finding.place)
    };
    let meant: HashSet<&Place> = all(found)
        .filter(knows_more)
        .map(|finding| &finding.place)
        .collect();
    let is_kept = |finding: &Finding| {
        if finding.settles_any() {
            return !meant.contains(&finding.place);
        }
        let is_repeat = finding.code.is_about_shape()
            || (finding.code.is_about_meaning() && !own.contains(&finding.place));
        !(is_repeat && is_settled(&finding.place))
    };
    let keeps = all(found).map(is_kept).collect();
    keep_those(found, keeps);
}

/// A rule of a schema becomes a note of the error that shows which part of its value is wrong. If a field does not
/// exist, an API server does not get as far as its rules.
fn explain_rules(found: &mut Vec<Arc<Finding>>) {
    // There may be a hundred thousand findings, and what follows moves them all.
    if !found.iter().any(|finding| finding.is_rule) {
        return;
    }
    let (rules, mut others): (Vec<_>, Vec<_>) = std::mem::take(found)
        .into_iter()
        .partition(|finding| finding.is_rule);
    let is_unknown =
        |other: &&Arc<Finding>| other.code == Code::OBJECT_UNKNOWN_FIELD && other.severity == Severity::Error;
    let object = |place: &Place| {
        let (document, item) = place.object()?;
        Some((document, item.map(str::to_owned)))
    };
    let with_unknown: HashSet<_> = others
        .iter()
        .filter(is_unknown)
        .filter_map(|other| object(&other.place))
        .collect();
    // The first finding about a value, and all at one place: several stages may have found it.
    let mut tells: Within<'_, usize> = Within::default();
    let mut at: HashMap<&Place, Vec<usize>> = HashMap::new();
    let is_telling = |other: &Finding| {
        other.severity == Severity::Error && (other.code.is_about_meaning() || other.code.is_about_shape())
    };
    // Their places are borrowed from a second list, because those in the first one change.
    let places = others.clone();
    for (position, other) in places.iter().enumerate().filter(|(_, other)| is_telling(other)) {
        tells.add(&other.place, position);
        at.entry(&other.place).or_default().push(position);
    }
    for rule in &rules {
        if object(&rule.place).is_some_and(|object| with_unknown.contains(&object)) {
            continue;
        }
        let told = tells
            .least(&rule.place)
            .and_then(|first| others.get(first).cloned());
        let Some(told) = told else {
            if is_telling(rule) {
                tells.add(&rule.place, others.len());
                at.entry(&rule.place).or_default().push(others.len());
            }
            others.push(Arc::clone(rule));
            continue;
        };
        for position in at.get(&told.place).into_iter().flatten() {
            if let Some(other) = others.get_mut(*position).filter(|other| **other == told) {
                Arc::make_mut(other).notes.push(rule.message.clone());
            }
        }
    }
    *found = others;
}

/// A misspelled key explains what is reported about the field that is missing because of it, of its mapping as a
/// whole, and of its neighbors, which mean something else without it. Only that a neighbor has a wrong shape is a
/// mistake of its own.
fn drop_around_misspelled(found: &mut Vec<Arc<Finding>>) {
    let meant: HashMap<DocumentId, Vec<&str>> = found
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .filter_map(|finding| finding.misspelled()?.field())
        .fold(HashMap::new(), |mut meant, (document, pointer)| {
            meant.entry(document).or_insert_with(Vec::new).push(pointer);
            meant
        });
    if meant.is_empty() {
        return;
    }
    let follows = |finding: &Finding| {
        let Some((document, pointer)) = finding.place.field() else {
            return false;
        };
        let fields = meant.get(&document).map(Vec::as_slice).unwrap_or_default();
        fields.iter().any(|field| {
            let mapping = parent(field);
            let is_inside = pointer
                .strip_prefix(field)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let is_neighbor = pointer != mapping && parent(pointer) == mapping;
            is_inside || pointer == mapping || (is_neighbor && !finding.code.is_about_shape())
        })
    };
    let keeps: Vec<bool> = found
        .iter()
        .map(|finding| finding.misspelled().is_some() || finding.code.is_unknown_field() || !follows(finding))
        .collect();
    keep_those(found, keeps);
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
    // What is found in other documents explains nothing.
    let causes = all(found).flat_map(Finding::causes);
    let documents: HashSet<DocumentId> = causes.map(|(document, _)| document).collect();
    let (mut roots, mut of_objects) = (Within::default(), Within::default());
    let is_empty = |finding: &Finding| finding.code == Code::EMPTY_NOTHING_RENDERED;
    let is_asked = |place: &Place| place.document().is_some_and(|at| documents.contains(&at));
    // Nobody reads a note of what is suppressed.
    let explains_any = |finding: &Finding| finding.causes.is_empty() && finding.suppressed().is_none();
    // A refused update says nothing about what the object itself needs.
    let is_update = |finding: &Finding| finding.code == Code::OBJECT_UPDATE_REFUSED;
    let is_root = |finding: &Finding| {
        explains_any(finding) && !is_empty(finding) && !is_update(finding) && is_asked(&finding.place)
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
    let explains = |finding: &Finding, cause: (DocumentId, &str)| {
        let roots = if is_whole_object(cause.1) {
            &of_objects
        } else {
            &roots
        };
        let worst = roots.least_of(cause);
        worst.filter(|(severity, _)| *severity <= finding.severity)
    };
    let mut following: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut keeps = Vec::with_capacity(found.len());
    for finding in all(found) {
        let explained = finding.causes().find_map(|cause| explains(finding, cause));
        let goes_nowhere = ["placement", "policy", "route", "listener-set"].contains(&finding.code.group());
        if let Some((Severity::Warning, position)) = explained.filter(|_| goes_nowhere) {
            let of_root = following.entry(position).or_default();
            let is_same = found
                .get(position)
                .is_some_and(|root| root.message == finding.message);
            of_root.insert(if is_same {
                format!("it is {}", finding.label)
            } else {
                format!("therefore {}", finding.message)
            });
        }
        let is_part = Code::UNPLACED.contains(&finding.code)
            && empty_at.is_some()
            && empty_at == finding.place.object();
        keeps.push(!is_part && explained.is_none());
    }
    let notes: Vec<(usize, Vec<Text>)> = following
        .into_iter()
        .map(|(at, all)| (at, listed(&all)))
        .collect();
    for (position, notes) in notes {
        if let Some(root) = found.get_mut(position) {
            Arc::make_mut(root).notes.extend(notes);
        }
    }
    keep_those(found, keeps);
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

/// Keeps the findings at whose position there is true.
fn keep_those(found: &mut Vec<Arc<Finding>>, keeps: Vec<bool>) {
    let mut keeps = keeps.into_iter();
    found.retain(|_| keeps.next().unwrap_or(true));
}

fn all(found: &[Arc<Finding>]) -> impl Iterator<Item = &Finding> {
    found.iter().map(Arc::as_ref)
}

/// Whether a pointer is that of an object: a document, or an item where the document is a list.
fn is_whole_object(pointer: &str) -> bool {
    let item = pointer.strip_prefix("/items/");
    pointer.is_empty() || item.is_some_and(|item| !item.contains('/'))
}

/// The mapping or the list that a value is in.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}
