//! Objects that shipped objects need on their clusters, and that nothing ships there. Services usually live on the clusters,
//! so a missing one is worth a warning only if its namespace has one with a similar name.

use std::collections::{HashMap, HashSet};

use apimachinery::{GroupKind, Identity};
use kube_json::Text;
use rayon::prelude::*;

use super::copies::PlacedGateway;
use super::grants::{CLUSTERS_WIDTH, MissingGrants, with_others};
use super::on_spokes::{OnSpokes, Without, is_among};
use super::reference_fields::{Labels, Needed, certificates, needed_by};
use super::synced_object::SyncedObject;
use super::variants::{Copy, Variant};
use crate::api::downstream::{NAMESPACE_PREFIX, downstream_name};
use crate::api::route::{Route, is_route};
use crate::diagnostic::{Code, Finding, Findings, Severity, fitting_names};
use crate::hub::{Grants, Hub, OurGatewayId, Ours, Table};
use crate::object::Object;
use crate::parallel;
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
    let mut missing_grants = MissingGrants::new(grants);
    let managed = hub.objects.of_kind(ocm_placement::GROUP, "ManagedCluster").iter();
    let managed: HashSet<&str> = managed.map(|cluster| cluster.name.as_str()).collect();
    // That a cluster is unknown is reported where it is named.
    let is_known = |cluster: &str| managed.is_empty() || managed.contains(cluster);
    let of_gateways = parallel::map(gateways.rows(), |placed| {
        let redirected = redirected(placed, there);
        let mut needed = needed_by(placed.gateway.object, placed.namespace().as_deref());
        needed.retain(|(_, pointer)| {
            let reference = pointer.strip_suffix("/name");
            !redirected
                .iter()
                .any(|(known, _)| Some(known.as_str()) == reference)
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
    let namespaced = hub
        .objects
        .iter()
        .filter(|object| !all.is_empty() && object.namespace.is_some());
    let key = |object: &'_ Object| (object.group_kind(), object.name.clone());
    let elsewhere: Elsewhere<'_> = namespaced.map(|object| (key(object), object)).collect();
    for (needed, missing) in all {
        let clusters = missing.clusters(is_known);
        if !clusters.is_empty() {
            findings.extend(not_shipped(
                (hub, ours, &elsewhere),
                (&needed, &clusters),
                &missing,
            ));
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
        let namespace = needed
            .namespace
            .as_deref()
            .filter(|namespace| *namespace != downstream.as_str())?;
        let name = downstream_name(namespace, &needed.name, own);
        let copy = Identity {
            namespace: Some(downstream.as_str().into()),
            name: name.as_str().into(),
            ..needed
        };
        let has_copy = |cluster: &String| there.has(&copy, cluster);
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
        if let Without::All([]) = lacking {
            continue;
        }
        if let Without::Some(some) = &lacking
            && some.is_empty()
        {
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
            let mut writing = sources
                .iter()
                .filter(|source| source.value.pointer(pointer).is_some());
            writing.next().or(sources.first()).copied()
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
            let labels: Vec<String> = labels
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            format!("a Secret with the label {}", labels.join(","))
        }
    };
    let finding = Finding::new(
        Code::REFERENCE_NOT_SHIPPED,
        referrer.place(pointer),
        format!("{what} is needed on {clusters}, but it is neither shipped nor known to live there"),
    )
    .label(format!("needed by {}", referrer.identity()))
    // A kind that is wrong makes another reference of it.
    .follows_from(referrer.place(&kind_of(pointer)))
    .follows_from(referrer.place(pointer));
    let others = referrers.iter().skip(1).map(|(referrer, pointer)| {
        let text = format!("and by {}", referrer.identity());
        (referrer.place(pointer), text)
    });
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
    let reference = pointer
        .strip_suffix("/name")
        .and_then(|reference| referrer.value.pointer(reference));
    reference.is_some_and(|reference| reference.get("namespace").is_some())
}

/// The object of the hub that is needed on clusters: one from the namespace of a Gateway gets another one there.
fn of_hub<'h>(hub: &'h Hub, needed: &Needed) -> Option<&'h Object> {
    let Needed::Object(Identity {
        group_kind: kind,
        namespace,
        name,
    }) = needed
    else {
        return None;
    };
    let there = namespace.as_deref()?;
    let mut namespaces = [Some(there), there.strip_prefix(NAMESPACE_PREFIX)]
        .into_iter()
        .flatten();
    namespaces.find_map(|namespace| hub.objects.find(&kind.group, &kind.kind, Some(namespace), name))
}

/// What to add to the parameters of a class to ship it, if the hub has it and some class does not choose it yet.
fn entry(hub: &Hub, ours: &Ours<'_>, needed: &Needed) -> Option<String> {
    let object = of_hub(hub, needed)?;
    let kind = object.group_kind();
    let info = hub.kinds.kind(&kind.group, &kind.kind)?;
    let mut classes = ours
        .classes
        .iter()
        .filter_map(|(name, class)| Some((name, class.params.as_ref().ok()?)));
    let (class, params) = classes.find(|(_, params)| params.synced_object(object).is_none())?;
    let mut listed = params.objects_to_sync.iter();
    let plural = &info.plural;
    Some(
        if listed.any(|entry| entry.group == kind.group && entry.resource == *plural) {
            format!(
                "`{}` to `names` of `{plural}` in `resourcesToSync` of `{class}`",
                object.key()
            )
        } else {
            let listed = info.listed(object);
            let listed = listed.trim_end_matches('}');
            format!(
                "`{listed}, \"names\": [\"{}\"]}}` to `resourcesToSync` of `{class}`",
                object.key()
            )
        },
    )
}

/// Reports Services that are neither in the input nor known to live on a cluster, and near to one that is.
pub fn report_misspelled_backends(hub: &Hub, findings: &mut Findings) {
    let mut all = std::iter::once(&hub.objects).chain(hub.spokes.values());
    if all.all(|objects| objects.of_kind("", "Service").is_empty()) {
        return;
    }
    let sources = Sources::hub(&hub.objects).with_spokes(&hub.spokes);
    let mut near = Suggestions::new(sources);
    let routes = hub
        .objects
        .iter()
        .filter(|object| is_route(&object.api_version.group, &object.kind));
    for route in routes.filter_map(Route::new) {
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
