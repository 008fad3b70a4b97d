//! Values of a cluster in the texts of an overlay: `${cluster.labels["region"]}`. They are filled in after the YAML is
//! read, so a text stays one text, whatever the value is.

use std::collections::BTreeSet;

use apimachinery::pointer;
use kube_json::{Text, Value};
use schemars::JsonSchema;
use serde::Deserialize;

/// What begins a value of a cluster.
const START: &str = "${";
/// What stands for `${` itself.
const ESCAPED: &str = "$${";

/// A value of a cluster that a text may refer to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, strum::Display)]
pub enum ClusterField {
    /// `cluster.name`
    #[strum(to_string = "name")]
    Name,
    /// `cluster.labels["KEY"]`
    #[strum(to_string = "label `{0}`")]
    Label(String),
    /// `cluster.annotations["KEY"]`
    #[strum(to_string = "annotation `{0}`")]
    Annotation(String),
    /// `cluster.claims["NAME"]`
    #[strum(to_string = "claim `{0}`")]
    Claim(String),
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Characters as they are.
    Text(String),
    /// A value of the cluster.
    Cluster(ClusterField),
}

/// A text with values of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Template {
    /// In their order.
    pub parts: Vec<Part>,
}

impl Template {
    /// Reads a text.
    ///
    /// # Errors
    /// The first `${...}` that is not a value of a cluster.
    pub fn parse(text: &str) -> Result<Self, &str> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, sign)) = rest.find('$').and_then(|at| rest.split_at_checked(at)) {
            plain.push_str(before);
            if let Some(after) = sign.strip_prefix(ESCAPED) {
                plain.push_str(START);
                rest = after;
            } else if let Some(inside) = sign.strip_prefix(START) {
                let (field, after) = field(inside).ok_or_else(|| {
                    let end = inside.split_inclusive('}').next().map_or(0, str::len);
                    sign.get(..end.saturating_add(START.len())).unwrap_or(sign)
                })?;
                parts.extend([Part::Text(std::mem::take(&mut plain)), Part::Cluster(field)]);
                rest = after;
            } else {
                plain.push('$');
                rest = sign.strip_prefix('$').unwrap_or_default();
            }
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Self { parts })
    }

    /// The values of the cluster that it refers to.
    pub fn fields(&self) -> impl Iterator<Item = &ClusterField> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Cluster(field) => Some(field),
        })
    }
}

/// A value as an overlay writes it, so that no text in it refers to a value of the cluster.
pub fn escaped(value: &Value) -> Value {
    match value {
        Value::String(text) => text.replace(START, ESCAPED).into(),
        Value::Array(items) => items.iter().map(escaped).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| (name.clone(), escaped(value)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The value of a cluster that a text behind `${` begins with, and the rest behind `}`.
fn field(text: &str) -> Option<(ClusterField, &str)> {
    let text = text.strip_prefix("cluster.")?;
    if let Some(after) = text.strip_prefix("name}") {
        return Some((ClusterField::Name, after));
    }
    let (kind, rest) = text.split_once("[\"")?;
    let (key, after) = rest.split_once('"')?;
    let after = after.strip_prefix("]}").filter(|_| !key.is_empty())?;
    let key = key.to_owned();
    let field = match kind {
        "labels" => ClusterField::Label(key),
        "annotations" => ClusterField::Annotation(key),
        "claims" => ClusterField::Claim(key),
        _ => return None,
    };
    Some((field, after))
}

/// The type that a text becomes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, strum::Display, Deserialize, JsonSchema,
)]
pub enum ValueType {
    /// It stays a text.
    #[default]
    #[strum(to_string = "a text")]
    String,
    /// An integer of 64 bits.
    #[strum(to_string = "an integer")]
    Integer,
    /// true or false.
    #[strum(to_string = "a boolean")]
    Boolean,
}

impl ValueType {
    /// The value that a text stands for.
    fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::String => Some(Value::from(text)),
            Self::Integer => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                let is_canonical = digits == "0" || !digits.starts_with(['0', '+', '-']);
                let integer = text.parse::<i64>().ok().filter(|_| is_canonical);
                integer.map(Value::from)
            }
            Self::Boolean => text.parse().ok().map(Value::Bool),
        }
    }
}

/// Why a value cannot be filled in for a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoValue {
    /// The cluster does not have it, and there is no default.
    Missing(ClusterField),
    /// A text is not of the type that the overlay asks for.
    Mismatch {
        /// The value of the cluster, if the text is only that.
        field: Option<ClusterField>,
        /// The text.
        text: String,
        /// The type.
        expected: ValueType,
    },
}

impl NoValue {
    /// The sentence about clusters, given as text: ``syd-1 has no label `geo` ``.
    #[must_use]
    pub fn about(&self, clusters: &str) -> String {
        match self {
            Self::Missing(field) => format!("{clusters} has no {field}"),
            Self::Mismatch {
                field: Some(field),
                text,
                expected,
            } => format!("{field} of {clusters} is `{text}`, not {expected}"),
            Self::Mismatch { text, expected, .. } => {
                format!("the value for {clusters} is `{text}`, not {expected}")
            }
        }
    }
}

/// A value with the values of a cluster in place of `${...}`. `lookup` returns them; the name is one of them.
///
/// # Errors
/// [`NoValue`] if the cluster lacks one of them and there is no default, or if its text is not of the type.
pub fn fill(
    value: &Value,
    value_type: ValueType,
    default: Option<&Value>,
    lookup: impl Fn(&ClusterField) -> Option<String>,
) -> Result<Value, NoValue> {
    let mut filled = value.clone();
    if let Err(missing) = fill_texts(&mut filled, &lookup) {
        return default.cloned().ok_or(NoValue::Missing(missing));
    }
    let Some(text) = filled.as_str().filter(|_| value_type != ValueType::String) else {
        return Ok(filled);
    };
    value_type.read(text).ok_or_else(|| {
        let parts = value.as_str().and_then(|text| Template::parse(text).ok());
        let field = match parts.as_ref().map(|template| template.parts.as_slice()) {
            Some([Part::Cluster(field)]) => Some(field.clone()),
            _ => None,
        };
        NoValue::Mismatch {
            field,
            text: text.to_owned(),
            expected: value_type,
        }
    })
}

/// Fills in each text of a value, or finds the first value of the cluster that is missing.
fn fill_texts(
    value: &mut Value,
    lookup: &impl Fn(&ClusterField) -> Option<String>,
) -> Result<(), ClusterField> {
    let fill = |inner: &mut Value| fill_texts(inner, lookup);
    match value {
        Value::String(text) => *text = fill_text(text, lookup)?,
        Value::Array(items) => items.iter_mut().try_for_each(fill)?,
        Value::Object(fields) => fields.values_mut().try_for_each(fill)?,
        _ => {}
    }
    Ok(())
}

fn fill_text(text: &Text, lookup: &impl Fn(&ClusterField) -> Option<String>) -> Result<Text, ClusterField> {
    // Another text has no values, and what is not a template has been refused.
    let Some(Ok(template)) = text.contains(START).then(|| Template::parse(text)) else {
        return Ok(text.clone());
    };
    let mut filled = String::new();
    for part in template.parts {
        match part {
            Part::Text(text) => filled.push_str(&text),
            Part::Cluster(field) => filled.push_str(&lookup(&field).ok_or(field)?),
        }
    }
    Ok(filled.into())
}

/// Every `${...}` of a value.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The values of a cluster.
    pub(super) fields: BTreeSet<ClusterField>,
    /// Those that are none, with the pointers of their texts.
    pub(super) wrong: Vec<(String, String)>,
    /// The pointers of fields with one in the key.
    pub(super) keys: Vec<String>,
}

impl References {
    pub(super) fn new(value: Option<&Value>) -> Self {
        let mut references = Self::default();
        if let Some(value) = value {
            references.add(value, "");
        }
        references
    }

    fn add(&mut self, value: &Value, at: &str) {
        match value {
            Value::String(text) => match Template::parse(text) {
                Ok(template) => self.fields.extend(template.fields().cloned()),
                Err(wrong) => self.wrong.push((at.to_owned(), wrong.to_owned())),
            },
            Value::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    self.add(item, &format!("{at}/{position}"));
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    let at = pointer::child(at, key);
                    if key.contains(START) {
                        self.keys.push(at.clone());
                    }
                    self.add(field, &at);
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.wrong.is_empty()
    }
}
