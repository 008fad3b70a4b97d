//! What ClusterOverlays come to: each overlay with the fields that it changes, and the clusters with changed objects.
//!
//! Owns: these types. Flows in: nothing. Flows out: them. Must not know: how overlays are read and applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::{Identity, pointer};
use kube_json::Value;

use crate::object::{Object, Origin};

/// At most so many clusters are named in a finding.
pub(super) const MOST_NAMES: usize = 10;

/// What a change costs on each cluster, and with each other change that it meets.
pub(super) const STEPS_PER_CHANGE: u64 = 2;

/// A sorted list of clusters, which all fields of an entry share.
pub type ClusterNames = Arc<[String]>;

/// Every ClusterOverlay of a hub, and what it changes where. None if applying them takes more work than a run allows.
#[derive(Debug, Default)]
pub struct Overlays {
    /// By their identities.
    pub overlays: Vec<Overlay>,
    /// The clusters with changed objects, by their first cluster.
    pub classes: Vec<OverlaidClusters>,
}

/// A ClusterOverlay.
#[derive(Debug)]
pub struct Overlay {
    /// The overlay.
    pub identity: Identity,
    /// Where it is.
    pub origin: Origin,
    /// The higher one wins.
    pub priority: i32,
    /// The clusters that it selects, of the whole fleet.
    pub clusters: ClusterNames,
    /// The clusters that it names, each with the pointer of the name in the overlay, in its order.
    pub named: Vec<(String, String)>,
    /// Those of them that the run is for.
    pub applied_on: ClusterNames,
    /// Clusters without a ManagedCluster, which its selectors may or may not select.
    pub unknown: ClusterNames,
    /// Whether nothing is wrong with it: only then does it say something that it lacks a cluster or a change.
    pub is_whole: bool,
    /// What it changes: in the order of its entries, then of the objects.
    pub fields: Vec<ChangedField>,
}

/// One field of one object that an overlay changes.
#[derive(Debug)]
pub struct ChangedField {
    /// The object.
    pub object: Identity,
    /// The path of the field, as `diff` prints it.
    pub path: String,
    /// Its pointer in the object.
    pub pointer: String,
    /// The value on the hub; nothing if the overlay adds the field.
    pub hub: Option<Value>,
    /// Each value that the overlay gives the field, regardless of what overrides it.
    pub here: Arc<[ValueHere]>,
    /// The entry of `changes` that it belongs to.
    pub change: usize,
    /// The pointer of the entry of `set`, in the overlay.
    pub entry: String,
    /// Clusters without a ManagedCluster, whose value is therefore unknown.
    pub unknown: ClusterNames,
    /// The clusters where a higher priority overrides it, with the overlay that does.
    pub overridden: BTreeMap<String, Identity>,
    /// The clusters whose value is that of the hub.
    pub same_as_hub: ClusterNames,
}

/// A value of a field.
#[derive(Debug, Clone)]
pub struct ValueHere {
    /// Nothing if the field is removed.
    pub value: Option<Value>,
    /// The clusters that have it.
    pub clusters: ClusterNames,
}

/// Clusters that get the same changed objects.
#[derive(Debug)]
pub struct OverlaidClusters {
    /// The clusters.
    pub clusters: Vec<String>,
    /// The objects that differ from those of the hub, by identity.
    pub objects: Vec<Arc<Object>>,
    /// The overlays that change them, by their positions.
    pub overlays: Vec<usize>,
}

/// Sets the field at a pointer whose parent exists, or removes it.
pub(super) fn set(object: &mut Value, pointer: &str, value: Option<&Value>) {
    let Some((parent, token)) = pointer.rsplit_once('/') else {
        return;
    };
    match (object.pointer_mut(parent), value) {
        (Some(Value::Object(members)), Some(value)) => {
            members.insert(&*pointer::unescape(token), value.clone());
        }
        (Some(Value::Object(members)), None) => {
            members.remove(&pointer::unescape(token));
        }
        (Some(Value::Array(_)), Some(value)) => {
            if let Some(item) = object.pointer_mut(pointer) {
                *item = value.clone();
            }
        }
        _ => {}
    }
}
