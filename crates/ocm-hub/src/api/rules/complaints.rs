//! Complaints about one object, as findings: the object, then what is wrong, at the field; and the checks that several
//! kinds share.

use std::collections::BTreeMap;

use apimachinery::Field;
use kube_json::Text;

use crate::api::policy::target_kinds;
use crate::diagnostic::{Code, Finding, Place, Severity};
use crate::object::Object;

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
        let finding = self.finding(self.object.place(&field.pointer()), message.as_ref());
        self.found.push(finding.help(help));
    }

    /// The kinds that the object targets, by name or by label.
    pub(super) fn target_kinds(&self) -> impl Iterator<Item = String> + use<> {
        target_kinds(self.object).into_iter().map(|(_, kind)| kind)
    }

    /// A field should not be there.
    pub(super) fn key(&mut self, field: &Field<'_>, message: impl AsRef<str>, help: impl Into<Text>) {
        let finding = self.finding(self.object.key_place(&field.pointer()), message.as_ref());
        self.found.push(finding.help(help));
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
        let finding = self.finding(self.object.place(&again.pointer()), message.as_ref());
        let finding = finding.label("again here");
        let first = self.object.place(&first.pointer());
        self.found.push(finding.related(first, "first here").help(help));
    }

    /// Of the items of a list, only one may have each key. An item without a key equals no other.
    pub(super) fn repeated<'f, K: Ord>(
        &mut self,
        list: &Field<'f>,
        key: impl Fn(&Field<'f>) -> Option<K>,
        (message, help): (&str, &'static str),
    ) {
        for (again, first) in repeated(list.items(), key) {
            self.again((&again, &first), message, help);
        }
    }

    fn finding(&self, place: Place, message: &str) -> Finding {
        Finding::new(self.code, place, format!("{}: {message}", self.object.identity()))
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

/// The values of a field that says which other field is there, with that field.
pub(super) type Types<'t> = &'t [(&'t str, &'t str)];

/// A mapping whose field `by` says which other one is there has that one, and none of the others. `given` says whether a
/// field is there.
pub(super) fn of_its_type<'a>(
    complaints: &mut Complaints<'_>,
    (what, by): (&str, &'a str),
    mapping: &Field<'a>,
    types: Types<'a>,
    given: fn(&Field<'a>) -> bool,
) {
    let Some(own) = mapping.text(by) else {
        return;
    };
    let concerned = types
        .iter()
        .filter(|(name, field)| own == *name || mapping.has(field));
    for (name, field) in concerned {
        let value = mapping.get(field);
        match (own == *name, given(&value)) {
            (true, false) => complaints.value(
                mapping,
                format!("{what} of {by} {name} has no `{field}`"),
                format!("add `{field}`"),
            ),
            (false, true) => complaints.key(
                &value,
                format!("{what} of {by} {own} cannot have `{field}`"),
                format!("remove it, or write `{by}: {name}`"),
            ),
            _ => {}
        }
    }
}

/// At most one of several fields of a mapping; the second one is wrong. An empty text is none.
pub(super) fn at_most_one(complaints: &mut Complaints<'_>, mapping: &Field<'_>, fields: &[&str]) {
    let is_there = |field: &&&str| mapping.has(field) && mapping.text(field) != Some("");
    let mut there = fields.iter().filter(is_there);
    if let (Some(first), Some(second)) = (there.next(), there.next()) {
        let message = format!("`{first}` and `{second}` cannot be used together");
        complaints.key(&mapping.get(second), message, "keep one of them");
    }
}

/// Exactly one of several fields of a mapping that is there.
pub(super) fn exactly_one(complaints: &mut Complaints<'_>, mapping: &Field<'_>, fields: &[&str]) {
    if mapping.is_present() && !fields.iter().any(|field| mapping.has(field)) {
        let names = format!("`{}`", fields.join("`, `"));
        let message = format!("one of {names} is required");
        complaints.value(mapping, message, format!("add one of {names}"));
    }
    at_most_one(complaints, mapping, fields);
}

/// One to four numbers of one to five digits, each with `h`, `m`, `s` or `ms`
/// (`kubernetes-sigs/gateway-api geps/gep-2257/index.md@v1.6.1`).
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total: u64 = 0;
    for _ in 0..4 {
        if rest.is_empty() {
            break;
        }
        let digits = rest.len()
            - rest
                .trim_start_matches(|letter: char| letter.is_ascii_digit())
                .len();
        let (number, unit) = rest
            .split_at_checked(digits)
            .filter(|_| (1..=5).contains(&digits))?;
        let (factor, after) = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
            .into_iter()
            .find_map(|(name, factor)| Some((factor, unit.strip_prefix(name)?)))?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(factor)?)?;
        rest = after;
    }
    (rest.is_empty() && !text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn a_duration_is_the_sum_of_its_parts_and_nothing_else_is_one() {
        assert_eq!(milliseconds("1h30m"), Some(5_400_000));
        assert_eq!(milliseconds("0s"), Some(0));
        assert_eq!(milliseconds("10ms"), Some(10));
        for wrong in ["", "1", "s", "1.5s", "-1s", "100000s", "1h1m1s1ms1s", "1d"] {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
    }
}
