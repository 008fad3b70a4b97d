//! An object of the caller, a place in it, and reading its fields: those of which a schema cannot say everything, with a
//! complaint for each one that no scheduler can use.
//!
//! Objects have the types that their CRDs require, or read as if the field were absent: the caller validates them first.

use std::collections::BTreeMap;

use apimachinery::pointer::dotted;
use apimachinery::{ApiVersion, Field, Identity, LabelSelector, Mismatch, Quantity};
use jiff::Timestamp;
use kube_json::Value;
use thiserror::Error;

/// Which of the caller's objects: the number under which the caller finds it again.
///
/// Of two objects with one identity, which no API server lets happen, the one with the lower number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub usize);

/// An object of the caller.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    /// The caller's number.
    pub id: ObjectId,
    /// The whole object.
    pub value: &'a Value,
    /// The namespace that counts; a caller may know one that is not written.
    pub namespace: Option<&'a str>,
}

/// A field of an object of the caller.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The object.
    pub object: ObjectId,
    /// JSON pointer (RFC 6901) inside it, `""` for the whole. The field need not be there.
    pub pointer: String,
}

impl<'a> Object<'a> {
    /// An object whose namespace is the written one.
    pub fn new(id: ObjectId, value: &'a Value) -> Self {
        Self {
            id,
            value,
            namespace: Field::new(value).get("metadata").text("namespace"),
        }
    }

    pub(crate) fn root(&self) -> Field<'a> {
        Field::new(self.value)
    }

    pub(crate) fn kind(&self) -> &'a str {
        self.value.get("kind").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn api_version(&self) -> ApiVersion {
        let text = self.value.get("apiVersion").and_then(Value::as_str);
        ApiVersion::parse(text.unwrap_or_default())
    }

    pub(crate) fn name(&self) -> &'a str {
        self.of_metadata("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The namespace, `""` for a cluster-scoped object.
    pub(crate) fn namespace_or_empty(&self) -> &'a str {
        self.namespace.unwrap_or_default()
    }

    pub(crate) fn label(&self, name: &str) -> Option<&'a str> {
        self.of_metadata("labels")?.get(name)?.as_str()
    }

    pub(crate) fn annotation(&self, name: &str) -> Option<&'a str> {
        self.of_metadata("annotations")?.get(name)?.as_str()
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity::new(
            &self.api_version().group,
            self.kind(),
            self.namespace,
            self.name(),
        )
    }

    /// A field of the object.
    pub(crate) fn at(&self, pointer: impl Into<String>) -> Location {
        Location {
            object: self.id,
            pointer: pointer.into(),
        }
    }

    fn of_metadata(&self, member: &str) -> Option<&'a Value> {
        self.value.get("metadata")?.get(member)
    }
}

/// A field that a schema may let pass and no scheduler can use; its object is left out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{} {problem}", dotted(&self.at.pointer))]
#[non_exhaustive]
pub struct InvalidField {
    /// Which field.
    pub at: Location,
    /// The mistake in it.
    pub problem: FieldProblem,
}

/// A mistake in a field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FieldProblem {
    /// A value of another type: labels that are none, a number with next to no fraction.
    #[error("must be {expected}")]
    Type {
        /// The expected type, such as `a string`.
        expected: &'static str,
    },
    /// A required field is missing.
    #[error("is required")]
    Required,
    /// A number below zero. OCM's scheduler panics on a negative `numberOfClusters`, which its CRD allows.
    #[error("must be at least 0")]
    Negative,
    /// No quantity; Kubernetes' complaint.
    #[error("is not a quantity: {0}")]
    Quantity(String),
    /// No time as in RFC 3339.
    #[error("is not an RFC 3339 time")]
    Time,
}

/// Reads one object and records its mistakes. A field with a mistake reads as if it were absent.
pub(crate) struct Reading<'f, 'a> {
    object: &'f Object<'a>,
    invalid: &'f mut Vec<InvalidField>,
}

impl<'f, 'a> Reading<'f, 'a> {
    pub(crate) fn new(object: &'f Object<'a>, invalid: &'f mut Vec<InvalidField>) -> Self {
        Self { object, invalid }
    }

    /// A mapping of strings, none of them null: an API server drops it, and clients in Go read it as an empty one.
    pub(crate) fn table(&mut self, field: &Field<'a>) -> BTreeMap<&'a str, &'a str> {
        self.typed(field, field.mapping());
        let entries = field.entries();
        let entries = entries.filter_map(|(key, value)| Some((key, self.string(&value)?)));
        entries.collect()
    }

    fn string(&mut self, field: &Field<'a>) -> Option<&'a str> {
        let text = field.str();
        if text.is_none() {
            self.note(field, FieldProblem::Type { expected: "a string" });
        }
        text
    }

    /// An integer as an API server sees it: a number without a fraction, so `3.0` and `3e1` as well.
    pub(crate) fn integer(&mut self, field: &Field<'a>) -> Option<i64> {
        self.typed(field, field.integer())
    }

    /// A number that counts something.
    pub(crate) fn count(&mut self, field: &Field<'a>) -> Option<usize> {
        let count = usize::try_from(self.integer(field)?).ok();
        if count.is_none() {
            self.note(field, FieldProblem::Negative);
        }
        count
    }

    fn typed<T>(&mut self, field: &Field<'a>, value: Result<Option<T>, Mismatch>) -> Option<T> {
        value.unwrap_or_else(|Mismatch { expected, .. }| {
            self.note(field, FieldProblem::Type { expected });
            None
        })
    }

    pub(crate) fn quantity(&mut self, field: &Field<'a>) -> Option<Quantity> {
        let value = field.value()?;
        if let Ok(Some(number)) = field.integer() {
            return Some(Quantity::from_integer(number));
        }
        let quantity = match value.as_str() {
            Some(text) => Quantity::parse(text).map_err(|error| FieldProblem::Quantity(error.to_string())),
            None => Err(FieldProblem::Type {
                expected: "a quantity",
            }),
        };
        quantity.map_err(|problem| self.note(field, problem)).ok()
    }

    pub(crate) fn time(&mut self, field: &Field<'a>) -> Option<Timestamp> {
        // An API server takes a list for a text with a format, and a time that is none is no time.
        if field.value().is_some_and(Value::is_array) {
            return None;
        }
        let time = parse_time(field.str()?);
        if time.is_none() {
            self.note(field, FieldProblem::Time);
        }
        time
    }

    /// A label selector; [`LabelSelector::compile`] says what is wrong with it, as the scheduler does.
    pub(crate) fn selector(&mut self, field: &Field<'a>) -> LabelSelector {
        self.table(&field.get("matchLabels"));
        LabelSelector::read(field)
    }

    /// Notes that a field is missing, if it is.
    pub(crate) fn require(&mut self, field: &Field<'a>) {
        if !field.is_present() {
            self.note(field, FieldProblem::Required);
        }
    }

    fn note(&mut self, field: &Field<'a>, problem: FieldProblem) {
        self.invalid.push(InvalidField {
            at: self.object.at(field.pointer()),
            problem,
        });
    }
}

/// Reads `2026-06-01T00:00:00Z`, with an optional fraction and any offset; `None` for anything else.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    const SHAPE: &str = "0000-00-00T00:00:00";
    let shaped = text.bytes().zip(SHAPE.bytes()).all(|(byte, like)| match like {
        b'0' => byte.is_ascii_digit(),
        sign => byte == sign,
    });
    let tail = text.get(SHAPE.len()..)?;
    let zone = match tail.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => tail,
    };
    let zoned = zone == "Z"
        || (zone.len() == 6 && zone.starts_with(['+', '-']) && zone.as_bytes().get(3) == Some(&b':'));
    if shaped && zoned { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_is_read_with_fraction_and_offset() {
        let zulu = parse_time("2026-06-01T00:00:00Z");
        assert!(zulu.is_some());
        assert_eq!(parse_time("2026-06-01T02:00:00+02:00"), zulu);
        assert_eq!(parse_time("2026-06-01T00:00:00.000Z"), zulu);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "2026-06-01",
            "2026-06-01 00:00:00Z",
            "2026-06-01T00:00:00",
            "2026-13-01T00:00:00Z",
            "2026-06-01T00:00:00Z[UTC]",
            "2026-6-1T0:0:0Z",
            "soon",
            "2026-06-01T00:00:00+0200",
            "2026-06-01T02:00:00+02:00:00",
            "é026-06-01T00:00:00Z",
        ] {
            assert_eq!(parse_time(text), None, "{text:?}");
        }
    }
}
