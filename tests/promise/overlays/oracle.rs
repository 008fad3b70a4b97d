//! What overlays come to, in the simplest way: the changes of each cluster, pair by pair, on the values of documents.
//!
//! Owns: the changed objects of a cluster, and which errors overlays must have. Flows in: objects, overlays. Flows out:
//! objects, codes. Must not know: the code under test.

use std::collections::BTreeSet;

use kube_json::{Value, json};

use super::drafts::{Field, Overlay, Target, group, resolve, text, values};

/// What overlays come to on one cluster.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The changed objects, in the places of those of the hub.
    pub(crate) objects: Vec<Value>,
    /// The codes of the errors.
    pub(crate) errors: BTreeSet<&'static str>,
    /// How many fields are changed.
    pub(crate) changes: usize,
}

/// A field of an object that an overlay changes.
struct Change {
    overlay: usize,
    priority: i32,
    object: usize,
    pointer: String,
    value: Option<Value>,
}

/// The objects for one cluster. Errors that do not depend on a cluster are the same for every one.
pub(crate) fn apply(objects: &[Value], overlays: &[Overlay], cluster: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let mut changes = Vec::new();
    for (number, overlay) in overlays.iter().enumerate() {
        if overlay.clusters().is_none() {
            outcome.errors.insert("overlay/unknown-cluster");
        }
        let selects = overlay.clusters().unwrap_or(&["eu-1"]).contains(&cluster);
        for change in &overlay.changes {
            let is_target = |object: &Value| {
                let is_chosen = match &change.target {
                    Target::Name(name) => object["metadata"]["name"] == *name,
                    Target::Label(label) => object["metadata"]["labels"]["app"] == *label,
                };
                is_chosen
                    && object["metadata"]["namespace"] == overlay.namespace
                    && object["kind"] == change.kind
                    && group(object) == change.group
            };
            let targets: Vec<usize> = (0..objects.len())
                .filter(|position| is_target(&objects[*position]))
                .collect();
            assert!(!targets.is_empty(), "drafts have targets");
            for field in &change.set {
                let value = value_on(field, cluster);
                if selects && value.is_err() {
                    outcome.errors.insert("overlay/no-value");
                }
                for object in &targets {
                    let found = resolve(&objects[*object], &field.steps);
                    let found = found.filter(|(_, there)| field.value.is_some() || there.is_some());
                    let Some((pointer, _)) = found else {
                        outcome.errors.insert("overlay/path-not-found");
                        continue;
                    };
                    let probe = value.clone().unwrap_or(field.value.clone());
                    if !is_allowed(&objects[*object], &pointer, probe.as_ref()) {
                        outcome.errors.insert("overlay/not-allowed");
                        continue;
                    }
                    if let (true, Ok(value)) = (selects, &value) {
                        changes.push(Change {
                            overlay: number,
                            priority: overlay.priority,
                            object: *object,
                            pointer,
                            value: value.clone(),
                        });
                    }
                }
            }
        }
    }
    let mut lost = BTreeSet::new();
    for (position, upper) in changes.iter().enumerate() {
        for (other, lower) in changes.iter().enumerate() {
            let is_above = format!("{}/", lower.pointer).starts_with(&format!("{}/", upper.pointer));
            if position == other || upper.object != lower.object || !is_above {
                continue;
            }
            let is_one_field = upper.pointer == lower.pointer;
            let is_agreed = upper.priority == lower.priority && upper.value == lower.value;
            if upper.overlay != lower.overlay && upper.priority > lower.priority {
                lost.insert(other);
            } else if upper.overlay == lower.overlay
                || !is_one_field
                || (upper.priority == lower.priority && !is_agreed)
            {
                outcome.errors.insert("overlay/conflict");
            }
        }
    }
    outcome.objects = objects.to_vec();
    if !outcome.errors.is_empty() {
        return outcome;
    }
    for (position, change) in changes.iter().enumerate() {
        if !lost.contains(&position) {
            outcome.changes += 1;
            put(
                &mut outcome.objects[change.object],
                &change.pointer,
                change.value.clone(),
            );
        }
    }
    outcome
}

/// Sets a field whose parent exists, or removes it.
fn put(object: &mut Value, pointer: &str, value: Option<Value>) {
    let (parent, token) = pointer.rsplit_once('/').expect("a pointer");
    let name = token.replace("~1", "/").replace("~0", "~");
    match object.pointer_mut(parent).expect("a parent") {
        Value::Object(members) => {
            match value {
                Some(value) => members.insert(name, value),
                None => members.remove(&name),
            };
        }
        Value::Array(items) => {
            items[token.parse::<usize>().expect("a position")] = value.expect("no element is removed");
        }
        _ => panic!("{pointer}"),
    }
}

/// Whether an object stays what it is, where it is, and attached to what it is attached to.
fn is_allowed(object: &Value, pointer: &str, value: Option<&Value>) -> bool {
    let mut changed = object.clone();
    put(&mut changed, pointer, value.cloned());
    let inside = |part: &&str| format!("{pointer}/").starts_with(&format!("{part}/"));
    let parts = [
        "/apiVersion",
        "/kind",
        "/status",
        "/metadata/name",
        "/metadata/namespace",
        "/metadata/labels",
        "/metadata/creationTimestamp",
        "/spec/targetRef",
        "/spec/targetRefs",
        "/spec/targetSelectors",
        "/spec/parentRef",
        "/spec/parentRefs",
    ];
    let class = (object["kind"] == "Gateway").then_some("/spec/gatewayClassName");
    let names = |object: &Value| -> Vec<Value> {
        let listeners = object.pointer("/spec/listeners").and_then(Value::as_array);
        let listeners = listeners.into_iter().flatten();
        listeners.map(|listener| listener["name"].clone()).collect()
    };
    let is_name = pointer.starts_with("/spec/listeners/") && pointer.split('/').nth(4) == Some("name");
    let has_listeners = matches!(text(object, "/kind").as_str(), "Gateway" | "ListenerSet");
    !parts
        .iter()
        .chain(&class)
        .any(|part| inside(part) || object.pointer(part) != changed.pointer(part))
        && !(has_listeners && (is_name || names(object) != names(&changed)))
}

/// The value that a field has on a cluster; an error where the cluster has none.
fn value_on(field: &Field, cluster: &str) -> Result<Option<Value>, ()> {
    let Some(written) = &field.value else {
        return Ok(None);
    };
    let Some(filled) = fill(written, cluster) else {
        return field.default.clone().map(Some).ok_or(());
    };
    match (field.value_type, filled) {
        (Some("Integer"), Value::String(text)) => text
            .parse::<i64>()
            .map(|number| Some(json!(number)))
            .map_err(|_| ()),
        (Some("Boolean"), Value::String(text)) => {
            text.parse::<bool>().map(|flag| Some(json!(flag))).map_err(|_| ())
        }
        (_, filled) => Ok(Some(filled)),
    }
}

fn fill(value: &Value, cluster: &str) -> Option<Value> {
    Some(match value {
        Value::String(text) => json!(fill_text(text, cluster)?),
        Value::Array(items) => {
            let items: Option<Vec<Value>> = items.iter().map(|item| fill(item, cluster)).collect();
            json!(items?)
        }
        Value::Object(members) => {
            let mut members = members.clone();
            for (_, member) in members.iter_mut() {
                *member = fill(member, cluster)?;
            }
            Value::Object(members)
        }
        other => other.clone(),
    })
}

/// A text with the values of a cluster, which may look like anything; `None` where the cluster lacks one.
fn fill_text(text: &str, cluster: &str) -> Option<String> {
    let mut known = values(cluster);
    known.push(("${cluster.name}", cluster));
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        filled.push_str(&rest[..at]);
        let (written, value) = known
            .iter()
            .find(|(written, _)| rest[at..].starts_with(written))?;
        filled.push_str(value);
        rest = &rest[at + written.len()..];
    }
    filled.push_str(rest);
    Some(filled)
}
