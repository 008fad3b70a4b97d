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
        if matches!(unit, MergeUnit::Rules(_)) {
            target.insert(Arc::clone(key), leaf.clone());
        } else {
            patch_field(target, key, leaf);
        }
    }
}

/// One leaf of an RFC 7386 patch. A scalar or a list replaces whatever stood there; a mapping replaces only what
/// is no mapping; null deletes.
fn patch_field(target: &mut Content, key: &Arc<str>, leaf: &Leaf) {
    let below = format!("{key}/");
    // Leaves hold empty mappings only: one of a patch adds nothing to a mapping that is there.
    let is_mapping = leaf.value.as_object().is_some_and(serde_json::Map::is_empty);
    if is_mapping && starting_with(target, &below).next().is_some() {
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

/// A patch that only deletes still makes a mapping of what it stands in (RFC 7386).
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
        value: Arc::new(serde_json::Value::Object(serde_json::Map::new())),
        at: Arc::clone(&parent),
        ..leaf.clone()
    };
    target.insert(parent, mapping);
}

/// The entries whose key begins with `prefix`.
pub(super) fn starting_with<'c>(
    content: &'c Content,
    prefix: &'c str,
) -> impl Iterator<Item = (&'c Arc<str>, &'c Leaf)> {
    content
        .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(prefix))
}
