//! What an API server would refuse of these kinds: their schemas, and the walk that checks an object.
//!
//! Owns: types, enums, ranges, formats, required and unknown fields, lists that are maps (facts of OCM's CRDs,
//! and one more: a negative `numberOfClusters`, on which OCM's scheduler panics;
//! docs/systems/ocm-placement.md#how-many-clusters). Flows in: an object. Flows out: findings, each with the
//! pointer of what is wrong. Must not know: what the fields mean.

mod kinds;
mod text;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use self::text::Format;
use crate::diagnostic::{Code, Finding, nearest};
use crate::object::Object;
use apimachinery::{Quantity, key_complaints, value_complaints};

/// The shape of one value.
#[derive(Debug)]
enum Shape {
    /// Anything: parts of an object that nobody interprets.
    Any,
    Boolean,
    /// Bounds, inclusive.
    Integer(i64, i64),
    Text(Format),
    /// An integer, or text of this format.
    IntegerOrText(Format),
    Quantity,
    /// Fixed members; any other is unknown.
    Mapping(&'static [Member]),
    /// Any keys, all values of one shape.
    Table(&'static Shape),
    /// `metadata.labels`: keys and values have a syntax.
    Labels,
    List(&'static List),
}

#[derive(Debug)]
struct List {
    item: Shape,
    /// Members that together must differ between the items; none: no such rule.
    keys: &'static [&'static str],
    longest: usize,
}

#[derive(Debug)]
struct Member {
    name: &'static str,
    shape: Shape,
    required: bool,
}

const fn optional(name: &'static str, shape: Shape) -> Member {
    Member {
        name,
        shape,
        required: false,
    }
}

const fn required(name: &'static str, shape: Shape) -> Member {
    Member {
        name,
        shape,
        required: true,
    }
}

const fn list(item: Shape) -> List {
    List {
        item,
        keys: &[],
        longest: usize::MAX,
    }
}

/// Checks an object of one of the six kinds as an API server would with strict field validation. Objects of
/// other kinds have no findings.
///
/// Every finding is `object/schema` or `object/unknown-field`, an error, at the offending field.
#[must_use]
pub fn validate(object: &Object) -> Vec<Finding> {
    let Some((versions, members)) = kinds::of(object) else {
        return Vec::new();
    };
    let mut walk = Walk {
        object,
        findings: Vec::new(),
        path: String::new(),
        pointer: String::new(),
    };
    if object.api_version.version != versions {
        let served = format!("{}/{versions}", object.api_version.group);
        walk.findings.push(
            Finding::new(
                Code::OBJECT_SCHEMA,
                object.place("/apiVersion"),
                format!(
                    "{} is served as {served}, not {}",
                    object.kind, object.api_version
                ),
            )
            .help(format!("write `apiVersion: {served}`")),
        );
        return walk.findings;
    }
    if let Some(value) = object.value.as_object() {
        walk.members(value, members);
    }
    walk.findings
}

/// An integer as an API server sees it: a number without a fraction, so `3.0` and `3e1` as well.
fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let float = value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
        #[allow(clippy::cast_possible_truncation)]
        let integer = float as i64;
        Some(integer)
    })
}

struct Walk<'a> {
    object: &'a Object,
    findings: Vec<Finding>,
    /// As people write it: `spec.predicates[0]`.
    path: String,
    /// As JSON pointer.
    pointer: String,
}

impl Walk<'_> {
    fn refuse(&mut self, message: &str, help: String) {
        let text = format!("{}: {} {message}", self.object.identity(), self.path);
        self.findings
            .push(Finding::new(Code::OBJECT_SCHEMA, self.object.place(&self.pointer), text).help(help));
    }

    fn wrong_type(&mut self, expected: &str, value: &Value) {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "a mapping",
        };
        let help = if expected == "a string" && matches!(value, Value::Bool(_) | Value::Number(_)) {
            "put the value in quotes".to_owned()
        } else {
            format!("write {expected}")
        };
        self.refuse(&format!("must be {expected}, not {found}"), help);
    }

    /// Checks one value one level further down.
    fn within(&mut self, path: &str, token: &str, check: impl FnOnce(&mut Self)) {
        let (path_end, pointer_end) = (self.path.len(), self.pointer.len());
        if !self.path.is_empty() && !path.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(path);
        self.pointer.push('/');
        self.pointer.push_str(token);
        check(self);
        self.path.truncate(path_end);
        self.pointer.truncate(pointer_end);
    }

    fn key(&mut self, key: &str, check: impl FnOnce(&mut Self)) {
        if key.contains(['~', '/', '.']) {
            let token = apimachinery::pointer::child("", key);
            self.within(&format!("[{key}]"), token.trim_start_matches('/'), check);
        } else {
            self.within(key, key, check);
        }
    }

    fn value(&mut self, value: &Value, shape: &Shape) {
        match shape {
            Shape::Any => {}
            Shape::Boolean => {
                if !value.is_boolean() {
                    self.wrong_type("a boolean", value);
                }
            }
            Shape::Integer(least, most) => self.integer(value, *least, *most),
            Shape::Text(format) => match value.as_str() {
                Some(text) => self.text(text, *format),
                None => self.wrong_type("a string", value),
            },
            Shape::IntegerOrText(format) => match value {
                Value::Number(_) => self.integer(value, i64::from(i32::MIN), i64::from(i32::MAX)),
                Value::String(text) => self.text(text, *format),
                other => self.wrong_type("an integer or a string", other),
            },
            Shape::Quantity => match value {
                Value::Number(_) if whole_number(value).is_some() => {}
                Value::String(text) => {
                    if let Err(error) = Quantity::parse(text) {
                        self.refuse("must be a quantity", error.to_string());
                    }
                }
                other => self.wrong_type("a quantity", other),
            },
            Shape::Mapping(members) => match value.as_object() {
                Some(mapping) => self.members(mapping, members),
                None => self.wrong_type("a mapping", value),
            },
            Shape::Table(shape) => match value.as_object() {
                Some(mapping) => {
                    for (key, value) in mapping {
                        self.key(key, |walk| walk.value(value, shape));
                    }
                }
                None => self.wrong_type("a mapping", value),
            },
            Shape::Labels => match value.as_object() {
                Some(mapping) => self.labels(mapping),
                None => self.wrong_type("a mapping", value),
            },
            Shape::List(list) => match value.as_array() {
                Some(items) => self.list(items, list),
                None => self.wrong_type("a list", value),
            },
        }
    }

    fn integer(&mut self, value: &Value, least: i64, most: i64) {
        match whole_number(value) {
            Some(number) if number < least => {
                self.refuse(
                    &format!("is {number}, but must be at least {least}"),
                    format!("write {least} or more"),
                );
            }
            Some(number) if number > most => {
                self.refuse(
                    &format!("is {number}, but must be at most {most}"),
                    format!("write {most} or less"),
                );
            }
            Some(_) => {}
            None => self.wrong_type("an integer", value),
        }
    }

    fn text(&mut self, text: &str, format: Format) {
        if let Err((rule, help)) = format.check(text) {
            self.refuse(&rule, help);
        }
    }

    fn members(&mut self, mapping: &Map<String, Value>, members: &'static [Member]) {
        for (key, value) in mapping {
            match members.iter().find(|member| member.name == key) {
                // An API server drops a null of a field that has none.
                Some(_) if value.is_null() => {}
                Some(member) => self.key(key, |walk| walk.value(value, &member.shape)),
                None => self.unknown(key, members),
            }
        }
        for member in members.iter().filter(|member| member.required) {
            if mapping.get(member.name).is_none_or(Value::is_null) {
                self.key(member.name, |walk| {
                    let help = format!("add `{}`", member.name);
                    walk.refuse("is required", help);
                });
            }
        }
    }

    fn unknown(&mut self, key: &str, members: &[Member]) {
        let help = match nearest(key, members.iter().map(|member| member.name)) {
            Some(name) => format!("did you mean `{name}`?"),
            None => {
                let names: Vec<_> = members.iter().map(|member| member.name).collect();
                format!("known fields here: {}", names.join(", "))
            }
        };
        let mut place = self.pointer.clone();
        place.push('/');
        place.push_str(&key.replace('~', "~0").replace('/', "~1"));
        let parent = if self.path.is_empty() {
            "the object"
        } else {
            &self.path
        };
        let message = format!("{}: {parent} has no field `{key}`", self.object.identity());
        self.findings.push(
            Finding::new(Code::OBJECT_UNKNOWN_FIELD, self.object.key_place(&place), message).help(help),
        );
    }

    fn labels(&mut self, mapping: &Map<String, Value>) {
        for (key, value) in mapping {
            self.key(key, |walk| {
                if let Some(complaint) = key_complaints(key).into_iter().next() {
                    walk.refuse("is no label key", complaint);
                }
                match value.as_str() {
                    Some(text) => {
                        if let Some(complaint) = value_complaints(text).into_iter().next() {
                            walk.refuse("is no label value", complaint);
                        }
                    }
                    None => walk.wrong_type("a string", value),
                }
            });
        }
    }

    fn list(&mut self, items: &[Value], list: &'static List) {
        if items.len() > list.longest {
            let (length, longest) = (items.len(), list.longest);
            self.refuse(
                &format!("has {length} items, but at most {longest} are allowed"),
                "remove some".to_owned(),
            );
        }
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let token = index.to_string();
            self.within(&format!("[{token}]"), &token, |walk| {
                walk.value(item, &list.item);
                if list.keys.is_empty() {
                    return;
                }
                let identity: Vec<Option<&str>> = list
                    .keys
                    .iter()
                    .map(|key| item.get(key).and_then(Value::as_str))
                    .collect();
                if identity.iter().any(Option::is_some) && !seen.insert(identity) {
                    let keys = list.keys.join(", ");
                    walk.refuse(
                        &format!("repeats the {keys} of an earlier item"),
                        "remove one of the two".to_owned(),
                    );
                }
            });
        }
    }
}

#[cfg(test)]
mod tests;
