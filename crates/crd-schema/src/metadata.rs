//! ObjectMeta: the metadata of the root object and of embedded resources.
//!
//! Owns: its fields, and what Kubernetes checks in labels and annotations. Flows in: a metadata mapping.
//! Flows out: problems. Must not know: schemas of kinds.

use serde_json::{Map, Value, json};

use crate::compile::compile;
use crate::node::Node;
use apimachinery::names::NameRule;

/// The most bytes that all keys and values of an object's annotations may have together.
const ANNOTATIONS_MAX: usize = 256 * 1024;

/// The compiled schema of ObjectMeta. Every field is nullable, because decoding a null gives its zero.
pub(crate) fn node() -> Node {
    let string = json!({"type": "string", "nullable": true});
    let time = json!({"type": "string", "format": "date-time", "nullable": true});
    let integer = json!({"type": "integer", "format": "int64", "nullable": true});
    let boolean = json!({"type": "boolean", "nullable": true});
    let strings = json!({"type": "object", "additionalProperties": string, "nullable": true});
    let any = json!({"x-kubernetes-preserve-unknown-fields": true, "nullable": true});
    let (node, _) = compile(&json!({
        "type": "object",
        "properties": {
            "annotations": strings,
            "creationTimestamp": time,
            "deletionGracePeriodSeconds": integer,
            "deletionTimestamp": time,
            "finalizers": {"type": "array", "items": string, "nullable": true},
            "generateName": string,
            "generation": integer,
            "labels": strings,
            "managedFields": {"type": "array", "nullable": true, "items": {"type": "object", "properties": {
                "apiVersion": string, "fieldsType": string, "fieldsV1": any, "manager": string,
                "operation": string, "subresource": string, "time": time,
            }}},
            "name": string,
            "namespace": string,
            "ownerReferences": {"type": "array", "nullable": true, "items": {"type": "object", "properties": {
                "apiVersion": string, "blockOwnerDeletion": boolean, "controller": boolean, "kind": string,
                "name": string, "uid": string,
            }}},
            "resourceVersion": string,
            "selfLink": string,
            "uid": string,
        },
    }));
    node
}

/// A problem below metadata: the keys that lead to it, the value for the message, and what is wrong.
pub(crate) struct MetadataProblem<'m> {
    pub(crate) path: Vec<&'m str>,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
}

/// What Kubernetes refuses in metadata beyond its types.
///
/// `name_rule` is the rule for the name; an embedded resource's name need only be a path segment, and may be
/// missing.
pub(crate) fn problems(metadata: &Map<String, Value>, name_rule: NameRule) -> Vec<MetadataProblem<'_>> {
    let mut problems = Vec::new();
    for (field, rule) in [("name", name_rule), ("namespace", NameRule::Rfc1123Label)] {
        if let Some(text) = metadata.get(field).and_then(Value::as_str) {
            push(&mut problems, vec![field], text, rule, text.is_empty());
        }
    }
    for (key, value) in strings(metadata, "labels") {
        push(&mut problems, vec!["labels"], key, NameRule::LabelKey, false);
        push(
            &mut problems,
            vec!["labels", key],
            value,
            NameRule::LabelValue,
            false,
        );
    }
    let mut bytes = 0_usize;
    for (key, value) in strings(metadata, "annotations") {
        push(
            &mut problems,
            vec!["annotations"],
            key,
            NameRule::AnnotationKey,
            false,
        );
        bytes = bytes.saturating_add(key.len()).saturating_add(value.len());
    }
    if bytes > ANNOTATIONS_MAX {
        problems.push(MetadataProblem {
            path: vec!["annotations"],
            message: format!("Too long: may not be more than {ANNOTATIONS_MAX} bytes"),
            suggestion: None,
        });
    }
    problems
}

fn strings<'m>(metadata: &'m Map<String, Value>, field: &str) -> impl Iterator<Item = (&'m str, &'m str)> {
    metadata
        .get(field)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

fn push<'m>(
    problems: &mut Vec<MetadataProblem<'m>>,
    path: Vec<&'m str>,
    text: &str,
    rule: NameRule,
    counts_as_absent: bool,
) {
    if counts_as_absent {
        return;
    }
    if let Err(error) = rule.check(text) {
        problems.push(MetadataProblem {
            path,
            message: format!("Invalid value: {text:?}: {}", error.problem),
            suggestion: error.suggestion,
        });
    }
}
