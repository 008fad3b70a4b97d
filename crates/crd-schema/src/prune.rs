//! Drops the fields that a schema does not describe.
//!
//! Owns: the pruning of unknown fields. Flows in: a compiled schema, a value. Flows out: the value without them, and where
//! they were. Must not know: what is valid.
//!
//! An API server prunes before it fills in defaults, so a default is never pruned. It prunes metadata by its own type:
//! docs/systems/kubernetes.md#pruning.

use apimachinery::pointer;
use kube_json::Value;

use crate::node::{Additional, Node};

/// Drops the unknown fields of `value`; gives their pointers.
pub(crate) fn prune(node: &Node, metadata: &Node, value: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    walk(node, metadata, value, "", &mut dropped);
    dropped
}

fn walk(node: &Node, metadata: &Node, value: &mut Value, at: &str, dropped: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.retain(|name, field| {
            let here = pointer::child(at, name);
            let implied = node.resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
            if implied {
                if name == "metadata" {
                    walk(metadata, metadata, field, &here, dropped);
                }
                return true;
            }
            match node.child(name) {
                Some(child) => walk(child, metadata, field, &here, dropped),
                None if node.preserve_unknown || matches!(node.additional, Additional::Any) => {}
                None => {
                    dropped.push(here);
                    return false;
                }
            }
            true
        }),
        Value::Array(items) => {
            if let Some(child) = node.items.as_deref() {
                for (index, item) in items.iter_mut().enumerate() {
                    walk(child, metadata, item, &format!("{at}/{index}"), dropped);
                }
            }
        }
        _ => {}
    }
}
