//! Values that do not belong in a repository: placeholders that nobody replaced, in objects that rendering uses, and
//! Secrets in plain text. An object's own templates (`{{ request.path }}`, `%REQ(X)%`) are not placeholders, and a Secret
//! of placeholders, which a tool fills in, is not plain.

use kube_json::Value;

use crate::api::decoded;
use crate::diagnostic::{Code, Finding};
use crate::object::{Object, is_placeholder, is_unfilled};
use apimachinery::{Field, pointer};

/// Reports the first value of an object that is a placeholder: somebody forgot to replace it, and a controller would take
/// it for a name, a URL, or a number of its own.
pub(super) fn placeholder(object: &Object) -> Option<Finding> {
    let mut steps = Vec::new();
    let found = find(&object.value, &mut steps)?;
    let mut pointer = String::new();
    for step in steps.iter().rev() {
        pointer::push(&mut pointer, step);
    }
    let what = format_args!("has a placeholder for a value: `{found}`");
    let finding = object.finding(Code::OBJECT_PLACEHOLDER, &pointer, what);
    Some(finding.help("write the value"))
}

/// The first text that is a placeholder, and the steps that lead to it, last one first.
fn find<'v>(value: &'v Value, steps: &mut Vec<String>) -> Option<&'v str> {
    match value {
        Value::String(text) => is_unfilled(text).then_some(text.as_str()),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let found = find(item, steps)?;
            steps.push(index.to_string());
            Some(found)
        }),
        // Nothing acts on annotations, and some hold whole objects as they were written.
        Value::Object(fields) => {
            let mut fields = fields.iter().filter(|(key, _)| *key != "annotations");
            fields.find_map(|(key, field)| {
                let found = find(field, steps)?;
                steps.push(key.to_string());
                Some(found)
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Reports that a Secret has unencrypted values: everybody who may read the repository has them.
pub(super) fn plain_secret(object: &Object) -> Option<Finding> {
    if !object.is("", "Secret") || object.value.get("sops").is_some() {
        return None;
    }
    let root = object.root();
    let is_value = |field: &Field<'_>, is_encoded: bool| {
        let text = field.string().ok().flatten().unwrap_or_default();
        let inside = decoded(text).filter(|_| is_encoded);
        !is_placeholder(text) && inside.is_none_or(|text| !is_placeholder(&text))
    };
    let sections = [("data", true), ("stringData", false)].into_iter();
    let mut fields = sections.flat_map(|(section, is_encoded)| {
        let fields = root.get(section).entries();
        fields.map(move |(_, field)| (field, is_encoded))
    });
    let (place, _) = fields.find(|(field, is_encoded)| is_value(field, *is_encoded))?;
    let identity = object.identity();
    let message = format!("{identity} is not encrypted: everyone who can read the repository has its values");
    let finding = Finding::new(Code::SECRET_PLAIN, object.key_place(&place.pointer()), message);
    Some(finding.help(
        "keep it out of the repository, or commit a SealedSecret or an ExternalSecret in its place; change values that were committed",
    ))
}
