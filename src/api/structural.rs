//! Structural schemas, written down: the pieces that `ocm` states facts of CRDs with.
//!
//! Owns: their JSON. Flows out: schemas for `crd_schema`. Must not know: any kind.

use serde_json::{Value, json};

/// A text.
pub(super) fn string() -> Value {
    json!({"type": "string"})
}

/// A list of texts.
pub(super) fn strings() -> Value {
    json!({"type": "array", "items": string()})
}

/// An enum of texts.
pub(super) fn one_of(values: &[&str]) -> Value {
    json!({"type": "string", "enum": values})
}

/// A mapping of fields.
pub(super) fn mapping(required: &[&str], properties: Value) -> Value {
    let mut schema = json!({"type": "object", "required": required});
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("properties".to_owned(), properties);
    }
    schema
}

/// A list.
pub(super) fn list(items: Value) -> Value {
    let mut schema = json!({"type": "array"});
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("items".to_owned(), items);
    }
    schema
}

/// A list whose items differ in their keys.
pub(super) fn list_map(keys: &[&str], items: Value) -> Value {
    with(
        list(items),
        &json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}),
    )
}

/// `schema` with further keywords.
pub(super) fn with(mut schema: Value, keywords: &Value) -> Value {
    if let (Some(fields), Some(more)) = (schema.as_object_mut(), keywords.as_object()) {
        fields.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    schema
}
