//! The parts of an object that no ClusterOverlay may change: which object it is, where it goes, what it is attached to.
//!
//! Owns: the list of these parts, and the finding about a change of one. Flows in: objects before and after a change.
//! Flows out: the part that differs. Must not know: overlays and clusters.
//!
//! All projections of a hub have the same objects, in the same order, because nothing here can differ.

use std::borrow::Cow;

use apimachinery::pointer;
use kube_json::Value;

use super::changes::set;
use crate::api::downstream::POLICY_SYNCED;
use crate::api::gateway::{GROUP, LISTENER_SETS};
use crate::object::well_known::{GATEWAY_CLUSTERS, ORIGIN_CREATION, POLICIES_SYNCED};

/// Annotations that decide what the hub is, or that syncing writes.
const RESERVED: [&str; 4] = [GATEWAY_CLUSTERS, ORIGIN_CREATION, POLICIES_SYNCED, POLICY_SYNCED];
/// Prefixes of such annotations: ours, and that of the annotation by which an object is dropped.
const RESERVED_PREFIXES: [&str; 2] = ["spokewright.dev/", "config.kubernetes.io/"];

/// Why a part cannot be changed, to be read after `it`; and what to do instead.
pub(super) type Part = (&'static str, &'static str);

const KIND: Part = ("decides which object it is", "write a second object");
const STATUS: Part = ("is written by a controller", "remove this entry");
const METADATA: Part = ("decides which object it is and where it goes", ITSELF);
const ANNOTATION: Part = ("is for the hub, or written by spokewright", ITSELF);
const TARGETS: Part = ("decides what the policy is attached to", "write a second policy");
const PARENTS: Part = ("decides what the object is attached to", "write a second object");
const CLASS: Part = ("decides where the Gateway goes", "write a second Gateway");
const LISTENERS: Part = (
    "is how routes and policies refer to a listener",
    "keep the names of the listeners and their order",
);
const ITSELF: &str = "change the object itself: it is the same on all clusters";

/// The first part that one of these values at a pointer would change: its pointer, and why it cannot change.
pub(super) fn touched<'v>(
    object: &Value,
    pointer: &str,
    mut values: impl Iterator<Item = Option<&'v Value>>,
) -> Option<(String, Part)> {
    if let Some(part) = part_at(object, pointer) {
        return Some((pointer.to_owned(), part));
    }
    if !may_contain_parts(pointer) {
        return None;
    }
    let before = parts(object);
    values.find_map(|value| {
        let mut changed = object.clone();
        set(&mut changed, pointer, value);
        let after = parts(&changed);
        let lost = before.iter().find(|part| !after.contains(part));
        let (pointer, part, _) = lost.or_else(|| after.iter().find(|part| !before.contains(part)))?;
        Some((pointer.clone(), *part))
    })
}

/// The part that a pointer is or leads into, in an object of this kind.
fn part_at(object: &Value, pointer: &str) -> Option<Part> {
    let tokens: Vec<Cow<'_, str>> = pointer::tokens(pointer).collect();
    let tokens: Vec<&str> = tokens.iter().map(Cow::as_ref).collect();
    match tokens.as_slice() {
        ["apiVersion" | "kind", ..] => Some(KIND),
        ["status", ..] => Some(STATUS),
        ["metadata", "annotations", key, ..] => is_reserved(key).then_some(ANNOTATION),
        ["metadata", "annotations"] => None,
        ["metadata", _, ..] => Some(METADATA),
        ["spec", "targetRef" | "targetRefs" | "targetSelectors", ..] => Some(TARGETS),
        ["spec", "parentRef" | "parentRefs", ..] => Some(PARENTS),
        ["spec", "gatewayClassName", ..] => is_gateway(object).then_some(CLASS),
        ["spec", "listeners", _, "name", ..] => has_listeners(object).then_some(LISTENERS),
        _ => None,
    }
}

/// Each part of an object that no overlay may change: its pointer, and its value. Two objects of which these are equal are
/// the same object, go to the same clusters, and are attached to the same things.
fn parts(object: &Value) -> Vec<(String, Part, Value)> {
    let mut parts = Vec::new();
    for parent in ["", "/metadata", "/metadata/annotations", "/spec"] {
        let members = object.pointer(parent).and_then(Value::as_object);
        for (key, value) in members.into_iter().flatten() {
            let pointer = pointer::child(parent, key);
            let part = part_at(object, &pointer);
            parts.extend(part.map(|part| (pointer, part, value.clone())));
        }
    }
    let listeners = object.pointer("/spec/listeners").and_then(Value::as_array);
    if let Some(listeners) = listeners.filter(|_| has_listeners(object)) {
        let name = |listener: &Value| listener.get("name").cloned().unwrap_or_default();
        let names = Value::Array(listeners.iter().map(name).collect());
        parts.push(("/spec/listeners".to_owned(), LISTENERS, names));
    }
    parts
}

/// Whether a field may have protected parts inside it, although it is none itself.
pub(super) fn may_contain_parts(pointer: &str) -> bool {
    match pointer.strip_prefix("/spec/listeners/") {
        Some(listener) => !listener.contains('/'),
        None => ["/metadata", "/metadata/annotations", "/spec", "/spec/listeners"].contains(&pointer),
    }
}

fn is_reserved(annotation: &str) -> bool {
    let mut prefixes = RESERVED_PREFIXES.iter();
    RESERVED.contains(&annotation) || prefixes.any(|prefix| annotation.starts_with(prefix))
}

fn group_and_kind(object: &Value) -> Option<(&str, &str)> {
    let (group, _) = object.get("apiVersion")?.as_str()?.rsplit_once('/')?;
    Some((group, object.get("kind")?.as_str()?))
}

fn is_gateway(object: &Value) -> bool {
    group_and_kind(object) == Some((GROUP, "Gateway"))
}

fn has_listeners(object: &Value) -> bool {
    is_gateway(object) || group_and_kind(object).is_some_and(|kind| LISTENER_SETS.contains(&kind))
}
