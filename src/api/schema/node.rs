//! The compiled form of a schema: a tree of what each level demands.
//!
//! Owns: [`Node`]. Flows in: what the compiler understood. Flows out: answers for the checks.
//! Must not know: where a schema came from, or any value.

use std::collections::BTreeMap;

use apimachinery::pointer;
use serde_json::{Number, Value};

use super::cel::Rules;
use super::format::Format;
use super::pattern::Pattern;

/// The types of JSON Schema, integers apart from other numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Array,
    Boolean,
    Integer,
    Number,
    Object,
    String,
}

impl Type {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "array" => Self::Array,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "object" => Self::Object,
            "string" => Self::String,
            _ => return None,
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }
}

/// What a mapping may hold besides its properties.
#[derive(Debug)]
pub(super) enum Additional {
    /// Nothing: such keys are unknown fields.
    Unknown,
    /// Anything.
    Any,
    /// Values of a schema.
    Schema(Box<Node>),
}

/// `x-kubernetes-list-type`.
#[derive(Debug)]
pub(super) enum ListType {
    Atomic,
    Set,
    Map(Vec<String>),
}

/// A lower or upper bound of a number.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) limit: Number,
    pub(super) exclusive: bool,
}

/// One level of a compiled schema.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a keyword of the schema language"
)]
pub(super) struct Node {
    pub(super) kind: Option<Type>,
    pub(super) nullable: bool,
    pub(super) int_or_string: bool,
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) additional: Additional,
    pub(super) required: Vec<String>,
    pub(super) items: Option<Box<Node>>,
    pub(super) list_type: ListType,
    pub(super) allowed: Option<Vec<Value>>,
    pub(super) pattern: Option<Pattern>,
    pub(super) format: Option<Format>,
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) multiple_of: Option<f64>,
    pub(super) min_length: Option<u64>,
    pub(super) max_length: Option<u64>,
    pub(super) min_items: Option<u64>,
    pub(super) max_items: Option<u64>,
    pub(super) min_properties: Option<u64>,
    pub(super) max_properties: Option<u64>,
    pub(super) unique_items: bool,
    pub(super) all_of: Vec<Node>,
    pub(super) any_of: Vec<Node>,
    pub(super) one_of: Vec<Node>,
    pub(super) not: Option<Box<Node>>,
    pub(super) preserve_unknown: bool,
    /// The root of an object, or an embedded resource: `apiVersion`, `kind` and `metadata` are implied.
    pub(super) resource: bool,
    /// An embedded resource, whose `apiVersion` and `kind` this schema must check.
    pub(super) embedded: bool,
    pub(super) default: Option<Value>,
    /// Whether anything at or below this level has a default.
    pub(super) defaults_below: bool,
    pub(super) rules: Rules,
    /// Whether anything at or below this level has CEL rules.
    pub(super) rules_below: bool,
}

impl Node {
    /// The schema of a field of a mapping.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(match &self.additional {
            Additional::Schema(node) => Some(node),
            Additional::Any | Additional::Unknown => None,
        })
    }

    /// Every level directly below this one, with the pointer that leads there inside the schema.
    pub(super) fn below(&self) -> impl Iterator<Item = (String, &Self)> {
        let properties = self
            .properties
            .iter()
            .map(|(name, node)| (pointer::child("/properties", name), node));
        let additional = match &self.additional {
            Additional::Schema(node) => Some(("/additionalProperties".to_owned(), node.as_ref())),
            Additional::Any | Additional::Unknown => None,
        };
        let items = self.items.as_deref().map(|node| ("/items".to_owned(), node));
        let not = self.not.as_deref().map(|node| ("/not".to_owned(), node));
        let choices = [
            ("allOf", &self.all_of),
            ("anyOf", &self.any_of),
            ("oneOf", &self.one_of),
        ]
        .into_iter()
        .flat_map(|(keyword, nodes)| {
            let at = move |(index, node)| (format!("/{keyword}/{index}"), node);
            nodes.iter().enumerate().map(at)
        });
        properties
            .chain(additional)
            .chain(items)
            .chain(not)
            .chain(choices)
    }
}
