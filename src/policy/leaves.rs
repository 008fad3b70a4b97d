//! Values as leaves by JSON pointer, and back.
//!
//! Owns: taking values apart at their fields, putting leaves together, and dropping nulls.
//! Flows in: values. Flows out: leaves, values.
//! Must not know: profiles, policies.

use std::borrow::Cow;

use apimachinery::pointer;
use serde_json::{Map, Value};

use super::layer::Leaf;

/// Calls `leaf` for every field that is no mapping, and for empty mappings, with its JSON pointer. A list is
/// one leaf: RFC 7386 replaces lists as a whole. Depth is limited by the reader of the input.
pub(crate) fn flatten(value: &Value, pointer: String, leaf: &mut dyn FnMut(String, &Value)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                flatten(value, pointer::child(&pointer, key), leaf);
            }
        }
        Value::Object(_) if pointer.is_empty() => {}
        other => leaf(pointer, other),
    }
}

/// Puts leaves together: the settings themselves.
#[must_use]
pub(crate) fn unflatten<'l>(leaves: impl Iterator<Item = &'l Leaf>) -> Value {
    let mut root = Map::new();
    for leaf in leaves {
        if !leaf.value.is_null() {
            insert(&mut root, &leaf.at, (*leaf.value).clone());
        }
    }
    Value::Object(root)
}

fn insert(root: &mut Map<String, Value>, pointer: &str, value: Value) {
    let mut tokens = pointer::tokens(pointer).map(Cow::into_owned).peekable();
    let mut here = root;
    while let Some(token) = tokens.next() {
        if tokens.peek().is_none() {
            here.insert(token, value);
            return;
        }
        let next = here.entry(token).or_insert_with(|| Value::Object(Map::new()));
        if !next.is_object() {
            *next = Value::Object(Map::new());
        }
        let Value::Object(map) = next else { return };
        here = map;
    }
}

/// Drops nulls, as an API server drops those of fields that are not nullable. Borrows when there is none.
#[must_use]
pub(crate) fn without_nulls(value: &Value) -> Cow<'_, Value> {
    if has_null(value) {
        Cow::Owned(pruned(value))
    } else {
        Cow::Borrowed(value)
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(|value| value.is_null() || has_null(value)),
        Value::Array(items) => items.iter().any(has_null),
        _ => false,
    }
}

fn pruned(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), pruned(value)))
            .collect(),
        Value::Array(items) => items.iter().map(pruned).collect(),
        other => other.clone(),
    }
}
