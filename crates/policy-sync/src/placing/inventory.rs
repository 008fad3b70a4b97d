//! The objects of the hub that an evaluation reads, and typos in the names that tie them together: keys of OCM's labels,
//! Placements of decisions, cluster sets.
//!
//! OCM accepts all of them: a cluster with a typo in its label is in no set, and decisions without a Placement place
//! nothing.

use std::collections::BTreeSet;

use apimachinery::{Field, Identity};
use ocm_placement::{CLUSTER_SET_LABEL, Inventory};

use super::findings::{did_you_mean, invalid_field, objects};
use crate::api::ocm::{GROUP, refusals, validate};
use crate::diagnostic::{Code, Finding, Findings, NameIndex, Severity, nearest};
use crate::hub::Hub;
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;

/// The objects that placement depends on. An object that an API server would refuse gets a finding and is left out; if
/// the input has the CRD itself, the hub has already reported what its schema refuses.
pub fn inventory<'a>(hub: &'a Hub, findings: &mut Findings) -> Inventory<'a> {
    let speaks = !hub.crds.keys().any(|kind| kind.group == GROUP);
    let mut refused = Vec::new();
    let mut kept = Vec::new();
    for (object, placed) in objects(hub) {
        let by_schema = validate(object);
        let by_webhook = if by_schema.is_empty() {
            refusals(object)
        } else {
            Vec::new()
        };
        if by_schema.is_empty() && by_webhook.is_empty() {
            kept.push(placed);
            continue;
        }
        refused.push(object.identity());
        if speaks {
            findings.extend(by_schema);
        }
        findings.extend(by_webhook);
    }
    let (mut inventory, invalid) = Inventory::read(kept);
    inventory.reject(refused);
    findings.extend(invalid.iter().map(|field| invalid_field(hub, field)));
    findings.extend(unknown_sets(hub));
    findings.extend(misspelled_labels(hub));
    findings.extend(stray_decisions(hub));
    inventory
}

/// Kinds with the labels that OCM reads on them
/// (docs/systems/ocm-placement.md#placementdecisions).
const LABELS: [(&str, &[&str]); 2] = [
    ("ManagedCluster", &[CLUSTER_SET_LABEL]),
    (
        "PlacementDecision",
        &[
            PLACEMENT_LABEL,
            "cluster.open-cluster-management.io/decision-group-index",
            "cluster.open-cluster-management.io/decision-group-name",
        ],
    ),
];

/// Labels whose keys are near to one that OCM reads, which the object lacks.
pub(super) fn misspelled_labels(hub: &Hub) -> Vec<Finding> {
    let of_kind = |kind: &str| hub.objects.of_kind(GROUP, kind).iter();
    let all = LABELS
        .iter()
        .flat_map(|(kind, known)| of_kind(kind).map(|object| (object, *known)));
    let misspelled = |(object, known): (&Object, &[&str])| {
        let labels = object.root().get("metadata").get("labels");
        let is_missing = |label: &&str| !labels.get(label).is_present();
        let missing: Vec<&str> = known.iter().copied().filter(is_missing).collect();
        let unknown = labels.entries().filter(|(key, _)| !known.contains(key));
        let findings = unknown.filter_map(|(key, value)| {
            let near = nearest(key, missing.iter().copied())?;
            let mut finding = Finding::new(
                Code::OBJECT_UNKNOWN_FIELD,
                object.key_place(&value.pointer()),
                format!("{}: OCM does not read the label `{key}`", object.identity()),
            )
            .help(format!("did you mean `{near}`?"));
            // Only the scheduler labels decisions. A cluster may have labels that OCM does not read.
            if object.kind == "ManagedCluster" {
                finding.severity = Severity::Warning;
            }
            Some(finding.misspells(object.place(&labels.get(near).pointer())))
        });
        findings.collect::<Vec<_>>()
    };
    all.flat_map(misspelled).collect()
}

/// Decisions for a Placement that is not in the input, where one without decisions is near it. Without a near one, the
/// input has the decisions alone, which is usual.
pub(super) fn stray_decisions(hub: &Hub) -> Vec<Finding> {
    let of_kind = |kind: &str| hub.objects.of_kind(GROUP, kind).iter();
    let decisions: Vec<(&Object, &str)> = of_kind("PlacementDecision")
        .filter_map(|decision| Some((decision, decision.label(PLACEMENT_LABEL)?)))
        .collect();
    let decided: BTreeSet<(&str, &str)> = decisions
        .iter()
        .map(|(decision, placement)| (decision.namespace_or_empty(), *placement))
        .collect();
    let placements: BTreeSet<(&str, &str)> = of_kind("Placement")
        .map(|placement| (placement.namespace_or_empty(), placement.name.as_str()))
        .collect();
    let undecided = || placements.iter().filter(|key| !decided.contains(*key));
    let stray = decisions.iter().filter_map(|(decision, placement)| {
        let own = decision.namespace_or_empty();
        if placements.contains(&(own, *placement)) {
            return None;
        }
        let here = undecided().filter(|(namespace, _)| *namespace == own);
        let named = undecided().filter(|(_, name)| name == placement);
        let label = decision.root().get("metadata").get("labels").get(PLACEMENT_LABEL);
        let finding = |pointer: &str, help: String| {
            decision
                .finding(
                    Code::PLACEMENT_NOT_FOUND,
                    pointer,
                    format!("is for Placement {own}/{placement}, which is not in the input"),
                )
                .severity(Severity::Warning)
                .missing(Identity::new(GROUP, "Placement", None, placement))
                .help(help)
        };
        let (finding, key, field) = if let Some(near) = nearest(placement, here.map(|(_, name)| *name)) {
            let finding = finding(&label.pointer(), format!("did you mean `{near}`?"));
            (finding, (own, near), "/metadata/name")
        } else {
            let near = nearest(own, named.map(|(namespace, _)| *namespace))?;
            let finding = finding("/metadata/namespace", format!("did you mean namespace `{near}`?"));
            (finding, (near, *placement), "/metadata/namespace")
        };
        let near = hub.objects.find(GROUP, "Placement", Some(key.0), key.1)?;
        Some(finding.lacks(format!("Placement {own}/{placement}"), near.place(field)))
    });
    stray.collect()
}

/// Sets that OCM makes by itself.
const OF_OCM: [&str; 2] = ["default", "global"];

/// Names of cluster sets in labels and Placements that are not in the input and near to one that is.
pub(super) fn unknown_sets(hub: &Hub) -> Vec<Finding> {
    let of_kind = |kind: &str| hub.objects.of_kind(GROUP, kind).iter();
    let sets: Vec<&str> = of_kind("ManagedClusterSet")
        .map(|set| set.name.as_str())
        .collect();
    if sets.is_empty() {
        return Vec::new();
    }
    let known = NameIndex::new(sets.iter().copied());
    let unknown = |object: &Object, field: &Field<'_>| {
        let name = field.str()?;
        let near = known
            .nearest(name)
            .filter(|near| *near != name && !OF_OCM.contains(&name))?;
        let finding = object.finding(
            Code::PLACEMENT_UNKNOWN_SET,
            &field.pointer(),
            format!("names the cluster set `{name}`, which is not in the input"),
        );
        let missing = Identity::new(GROUP, "ManagedClusterSet", None, name);
        Some(did_you_mean(finding, hub, &missing, near))
    };
    let labels = of_kind("ManagedCluster").filter_map(|cluster| {
        let labels = cluster.root().get("metadata").get("labels");
        unknown(cluster, &labels.get(CLUSTER_SET_LABEL))
    });
    let placements = of_kind("Placement").flat_map(|placement| {
        let sets = placement.root().get("spec").get("clusterSets");
        let sets: Vec<Field<'_>> = sets.items().collect();
        sets.into_iter().filter_map(move |set| unknown(placement, &set))
    });
    labels.chain(placements).collect()
}
