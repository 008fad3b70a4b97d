//! Reads typed fields, with a complaint for each one that is not of the type that its kind requires.
//!
//! Owns: types, numbers, times, and the form of a complaint. Flows in: fields of one object. Flows out: values, and
//! [`InvalidField`]s. Must not know: which fields a kind has.

use std::collections::BTreeMap;
use std::fmt;

use apimachinery::{Field, LabelSelector, Mismatch, Quantity};
use jiff::Timestamp;
use kube_json::Value;

use super::object::{Location, Object};
use super::time::parse_time;

/// A field that OCM's API server would refuse; its object is left out.
///
/// Only what the scheduler reads is looked at: to check every rule of the CRDs, validate against them first.
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
    /// A value of another type.
    Type {
        /// The expected type, such as `a string`.
        expected: &'static str,
    },
    /// A required field is missing.
    Required,
    /// A text that is not one of those allowed.
    NotOneOf(&'static [&'static str]),
    /// A number below zero. OCM's scheduler panics on a negative `numberOfClusters`.
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
            FieldProblem::NotOneOf(values) => {
                write!(formatter, "{field} must be one of {}", values.join(", "))
            }
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

    pub(crate) fn string(&mut self, field: &Field<'a>) -> Option<&'a str> {
        self.typed(field.string())
    }

    /// The string in `field`, `""` when it is absent.
    pub(crate) fn text(&mut self, field: &Field<'a>) -> &'a str {
        self.string(field).unwrap_or_default()
    }

    /// The strings of a list; an element that is none is a complaint.
    pub(crate) fn texts(&mut self, field: &Field<'a>) -> Vec<&'a str> {
        let items = self.items(field);
        let texts = items.iter().filter_map(|item| self.required_string(item));
        texts.collect()
    }

    fn required_string(&mut self, field: &Field<'a>) -> Option<&'a str> {
        if !field.is_present() {
            self.note(field, FieldProblem::Type { expected: "a string" });
        }
        self.string(field)
    }

    /// A mapping of strings.
    pub(crate) fn table(&mut self, field: &Field<'a>) -> BTreeMap<&'a str, &'a str> {
        let entries = self.entries(field);
        let entries = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key, self.required_string(&value)?)));
        entries.collect()
    }

    pub(crate) fn items(&mut self, field: &Field<'a>) -> Vec<Field<'a>> {
        self.typed(field.list())
            .map(|_| field.items().collect())
            .unwrap_or_default()
    }

    pub(crate) fn entries(&mut self, field: &Field<'a>) -> Vec<(&'a str, Field<'a>)> {
        self.typed(field.mapping())
            .map(|_| field.entries().collect())
            .unwrap_or_default()
    }

    /// An integer as an API server sees it: a number without a fraction, so `3.0` and `3e1` as well.
    pub(crate) fn integer(&mut self, field: &Field<'a>) -> Option<i64> {
        let value = field.value()?;
        let integer = whole_number(value);
        if integer.is_none() {
            let expected = "an integer";
            self.note(field, FieldProblem::Type { expected });
        }
        integer
    }

    /// A number that counts something.
    pub(crate) fn count(&mut self, field: &Field<'a>) -> Option<usize> {
        let number = self.integer(field)?;
        let count = usize::try_from(number).ok();
        if count.is_none() {
            self.note(field, FieldProblem::Negative);
        }
        count
    }

    pub(crate) fn quantity(&mut self, field: &Field<'a>) -> Option<Quantity> {
        let value = field.value()?;
        if let Some(number) = whole_number(value) {
            return Some(Quantity::from_integer(number));
        }
        let Some(text) = value.as_str() else {
            let expected = "a quantity";
            self.note(field, FieldProblem::Type { expected });
            return None;
        };
        let quantity = Quantity::parse(text);
        quantity
            .map_err(|error| self.note(field, FieldProblem::Quantity(error.to_string())))
            .ok()
    }

    pub(crate) fn time(&mut self, field: &Field<'a>) -> Option<Timestamp> {
        // An API server takes a list for a text with a format, and a time that is none is no time.
        if field.value().is_some_and(Value::is_array) {
            return None;
        }
        let text = self.string(field)?;
        let time = parse_time(text);
        if time.is_none() {
            self.note(field, FieldProblem::Time);
        }
        time
    }

    /// The value whose text is in `field`; `None` when it is absent.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        field: &Field<'a>,
        texts: &'static [&'static str],
        values: &[T],
    ) -> Option<T> {
        let text = self.string(field)?;
        let known = texts.iter().zip(values).find(|(known, _)| **known == text);
        if known.is_none() {
            self.note(field, FieldProblem::NotOneOf(texts));
        }
        known.map(|(_, value)| *value)
    }

    /// A label selector whose types are right; [`LabelSelector::compile`] says the rest, as the scheduler does.
    pub(crate) fn selector(&mut self, field: &Field<'a>) -> LabelSelector {
        self.typed(field.mapping());
        self.table(&field.get("matchLabels"));
        for expression in self.items(&field.get("matchExpressions")) {
            self.string(&expression.get("key"));
            self.string(&expression.get("operator"));
            self.texts(&expression.get("values"));
        }
        LabelSelector::read(field)
    }

    /// Notes that a field is missing, if it is.
    pub(crate) fn require(&mut self, field: &Field<'a>) {
        if !field.is_present() {
            self.note(field, FieldProblem::Required);
        }
    }

    fn typed<T>(&mut self, value: Result<Option<T>, Mismatch>) -> Option<T> {
        value.unwrap_or_else(|mismatch| {
            self.invalid.push(InvalidField {
                at: self.object.at(mismatch.pointer),
                problem: FieldProblem::Type {
                    expected: mismatch.expected,
                },
            });
            None
        })
    }

    fn note(&mut self, field: &Field<'a>, problem: FieldProblem) {
        self.invalid.push(InvalidField {
            at: self.object.at(field.pointer()),
            problem,
        });
    }
}

fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        // Beyond 2^53 a float is no exact integer any more.
        let float = value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
        #[allow(clippy::cast_possible_truncation)]
        let integer = float as i64;
        Some(integer)
    })
}
