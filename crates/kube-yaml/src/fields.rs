//! Adds fields to a mapping, written ones and merged ones, and decides which of them exclude each other.
//!
//! Owns: duplicate keys, `<<`, and the strictness of docs/systems/why-we-differ.md#yaml-that-loses-text.
//! Flows in: a field or a merged value. Flows out: the mapping with it, or the two places that conflict. Must not know:
//! events, anchors.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use kube_json::{Text, Value};

use super::error::{Error, ErrorKind, Outcome};
use super::position::Record;

/// A complete value on its way into the collection around it.
pub(super) struct Complete<N> {
    pub(super) value: Value,
    pub(super) node: N,
    pub(super) range: Range<usize>,
    pub(super) height: usize,
    /// Whether it is the copy of a value that is elsewhere.
    pub(super) from_alias: bool,
}

/// The keys of a mapping that came through a merge and were not written again since.
pub(super) type Merged = Option<Box<BTreeMap<Text, Range<usize>>>>;

/// Puts a written field into a mapping. It may replace a merged one, never a written one.
pub(super) fn insert<R: Record>(
    members: &mut BTreeMap<Text, Value>,
    fields: &mut R::Fields,
    merged: &mut Merged,
    key: Text,
    range: &Range<usize>,
    value: Value,
    node: R::Node,
) -> Outcome<()> {
    let overrides = merged
        .as_mut()
        .is_some_and(|merged| merged.remove(&key).is_some());
    if overrides || !members.contains_key(&key) {
        R::insert(fields, &key, range, node);
        members.insert(key, value);
        return Ok(());
    }
    let help = if key == "apiVersion" {
        "if another object begins here, write `---` on its own line before it; otherwise remove one of the two"
    } else {
        "remove one of the two; keys such as `1` and \"1\", or `yes` and \"true\", are the same key"
    };
    let error = Error::new(
        ErrorKind::DuplicateKey,
        range.clone(),
        format!("the key `{key}` is already in this mapping"),
        help,
    );
    Err(match R::key_of(fields, &key) {
        Some(first) => error.with_related(first, format!("`{key}` is here first")),
        None => error,
    })
}

/// Merges a mapping, or each mapping of a list, into the one around `<<`. No key may be there already.
pub(super) fn merge<R: Record>(
    members: &mut BTreeMap<Text, Value>,
    fields: &mut R::Fields,
    merged: &mut Merged,
    key_range: &Range<usize>,
    complete: Complete<R::Node>,
) -> Outcome<()> {
    let refuse = || {
        Err(Error::new(
            ErrorKind::Merge,
            complete.range.clone(),
            "`<<` merges a mapping or a list of mappings, but this is neither",
            "quote the key if it is text: \"<<\"",
        ))
    };
    let sources = match complete.value {
        Value::Object(source) => vec![(source, complete.node)],
        Value::Array(items) if !complete.from_alias => {
            let mut nodes = R::into_entries(complete.node).into_iter();
            let mut sources = Vec::with_capacity(items.len());
            for item in items {
                let Value::Object(source) = item else {
                    return refuse();
                };
                sources.push((source, nodes.next().unwrap_or_default()));
            }
            sources
        }
        _ => return refuse(),
    };
    let merged = merged.get_or_insert_default();
    for (source, node) in sources {
        for (key, value) in source {
            if let Entry::Vacant(vacant) = members.entry(key.clone()) {
                merged.insert(key, key_range.clone());
                vacant.insert(value);
                continue;
            }
            let message = if merged.contains_key(&key) {
                format!("two merged mappings have the key `{key}`")
            } else {
                format!("the merge would overwrite the key `{key}` before it")
            };
            let place = if complete.range.is_empty() {
                key_range.clone()
            } else {
                complete.range.clone()
            };
            let error = Error::new(
                ErrorKind::Merge,
                place,
                message,
                "write `<<` before the keys that differ, and merge mappings that have no key in common",
            );
            return Err(match R::key_of(fields, &key) {
                Some(first) => error.with_related(first, format!("`{key}` comes from here")),
                None => error,
            });
        }
        R::merge(fields, node);
    }
    Ok(())
}
