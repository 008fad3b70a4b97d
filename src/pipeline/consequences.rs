//! References that name nothing because of a mistake in the object that they name: one mistake is one finding, where it is.
//!
//! Owns: which findings follow from an object with a mistake. Flows in: findings with their final severities, texts, the
//! hub. Flows out: the findings without those that follow. Must not know: which stage found them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::variables::value_at;
use crate::api::ocm;
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Severity, Within};
use crate::hub::Hub;
use crate::object::Object;
use crate::source::Sources;

/// Drops what follows from a mistake in another object and is not worse.
pub(super) fn leave_out(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    if !findings.iter().any(Finding::is_about_absence) {
        return;
    }
    let wrong = wrong_objects(hub, findings);
    let is_placement_wrong = is_placement_wrong(hub, findings);
    let unread = Unread::of(hub, sources, findings);
    for finding in std::mem::take(findings) {
        if finding.is_about_absence() {
            let name = value_at(&finding.place, sources);
            let is_named = name.is_some_and(|name| names_a_wrong_object(&finding, name, &wrong));
            let is_placed = is_placement_wrong && PLACED.contains(&finding.code);
            if is_named || is_placed || unread.explains(&finding, name) {
                continue;
            }
        }
        findings.push(finding);
    }
}

/// What an evaluation says that read something wrong.
const PLACED: [Code; 3] = [
    Code::PLACEMENT_DIFFERS,
    Code::PLACEMENT_NO_CLUSTERS,
    Code::POLICY_UNUSED,
];

/// Whether there is a mistake in what placements are evaluated from.
fn is_placement_wrong(hub: &Hub, findings: &Findings) -> bool {
    if !findings.iter().any(|finding| PLACED.contains(&finding.code)) {
        return false;
    }
    let mut errors: Within<()> = Within::default();
    for finding in findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
    {
        errors.add(&finding.place, ());
    }
    let is_ocm = |object: &&Object| object.api_version.group == ocm::GROUP;
    let mut objects = hub.objects.iter().chain(&hub.refused).filter(is_ocm);
    findings
        .iter()
        .any(|finding| finding.code == Code::PLACEMENT_UNKNOWN_SET)
        || objects.any(|object| errors.least(&object.place("")).is_some())
}

/// Objects with findings by name, each with its worst severity.
type Wrong<'h> = BTreeMap<&'h str, Vec<(&'h Object, Severity)>>;

fn wrong_objects<'h>(hub: &'h Hub, findings: &Findings) -> Wrong<'h> {
    let mut worst: Within<Severity> = Within::default();
    for finding in findings {
        if matches!(finding.place, Place::Field { .. }) && !finding.code.is_about_a_name() {
            worst.add(&finding.place, finding.severity);
        }
    }
    let mut wrong = Wrong::new();
    for object in hub.objects.iter().chain(&hub.refused) {
        // An error comes before a warning.
        if let Some(worst) = worst.least(&object.place("")) {
            wrong.entry(&object.name).or_default().push((object, worst));
        }
    }
    wrong
}

/// Whether a reference to `name` finds nothing because the object of that name has a mistake that is as bad.
fn names_a_wrong_object(finding: &Finding, name: &str, wrong: &Wrong<'_>) -> bool {
    let is_meant = |kind: &str| match finding.code {
        Code::GATEWAY_CLASS_NOT_FOUND => kind == "GatewayClass",
        Code::PLACEMENT_NOT_FOUND => kind.starts_with("Placement"),
        _ => finding.message.contains(&format!("{kind} ")),
    };
    finding.code.is_about_a_name()
        && wrong
            .get(name)
            .into_iter()
            .flatten()
            .any(|(object, severity)| *severity <= finding.severity && is_meant(&object.kind))
}

/// Objects of the input that are not in the hub, or not as they were meant, because of an error in them.
#[derive(Debug, Default)]
struct Unread<'s> {
    names: BTreeSet<&'s str>,
    /// Whether the name of one of them is not known.
    any_nameless: bool,
}

impl<'s> Unread<'s> {
    fn of(hub: &Hub, sources: &'s Sources, findings: &Findings) -> Self {
        let mut unread = Self::default();
        let errors = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error && finding.code.group() == "object");
        let mut errors = errors.peekable();
        if errors.peek().is_none() {
            return unread;
        }
        let read: HashSet<(DocumentId, &str)> = hub
            .objects
            .iter()
            .chain(hub.spokes.values().flat_map(|objects| objects.iter()))
            .map(|object| (object.origin.document, object.origin.pointer.as_str()))
            .collect();
        for finding in errors {
            let Some((document, pointer)) = finding.place.field() else {
                continue;
            };
            let object = object_of(pointer);
            // An object of a misspelled kind is read as the kind that was meant, but not by everybody.
            if finding.code != Code::OBJECT_UNKNOWN_KIND && read.contains(&(document, object)) {
                continue;
            }
            let name = Place::value(document, format!("{object}/metadata/name"));
            let is_named = |name: &&str| {
                // Without a name, the key of its mapping is shown.
                finding.code != Code::OBJECT_NO_NAME
                    && *name != "metadata"
                    && !name.contains(char::is_whitespace)
            };
            match value_at(&name, sources).filter(is_named) {
                Some(name) => {
                    unread.names.insert(name);
                }
                None => unread.any_nameless = true,
            }
        }
        unread
    }

    /// Whether a finding may be there only because one of them is missing. One that names an object is so if it may be
    /// that object; of the others, nobody can tell.
    fn explains(&self, finding: &Finding, name: Option<&str>) -> bool {
        if finding.is_about_a_name() {
            self.any_nameless || name.is_some_and(|name| self.names.contains(name))
        } else {
            self.any_nameless || !self.names.is_empty()
        }
    }
}

/// The pointer of the object that a value is in: of an item, where the document is a list.
fn object_of(pointer: &str) -> &str {
    let Some(rest) = pointer.strip_prefix("/items/") else {
        return "";
    };
    let item = rest.split('/').next().unwrap_or_default();
    pointer
        .get(.."/items/".len().saturating_add(item.len()))
        .unwrap_or_default()
}
