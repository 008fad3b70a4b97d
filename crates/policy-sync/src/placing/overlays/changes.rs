//! What ClusterOverlays come to: each overlay with the fields that it changes, and the clusters with changed objects. Once
//! it is decided where objects go, the findings about overlays without effect.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::{Identity, pointer};
use kube_json::Value;

use crate::api::ocm::GROUP;
use crate::api::route::is_route;
use crate::diagnostic::{Code, DocumentId, Finding, Part, first_names};
use crate::hub::Hub;
use crate::object::{Object, Origin};
use crate::placing::is_among;

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
    /// The number of clusters of the input that the run is for.
    pub cluster_count: usize,
}

impl Overlays {
    /// The fields that the entry of `set` at a place changes: the position of the overlay, the field, and the pointer from
    /// that entry to the place.
    pub fn set_at<'s>(
        &'s self,
        (document, at): (DocumentId, &'s str),
    ) -> impl Iterator<Item = (usize, &'s ChangedField, &'s str)> {
        let overlays = self.overlays.iter().enumerate();
        let here = overlays.filter(move |(_, overlay)| overlay.origin.document == document);
        here.flat_map(move |(position, overlay)| {
            let at = pointer::inside(at, &overlay.origin.pointer);
            overlay
                .fields
                .iter()
                .filter_map(move |field| Some((position, field, pointer::inside(at?, &field.entry)?)))
        })
    }
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
pub fn set(object: &mut Value, pointer: &str, value: Option<&Value>) {
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
            // An item is replaced and never inserted: the positions of the others would change.
            if let Some(item) = object.pointer_mut(pointer) {
                *item = value.clone();
            }
        }
        _ => {}
    }
}

/// Where an overlay says which clusters it is for.
const CLUSTERS: &str = "/spec/clusters";

/// Why a change has no effect on a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// A selector of the overlay does not select it.
    NotSelected,
    /// No cluster gets the object.
    NotShipped,
    /// The cluster does not get the object.
    NotThere,
    /// The hub has the value.
    SameAsHub,
    /// Another overlay has a higher priority.
    Overridden(Identity),
    /// A policy that lives on the cluster overrides the object.
    Local(Identity),
}

/// The findings `overlay/unknown-labels` and `overlay/no-effect`. `is_shipped` is whether any cluster gets an object,
/// `goes_to` whether one does, and `local_winner` the local policy that overrides an object there as a whole.
pub fn effects(
    overlays: &Overlays,
    hub: &Hub,
    is_shipped: &dyn Fn(&Identity) -> bool,
    goes_to: &dyn Fn(&Identity, &str) -> bool,
    local_winner: &dyn Fn(&Identity, &str) -> Option<Identity>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for overlay in &overlays.overlays {
        let effects = Effects {
            hub,
            overlay,
            is_shipped,
            goes_to,
            local_winner,
        };
        findings.extend(effects.unknown_labels());
        // Of an overlay with a mistake, the part that would have had an effect may be missing.
        if overlay.is_whole {
            findings.extend(effects.selects_none());
            let changes = overlay.fields.chunk_by(|one, other| one.change == other.change);
            findings.extend(changes.flat_map(|change| effects.of_change(change)));
        }
    }
    findings
}

struct Effects<'o> {
    hub: &'o Hub,
    overlay: &'o Overlay,
    is_shipped: &'o dyn Fn(&Identity) -> bool,
    goes_to: &'o dyn Fn(&Identity, &str) -> bool,
    local_winner: &'o dyn Fn(&Identity, &str) -> Option<Identity>,
}

impl Effects<'_> {
    /// Clusters without a ManagedCluster that get what the overlay may or may not change. Its selectors or its values need
    /// one: with selectors, only clusters with a ManagedCluster have values.
    fn unknown_labels(&self) -> Option<Finding> {
        let unknown = &self.overlay.unknown;
        let mut clusters = BTreeSet::new();
        let mut first = None;
        for field in &self.overlay.fields {
            // Only clusters that get the object: for the others, it is all the same what the overlay says.
            for cluster in unknown.iter().chain(field.unknown.iter()) {
                if !clusters.contains(cluster) && (self.goes_to)(&field.object, cluster) {
                    clusters.insert(cluster);
                    first = first.or(Some(field));
                }
            }
        }
        let field = first?;
        let (get, have) = match clusters.len() {
            1 => ("it gets", "has"),
            _ => ("they get", "have"),
        };
        let (names, object) = (first_names(&clusters, MOST_NAMES), &field.object);
        let why = format!("but those of {names} are unknown: {get} {object} and {have} no ManagedCluster");
        let finding = |pointer: &str, reads: &str| {
            self.new_finding(Code::OVERLAY_UNKNOWN_LABELS, pointer, &format!("{reads}, {why}"))
        };
        Some(if unknown.is_empty() {
            let value = [&field.entry, "/value"].concat();
            let help = "add the ManagedCluster, or leave the cluster out of the overlay";
            finding(&value, "uses values of its clusters").help(help)
        } else {
            let help = "add the ManagedCluster, or select by `names`";
            finding(CLUSTERS, "selects by labels").help(help)
        })
    }

    /// Where one of the changes of the overlay has no effect: on clusters that it names, by the reason, or on none of those
    /// that its selectors choose. These may choose some where it has none, but not only such.
    fn of_change(&self, change: &[ChangedField]) -> Vec<Finding> {
        let overlay = self.overlay;
        let mut without: BTreeMap<Reason, Vec<(&str, &str)>> = BTreeMap::new();
        if overlay.named.is_empty() && overlay.applied_on.len() == overlay.clusters.len() {
            let clusters = overlay.clusters.iter();
            let reasons = clusters.map(|cluster| Some((self.without_effect(change, cluster)?, Vec::new())));
            // One cluster where it has an effect is enough.
            without = reasons.collect::<Option<_>>().unwrap_or_default();
            // Of several reasons, the one where the object is says more.
            let is_one = without.len() == 1;
            without.retain(|reason, _| is_one || *reason != Reason::NotThere);
            without = without.pop_first().into_iter().collect();
        }
        for (name, pointer) in &overlay.named {
            let reason = if is_among(&overlay.applied_on, name) {
                self.without_effect(change, name)
            } else {
                self.is_left_out(name).then_some(Reason::NotSelected)
            };
            if let Some(reason) = reason {
                without.entry(reason).or_default().push((name, pointer));
            }
        }
        let findings = without.iter();
        let findings = findings.filter_map(|(reason, named)| self.finding(change, reason, named));
        findings.collect()
    }

    /// Whether the selectors leave out a cluster that the overlay names.
    fn is_left_out(&self, name: &str) -> bool {
        let managed = self.hub.objects.find(GROUP, "ManagedCluster", None, name);
        !is_among(&self.overlay.clusters, name) && managed.is_some()
    }

    /// An overlay without names whose selectors no cluster matches.
    fn selects_none(&self) -> Option<Finding> {
        let overlay = self.overlay;
        if !(overlay.named.is_empty() && overlay.clusters.is_empty() && overlay.unknown.is_empty()) {
            return None;
        }
        let finding = self.new_finding(Code::OVERLAY_NO_EFFECT, CLUSTERS, "selects no cluster");
        Some(finding.help("correct the selectors, or remove the overlay"))
    }

    /// Why nothing remains of a change on a cluster, if nothing does. A field without a value there is an error already.
    fn without_effect(&self, change: &[ChangedField], cluster: &str) -> Option<Reason> {
        let reasons = change.iter().map(|field| self.reason(field, cluster));
        reasons.collect::<Option<Vec<_>>>()?.into_iter().next()
    }

    fn reason(&self, field: &ChangedField, cluster: &str) -> Option<Reason> {
        let local = || (self.local_winner)(&field.object, cluster).map(Reason::Local);
        if !(self.goes_to)(&field.object, cluster) {
            // A policy that is overridden as a whole is not shipped.
            let is_shipped = (self.is_shipped)(&field.object);
            let reason = if is_shipped {
                Reason::NotThere
            } else {
                Reason::NotShipped
            };
            Some(local().unwrap_or(reason))
        } else if let Some(by) = field.overridden.get(cluster) {
            Some(Reason::Overridden(by.clone()))
        } else if is_among(&field.same_as_hub, cluster) {
            Some(Reason::SameAsHub)
        } else {
            local()
        }
    }

    /// That a change has no effect on clusters that the overlay names, or on any if it names none.
    fn finding(&self, change: &[ChangedField], reason: &Reason, named: &[(&str, &str)]) -> Option<Finding> {
        let first = change.first()?;
        let object = &first.object;
        let clusters = first_names(named.iter().map(|(name, _)| name), MOST_NAMES);
        let mut message = "changes nothing".to_owned();
        // Another change of the overlay may have an effect.
        if self.overlay.fields.len() > change.len() {
            message.push_str(&format!(" in {object}"));
        }
        let (mut pointer, mut help) = (CLUSTERS, "remove the change, or select other clusters");
        if let Some((_, name)) = named.first() {
            message.push_str(&format!(" on {clusters}"));
            (pointer, help) = (name, "remove the change, or the names of these clusters");
        }
        let why = match (reason, named.len()) {
            (Reason::NotSelected, _) => "its selectors do not match".to_owned(),
            (Reason::NotShipped, _) if is_route(&object.group_kind.group, &object.group_kind.kind) => {
                format!("{object} is not shipped: another tool delivers it")
            }
            (Reason::NotShipped, _) => format!("{object} is not shipped"),
            (Reason::NotThere, 0) => format!("no cluster that it selects gets {object}"),
            (Reason::NotThere, 1) => format!("{clusters} does not get {object}"),
            (Reason::NotThere, _) => format!("they do not get {object}"),
            (Reason::SameAsHub, _) => "the hub has this value already".to_owned(),
            (Reason::Overridden(by), _) => format!("the priority of `{}` is higher", by.key()),
            (Reason::Local(policy), _) => format!("a local policy, {}, overrides it", policy.key()),
        };
        let finding = self.new_finding(Code::OVERLAY_NO_EFFECT, pointer, &format!("{message}: {why}"));
        let change = self.overlay.origin.place(&first.entry, Part::Value);
        Some(finding.related(change, "this change").help(help))
    }

    /// A finding at a pointer in the overlay. The message goes on behind the name of the overlay.
    fn new_finding(&self, code: Code, pointer: &str, message: &str) -> Finding {
        let Overlay { identity, origin, .. } = self.overlay;
        let message = format!("{identity} {message}");
        Finding::new(code, origin.place(pointer, Part::Value), message)
    }
}
