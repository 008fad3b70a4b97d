//! Complaints about one object, as findings: the object, then what is wrong, at the field; and the checks that several
//! kinds share.

use std::collections::BTreeMap;
use std::net::IpAddr;

use apimachinery::Field;
use apimachinery::names::NameRule;
use kube_json::Text;

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
    /// What a check finds wrong with an object.
    pub(super) fn find(object: &'a Object, code: Code, check: fn(&mut Self)) -> Vec<Finding> {
        let found = Vec::new();
        let mut complaints = Self { object, code, found };
        check(&mut complaints);
        complaints.found
    }

    /// The kind of the object.
    pub(super) fn kind(&self) -> &'a str {
        &self.object.kind
    }

    /// The group and the kind of the object.
    pub(super) fn group_kind(&self) -> (&'a str, &'a str) {
        (&self.object.api_version.group, &self.object.kind)
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

    /// A field should not be there.
    pub(super) fn key(&mut self, field: &Field<'_>, message: impl AsRef<str>, help: impl Into<Text>) {
        let finding = self.finding(self.object.key_place(&field.pointer()), message.as_ref());
        self.found.push(finding.help(help));
    }

    /// An API server accepts it, and what comes of it depends on the controller.
    pub(super) fn doubtful(&mut self, field: &Field<'_>, message: impl AsRef<str>, help: impl Into<Text>) {
        let finding = self.finding(self.object.place(&field.pointer()), message.as_ref());
        self.found.push(finding.help(help).severity(Severity::Warning));
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

    /// A mapping whose field `by` decides which other one belongs there has that one, and none of the others. `given` tests
    /// whether a field is there.
    pub(super) fn of_its_type<'f>(
        &mut self,
        (what, by): (&str, &'f str),
        mapping: &Field<'f>,
        types: Types<'f>,
        given: fn(&Field<'f>) -> bool,
    ) {
        let Some(own) = mapping.text(by) else {
            return;
        };
        let concerned = |(name, field): &&(&str, &str)| own == *name || mapping.has(field);
        for (name, field) in types.iter().filter(concerned) {
            let value = mapping.get(field);
            match (own == *name, given(&value)) {
                (true, false) => {
                    let message = format!("{what} of {by} {name} has no `{field}`");
                    self.value(mapping, message, format!("add `{field}`"));
                }
                (false, true) => {
                    let message = format!("{what} of {by} {own} cannot have `{field}`");
                    self.key(&value, message, format!("remove it, or write `{by}: {name}`"));
                }
                _ => {}
            }
        }
    }

    /// At most one of several fields of a mapping; the second one is wrong. An empty text is none.
    pub(super) fn at_most_one(&mut self, mapping: &Field<'_>, fields: &[&str]) {
        let is_there = |field: &&&str| mapping.has(field) && mapping.text(field) != Some("");
        let mut there = fields.iter().filter(is_there);
        if let (Some(first), Some(second)) = (there.next(), there.next()) {
            let message = format!("`{first}` and `{second}` cannot be used together");
            self.key(&mapping.get(second), message, "keep one of them");
        }
    }

    /// Exactly one of several fields of a mapping that is there.
    pub(super) fn exactly_one(&mut self, mapping: &Field<'_>, fields: &[&str]) {
        if mapping.is_present() && !fields.iter().any(|field| mapping.has(field)) {
            let names = format!("`{}`", fields.join("`, `"));
            let message = format!("one of {names} is required");
            self.value(mapping, message, format!("add one of {names}"));
        }
        self.at_most_one(mapping, fields);
    }

    /// A name in lower case, perhaps with `*.` in front.
    pub(super) fn hostname(&mut self, field: &Field<'_>, addresses: Addresses) {
        let Some(name) = field.str().filter(|name| !name.is_empty()) else {
            return;
        };
        if is_address(name) {
            let message = format!("`{name}` is an address, not a hostname");
            let help = "write a hostname, or remove it to match every host";
            match addresses {
                Addresses::Refused => self.value(field, message, help),
                // `:` is in no hostname, so every API server refuses an address of IPv6.
                Addresses::Doubtful if name.contains(':') => self.value(field, message, help),
                Addresses::Doubtful => self.doubtful(field, message, help),
            }
            return;
        }
        let rest = name.strip_prefix("*.").unwrap_or(name);
        if rest.contains('*') {
            let message = format!("`{name}`: `*` can only replace whole labels at the front");
            self.value(field, message, "write `*.` once, at the front: `*.example.com`");
        } else if let Err(error) = NameRule::Rfc1123Subdomain.check(rest) {
            let help = format!("write lower case letters, digits, `-` and `.` only: {error}");
            self.value(field, format!("`{name}` is not a hostname"), help);
        }
    }

    fn finding(&self, place: Place, message: &str) -> Finding {
        Finding::new(self.code, place, format!("{}: {message}", self.object.identity()))
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

/// The values of a field that decides which other field belongs there, with that field.
pub(super) type Types<'t> = &'t [(&'t str, &'t str)];

/// Whether a field is a text that is not empty.
pub(super) fn has_text(field: &Field<'_>) -> bool {
    field.str().is_some_and(|text| !text.is_empty())
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
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, unit) = rest.split_at_checked(digits)?;
        if !(1..=5).contains(&digits) {
            return None;
        }
        let mut units = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1000)].into_iter();
        let (factor, after) = units.find_map(|(name, factor)| Some((factor, unit.strip_prefix(name)?)))?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(factor)?)?;
        rest = after;
    }
    (rest.is_empty() && !text.is_empty()).then_some(total)
}

/// How an address in the place of a hostname is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addresses {
    /// The kind's CRD refuses them.
    Refused,
    /// The kind's documentation rules them out, but its CRD accepts them.
    Doubtful,
}

fn is_address(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::{is_address, milliseconds};

    #[test]
    fn a_duration_is_the_sum_of_its_parts_and_nothing_else_is_one() {
        assert_eq!(milliseconds("1h30m"), Some(5_400_000));
        assert_eq!(milliseconds("0s"), Some(0));
        assert_eq!(milliseconds("10ms"), Some(10));
        for wrong in ["", "1", "s", "1.5s", "-1s", "100000s", "1h1m1s1ms1s", "1d"] {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn addresses_of_both_kinds_are_told_from_hostnames() {
        for address in ["1.2.3.4", "::1", "fe80::1", "::ffff:1.2.3.4", "2001:DB8::a"] {
            assert!(is_address(address), "{address}");
        }
        for name in [
            "a.b",
            "1.2.3",
            "1.2.3.4.5",
            "abc.de",
            "fe80",
            "x.example.com",
            "1.2.3.4:80",
        ] {
            assert!(!is_address(name), "{name}");
        }
    }
}
