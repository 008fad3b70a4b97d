//! One mistake is one finding: what follows from a mistake elsewhere is left out.
//!
//! Owns: which findings follow from an object with a mistake, and from one that could not be read. Flows in: findings
//! with their final severities, texts, the hub. Flows out: the findings without those that follow. Must not know: which
//! stage found them.

use std::collections::{BTreeMap, HashSet};

use super::variables::value_at;
use crate::api::{crd, ocm};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Severity, Within, nearest};
use crate::hub::Hub;
use crate::object::Object;
use crate::source::Sources;

/// Drops what follows from a mistake in another object and is not worse.
pub(super) fn leave_out(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    if findings.is_empty() {
        return;
    }
    let wrong = wrong_objects(hub, findings);
    leave_out_of_misdefined(&wrong, findings);
    if !findings.iter().any(Finding::is_about_absence) {
        return;
    }
    let is_placement_wrong = is_placement_wrong(findings, &wrong);
    let unread = Unread::of(hub, sources, findings);
    let is_detached = findings.iter().any(is_detached);
    let mut any_of_a_file = false;
    for finding in std::mem::take(findings) {
        if finding.is_about_absence() {
            let missing = Missing::of(&finding, sources);
            let is_placed = is_placement_wrong && PLACED.contains(&finding.code);
            let is_in_file = unread.files_explain(&finding, &missing);
            any_of_a_file |= is_in_file;
            if is_in_file
                || is_placed
                || (is_detached && PASSED.contains(&finding.code))
                || follows_from_wrong(&finding, &missing, &wrong)
                || unread.objects_explain(&finding, &missing)
            {
                continue;
            }
        }
        findings.push(finding);
    }
    if any_of_a_file {
        findings.note_first(
            is_unread_file,
            "its objects are unknown, so findings about missing objects are left out",
        );
    }
}

/// Drops what is found in objects whose kind has a definition with an error, or is itself the mistake.
fn leave_out_of_misdefined(wrong: &[(&Object, Severity)], findings: &mut Findings) {
    let errors = || wrong.iter().filter(|(_, severity)| *severity == Severity::Error);
    let definitions: Vec<&Object> = errors()
        .map(|(object, _)| *object)
        .filter(|object| crd::is_one(object))
        .collect();
    let of_unknown_kind: HashSet<(DocumentId, &str)> = findings
        .iter()
        .filter(|finding| finding.code == Code::OBJECT_UNKNOWN_KIND)
        .filter_map(|finding| finding.place.field())
        .filter_map(|(document, _)| {
            let (object, _) = errors().find(|(object, _)| object.origin.document == document)?;
            Some((document, object.origin.pointer.as_str()))
        })
        .collect();
    let is_misdefined = |object: &Object| {
        definitions.iter().any(|definition| {
            let spec = definition.root().get("spec");
            let is_near =
                |text: Option<&str>, own: &str| text.is_none_or(|text| nearest(text, [own]).is_some());
            is_near(spec.get("names").get("kind").str(), &object.kind)
                && is_near(spec.get("group").str(), &object.api_version.group)
        })
    };
    let misdefined: HashSet<(DocumentId, &str)> = errors()
        .filter(|(object, _)| !definitions.is_empty() && !crd::is_one(object) && is_misdefined(object))
        .map(|(object, _)| (object.origin.document, object.origin.pointer.as_str()))
        .collect();
    let of_definitions: HashSet<(DocumentId, &str)> = definitions
        .iter()
        .map(|object| (object.origin.document, object.origin.pointer.as_str()))
        .collect();
    findings.retain(|finding| {
        let Some((document, pointer)) = finding.place.field() else {
            return true;
        };
        let object = (document, object_of(pointer));
        let is_by_definition = [
            Code::OBJECT_SCHEMA,
            Code::OBJECT_UNKNOWN_FIELD,
            Code::OBJECT_UNKNOWN_KIND,
            Code::POLICY_INVALID,
            Code::POLICY_UNKNOWN_KIND,
        ]
        .contains(&finding.code);
        let follows = (misdefined.contains(&object) && (is_by_definition || finding.is_about_absence()))
            || (of_unknown_kind.contains(&object) && finding.is_about_absence())
            || (of_definitions.contains(&object) && finding.code == Code::POLICY_KIND_NONCONFORMING);
        !follows
    });
}

/// Whether a reference misses a Gateway, a route, or a part of one because of a typo.
fn is_detached(finding: &Finding) -> bool {
    let is_reference = [Code::POLICY_TARGET_NOT_FOUND, Code::ROUTE_PARENT_NOT_FOUND].contains(&finding.code);
    is_reference && finding.lacks.is_some()
}

/// What is reported about traffic, which such a reference would lead.
const PASSED: [Code; 2] = [Code::POLICY_OVERRIDDEN, Code::POLICY_UNREACHABLE];

/// What an evaluation says that read something wrong.
const PLACED: [Code; 3] = [
    Code::PLACEMENT_DIFFERS,
    Code::PLACEMENT_NO_CLUSTERS,
    Code::POLICY_UNUSED,
];

/// Whether there is a mistake in what placements are evaluated from.
fn is_placement_wrong(findings: &Findings, wrong: &[(&Object, Severity)]) -> bool {
    let is_misnamed = |finding: &Finding| {
        finding.code == Code::PLACEMENT_UNKNOWN_SET
            || (finding.code == Code::PLACEMENT_NOT_FOUND && finding.lacks.is_some())
    };
    let is_label = |finding: &Finding| {
        let meant = finding.misspells.as_ref().and_then(Place::field);
        meant.is_some_and(|(_, pointer)| pointer.contains("/metadata/labels/"))
    };
    findings
        .iter()
        .any(|finding| is_misnamed(finding) || is_label(finding))
        || wrong
            .iter()
            .any(|(object, severity)| object.api_version.group == ocm::GROUP && *severity == Severity::Error)
}

fn is_inside(place: &Place, object: &Object) -> bool {
    place.field().is_some_and(|(document, pointer)| {
        document == object.origin.document && pointer.starts_with(&object.origin.pointer)
    })
}

/// Objects with findings, each with its worst severity.
fn wrong_objects<'h>(hub: &'h Hub, findings: &Findings) -> Vec<(&'h Object, Severity)> {
    let mut worst: Within<Severity> = Within::default();
    for finding in findings {
        if matches!(finding.place, Place::Field { .. }) && !finding.code.is_about_a_name() {
            worst.add(&finding.place, finding.severity);
        }
    }
    let objects = hub.objects.iter().chain(&hub.refused);
    objects
        .filter_map(|object| Some((object, worst.least(&object.place(""))?)))
        .collect()
}

/// What a finding says that the input lacks.
struct Missing<'f> {
    /// The kinds that it may have; empty if that is not known.
    kinds: Vec<&'f str>,
    /// Its name; of a part of an object, the name of that object.
    name: Option<&'f str>,
}

impl<'f> Missing<'f> {
    fn of(finding: &'f Finding, sources: &'f Sources) -> Self {
        let value = value_at(&finding.place, sources);
        if !finding.is_about_a_name() {
            return Self {
                kinds: Vec::new(),
                name: None,
            };
        }
        let (kinds, name) = match finding.code {
            Code::GATEWAY_CLASS_NOT_FOUND => (vec!["GatewayClass"], value),
            Code::PLACEMENT_NOT_FOUND => (vec!["Placement", "PlacementDecision"], value),
            Code::PLACEMENT_UNKNOWN_CLUSTER => (vec!["ManagedCluster"], value),
            Code::PARAMS_INVALID => (vec!["ConfigMap"], value),
            // These begin with the object: `Gateway shop/web is not in the input`.
            _ => {
                let mut words = finding.message.split(' ');
                let kind = words.next().map(|kind| kind.split('.').next().unwrap_or(kind));
                let key = words.next().unwrap_or_default();
                let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
                (kind.into_iter().collect(), Some(name))
            }
        };
        Self { kinds, name }
    }

    /// Whether an object of this kind and name, as far as they are known, may be what is missing, but for a typo.
    fn may_be(&self, kind: Option<&str>, name: Option<&str>) -> bool {
        let is_kind = kind.is_none_or(|kind| nearest(kind, self.kinds.iter().copied()).is_some());
        let is_name = match (name, self.name) {
            // A label says which Placement a decision is for, and not its name.
            _ if kind.is_none_or(|kind| kind == "PlacementDecision")
                && self.kinds.contains(&"PlacementDecision") =>
            {
                true
            }
            (Some(name), Some(wanted)) => nearest(name, [wanted]).is_some(),
            _ => true,
        };
        is_kind && is_name
    }
}

/// Whether an object of the hub with a mistake that is as bad explains a finding.
fn follows_from_wrong(finding: &Finding, missing: &Missing<'_>, wrong: &[(&Object, Severity)]) -> bool {
    if finding.is_about_a_name() {
        let is_called = |object: &&&Object| {
            missing.name == Some(object.name.as_str()) || object.kind == "PlacementDecision"
        };
        let as_bad = wrong.iter().filter(|(_, severity)| *severity <= finding.severity);
        return as_bad
            .map(|(object, _)| object)
            .filter(is_called)
            .any(|object| missing.kinds.contains(&object.kind.as_str()));
    }
    // Other conclusions may be drawn from objects beside the one with the error.
    let is_drawn_from_all = [
        Code::PARAMS_RESOURCE,
        Code::POLICY_OVERRIDDEN,
        Code::POLICY_REF_NOT_PERMITTED,
        Code::POLICY_UNREACHABLE,
        Code::REFERENCE_NOT_PERMITTED,
        Code::ROUTE_NOT_ATTACHED,
        Code::SECRET_REF_NOT_PERMITTED,
    ]
    .contains(&finding.code);
    is_drawn_from_all
        && wrong.iter().any(|(object, severity)| {
            *severity == Severity::Error
                && !is_inside(&finding.place, object)
                && depends_on(finding.code, &object.kind)
        })
}

/// Whether an object of this kind could change a conclusion.
fn depends_on(code: Code, kind: &str) -> bool {
    let is_any_of = |kinds: &[&str]| nearest(kind, kinds.iter().copied()).is_some();
    match code {
        Code::PLACEMENT_DIFFERS | Code::PLACEMENT_NO_CLUSTERS | Code::SPOKE_UNKNOWN_CLUSTER => {
            is_any_of(&ocm::KINDS)
        }
        Code::POLICY_REF_NOT_PERMITTED | Code::REFERENCE_NOT_PERMITTED | Code::SECRET_REF_NOT_PERMITTED => {
            is_any_of(&["ReferenceGrant"])
        }
        Code::PARAMS_RESOURCE => is_any_of(&["CustomResourceDefinition"]),
        Code::SECRET_NOT_FOUND => is_any_of(&["Secret"]),
        Code::POLICY_OVERRIDDEN | Code::POLICY_UNREACHABLE | Code::ROUTE_NOT_ATTACHED => {
            !is_any_of(&ocm::KINDS)
        }
        // What is placed may be shipped, or make something else be there.
        _ => true,
    }
}

/// The kind and the name of an object, as far as they are known.
type KindAndName<'s> = (Option<&'s str>, Option<&'s str>);

/// What could not be read because of an error in it.
#[derive(Debug, Default)]
struct Unread<'s> {
    /// Objects that are not in the hub, or not as they were meant.
    objects: Vec<KindAndName<'s>>,
    /// The texts of files that are not YAML; `None` for one that could not be opened.
    files: Vec<Option<&'s str>>,
}

fn is_unread_file(finding: &Finding) -> bool {
    finding.severity == Severity::Error
        && (finding.code.group() == "yaml" || finding.code == Code::INPUT_UNREADABLE)
}

impl<'s> Unread<'s> {
    fn of(hub: &Hub, sources: &'s Sources, findings: &Findings) -> Self {
        let mut unread = Self::default();
        // The configuration may name another directory than is meant.
        let is_misconfigured =
            |finding: &Finding| finding.severity == Severity::Error && finding.code == Code::CONFIG_INVALID;
        if findings.iter().any(is_misconfigured) {
            unread.files.push(None);
        }
        for finding in findings.iter().filter(|finding| is_unread_file(finding)) {
            let source = match finding.place {
                Place::Text { source, .. } => Some(source),
                Place::Field { document, .. } | Place::Embedded { document, .. } => Some(document.source),
                Place::Path(_) | Place::Run => None,
            };
            let file = source.and_then(|source| sources.file(source));
            unread.files.push(file.map(|file| &*file.text));
        }
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
        let mut objects: BTreeMap<(DocumentId, &str), KindAndName<'_>> = BTreeMap::new();
        for finding in errors {
            let Some((document, pointer)) = finding.place.field() else {
                continue;
            };
            let object = object_of(pointer);
            // An object of a misspelled kind is read as the kind that was meant, but not by everybody.
            if finding.code != Code::OBJECT_UNKNOWN_KIND && read.contains(&(document, object)) {
                continue;
            }
            let text = |field: &str| {
                let place = Place::value(document, format!("{object}{field}"));
                // Of a field that is missing, the key of its mapping is shown.
                value_at(&place, sources)
                    .filter(|text| *text != "metadata" && !text.contains(char::is_whitespace))
            };
            let name = text("/metadata/name").filter(|_| finding.code != Code::OBJECT_NO_NAME);
            objects.insert((document, object), (text("/kind"), name));
        }
        unread.objects = objects.into_values().collect();
        unread
    }

    /// Whether a finding may be there only because one of the objects is missing.
    fn objects_explain(&self, finding: &Finding, missing: &Missing<'_>) -> bool {
        let mut objects = self.objects.iter();
        if finding.is_about_a_name() {
            return objects.any(|(kind, name)| missing.may_be(*kind, *name));
        }
        objects.any(|(kind, _)| kind.is_none_or(|kind| depends_on(finding.code, kind)))
    }

    /// Whether a finding may be there only because one of the files was not read: it has an object of that name or
    /// kind, or nothing is known of it.
    fn files_explain(&self, finding: &Finding, missing: &Missing<'_>) -> bool {
        self.files.iter().any(|text| {
            let Some(text) = text else { return true };
            let mut kinds = kinds_in(text).peekable();
            if kinds.peek().is_none() {
                return true;
            }
            if finding.is_about_a_name() {
                let mut kinds = kinds.filter(|kind| missing.may_be(Some(kind), None));
                let is_named = |kind: &str| {
                    kind == "PlacementDecision" || missing.name.is_none_or(|name| text.contains(name))
                };
                return kinds.any(is_named);
            }
            kinds.any(|kind| depends_on(finding.code, kind))
        })
    }
}

/// The kinds that a text names which is not YAML.
fn kinds_in(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim_start_matches(['-', ' ', '{']);
        let kind = line.strip_prefix("kind:")?.trim();
        let kind = kind.split([' ', ',', '}']).next()?.trim_matches(['"', '\'']);
        (!kind.is_empty()).then_some(kind)
    })
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
