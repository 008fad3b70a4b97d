//! The variable `managedCluster`: the cluster as Go's typed object shows it.
//!
//! The scheduler makes a map from the typed struct, so empty fields that Go omits are absent regardless of the YAML,
//! and `spec.hubAcceptsClient` is always present (docs/systems/ocm-placement.md#cel-selectors).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apimachinery::Quantity;
use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Map};
use kube_json::Value as Json;

use crate::api::CLUSTER_SET_LABEL;
use crate::api::managed_cluster::{ManagedCluster, Taint};
use crate::fleet::Fleet;
use crate::ids::ClusterId;

type Entries = HashMap<Key, Value>;

/// The whole of a cluster.
pub(super) fn view(id: ClusterId, fleet: &Fleet<'_>) -> Value {
    let cluster = fleet.clusters[id];
    let object = cluster.object.value;
    members([
        ("apiVersion", plain(object.get("apiVersion"))),
        ("kind", plain(object.get("kind"))),
        ("metadata", Some(metadata(object.get("metadata"), cluster, fleet))),
        ("spec", Some(spec(object.get("spec"), id, fleet))),
        ("status", Some(status(object.get("status"), cluster))),
    ])
}

fn metadata(value: Option<&Json>, cluster: &ManagedCluster<'_>, fleet: &Fleet<'_>) -> Value {
    let mut entries = non_empty_members(value);
    let mut labels: Entries = cluster
        .labels
        .iter()
        .map(|(name, value)| (key(name), Value::from(*value)))
        .collect();
    if let Some(set) = fleet.label(cluster, CLUSTER_SET_LABEL) {
        labels.insert(key(CLUSTER_SET_LABEL), Value::from(set));
    }
    if !labels.is_empty() {
        entries.insert(key("labels"), map(labels));
    }
    map(entries)
}

fn spec(value: Option<&Json>, id: ClusterId, fleet: &Fleet<'_>) -> Value {
    let field = |name| present(value, name);
    let accepts = plain(field("hubAcceptsClient")).unwrap_or(Value::Bool(false));
    let seconds = || plain(field("leaseDurationSeconds")).unwrap_or(Value::Int(60));
    let seconds = value.filter(|value| !value.is_null()).map(|_| seconds());
    let seconds = seconds.filter(|seconds| *seconds != Value::Int(0));
    let configs = field("managedClusterClientConfigs").and_then(non_empty);
    let taints = fleet.taints[id].iter().map(|own| taint(&own.taint));
    members([
        ("hubAcceptsClient", Some(accepts)),
        ("leaseDurationSeconds", seconds),
        ("managedClusterClientConfigs", configs),
        ("taints", list(taints.collect())),
    ])
}

fn taint(taint: &Taint<'_>) -> Value {
    let added = taint.time_added;
    let added = added.map(|time| Value::from(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
    members([
        ("key", Some(Value::from(taint.key))),
        (
            "value",
            (!taint.value.is_empty()).then(|| Value::from(taint.value)),
        ),
        ("effect", Some(Value::from(<&str>::from(taint.effect)))),
        ("timeAdded", Some(added.unwrap_or(Value::Null))),
    ])
}

fn status(value: Option<&Json>, cluster: &ManagedCluster<'_>) -> Value {
    let field = |name| present(value, name);
    let claims = field("clusterClaims").and_then(Json::as_array);
    let claims = claims.into_iter().flatten();
    let claims = claims.map(|claim| map(non_empty_members(Some(claim))));
    let kubernetes = present(field("version"), "kubernetes").and_then(non_empty);
    let conditions = plain(field("conditions")).unwrap_or(Value::Null);
    let namespaces = field("managedNamespaces").and_then(non_empty);
    members([
        ("conditions", Some(conditions)),
        ("allocatable", quantities(&cluster.allocatable)),
        ("capacity", quantities(&cluster.capacity)),
        ("managedNamespaces", namespaces),
        ("clusterClaims", list(claims.collect())),
        ("version", Some(members([("kubernetes", kubernetes)]))),
    ])
}

/// A field that is there and not null.
fn present<'v>(value: Option<&'v Json>, name: &str) -> Option<&'v Json> {
    value?.get(name).filter(|value| !value.is_null())
}

fn quantities(quantities: &BTreeMap<&str, Quantity>) -> Option<Value> {
    let entries = quantities.iter();
    let entries = entries.map(|(name, quantity)| (key(name), Value::from(quantity.canonical())));
    (!quantities.is_empty()).then(|| map(entries.collect()))
}

fn key(name: &str) -> Key {
    Key::from(name.to_owned())
}

fn map(entries: Entries) -> Value {
    Value::Map(Map {
        map: Arc::new(entries),
    })
}

/// A mapping of those that have a value.
fn members<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let members = members.into_iter();
    map(members
        .filter_map(|(name, value)| Some((key(name), value?)))
        .collect())
}

/// A list, unless it is empty.
fn list(items: Vec<Value>) -> Option<Value> {
    (!items.is_empty()).then(|| Value::List(Arc::new(items)))
}

fn plain(value: Option<&Json>) -> Option<Value> {
    value.map(converted_whole)
}

/// The members of a mapping that Go writes: it leaves out empty ones.
fn non_empty_members(value: Option<&Json>) -> Entries {
    let members = value.and_then(Json::as_object).into_iter().flatten();
    members
        .filter_map(|(name, value)| Some((key(name), non_empty(value)?)))
        .collect()
}

/// A value that Go would not omit.
fn non_empty(value: &Json) -> Option<Value> {
    let empty = match value {
        Json::Null => true,
        Json::Bool(flag) => !flag,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(entries) => entries.is_empty(),
    };
    (!empty).then(|| converted_whole(value))
}

fn converted_whole(value: &Json) -> Value {
    converted(value, &converted_whole)
}

/// A JSON value as a CEL value, its elements by `element`.
pub(super) fn converted(value: &Json, element: &impl Fn(&Json) -> Value) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Value::Int(integer),
            (None, Some(float)) => Value::Float(float),
            (None, None) => Value::Null,
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(element).collect())),
        Json::Object(entries) => map(entries
            .iter()
            .map(|(name, value)| (key(name), element(value)))
            .collect()),
    }
}
