//! Settings as leaves by JSON pointer, and patches of them: by name for rules, by RFC 7386 for fields.
//!
//! Each leaf keeps its source, so a merged result says where every part of it comes from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use apimachinery::pointer;
use kube_json::{Map, Value};

use crate::policy::model::{Content, Leaf};
use crate::policy::profile::MergeUnit;

/// Calls `leaf` for every field that is not a mapping, and for empty mappings, with its JSON pointer. A list is
/// one leaf: RFC 7386 replaces lists as a whole. Depth is limited by the reader of the input.
pub(crate) fn flatten(value: &Value, pointer: String, leaf: &mut dyn FnMut(String, &Value)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                flatten(value, pointer::child(&pointer, key), leaf);
            }
        }
        // Settings without anything have no leaf, and not an empty one.
        Value::Object(_) if pointer.is_empty() => {}
        other => leaf(pointer, other),
    }
}

/// Puts leaves together: the settings themselves.
pub fn unflatten<'l>(leaves: impl Iterator<Item = &'l Leaf>) -> Value {
    let mut root = Map::new();
    let mut lists = BTreeMap::new();
    for leaf in leaves {
        // A null of a patch has deleted what it was for, and is no setting itself.
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

/// Lays `patch` over `target`: by name for rules, by RFC 7386 for fields.
pub(crate) fn patch(target: &mut Content, patch: &Content, unit: &MergeUnit) {
    for (key, leaf) in patch {
        if unit.is_by_name() {
            target.insert(Arc::clone(key), leaf.clone());
        } else {
            patch_field(target, key, leaf);
        }
    }
}

/// What `under` comes to when `target` is laid over it, in the place of `target`: thousands of policies may be under
/// each other, and each step costs what is new, not what has come together so far.
pub(crate) fn lay_under(target: &mut Content, under: &Content, unit: &MergeUnit) {
    let by_name = unit.is_by_name();
    // A null deletes the value below it, and then disappears: that needs a real patch.
    if !by_name && target.values().any(|leaf| leaf.value.is_null()) {
        let over = std::mem::replace(target, under.clone());
        patch(target, &over, unit);
        return;
    }
    for (key, leaf) in under {
        if by_name || is_free(target, key) {
            target.entry(Arc::clone(key)).or_insert_with(|| leaf.clone());
        }
    }
}

/// Whether nothing of a patch replaces a leaf that it is laid over. An empty mapping above that leaf does not, because
/// it disappears.
fn is_free(over: &mut Content, key: &str) -> bool {
    if over.contains_key(key) {
        return false;
    }
    // As `patch_field` has it, the root gives way to nothing.
    if !key.is_empty() && starting_with(over, &format!("{key}/")).next().is_some() {
        return false;
    }
    for (position, _) in key.match_indices('/') {
        let Some(above) = key.get(..position) else {
            continue;
        };
        match over.get(above) {
            Some(leaf) if is_empty_mapping(leaf) => {
                over.remove(above);
            }
            Some(_) => return false,
            None => {}
        }
    }
    true
}

/// Among mappings, only empty ones are leaves.
fn is_empty_mapping(leaf: &Leaf) -> bool {
    leaf.value.as_object().is_some_and(Map::is_empty)
}

/// One leaf of an RFC 7386 patch. A scalar or a list replaces whatever was there; a mapping replaces only what is not a
/// mapping; null deletes.
fn patch_field(target: &mut Content, key: &Arc<str>, leaf: &Leaf) {
    let below = format!("{key}/");
    // An empty mapping of a patch adds nothing to a mapping that is there.
    if is_empty_mapping(leaf) && starting_with(target, &below).next().is_some() {
        return;
    }
    let gone = starting_with(target, &below).map(|(key, _)| Arc::clone(key));
    let gone: Vec<Arc<str>> = gone.collect();
    for key in gone {
        target.remove(&key);
    }
    for above in above(key) {
        target.remove(above);
    }
    if leaf.value.is_null() {
        target.remove(key);
        keep_parent(target, key, leaf);
    } else {
        target.insert(Arc::clone(key), leaf.clone());
    }
}

/// A patch that only deletes still makes a mapping of what it is in (RFC 7386).
fn keep_parent(target: &mut Content, key: &str, leaf: &Leaf) {
    let Some((parent, _)) = key.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) else {
        return;
    };
    if starting_with(target, &format!("{parent}/")).next().is_some() {
        return;
    }
    target.extend([leaf.moved(parent, Value::Object(Map::new()))]);
}

/// The entries whose key begins with `prefix`.
pub(crate) fn starting_with<'c, 'p>(
    content: &'c Content,
    prefix: &'p str,
) -> impl Iterator<Item = (&'c Arc<str>, &'c Leaf)> + use<'c, 'p> {
    content
        .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(prefix))
}

/// Whether `content` sets this rule or field, a part of it, or something that it is a part of.
pub(crate) fn defines(content: &Content, key: &str) -> bool {
    if !key.starts_with('/') {
        return content.contains_key(key);
    }
    has(content, key) || above(key).any(|above| content.contains_key(above))
}

/// Whether a field, or something in it, is set.
pub(crate) fn has(content: &Content, field: &str) -> bool {
    content.contains_key(field) || starting_with(content, &format!("{field}/")).next().is_some()
}

/// The pointers of what a field is in.
pub(crate) fn above(key: &str) -> impl Iterator<Item = &str> {
    key.match_indices('/').skip(1).filter_map(|(at, _)| key.get(..at))
}

#[cfg(test)]
mod tests {
    use kube_json::{Value, json};

    use super::flatten;
    use super::*;
    use crate::hub::RowId as _;
    use crate::policy::model::PolicyId;

    #[test]
    fn nulls_of_mappings_are_dropped_at_any_depth_and_those_of_lists_stay() {
        let given = json!({"a": null, "b": [{"c": null, "d": 1}, null], "e": {"f": {"g": null}}});
        let wanted = json!({"b": [{"d": 1}, null], "e": {"f": {}}});
        assert_eq!(*given.without_nulls(), wanted);
        let in_a_list_alone = json!({"b": [{"c": null}]});
        assert_eq!(*in_a_list_alone.without_nulls(), json!({"b": [{}]}));
    }

    fn content(value: &Value, policy: u32) -> Content {
        let mut content = Content::new();
        flatten(value, String::new(), &mut |at, value| {
            let at: Arc<str> = Arc::from(at);
            let leaf = Leaf {
                value: Arc::new(value.clone()),
                at: Arc::clone(&at),
                base: "/spec",
                policy: PolicyId::from_row(policy),
                element: None,
                essential: true,
            };
            content.insert(at, leaf);
        });
        content
    }

    #[test]
    fn laying_under_comes_to_what_patching_a_copy_comes_to() {
        let values = [
            json!({}),
            json!({"a": 1}),
            json!({"a": null}),
            json!({"a": {}}),
            json!({"a": []}),
            json!({"a": {"b": 1}}),
            json!({"a": {"b": null}}),
            json!({"a": {"b": {}}}),
            json!({"a": {"c": 1}, "a0": 1}),
            json!({"a": {"b": {"c": 1}}, "b": {}}),
            json!({"a": {"b": {"c": {}, "d": null}}}),
            json!({"a": {"b": {"d": 2}, "b-c": {"d": {}}}, "b": null}),
            json!({"a": {"b": {"c": {"d": [1]}}, "c": {}}, "b": {"c": 1}}),
            json!(1),
        ];
        for unit in [MergeUnit::JsonMergePatch, MergeUnit::Rules(Vec::new())] {
            for first in &values {
                for second in &values {
                    for third in &values {
                        let [first, second, third] = [(first, 1), (second, 2), (third, 3)]
                            .map(|(value, policy)| content(value, policy));
                        let copied = |over: &Content, under: &Content| {
                            let mut together = under.clone();
                            patch(&mut together, over, &unit);
                            together
                        };
                        let expected = copied(&copied(&first, &second), &third);
                        let mut found = first.clone();
                        lay_under(&mut found, &second, &unit);
                        lay_under(&mut found, &third, &unit);
                        assert_eq!(found, expected, "{first:?} over {second:?} over {third:?}");
                    }
                }
            }
        }
    }
}
