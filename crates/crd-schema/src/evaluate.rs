//! Runs the CEL rules of all levels on a value. A value becomes CEL by its schema, which knows times, durations, bytes,
//! and maps. It must be structurally valid. Violations are at their exact places, in the order of the fields.
//!
//! Source: kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/common/values.go@v1.34.1.

use std::collections::HashMap;
use std::sync::Arc;

use apimachinery::Allowance;
use cel_eval::Expression;
use kube_cel::cel::Value as Cel;
use kube_cel::cel::objects::{Key, Map};
use kube_json::Value;

use crate::check::key_of;
use crate::compile::{Additional, ListType, Node, Type};
use crate::format::Format;
use crate::rules::{Level, Spending, asks_only_for};
use crate::violation::{Path, Violation};

/// Words of CEL that no field can be selected by.
const RESERVED: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Runs every rule at and below `node`, as far as their costs allow; of an update from `old`, only those that compare a
/// value with the one before it.
pub(crate) fn check_rules(
    node: &Node,
    (old, value): (Option<&Value>, &Value),
    allowance: &mut Allowance<'_>,
    violations: &mut Vec<Violation>,
) {
    let spending = &mut Spending::new(allowance);
    walk(node, (old, value), &Path::Root, spending, violations);
}

/// Runs the rules of `node` that read only these fields of it, and every rule below those fields.
pub(crate) fn check_rules_about(
    node: &Node,
    value: &Value,
    fields: &[&str],
    allowance: &mut Allowance<'_>,
    violations: &mut Vec<Violation>,
) {
    let spending = &mut Spending::new(allowance);
    let about = |rule: &Expression| asks_only_for(rule.root(), fields);
    run_rules(node, (None, value), &Path::Root, about, spending, violations);
    walk_below(node, (None, value), &Path::Root, spending, violations);
}

fn walk(
    node: &Node,
    (old, value): (Option<&Value>, &Value),
    path: &Path<'_>,
    spending: &mut Spending<'_, '_>,
    violations: &mut Vec<Violation>,
) {
    let is_asked = old.map_or(node.rules_below, |_| node.transitions_below);
    // A null is no value, before an update either.
    if is_asked && !value.is_null() && !old.is_some_and(Value::is_null) && !spending.is_over() {
        run_rules(node, (old, value), path, |_| true, spending, violations);
        walk_below(node, (old, value), path, spending, violations);
    }
}

/// Runs the rules of one level, those that `counts` takes.
fn run_rules(
    node: &Node,
    (old, value): (Option<&Value>, &Value),
    path: &Path<'_>,
    counts: impl Fn(&Expression) -> bool,
    spending: &mut Spending<'_, '_>,
    violations: &mut Vec<Violation>,
) {
    // Each level with rules makes the values below it once more.
    let pays = |value| spending.convert(value);
    if node.rules.is_empty() || !old.into_iter().chain([value]).all(pays) {
        return;
    }
    let level = Level {
        path,
        kind: node.kind.map_or("", Type::name),
        names_properties: node.additional.schema().is_none(),
        old: old.map(|old| (old, to_cel(Some(node), old, true))),
    };
    let cel = to_cel(Some(node), value, old.is_some());
    node.rules.run(counts, &level, value, &cel, spending, violations);
}

/// Runs the rules of the levels below one.
fn walk_below(
    node: &Node,
    (old, value): (Option<&Value>, &Value),
    path: &Path<'_>,
    spending: &mut Spending<'_, '_>,
    violations: &mut Vec<Violation>,
) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let before = old.and_then(|old| old.get(name));
                if let Some(child) = node.child(name).filter(|_| old.is_some() == before.is_some()) {
                    let here = Path::member(path, name, node.property(name).is_some());
                    walk(child, (before, field), &here, spending, violations);
                }
            }
        }
        Value::Array(items) => {
            if let Some(child) = node.items.as_deref() {
                // Only these are found again, each once, however many have its key.
                let keys: &[String] = match &node.list_type {
                    ListType::Map(keys) => keys,
                    ListType::Atomic | ListType::Set => &[],
                };
                let keyed = old.and_then(Value::as_array).filter(|_| !keys.is_empty());
                let keyed = keyed.into_iter().flatten().rev();
                let mut known: HashMap<String, &Value> =
                    keyed.map(|item| (key_of(item, keys), item)).collect();
                for (index, item) in items.iter().enumerate() {
                    let before = old.and_then(|_| known.remove(&key_of(item, keys)));
                    if old.is_some() == before.is_some() {
                        let here = Path::Index(path, index);
                        walk(child, (before, item), &here, spending, violations);
                    }
                }
            }
        }
        _ => {}
    }
}

/// CEL's value. Of an update, sets and maps of items are in one order on both sides, because equal ones may differ in
/// theirs.
pub(crate) fn to_cel(node: Option<&Node>, value: &Value, is_update: bool) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| Cel::Float(number.as_f64().unwrap_or(f64::NAN)), Cel::Int),
        Value::String(text) => node
            .filter(|node| !node.int_or_string)
            .and_then(|node| typed(node.format?, text))
            .unwrap_or_else(|| Cel::from(text.as_str())),
        Value::Array(items) => {
            let mut sorted: Vec<&Value> = items.iter().collect();
            match node.filter(|_| is_update).map(|node| &node.list_type) {
                Some(ListType::Set) => sorted.sort_by_cached_key(|item| item.to_string()),
                Some(ListType::Map(keys)) => sorted.sort_by_cached_key(|item| key_of(item, keys)),
                _ => {}
            }
            let item = node.and_then(|node| node.items.as_deref());
            let items = sorted.into_iter().map(|value| to_cel(item, value, is_update));
            Cel::List(Arc::new(items.collect()))
        }
        Value::Object(fields) => {
            let is_map = node.is_some_and(|node| !matches!(node.additional, Additional::Unknown));
            let mut map: HashMap<Key, Cel> = fields
                .iter()
                .map(|(name, value)| {
                    let child = node.and_then(|node| node.child(name));
                    // Keys of maps are data: they must not be escaped like field names.
                    let name = if is_map { name.to_string() } else { escaped(name) };
                    (Key::String(Arc::new(name)), to_cel(child, value, is_update))
                })
                .collect();
            if node.is_some_and(|node| node.embedded) {
                let implied = [
                    ("apiVersion", Cel::from("")),
                    ("kind", Cel::from("")),
                    ("metadata", Cel::Map(Map { map: Arc::default() })),
                ];
                for (name, zero) in implied {
                    map.entry(Key::String(Arc::new(name.to_owned()))).or_insert(zero);
                }
            }
            Cel::Map(Map { map: Arc::new(map) })
        }
    }
}

/// A text whose format has a type of its own in CEL; `None` for other formats, and where it is not one of that format.
fn typed(format: Format, text: &str) -> Option<Cel> {
    let conversion = match format {
        Format::DateTime => "timestamp",
        Format::Duration => "duration",
        Format::Byte => "base64.decode",
        _ => return None,
    };
    cel_eval::call(conversion, None, &[&Cel::from(text)]).ok()
}

/// A field's name as an identifier of CEL. One underscore stands for itself:
/// kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/escaping.go@v1.34.1.
fn escaped(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}
