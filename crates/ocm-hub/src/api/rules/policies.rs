//! The rules of policies, as `policies.json` states them: for fields at a path of the spec, a CEL expression that is true
//! if something is wrong there, or one of the common shapes, with the message and the help.
//!
//! An expression that has no value is not broken: of a field with a wrong type, the schema reports that.
//! Facts: docs/systems/kuadrant.md#what-crds-say-in-rules, docs/systems/envoy-gateway.md#what-crds-say-in-rules, and
//! docs/systems/other-policies.md.

use std::cell::OnceCell;
use std::sync::{LazyLock, OnceLock};

use apimachinery::{Field, Work, pointer};
use crd_schema::{Condition, Variable};
use kube_json::{Map, Value};
use serde::Deserialize;

use super::complaints::Complaints;
use crate::diagnostic::broken;

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let tables = serde_json::from_str(include_str!("policies.json"));
    tables.unwrap_or_else(|error| broken(format_args!("policies.json: {error}")))
});

/// The rules of some kinds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Table {
    groups: Vec<&'static str>,
    kinds: Vec<&'static str>,
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, bound(deserialize = "'de: 'static"))]
enum Rule {
    Mistake(Box<Mistake>),
    Once(Once),
    Choice(Choice),
    Types(Types),
}

/// Something that is wrong with a field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistake {
    /// The path of the fields: [`Field::each`]. Without it, the spec itself.
    #[serde(default)]
    at: &'static str,
    /// True if the field is wrong: of `self`, the spec; `it`, the field; and `key`, its name or position.
    #[serde(rename = "if")]
    condition: &'static str,
    #[serde(skip)]
    compiled: OnceLock<Condition>,
    /// The field of the spec that the finding is about, if it is another one.
    place: Option<&'static str>,
    /// If the field should not be there, or if one inside it, of this name, should not.
    key: Option<&'static str>,
    /// The list of the spec with whose first item the field conflicts.
    first: Option<&'static str>,
    /// Whether only the first wrong field is reported.
    #[serde(default)]
    stop: bool,
    /// Whether an API server accepts it.
    #[serde(default)]
    doubtful: bool,
    /// `{it}`, `{key}`, or the name of a text inside the field stand for their values.
    message: &'static str,
    help: &'static str,
}

/// No two items of a list have the same texts in these fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Once {
    at: &'static str,
    once: Vec<&'static str>,
    message: &'static str,
    help: &'static str,
}

/// At most one of these fields, or exactly one, is there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Choice {
    #[serde(default)]
    at: &'static str,
    #[serde(default)]
    at_most_one: Vec<&'static str>,
    #[serde(default)]
    exactly_one: Vec<&'static str>,
}

/// The value of `by` decides which of these fields is there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Types {
    at: &'static str,
    what: &'static str,
    by: &'static str,
    fields: Vec<(&'static str, &'static str)>,
}

/// A policy of any kind that the tables have.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    let (group, kind) = complaints.group_kind();
    let is_about = |table: &&Table| table.groups.contains(&group) && table.kinds.contains(&kind);
    let spec = complaints.spec();
    let own = OnceCell::new();
    for rule in TABLES.iter().filter(is_about).flat_map(|table| &table.rules) {
        match rule {
            Rule::Mistake(mistake) => mistake.check(complaints, &spec, &own),
            Rule::Once(rule) => spec.each(rule.at, &mut |list| {
                let texts = |item: &Field<'_>| -> Option<Vec<String>> {
                    let texts = rule.once.iter().map(|field| item.text(field).map(str::to_owned));
                    texts.collect()
                };
                complaints.repeated(list, texts, (rule.message, rule.help));
            }),
            Rule::Choice(rule) => spec.each(rule.at, &mut |mapping| {
                complaints.at_most_one(mapping, &rule.at_most_one);
                if !rule.exactly_one.is_empty() {
                    complaints.exactly_one(mapping, &rule.exactly_one);
                }
            }),
            Rule::Types(rule) => spec.each(rule.at, &mut |mapping| {
                complaints.of_its_type((rule.what, rule.by), mapping, &rule.fields, Field::is_present);
            }),
        }
    }
}

impl Mistake {
    /// Checks the fields of a spec. `own` is the spec as a variable, made when it is needed.
    fn check<'a>(&'static self, complaints: &mut Complaints<'a>, spec: &Field<'a>, own: &OnceCell<Variable>) {
        let mut fields = Vec::new();
        spec.each(self.at, &mut |field| fields.push(field.clone()));
        for field in fields {
            let own = own.get_or_init(|| variable(spec));
            if !self.is_made(&field, own) {
                continue;
            }
            let place = self.place.map_or_else(|| field.clone(), |name| spec.get(name));
            let message = filled(self.message, &field);
            match (self.key, self.first) {
                (Some(""), _) => complaints.key(&place, message, self.help),
                (Some(name), _) => complaints.key(&place.get(name), message, self.help),
                (_, Some(list)) => complaints.again((&place, &spec.get(list).item(0)), message, self.help),
                _ if self.doubtful => complaints.doubtful(&place, message, self.help),
                _ => complaints.value(&place, message, self.help),
            }
            if self.stop {
                return;
            }
        }
    }

    fn is_made(&self, field: &Field<'_>, own: &Variable) -> bool {
        let work = Work::default();
        let condition = self.compiled.get_or_init(|| {
            let compiled = Condition::compile(self.condition, &["self", "it", "key"], &work);
            compiled.unwrap_or_else(|error| broken(format_args!("{}: {error}", self.condition)))
        });
        let key = Variable::from(&Value::from(key_of(field)));
        let variables = [("self", own), ("it", &variable(field)), ("key", &key)];
        condition.evaluate(&variables, &mut work.allowance_of(0)) == Ok(true)
    }
}

/// The value of a field, as an API server stores it; an absent one is an empty mapping.
fn variable(field: &Field<'_>) -> Variable {
    match field.value() {
        Some(value) => Variable::from(&*value.without_nulls()),
        None => Variable::from(&Value::Object(Map::default())),
    }
}

fn key_of(field: &Field<'_>) -> String {
    let pointer = field.pointer();
    pointer::tokens(&pointer).last().unwrap_or_default().into_owned()
}

/// A message with the value that it shows.
fn filled(message: &str, field: &Field<'_>) -> String {
    let Some((before, (name, after))) = message
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return message.to_owned();
    };
    let value = match name {
        "key" => key_of(field),
        "it" => match field.str() {
            Some(text) => text.to_owned(),
            None => field.value().map(Value::to_string).unwrap_or_default(),
        },
        name => field.text(name).unwrap_or_default().to_owned(),
    };
    [before, &value, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_of_the_table_compiles() {
        for rule in TABLES.iter().flat_map(|table| &table.rules) {
            if let Rule::Mistake(mistake) = rule {
                let compiled =
                    Condition::compile(mistake.condition, &["self", "it", "key"], &Work::default());
                assert!(compiled.is_ok(), "{}: {compiled:?}", mistake.condition);
            }
        }
    }
}
