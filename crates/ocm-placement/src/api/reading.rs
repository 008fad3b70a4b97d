//! Reads the fields of which a schema cannot say everything, with a complaint for each one that no scheduler can use.
//!
//! Objects have the types that their CRDs require, or read as if the field were absent: the caller validates them first.

use std::collections::BTreeMap;
use std::fmt;

use apimachinery::{Field, LabelSelector, Mismatch, Quantity};
use jiff::Timestamp;
use kube_json::Value;

use super::object::{Location, Object};
use super::time::parse_time;

/// A field that a schema may let pass and no scheduler can use; its object is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidField {
    /// Which field.
    pub at: Location,
    /// The mistake in it.
    pub problem: FieldProblem,
}

/// A mistake in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldProblem {
    /// A value of another type: labels that are none, a number with next to no fraction.
    Type {
        /// The expected type, such as `a string`.
        expected: &'static str,
    },
    /// A required field is missing.
    Required,
    /// A number below zero. OCM's scheduler panics on a negative `numberOfClusters`, which its CRD allows.
    Negative,
    /// No quantity; Kubernetes' complaint.
    Quantity(String),
    /// No time as in RFC 3339.
    Time,
}

impl fmt::Display for InvalidField {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = apimachinery::pointer::dotted(&self.at.pointer);
        match &self.problem {
            FieldProblem::Type { expected } => write!(formatter, "{field} must be {expected}"),
            FieldProblem::Required => write!(formatter, "{field} is required"),
            FieldProblem::Negative => write!(formatter, "{field} must be at least 0"),
            FieldProblem::Quantity(complaint) => write!(formatter, "{field} is not a quantity: {complaint}"),
            FieldProblem::Time => write!(formatter, "{field} is not an RFC 3339 time"),
        }
    }
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
