//! Patching settings: by name for rules, by RFC 7386 for fields.
//!
//! Owns: JSON merge patch on leaves, which keeps the source of each. Flows in and out: leaves.
//! Must not know: whose settings are the patch.

use std::ops::Bound;
use std::sync::Arc;

use super::layer::{Content, Leaf};
use super::profile::MergeUnit;

/// Lays `patch` over `target`: by name for rules, by RFC 7386 for fields.
pub(super) fn patch(target: &mut Content, patch: &Content, unit: &MergeUnit) {
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
pub(super) fn lay_under(target: &mut Content, under: &Content, unit: &MergeUnit) {
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
    leaf.value.as_object().is_some_and(kube_json::Map::is_empty)
}

/// One leaf of an RFC 7386 patch. A scalar or a list replaces whatever was there; a mapping replaces only what is not a
/// mapping; null deletes.
fn patch_field(target: &mut Content, key: &Arc<str>, leaf: &Leaf) {
    let below = format!("{key}/");
    // An empty mapping of a patch adds nothing to a mapping that is there.
    if is_empty_mapping(leaf) && starting_with(target, &below).next().is_some() {
        return;
    }
    let gone: Vec<Arc<str>> = starting_with(target, &below)
        .map(|(key, _)| Arc::clone(key))
        .collect();
    for key in gone {
        target.remove(&key);
    }
    for (position, _) in key.match_indices('/').skip(1) {
        if let Some(above) = key.get(..position) {
            target.remove(above);
        }
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
    let below = format!("{parent}/");
    if starting_with(target, &below).next().is_some() {
        return;
    }
    let parent: Arc<str> = Arc::from(parent);
    let mapping = Leaf {
        value: Arc::new(kube_json::Value::Object(kube_json::Map::new())),
        at: Arc::clone(&parent),
        ..leaf.clone()
    };
    target.insert(parent, mapping);
}

/// The entries whose key begins with `prefix`.
pub(super) fn starting_with<'c, 'p>(
    content: &'c Content,
    prefix: &'p str,
) -> impl Iterator<Item = (&'c Arc<str>, &'c Leaf)> + use<'c, 'p> {
    content
        .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(prefix))
}

/// Whether `content` sets this rule or field, a part of it, or something that it is a part of.
pub(crate) fn defines(content: &Content, key: &str) -> bool {
    if content.contains_key(key) {
        return true;
    }
    if !key.starts_with('/') {
        return false;
    }
    let below = format!("{key}/");
    let inside = starting_with(content, &below).next().is_some();
    let above = key.match_indices('/').skip(1).any(|(position, _)| {
        key.get(..position)
            .is_some_and(|above| content.contains_key(above))
    });
    inside || above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::RowId as _;
    use crate::policy::ids::PolicyId;
    use crate::policy::leaves::flatten;
    use kube_json::{Value, json};

    fn content(value: &Value, policy: u32) -> Content {
        let mut content = Content::new();
        flatten(value, String::new(), &mut |at, value| {
            let at: Arc<str> = Arc::from(at);
            let leaf = Leaf {
                value: Arc::new(value.clone()),
                at: Arc::clone(&at),
                base: "/spec",
                policy: PolicyId::of_row(policy),
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
