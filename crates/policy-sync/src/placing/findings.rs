//! The problems of an evaluation, as findings, at the places of its objects in the input.

use apimachinery::{GroupKind, Identity};
use ocm_placement::{
    CLUSTER_SET_LABEL, Difference, Evaluation, InvalidField, Inventory, Location, Lost, Object as Placed,
    ObjectId, Problem, ProblemKind,
};

use crate::diagnostic::{Code, Finding, Place, first_names};
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
pub(super) fn invalid_field(hub: &Hub, field: &InvalidField) -> Finding {
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
        ProblemKind::SelectsNothing { lost } => {
            let (reason, help) = reason(&problem.namespace, lost);
            let message = format!("Placement {key} selects no cluster: {reason}");
            Finding::new(Code::PLACEMENT_NO_CLUSTERS, at, message).help(help)
        }
        ProblemKind::OrderDependent { contested } => {
            let message =
                format!("the order in which OCM schedules Placements decides which clusters {key} gets");
            Finding::new(Code::PLACEMENT_ORDER_DEPENDENT, at, message)
                .note(format!(
                    "in some orders and not in others: {}",
                    first_names(contested, MOST_NAMES)
                ))
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
fn reason(namespace: &str, lost: &Lost) -> (String, String) {
    let listed = |sets: &[String]| first_names(sets, MOST_NAMES);
    let bind = |set: &str| {
        format!(
            "add a ManagedClusterSetBinding `{set}` to namespace `{namespace}`, with `spec: {{clusterSet: {set}}}`"
        )
    };
    let why = "`spokewright placement --why CLUSTER` shows why a cluster is not selected";
    match lost {
        Lost::NotBound { sets } => (
            format!("no ManagedClusterSetBinding in namespace `{namespace}` names a cluster set that exists"),
            bind(sets.first().map_or("SET", String::as_str)),
        ),
        Lost::NoIntersection { sets } => (
            format!(
                "none of its cluster sets is bound to namespace `{namespace}`: {}",
                listed(sets)
            ),
            bind(sets.first().map_or("SET", String::as_str)),
        ),
        Lost::EmptySets { sets } => (
            format!("its cluster sets have no clusters: {}", listed(sets)),
            match sets.as_slice() {
                [set] => format!("give a ManagedCluster the label `{CLUSTER_SET_LABEL}: {set}`"),
                _ => format!(
                    "give a ManagedCluster the label `{CLUSTER_SET_LABEL}` with the name of one of them"
                ),
            },
        ),
        Lost::Predicates { clusters: 1 } => (
            "the only cluster of its sets does not match its predicates".to_owned(),
            why.to_owned(),
        ),
        Lost::Predicates { clusters } => (
            format!("none of the {clusters} clusters of its sets matches its predicates"),
            why.to_owned(),
        ),
        Lost::Taints { clusters: 1 } => (
            "the only cluster that matches has a taint that it does not tolerate".to_owned(),
            why.to_owned(),
        ),
        Lost::Taints { clusters } => (
            format!("each of the {clusters} clusters that match has a taint that it does not tolerate"),
            why.to_owned(),
        ),
        // A step that a later version of the scheduler knows.
        _ => ("OCM finds no cluster".to_owned(), why.to_owned()),
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
    let finding = Finding::new(
        Code::PLACEMENT_DIFFERS,
        place_of(hub, &difference.decisions),
        format!("PlacementDecisions of {namespace}/{name} and its evaluation give different clusters"),
    )
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
    let given = hub
        .objects
        .of_kind(ocm_placement::GROUP, "PlacementDecision")
        .iter();
    let given = given.filter(|decision| {
        decision.namespace_or_empty() == namespace && decision.label(PLACEMENT_LABEL) == Some(name)
    });
    let left_out = hub.objects.iter().filter(|object| {
        object.api_version.group == ocm_placement::GROUP && inventory.rejected().contains(&object.identity())
    });
    let refused = hub.refused.iter();
    let refused = refused.filter(|object| object.api_version.group == ocm_placement::GROUP);
    // A typo in the set of a cluster, or in those of the Placement.
    let of_group = |kind: &str, name: &str| hub.objects.find(ocm_placement::GROUP, kind, None, name);
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

/// Every object of the hub under its number, which leads back here.
pub(super) fn objects(hub: &Hub) -> impl Iterator<Item = (&Object, Placed<'_>)> {
    hub.objects.iter().enumerate().map(|(number, object)| {
        let placed = Placed {
            id: ObjectId(number),
            value: &object.value,
            namespace: object.namespace.as_deref(),
        };
        (object, placed)
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
