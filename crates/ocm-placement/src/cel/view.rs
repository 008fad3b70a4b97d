//! The variable `managedCluster`: the cluster as Go's typed object shows it.
//!
//! Owns: which fields exist. The scheduler makes a map from the typed struct, so empty fields that Go omits
//! are absent regardless of the YAML, and `spec.hubAcceptsClient` is always present
//! (docs/systems/ocm-placement.md#cel-selectors).
//! Flows in: a cluster. Flows out: a CEL value. Must not know: expressions.

use std::collections::HashMap;
use std::sync::Arc;

use apimachinery::Quantity;
use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Map};
use kube_json::Value as Json;

use crate::api::managed_cluster::ManagedCluster;
use crate::api::well_known::CLUSTER_SET_LABEL;
use crate::fleet::Fleet;
use crate::ids::ClusterId;

type Entries = HashMap<Key, Value>;

/// The whole of a cluster.
pub(super) fn view(id: ClusterId, fleet: &Fleet<'_>) -> Value {
    let cluster = fleet.clusters[id];
    let object = cluster.object.value;
    let mut root = Entries::new();
    put(&mut root, "apiVersion", plain(object.get("apiVersion")));
    put(&mut root, "kind", plain(object.get("kind")));
    root.insert(key("metadata"), metadata(object.get("metadata"), cluster, fleet));
    root.insert(key("spec"), spec(object.get("spec"), id, fleet));
    root.insert(key("status"), status(object.get("status"), cluster));
    map(root)
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
    let mut entries = Entries::new();
    let field = |name: &str| {
        value
            .and_then(|value| value.get(name))
            .filter(|value| !value.is_null())
    };
    entries.insert(
        key("hubAcceptsClient"),
        plain(field("hubAcceptsClient")).unwrap_or(Value::Bool(false)),
    );
    if value.is_some_and(|value| !value.is_null()) {
        let seconds = plain(field("leaseDurationSeconds")).unwrap_or(Value::Int(60));
        put(
            &mut entries,
            "leaseDurationSeconds",
            Some(seconds).filter(|seconds| *seconds != Value::Int(0)),
        );
    }
    put(
        &mut entries,
        "managedClusterClientConfigs",
        field("managedClusterClientConfigs").and_then(non_empty),
    );
    let taints: Vec<Value> = fleet.taints[id]
        .iter()
        .map(|own| {
            let mut entries = Entries::new();
            entries.insert(key("key"), Value::from(own.taint.key));
            if !own.taint.value.is_empty() {
                entries.insert(key("value"), Value::from(own.taint.value));
            }
            entries.insert(key("effect"), Value::from(own.taint.effect.as_str()));
            let added = own
                .taint
                .time_added
                .map(|time| Value::from(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
            entries.insert(key("timeAdded"), added.unwrap_or(Value::Null));
            map(entries)
        })
        .collect();
    if !taints.is_empty() {
        entries.insert(key("taints"), Value::List(Arc::new(taints)));
    }
    map(entries)
}

fn status(value: Option<&Json>, cluster: &ManagedCluster<'_>) -> Value {
    let mut entries = Entries::new();
    let field = |name: &str| {
        value
            .and_then(|value| value.get(name))
            .filter(|value| !value.is_null())
    };
    entries.insert(
        key("conditions"),
        plain(field("conditions")).unwrap_or(Value::Null),
    );
    put(&mut entries, "allocatable", quantities(&cluster.allocatable));
    put(&mut entries, "capacity", quantities(&cluster.capacity));
    put(
        &mut entries,
        "managedNamespaces",
        field("managedNamespaces").and_then(non_empty),
    );
    let claims: Vec<Value> = field("clusterClaims")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .map(|claim| map(non_empty_members(Some(claim))))
        .collect();
    if !claims.is_empty() {
        entries.insert(key("clusterClaims"), Value::List(Arc::new(claims)));
    }
    let mut version = Entries::new();
    let kubernetes = field("version").and_then(|version| version.get("kubernetes"));
    put(&mut version, "kubernetes", kubernetes.and_then(non_empty));
    entries.insert(key("version"), map(version));
    map(entries)
}

fn quantities(quantities: &std::collections::BTreeMap<&str, Quantity>) -> Option<Value> {
    if quantities.is_empty() {
        return None;
    }
    let entries = quantities
        .iter()
        .map(|(name, quantity)| (key(name), Value::from(quantity.canonical())));
    Some(map(entries.collect()))
}

fn key(name: &str) -> Key {
    Key::from(name.to_owned())
}

fn map(entries: Entries) -> Value {
    Value::Map(Map {
        map: Arc::new(entries),
    })
}

fn put(entries: &mut Entries, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        entries.insert(key(name), value);
    }
}

fn plain(value: Option<&Json>) -> Option<Value> {
    value.map(converted_whole)
}

/// The members of a mapping that Go writes: it leaves out empty ones.
fn non_empty_members(value: Option<&Json>) -> Entries {
    let mut entries = Entries::new();
    for (name, value) in value.and_then(Json::as_object).into_iter().flatten() {
        put(&mut entries, name, non_empty(value));
    }
    entries
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
