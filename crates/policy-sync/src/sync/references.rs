//! Objects that shipped objects need on their clusters, and that nothing ships there; and the ReferenceGrants that permit
//! references to other namespaces. Services usually live on the clusters, so a missing one is worth a warning only if its
//! namespace has one with a similar name.
//!
//! Controllers on the clusters ignore a reference that nothing permits (docs/systems/gateway-api.md#references). A grant of
//! the hub is shipped with what needs it, so the clusters' own grants only matter if the hub has none. Secrets of listeners
//! are checked where they are copied.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use apimachinery::{GroupKind, Identity, core_group};
use kube_json::{Text, Value, json};
use rayon::prelude::*;

use super::copies::PlacedGateway;
use super::on_spokes::{OnSpokes, Without, is_among};
use super::reference_fields::{Labels, Needed, certificates, needed_by};
use super::routes::ChosenObjects;
use super::synced_object::{Copy, SyncedObject, SyncedTarget, Variant};
use crate::api::downstream::{NAMESPACE_PREFIX, downstream_name, is_downstream};
use crate::api::gateway::{GROUP, is_listener_set};
use crate::api::params::{Role, SyncedResource};
use crate::api::route::{Route, is_route};
use crate::diagnostic::{Code, Finding, Findings, Place, Severity, fitting_names};
use crate::hub::{Grants, Hub, Objects, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::parallel;
use crate::policy::referrer;
use crate::topology::{Sources, Suggestions};

/// A reference: the object of the hub, and the pointer of the name.
type Referrer<'a> = (&'a Object, Text);

/// Something that is missing. There may be a hundred thousand, and most are missing for one reference.
#[derive(Default)]
struct Missing<'a> {
    /// The clusters without it, one list for each copy that needs it.
    clusters: Vec<Without<'a>>,
    /// In the order of the input's kinds and names, an object again where it is a part of several copies.
    referrers: Vec<Referrer<'a>>,
}

impl<'a> Missing<'a> {
    fn add(&mut self, lacking: Without<'a>) {
        // Copies come in the order of their variants, so that equal lists follow each other.
        let is_known = match (&lacking, self.clusters.last()) {
            (Without::All(these), Some(Without::All(before))) => std::ptr::eq(*these, *before),
            _ => false,
        };
        if !is_known {
            self.clusters.push(lacking);
        }
    }

    /// The references to it, each once, also if ClusterOverlays change the object that refers.
    fn referrers(&self) -> Vec<&Referrer<'a>> {
        let mut known = HashSet::new();
        let is_new = |(object, pointer): &&Referrer<'a>| {
            let origin = &object.origin;
            known.insert((origin.document, origin.pointer.as_str(), pointer.clone()))
        };
        self.referrers.iter().filter(is_new).collect()
    }

    /// The clusters that `is_known` accepts, sorted, each once.
    fn clusters(&self, is_known: impl Fn(&str) -> bool) -> Vec<&'a str> {
        let mut clusters: Vec<&str> = Vec::new();
        for lacking in &self.clusters {
            match lacking {
                Without::All(all) => clusters.extend(all.iter().map(String::as_str)),
                Without::Some(some) => clusters.extend(some),
            }
        }
        clusters.sort_unstable();
        clusters.dedup();
        clusters.retain(|cluster| is_known(cluster));
        clusters
    }
}

/// Reports everything that a shipped object refers to and that a cluster it goes to will not have, or that it may not
/// refer to there.
pub fn report_references(
    (hub, grants): (&Hub, &Grants<'_>),
    ours: &Ours<'_>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
    (synced, variants): (&[SyncedObject<'_>], &[Vec<Variant>]),
    there: &OnSpokes<'_>,
    findings: &mut Findings,
) {
    let mut all = HashMap::new();
    let mut missing_grants = MissingGrants {
        grants,
        missing: BTreeMap::new(),
    };
    let managed = hub.objects.of_kind(ocm_placement::GROUP, "ManagedCluster").iter();
    let managed: HashSet<&str> = managed.map(|cluster| cluster.name.as_str()).collect();
    // That a cluster is unknown is reported where it is named.
    let is_known = |cluster: &str| managed.is_empty() || managed.contains(cluster);
    let of_gateways = parallel::map(gateways.rows(), |placed| {
        let redirected = redirected(placed, there);
        let mut needed = needed_by(placed.gateway.object, placed.namespace().as_deref());
        needed.retain(|(_, pointer)| {
            let reference = pointer.strip_suffix("/name");
            let mut known = redirected.iter().map(|(known, _)| known.as_str());
            !known.any(|known| Some(known) == reference)
        });
        needed
    });
    for (placed, needed) in gateways.rows().iter().zip(of_gateways) {
        let object = placed.gateway.object;
        if let Some(namespace) = placed.namespace() {
            let sources = [object];
            let copied = (sources.as_slice(), namespace.as_str(), placed.clusters.as_ref());
            look(needed, copied, there, (&mut missing_grants, &mut all));
        }
    }
    for (synced, variants) in synced.iter().zip(variants) {
        for variant in variants {
            for Copy { object, .. } in &variant.copies {
                let needed = needed_by(object, object.namespace.as_deref());
                let sources = synced.sources.as_slice();
                let copied = (sources, object.namespace_or_empty(), variant.clusters.as_ref());
                look(needed, copied, there, (&mut missing_grants, &mut all));
            }
        }
    }
    missing_grants.report(findings);
    let mut all: Vec<(Needed, Missing<'_>)> = all.into_iter().collect();
    all.par_sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let objects = hub.objects.iter().filter(|_| !all.is_empty());
    let namespaced = objects.filter(|object| object.namespace.is_some());
    let key = |object: &'_ Object| (object.group_kind(), object.name.clone());
    let elsewhere: Elsewhere<'_> = namespaced.map(|object| (key(object), object)).collect();
    for (needed, missing) in all {
        let clusters = missing.clusters(is_known);
        if !clusters.is_empty() {
            let place = (hub, ours, &elsewhere);
            findings.extend(not_shipped(place, (&needed, &clusters), &missing));
        }
    }
}

/// The references of a Gateway to objects of other namespaces that ship with it: the pointer of each, and the name of
/// the copy, which is in the namespace of the Gateway's copy.
pub fn redirected(placed: &PlacedGateway<'_>, there: &OnSpokes<'_>) -> Vec<(String, String)> {
    let object = placed.gateway.object;
    let own = object.namespace_or_empty();
    let Some(downstream) = placed.namespace() else {
        return Vec::new();
    };
    let certificates = certificates(object, Some(&downstream)).into_iter();
    let others = needed_by(object, Some(&downstream)).into_iter();
    let others = others.filter_map(|(needed, pointer)| match needed {
        Needed::Object(identity) => Some((identity, pointer.strip_suffix("/name")?.to_owned())),
        _ => None,
    });
    let redirect = |(needed, pointer): (Identity, String)| {
        let namespace = needed.namespace.as_deref().filter(|there| *there != downstream)?;
        let name = downstream_name(namespace, &needed.name, own);
        let copy = Identity {
            namespace: Some(downstream.as_str().into()),
            name: name.as_str().into(),
            ..needed
        };
        let has_copy = |cluster: &String| there.has(&copy, cluster);
        // One Gateway is the same on all of its clusters: the reference changes on all of them, or on none.
        (!placed.clusters.is_empty() && placed.clusters.iter().all(has_copy)).then_some((pointer, name))
    };
    certificates.chain(others).filter_map(redirect).collect()
}

/// Adds what of a copy's needs, in this namespace, some of its clusters will not have, or not permit.
fn look<'a>(
    needed: Vec<(Needed, String)>,
    (sources, namespace, clusters): (&[&'a Object], &str, &'a [String]),
    there: &OnSpokes<'_>,
    (missing_grants, all): (&mut MissingGrants<'_, 'a>, &mut HashMap<Needed, Missing<'a>>),
) {
    for (needed, pointer) in needed {
        let source = author_of(sources, &pointer);
        if let Some(source) = source {
            missing_grants.look(there, (source, namespace, clusters), (&needed, &pointer));
        }
        let lacking = lacking(there, &needed, clusters);
        let is_everywhere = match &lacking {
            Without::All(all) => all.is_empty(),
            Without::Some(some) => some.is_empty(),
        };
        if is_everywhere {
            continue;
        }
        let missing = all.entry(needed).or_default();
        missing.add(lacking);
        if let Some(source) = source {
            missing.referrers.push((source, pointer.into()));
        }
    }
}

/// The object among those of a copy that has a field.
fn author_of<'a>(sources: &[&'a Object], pointer: &str) -> Option<&'a Object> {
    match sources {
        [only] => Some(only),
        _ => {
            let is_author = |source: &&&Object| source.value.pointer(pointer).is_some();
            sources.iter().find(is_author).or(sources.first()).copied()
        }
    }
}

/// The clusters that will not have it.
fn lacking<'c>(there: &OnSpokes<'_>, needed: &Needed, clusters: &'c [String]) -> Without<'c> {
    let names = clusters.iter().map(String::as_str);
    let without = |wanted: &dyn Fn(&Identity, &Labels) -> bool| {
        let shipped = there.with_secret(wanted);
        let lacks = |cluster: &&str| {
            !is_among(shipped.iter().copied(), cluster) && !there.has_local_secret(cluster, wanted)
        };
        Without::Some(names.filter(lacks).collect())
    };
    match needed {
        Needed::Object(identity) => there.without(identity, clusters),
        // Authorino looks where it runs, which the hub does not say (docs/systems/references.md#secrets-of-authorino).
        Needed::SecretNamed(name) => without(&|secret, _| secret.name == *name),
        Needed::Labelled(wanted, namespace) => without(&|secret, labels| {
            (namespace.is_none() || namespace.as_deref() == secret.namespace.as_deref())
                && wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
        }),
    }
}

/// An object of the hub with a kind and a name.
type Elsewhere<'a> = HashMap<(GroupKind, Text), &'a Object>;

fn not_shipped(
    (hub, ours, elsewhere): (&Hub, &Ours<'_>, &Elsewhere<'_>),
    (needed, clusters): (&Needed, &[&str]),
    missing: &Missing<'_>,
) -> Option<Finding> {
    let referrers = missing.referrers();
    let (referrer, pointer) = referrers.first()?;
    let clusters = fitting_names(clusters, CLUSTERS_WIDTH);
    let what = match needed {
        Needed::Object(identity) => identity.to_string(),
        Needed::SecretNamed(name) => format!("Secret {name}"),
        Needed::Labelled(labels, _) => {
            let labels = labels.iter().map(|(key, value)| format!("{key}={value}"));
            format!("a Secret with the label {}", labels.collect::<Vec<_>>().join(","))
        }
    };
    let message =
        format!("{what} is needed on {clusters}, but it is neither shipped nor known to live there");
    let finding = Finding::new(Code::REFERENCE_NOT_SHIPPED, referrer.place(pointer), message)
        .label(format!("needed by {}", referrer.identity()))
        // A kind that is wrong makes another reference of it.
        .follows_from(referrer.place(&kind_of(pointer)))
        .follows_from(referrer.place(pointer));
    let other = |(referrer, pointer): &&Referrer<'_>| {
        (referrer.place(pointer), format!("and by {}", referrer.identity()))
    };
    let others = referrers.iter().skip(1).map(other);
    let mut finding = with_others(finding, others, "need it");
    if let Needed::Object(Identity { group_kind, name, .. }) = needed
        && of_hub(hub, needed).is_none()
        && let Some(object) = elsewhere.get(&(group_kind.clone(), name.clone()))
        && !is_namespaced(referrer, pointer)
    {
        finding = finding.note(object.is_elsewhere());
    }
    let lives_there = "if it already lives on a cluster, add it to `spokes/CLUSTER/`";
    let finding = finding.help(match entry(hub, ours, needed) {
        Some(entry) => format!("to ship it, add {entry}; {lives_there}"),
        None => lives_there.to_owned(),
    });
    Some(finding)
}

/// The kind in a reference, whose name is at `pointer`.
fn kind_of(pointer: &str) -> String {
    let mapping = pointer.rsplit_once('/').map_or("", |(mapping, _)| mapping);
    format!("{mapping}/kind")
}

/// Whether the reference names a namespace.
fn is_namespaced(referrer: &Object, pointer: &str) -> bool {
    let reference = pointer.strip_suffix("/name");
    let reference = reference.and_then(|reference| referrer.value.pointer(reference));
    reference.is_some_and(|reference| reference.get("namespace").is_some())
}

/// The object of the hub that is needed on clusters: one from the namespace of a Gateway gets another one there.
fn of_hub<'h>(hub: &'h Hub, needed: &Needed) -> Option<&'h Object> {
    let Needed::Object(needed) = needed else {
        return None;
    };
    let GroupKind { group, kind } = &needed.group_kind;
    let there = needed.namespace.as_deref()?;
    let find = |namespace| hub.objects.find(group, kind, Some(namespace), &needed.name);
    find(there).or_else(|| find(there.strip_prefix(NAMESPACE_PREFIX)?))
}

/// What to add to the parameters of a class to ship it, if the hub has it and some class does not choose it yet.
fn entry(hub: &Hub, ours: &Ours<'_>, needed: &Needed) -> Option<String> {
    let object = of_hub(hub, needed)?;
    let kind = object.group_kind();
    let info = hub.kinds.kind(&kind.group, &kind.kind)?;
    let (class, params) = ours.classes.iter().find_map(|(name, class)| {
        let params = class.params.as_ref().ok()?;
        params.synced_object(object).is_none().then_some((name, params))
    })?;
    let mut listed = params.objects_to_sync.iter();
    let plural = &info.plural;
    let key = object.key();
    if listed.any(|entry| entry.group == kind.group && entry.resource == *plural) {
        return Some(format!(
            "`{key}` to `names` of `{plural}` in `resourcesToSync` of `{class}`"
        ));
    }
    let listed = info.listed(object);
    let listed = listed.trim_end_matches('}');
    Some(format!(
        "`{listed}, \"names\": [\"{key}\"]}}` to `resourcesToSync` of `{class}`"
    ))
}

/// Reports Services that are neither in the input nor known to live on a cluster, and near to one that is.
pub fn report_misspelled_backends(hub: &Hub, findings: &mut Findings) {
    let mut all = std::iter::once(&hub.objects).chain(hub.spokes.values());
    if all.all(|objects| objects.of_kind("", "Service").is_empty()) {
        return;
    }
    let sources = Sources::hub(&hub.objects).with_spokes(&hub.spokes);
    let mut near = Suggestions::new(sources);
    let is_route = |object: &&Object| is_route(&object.api_version.group, &object.kind);
    for route in hub.objects.iter().filter(is_route).filter_map(Route::new) {
        let object = route.object;
        for backend in route.rules.iter().flat_map(|rule| &rule.backends) {
            let service = backend.object.identity(object.namespace_or_empty());
            if backend.object.group_kind() != ("", "Service") || sources.get(&service).is_some() {
                continue;
            }
            let Some(near) = near.find(&service).filter(|near| near.field == "name") else {
                continue;
            };
            let what = format!("sends requests to {service}, which is not in the input");
            let pointer = backend.pointer();
            let finding = object.finding(Code::ROUTE_INVALID, &format!("{pointer}/name"), what);
            let reference = (object, pointer.as_str(), backend.object.namespace.as_deref());
            let finding = near.explain(finding, &service.to_string(), reference);
            findings.push(finding.severity(Severity::Warning));
        }
    }
}

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
type From<'o> = (&'o str, &'o str, &'o str);

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
        // A Secret that is copied is beside the copy of what names it, where no grant is needed.
        let certificates = certificates.iter().filter(|_| has_listeners && !copied);
        let crossing = crossing.filter(|to| !is_beside(to));
        let all = crossing.chain(certificates.map(|(to, _)| to));
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
                synced.push(SyncedObject::new(object, Role::Object, &RESOURCE, vec![target]));
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
        // A Gateway refers from its downstream namespace, a policy from those of its copies.
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
const CLUSTERS_WIDTH: usize = 40;

/// Points at other references to what is missing, and counts those that are too many: `3 more need it`.
fn with_others(
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
struct MissingGrants<'g, 'a> {
    /// Those of the hub.
    grants: &'g Grants<'a>,
    /// By what refers, and by the namespace and the kind that it refers to.
    missing: BTreeMap<(From<'a>, Text, GroupKind), Vec<NotPermitted<'a>>>,
}

/// A reference that nothing permits.
struct NotPermitted<'a> {
    object: &'a Object,
    /// The pointer of the reference.
    pointer: String,
    to: Identity,
    clusters: Vec<&'a str>,
    /// The namespace of the copy that refers to it there.
    namespace: String,
}

impl<'a> MissingGrants<'_, 'a> {
    /// Looks at a reference of an object of the hub, whose copy is in `namespace` on these clusters.
    fn look(
        &mut self,
        there: &OnSpokes<'_>,
        (object, namespace, clusters): (&'a Object, &str, &'a [String]),
        (needed, pointer): (&Needed, &str),
    ) {
        let Some(to) = needed.crossing(namespace) else {
            return;
        };
        let from = referrer(object);
        // It is shipped with what needs it.
        if self.grants.permitting(from, to).next().is_some() {
            return;
        }
        let from_there = (from.0, from.1, namespace);
        let lacks = |cluster: &&str| !there.permit_locally(cluster, from_there, to);
        let lacking: Vec<&'a str> = clusters.iter().map(String::as_str).filter(lacks).collect();
        if !lacking.is_empty() {
            let namespace_there = to.namespace.clone().unwrap_or_default();
            let key = (from, namespace_there, to.group_kind.clone());
            self.missing.entry(key).or_default().push(NotPermitted {
                object,
                pointer: pointer.strip_suffix("/name").unwrap_or(pointer).to_owned(),
                to: to.clone(),
                clusters: lacking,
                namespace: namespace.to_owned(),
            });
        }
    }

    /// Reports each missing grant once.
    fn report(self, findings: &mut Findings) {
        for (((group, kind, own), namespace, to_kind), missing) in self.missing {
            let Some(first) = missing.first() else { continue };
            let clusters = missing.iter().flat_map(|missing| &missing.clusters);
            let clusters: BTreeSet<&str> = clusters.copied().collect();
            let place =
                |missing: &NotPermitted<'_>| missing.object.place(&format!("{}/namespace", missing.pointer));
            let (who, what) = (first.object.identity(), &first.to);
            let on = fitting_names(&clusters, CLUSTERS_WIDTH);
            let message = format!("{who} may not refer to {what}, which is in another namespace, on {on}");
            let finding =
                Finding::new(Code::REFERENCE_NOT_PERMITTED, place(first), message).label("another namespace");
            let others = missing.iter().filter(|other| place(other) != place(first));
            let mut others: Vec<_> = others.collect();
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
