//! The ReferenceGrants that shipped objects need on their clusters, and references to other namespaces that none permits.
//!
//! Controllers on the clusters ignore a reference that nothing permits (docs/systems/gateway-api.md#references). A grant of
//! the hub is shipped with what needs it, so the clusters' own grants only matter if the hub has none. Secrets of listeners
//! are checked where they are copied.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use apimachinery::{GroupKind, Identity, core_group};
use kube_json::{Text, Value, json};

use super::copies::PlacedGateway;
use super::on_spokes::OnSpokes;
use super::reference_fields::{Needed, certificates, needed_by};
use super::synced_kinds::ChosenObjects;
use super::synced_object::{SyncedObject, SyncedTarget};
use super::variants::{Copy, Variant};
use crate::api::downstream::{NAMESPACE_PREFIX, is_downstream};
use crate::api::gateway::{GROUP, is_listener_set};
use crate::api::params::SyncedResource;
use crate::diagnostic::{Code, Finding, Findings, Place, Severity, fitting_names};
use crate::hub::{Grants, Hub, Objects, OurGatewayId, Table};
use crate::object::Object;
use crate::policy::referrer;

/// The resource of grants that no parameters list: they go with what needs them.
static RESOURCE: LazyLock<SyncedResource> = LazyLock::new(|| SyncedResource {
    group: GROUP.to_owned(),
    version: "v1beta1".to_owned(),
    resource: "referencegrants".to_owned(),
    kind: "ReferenceGrant".to_owned(),
    feedback: Vec::new(),
    chosen: None,
});

/// Group, kind, and namespace of the hub of what refers to something.
pub(super) type From<'o> = (&'o str, &'o str, &'o str);

/// The grants that are needed, each with the Gateways that it goes with.
type Needs<'a> = BTreeMap<(&'a str, &'a str), (&'a Object, BTreeSet<OurGatewayId>)>;

/// Adds the grants that the synced objects and our Gateways need, and makes those that are chosen say what they mean on
/// the clusters, under a name that no grant of a cluster has. With `copied`, the Secrets of listeners go along with them and need no grant.
pub fn add_grants<'a>(
    grants: &Grants<'a>,
    gateways: &Table<OurGatewayId, PlacedGateway<'a>>,
    chosen: &ChosenObjects<'a>,
    (synced, variants): (&mut Vec<SyncedObject<'a>>, &mut Vec<Vec<Variant>>),
    (hub, copied): (&Hub, bool),
) {
    if grants.is_empty() {
        return;
    }
    let mut needs = Needs::new();
    let mut add = |from: From<'_>, (object, own): (&Object, &str), gateways: &[OurGatewayId]| {
        // What goes along with a Gateway is in its namespace.
        let is_beside = |to: &&Identity| {
            let goes_beside = |gateway: &OurGatewayId| chosen.goes_beside(to, *gateway);
            object.is(GROUP, "Gateway") && gateways.iter().all(goes_beside)
        };
        let needed = needed_by(object, Some(own));
        let crossing = needed.iter().filter_map(|(needed, _)| needed.crossing(own));
        let certificates = certificates(object, None);
        let has_listeners = object.is(GROUP, "Gateway") || is_listener_set(from.0, from.1);
        let certificates = certificates.iter().filter(|_| has_listeners && !copied);
        let all = crossing
            .filter(|to| !is_beside(to))
            .chain(certificates.map(|(to, _)| to));
        for grant in all.flat_map(|to| grants.permitting(from, to)) {
            let key = (grant.namespace_or_empty(), grant.name.as_str());
            let (_, known) = needs.entry(key).or_insert_with(|| (grant, BTreeSet::new()));
            known.extend(gateways);
        }
    };
    // By group, kind, and namespace of the hub: the namespaces on the clusters.
    let mut places: BTreeMap<From<'a>, BTreeSet<Text>> = BTreeMap::new();
    for (id, placed) in gateways.iter() {
        let object = placed.gateway.object;
        let there = placed.namespace().map(Text::from);
        places.entry(referrer(object)).or_default().extend(there);
        add(referrer(object), (object, object.namespace_or_empty()), &[id]);
    }
    for (synced, variants) in synced.iter().zip(&*variants) {
        let from = referrer(synced.object);
        for variant in variants {
            for Copy { object, .. } in &variant.copies {
                places.entry(from).or_default().extend(object.namespace.clone());
                add(from, (object, object.namespace_or_empty()), &variant.gateways);
            }
        }
    }
    for (object, gateways) in needs.into_values() {
        let gateways = gateways.into_iter().collect();
        let target = SyncedTarget::new(gateways, String::new(), Some(object.namespace_or_empty()));
        match synced.iter_mut().find(|known| std::ptr::eq(known.object, object)) {
            Some(known) => known.targets.push(target),
            None => {
                synced.push(SyncedObject::other(object, &RESOURCE, vec![target]));
                variants.push(Vec::new());
            }
        }
    }
    for (synced, variants) in synced.iter_mut().zip(variants) {
        if synced.object.is(GROUP, "ReferenceGrant") {
            synced.value = Cow::Owned(on_clusters(synced.object, &places));
            *variants = super::variants(synced, gateways);
            // One of that name lives on a cluster, and goes on permitting what it does: the copy gets a name of its own.
            let copies = variants.iter_mut().flat_map(|variant| &mut variant.copies);
            for copy in copies.filter(|_| lives_somewhere(hub, synced.object)) {
                let name = format!("{NAMESPACE_PREFIX}{}", copy.object.name);
                if let Some(field) = copy.object.value.pointer_mut("/metadata/name") {
                    *field = json!(name);
                }
                copy.object.name = name.into();
            }
        }
    }
}

fn lives_somewhere(hub: &Hub, grant: &Object) -> bool {
    let namespace = grant.namespace.as_deref();
    let found = |local: &Objects| {
        let found = local.find(GROUP, "ReferenceGrant", namespace, &grant.name);
        found.is_some_and(|found| !is_downstream(found))
    };
    hub.spokes.values().any(found)
}

/// A grant that permits the copies what it permits the objects of the hub.
fn on_clusters(grant: &Object, places: &BTreeMap<From<'_>, BTreeSet<Text>>) -> Value {
    let mut value = grant.value.clone();
    let entries = value.pointer_mut("/spec/from").and_then(Value::as_array_mut);
    let Some(entries) = entries else { return value };
    let mut there: Vec<Value> = Vec::new();
    for entry in entries.iter() {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let from = (core_group(text("group")), text("kind"), text("namespace"));
        let as_written = BTreeSet::from([Text::from(from.2)]);
        for namespace in places.get(&from).unwrap_or(&as_written) {
            let mut moved = entry.clone();
            if let Some(fields) = moved.as_object_mut() {
                fields.insert("namespace", json!(namespace.as_str()));
            }
            if !there.contains(&moved) {
                there.push(moved);
            }
        }
    }
    *entries = there;
    value
}

/// So many more places of one finding help; more hide it.
const MOST_PLACES: usize = 5;
/// Columns for the names of clusters in a message.
pub(super) const CLUSTERS_WIDTH: usize = 40;

/// Points at other references to what is missing, and counts those that are too many: `3 more need it`.
pub(super) fn with_others(
    finding: Finding,
    mut others: impl Iterator<Item = (Place, String)>,
    what_more_do: &str,
) -> Finding {
    let first = others.by_ref().take(MOST_PLACES);
    let finding = first.fold(finding, |finding, (place, text)| finding.related(place, text));
    match others.count() {
        0 => finding,
        more => finding.note(format!("{more} more {what_more_do}")),
    }
}

/// The grants that are nowhere, each with the references that need it.
pub(super) struct MissingGrants<'g, 'a> {
    grants: &'g Grants<'a>,
    /// By what refers, and by the namespace and the kind that it refers to.
    missing: BTreeMap<(From<'a>, Text, GroupKind), Vec<Missing<'a>>>,
}

/// A reference that nothing permits.
struct Missing<'a> {
    object: &'a Object,
    /// The pointer of the reference.
    pointer: String,
    to: Identity,
    clusters: Vec<&'a str>,
    /// The namespace of the copy that refers to it there.
    namespace: String,
}

impl<'g, 'a> MissingGrants<'g, 'a> {
    /// The collector, with the grants of the hub.
    pub(super) const fn new(grants: &'g Grants<'a>) -> Self {
        Self {
            grants,
            missing: BTreeMap::new(),
        }
    }

    /// Looks at a reference of an object of the hub, whose copy is in `namespace` on these clusters.
    pub(super) fn look(
        &mut self,
        there: &OnSpokes<'_>,
        (object, namespace, clusters): (&'a Object, &str, &'a [String]),
        (needed, pointer): (&Needed, &str),
    ) {
        let Some(to) = needed.crossing(namespace) else {
            return;
        };
        let from = referrer(object);
        if self.grants.permitting(from, to).next().is_some() {
            return;
        }
        let from_there = (from.0, from.1, namespace);
        let lacking = clusters.iter().map(String::as_str);
        let lacking: Vec<&'a str> = lacking
            .filter(|cluster| !there.permit_locally(cluster, from_there, to))
            .collect();
        if !lacking.is_empty() {
            let key = (
                from,
                to.namespace.clone().unwrap_or_default(),
                to.group_kind.clone(),
            );
            self.missing.entry(key).or_default().push(Missing {
                object,
                pointer: pointer.strip_suffix("/name").unwrap_or(pointer).to_owned(),
                to: to.clone(),
                clusters: lacking,
                namespace: namespace.to_owned(),
            });
        }
    }

    /// Reports each missing grant once.
    pub(super) fn report(self, findings: &mut Findings) {
        for (((group, kind, own), namespace, to_kind), missing) in self.missing {
            let Some(first) = missing.first() else { continue };
            let clusters: BTreeSet<&str> = missing
                .iter()
                .flat_map(|missing| missing.clusters.iter().copied())
                .collect();
            let place =
                |missing: &Missing<'_>| missing.object.place(&format!("{}/namespace", missing.pointer));
            let finding = Finding::new(
                Code::REFERENCE_NOT_PERMITTED,
                place(first),
                format!(
                    "{} may not refer to {}, which is in another namespace, on {}",
                    first.object.identity(),
                    first.to,
                    fitting_names(&clusters, CLUSTERS_WIDTH)
                ),
            )
            .label("another namespace");
            let mut others: Vec<_> = missing
                .iter()
                .filter(|other| place(other) != place(first))
                .collect();
            others.dedup_by_key(|other| place(other));
            let others = others.into_iter().map(|other| {
                let text = format!("and {} refers to it", other.object.identity());
                (place(other), text)
            });
            let finding = with_others(finding, others, "do");
            let to = (&*to_kind.group, &*to_kind.kind, &*first.to.name);
            findings.push(match self.grants.almost_permit((group, kind, own), &namespace, to) {
                // A typo must not take a backend from a route without failing the run.
                Some((place, help)) => finding
                    .severity(Severity::Error)
                    .related(place, "this grant names another namespace")
                    .help(help),
                None => {
                    let there = if first.namespace == own {
                        String::new()
                    } else {
                        format!("; one that lives on a cluster has to say `{}`", first.namespace)
                    };
                    finding.help(format!(
                        "add a ReferenceGrant to namespace `{namespace}`, from {group} `{kind}` in namespace `{own}` to {}{there}",
                        to_kind.kind
                    ))
                }
            });
        }
    }
}
