//! A missing name gives one finding, however many objects refer to it.
//!
//! Owns: which findings lack one name, and whether the definition or the references have the typo. Flows in: findings,
//! the hub, texts. Flows out: the findings, in another order, with one for each such name. Must not know: which stage found
//! them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube_json::Value;

use super::variables::value_at;
use crate::diagnostic::{Code, Finding, Findings, Lacks, Place, counted};
use crate::hub::Hub;
use crate::source::Sources;

/// At most so many references are shown.
const MOST: usize = 3;

/// Makes one finding of all that lack one name. If nothing refers to the near definition, the typo is there, and it is
/// the place of the finding. Otherwise, the typo is in the references.
pub(super) fn gather(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    let mut gathered: BTreeMap<Lacks, Findings> = BTreeMap::new();
    findings.revise(|finding| match finding.lacking() {
        Some(lacks) if finding.suppressed().is_none() => {
            let of_name = gathered.entry(lacks.clone()).or_default();
            of_name.push(Arc::clone(finding));
            false
        }
        _ => true,
    });
    if gathered.is_empty() {
        return;
    }
    // No more of them are shown than the first one and these.
    let shown = Some(MOST.saturating_add(1));
    let gathered: BTreeMap<Lacks, Vec<Arc<Finding>>> = gathered
        .into_iter()
        .map(|(lacks, mut found)| {
            found.order_by_position(sources, shown);
            (lacks, found.into_iter().collect())
        })
        .collect();
    let mut mentions: HashMap<&str, usize> = gathered
        .keys()
        .filter_map(|lacks| Some((value_at(&lacks.near, sources)?, 0)))
        .collect();
    let spokes = hub.spokes.values().flat_map(|objects| objects.iter());
    for object in hub.objects.iter().chain(spokes) {
        count(&object.value, &mut mentions);
    }
    let object_of = |place: &Place| {
        let (document, item) = place.object()?;
        Some((document, item.map(str::to_owned)))
    };
    // Objects whose own references lead nowhere: with a wrong namespace, they do.
    let lost: BTreeSet<_> = findings
        .iter()
        .chain(gathered.values().flatten().map(Arc::as_ref))
        .filter(|finding| finding.is_about_a_name())
        .filter_map(|finding| object_of(&finding.place))
        .collect();
    let mut misnamed = BTreeMap::new();
    let mut kept = Vec::new();
    let mut gathered: Vec<_> = gathered.into_iter().collect();
    gathered.sort_by_key(|(_, found)| Reverse(found.len()));
    let mut defined = BTreeSet::new();
    for (lacks, found) in gathered {
        let near = value_at(&lacks.near, sources);
        let is_unused = near.is_some_and(|near| mentions.get(near).is_none_or(|count| *count <= 1));
        // A dangling object reference proves nothing about the names inside the object, such as those of listeners.
        let of_near = is_of_object(&lacks.near)
            .then(|| object_of(&lacks.near))
            .flatten();
        let is_lost = of_near.as_ref().is_some_and(|object| lost.contains(object));
        // The copies of an object have names of their own, and one typo is in all of them.
        if defined.contains(&lacks.near) {
            continue;
        }
        if is_unused && (found.len() > 1 || is_lost) {
            defined.insert(lacks.near.clone());
            let definition = at_the_definition(lacks, &found, sources);
            misnamed.extend(of_near.zip(definition.as_ref().map(|finding| finding.severity)));
            kept.extend(definition);
        } else {
            kept.extend(at_the_references(found));
        }
    }
    let follows = |finding: &Finding| {
        let object = object_of(&finding.place);
        finding.is_about_a_name()
            && finding.lacking().is_none_or(|lacks| lacks.near != finding.place)
            && object.is_some_and(|object| {
                misnamed
                    .get(&object)
                    .is_some_and(|worst| *worst <= finding.severity)
            })
    };
    findings.extend(kept);
    findings.retain(|finding| !follows(finding));
}

/// Whether a place is the name or the namespace of an object.
fn is_of_object(place: &Place) -> bool {
    place.field().is_some_and(|(_, pointer)| {
        ["/metadata/name", "/metadata/namespace"]
            .iter()
            .any(|name| pointer.ends_with(name))
    })
}

/// Counts the values that are one of these names.
fn count(value: &Value, mentions: &mut HashMap<&str, usize>) {
    match value {
        Value::String(text) => {
            if let Some(count) = mentions.get_mut(text.as_str()) {
                *count = count.saturating_add(1);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| count(item, mentions)),
        Value::Object(fields) => fields.values().for_each(|field| count(field, mentions)),
        _ => {}
    }
}

/// One finding, at the definition, with the worst severity of all.
fn at_the_definition(lacks: Lacks, found: &[Arc<Finding>], sources: &Sources) -> Option<Finding> {
    let worst = found.iter().min_by_key(|finding| finding.severity)?;
    let references = match found.len() {
        1 => "a reference names".to_owned(),
        many => format!("{many} references name"),
    };
    let message = format!("{references} {}, which does not exist", lacks.what);
    let finding = Finding::new(worst.code, lacks.near.clone(), message)
        .severity(worst.severity)
        .label("no reference names this");
    // What follows is what the code is about.
    let finding = if worst.code == Code::EMPTY_NOTHING_RENDERED {
        let finding = finding.note(worst.message.clone());
        worst.notes.iter().cloned().fold(finding, Finding::note)
    } else {
        finding
    };
    let finding = match value_at(&worst.place, sources) {
        Some(name) => finding.help(format!(
            "did you mean `{name}`? Otherwise, correct the references"
        )),
        None => finding.help("correct this name, or the references"),
    };
    Some(shown(finding, found).lacks(lacks.what, lacks.near))
}

/// One finding, at the first of the worst references.
fn at_the_references(mut found: Vec<Arc<Finding>>) -> Option<Finding> {
    let worst = found.iter().map(|finding| finding.severity).min()?;
    let first = found.iter().position(|finding| finding.severity == worst)?;
    let finding = Arc::unwrap_or_clone(found.remove(first));
    Some(shown(finding, &found))
}

/// The finding with the first of the other references.
fn shown(finding: Finding, others: &[Arc<Finding>]) -> Finding {
    let more = others.len().saturating_sub(MOST);
    let finding = others.iter().take(MOST).fold(finding, |finding, other| {
        finding.related(other.place.clone(), "a reference to it")
    });
    match more {
        0 => finding,
        more => finding.note(format!("it is in {}", counted(more, "more place"))),
    }
}
