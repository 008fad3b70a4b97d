//! The compiled form of a schema: a tree of the requirements of each level.

use std::collections::BTreeMap;

use apimachinery::pointer;
use kube_json::{Number, Text, Value};

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

const TYPES: [(Type, &str); 6] = [
    (Type::Array, "array"),
    (Type::Boolean, "boolean"),
    (Type::Integer, "integer"),
    (Type::Number, "number"),
    (Type::Object, "object"),
    (Type::String, "string"),
];

impl Type {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let found = TYPES.iter().find(|(_, known)| *known == name);
        found.map(|(kind, _)| *kind)
    }

    pub(crate) fn name(self) -> &'static str {
        let found = TYPES.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, name)| name)
    }
}

/// The fields that a mapping may have besides its properties.
#[derive(Debug)]
pub(crate) enum Additional {
    /// Nothing: such keys are unknown fields.
    Unknown,
    /// Anything.
    Any,
    /// Values of a schema.
    Schema(Below),
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

/// A level below another one.
pub(crate) type Below = Box<Node>;

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
    pub(crate) properties: BTreeMap<Text, Below>,
    pub(crate) additional: Additional,
    pub(crate) required: Vec<String>,
    pub(crate) items: Option<Below>,
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
    pub(crate) all_of: Vec<Below>,
    pub(crate) any_of: Vec<Below>,
    pub(crate) one_of: Vec<Below>,
    pub(crate) not: Option<Below>,
    pub(crate) preserve_unknown: bool,
    /// The root of an object, or an embedded resource: `apiVersion`, `kind` and `metadata` are implied.
    pub(crate) resource: bool,
    /// An embedded resource, whose `apiVersion` and `kind` this schema must check.
    pub(crate) embedded: bool,
    pub(crate) default: Option<Value>,
    /// Whether anything at or below this level has a default.
    pub(crate) defaults_below: bool,
    /// The properties that have a default of their own.
    pub(crate) with_default: Vec<Text>,
    /// The properties that have a default at or below them.
    pub(crate) with_default_below: Vec<Text>,
    /// What it costs to look at one value, in steps.
    pub(crate) steps: u64,
    pub(crate) rules: Rules,
    /// Whether anything at or below this level has CEL rules.
    pub(crate) rules_below: bool,
    /// Whether any of those compares a value with the one before it.
    pub(crate) transitions_below: bool,
}

impl Node {
    /// Notes what follows from all that is below, because each object asks for it.
    pub(crate) fn note(&mut self) {
        let of = |test: fn(&Node) -> bool| -> Vec<Text> {
            let properties = self.properties.iter().filter(|(_, property)| test(property));
            properties.map(|(name, _)| name.clone()).collect()
        };
        self.with_default = of(|node| node.default.is_some());
        self.with_default_below = of(|node| node.defaults_below);
        let listed = self.allowed.as_ref().map_or(0, Vec::len);
        let listed = self.required.len().saturating_add(listed);
        self.steps = u64::try_from(listed / 16).unwrap_or(u64::MAX).saturating_add(1);
    }

    /// Whether a check of this level itself may depend on a default that is filled in at or below it: it requires a field that
    /// has one, counts fields, compares or shows whole values, asks choices or rules, or reads the keys of items.
    pub(crate) fn judges_defaults(&self) -> bool {
        let has_default = |node: &Self, name: &str| {
            let property = node.properties.get(name);
            property.is_some_and(|property| property.default.is_some())
        };
        let counts = self.min_properties.is_some() || self.max_properties.is_some();
        let mut choices = self.all_of.iter().chain(&self.any_of).chain(&self.one_of);
        let compares = self.allowed.is_some()
            || self.unique_items
            || self.not.is_some()
            || choices.next().is_some()
            || !self.rules.is_empty();
        let reads_items = match (&self.list_type, &self.items) {
            (ListType::Map(keys), Some(items)) => keys.iter().any(|key| has_default(items, key)),
            (ListType::Set, Some(items)) => items.defaults_below,
            _ => false,
        };
        // Its own default is filled in above it.
        let additional = match &self.additional {
            Additional::Schema(below) => Some(below),
            Additional::Any | Additional::Unknown => None,
        };
        let mut children = self.items.iter().chain(additional);
        let has_below = !self.with_default_below.is_empty() || children.any(|child| child.defaults_below);
        let mut identity = ["apiVersion", "kind", "metadata"].into_iter();
        let shows = self.resource
            && identity.any(|name| {
                self.properties
                    .get(name)
                    .is_some_and(|field| field.defaults_below)
            });
        self.required.iter().any(|name| has_default(self, name))
            || (counts && !self.with_default.is_empty())
            || (compares && has_below)
            || reads_items
            || shows
    }

    /// These properties, by name.
    pub(crate) fn named<'n>(&'n self, names: &'n [Text]) -> impl Iterator<Item = (&'n Text, &'n Below)> {
        names
            .iter()
            .filter_map(|name| self.properties.get_key_value(name))
    }

    /// Whether there are no levels below this one, but for choices.
    pub(crate) fn is_innermost(&self) -> bool {
        let is_mapping = matches!(self.additional, Additional::Schema(_));
        self.properties.is_empty() && !is_mapping && self.items.is_none()
    }

    /// The schema of a field of a mapping.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        let below = self.properties.get(name).or(match &self.additional {
            Additional::Schema(below) => Some(below),
            Additional::Any | Additional::Unknown => None,
        });
        below.map(|below| &**below)
    }

    /// Every level directly below this one, with the pointer that leads there inside the schema.
    pub(crate) fn below(&self) -> impl Iterator<Item = (String, &Self)> {
        let properties = self
            .properties
            .iter()
            .map(|(name, below)| (pointer::child("/properties", name), &**below));
        let additional = match &self.additional {
            Additional::Schema(below) => Some(("/additionalProperties".to_owned(), &**below)),
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
            let nodes = nodes.iter().enumerate();
            nodes.map(move |(index, below)| (format!("/{keyword}/{index}"), &**below))
        });
        properties
            .chain(additional)
            .chain(items)
            .chain(not)
            .chain(choices)
    }
}
