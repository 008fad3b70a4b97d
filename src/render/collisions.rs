//! Objects that would have the same name on a cluster: a local object and a shipped one, two versions of one policy,
//! two hub objects.
//!
//! Owns: these findings. Flows in: variants, manifests, the objects that live on the clusters. Flows out: findings.
//! Must not know: works beyond their manifests.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::carried::Carried;
use super::manifest::{Manifest, ResourceIdentifier};
use crate::api::downstream::is_downstream;
use crate::diagnostic::{Code, Finding, Findings, Part, Severity};
use crate::hub::Hub;
use crate::object::Object;

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
        for manifest in manifests
            .iter()
            .filter(|manifest| !manifest.resource.namespace.is_empty())
        {
            let resource = &manifest.resource;
            let found = local.find(
                &resource.group,
                &manifest.kind,
                Some(&resource.namespace),
                &resource.name,
            );
            let Some(found) = found.filter(|found| !is_downstream(found)) else {
                continue;
            };
            // A work contains more than the object that it is named after.
            let shipped = manifest.origins.first().map_or_else(
                || object.place("/metadata/name"),
                |origin| origin.place("/metadata/name", Part::Value),
            );
            findings.push(
                Finding::new(
                    Code::SPOKE_NAME_TAKEN,
                    found.place("/metadata/name"),
                    format!("{} on cluster {cluster} would be overwritten", found.identity()),
                )
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
    let twice = |carried: &Carried<'_>| {
        let manifests = carried.manifests.iter().enumerate();
        let before = |at: usize| carried.manifests.iter().take(at);
        manifests
            .map(|(at, manifest)| (manifest, before(at)))
            .any(|(manifest, mut before)| before.any(|other| other.resource == manifest.resource))
    };
    let suspect = |same: &[(&Object, Vec<Carried<'_>>)]| {
        same.len() > 1 || same.iter().any(|(_, carried)| carried.iter().any(twice))
    };
    // The copies of one object follow each other.
    let same = all.chunk_by(|(one, _), (other, _)| std::ptr::eq(*one, *other));
    for same in same.filter(|same| suspect(same)) {
        let mut places: BTreeSet<(&str, &ResourceIdentifier)> = BTreeSet::new();
        let variants = same.iter().flat_map(|(_, carried)| carried);
        let mut taken = variants.flat_map(|variant| {
            variant.clusters.iter().flat_map(|cluster| {
                variant
                    .manifests
                    .iter()
                    .map(move |manifest| (cluster.as_str(), &manifest.resource))
            })
        });
        let Some((cluster, _)) = taken.find(|place| !places.insert(*place)) else {
            continue;
        };
        let object = same.first().map(|(object, _)| object);
        findings.extend(object.map(|object| {
            Finding::new(
                Code::POLICY_SAME_TARGET,
                object.place("/spec"),
                format!(
                    "{} would have two contents on cluster {cluster}",
                    object.identity()
                ),
            )
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
    let mut places: Vec<(&ResourceIdentifier, &Carried<'_>)> = Vec::new();
    for variant in all {
        let manifests = variant.manifests.iter();
        places.extend(manifests.map(|manifest| (&manifest.resource, variant)));
    }
    places.sort_by_key(|(place, _)| *place);
    for variants in places.chunk_by(|(one, _), (other, _)| one == other) {
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
