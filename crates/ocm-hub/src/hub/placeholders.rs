//! Values that a template should have filled in, in objects that would otherwise be shipped as they are. What looks like
//! a template of the object's own (`{{ request.path }}`, `%REQ(X)%`) is text.

use kube_json::Value;

use crate::diagnostic::{Code, Finding};
use crate::object::{Object, is_left_by_template};
use apimachinery::pointer;

/// Reports the first value of an object that is a placeholder: somebody forgot to replace it, and a controller would take
/// it for a name, a URL, or a number of its own.
pub(super) fn placeholder(object: &Object) -> Option<Finding> {
    let mut way = Vec::new();
    let found = find(&object.value, &mut way)?;
    let mut pointer = String::new();
    for step in way.iter().rev() {
        pointer::push(&mut pointer, step);
    }
    let message = format!("{} has a placeholder for a value: `{found}`", object.identity());
    Some(Finding::new(Code::OBJECT_PLACEHOLDER, object.place(&pointer), message).help("write the value"))
}

/// The first text that a template left, and the way to it, last step first.
fn find<'v>(value: &'v Value, way: &mut Vec<String>) -> Option<&'v str> {
    match value {
        Value::String(text) => is_left_by_template(text).then_some(text.as_str()),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let found = find(item, way)?;
            way.push(index.to_string());
            Some(found)
        }),
        // Nothing acts on annotations, and some hold whole objects as they were written.
        Value::Object(fields) => {
            fields
                .iter()
                .filter(|(key, _)| *key != "annotations")
                .find_map(|(key, field)| {
                    let found = find(field, way)?;
                    way.push(key.to_string());
                    Some(found)
                })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
