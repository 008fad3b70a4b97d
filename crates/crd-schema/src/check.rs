//! Checks a value against its schema: everything except CEL rules. The value is completed before, and violations are in
//! the order of its fields, in an API server's wording.

mod scalar;

use std::collections::HashSet;
use std::sync::LazyLock;

use apimachinery::names::NameRule;
use apimachinery::{Allowance, EXACT_MAX, Work};
use kube_json::{Map, Text, Value, json};

use crate::compile::{Additional, Below, ListType, Node, Type, compile};
use crate::format::Format;
use crate::metadata::{self, MetadataOwner};
use crate::violation::{Path, Violation, ViolationKind, shown};

/// More violations of one value are not collected: more are never read, and a hostile file could ask for many.
const VIOLATIONS_MAX: usize = 200;
/// Nor are more once their pointers have so many bytes: each repeats the keys above it, of which one may be a megabyte.
const POINTERS_MAX: usize = 64 << 10;
/// The steps of reporting a violation: a trial reports nothing, and there are as many trials as choices.
const STEPS_PER_VIOLATION: u64 = 64;
/// Values longer than this are cut in messages, in characters.
const SHOWN_MAX: usize = 80;

/// Every violation of `node` by `value`, which is completed, as far as there is work left.
pub(crate) fn check(
    node: &Node,
    metadata: &Node,
    value: &Value,
    allowance: &mut Allowance<'_>,
) -> Vec<Violation> {
    let mut walk = Walk {
        violations: Vec::new(),
        metadata,
        allowance,
        limit: VIOLATIONS_MAX,
        pointers: 0,
        explains: true,
    };
    walk.value(node, value, &Path::Root, Mode::Strict);
    walk.violations
}

/// The stock for what this program brings along itself.
pub(crate) fn trusted() -> &'static Work {
    static TRUSTED: LazyLock<Work> = LazyLock::new(Work::unlimited);
    &TRUSTED
}

/// What is wrong with the metadata of an object, regardless of its kind: each of them is [`ViolationKind::Metadata`]. A
/// field that ObjectMeta does not have is left to the schema of the kind.
pub fn check_metadata(object: &Value) -> Vec<Violation> {
    static ANY: LazyLock<Node> = LazyLock::new(|| {
        let (mut any, _) = compile(&json!({"x-kubernetes-preserve-unknown-fields": true}));
        any.resource = true;
        any
    });
    let work = trusted();
    let mut violations = check(&ANY, &metadata::NODE, object, &mut work.allowance_of(0));
    violations.retain(|violation| violation.kind == ViolationKind::Metadata);
    violations
}

/// Whether unknown fields count. Inside combinators they do not: only the outer schema names the fields.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Strict,
    ValuesOnly,
}

struct Walk<'s, 'w> {
    violations: Vec<Violation>,
    metadata: &'s Node,
    /// The allowance of the object, including trials.
    allowance: &'s mut Allowance<'w>,
    limit: usize,
    /// Bytes of the pointers of the violations.
    pointers: usize,
    /// Whether a failed choice is tried again to say why. Not inside a trial, where it is never read and nested
    /// choices would double the work at every level.
    explains: bool,
}

/// Where a violation is.
struct Place {
    pointer: String,
    field: String,
}

impl Place {
    /// In the notation of the validator of structural schemas.
    fn dotted(path: &Path<'_>) -> Self {
        Self {
            pointer: path.pointer(),
            field: path.dotted(),
        }
    }

    /// In the notation of all that comes after it.
    fn bracketed(path: &Path<'_>) -> Self {
        Self {
            pointer: path.pointer(),
            field: path.field(),
        }
    }
}

impl Walk<'_, '_> {
    /// Reports an invalid value, whose field `message` is told.
    fn push(&mut self, path: &Path<'_>, blocks_rules: bool, message: impl FnOnce(&str) -> String) {
        self.push_with_help(path, blocks_rules, |field| (message(field), None));
    }

    #[cold]
    fn required(&mut self, path: &Path<'_>, help: Option<String>) {
        let message = "Required value".to_owned();
        self.add(Place::dotted(path), ViolationKind::Required, true, message, help);
    }

    /// Apart from the checks, and so are the texts: nearly every value is right.
    #[cold]
    #[inline(never)]
    fn push_with_help(
        &mut self,
        path: &Path<'_>,
        blocks_rules: bool,
        texts: impl FnOnce(&str) -> (String, Option<String>),
    ) {
        let at = Place::dotted(path);
        let (message, help) = texts(&at.field);
        self.add(at, ViolationKind::Invalid, blocks_rules, message, help);
    }

    fn add(
        &mut self,
        at: Place,
        kind: ViolationKind,
        blocks_rules: bool,
        message: String,
        help: Option<String>,
    ) {
        if !self.is_full() && self.allowance.spend(STEPS_PER_VIOLATION).is_ok() {
            self.pointers = self.pointers.saturating_add(at.pointer.len());
            self.violations.push(Violation {
                kind,
                pointer: at.pointer,
                field: at.field,
                old: None,
                message,
                help,
                blocks_rules,
            });
        }
    }

    const fn is_full(&self) -> bool {
        self.violations.len() >= self.limit || self.pointers > POINTERS_MAX
    }

    /// Only passes on to what judges it, and so needs no stack of its own.
    #[inline(never)]
    fn value(&mut self, node: &Node, value: &Value, path: &Path<'_>, mode: Mode) {
        if self.is_full() || self.allowance.spend(node.steps).is_err() {
            return;
        }
        match value {
            Value::Null if node.nullable => {}
            _ => self.whole(node, value, path, mode),
        }
    }

    #[inline(never)]
    fn by_type(&mut self, node: &Node, value: &Value, path: &Path<'_>, mode: Mode) {
        if self.type_fits(node, value, path) {
            match value {
                Value::Object(fields) => self.mapping(node, fields, path, mode),
                Value::Array(items) => self.list(node, items, path, mode),
                Value::String(text) => self.string(node, text, path),
                Value::Number(number) => self.number(node, number, path),
                Value::Bool(_) | Value::Null => {}
            }
        }
    }

    #[inline(never)]
    fn whole(&mut self, node: &Node, value: &Value, path: &Path<'_>, mode: Mode) {
        // A wrong type does not end it: what binds values of any type is asked all the same.
        self.by_type(node, value, path, mode);
        if let Some(allowed) = &node.allowed {
            self.allowed(allowed, value, path);
        }
        self.combinators(node, value, path);
    }

    /// Reports a wrong type; `false` means that it was wrong.
    ///
    /// The rules, surprises included, are those of
    /// kubernetes/kube-openapi pkg/validation/validate/type.go@114aa73fce1c689712d89215533701d76f6546e5: a text with a
    /// format may as well be a list, and any other value of a wrong type is compared with the format.
    fn type_fits(&mut self, node: &Node, value: &Value, path: &Path<'_>) -> bool {
        // Instead of `type`, which such a level may not have; a pattern beside it binds texts alone.
        let (expected, fits) = if node.int_or_string {
            ("integer,string", value.is_string() || is_integer(value))
        } else {
            match node.kind {
                Some(kind) => (kind.name(), has_type(value, kind)),
                None => ("", node.format.is_none()),
            }
        };
        fits || !self.is_misfit(node, value, path, expected)
    }

    /// Reports a value that is not of the type of its level, unless that is right all the same.
    #[cold]
    fn is_misfit(&mut self, node: &Node, value: &Value, path: &Path<'_>, expected: &str) -> bool {
        let is_numeric = matches!(node.kind, Some(Type::Integer | Type::Number)) || node.int_or_string;
        let is_text = value.is_string() || value.is_array();
        let (expected, found) = match format_of(node) {
            Some(_) if is_text && !is_numeric => return false,
            Some(format) if !is_text && !value.is_null() => (format.name(), format_name(value)),
            // Without a type every value is right.
            _ if expected.is_empty() => return false,
            _ => (expected, type_name(value)),
        };
        self.push_with_help(path, true, |field| {
            let message =
                format!("Invalid value: {found:?}: {field} in body must be of type {expected}: {found:?}");
            (message, type_help(node, value))
        });
        true
    }

    #[inline(never)]
    fn mapping(&mut self, node: &Node, fields: &Map, path: &Path<'_>, mode: Mode) {
        for name in &node.required {
            if !fields.contains_key(name) {
                let property = node.property(name);
                self.required(
                    &Path::Key(path, name),
                    property.and_then(|node| type_help(node, &Value::Null)),
                );
            }
        }
        let limits = (node.min_properties, node.max_properties);
        self.count(fields.len(), limits, "properties", path);
        if node.resource && mode == Mode::Strict {
            self.resource(node, fields, path);
        }
        for (name, value) in fields {
            self.field(node, (name, value), path, mode);
        }
    }

    /// How many things there are, at least and at most.
    fn count(
        &mut self,
        count: usize,
        (least, most): (Option<u64>, Option<u64>),
        what: &str,
        path: &Path<'_>,
    ) {
        if let Some(limit) = most.filter(|limit| exceeds(count, *limit)) {
            self.push(path, true, |_| {
                format!("Too many: {count}: must have at most {limit} items")
            });
        }
        if let Some(limit) = least.filter(|limit| falls_short(count, *limit)) {
            self.push(path, false, |field| {
                format!("Invalid value: {count}: {field} in body should have at least {limit} {what}")
            });
        }
    }

    #[inline]
    fn field(&mut self, node: &Node, (name, value): (&Text, &Value), path: &Path<'_>, mode: Mode) {
        let property = node.property(name);
        let here = Path::member(path, name, property.is_some());
        let implied = node.resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
        match (property, &node.additional) {
            (Some(child), _) | (None, Additional::Schema(child)) => {
                let child: &Node = child;
                // Metadata is checked as ObjectMeta; its schema in a CRD may only narrow values.
                let mode = if implied { Mode::ValuesOnly } else { mode };
                self.value(child, value, &here, mode);
            }
            (None, Additional::Unknown) if mode == Mode::Strict && !implied && !node.preserve_unknown => {
                self.unknown(node, name, &here);
            }
            (None, _) => {}
        }
    }

    #[cold]
    fn unknown(&mut self, node: &Node, name: &str, path: &Path<'_>) {
        let known = node.properties.iter().map(|(name, _)| name.to_string()).collect();
        let message = format!("unknown field {:?}", path.dotted());
        // A field one level too far out is the result of a wrong indentation.
        let mut properties = node.properties.iter();
        let inner = properties.find(|(_, child)| child.child(name).is_some());
        let help = inner.map(|(below, _)| format!("indent it: it belongs below `{below}`"));
        let kind = ViolationKind::UnknownField { known };
        self.add(Place::dotted(path), kind, false, message, help);
    }

    #[inline(never)]
    fn list(&mut self, node: &Node, items: &[Value], path: &Path<'_>, mode: Mode) {
        self.count(items.len(), (node.min_items, node.max_items), "items", path);
        if let Some(level) = node.items.as_deref() {
            for (index, item) in items.iter().enumerate() {
                self.value(level, item, &Path::Index(path, index), mode);
            }
        }
        // Two at least may be equal.
        if items.len() >= 2 && (node.unique_items || !matches!(node.list_type, ListType::Atomic)) {
            self.set(node, items, path);
        }
    }

    /// A list whose items differ, or their keys do.
    #[inline(never)]
    fn set(&mut self, node: &Node, items: &[Value], path: &Path<'_>) {
        if node.unique_items && has_repeat(items.iter().map(Value::to_string)) {
            self.push(path, false, |field| {
                format!("Invalid value: {field} in body shouldn't contain duplicates")
            });
        }
        match &node.list_type {
            ListType::Atomic => {}
            ListType::Set => self.repeats(items, path, &[], Value::to_string),
            ListType::Map(keys) => self.repeats(items, path, keys, |item| key_of(item, keys)),
        }
    }

    /// One violation for every item that repeats the key of an earlier one.
    fn repeats(&mut self, items: &[Value], path: &Path<'_>, keys: &[String], key: impl Fn(&Value) -> String) {
        let mut seen = HashSet::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let key = key(item);
            if seen.contains(&key) {
                let message = format!("Duplicate value: {}", shorten(&key));
                let kind = ViolationKind::Duplicate { keys: keys.to_vec() };
                let at = Place::bracketed(&Path::Index(path, index));
                self.add(at, kind, false, message, None);
            } else {
                seen.insert(key);
            }
        }
    }

    // The API server says these of no field, and shows no value: `<nil>: Invalid value: "": ` is in front there.
    // A structural schema's choices narrow values and name no fields, so none of them makes a field known:
    // docs/systems/kubernetes.md#structural-schemas.
    fn combinators(&mut self, node: &Node, value: &Value, path: &Path<'_>) {
        for choice in &node.all_of {
            self.value(choice, value, path, Mode::ValuesOnly);
        }
        if !node.any_of.is_empty() && !node.any_of.iter().any(|choice| self.accepts(choice, value)) {
            let help = self.best_choice(&node.any_of, value, path);
            self.push_with_help(path, false, |field| {
                let message =
                    format!("Invalid value: \"\": {field:?} must validate at least one schema (anyOf)");
                (message, help)
            });
        }
        if !node.one_of.is_empty() {
            let choices = node.one_of.iter();
            let fitting = choices.filter(|choice| self.accepts(choice, value)).count();
            if fitting != 1 {
                let found = if fitting == 0 {
                    "Found none valid".to_owned()
                } else {
                    format!("Found {fitting} valid alternatives")
                };
                let help = (fitting == 0)
                    .then(|| self.best_choice(&node.one_of, value, path))
                    .flatten();
                self.push_with_help(path, false, |field| {
                    let message = format!(
                        "Invalid value: \"\": {field:?} must validate one and only one schema (oneOf). {found}"
                    );
                    (message, help)
                });
            }
        }
        if let Some(not) = node.not.as_deref()
            && self.accepts(not, value)
        {
            self.push(path, false, |field| {
                format!("Invalid value: \"\": {field:?} must not validate the schema (not)")
            });
        }
    }

    fn accepts(&mut self, node: &Node, value: &Value) -> bool {
        self.trial(node, value, &Path::Root, 1).is_empty()
    }

    fn trial(&mut self, node: &Node, value: &Value, path: &Path<'_>, limit: usize) -> Vec<Violation> {
        // Its violations are nobody's yet.
        let mut walk = Walk {
            violations: Vec::new(),
            metadata: self.metadata,
            allowance: self.allowance,
            limit,
            pointers: 0,
            explains: false,
        };
        walk.value(node, value, path, Mode::ValuesOnly);
        walk.violations
    }

    /// The violations of the choice that a value comes nearest to.
    fn best_choice(&mut self, choices: &[Below], value: &Value, path: &Path<'_>) -> Option<String> {
        if !self.explains {
            return None;
        }
        choices
            .iter()
            .map(|choice| self.trial(choice, value, path, VIOLATIONS_MAX))
            .min_by_key(Vec::len)
            .and_then(|violations| violations.into_iter().next())
            .map(|violation| format!("the closest choice fails with: {violation}"))
    }

    /// The root of an object or an embedded resource: type, kind and metadata that its schema only implies.
    fn resource(&mut self, node: &Node, fields: &Map, path: &Path<'_>) {
        for name in ["apiVersion", "kind"] {
            let here = Path::Key(path, name);
            let (blocks_rules, message) = match fields.get(name) {
                Some(Value::String(text)) if node.embedded && !text.is_empty() => {
                    let problem = type_meta_problem(name, text);
                    let message = problem.map(|problem| format!("Invalid value: {text:?}: {problem}"));
                    (false, message)
                }
                None | Some(Value::String(_)) => {
                    if node.embedded {
                        self.required(&here, None);
                    }
                    continue;
                }
                Some(other) => {
                    let message = format!("Invalid value: {}: must be a string", shown(other));
                    (true, Some(message))
                }
            };
            if let Some(message) = message {
                let at = Place::bracketed(&here);
                self.add(at, ViolationKind::Invalid, blocks_rules, message, None);
            }
        }
        let Some(metadata) = fields.get("metadata") else {
            return;
        };
        let here = Path::Key(path, "metadata");
        let before = self.violations.len();
        match metadata {
            Value::Object(_) => {
                self.value(self.metadata, metadata, &here, Mode::Strict);
                if self.violations.len() == before {
                    let whose = if node.embedded {
                        MetadataOwner::Embedded
                    } else {
                        MetadataOwner::Object
                    };
                    for problem in metadata::problems(metadata, whose) {
                        let at = Place {
                            pointer: format!("{}{}", here.pointer(), problem.pointer),
                            field: format!("{}.{}", here.field(), problem.field),
                        };
                        self.add(at, ViolationKind::Invalid, false, problem.message, problem.help);
                    }
                }
            }
            Value::Null => {}
            _ => self.push(&here, true, |_| "Invalid value: must be an object".to_owned()),
        }
        if !node.embedded {
            let of_metadata = self.violations.iter_mut().skip(before);
            for violation in of_metadata.filter(|violation| violation.kind == ViolationKind::Invalid) {
                violation.kind = ViolationKind::Metadata;
            }
        }
    }
}

fn has_type(value: &Value, kind: Type) -> bool {
    match kind {
        Type::Array => value.is_array(),
        Type::Boolean => value.is_boolean(),
        Type::Integer => is_integer(value),
        Type::Number => value.is_number(),
        Type::Object => value.is_object(),
        Type::String => value.is_string(),
    }
}

/// Go's decoder makes an integer of what an int64 holds, and a float of anything else. A float without a fraction, or
/// with next to none, counts, as far as floats hold every integer: go-openapi/swag conv/convert.go@v0.25.1
/// `IsFloat64AJSONInteger`.
fn is_integer(value: &Value) -> bool {
    const NEXT_TO_NONE: f64 = 1e-9;
    value.as_number().is_some_and(|number| {
        number.is_i64()
            || number.as_f64().is_some_and(|float| {
                let whole = float.round();
                float.abs() <= EXACT_MAX && (float - whole).abs() <= NEXT_TO_NONE * whole.abs()
            })
    })
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The format that a value has by nature: only numbers have one.
fn format_name(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        _ => "",
    }
}

/// The format of a level, where the API server does not drop it for belonging to another type:
/// kubernetes/kubernetes
/// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go@03f23ae1d47f4084a6ed11520485ff384e086d30.
fn format_of(node: &Node) -> Option<Format> {
    let is_kept = |format: &Format| match format {
        Format::Int32 | Format::Int64 => node.kind == Some(Type::Integer),
        Format::Float | Format::Double => node.kind == Some(Type::Number),
        _ => matches!(node.kind, None | Some(Type::String)),
    };
    node.format.filter(is_kept)
}

/// The usual reason for a wrong type is YAML's own reading of a bare word.
fn type_help(node: &Node, value: &Value) -> Option<String> {
    match (node.kind?, value) {
        (Type::String, Value::Null | Value::Bool(_) | Value::Number(_)) => Some("quote it".to_owned()),
        (Type::Integer | Type::Number | Type::Boolean, Value::String(text))
            if text.parse::<f64>().is_ok() || matches!(text.as_str(), "true" | "false") =>
        {
            Some(format!("remove the quotes: {text}"))
        }
        (Type::Array, Value::Object(_)) => Some("write \"- \" before it: a list is expected".to_owned()),
        (Type::Integer, Value::Number(number)) if !number.is_i64() => {
            let (least, most) = match format_of(node) {
                Some(Format::Int32) => (i64::from(i32::MIN), i64::from(i32::MAX)),
                _ => (i64::MIN, i64::MAX),
            };
            Some(format!("write a whole number from {least} to {most}"))
        }
        _ => None,
    }
}

fn exceeds(count: usize, limit: u64) -> bool {
    u64::try_from(count).map_or(true, |count| count > limit)
}

fn falls_short(count: usize, limit: u64) -> bool {
    u64::try_from(count).is_ok_and(|count| count < limit)
}

/// The key fields of an item of a list map, as JSON; a field that is missing is left out. Two items that lack the same key
/// are equal: kubernetes/kubernetes
/// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go@v1.34.1.
pub(crate) fn key_of(item: &Value, keys: &[String]) -> String {
    let fields = keys
        .iter()
        .filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Object(fields.collect()).to_string()
}

fn has_repeat(mut items: impl Iterator<Item = String>) -> bool {
    let mut seen = HashSet::new();
    items.any(|item| !seen.insert(item))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}

/// What Kubernetes refuses in an embedded resource's `apiVersion` or `kind`.
/// kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go@v1.34.1.
fn type_meta_problem(field: &str, text: &str) -> Option<String> {
    if field == "apiVersion" {
        return (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"));
    }
    let error = NameRule::Rfc1035Label.check(&text.to_ascii_lowercase()).err()?;
    Some(format!(
        "may have mixed case, but should otherwise match: {error}"
    ))
}
