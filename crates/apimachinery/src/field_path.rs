//! Paths of fields as people read and write them: `spec.listeners[name=api].port`. [`FieldPath`] reads what the
//! printers of the steps write. Which fields identify the entries of a list, the caller knows.

use std::borrow::Cow;
use std::fmt;

use kube_json::Value;
use thiserror::Error;

use crate::pointer;

/// No path is longer, in bytes: each step walks over what is there.
const LONGEST: usize = 4096;
/// No entry of a list is identified by more fields.
const MOST_FIELDS: usize = 4;
/// More names than this are not listed if a step is missing.
const MOST_NAMES: usize = 100;

/// `path.key`, or `path["a/key"]` if the key would be misread.
///
/// ```
/// use apimachinery::field_path::member;
///
/// assert_eq!(member("metadata", "labels"), "metadata.labels");
/// assert_eq!(member("metadata.labels", "a/b"), r#"metadata.labels["a/b"]"#);
/// ```
#[must_use]
pub fn member(path: &str, key: &str) -> String {
    if key.is_empty() || !key.chars().all(is_plain) {
        return format!("{path}[{}]", Value::from(key));
    }
    let dot = if path.is_empty() { "" } else { "." };
    [path, dot, key].concat()
}

/// `path[0]`.
#[must_use]
pub fn item(path: &str, position: usize) -> String {
    format!("{path}[{position}]")
}

/// Adds a field to the label of an entry of a list, `namespace=a,name=b`. A value that would be misread is in quotes.
pub fn push_field(label: &mut String, field: &str, value: &str) {
    if !label.is_empty() {
        label.push(',');
    }
    label.push_str(field);
    label.push('=');
    if value.starts_with('"') || value.contains([',', ']']) {
        label.push_str(&Value::from(value).to_string());
    } else {
        label.push_str(value);
    }
}

const fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

/// A path to a field, from the root of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath {
    /// Never empty.
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Step {
    Member(String),
    Item(usize),
    /// The entry of a list whose fields have these values.
    Entry(Vec<(String, String)>),
}

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PathError(String);

/// Where a path leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// The JSON pointer of the deepest value that exists.
    pub pointer: String,
    /// The step that it lacks, by itself: `reads`, `[0]`, `[name=api]`.
    pub step: String,
    /// The path up to that step, inclusive.
    pub missing: String,
    /// What is there instead, in the order of the value and in the notation of the step: names of a mapping, or labels of
    /// entries. At most a hundred.
    pub names: Box<[String]>,
    /// How many entries of a list the step matches: none, or several.
    pub matches: usize,
}

impl FieldPath {
    /// Reads a path in the notation that [`member`], [`item`], and [`push_field`] print.
    ///
    /// # Errors
    /// [`PathError`] if it is in another notation, or too long.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.len() > LONGEST {
            return Err(PathError(format!("a path has at most {LONGEST} bytes")));
        }
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() || steps.is_empty() {
            let before = text.strip_suffix(rest).unwrap_or_default();
            let step = match rest.strip_prefix('[') {
                Some(inside) => bracketed(inside).ok_or_else(|| {
                    let shown = inside.split_inclusive(']').next().unwrap_or_default();
                    format!("`[{shown}` in it is not a position, `[key=value]`, or `[\"any key\"]`")
                }),
                None => named(rest, before),
            };
            let (step, after) = step.map_err(PathError)?;
            steps.push(step);
            rest = after;
        }
        Ok(Self { steps })
    }

    /// Whether the path leads to an entry of a list, not to a member of a mapping.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        !matches!(self.steps.last(), Some(Step::Member(_)))
    }

    /// The paths to the values that contain the field, the nearest first.
    pub fn parents(&self) -> impl Iterator<Item = Self> {
        let lengths = (1..self.steps.len()).rev();
        lengths.map(|length| Self {
            steps: self.steps.iter().take(length).cloned().collect(),
        })
    }

    /// Whether a step is the position of an entry.
    #[must_use]
    pub fn has_position(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Item(_)))
    }

    /// The JSON pointer of the field of `value` that the path leads to. If it may be new, the last member may be absent.
    ///
    /// # Errors
    /// [`NotFound`] if a step leads nowhere, or more than one entry of a list matches it.
    pub fn resolve(&self, value: &Value, may_be_new: bool) -> Result<String, Box<NotFound>> {
        let mut here = value;
        let mut pointer = String::new();
        let mut existing = String::new();
        for (number, step) in self.steps.iter().enumerate() {
            let mut found = step.found(here);
            let is_last = number.saturating_add(1) == self.steps.len();
            match (found.next(), found.count(), step) {
                (Some((token, below)), 0, _) => {
                    pointer::push(&mut pointer, &token);
                    existing = step.after(&existing);
                    here = below;
                }
                (None, _, Step::Member(name)) if may_be_new && is_last && here.is_object() => {
                    pointer::push(&mut pointer, name);
                }
                (first, more, _) => {
                    return Err(Box::new(NotFound {
                        step: step.after(""),
                        missing: step.after(&existing),
                        names: step.names(here),
                        pointer,
                        matches: more.saturating_add(usize::from(first.is_some())),
                    }));
                }
            }
        }
        Ok(pointer)
    }
}

impl fmt::Display for FieldPath {
    /// As `diff` prints it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.steps.iter();
        formatter.write_str(&steps.fold(String::new(), |path, step| step.after(&path)))
    }
}

impl Step {
    /// The path with this step.
    fn after(&self, path: &str) -> String {
        match self {
            Self::Member(name) => member(path, name),
            Self::Item(position) => item(path, *position),
            Self::Entry(fields) => format!("{path}[{}]", label(fields)),
        }
    }

    /// Each value that this step leads to, after its key or position: several entries of a list may match.
    fn found<'v>(&'v self, value: &'v Value) -> Box<dyn Iterator<Item = (Cow<'v, str>, &'v Value)> + 'v> {
        match (self, value) {
            (Self::Member(name), Value::Object(fields)) => {
                let field = fields.get(name).filter(|value| !value.is_null());
                Box::new(field.into_iter().map(|value| (name.into(), value)))
            }
            (Self::Item(position), Value::Array(items)) => {
                let item = items.get(*position).into_iter();
                Box::new(item.map(|item| (position.to_string().into(), item)))
            }
            (Self::Entry(fields), Value::Array(items)) => {
                let has_all = |item: &Value| {
                    let mut fields = fields.iter();
                    fields.all(|(field, text)| shown(item, field).as_ref() == Some(text))
                };
                let matching = items.iter().enumerate().filter(move |(_, item)| has_all(item));
                Box::new(matching.map(|(position, item)| (position.to_string().into(), item)))
            }
            _ => Box::new(std::iter::empty()),
        }
    }

    /// What this step could have been in a value.
    fn names(&self, value: &Value) -> Box<[String]> {
        match (self, value) {
            (Self::Member(_), Value::Object(fields)) => {
                fields.keys().take(MOST_NAMES).map(ToString::to_string).collect()
            }
            (Self::Entry(fields), Value::Array(items)) => {
                let names = items.iter().filter_map(|item| {
                    let values = fields.iter().map(|(field, _)| Some((field, shown(item, field)?)));
                    Some(format!("[{}]", label(&values.collect::<Option<Vec<_>>>()?)))
                });
                names.take(MOST_NAMES).collect()
            }
            _ => Box::default(),
        }
    }
}

fn label(fields: &[(impl AsRef<str>, String)]) -> String {
    let mut label = String::new();
    for (field, value) in fields {
        push_field(&mut label, field.as_ref(), value);
    }
    label
}

/// The text or number of a field of an entry, as a label shows it.
fn shown(entry: &Value, field: &str) -> Option<String> {
    match entry.as_object()?.get(field)? {
        Value::String(text) => Some(text.to_string()),
        number @ Value::Number(_) => Some(number.to_string()),
        _ => None,
    }
}

/// The name that a text begins with, and the rest.
fn plain(text: &str) -> (&str, &str) {
    let end = text.find(|character| !is_plain(character));
    let end = end.unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or(("", text))
}

/// The step by name that comes after `before`, and the rest; a message if there is none.
fn named<'t>(text: &'t str, before: &str) -> Result<(Step, &'t str), String> {
    let (name, after) = match text.strip_prefix('.') {
        _ if before.is_empty() => plain(text),
        Some(text) => plain(text),
        None => ("", text),
    };
    if !name.is_empty() {
        return Ok((Step::Member(name.to_owned()), after));
    }
    let found = after.chars().next();
    Err(match found.filter(|character| !matches!(character, '.' | '[')) {
        Some(character) => {
            format!("{character:?} after `{before}` is not part of a name: write `[\"any key\"]`")
        }
        None if before.is_empty() && found.is_none() => "it is empty".to_owned(),
        None if before.is_empty() => "it does not begin with a name".to_owned(),
        None => format!("there is no name after `{before}.`"),
    })
}

/// The text in quotes that a text begins with, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut texts = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let first = texts.next()?.ok()?;
    Some((first, text.get(texts.byte_offset()..)?))
}

/// The step in brackets, of which the first is cut off, and the rest.
fn bracketed(inside: &str) -> Option<(Step, &str)> {
    if inside.starts_with('"') {
        let (key, after) = quoted(inside)?;
        return Some((Step::Member(key), after.strip_prefix(']')?));
    }
    let (word, after) = plain(inside);
    if let Some(after) = after.strip_prefix(']') {
        let position: usize = word.parse().ok()?;
        return (position.to_string() == word).then_some((Step::Item(position), after));
    }
    let mut fields = Vec::new();
    let mut rest = inside;
    loop {
        let (field, after) = plain(rest);
        let value = after.strip_prefix('=').filter(|_| !field.is_empty())?;
        let (value, after) = if value.starts_with('"') {
            quoted(value)?
        } else {
            let (value, after) = value.split_at_checked(value.find([',', ']'])?)?;
            (value.to_owned(), after)
        };
        fields.push((field.to_owned(), value));
        if let Some(after) = after.strip_prefix(']') {
            return Some((Step::Entry(fields), after));
        }
        rest = after.strip_prefix(',').filter(|_| fields.len() < MOST_FIELDS)?;
    }
}

#[cfg(test)]
mod tests {
    use kube_json::json;
    use proptest::prelude::*;

    use super::*;

    fn resolved(path: &str, value: &Value) -> Result<String, Box<NotFound>> {
        FieldPath::parse(path).expect(path).resolve(value, true)
    }

    fn pointer_of(path: &str, value: &Value) -> String {
        resolved(path, value).unwrap_or_else(|missing| format!("no {}", missing.missing))
    }

    #[test]
    fn each_step_leads_to_one_field() {
        let value = json!({"spec": {"rules": [
            {"name": "a", "port": 80}, {"name": "b", "port": "443", "namespace": "x"}, {"name": "c,d]", "port": 81},
        ]}, "metadata": {"annotations": {"acme.example/weight": "1"}}});
        for (path, pointer) in [
            ("spec.rules[1].name", "/spec/rules/1/name"),
            ("spec.rules[name=b].port", "/spec/rules/1/port"),
            ("spec.rules[port=80].name", "/spec/rules/0/name"),
            ("spec.rules[port=443].name", "/spec/rules/1/name"),
            ("spec.rules[port=\"443\"].name", "/spec/rules/1/name"),
            ("spec.rules[namespace=x,name=b]", "/spec/rules/1"),
            ("spec.rules[name=\"c,d]\"].port", "/spec/rules/2/port"),
            (
                "metadata.annotations[\"acme.example/weight\"]",
                "/metadata/annotations/acme.example~1weight",
            ),
            ("spec.new", "/spec/new"),
            ("spec.rules[0].new", "/spec/rules/0/new"),
            ("spec.new.below", "no spec.new"),
            ("spec.rules[3]", "no spec.rules[3]"),
            ("spec.rules[name=z].port", "no spec.rules[name=z]"),
            ("spec.rules.name", "no spec.rules.name"),
            ("spec.rules[0].name.first", "no spec.rules[0].name.first"),
            ("spec[0]", "no spec[0]"),
        ] {
            assert_eq!(pointer_of(path, &value), pointer, "{path}");
        }
    }

    #[test]
    fn only_the_last_member_of_a_mapping_may_be_new() {
        let value = json!({"spec": {"limits": {"reads": 1, "writes": 2}, "none": null}});
        let is_new = |path: &str| {
            let path = FieldPath::parse(path).expect(path);
            path.resolve(&value, true).is_ok() && path.resolve(&value, false).is_err()
        };
        assert!(!is_new("spec.limits.reads"));
        assert!(is_new("spec.limits.read"));
        assert!(is_new("spec.none"));
        let missing = resolved("spec.limits.read.rates[0]", &value).expect_err("a missing step");
        let expected = NotFound {
            pointer: "/spec/limits".to_owned(),
            step: "read".to_owned(),
            missing: "spec.limits.read".to_owned(),
            names: ["reads".to_owned(), "writes".to_owned()].into(),
            matches: 0,
        };
        assert_eq!(*missing, expected);
    }

    #[test]
    fn a_label_matches_exactly_one_entry() {
        let value = json!([{"name": "a"}, {"name": "b"}, {"name": "a"}, {"other": 1}]);
        let several = resolved("[name=a]", &value).expect_err("two entries");
        assert_eq!(several.matches, 2);
        let none = resolved("[name=c]", &value).expect_err("no entry");
        assert_eq!((none.matches, none.step.as_str()), (0, "[name=c]"));
        assert_eq!(*none.names, ["[name=a]", "[name=b]", "[name=a]"]);
    }

    #[test]
    fn a_text_in_another_notation_is_refused_with_the_reason() {
        let reason = |text: &str| FieldPath::parse(text).expect_err(text).to_string();
        assert_eq!(reason(""), "it is empty");
        assert_eq!(reason(".a"), "it does not begin with a name");
        assert_eq!(reason("a."), "there is no name after `a.`");
        assert_eq!(reason("a..b"), "there is no name after `a.`");
        assert_eq!(
            reason("metadata.annotations.acme.example/weight"),
            "'/' after `metadata.annotations.acme.example` is not part of a name: write `[\"any key\"]`"
        );
        assert_eq!(
            reason("rules[order]"),
            "`[order]` in it is not a position, `[key=value]`, or `[\"any key\"]`"
        );
        assert_eq!(reason(&"a".repeat(LONGEST + 1)), "a path has at most 4096 bytes");
        for text in [
            "a[",
            "a[]",
            "a[0",
            "a[00]",
            "a[-1]",
            "a[99999999999999999999]",
            "a[\"b]",
            "a[\"b\"",
            "a[=b]",
            "a[b=c",
            "a[b=c,]",
            "a[b=c,d]",
            "a[0]b",
            "a]",
            "a b",
            "a[\"\\ud800\"]",
            "a[b=\"c\"d]",
            "a[b=1,c=1,d=1,e=1,f=1]",
        ] {
            assert!(FieldPath::parse(text).is_err(), "{text}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            (0_i64..4).prop_map(Value::from),
            ".{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let key = prop_oneof![Just("name".to_owned()), "[ab]", ".{0,3}", "[\\[\\]\",.=]{1,3}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map(key, inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Every field below a value: its pointer, and its path in each notation that leads to it.
    fn fields(value: &Value, pointer: &str, path: &str, found: &mut Vec<(String, String)>) {
        if !path.is_empty() {
            found.push((pointer.to_owned(), path.to_owned()));
        }
        match value {
            Value::Object(members) => {
                for (name, below) in members {
                    fields(below, &pointer::child(pointer, name), &member(path, name), found);
                }
            }
            Value::Array(items) => {
                let names: Vec<Option<String>> = items.iter().map(|item| shown(item, "name")).collect();
                for (position, below) in items.iter().enumerate() {
                    let pointer = format!("{pointer}/{position}");
                    fields(below, &pointer, &item(path, position), found);
                    let Some(name) = &names[position] else { continue };
                    if names.iter().flatten().filter(|other| *other == name).count() == 1 {
                        let mut label = String::new();
                        push_field(&mut label, "name", name);
                        fields(below, &pointer, &format!("{path}[{label}]"), found);
                    }
                }
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn every_printed_path_leads_back_to_its_field(value in value()) {
            let mut found = Vec::new();
            fields(&value, "", "", &mut found);
            for (pointer, path) in found {
                let parsed = FieldPath::parse(&path).unwrap();
                prop_assert_eq!(parsed.to_string(), path.clone());
                prop_assert_eq!(parsed.resolve(&value, true), Ok(pointer), "{}", path);
            }
        }

        #[test]
        fn any_text_is_a_path_or_an_error_and_never_panics(
            text in prop_oneof!["\\PC{0,40}", "(a|[.]|\\[|\\]|\"|=|,|0|é|\\\\){0,20}"], value in value(),
        ) {
            if let Ok(path) = FieldPath::parse(&text) {
                prop_assert_eq!(FieldPath::parse(&path.to_string()), Ok(path.clone()));
                if let Ok(pointer) = path.resolve(&value, true) {
                    let is_there = value.pointer(&pointer).is_some_and(|value| !value.is_null());
                    prop_assert_eq!(path.resolve(&value, false).is_ok(), is_there);
                }
            }
        }
    }
}
