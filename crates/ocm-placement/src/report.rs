//! The report: all results of an evaluation, with names instead of numbers. Test cases compare this shape.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apimachinery::Field;
use kube_json::{Value, json};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::placement::Placement;
use crate::api::{GROUP, GROUP_INDEX_LABEL, GROUP_NAME_LABEL};
use crate::conditions::{Condition, ConditionStatus, conditions};
use crate::decision_groups::group_name;
use crate::evaluate::Evaluation;
use crate::ids::{ClusterId, PlacementId};
use crate::input::Options;
use crate::outcome::{Fault, Outcome, SchedulerStatus, Scores, Trace};
use crate::placement_decisions::{chunks, given_labels, object_name};
use crate::prioritizers::Kind;

/// The results of all Placements of an input. `P` is a list of them, or makes them one after the other while they are
/// written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report<P = Vec<PlacementReport>> {
    /// snapshot, sequential or fixpoint.
    pub mode: &'static str,
    /// The time of the evaluation, if one was given.
    pub now: Option<String>,
    /// How many rounds were run; always 1 except with fixpoint.
    pub rounds: usize,
    /// Fixpoint only: whether the last round changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converged: Option<bool>,
    /// What was added to the input.
    pub options: Options,
    /// Objects that an API server would refuse, left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<String>,
    /// Sorted by namespace and name.
    pub placements: P,
}

/// One Placement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlacementReport {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// What kept OCM from finishing the sync.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_error: Option<String>,
    /// How the scheduler ended.
    pub scheduler_status: SchedulerStatus,
    /// The plugin that called it misconfigured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_plugin: Option<String>,
    /// Its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_message: Option<String>,
    /// Sorted.
    pub eligible_cluster_sets: Vec<String>,
    /// Members of those sets, sorted.
    pub available_clusters: Vec<String>,
    /// What passed each filter; `None` if the evaluation stopped before.
    pub filters: Option<Vec<FilterReport>>,
    /// What each prioritizer gave; `None` if the evaluation stopped before.
    pub prioritizers: Option<Vec<PrioritizerReport>>,
    /// Totals in the order of selection.
    pub ranking: Option<Vec<Ranked>>,
    /// In the order of output.
    pub decisions: Vec<Decision>,
    /// The objects.
    pub placement_decisions: Vec<DecisionObject>,
    /// `status.decisionGroups`.
    pub decision_groups: Vec<DecisionGroupReport>,
    /// `status.numberOfSelectedClusters`.
    pub number_of_selected_clusters: usize,
    /// How many clusters were requested but not found.
    pub unscheduled: usize,
    /// When the first toleration in use on an existing decision expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeue_at: Option<String>,
    /// `status.conditions`.
    pub conditions: Vec<Condition>,
}

/// The clusters that passed a filter and those before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FilterReport {
    /// `Predicate`, then `Predicate,TaintToleration`.
    pub name: &'static str,
    /// Sorted.
    pub filtered_clusters: Vec<String>,
}

/// What a prioritizer gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PrioritizerReport {
    /// Name.
    pub name: String,
    /// Weight, never 0.
    pub weight: i64,
    /// By cluster; one without a score is absent.
    pub scores: BTreeMap<String, i64>,
}

/// A cluster and its total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ranked {
    /// Name.
    pub cluster_name: String,
    /// Sum of weight times score.
    pub score: i64,
}

/// A selected cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Decision {
    /// Name.
    pub cluster_name: String,
    /// Its total; 0 if nothing was ranked.
    pub score: i64,
    /// The group's name, `""` for the rest.
    pub decision_group_name: String,
    /// The group's position.
    pub decision_group_index: String,
    /// The PlacementDecision that contains it.
    pub placement_decision: String,
}

/// A PlacementDecision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DecisionObject {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `status.decisions[].clusterName`.
    pub clusters: Vec<String>,
}

/// One of `status.decisionGroups`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecisionGroupReport {
    /// Position.
    pub decision_group_index: usize,
    /// Name.
    pub decision_group_name: String,
    /// Names of its PlacementDecisions.
    pub decisions: Vec<String>,
    /// How many clusters they have.
    pub cluster_count: usize,
}

impl Evaluation<'_> {
    /// The whole report. Filters, scores and ranking are there after an evaluation with full detail only.
    pub fn report(&self) -> Report {
        self.report_with(self.placement_reports().collect())
    }

    /// The report with its Placements in another form: thousands of them with thousands of clusters each need not be in
    /// memory at once ([`Self::placement_reports`] makes them one by one).
    pub fn report_with<P>(&self, placements: P) -> Report<P> {
        let input = &self.plan.input;
        Report {
            mode: input.mode.into(),
            now: input.now.map(|now| now.to_string()),
            rounds: self.rounds,
            converged: self.converged,
            options: input.options,
            rejected: input.inventory.rejected.iter().map(ToString::to_string).collect(),
            placements,
        }
    }

    /// The report of each Placement, by namespace and name.
    pub fn placement_reports(&self) -> impl Iterator<Item = PlacementReport> {
        self.outcomes
            .iter()
            .map(|(id, outcome)| self.placement_report(id, outcome))
    }

    /// Every PlacementDecision as OCM would leave it, by namespace, Placement and number: documents for files, or for
    /// the next run's input. Without the owner reference, which needs the Placement's uid.
    ///
    /// A Placement that is left alone or cannot be synced keeps the objects of the input.
    pub fn decision_objects(&self) -> impl Iterator<Item = Value> {
        self.placement_reports().flat_map(|report| {
            let namespace = report.namespace;
            let objects = report.placement_decisions.into_iter();
            objects.map(move |object| decision_object(&namespace, &object))
        })
    }

    fn placement_report(&self, id: PlacementId, outcome: &Outcome<'_>) -> PlacementReport {
        let placement = &self.plan.input.inventory.placements[id];
        let eligible_cluster_sets = self.plan.sets.names(&self.plan.sets.for_placement(id).sets);
        let fault = outcome.fault.as_ref();
        let message = |fault: &Fault| fault.message.clone();
        let misconfigured = fault.filter(|_| outcome.status == SchedulerStatus::Misconfigured);
        let mut report = PlacementReport {
            namespace: placement.namespace.to_owned(),
            name: placement.name.to_owned(),
            sync_error: fault.map(message),
            scheduler_status: outcome.status,
            scheduler_plugin: misconfigured.and_then(Fault::plugin).map(str::to_owned),
            scheduler_message: misconfigured.map(message),
            eligible_cluster_sets,
            available_clusters: self.names(&outcome.available),
            number_of_selected_clusters: outcome.selected,
            unscheduled: outcome.unscheduled,
            requeue_at: outcome.requeue_at.map(|time| time.to_string()),
            ..PlacementReport::default()
        };
        if outcome.keeps() {
            self.keep(placement, outcome, &mut report);
            return report;
        }
        self.trace(&outcome.trace, &mut report);
        self.decide(id, placement, outcome, &mut report);
        report.conditions = conditions(fault, self.emptied_by(id, outcome), outcome.unscheduled);
        report
    }

    fn name(&self, cluster: ClusterId) -> String {
        self.plan.fleet.name(cluster).to_owned()
    }

    fn names(&self, clusters: &[ClusterId]) -> Vec<String> {
        clusters.iter().map(|cluster| self.name(*cluster)).collect()
    }

    /// A cluster that lacks a resource has no score of it, not even 0.
    fn has_score(&self, kind: &Kind<'_>, cluster: ClusterId) -> bool {
        match kind {
            Kind::Allocatable(resource) => self.plan.resources.amount(*resource, cluster).is_some(),
            _ => true,
        }
    }

    fn trace(&self, trace: &Trace<'_>, report: &mut PlacementReport) {
        let filter = |name, clusters: &Option<Arc<[ClusterId]>>| {
            clusters.as_ref().map(|clusters| FilterReport {
                name,
                filtered_clusters: self.names(clusters),
            })
        };
        report.filters = filter("Predicate", &trace.predicate).map(|predicate| {
            let tolerated = filter("Predicate,TaintToleration", &trace.tolerated);
            std::iter::once(predicate).chain(tolerated).collect()
        });
        let candidates = trace.tolerated.as_deref().unwrap_or_default();
        let prioritizer = |scored: &Scores<'_>| {
            let kind = scored.prioritizer.kind;
            let scores = candidates.iter().zip(scored.scores.iter());
            let scores = scores.filter(|(cluster, _)| self.has_score(&kind, **cluster));
            PrioritizerReport {
                name: kind.name(),
                weight: scored.prioritizer.weight,
                scores: scores
                    .map(|(cluster, score)| (self.name(*cluster), *score))
                    .collect(),
            }
        };
        let prioritizers = trace.prioritizers.as_ref();
        report.prioritizers = prioritizers.map(|scored| scored.iter().map(prioritizer).collect());
        let ranked = |(score, cluster): &(Reverse<i64>, ClusterId)| Ranked {
            cluster_name: self.name(*cluster),
            score: score.0,
        };
        let ranking = trace.ranking.as_ref();
        report.ranking = ranking.map(|ranking| ranking.iter().map(ranked).collect());
    }

    fn decide(
        &self,
        id: PlacementId,
        placement: &Placement<'_>,
        outcome: &Outcome<'_>,
        report: &mut PlacementReport,
    ) {
        let inventory = self.plan.input.inventory;
        let objects = &self.results[id].objects;
        let ranking = outcome.trace.ranking.iter().flatten();
        let scores: HashMap<ClusterId, i64> = ranking.map(|(score, cluster)| (*cluster, score.0)).collect();
        let groups = &outcome.groups;
        for (position, group) in groups.groups.iter().enumerate() {
            report.decision_groups.push(DecisionGroupReport {
                decision_group_index: position,
                decision_group_name: group_name(placement, group.named).to_owned(),
                decisions: Vec::new(),
                cluster_count: group.end.saturating_sub(group.start),
            });
        }
        for chunk in chunks(groups) {
            let Some(group) = report.decision_groups.get_mut(chunk.group) else {
                continue;
            };
            let object = object_name(placement.name, chunk.number);
            group.decisions.push(object.clone());
            let clusters = groups.part(chunk.start, chunk.end);
            let labels = objects
                .get(&chunk.number)
                .map(|object| object.labels.resolve(inventory, id))
                .unwrap_or_default();
            let clusters = clusters.iter().map(|cluster| {
                let score = scores.get(cluster).copied().unwrap_or_default();
                (self.name(*cluster), score)
            });
            report.add(object, labels, clusters);
        }
    }

    /// A Placement that is not synced keeps the decisions and the conditions of the input.
    fn keep(&self, placement: &Placement<'_>, outcome: &Outcome<'_>, report: &mut PlacementReport) {
        let inventory = self.plan.input.inventory;
        for (position, decision) in inventory.decisions.iter() {
            if decision.namespace != placement.namespace || decision.placement != Some(placement.name) {
                continue;
            }
            let clusters = decision.clusters.iter().map(|name| ((*name).to_owned(), 0));
            report.add(
                decision.name.to_owned(),
                given_labels(inventory, position),
                clusters,
            );
        }
        report.number_of_selected_clusters = report.decisions.len();
        if outcome.status == SchedulerStatus::Skipped {
            let conditions = placement.object.root().get("status").get("conditions");
            report.conditions = conditions
                .items()
                .map(|condition| existing_condition(&condition))
                .collect();
        }
    }
}

impl PlacementReport {
    /// Adds a PlacementDecision with the score of each of its clusters.
    fn add(
        &mut self,
        name: String,
        labels: BTreeMap<String, String>,
        clusters: impl Iterator<Item = (String, i64)>,
    ) {
        let label = |key: &str| labels.get(key).cloned().unwrap_or_default();
        let mut names = Vec::new();
        for (cluster, score) in clusters {
            self.decisions.push(Decision {
                cluster_name: cluster.clone(),
                score,
                decision_group_name: label(GROUP_NAME_LABEL),
                decision_group_index: label(GROUP_INDEX_LABEL),
                placement_decision: name.clone(),
            });
            names.push(cluster);
        }
        self.placement_decisions.push(DecisionObject {
            name,
            labels,
            clusters: names,
        });
    }
}

/// OCM writes neither a reason nor a score (docs/systems/ocm-placement.md#ignored-fields).
fn decision_object(namespace: &str, object: &DecisionObject) -> Value {
    let clusters = object.clusters.iter();
    let decisions: Vec<Value> = clusters
        .map(|cluster| json!({"clusterName": cluster, "reason": ""}))
        .collect();
    json!({
        "apiVersion": format!("{GROUP}/v1beta1"),
        "kind": "PlacementDecision",
        "metadata": {
            "name": object.name,
            "namespace": namespace,
            "labels": object.labels,
        },
        "status": {"decisions": decisions},
    })
}

fn existing_condition(condition: &Field<'_>) -> Condition {
    let text = |name| condition.text(name).unwrap_or_default().to_owned();
    Condition {
        kind: text("type"),
        status: match condition.text("status") {
            Some("True") => ConditionStatus::True,
            Some("False") => ConditionStatus::False,
            _ => ConditionStatus::Unknown,
        },
        reason: text("reason"),
        message: text("message"),
    }
}
