//! Turns violations of a schema into findings.

use apimachinery::pointer::{child, dotted, tokens};
use crd_schema::{Violation, ViolationKind};
use kube_json::Value;

use crate::diagnostic::{Code, DocumentId, Finding, Place, did_you_mean, nearest, shell_name};
use crate::object::Object;

/// More known fields than this are not listed in a help line.
const LISTED_MAX: usize = 16;

/// The metadata that `hub` checks.
pub(crate) const METADATA_OF_HUB: [&str; 4] = ["annotations", "labels", "name", "namespace"];

/// Whether the place of a violation is the key of a field, not its value.
pub const fn is_unknown_field(violation: &Violation) -> bool {
    matches!(violation.kind, ViolationKind::UnknownField { .. })
}

/// What to write instead.
pub fn help(violation: &Violation) -> Option<String> {
    match &violation.kind {
        ViolationKind::UnknownField { known } => {
            let name = tokens(&violation.pointer).last();
            let near = did_you_mean(&name.unwrap_or_default(), known.iter().map(String::as_str));
            let near = near.or_else(|| violation.help.clone());
            Some(near.unwrap_or_else(|| match known.len() {
                0 => "no field is allowed here".to_owned(),
                1..=LISTED_MAX => format!("known fields: {}", known.join(", ")),
                _ => "remove it, or check which mapping it belongs to".to_owned(),
            }))
        }
        ViolationKind::NotSupported { value, supported } => {
            did_you_mean(value.as_str()?, supported.iter().filter_map(Value::as_str))
        }
        ViolationKind::Duplicate { keys } if keys.is_empty() => Some("remove one of the two".to_owned()),
        ViolationKind::Duplicate { keys } => {
            let keys = keys.join("` or `");
            Some(format!("give it another `{keys}`, or remove one of the two"))
        }
        ViolationKind::Rule { rule } => Some(format!("the rule is: {rule}")),
        // It is for a null that the author meant as text.
        ViolationKind::Required => None,
        _ => violation.help.clone(),
    }
}

/// The finding about a field of the configuration, which the schema of a part of it, at `holder`, refuses.
pub fn file_finding(
    violation: &Violation,
    document: DocumentId,
    holder: &str,
    subject: &str,
    help: Option<String>,
) -> Finding {
    let at = format!("{holder}{}", violation.pointer);
    let (code, place) = if is_unknown_field(violation) {
        (Code::CONFIG_UNKNOWN_FIELD, Place::key(document, at))
    } else {
        (Code::CONFIG_INVALID, Place::value(document, at))
    };
    let mut finding = Finding::new(code, place, format!("{subject}: {violation}"));
    finding.help = help.map(Into::into);
    finding
}

/// One finding for each mistake among the violations of `object`; what every object's metadata must be is left out:
/// that is checked for all kinds alike, in `hub`.
///
/// A field that is missing because its name is misspelled is one mistake, and so is a value that several rules refuse.
pub(crate) fn findings(violations: &[Violation], object: &Object) -> Vec<Finding> {
    let of_kind = |violation: &&Violation| violation.kind != ViolationKind::Metadata;
    mistakes(violations.iter().filter(of_kind), object)
}

/// Violations in the metadata of an object of any kind, except in its name, namespace, labels, and annotations, which
/// `hub` reports in more detail.
pub(crate) fn metadata_findings(object: &Object) -> Vec<Finding> {
    let metadata = object.value.get("metadata").and_then(Value::as_object);
    if metadata.is_some_and(|metadata| {
        metadata
            .keys()
            .all(|field| METADATA_OF_HUB.contains(&field.as_str()))
    }) {
        return Vec::new();
    }
    let violations = crd_schema::check_metadata(&object.value);
    let is_ours = |violation: &&Violation| {
        let field = violation.pointer.split('/').nth(2);
        field.is_none_or(|field| !METADATA_OF_HUB.contains(&field))
    };
    mistakes(violations.iter().filter(is_ours), object)
}

/// The violations without those that only report as missing a field whose name is misspelled.
pub(crate) fn without_misspelled<'v>(
    violations: impl Iterator<Item = &'v Violation> + Clone,
) -> impl Iterator<Item = &'v Violation> {
    let misspelled: Vec<String> = violations.clone().filter_map(meant).collect();
    violations.filter(move |violation| {
        violation.kind != ViolationKind::Required || !misspelled.contains(&violation.pointer)
    })
}

/// One finding for each mistake.
fn mistakes<'v>(violations: impl Iterator<Item = &'v Violation> + Clone, object: &Object) -> Vec<Finding> {
    let mut findings: Vec<(&Violation, Finding)> = Vec::new();
    for violation in without_misspelled(violations) {
        let same = |(other, _): &&mut (&Violation, Finding)| {
            other.pointer == violation.pointer && is_about_value(other) && is_about_value(violation)
        };
        if let Some((_, first)) = findings.iter_mut().find(same) {
            first.notes.push(violation.to_string().into());
            continue;
        }
        let found = finding(violation, object).settles_field();
        let found = match meant(violation) {
            Some(meant) if object.value.pointer(&meant).is_some() => {
                let (_, there) = meant.rsplit_once('/').unwrap_or_default();
                found.help(format!("remove it: `{there}` is there already"))
            }
            // A missing field may be reported where it would be.
            Some(meant) => found.misspells(object.place(&meant)),
            None => found,
        };
        findings.push((violation, found));
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// The pointer of the field that an unknown one was meant to be.
pub(crate) fn meant(violation: &Violation) -> Option<String> {
    let ViolationKind::UnknownField { known } = &violation.kind else {
        return None;
    };
    let (parent, _) = violation.pointer.rsplit_once('/')?;
    let name = tokens(&violation.pointer).last()?;
    let near = nearest(&name, known.iter().map(String::as_str))?;
    Some(child(parent, near))
}

const fn is_about_value(violation: &Violation) -> bool {
    matches!(
        violation.kind,
        ViolationKind::Invalid | ViolationKind::Metadata | ViolationKind::NotSupported { .. }
    )
}

/// The finding `object/schema` or `object/unknown-field` about `object`.
fn finding(violation: &Violation, object: &Object) -> Finding {
    let message = format!("{} {}: {violation}", object.kind, object.key());
    let (code, place) = if is_unknown_field(violation) {
        (Code::OBJECT_UNKNOWN_FIELD, object.key_place(&violation.pointer))
    } else if let ViolationKind::Duplicate { keys } = &violation.kind
        && let [key] = keys.as_slice()
    {
        // The field that should distinguish an item from the one that it repeats.
        (Code::OBJECT_SCHEMA, object.place(&child(&violation.pointer, key)))
    } else {
        (Code::OBJECT_SCHEMA, object.place(&violation.pointer))
    };
    let value = object.value.pointer(&violation.pointer);
    let of_null = value.filter(|value| value.is_null()).and(violation.help.clone());
    let help = of_null.or_else(|| help(violation)).unwrap_or_else(|| {
        let path = dotted(&violation.pointer).replace(['[', ']'], " ");
        let fields: Vec<&str> = path
            .split(['.', ' '])
            .filter(|part| !part.is_empty() && !part.bytes().all(|byte| byte.is_ascii_digit()))
            .collect();
        let kind = object.kind.to_lowercase();
        let path = shell_name(&format!("{kind}.{}", fields.join(".")));
        format!("`kubectl explain {path}` shows the fields that belong here")
    });
    let mut finding = Finding::new(code, place, message).help(help);
    finding.is_rule = matches!(violation.kind, ViolationKind::Rule { .. });
    finding
}
