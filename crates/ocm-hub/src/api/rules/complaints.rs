//! Complaints about one object, as findings.
//!
//! Owns: their form: the object, then what is wrong, at the field. Flows in: fields, wording. Flows out: findings.
//! Must not know: rules.

use std::collections::BTreeMap;

use kube_json::Text;

use crate::diagnostic::{Code, Finding, Severity};
use crate::object::Object;
use apimachinery::Field;

/// Collects what is wrong with one object.
#[derive(Debug)]
pub(super) struct Complaints<'a> {
    object: &'a Object,
    code: Code,
    found: Vec<Finding>,
}

impl<'a> Complaints<'a> {
    /// Nothing is wrong yet.
    pub(super) const fn new(object: &'a Object, code: Code) -> Self {
        Self {
            object,
            code,
            found: Vec::new(),
        }
    }

    /// The kind of the object.
    pub(super) fn kind(&self) -> &'a str {
        &self.object.kind
    }

    /// `spec`.
    pub(super) fn spec(&self) -> Field<'a> {
        self.object.root().get("spec")
    }

    /// The value of a field is wrong or missing.
    pub(super) fn value(&mut self, field: &Field<'_>, message: impl AsRef<str>, help: impl Into<Text>) {
        let finding = self.finding(message.as_ref());
        let place = self.object.place(&field.pointer());
        self.found.push(Finding { place, ..finding }.help(help));
    }

    /// A field should not be there.
    pub(super) fn key(&mut self, field: &Field<'_>, message: impl AsRef<str>, help: impl Into<Text>) {
        let finding = self.finding(message.as_ref());
        let place = self.object.key_place(&field.pointer());
        self.found.push(Finding { place, ..finding }.help(help));
    }

    /// An API server takes it, and what comes of it depends on the controller.
    pub(super) fn doubtful(&mut self, field: &Field<'_>, message: impl AsRef<str>, help: impl Into<Text>) {
        self.value(field, message, help);
        if let Some(last) = self.found.last_mut() {
            last.severity = Severity::Warning;
        }
    }

    /// Only one of several equal things may be there. `at` is the field that distinguishes them.
    pub(super) fn again(
        &mut self,
        (again, first): (&Field<'_>, &Field<'_>),
        message: impl AsRef<str>,
        help: impl Into<Text>,
    ) {
        let finding = self.finding(message.as_ref());
        let place = self.object.place(&again.pointer());
        let first = self.object.place(&first.pointer());
        let finding = Finding { place, ..finding }.label("again here");
        self.found.push(finding.related(first, "first here").help(help));
    }

    fn finding(&self, message: &str) -> Finding {
        let message = format!("{}: {message}", self.object.identity());
        Finding::new(self.code, self.object.place(""), message)
    }

    /// All of it.
    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.found
    }
}

/// Each field that has the key of an earlier one, with that one. A field without a key equals no other.
pub(super) fn repeated<'a, K: Ord>(
    fields: impl Iterator<Item = Field<'a>>,
    key: impl Fn(&Field<'a>) -> Option<K>,
) -> Vec<(Field<'a>, Field<'a>)> {
    let mut first: BTreeMap<K, Field<'a>> = BTreeMap::new();
    let mut repeated = Vec::new();
    for field in fields {
        let Some(key) = key(&field) else { continue };
        match first.get(&key) {
            Some(first) => repeated.push((field, first.clone())),
            None => {
                first.insert(key, field);
            }
        }
    }
    repeated
}

/// Whether a text is there and is not empty.
pub(super) fn says(field: &Field<'_>) -> bool {
    field.str().is_some_and(|text| !text.is_empty())
}
