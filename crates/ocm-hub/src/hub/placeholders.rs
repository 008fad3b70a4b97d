//! Placeholders that nobody replaced, in objects that rendering uses. A controller takes them for names and addresses. An
//! object's own templates (`{{ request.path }}`, `%REQ(X)%`) are not placeholders.

use kube_json::Value;

use crate::diagnostic::{Code, Finding};
use crate::object::{Object, is_unfilled};
use apimachinery::pointer;

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
            fields
                .iter()
                .filter(|(key, _)| *key != "annotations")
                .find_map(|(key, field)| {
                    let found = find(field, steps)?;
                    steps.push(key.to_string());
                    Some(found)
                })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
