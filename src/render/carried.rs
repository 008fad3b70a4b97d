//! The contents of works: the copies of a synced object as manifests, the sync waves that make one Argo CD Application apply
//! the works of a wave of clusters after those of the waves before, and the findings about objects that would have the same
//! name on a cluster: a local object and a shipped one, two versions of one policy, two hub objects.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube_json::Value;

use super::manifest::{Manifest, ManifestSummary, Reported, asked_rules, policy_conditions, policy_rules};
use super::work::WorkParts;
use crate::api::downstream::is_downstream;
use crate::api::params::{Params, Role, WorkPer};
use crate::diagnostic::{Code, Finding, Findings, Part, Severity, broken};
use crate::hub::{Hub, OurGatewayId, Table};
use crate::object::Object;
use crate::object::well_known::SYNC_WAVE;
use crate::placing::Wave;
use crate::sync::{PlacedGateway, SyncedObject, Variant};

/// The works that contain a variant: at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Works {
    /// Whether it has one of its own.
    pub(super) is_own: bool,
    /// That of the only Gateway that it is for.
    pub(super) of_gateway: Option<OurGatewayId>,
}

impl Works {
    /// Decides which works contain an object; nothing else may put an object into two. An object's own work does not
    /// depend on what the object refers to, so no change moves it: the agent deletes what leaves a work, unless it has
    /// applied another work with the object before (docs/systems/ocm-work.md#what-leaves-a-work). An object that goes with
    /// two Gateways of a cluster is in its own work only.
    pub(super) fn new(params: &Params, gateways: &[OurGatewayId]) -> Self {
        let only = match gateways {
            [only] => Some(*only),
            _ => None,
        };
        let of_gateway = only.filter(|_| params.work_per != WorkPer::Object);
        Self {
            is_own: of_gateway.is_none() || params.work_per == WorkPer::Both,
            of_gateway,
        }
    }
}

/// A variant of a synced object in works.
#[derive(Debug)]
pub(super) struct Carried<'a> {
    /// The object whose name it carries.
    pub(super) object: &'a Object,
    /// All objects that it was made from.
    pub(super) sources: &'a [&'a Object],
    /// What it is.
    pub(super) role: Role,
    /// The works that it is in.
    pub(super) works: Works,
    /// The Gateways that it is for, sorted.
    pub(super) gateways: Vec<OurGatewayId>,
    /// One manifest for each downstream namespace.
    pub(super) manifests: Vec<Arc<Manifest>>,
    /// The clusters, sorted.
    pub(super) clusters: Arc<[String]>,
}

/// What a work will contain, and where.
#[derive(Clone)]
pub(super) struct Content<'a> {
    /// What it is the work of.
    pub(super) object: &'a Object,
    /// The Gateways that bring it to the clusters; never none.
    pub(super) gateways: Vec<OurGatewayId>,
    /// The clusters, sorted.
    pub(super) clusters: Arc<[String]>,
    /// The parameters of the class.
    pub(super) params: &'a Params,
    /// Its parts.
    pub(super) parts: WorkParts,
}

/// The sync wave that a hub object asks for, if it is one: a user who orders Gateways means what Argo CD applies for them, and
/// inside a work sync waves do nothing.
pub(super) fn own_wave(object: &Object) -> Option<i64> {
    object.annotation(SYNC_WAVE)?.parse().ok()
}

/// The waves of clusters, and the sync waves of all works.
#[derive(Debug)]
pub(crate) struct SyncWaves<'a> {
    pub(super) waves: &'a [Wave],
    positions: HashMap<&'a str, i64>,
    /// How many sync waves the objects of a cluster ask for. Two of them may be almost 2^64 apart.
    span: i128,
}

impl<'a> SyncWaves<'a> {
    /// Those of the works of `objects`. Without `is_split`, all works are in the waves of their objects: a replica set is one
    /// object for all of its clusters.
    pub(crate) fn new<'o>(
        waves: &'a [Wave],
        is_split: bool,
        objects: impl Iterator<Item = &'o Object>,
    ) -> Self {
        let numbered = (0..).zip(waves).filter(|_| is_split);
        let positions = numbered.flat_map(|(position, wave)| {
            let clusters = wave.clusters.iter();
            clusters.map(move |cluster| (cluster.as_str(), position))
        });
        let own: BTreeSet<i64> = objects.filter_map(own_wave).chain([0]).collect();
        let [first, last] = [own.first(), own.last()].map(|end| end.map_or(0, |wave| i128::from(*wave)));
        Self {
            waves,
            positions: positions.collect(),
            span: last.saturating_sub(first).saturating_add(1),
        }
    }

    /// The sync wave in a wave of clusters of what would be in the wave `own` if all clusters were in one.
    fn at(&self, position: i64, own: i64) -> i128 {
        i128::from(position)
            .saturating_mul(self.span)
            .saturating_add(own.into())
    }

    /// The same on a cluster. One that no number has room for is an error: [`without_room`](Self::without_room).
    pub(super) fn on_cluster(&self, cluster: &str, own: i64) -> i64 {
        let position = self.positions.get(cluster).copied().unwrap_or_default();
        i64::try_from(self.at(position, own)).unwrap_or(i64::MAX)
    }

    /// The object that asks for a sync wave so far from the others that the last wave of clusters would need a number with
    /// more than the 64 bits that Argo CD reads.
    pub(crate) fn without_room<'o>(&self, objects: impl Iterator<Item = &'o Object>) -> Option<&'o Object> {
        let last = *self.positions.values().max()?;
        // Other objects of the cluster are in wave 0.
        let has_room = |own: i64| i64::try_from(self.at(last, own.max(0))).is_ok();
        let asked = objects.filter_map(|object| Some((own_wave(object)?, object)));
        let without_room = asked.filter(|(own, _)| !has_room(*own));
        let farthest = without_room.max_by_key(|(own, _)| own.unsigned_abs());
        farthest.map(|(_, object)| object)
    }

    /// A content for each sync wave that it is in.
    pub(super) fn split<'c>(&self, content: Content<'c>) -> Vec<Content<'c>> {
        if self.positions.is_empty() {
            return vec![content];
        }
        let own = content.parts.wave;
        let mut waves: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        for cluster in content.clusters.iter() {
            let wave = self.on_cluster(cluster, own.unwrap_or_default());
            waves.entry(wave).or_default().push(cluster.clone());
        }
        let split = waves.into_iter().map(|(wave, clusters)| {
            let mut content = content.clone();
            // Argo CD takes a work without the annotation for one of wave 0; what the author wrote stays, also if it
            // is 0.
            content.parts.wave = Some(wave).filter(|wave| own.is_some() || *wave != 0);
            content.clusters = clusters.into();
            content
        });
        split.collect()
    }
}

/// The rules by which an object's status is reported, and the conditions that its controllers report.
fn reported(synced: &SyncedObject<'_>, hub: &Hub) -> (Option<Value>, Reported) {
    if synced.role != Role::Policy {
        return (asked_rules(synced.resource), Reported::Nothing);
    }
    let conditions = policy_conditions(&synced.object.group_kind(), hub);
    // A policy that another one overrides is accepted but not enforced: there is nothing to wait for.
    let accepted: &[&str] = match conditions.acceptance {
        Some("Attached") => &["Attached"],
        _ => &["Accepted"],
    };
    let reported = if conditions.acceptance.is_none() {
        Reported::Nothing
    } else if conditions.ancestors {
        Reported::OfAncestors(accepted)
    } else {
        Reported::ConditionsAtOnce(accepted)
    };
    (policy_rules(conditions, synced.resource), reported)
}

/// The variants of one object in works.
pub(super) fn carried<'a>(
    synced: &'a SyncedObject<'a>,
    variants: Vec<Variant>,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
    hub: &Hub,
) -> Vec<Carried<'a>> {
    let (rules, reported) = reported(synced, hub);
    let origins = synced.sources.iter().flat_map(|source| source.origins());
    let origins: Vec<_> = origins.collect();
    variants
        .into_iter()
        .map(|variant| {
            let Some(first) = variant.gateways.first() else {
                let object = synced.object.identity();
                broken(format_args!("{object} goes to a cluster with no Gateway"))
            };
            let works = Works::new(gateways.get(*first).params, &variant.gateways);
            // Not collected, which would keep the memory of the copies for the pointers to the manifests.
            let mut manifests = Vec::with_capacity(variant.copies.len());
            manifests.extend(variant.copies.into_iter().map(|copy| {
                let object = copy.object;
                Arc::new(Manifest {
                    summary: ManifestSummary {
                        kind: object.kind.into(),
                        group: object.api_version.group.to_string(),
                        resource: synced.resource.resource.clone(),
                        namespace: object.namespace.unwrap_or_default().into(),
                        name: object.name.into(),
                        origins: origins.clone(),
                    },
                    value: object.value,
                    feedback: rules.clone(),
                    reported,
                })
            }));
            Carried {
                object: synced.object,
                sources: &synced.sources,
                role: synced.role,
                works,
                gateways: variant.gateways,
                manifests,
                clusters: variant.clusters,
            }
        })
        .collect()
}

/// What already lives on a cluster under the name of something shipped: the work agent would take it over. Copies that
/// an earlier run shipped, and that were exported, are not such objects.
pub(super) fn overwritten(
    hub: &Hub,
    object: &Object,
    manifests: &[Arc<Manifest>],
    clusters: &[String],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (cluster, local) in hub.spokes.as_ref() {
        if clusters.binary_search(cluster).is_err() {
            continue;
        }
        let manifests = manifests
            .iter()
            .filter(|manifest| !manifest.summary.namespace.is_empty());
        for manifest in manifests {
            let [group, kind, namespace, name] = manifest.summary.names();
            let found = local.find(group, kind, Some(namespace), name);
            let Some(found) = found.filter(|found| !is_downstream(found)) else {
                continue;
            };
            // A work contains more than the object that it is named after.
            let shipped = manifest.summary.origins.first().map_or_else(
                || object.place("/metadata/name"),
                |origin| origin.place("/metadata/name", Part::Value),
            );
            let message = format!("{} on cluster {cluster} would be overwritten", found.identity());
            findings.push(
                Finding::new(Code::SPOKE_NAME_TAKEN, found.place("/metadata/name"), message)
                    .label("lives there already")
                    .related(shipped, "is shipped under the same name")
                    .help("rename one of the two"),
            );
        }
    }
    findings
}

/// A policy that is merged with another on one of its targets, or loses rules to a local policy there, and is shipped
/// as written for another target has two contents under one name: on a cluster that has both targets neither may be
/// shipped.
pub(super) fn two_contents(all: &[(&Object, Vec<Carried<'_>>)], findings: &mut Findings) {
    let suspect = |same: &[(&Object, Vec<Carried<'_>>)]| {
        let mut carried = same.iter().flat_map(|(_, carried)| carried);
        same.len() > 1 || carried.any(|carried| carried.manifests.len() > 1)
    };
    // The copies of one object follow each other.
    let same = all.chunk_by(|(one, _), (other, _)| std::ptr::eq(*one, *other));
    for same in same.filter(|same| suspect(same)) {
        let mut places: BTreeSet<(&str, [&str; 4])> = BTreeSet::new();
        let variants = same.iter().flat_map(|(_, carried)| carried);
        let mut taken = variants.flat_map(|variant| {
            variant.clusters.iter().flat_map(|cluster| {
                let manifests = variant.manifests.iter();
                manifests.map(move |manifest| (cluster.as_str(), manifest.summary.identifier()))
            })
        });
        let Some((cluster, _)) = taken.find(|place| !places.insert(*place)) else {
            continue;
        };
        let object = same.first().map(|(object, _)| object);
        findings.extend(object.map(|object| {
            let message = format!(
                "{} would have two contents on cluster {cluster}",
                object.identity()
            );
            Finding::new(Code::POLICY_SAME_TARGET, object.place("/spec"), message)
                .severity(Severity::Error)
                .label("its settings differ from target to target")
                .note("a spoke can have only one object of this name")
                .help("split it: one policy for each target")
        }));
    }
}

/// Two hub objects that would be one object on a cluster: of the namespaces `a` and `kuadrant-a`, where a policy of the
/// one follows a Gateway and a policy of the other stays with its route.
pub(super) fn one_place(all: &[Carried<'_>], findings: &mut Findings) {
    let mut places: Vec<(&ManifestSummary, &Carried<'_>)> = Vec::new();
    for variant in all {
        let manifests = variant.manifests.iter();
        places.extend(manifests.map(|manifest| (&manifest.summary, variant)));
    }
    places.sort_by_key(|(place, _)| place.identifier());
    for variants in places.chunk_by(|(one, _), (other, _)| one.identifier() == other.identifier()) {
        let Some(((place, one), others)) = variants.split_first() else {
            continue;
        };
        let first = one.object;
        let other = others.iter().find_map(|(_, variant)| {
            let is_other = variant.object.identity() != first.identity();
            let mut shared = variant.clusters.iter().filter(|_| is_other);
            let cluster = shared.find(|cluster| one.clusters.binary_search(cluster).is_ok())?;
            Some((variant.object, cluster))
        });
        if let Some((object, cluster)) = other {
            findings.push(
                Finding::new(
                    Code::WORK_NAME_TAKEN,
                    object.place("/metadata/name"),
                    format!(
                        "{} and {} would both be `{}/{}` on cluster {cluster}",
                        object.identity(),
                        first.identity(),
                        place.namespace,
                        place.name
                    ),
                )
                .label("this one")
                .related(first.place("/metadata/name"), "and this one")
                .help("rename one of the two"),
            );
        }
    }
}
