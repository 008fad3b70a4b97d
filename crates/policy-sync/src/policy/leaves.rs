//! Values as leaves by JSON pointer, and back.
//!
//! Owns: taking values apart at their fields, putting leaves together, and dropping nulls.
//! Flows in: values. Flows out: leaves, values.
//! Must not know: profiles, policies.

use std::borrow::Cow;
use std::collections::BTreeMap;

use apimachinery::pointer;
use kube_json::{Map, Value};

use super::layer::Leaf;

/// Calls `leaf` for every field that is not a mapping, and for empty mappings, with its JSON pointer. A list is
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
pub fn unflatten<'l>(leaves: impl Iterator<Item = &'l Leaf>) -> Value {
    let mut root = Map::new();
    let mut lists = BTreeMap::new();
    for leaf in leaves {
        if !leaf.value.is_null() {
            insert(&mut root, &leaf.at, Value::clone(&leaf.value));
            let element = leaf.element.as_ref();
            lists.extend(element.map(|element| (&element.list, element.key.as_deref())));
        }
    }
    let mut root = Value::Object(root);
    for (list, key) in lists {
        if let Some(elements) = root.pointer_mut(list) {
            *elements = as_list(elements.take(), key);
        }
    }
    root
}

/// The elements of a list, which were put together by their positions, or by a key that is a number.
fn as_list(elements: Value, key: Option<&str>) -> Value {
    let Value::Object(elements) = elements else {
        return elements;
    };
    let by_position = elements.into_iter().map(|(position, mut value)| {
        let position = position.parse::<u64>().ok();
        if let (Some(key), Some(position), Some(element)) = (key, position, value.as_object_mut()) {
            element.insert(key.to_owned(), Value::from(position));
        }
        (position, value)
    });
    let by_position: BTreeMap<Option<u64>, Value> = by_position.collect();
    Value::Array(by_position.into_values().collect())
}

fn insert(root: &mut Map, pointer: &str, value: Value) {
    let mut tokens = pointer::tokens(pointer).map(Cow::into_owned).peekable();
    let mut here = root;
    while let Some(token) = tokens.next() {
        if tokens.peek().is_none() {
            here.insert(token, value);
            return;
        }
        here.insert_if_absent(&token, || Value::Object(Map::new()));
        let Some(next) = here.get_mut(&token) else { return };
        if !next.is_object() {
            *next = Value::Object(Map::new());
        }
        let Value::Object(map) = next else { return };
        here = map;
    }
}

/// Drops nulls, as an API server drops those of fields that are not nullable. Borrows when there is none.
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

#[cfg(test)]
mod tests {
    use super::*;
    use kube_json::json;

    #[test]
    fn nulls_of_mappings_are_dropped_at_any_depth_and_those_of_lists_stay() {
        let given = json!({"a": null, "b": [{"c": null, "d": 1}, null], "e": {"f": {"g": null}}});
        let wanted = json!({"b": [{"d": 1}, null], "e": {"f": {}}});
        assert_eq!(*without_nulls(&given), wanted);
        let in_a_list_alone = json!({"b": [{"c": null}]});
        assert_eq!(*without_nulls(&in_a_list_alone), json!({"b": [{}]}));
    }
}
