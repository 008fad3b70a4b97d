//! Runs the CEL rules of all levels on a value.
//!
//! Owns: the walk, and the conversion of a value to CEL by its schema, which knows times, durations, bytes, and maps.
//! Flows in: a compiled schema, a completed value that is structurally valid. Flows out: violations, each at its exact
//! place, in the order of the fields. Must not know: what a rule requires.
//!
//! Source: kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/common/values.go@v1.34.1.

use std::collections::HashMap;
use std::sync::Arc;

use apimachinery::Allowance;
use cel_eval::Expression;
use kube_cel::cel::Value as Cel;
use kube_cel::cel::objects::{Key, Map};
use kube_json::Value;

use crate::asked::asks_only_for;
use crate::format::Format;
use crate::node::{Additional, ListType, Node, Type};
use crate::rules::{Level, Spending};
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

/// A value, and where it is in its object.
#[derive(Clone, Copy)]
struct Placed<'v> {
    value: &'v Value,
    path: &'v Path<'v>,
}

/// Runs every rule at and below `node`, as far as their costs allow; of an update from `old`, only those that compare a
/// value with the one before it.
pub(crate) fn check_rules(
    node: &Node,
    (old, value): (Option<&Value>, &Value),
    allowance: &mut Allowance<'_>,
    violations: &mut Vec<Violation>,
) {
    let path = &Path::Root;
    let old = old.map(|value| Placed { value, path });
    let spending = &mut Spending::new(allowance);
    walk(node, (old, Placed { value, path }), spending, violations);
}

/// Runs the rules of `node` that read only these fields of it, and every rule below those fields.
pub(crate) fn check_rules_about(
    node: &Node,
    value: &Value,
    fields: &[&str],
    allowance: &mut Allowance<'_>,
    violations: &mut Vec<Violation>,
) {
    let mut spending = Spending::new(allowance);
    let level = Level {
        path: &Path::Root,
        kind: node.kind.map_or("", Type::name),
        names_properties: true,
        old: None,
    };
    if !node.rules.is_empty() && spending.convert(value) {
        let cel = to_cel(Some(node), value);
        let about = |rule: &Expression| asks_only_for(rule.root(), fields);
        node.rules
            .run_some(about, &level, value, &cel, &mut spending, violations);
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        if let Some(child) = node.child(name) {
            let path = &Path::member(&Path::Root, name, true);
            walk(
                child,
                (None, Placed { value: field, path }),
                &mut spending,
                violations,
            );
        }
    }
}

fn walk(
    node: &Node,
    (old, Placed { value, path }): (Option<Placed<'_>>, Placed<'_>),
    spending: &mut Spending<'_, '_>,
    violations: &mut Vec<Violation>,
) {
    let (is_asked, is_asked_below) = match old {
        Some(_) => (node.rules.mention_old(), node.transitions_below),
        None => (!node.rules.is_empty(), node.rules_below),
    };
    // A null is no value, before an update either.
    let is_null = value.is_null() || old.is_some_and(|old| old.value.is_null());
    if !is_asked_below || is_null || spending.is_over() {
        return;
    }
    // Each level with rules makes the values below it once more.
    if is_asked && old.is_none_or(|old| spending.convert(old.value)) && spending.convert(value) {
        let level = Level {
            path,
            kind: node.kind.map_or("", Type::name),
            names_properties: !matches!(node.additional, Additional::Schema(_)),
            old: old.map(|old| (old.path, to_cel(Some(node), &aligned(node, old.value, value)))),
        };
        let cel = to_cel(Some(node), value);
        node.rules.run(&level, value, &cel, spending, violations);
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let Some(child) = node.child(name) else { continue };
                let is_property = node.properties.contains_key(name);
                let new = Placed {
                    value: field,
                    path: &Path::member(path, name, is_property),
                };
                let Some(old) = old else {
                    walk(child, (None, new), spending, violations);
                    continue;
                };
                if let Some(value) = old.value.get(name) {
                    let path = &Path::member(old.path, name, is_property);
                    walk(child, (Some(Placed { value, path }), new), spending, violations);
                }
            }
        }
        Value::Array(items) => {
            let Some(child) = node.items.as_deref() else {
                return;
            };
            // Several items may have one key, and what is below it is looked through for each.
            if old.is_some_and(|old| !spending.convert(old.value)) {
                return;
            }
            let known = old.map(|old| by_key(&node.list_type, old.value));
            let is_map = matches!(node.list_type, ListType::Map(_));
            for (index, item) in items.iter().enumerate() {
                let new = Placed {
                    value: item,
                    path: &Path::Index(path, index),
                };
                let Some((old, known)) = old.zip(known.as_ref()) else {
                    walk(child, (None, new), spending, violations);
                    continue;
                };
                let old_item = key(&node.list_type, item).and_then(|key| known.get(&key));
                if let Some((index, value)) = old_item.filter(|_| is_map) {
                    let path = &Path::Index(old.path, *index);
                    walk(child, (Some(Placed { value, path }), new), spending, violations);
                }
            }
        }
        _ => {}
    }
}

/// `old`, with sets and maps of items in the order of `new` wherever they have the same members, because then they are
/// equal: kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/common/values.go@v1.34.1.
fn aligned(node: &Node, old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::Object(fields), Value::Object(others)) => {
            let aligned = fields.iter().map(|(name, old)| {
                let pair = node.child(name).zip(others.get(name));
                let old = pair.map_or_else(|| old.clone(), |(child, new)| aligned(child, old, new));
                (name.clone(), old)
            });
            Value::Object(aligned.collect())
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            let known = by_key(&node.list_type, old);
            let in_order = others
                .iter()
                .map(|new| Some(known.get(&key(&node.list_type, new)?)?.1));
            let in_order: Option<Vec<&Value>> = in_order.collect();
            let items = in_order
                .unwrap_or_else(|| items.iter().collect())
                .into_iter()
                .zip(others);
            let child = node.items.as_deref();
            let aligned =
                items.map(|(old, new)| child.map_or_else(|| old.clone(), |child| aligned(child, old, new)));
            Value::Array(aligned.collect())
        }
        _ => old.clone(),
    }
}

/// The items of a list before an update, by their keys; none of a list whose items have none. Of equal keys, the first
/// counts: kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/common/maplist.go@v1.34.1.
fn by_key<'v>(list: &ListType, old: &'v Value) -> HashMap<Vec<&'v Value>, (usize, &'v Value)> {
    let items = old.as_array().into_iter().flatten().enumerate();
    let keyed = items.filter_map(|(index, item)| Some((key(list, item)?, (index, item))));
    let mut known = HashMap::new();
    for (key, item) in keyed {
        known.entry(key).or_insert(item);
    }
    known
}

/// The values of the keys of an item, which is its own in a set; `None` if one is missing or no scalar, or in a list
/// without keys.
fn key<'v>(list: &ListType, item: &'v Value) -> Option<Vec<&'v Value>> {
    let is_scalar = |value: &&Value| !value.is_array() && !value.is_object() && !value.is_null();
    match list {
        ListType::Atomic => None,
        ListType::Set => Some(vec![item]),
        ListType::Map(keys) => keys.iter().map(|key| item.get(key).filter(is_scalar)).collect(),
    }
}

fn to_cel(node: Option<&Node>, value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| Cel::Float(number.as_f64().unwrap_or(f64::NAN)), Cel::Int),
        Value::String(text) => node
            .filter(|node| !node.int_or_string)
            .and_then(|node| typed(node.format?, text))
            .unwrap_or_else(|| string(text)),
        Value::Array(items) => {
            let item = node.and_then(|node| node.items.as_deref());
            Cel::List(Arc::new(items.iter().map(|value| to_cel(item, value)).collect()))
        }
        Value::Object(fields) => {
            let is_map = node.is_some_and(|node| !matches!(node.additional, Additional::Unknown));
            let mut map: HashMap<Key, Cel> = fields
                .iter()
                .map(|(name, value)| {
                    let child = node.and_then(|node| node.child(name));
                    // Keys of maps are data: they must not be escaped like field names.
                    let name = if is_map { name.to_string() } else { escaped(name) };
                    (Key::String(Arc::new(name)), to_cel(child, value))
                })
                .collect();
            if node.is_some_and(|node| node.embedded) {
                let implied = [
                    ("apiVersion", string("")),
                    ("kind", string("")),
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

fn string(text: &str) -> Cel {
    Cel::String(Arc::new(text.to_owned()))
}

/// A text whose format has a type of its own in CEL; `None` for other formats, and where it is not one of that format.
fn typed(format: Format, text: &str) -> Option<Cel> {
    let conversion = match format {
        Format::DateTime => "timestamp",
        Format::Duration => "duration",
        Format::Byte => "base64.decode",
        _ => return None,
    };
    cel_eval::call(conversion, None, &[&string(text)]).ok()
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
