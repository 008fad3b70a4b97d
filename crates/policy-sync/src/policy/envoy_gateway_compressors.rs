//! Compressors that Envoy Gateway leaves out (docs/systems/envoy-gateway.md#compressors).
//!
//! Owns: which ones. Flows in and out: the settings of a BackendTrafficPolicy where they apply. Must not know: whose they
//! are.
//!
//! `envoyproxy/gateway internal/gatewayapi/backendtrafficpolicy.go@v1.9.0`.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_json::Value;

use super::layer::{Content, Leaf};
use super::merge_patch::starting_with;

/// The list; the older `compression` has no such rule.
const LIST: &str = "/compressor";

/// The types, and where the settings of each are.
const TYPES: [(&str, &str); 3] = [("Gzip", "gzip"), ("Brotli", "brotli"), ("Zstd", "zstd")];

/// The same settings with the compressors that have the settings of their type, be they empty; without any, compression is
/// off. `None` if nothing changes.
pub(super) fn with_enabled_ones(content: &Content) -> Option<Content> {
    if let Some(leaf) = content.get(LIST) {
        let items = leaf.value.as_array()?;
        let is_enabled = |item: &&Value| {
            let mut types = TYPES.iter();
            types.any(|(kind, settings)| {
                item.get("type").and_then(Value::as_str) == Some(kind) && item.get(*settings).is_some()
            })
        };
        let enabled: Vec<Value> = items.iter().filter(is_enabled).cloned().collect();
        let is_same = enabled.len() == items.len();
        return (!is_same).then(|| with_list(content.clone(), leaf, enabled));
    }
    // Lists of two policies are put together field by field.
    let fields: Vec<(&str, &str, &Leaf)> = starting_with(content, "/compressor/")
        .filter_map(|(key, leaf)| {
            let (position, field) = key.strip_prefix("/compressor/")?.split_once('/')?;
            Some((position, field, leaf))
        })
        .collect();
    let is_enabled = |position: &str| {
        let of_item = || fields.iter().filter(|(at, ..)| *at == position);
        TYPES.iter().any(|(kind, settings)| {
            of_item().any(|(_, field, leaf)| *field == "type" && leaf.value.as_str() == Some(kind))
                && of_item().any(|(_, field, _)| field.split('/').next() == Some(settings))
        })
    };
    let positions: BTreeSet<&str> = fields.iter().map(|(position, ..)| *position).collect();
    let (enabled, disabled): (BTreeSet<&str>, BTreeSet<&str>) =
        positions.into_iter().partition(|position| is_enabled(position));
    let (_, _, first) = fields.iter().find(|(position, ..)| disabled.contains(position))?;
    let mut left = content.clone();
    for (position, field, _) in fields.iter().filter(|(position, ..)| disabled.contains(position)) {
        left.remove(format!("{LIST}/{position}/{field}").as_str());
    }
    Some(if enabled.is_empty() {
        with_list(left, first, Vec::new())
    } else {
        left
    })
}

/// Settings with this list, which comes from where the leaf does.
fn with_list(mut content: Content, leaf: &Leaf, items: Vec<Value>) -> Content {
    let at: Arc<str> = Arc::from(LIST);
    let list = Leaf {
        value: Arc::new(Value::Array(items)),
        at: Arc::clone(&at),
        element: None,
        ..leaf.clone()
    };
    content.insert(at, list);
    content
}
