//! ManifestWorkReplicaSets: one for each work, in the namespace of the Placement that selects its clusters
//! (docs/guides/replica-sets.md; docs/systems/ocm-work.md#manifestworkreplicaset).
//!
//! RBAC: a cluster may be in several Placements and so get several of these sets, but the name of a ClusterRole is
//! unique on a cluster. So each Placement has a set of its own for the kinds that its sets ship and their parameters
//! list, regardless of its clusters today. Its roles have its name as soon as there is a second Placement, and rights
//! add up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_json::{Map, Value};

use super::carried::Content;
use super::manifest::Manifest;
use super::names::{cut, replica_set_name};
use super::plan::{REPLICA_SETS, ReplicaSet};
use super::rbac::{self, list};
use super::work::{WorkParts, size, spec, written};
use crate::api::ocm_work::{GROUP, MANIFEST_WORK_REPLICA_SET};
use crate::api::params::Params;
use crate::api::{ocm, overlay};
use crate::diagnostic::{Code, Finding, Findings, Part, first_names, nearest};
use crate::hub::{Hub, OurGatewayId, Table};
use crate::object::well_known::{PLACEMENT_LABEL_POINTER, WORK_NAME_ANNOTATION};
use crate::object::{Object, Origin};
use crate::sync::PlacedGateway;
use apimachinery::key;
use apimachinery::names::SUBDOMAIN_MAX;
use apimachinery::pointer::inside;

/// So many clusters are named in one line; the rest is counted.
const MOST_CLUSTERS: usize = 10;

/// Namespace and name of a Placement.
type PlacementKey<'a> = (&'a str, &'a str);

/// The sets, by namespace and name.
pub(super) fn replica_sets(
    hub: &Hub,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
    templates: &[Content<'_>],
    findings: &mut Findings,
) -> Vec<ReplicaSet> {
    let mut by_work: BTreeMap<&str, Vec<&Content<'_>>> = BTreeMap::new();
    for template in templates {
        by_work.entry(&template.parts.name).or_default().push(template);
    }
    let mut sets: BTreeMap<(String, String), (Option<&Object>, ReplicaSet)> = BTreeMap::new();
    let mut first_groups: BTreeSet<(PlacementKey<'_>, &str)> = BTreeSet::new();
    let mut rights: BTreeMap<PlacementKey<'_>, (rbac::Rights, &Arc<[String]>)> = BTreeMap::new();
    for templates in by_work.values() {
        let matched = templates
            .iter()
            .map(|template| whole_placement(gateways, template));
        let Some(matched) = matched.collect::<Option<Vec<_>>>() else {
            findings.extend(not_uniform(hub, gateways, templates));
            continue;
        };
        for (template, (placed, placement)) in templates.iter().zip(matched) {
            if let Some(rollout) = &placed.params.rollout {
                first_groups.extend(rollout.mandatory_groups().map(|group| (placement, group)));
            }
            let (rights, _) = rights
                .entry(placement)
                .or_insert_with(|| (rbac::Rights::new(), &placed.everywhere));
            rights.extend(rbac::rights(&template.parts.manifests, placed.params));
            // One object may have one content with this Placement and another with that.
            let work = if templates.len() > 1 {
                format!("{}-{}", template.parts.name, placement.1)
            } else {
                template.parts.name.clone()
            };
            let (clusters, parts) = (&placed.everywhere, &template.parts);
            let set = set_of(&work, placement, clusters, parts, Some(placed.params));
            let key = (set.namespace.clone(), set.name.clone());
            match sets.get(&key) {
                Some((owner, _)) => findings.push(taken(&set, template.object, *owner)),
                None => {
                    sets.insert(key, (Some(template.object), set));
                }
            }
        }
    }
    let first_groups = first_groups.into_iter();
    findings.extend(first_groups.filter_map(|(placement, group)| no_group(hub, placement, group)));
    let waves = templates.iter().filter_map(|template| template.parts.wave);
    // Without an annotation, the rights are in wave 0, which is before all later ones.
    let first_wave = waves.min().filter(|wave| *wave < 0);
    for set in rbac_sets(&rights, first_wave) {
        let key = (set.namespace.clone(), set.name.clone());
        match sets.get(&key) {
            Some((Some(owner), _)) => findings.push(taken(&set, owner, None)),
            _ => {
                sets.insert(key, (None, set));
            }
        }
    }
    sets.into_values().map(|(_, set)| set).collect()
}

/// A group that a rollout begins with and that its Placement does not have. OCM leaves it out without a word: what was to be
/// tried on a few clusters goes to all.
fn no_group(hub: &Hub, (namespace, name): PlacementKey<'_>, group: &str) -> Option<Finding> {
    let placement = hub.objects.find(ocm::GROUP, "Placement", Some(namespace), name)?;
    let groups = list(
        &placement.value,
        "/spec/decisionStrategy/groupStrategy/decisionGroups",
    )
    .iter();
    let known = groups.filter_map(|group| group.get("groupName")?.as_str());
    let known: Vec<&str> = known.collect();
    if known.contains(&group) {
        return None;
    }
    let message = format!(
        "the rollout begins with decision group {group:?}, which Placement {namespace}/{name} does not have"
    );
    let finding = Finding::new(Code::PLACEMENT_NO_GROUP, placement.place("/spec"), message);
    Some(match nearest(group, known) {
        Some(meant) => finding.help(format!("write `groupName: {meant}` in `rollout` of the parameters")),
        None => finding.help(format!(
            "add it to `spec.decisionStrategy.groupStrategy.decisionGroups`: `groupName: {group}` with a `groupClusterSelector`"
        )),
    })
}

fn placement_of<'a>(placed: &PlacedGateway<'a>) -> Option<PlacementKey<'a>> {
    let gateway = placed.gateway;
    let name = gateway.view().placement.as_deref()?;
    Some((gateway.object.namespace_or_empty(), name))
}

/// The Gateway whose Placement selects exactly the clusters of a template, and that Placement.
fn whole_placement<'g, 'a>(
    gateways: &'g Table<OurGatewayId, PlacedGateway<'a>>,
    template: &Content<'_>,
) -> Option<(&'g PlacedGateway<'a>, PlacementKey<'a>)> {
    let placed = template.gateways.iter().map(|gateway| gateways.get(*gateway));
    // The hub makes the works of a set for every cluster that its Placement selects: one for some of them needs a
    // Placement that selects just these.
    let mut whole = placed.filter(|placed| *placed.everywhere == *template.clusters);
    whole.find_map(|placed| Some((placed, placement_of(placed)?)))
}

/// One set for each Placement, over what its sets ship and their parameters list, before the first wave of these.
fn rbac_sets(
    rights: &BTreeMap<PlacementKey<'_>, (rbac::Rights, &Arc<[String]>)>,
    first_wave: Option<i64>,
) -> Vec<ReplicaSet> {
    let mut in_namespace: BTreeMap<&str, usize> = BTreeMap::new();
    for (namespace, _) in rights.keys() {
        let count = in_namespace.entry(namespace).or_default();
        *count = count.saturating_add(1);
    }
    rights
        .iter()
        .map(|(placement, (granted, clusters))| {
            let (namespace, name) = placement;
            let role = if rights.len() > 1 {
                cut(format!("{}:{namespace}:{name}", rbac::ROLE_NAME), SUBDOMAIN_MAX)
            } else {
                rbac::ROLE_NAME.to_owned()
            };
            let work = if in_namespace.get(namespace) == Some(&1) {
                rbac::WORK_NAME.to_owned()
            } else {
                format!("{}-{name}", rbac::WORK_NAME)
            };
            let parts = WorkParts {
                wave: first_wave,
                ..rbac::work(&role, granted)
            };
            ReplicaSet {
                rights: granted.clone(),
                ..set_of(&work, *placement, clusters, &parts, None)
            }
        })
        .collect()
}

fn set_of(
    work: &str,
    (namespace, placement): PlacementKey<'_>,
    clusters: &Arc<[String]>,
    parts: &WorkParts,
    params: Option<&Params>,
) -> ReplicaSet {
    let name = replica_set_name(namespace, work);
    let mut reference = Map::from_iter([("name", placement.into())]);
    // The rights go everywhere at once: the objects that need them follow the rollout of their class.
    if let Some(rollout) = params.and_then(|params| params.rollout.as_ref()) {
        reference.insert("rolloutStrategy", rollout.strategy.clone());
    }
    let spec = Value::from_iter([
        // The CRD has a default for the policy and requires it all the same; it does not require a rollout strategy.
        ("cascadeDeletionPolicy", "Background".into()),
        ("manifestWorkTemplate", spec(parts, params)),
        ("placementRefs", Value::from(vec![reference])),
    ]);
    let (text, _) = written(parts, (&name, namespace), |metadata| {
        Value::from_iter([
            ("apiVersion", format!("{GROUP}/v1alpha1").into()),
            ("kind", MANIFEST_WORK_REPLICA_SET.into()),
            ("metadata", metadata),
            ("spec", spec.clone()),
        ])
    });
    ReplicaSet {
        directory: format!("{REPLICA_SETS}/{namespace}"),
        namespace: namespace.to_owned(),
        name,
        placement: placement.to_owned(),
        clusters: Arc::clone(clusters),
        text,
        size: size(parts),
        manifests: parts.summaries(),
        rights: rbac::Rights::new(),
        turn: parts.turn,
    }
}

/// A work that no set can carry: its contents, and the clusters that get each.
fn not_uniform(
    hub: &Hub,
    gateways: &Table<OurGatewayId, PlacedGateway<'_>>,
    templates: &[&Content<'_>],
) -> Option<Finding> {
    let first = templates.first()?;
    let object = first.object;
    let involved = templates
        .iter()
        .flat_map(|template| template.gateways.iter().copied());
    let involved: BTreeSet<OurGatewayId> = involved.collect();
    let placed: Vec<&PlacedGateway<'_>> = involved.iter().map(|gateway| gateways.get(*gateway)).collect();
    let everywhere = placed.iter().flat_map(|placed| placed.everywhere.iter());
    let everywhere: BTreeSet<&String> = everywhere.collect();
    let usual = templates.iter().max_by_key(|template| template.clusters.len())?;
    let object_name = object.identity();
    let message =
        format!("a ManifestWorkReplicaSet cannot contain {object_name}: it is not the same on every cluster");
    let finding = Finding::new(
        Code::PLACEMENT_NOT_UNIFORM,
        object.place("/metadata/name"),
        message,
    );
    let mut finding = finding.label(format!("the work `{}`", first.parts.name));
    // ClusterOverlays make several hubs of one.
    let mut named = BTreeSet::new();
    let once = placed
        .iter()
        .filter(|placed| named.insert(placed.gateway.object.key()));
    for placed in once.take(MOST_CLUSTERS) {
        let (namespace, placement) = placement_of(placed).unwrap_or_default();
        let place = placed.gateway.object.place(PLACEMENT_LABEL_POINTER);
        finding = finding.related(place, format!("is placed by Placement {namespace}/{placement}"));
    }
    let others = templates
        .iter()
        .filter(|template| !std::ptr::eq(**template, *usual));
    for template in others {
        let differs = differences(&usual.parts.manifests, &template.parts.manifests);
        let [there, elsewhere] =
            [template, usual].map(|template| first_names(template.clusters.iter(), MOST_CLUSTERS));
        finding = finding.note(format!("on {there}, unlike on {elsewhere}: {differs}"));
    }
    let overlays = hub.objects.iter().filter(|object| overlay::is_one(object));
    let overlays: Vec<&Origin> = overlays.map(|object| &object.origin).collect();
    let is_overlay = |origin: &&Origin| {
        let mut overlays = overlays
            .iter()
            .filter(|overlay| overlay.document == origin.document);
        overlays.any(|overlay| inside(&origin.pointer, &overlay.pointer).is_some())
    };
    for template in templates {
        let manifests = template.parts.manifests.iter();
        let mut origins = manifests.flat_map(|manifest| &manifest.summary.origins);
        if let Some(overlay) = origins.find(is_overlay) {
            let clusters = first_names(template.clusters.iter(), MOST_CLUSTERS);
            let place = overlay.place("/path", Part::Value);
            finding = finding.related(place, format!("a ClusterOverlay changes this on {clusters}"));
        }
    }
    let carried = templates.iter().flat_map(|template| template.clusters.iter());
    let carried: BTreeSet<&String> = carried.collect();
    if carried.len() < everywhere.len() {
        finding = finding.note(format!(
            "such a work exists for {}, but not for {}",
            first_names(carried.iter().copied(), MOST_CLUSTERS),
            first_names(everywhere.difference(&carried).copied(), MOST_CLUSTERS)
        ));
    }
    Some(finding.help(
        "remove `--work-kind replica-set`: a ManifestWork can differ from cluster to cluster. Or make the clusters alike: ClusterOverlays and objects in `spokes/` change what is shipped, and objects that ship with several Gateways need one Placement for all of them",
    ))
}

/// What the manifests of one content have otherwise than those of another.
fn differences(usual: &[Arc<Manifest>], other: &[Arc<Manifest>]) -> String {
    fn by_resource(manifests: &[Arc<Manifest>]) -> BTreeMap<[&str; 4], &Manifest> {
        let manifests = manifests.iter();
        manifests
            .map(|manifest| (manifest.summary.identifier(), &**manifest))
            .collect()
    }
    let (before, after) = (by_resource(usual), by_resource(other));
    let lacks = before
        .iter()
        .filter(|(resource, _)| !after.contains_key(*resource));
    let has = after
        .iter()
        .filter(|(resource, _)| !before.contains_key(*resource));
    let changed = before.iter().filter(|(resource, manifest)| {
        let other = after.get(*resource);
        other.is_some_and(|other| other.value != manifest.value)
    });
    let all = [
        ("no", lacks.collect::<Vec<_>>()),
        ("also", has.collect()),
        ("another", changed.collect()),
    ];
    let parts = all.into_iter().flat_map(|(word, manifests)| {
        let manifests = manifests.into_iter();
        manifests.map(move |(_, Manifest { summary, .. })| {
            let key = key(&summary.namespace, &summary.name);
            format!("{word} {} {key}", summary.kind)
        })
    });
    parts.collect::<Vec<String>>().join(", ")
}

fn taken(set: &ReplicaSet, object: &Object, owner: Option<&Object>) -> Finding {
    let (namespace, name, this) = (&set.namespace, &set.name, object.identity());
    let other = owner.map(|owner| owner.identity().to_string());
    let other = other.unwrap_or_else(|| "the RBAC of a Placement".to_owned());
    let message =
        format!("the ManifestWorkReplicaSet {namespace}/{name} would be made for {this} and for {other}");
    let finding = Finding::new(Code::WORK_NAME_TAKEN, object.place("/metadata/name"), message);
    let finding = finding.label("this one").help(format!(
        "give it another name with the annotation `{WORK_NAME_ANNOTATION}: NAME`"
    ));
    match owner {
        Some(owner) => finding.related(owner.place("/metadata/name"), "and this one"),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_cluster_ever_gets_one_cluster_role_from_two_placements(
            keys in prop::collection::btree_set(("[a-c]{1,2}", "[a-c]{1,2}"), 1..6),
        ) {
            let clusters: Arc<[String]> = Arc::from(["eu-1".to_owned()]);
            let shipped: rbac::Rights = [("g.io".to_owned(), "things".to_owned())].into();
            let rights = keys
                .iter()
                .map(|(namespace, name)| ((namespace.as_str(), name.as_str()), (shipped.clone(), &clusters)))
                .collect();
            let sets = rbac_sets(&rights, None);
            let roles: BTreeSet<&str> =
                sets.iter().flat_map(|set| &set.manifests).map(|manifest| manifest.name.as_str()).collect();
            prop_assert_eq!(roles.len(), keys.len());
            let names: BTreeSet<(&str, &str)> =
                sets.iter().map(|set| (set.namespace.as_str(), set.name.as_str())).collect();
            prop_assert_eq!(names.len(), keys.len());
            if keys.len() == 1 {
                prop_assert!(roles.contains(rbac::ROLE_NAME));
            }
        }
    }
}
