//! Splits a text into the objects inside it.
//!
//! Owns: what pairs the objects of two sides ([`ObjectKey`]), and taking a work apart. Flows in: a text of a side.
//! Flows out: objects. Must not know: the other side.

use std::collections::BTreeMap;

use kube_json::{Map, Value};
use serde::Serialize;

use super::side::Body;
use apimachinery::{ApiVersion, Identity};

/// The identity that pairs the objects of both sides. The version is not part of it, so a new version of an object is a
/// change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ObjectKey {
    /// Whether it is the work around the objects and not one of them; sorts last.
    #[serde(skip)]
    pub is_work: bool,
    /// API group, `""` for core.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace, `""` for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// 0, unless one work carries one identity several times, which none of ours does.
    #[serde(skip)]
    pub ordinal: u32,
}

impl std::fmt::Display for ObjectKey {
    /// For people: `Gateway gateways/prod-web`.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(formatter, "{}/", self.namespace)?;
        }
        formatter.write_str(&self.name)
    }
}

impl From<Identity> for ObjectKey {
    fn from(identity: Identity) -> Self {
        Self {
            is_work: false,
            group: identity.group_kind.group,
            kind: identity.group_kind.kind,
            namespace: identity.namespace.unwrap_or_default(),
            name: identity.name,
            ordinal: 0,
        }
    }
}

/// The objects of one text, and the work around them.
pub(super) type Objects = BTreeMap<ObjectKey, Value>;

/// Stands where the cluster's name would: any scalar does, it is dropped again.
const PLACEHOLDER: &str = "x";

/// Reads a text once for all clusters that share it.
pub(super) fn objects(body: &Body<'_>) -> Result<Objects, kube_yaml::Error> {
    let limits = kube_yaml::Limits::default();
    let value = match body.after {
        Some(after) => kube_yaml::read_document(&[body.before, PLACEHOLDER, after].concat(), &limits)?,
        None => kube_yaml::read_document(body.before, &limits)?,
    };
    Ok(take_apart(value))
}

/// A ManifestWork or ManifestWorkReplicaSet as its manifests and what is left of it; anything else as one object.
fn take_apart(mut value: Value) -> Objects {
    let mut objects = Objects::new();
    let spec = match value.get("kind").and_then(Value::as_str) {
        Some("ManifestWork") => Some("/spec"),
        Some("ManifestWorkReplicaSet") => Some("/spec/manifestWorkTemplate"),
        _ => None,
    };
    if let Some(spec) = spec {
        let manifests = value
            .pointer_mut(spec)
            .and_then(Value::as_object_mut)
            .and_then(|spec| spec.remove("workload"))
            .and_then(|mut workload| workload.get_mut("manifests").map(Value::take));
        // The namespace is the cluster: it tells nothing, and differs everywhere.
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("namespace");
        }
        if let Some(Value::Array(manifests)) = manifests {
            for manifest in manifests {
                insert(&mut objects, manifest, false);
            }
        }
        insert(&mut objects, value, true);
    } else if !value.is_null() {
        insert(&mut objects, value, false);
    }
    objects
}

fn insert(objects: &mut Objects, value: Value, is_work: bool) {
    let none = Map::new();
    let root = value.as_object().unwrap_or(&none);
    let text = |map: &Map, key: &str| {
        map.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let metadata = root.get("metadata").and_then(Value::as_object).unwrap_or(&none);
    let mut key = ObjectKey {
        is_work,
        group: ApiVersion::parse(&text(root, "apiVersion")).group,
        kind: text(root, "kind"),
        namespace: text(metadata, "namespace"),
        name: text(metadata, "name"),
        ordinal: 0,
    };
    while objects.contains_key(&key) {
        key.ordinal = key.ordinal.saturating_add(1);
    }
    objects.insert(key, value);
}
