//! The compiled form of a schema: a tree of what each level demands.
//!
//! Owns: [`Node`]. Flows in: what the compiler understood. Flows out: answers for the checks.
//! Must not know: where a schema came from, or any value.

use std::collections::BTreeMap;

use apimachinery::pointer;
use serde_json::{Number, Value};

use crate::format::Format;
use crate::pattern::Pattern;
use crate::rules::Rules;

/// The types of JSON Schema, integers apart from other numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Array,
    Boolean,
    Integer,
    Number,
    Object,
    String,
}

impl Type {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
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

    pub(crate) const fn name(self) -> &'static str {
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
pub(crate) enum Additional {
    /// Nothing: such keys are unknown fields.
    Unknown,
    /// Anything.
    Any,
    /// Values of a schema.
    Schema(Box<Node>),
}

/// `x-kubernetes-list-type`.
#[derive(Debug)]
pub(crate) enum ListType {
    Atomic,
    Set,
    Map(Vec<String>),
}

/// A lower or upper bound of a number.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) limit: Number,
    pub(crate) exclusive: bool,
}

/// One level of a compiled schema.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a keyword of the schema language"
)]
pub(crate) struct Node {
    pub(crate) kind: Option<Type>,
    pub(crate) nullable: bool,
    pub(crate) int_or_string: bool,
    pub(crate) properties: BTreeMap<String, Node>,
    pub(crate) additional: Additional,
    pub(crate) required: Vec<String>,
    pub(crate) items: Option<Box<Node>>,
    pub(crate) list_type: ListType,
    pub(crate) allowed: Option<Vec<Value>>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) format: Option<Format>,
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) min_items: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) min_properties: Option<u64>,
    pub(crate) max_properties: Option<u64>,
    pub(crate) unique_items: bool,
    pub(crate) all_of: Vec<Node>,
    pub(crate) any_of: Vec<Node>,
    pub(crate) one_of: Vec<Node>,
    pub(crate) not: Option<Box<Node>>,
    pub(crate) preserve_unknown: bool,
    /// The root of an object, or an embedded resource: `apiVersion`, `kind` and `metadata` are implied.
    pub(crate) resource: bool,
    /// An embedded resource, whose `apiVersion` and `kind` this schema must check.
    pub(crate) embedded: bool,
    pub(crate) default: Option<Value>,
    /// Whether anything at or below this level has a default.
    pub(crate) defaults_below: bool,
    pub(crate) rules: Rules,
    /// Whether anything at or below this level has CEL rules.
    pub(crate) rules_below: bool,
}

impl Node {
    /// The schema of a field of a mapping.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(match &self.additional {
            Additional::Schema(node) => Some(node),
            Additional::Any | Additional::Unknown => None,
        })
    }

    /// Every level directly below this one, with the pointer that leads there inside the schema.
    pub(crate) fn below(&self) -> impl Iterator<Item = (String, &Self)> {
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
