//! From what a schema refuses to findings.
//!
//! Owns: the finding of a violation (code, place, help), and the nearest known name in it. Flows in: violations.
//! Flows out: findings about the object. Must not know: schemas.

use apimachinery::pointer::dotted;
use crd_schema::{Violation, ViolationKind};
use serde_json::Value;

use crate::diagnostic::{Code, Finding, nearest};
use crate::object::Object;

/// More known fields than this are not listed in a help line.
const LISTED_MAX: usize = 16;

/// Whether the place of a violation is the key of a field, not its value.
pub(crate) const fn is_unknown_field(violation: &Violation) -> bool {
    matches!(violation.kind, ViolationKind::UnknownField { .. })
}

/// What to write instead.
pub(crate) fn help(violation: &Violation) -> Option<String> {
    let did_you_mean = |near: &str| format!("did you mean `{near}`?");
    match &violation.kind {
        ViolationKind::UnknownField { known } => {
            let name = apimachinery::pointer::tokens(&violation.pointer).last();
            let near = nearest(&name.unwrap_or_default(), known.iter().map(String::as_str)).map(did_you_mean);
            Some(near.unwrap_or_else(|| match known.len() {
                0 => "no field is allowed here".to_owned(),
                1..=LISTED_MAX => format!("known fields: {}", known.join(", ")),
                _ => "remove it, or check in which mapping it belongs".to_owned(),
            }))
        }
        ViolationKind::NotSupported { value, supported } => {
            nearest(value.as_str()?, supported.iter().filter_map(Value::as_str)).map(did_you_mean)
        }
        ViolationKind::Rule { rule } => Some(format!("the rule is: {rule}")),
        _ => violation.help.clone(),
    }
}

/// The finding `object/schema` or `object/unknown-field` about `object`.
pub(crate) fn finding(violation: &Violation, object: &Object) -> Finding {
    let subject = format!("{} {}: {violation}", object.kind, object.key());
    let (code, place) = if is_unknown_field(violation) {
        (Code::OBJECT_UNKNOWN_FIELD, object.key_place(&violation.pointer))
    } else {
        (Code::OBJECT_SCHEMA, object.place(&violation.pointer))
    };
    let help = help(violation).unwrap_or_else(|| {
        let path = dotted(&violation.pointer).replace(['[', ']'], " ");
        let fields: Vec<&str> = path
            .split(['.', ' '])
            .filter(|part| !part.is_empty() && !part.bytes().all(|byte| byte.is_ascii_digit()))
            .collect();
        let kind = object.kind.to_lowercase();
        format!(
            "`kubectl explain {kind}.{}` says what belongs here",
            fields.join(".")
        )
    });
    Finding::new(code, place, subject).help(help)
}
