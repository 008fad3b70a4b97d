//! The objects of the hub that an evaluation of Placements reads, and the findings about them, at their places in the input:
//! its problems, and typos in the names that tie objects together (keys of OCM's labels, Placements of decisions, cluster
//! sets). OCM accepts such a typo: a cluster is then in no set, and decisions without a Placement place nothing.

use std::collections::BTreeSet;

use apimachinery::{Field, GroupKind, Identity};
use ocm_placement::{
    CLUSTER_SET_LABEL, Difference, EmptiedBy, Evaluation, InvalidField, Inventory, Location,
    Object as Placed, ObjectId, Problem, ProblemKind,
};

use crate::api::ocm::{GROUP, refusals, validate};
use crate::diagnostic::{Code, Finding, Findings, NameIndex, Place, Severity, first_names, nearest};
use crate::hub::Hub;
use crate::object::Object;
use crate::object::well_known::PLACEMENT_LABEL;

/// Misconfigured Placements (also those that OCM cannot sync), Placements that select no cluster, times that would
/// decide something in a run without a clock, and Placements that a live hub decides by chance or never settles.
pub fn problems(hub: &Hub, evaluation: &Evaluation<'_>) -> Vec<Finding> {
    let problems = all_problems(evaluation);
    problems.iter().map(|problem| finding(hub, problem)).collect()
}

pub(super) fn all_problems(evaluation: &Evaluation<'_>) -> Vec<Problem> {
    let mut problems = evaluation.problems();
    problems.extend(evaluation.unsettled());
    problems
}

/// Placements whose decisions no API server would take.
pub fn unwritable(hub: &Hub, evaluation: &Evaluation<'_>) -> Vec<Finding> {
    let unwritable = evaluation.unwritable();
    unwritable.iter().map(|problem| finding(hub, problem)).collect()
}

/// A field that the scheduler cannot read, although the schema let it pass.
fn invalid_field(hub: &Hub, field: &InvalidField) -> Finding {
    let identity = object_of(hub, &field.at).identity();
    let message = format!("{identity}: {field}");
    Finding::new(Code::OBJECT_SCHEMA, place_of(hub, &field.at), message)
        .help("correct the field: a hub refuses it, or accepts it and cannot schedule the Placement")
}

/// The finding of a problem.
pub(super) fn finding(hub: &Hub, problem: &Problem) -> Finding {
    let at = place_of(hub, &problem.at);
    let key = object_of(hub, &problem.placement).key();
    match &problem.kind {
        ProblemKind::NeedsNow { decides } => {
            let Problem { namespace, name, .. } = problem;
            let message = format!("Placement {namespace}/{name} depends on the time: {decides}");
            Finding::new(Code::PLACEMENT_NEEDS_NOW, at, message)
                .help("pass the time with `--now`, such as `--now 2026-06-01T00:00:00Z`")
        }
        ProblemKind::NotScheduled { message } => {
            let text = format!(
                "OCM cannot schedule Placement {key}: a cluster set that it needs has an invalid selector"
            );
            Finding::new(Code::PLACEMENT_MISCONFIGURED, at, text)
                .label(message.clone())
                .help("correct the selector of the set; until then, earlier decisions do not change")
                .related(place_of(hub, &problem.placement), "this Placement needs it")
        }
        ProblemKind::Misconfigured { message } => misconfigured(hub, problem, message)
            .help("correct the Placement; until then, it selects nothing and earlier decisions are removed"),
        ProblemKind::MisconfiguredGroups { message } => misconfigured(hub, problem, message)
            .help("correct the decision groups; the clusters of this group and of later ones are lost"),
        ProblemKind::SelectsNothing { emptied_by } => {
            let (reason, help) = reason(&problem.namespace, emptied_by);
            let message = format!("Placement {key} selects no cluster: {reason}");
            Finding::new(Code::PLACEMENT_NO_CLUSTERS, at, message).help(help)
        }
        ProblemKind::OrderDependent { contested } => {
            let clusters = first_names(contested, MOST_NAMES);
            let message =
                format!("the order in which OCM schedules Placements decides which clusters {key} gets");
            Finding::new(Code::PLACEMENT_ORDER_DEPENDENT, at, message)
                .note(format!("in some orders and not in others: {clusters}"))
                .help("commit its decisions, which are the same in any order: `spokewright placement --write DIR`")
        }
        ProblemKind::NeverSettles => {
            let message = format!("OCM would keep moving Placement {key} between clusters");
            Finding::new(Code::PLACEMENT_UNSETTLED, at, message)
                .help("give the prioritizer Steady a weight above 0, so that chosen clusters stay chosen")
        }
        ProblemKind::NameIsNoLabelValue => {
            let message = format!(
                "the name of Placement {key} cannot be the value of a label, so it can have no decisions"
            );
            Finding::new(Code::OBJECT_INVALID_NAME, at, message).help("use a name of 63 characters at most")
        }
        // A problem that a later version of the scheduler knows.
        other => misconfigured(hub, problem, &format!("{other:?}")),
    }
}

/// Why a Placement selects nothing, and what to do.
fn reason(namespace: &str, lost: &EmptiedBy) -> (String, String) {
    let listed = |sets: &[String]| first_names(sets, MOST_NAMES);
    let bind = |sets: &[String]| {
        let set = sets.first().map_or("SET", String::as_str);
        format!(
            "add a ManagedClusterSetBinding `{set}` to namespace `{namespace}`, with `spec: {{clusterSet: {set}}}`"
        )
    };
    match lost {
        EmptiedBy::NotBound { sets } => (
            format!("no ManagedClusterSetBinding in namespace `{namespace}` names a cluster set that exists"),
            bind(sets),
        ),
        EmptiedBy::NoIntersection { sets } => {
            let because = format!("none of its cluster sets is bound to namespace `{namespace}`");
            (format!("{because}: {}", listed(sets)), bind(sets))
        }
        EmptiedBy::EmptySets { sets } => {
            let label = match sets.as_slice() {
                [set] => format!("`{CLUSTER_SET_LABEL}: {set}`"),
                _ => format!("`{CLUSTER_SET_LABEL}` with the name of one of them"),
            };
            let because = format!("its cluster sets have no clusters: {}", listed(sets));
            (because, format!("give a ManagedCluster the label {label}"))
        }
        lost => {
            let because = match lost {
                EmptiedBy::Predicates { clusters: 1 } => {
                    "the only cluster of its sets does not match its predicates".to_owned()
                }
                EmptiedBy::Predicates { clusters } => {
                    format!("none of the {clusters} clusters of its sets matches its predicates")
                }
                EmptiedBy::Taints { clusters: 1 } => {
                    "the only cluster that matches has a taint that it does not tolerate".to_owned()
                }
                EmptiedBy::Taints { clusters } => format!(
                    "each of the {clusters} clusters that match has a taint that it does not tolerate"
                ),
                // A step that a later version of the scheduler knows.
                _ => "OCM finds no cluster".to_owned(),
            };
            let help = "`spokewright placement --why CLUSTER` shows why a cluster is not selected";
            (because, help.to_owned())
        }
    }
}

fn misconfigured(hub: &Hub, problem: &Problem, message: &str) -> Finding {
    let key = object_of(hub, &problem.placement).key();
    let text = format!("OCM would call Placement {key} misconfigured");
    Finding::new(Code::PLACEMENT_MISCONFIGURED, place_of(hub, &problem.at), text).label(message)
}

/// At most so many clusters are named.
const MOST_NAMES: usize = 10;

/// The warning `placement/differs`, where no object is missing from the evaluation for what is wrong with it. If the
/// evaluation selects no cluster, `why_empty` is the problem of the Placement, if it has one.
///
/// On a live hub, an evaluation that is used instead of the decisions deletes works: so the help proposes it only if no
/// cluster leaves.
pub(super) fn differs(
    hub: &Hub,
    inventory: &Inventory<'_>,
    difference: &Difference,
    why_empty: Option<&Problem>,
) -> Finding {
    let problem = why_empty.map(|problem| finding(hub, problem));
    let Difference { namespace, name, .. } = difference;
    let part = |clusters: &[String], text: &str| {
        (!clusters.is_empty()).then(|| format!("{text}: {}", first_names(clusters, MOST_NAMES)))
    };
    let parts = [
        part(&difference.only_given, "only in the PlacementDecisions"),
        part(&difference.only_evaluated, "only in the evaluation"),
    ];
    let place = place_of(hub, &difference.decisions);
    let message =
        format!("PlacementDecisions of {namespace}/{name} and its evaluation give different clusters");
    let finding = Finding::new(Code::PLACEMENT_DIFFERS, place, message)
        .related(place_of(hub, &difference.placement), "the Placement");
    let finding = match problem {
        Some(problem) => {
            let help = problem.help.as_deref().unwrap_or_default().to_owned();
            finding.note(problem.message.to_string()).help(help)
        }
        None if difference.only_given.is_empty() => finding.help(
            "render with `--placement evaluate`, or refresh the files with `spokewright placement --write DIR`",
        ),
        None => finding.help(format!(
            "export the decisions of the hub again, or correct what the Placement selects by: to use the evaluation would \
             delete the works of {}",
            first_names(&difference.only_given, MOST_NAMES)
        )),
    };
    let given = decisions(hub).filter(|(decision, placement)| {
        (decision.namespace_or_empty(), *placement) == (namespace.as_str(), name.as_str())
    });
    let given = given.map(|(decision, _)| decision);
    let left_out = hub.objects.iter().filter(|object| {
        object.api_version.group == GROUP && inventory.rejected().contains(&object.identity())
    });
    // What the evaluation lacks may be the whole difference: then only that is reported.
    let refused = hub.refused.iter();
    let refused = refused.filter(|object| object.api_version.group == GROUP);
    // A typo in the set of a cluster, or in those of the Placement.
    let of_group = |kind: &str, name: &str| hub.objects.find(GROUP, kind, None, name);
    let clusters = difference.only_given.iter();
    let clusters = clusters.filter_map(|name| of_group("ManagedCluster", name));
    let clusters = clusters.filter(|cluster| {
        let set = cluster.label(CLUSTER_SET_LABEL);
        set.is_some_and(|set| of_group("ManagedClusterSet", set).is_none())
    });
    let finding = given
        .chain(left_out)
        .chain(refused)
        .chain(clusters)
        .chain([object_of(hub, &difference.placement)])
        .fold(finding, |finding, object| finding.follows_from(object.place("")));
    parts.into_iter().flatten().fold(finding, Finding::note)
}

/// The finding that a name is not in the input, where one that is near it is.
pub(super) fn did_you_mean(finding: Finding, hub: &Hub, missing: &Identity, near: &str) -> Finding {
    let finding = finding.help(format!("did you mean `{near}`?"));
    let GroupKind { group, kind } = &missing.group_kind;
    let near = hub.objects.find(group, kind, missing.namespace.as_deref(), near);
    near.into_iter().fold(finding, |finding, near| {
        finding.lacks(missing.to_string(), near.place("/metadata/name"))
    })
}

/// The object of a location.
#[expect(
    clippy::indexing_slicing,
    reason = "numbers come from this hub; another object's place would be a lie"
)]
fn object_of<'a>(hub: &'a Hub, at: &Location) -> &'a Object {
    &hub.objects.iter().as_slice()[at.object.0]
}

/// The place of a location of an evaluation of this hub.
pub fn place_of(hub: &Hub, at: &Location) -> Place {
    object_of(hub, at).place(&at.pointer)
}

/// The objects that placement depends on. An object that an API server would refuse gets a finding and is left out; if
/// the input has the CRD itself, the hub has already reported what its schema refuses.
pub fn inventory<'a>(hub: &'a Hub, findings: &mut Findings) -> Inventory<'a> {
    let has_crds = hub.crds.keys().any(|kind| kind.group == GROUP);
    let mut refused = Vec::new();
    let mut kept = Vec::new();
    for (number, object) in hub.objects.iter().enumerate() {
        let mut wrong = validate(object);
        let is_reported = has_crds && !wrong.is_empty();
        if wrong.is_empty() {
            wrong = refusals(object);
        }
        if wrong.is_empty() {
            kept.push(Placed {
                // The number leads back here: see `object_of`.
                id: ObjectId(number),
                value: &object.value,
                namespace: object.namespace.as_deref(),
            });
            continue;
        }
        refused.push(object.identity());
        findings.extend(wrong.into_iter().filter(|_| !is_reported));
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
    let of_kinds = LABELS.iter();
    let all = of_kinds.flat_map(|(kind, known)| of_kind(kind).map(|object| (object, *known)));
    let misspelled = |(object, known): (&Object, &[&str])| {
        let labels = object.root().get("metadata").get("labels");
        let is_missing = |label: &&str| !labels.get(label).is_present();
        let missing: Vec<&str> = known.iter().copied().filter(is_missing).collect();
        // A label that OCM knows is never the misspelled form of another one.
        let unknown = labels.entries().filter(|(key, _)| !known.contains(key));
        let findings = unknown.filter_map(|(key, value)| {
            let near = nearest(key, missing.iter().copied())?;
            let place = object.key_place(&value.pointer());
            let message = format!("{}: OCM does not read the label `{key}`", object.identity());
            let mut finding = Finding::new(Code::OBJECT_UNKNOWN_FIELD, place, message)
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

/// The PlacementDecisions, each with the name of its Placement.
pub(super) fn decisions(hub: &Hub) -> impl Iterator<Item = (&Object, &str)> {
    let decisions = hub.objects.of_kind(GROUP, "PlacementDecision").iter();
    decisions.filter_map(|decision| Some((decision, decision.label(PLACEMENT_LABEL)?)))
}

/// Decisions for a Placement that is not in the input, where one without decisions is near it. Without a near one, the
/// input has the decisions alone, which is usual.
pub(super) fn stray_decisions(hub: &Hub) -> Vec<Finding> {
    let decided = decisions(hub).map(|(decision, placement)| (decision.namespace_or_empty(), placement));
    let decided: BTreeSet<(&str, &str)> = decided.collect();
    let placements = hub.objects.of_kind(GROUP, "Placement").iter();
    let placements = placements.map(|placement| (placement.namespace_or_empty(), placement.name.as_str()));
    let placements: BTreeSet<(&str, &str)> = placements.collect();
    // A Placement that has decisions already is not the one that these were meant for.
    let undecided = || placements.iter().filter(|key| !decided.contains(*key));
    let stray = decisions(hub).filter_map(|(decision, placement)| {
        let own = decision.namespace_or_empty();
        if placements.contains(&(own, placement)) {
            return None;
        }
        let here = undecided().filter(|(namespace, _)| *namespace == own);
        let named = undecided().filter(|(_, name)| *name == placement);
        let label = decision.root().get("metadata").get("labels").get(PLACEMENT_LABEL);
        let (pointer, help, near, field) = match nearest(placement, here.map(|(_, name)| *name)) {
            Some(near) => {
                let help = format!("did you mean `{near}`?");
                (label.pointer(), help, (own, near), "/metadata/name")
            }
            None => {
                let near = nearest(own, named.map(|(namespace, _)| *namespace))?;
                let (field, help) = ("/metadata/namespace", format!("did you mean namespace `{near}`?"));
                (field.to_owned(), help, (near, placement), field)
            }
        };
        let near = hub.objects.find(GROUP, "Placement", Some(near.0), near.1)?;
        let what = format!("is for Placement {own}/{placement}, which is not in the input");
        let finding = decision.finding(Code::PLACEMENT_NOT_FOUND, &pointer, what);
        Some(
            finding
                .severity(Severity::Warning)
                .missing(Identity::new(GROUP, "Placement", None, placement))
                .help(help)
                .lacks(format!("Placement {own}/{placement}"), near.place(field)),
        )
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
    // Without any set in the input, all names of sets would be unknown.
    if sets.is_empty() {
        return Vec::new();
    }
    let known = NameIndex::new(sets.iter().copied());
    let unknown = |object: &Object, field: &Field<'_>| {
        let name = field.str()?;
        let near = known
            .nearest(name)
            .filter(|near| *near != name && !OF_OCM.contains(&name))?;
        let what = format!("names the cluster set `{name}`, which is not in the input");
        let finding = object.finding(Code::PLACEMENT_UNKNOWN_SET, &field.pointer(), what);
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
