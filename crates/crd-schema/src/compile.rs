//! The compiled form of a schema, a tree of the requirements of each level, and its compilation from OpenAPI v3 in JSON.
//! The schema may be invalid: each keyword that cannot be used becomes a [`SchemaProblem`].

use std::sync::OnceLock;

use apimachinery::{Allowance, Compiled, PatternError, Spent, Work, pointer};
use kube_json::{Map, Number, Text, Value};

use crate::format::Format;
use crate::rules::Rules;
use crate::violation::SchemaProblem;

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

impl Additional {
    pub(crate) const fn schema(&self) -> Option<&Below> {
        match self {
            Self::Schema(below) => Some(below),
            Self::Any | Self::Unknown => None,
        }
    }
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
    /// Sorted by name; [`Node::property`] finds one.
    pub(crate) properties: Vec<(Text, Below)>,
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
    /// Notes what follows from this level and all below it, because each object asks for it.
    fn note(&mut self) {
        let of = |test: fn(&Node) -> bool| -> Vec<Text> {
            let properties = self.properties.iter().filter(|(_, property)| test(property));
            properties.map(|(name, _)| name.clone()).collect()
        };
        self.with_default = of(|node| node.default.is_some());
        self.with_default_below = of(|node| node.defaults_below);
        let any = |test: fn(&Node) -> bool| self.children().any(test);
        let (defaults_below, rules_below) =
            (any(|child| child.defaults_below), any(|child| child.rules_below));
        let transitions_below = any(|child| child.transitions_below);
        self.defaults_below = self.default.is_some() || defaults_below;
        self.rules_below = !self.rules.is_empty() || rules_below;
        self.transitions_below = self.rules.mention_old() || transitions_below;
        let listed = self.allowed.as_ref().map_or(0, Vec::len);
        let listed = self.required.len().saturating_add(listed);
        self.steps = u64::try_from(listed / 16).unwrap_or(u64::MAX).saturating_add(1);
    }

    /// Every level directly below this one, except choices.
    fn children(&self) -> impl Iterator<Item = &Self> {
        let properties = self.properties.iter().map(|(_, property)| property);
        let children = properties.chain(self.additional.schema());
        children.chain(&self.items).map(|below| &**below)
    }

    /// Whether a check of this level itself may depend on a default that is filled in at or below it: it requires a field that
    /// has one, counts fields, compares or shows whole values, asks choices or rules, or reads the keys of items.
    pub(crate) fn judges_defaults(&self) -> bool {
        let has_default = |node: &Self, name: &str| {
            let property = node.property(name);
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
        let has_below = self.children().any(|child| child.defaults_below);
        let has_default_below = |name: &str| {
            let property = self.property(name);
            property.is_some_and(|property| property.defaults_below)
        };
        let shows = self.resource
            && ["apiVersion", "kind", "metadata"]
                .into_iter()
                .any(has_default_below);
        self.required.iter().any(|name| has_default(self, name))
            || (counts && !self.with_default.is_empty())
            || (compares && has_below)
            || reads_items
            || shows
    }

    /// These properties, by name.
    pub(crate) fn named<'n>(&'n self, names: &'n [Text]) -> impl Iterator<Item = (&'n Text, &'n Below)> {
        names.iter().filter_map(|name| Some((name, self.property(name)?)))
    }

    /// Whether there are no levels below this one, but for choices.
    pub(crate) fn is_innermost(&self) -> bool {
        self.children().next().is_none()
    }

    /// The schema of the property of this name.
    pub(crate) fn property(&self, name: &str) -> Option<&Below> {
        let position = kube_json::position(&self.properties, name)?;
        self.properties.get(position).map(|(_, below)| below)
    }

    /// The schema of a field of a mapping.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        let below = self.property(name).or(self.additional.schema());
        below.map(|below| &**below)
    }

    /// Every level directly below this one, with the pointer that leads there inside the schema.
    pub(crate) fn below(&self) -> impl Iterator<Item = (String, &Self)> {
        let properties = self.properties.iter();
        let properties = properties.map(|(name, below)| (pointer::child("/properties", name), below));
        let single = [
            ("/additionalProperties", self.additional.schema()),
            ("/items", self.items.as_ref()),
            ("/not", self.not.as_ref()),
        ];
        let single = single
            .into_iter()
            .filter_map(|(keyword, below)| Some((keyword.to_owned(), below?)));
        let choices = [
            ("allOf", &self.all_of),
            ("anyOf", &self.any_of),
            ("oneOf", &self.one_of),
        ];
        let choices = choices.into_iter().flat_map(|(keyword, nodes)| {
            let nodes = nodes.iter().enumerate();
            nodes.map(move |(index, below)| (format!("/{keyword}/{index}"), below))
        });
        let all = properties.chain(single).chain(choices);
        all.map(|(pointer, below)| (pointer, &**below))
    }
}

/// A pattern as written, compiled on first use.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    compiled: OnceLock<Compiled>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something in `text` matches, as in Go. A pattern that is none is the schema's fault, not the text's:
    /// [`Pattern::problem`] says so. `None` for one that is too large for us: it is unknown what it refuses.
    ///
    /// # Errors
    /// There is no work left.
    pub(crate) fn accepts(&self, text: &str, allowance: &mut Allowance<'_>) -> Result<Option<bool>, Spent> {
        let compiled = self.compiled(allowance.work())?;
        match &**compiled {
            Ok(pattern) => allowance.is_match(pattern, text).map(Some),
            Err(PatternError::TooLarge) => Ok(None),
            Err(_) => Ok(Some(true)),
        }
    }

    /// Why it cannot be used.
    pub(crate) fn problem(&self, work: &Work) -> Option<PatternError> {
        let compiled = self.compiled(work).ok()?;
        compiled.as_ref().as_ref().err().cloned()
    }

    fn compiled(&self, work: &Work) -> Result<&Compiled, Spent> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let compiled = work.pattern(&self.text)?;
        Ok(self.compiled.get_or_init(|| compiled))
    }
}

/// Deeper schemas are cut: each level costs stack, and no CRD comes near.
const DEPTH_MAX: usize = 128;

/// Compiles what can be compiled, and reports the rest.
pub(crate) fn compile(schema: &Value) -> (Node, Vec<SchemaProblem>) {
    let mut compiler = Compiler { problems: Vec::new() };
    let node = compiler.node(schema, "", 0);
    (node, compiler.problems)
}

/// Everything that only shows when patterns and rules are compiled, which ordinary checks do as they go.
pub(crate) fn verify(node: &Node, at: &str, work: &Work) -> Vec<SchemaProblem> {
    let mut problems = Vec::new();
    if let Some(pattern) = &node.pattern
        && let Some(problem) = pattern.problem(work)
    {
        let text = pattern.as_str();
        let unsupported = problem == PatternError::TooLarge;
        let message = if unsupported {
            format!("Invalid value: {text:?}: {problem}")
        } else {
            format!("Invalid value: {text:?}: must be a valid regular expression, but isn't: {problem}")
        };
        let mut problem = SchemaProblem::new(format!("{at}/pattern"), message);
        problem.unsupported = unsupported;
        problems.push(problem);
    }
    problems.extend(node.rules.verify(at, work));
    for (step, child) in node.below() {
        problems.extend(verify(child, &format!("{at}{step}"), work));
    }
    problems
}

struct Compiler {
    problems: Vec<SchemaProblem>,
}

impl Compiler {
    fn problem(&mut self, pointer: String, message: impl Into<String>) {
        self.problems.push(SchemaProblem::new(pointer, message));
    }

    fn node(&mut self, schema: &Value, at: &str, depth: usize) -> Node {
        let empty = Map::new();
        let fields = match schema {
            Value::Object(fields) if depth <= DEPTH_MAX => fields,
            Value::Object(_) => {
                self.problem(
                    at.to_owned(),
                    format!("schema is nested deeper than {DEPTH_MAX} levels"),
                );
                &empty
            }
            Value::Bool(true) => &empty,
            _ => {
                self.problem(at.to_owned(), "schema must be a mapping");
                &empty
            }
        };
        let (kind, null_type) = self.kind(fields, at);
        let int_or_string = self.flag(fields, "x-kubernetes-int-or-string", at);
        let embedded = self.flag(fields, "x-kubernetes-embedded-resource", at);
        // JSON Schema's `true` accepts anything.
        let preserve_unknown =
            schema.is_boolean() || self.flag(fields, "x-kubernetes-preserve-unknown-fields", at);
        let (rules, problems) = Rules::read(schema, at);
        self.problems.extend(problems);

        let mut one_of = self.list_of_nodes(fields, "oneOf", at, depth);
        let mut allowed = match fields.get("enum") {
            Some(Value::Array(values)) => Some(values.clone()),
            Some(_) => {
                self.problem(format!("{at}/enum"), "enum must be a list");
                None
            }
            None => fields.get("const").map(|only| vec![only.clone()]),
        };
        // Our own generated schemas describe an enum as a choice of constants: one clear list says more than
        // "none of the choices fits".
        if !one_of.is_empty() && fields.get("oneOf").is_some_and(is_choice_of_constants) {
            allowed = Some(
                one_of
                    .iter()
                    .flat_map(|choice| choice.allowed.clone().unwrap_or_default())
                    .collect(),
            );
            one_of.clear();
        }

        let text = |keyword: &str| fields.get(keyword).and_then(Value::as_str);
        let mut node = Node {
            kind,
            nullable: null_type || self.flag(fields, "nullable", at),
            int_or_string,
            properties: self.properties(fields, at, depth),
            additional: self.additional(fields, at, depth),
            required: self.strings(fields, "required", at),
            items: fields
                .get("items")
                .map(|items| self.below(items, &format!("{at}/items"), depth)),
            list_type: self.list_type(fields, at),
            allowed,
            pattern: text("pattern").map(Pattern::new),
            format: text("format").and_then(Format::from_name),
            minimum: self.bound(fields, "minimum", "exclusiveMinimum", at),
            maximum: self.bound(fields, "maximum", "exclusiveMaximum", at),
            multiple_of: self
                .number(fields, "multipleOf", at)
                .and_then(|number| number.as_f64()),
            min_length: self.count(fields, "minLength", at),
            max_length: self.count(fields, "maxLength", at),
            min_items: self.count(fields, "minItems", at),
            max_items: self.count(fields, "maxItems", at),
            min_properties: self.count(fields, "minProperties", at),
            max_properties: self.count(fields, "maxProperties", at),
            unique_items: self.flag(fields, "uniqueItems", at),
            all_of: self.list_of_nodes(fields, "allOf", at, depth),
            any_of: self.list_of_nodes(fields, "anyOf", at, depth),
            one_of,
            not: fields
                .get("not")
                .map(|not| self.below(not, &format!("{at}/not"), depth)),
            preserve_unknown,
            resource: embedded,
            embedded,
            // A null default is none: an API server does not apply it either.
            default: fields
                .get("default")
                .filter(|default| !default.is_null())
                .cloned(),
            defaults_below: false,
            with_default: Vec::new(),
            with_default_below: Vec::new(),
            steps: 0,
            rules_below: false,
            transitions_below: false,
            rules,
        };
        flatten_nullable_choice(&mut node);
        node.note();
        node
    }

    fn below(&mut self, schema: &Value, at: &str, depth: usize) -> Below {
        Box::new(self.node(schema, at, depth.saturating_add(1)))
    }

    fn kind(&mut self, fields: &Map, at: &str) -> (Option<Type>, bool) {
        let names: Vec<&Value> = match fields.get("type") {
            None => return (None, false),
            Some(Value::Array(names)) => names.iter().collect(),
            Some(name) => vec![name],
        };
        let mut kind = None;
        let mut nullable = false;
        for name in names {
            match name.as_str() {
                Some("null") => nullable = true,
                Some("") => {}
                Some(name) => match Type::from_name(name) {
                    Some(known) => kind = Some(known),
                    None => self.problem(format!("{at}/type"), format!("there is no type {name:?}")),
                },
                None => self.problem(format!("{at}/type"), "type must be a string"),
            }
        }
        (kind, nullable)
    }

    fn properties(&mut self, fields: &Map, at: &str, depth: usize) -> Vec<(Text, Below)> {
        let properties = self.read(fields, "properties", at, "a mapping", Value::as_object);
        let properties = properties.into_iter().flatten().map(|(name, schema)| {
            let at = pointer::child(&format!("{at}/properties"), name);
            (name.clone(), self.below(schema, &at, depth))
        });
        properties.collect()
    }

    fn additional(&mut self, fields: &Map, at: &str, depth: usize) -> Additional {
        match fields.get("additionalProperties") {
            None | Some(Value::Bool(false) | Value::Null) => Additional::Unknown,
            Some(Value::Bool(true)) => Additional::Any,
            Some(schema) => {
                let at = format!("{at}/additionalProperties");
                Additional::Schema(self.below(schema, &at, depth))
            }
        }
    }

    fn list_of_nodes(&mut self, fields: &Map, keyword: &str, at: &str, depth: usize) -> Vec<Below> {
        let schemas = self.read(fields, keyword, at, "a list", Value::as_array);
        let schemas = schemas.into_iter().flatten().enumerate();
        schemas
            .map(|(index, schema)| self.below(schema, &format!("{at}/{keyword}/{index}"), depth))
            .collect()
    }

    fn list_type(&mut self, fields: &Map, at: &str) -> ListType {
        match fields.get("x-kubernetes-list-type").and_then(Value::as_str) {
            None | Some("atomic") => ListType::Atomic,
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(self.strings(fields, "x-kubernetes-list-map-keys", at)),
            Some(other) => {
                let at = format!("{at}/x-kubernetes-list-type");
                self.problem(at, format!("there is no list type {other:?}: atomic, set or map"));
                ListType::Atomic
            }
        }
    }

    /// OpenAPI's boolean exclusive bounds, and JSON Schema's numeric ones.
    fn bound(&mut self, fields: &Map, keyword: &str, exclusive: &str, at: &str) -> Option<Bound> {
        if let Some(Value::Number(limit)) = fields.get(exclusive) {
            return Some(Bound {
                limit: limit.clone(),
                exclusive: true,
            });
        }
        let exclusive = self.flag(fields, exclusive, at);
        self.number(fields, keyword, at)
            .map(|limit| Bound { limit, exclusive })
    }

    fn number(&mut self, fields: &Map, keyword: &str, at: &str) -> Option<Number> {
        let number = self.read(fields, keyword, at, "a number", Value::as_number);
        number.cloned()
    }

    fn count(&mut self, fields: &Map, keyword: &str, at: &str) -> Option<u64> {
        self.number(fields, keyword, at)?;
        self.read(fields, keyword, at, "a non-negative integer", Value::as_u64)
    }

    fn flag(&mut self, fields: &Map, keyword: &str, at: &str) -> bool {
        let flag = self.read(fields, keyword, at, "true or false", Value::as_bool);
        flag.unwrap_or_default()
    }

    fn strings(&mut self, fields: &Map, keyword: &str, at: &str) -> Vec<String> {
        let strings = self.read(fields, keyword, at, "a list of strings", |value| {
            let list = value.as_array()?.iter();
            list.map(|item| item.as_str().map(str::to_owned)).collect()
        });
        strings.unwrap_or_default()
    }

    /// The value of a keyword; `None` where it is absent or null, and, which is reported, where it is not what is expected.
    fn read<'v, T>(
        &mut self,
        fields: &'v Map,
        keyword: &str,
        at: &str,
        expected: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Option<T> {
        let found = read(fields.get(keyword).filter(|value| !value.is_null())?);
        if found.is_none() {
            let message = format!("{keyword} must be {expected}");
            self.problem(format!("{at}/{keyword}"), message);
        }
        found
    }
}

fn is_choice_of_constants(choices: &Value) -> bool {
    choices.as_array().is_some_and(|choices| {
        choices
            .iter()
            .all(|choice| choice.get("const").is_some() || choice.get("enum").is_some())
    })
}

/// Generated schemas write an optional mapping as a choice between it and null.
fn flatten_nullable_choice(node: &mut Node) {
    let is_null = |choice: &Below| choice.nullable && choice.kind.is_none() && choice.properties.is_empty();
    if node.any_of.len() == 2 && node.kind.is_none() && node.any_of.iter().any(is_null) {
        let choices = std::mem::take(&mut node.any_of);
        let chosen = choices.into_iter().find(|choice| !is_null(choice));
        if let Some(mut chosen) = chosen {
            chosen.nullable = true;
            chosen.default = node.default.take();
            *node = *chosen;
        }
    }
}
