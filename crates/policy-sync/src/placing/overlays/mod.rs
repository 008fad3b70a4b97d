//! ClusterOverlays: which clusters each of them selects, what it changes there, and what several come to.
//!
//! Owns: the changed objects of each cluster, and the findings about overlays that do not depend on what is attached.
//! Flows in: the hub. Flows out: [`Overlays`]: clusters that get the same changed objects, and every change of a field.
//! Must not know: where objects go.
//!
//! All pointers are those of the object as the hub has it, and no change affects which objects there are
//! ([`protected`]). So neither the order of overlays nor that of files decides anything.

mod applying;
mod effects;
mod fleet;
mod meeting;
mod protected;
mod reading;

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::{Identity, Work, pointer};
use kube_json::Value;

use self::applying::Applying;
pub use self::effects::effects;
use self::fleet::Fleet;
use self::reading::Reader;
use crate::api::overlay;
use crate::api::own_kinds::{GROUP, OVERLAY};
use crate::diagnostic::{Finding, Findings, Place};
use crate::hub::Hub;
use crate::object::{Object, Origin};

/// At most so many clusters are named in a finding.
const MOST_NAMES: usize = 10;

/// What a change costs on each cluster, and with each other change that it meets.
const STEPS_PER_CHANGE: u64 = 2;

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

impl Overlays {
    /// Reads all overlays of a hub, and applies them for the clusters that `admits` accepts. Names of clusters are judged
    /// against the whole fleet.
    pub fn new(hub: &Hub, admits: impl Fn(&str) -> bool, findings: &mut Findings) -> Self {
        if hub.objects.of_kind(GROUP, OVERLAY).is_empty() {
            return Self::default();
        }
        let fleet = Fleet::new(hub, admits);
        Self::read_and_apply(hub, &fleet, findings).unwrap_or_else(|| {
            findings.push(too_costly());
            Self::default()
        })
    }

    /// Nothing if it takes more work than a run allows.
    fn read_and_apply(hub: &Hub, fleet: &Fleet<'_>, findings: &mut Findings) -> Option<Self> {
        let work = Work::default();
        let reader = Reader::new(hub, fleet, &work);
        let mut overlays = Vec::new();
        for object in hub.objects.of_kind(GROUP, OVERLAY) {
            let (written, wrong) = overlay::read(object);
            findings.extend(wrong);
            if let Some(written) = written {
                overlays.push(reader.read(object, &written, findings)?);
            }
        }
        let mut applying = Applying::new(hub, &overlays, &work);
        let classes = applying.classes()?;
        findings.extend(applying.conflicts());
        for ((overlay, field), clusters) in applying.overridden {
            let overlay = overlays.get_mut(overlay);
            if let Some(field) = overlay.and_then(|overlay| overlay.fields.get_mut(field)) {
                field.overridden = clusters;
            }
        }
        Some(Self { overlays, classes })
    }
}

fn too_costly() -> Finding {
    let consequence = "no overlay is applied";
    Finding::too_costly("applying all ClusterOverlays", Place::Run, consequence)
        .help("select fewer clusters or objects, or use fewer values that differ from cluster to cluster")
}

/// Sets the field at a pointer whose parent exists, or removes it.
fn set(object: &mut Value, pointer: &str, value: Option<&Value>) {
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
