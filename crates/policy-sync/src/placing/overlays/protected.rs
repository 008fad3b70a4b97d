//! The parts of an object that no ClusterOverlay may change: which object it is, where it goes, what it is attached to.
//!
//! Owns: the list of these parts, and the finding about a change of one. Flows in: objects before and after a change.
//! Flows out: the part that differs. Must not know: overlays and clusters.
//!
//! All projections of a hub have the same objects, in the same order, because nothing here can differ.

use std::borrow::Cow;

use apimachinery::pointer;
use kube_json::Value;

use crate::api::downstream::POLICY_SYNCED;
use crate::api::gateway::{GROUP, LISTENER_SETS};
use crate::object::Object;
use crate::object::well_known::{GATEWAY_CLUSTERS, ORIGIN_CREATION, POLICIES_SYNCED};

/// Annotations that decide what the hub is, or that syncing writes.
const RESERVED: [&str; 4] = [GATEWAY_CLUSTERS, ORIGIN_CREATION, POLICIES_SYNCED, POLICY_SYNCED];
/// Prefixes of such annotations: ours, and that of the annotation by which an object is dropped.
const RESERVED_PREFIXES: [&str; 2] = ["spokewright.dev/", "config.kubernetes.io/"];

/// Why a part cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// `apiVersion` and `kind`.
    Kind,
    /// `metadata`, except annotations.
    Metadata,
    /// An annotation that is read from the hub, or that syncing writes.
    Annotation,
    /// `status`.
    Status,
    /// The targets of a policy.
    Targets,
    /// The parents of a route or a ListenerSet.
    Parents,
    /// The class of a Gateway.
    Class,
    /// The names of listeners.
    Listeners,
}

impl Part {
    /// Why an overlay cannot change it, to be read after `it`.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Kind => "decides which object it is",
            Self::Metadata => "decides which object it is and where it goes",
            Self::Annotation => "is for the hub, or written by spokewright",
            Self::Status => "is written by a controller",
            Self::Targets => "decides what the policy is attached to",
            Self::Parents => "decides what the object is attached to",
            Self::Class => "decides where the Gateway goes",
            Self::Listeners => "is how routes and policies refer to a listener",
        }
    }

    /// What to do instead.
    pub(super) fn help(self, object: &Object) -> String {
        match self {
            Self::Kind | Self::Parents | Self::Class => format!("write a second {}", object.kind),
            Self::Metadata | Self::Annotation => {
                "change the object itself: it is the same on all clusters".to_owned()
            }
            Self::Status => "remove this entry".to_owned(),
            Self::Targets => "write a second policy".to_owned(),
            Self::Listeners => "keep the names of the listeners and their order".to_owned(),
        }
    }
}

/// The part that a pointer is or leads into, in an object of this kind.
pub(super) fn part_at(object: &Value, pointer: &str) -> Option<Part> {
    let tokens: Vec<Cow<'_, str>> = pointer::tokens(pointer).collect();
    let tokens: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
    match tokens.as_slice() {
        ["apiVersion" | "kind", ..] => Some(Part::Kind),
        ["status", ..] => Some(Part::Status),
        ["metadata", "annotations", key, ..] => is_reserved(key).then_some(Part::Annotation),
        ["metadata", "annotations"] => None,
        ["metadata", _, ..] => Some(Part::Metadata),
        ["spec", "targetRef" | "targetRefs" | "targetSelectors", ..] => Some(Part::Targets),
        ["spec", "parentRef" | "parentRefs", ..] => Some(Part::Parents),
        ["spec", "gatewayClassName", ..] => is_gateway(object).then_some(Part::Class),
        ["spec", "listeners", _, "name", ..] => has_listeners(object).then_some(Part::Listeners),
        _ => None,
    }
}

/// Each part of an object that no overlay may change: its pointer, and its value. Two objects of which these are equal are
/// the same object, go to the same clusters, and are attached to the same things.
pub(super) fn protected(object: &Value) -> Vec<(String, Part, Value)> {
    let members = ["", "/metadata", "/metadata/annotations", "/spec"]
        .into_iter()
        .flat_map(|parent| {
            let members = object.pointer(parent).and_then(Value::as_object);
            members.into_iter().flatten().filter_map(move |(key, value)| {
                let pointer = pointer::child(parent, key);
                let part = part_at(object, &pointer)?;
                Some((pointer, part, value.clone()))
            })
        });
    let listeners = object.pointer("/spec/listeners").and_then(Value::as_array);
    let listeners = listeners.filter(|_| has_listeners(object)).map(|listeners| {
        let name = |listener: &Value| listener.get("name").cloned().unwrap_or_default();
        let names = Value::Array(listeners.iter().map(name).collect());
        ("/spec/listeners".to_owned(), Part::Listeners, names)
    });
    members.chain(listeners).collect()
}

/// The first part that differs: its pointer, and why it cannot.
pub(super) fn first_difference(
    before: &[(String, Part, Value)],
    after: &[(String, Part, Value)],
) -> Option<(String, Part)> {
    let lacks = |these: &[(String, Part, Value)], one: &(String, Part, Value)| !these.contains(one);
    let lost = before.iter().find(|part| lacks(after, part));
    let (pointer, part, _) = lost.or_else(|| after.iter().find(|part| lacks(before, part)))?;
    Some((pointer.clone(), *part))
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
