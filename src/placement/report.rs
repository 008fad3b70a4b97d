//! The report: kind `PlacementReport` (design section 10).
//!
//! Owns: the shape that `placement -o json` prints and that the cases compare. Flows in: an evaluation. Flows
//! out: serialisable data with names instead of indices.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::conditions::{Condition, ConditionStatus, Facts, conditions};
use super::decisions::{ObjectLabels, chunks, group_name, object_name};
use super::input::Options;
use super::outcome::{Outcome, SchedulerStatus, Trace};
use super::run::Evaluation;
use crate::api::ocm::{GROUP_INDEX_LABEL, GROUP_NAME_LABEL, Placement};
use apimachinery::Field;

/// What `spokewright placement -o json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// `spokewright.dev/v1alpha1`.
    pub api_version: &'static str,
    /// `PlacementReport`.
    pub kind: &'static str,
    /// snapshot, sequential or fixpoint.
    pub mode: &'static str,
    /// The clock, when there was one.
    pub now: Option<String>,
    /// How many rounds were run; 1 but for fixpoint.
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
    pub placements: Vec<PlacementReport>,
}

/// One Placement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
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
    /// What passed each filter; `None` when it stopped before.
    pub filters: Option<Vec<FilterReport>>,
    /// What each prioritizer gave; `None` when it stopped before.
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
    /// How many were asked for and not found.
    pub unscheduled: usize,
    /// When the first toleration in use on an existing decision expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeue_at: Option<String>,
    /// `status.conditions`.
    pub conditions: Vec<Condition>,
}

/// What passed a filter and those before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilterReport {
    /// `Predicate`, then `Predicate,TaintToleration`.
    pub name: &'static str,
    /// Sorted.
    pub filtered_clusters: Vec<String>,
}

/// What a prioritizer gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrioritizerReport {
    /// Name.
    pub name: String,
    /// Weight, never 0.
    pub weight: i64,
    /// By cluster; one without a score is absent.
    pub scores: BTreeMap<String, i64>,
}

/// A cluster and its total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ranked {
    /// Name.
    pub cluster_name: String,
    /// Sum of weight times score.
    pub score: i64,
}

/// A selected cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Name.
    pub cluster_name: String,
    /// Its total; 0 where nothing was ranked.
    pub score: i64,
    /// The group's name, `""` for the rest.
    pub decision_group_name: String,
    /// The group's position.
    pub decision_group_index: String,
    /// The object that holds it.
    pub placement_decision: String,
}

/// A PlacementDecision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionObject {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `status.decisions[].clusterName`.
    pub clusters: Vec<String>,
}

/// One of `status.decisionGroups`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
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
    #[must_use]
    pub fn report(&self) -> Report {
        let input = &self.plan.input;
        Report {
            api_version: "spokewright.dev/v1alpha1",
            kind: "PlacementReport",
            mode: input.mode.as_str(),
            now: input.now.map(|now| now.to_string()),
            rounds: self.rounds,
            converged: self.converged,
            options: input.options,
            rejected: input.inventory.rejected.iter().map(ToString::to_string).collect(),
            placements: (0..self.outcomes.len())
                .filter_map(|index| self.placement_report(index))
                .collect(),
        }
    }

    /// The report of the Placement at this position of the inventory.
    #[must_use]
    pub fn placement_report(&self, index: usize) -> Option<PlacementReport> {
        let outcome = self.outcomes.get(index)?;
        let placement = self.plan.input.inventory.placements.get(index)?;
        let eligible = self.plan.sets.eligible.get(index)?;
        let sets = self.plan.sets.available.get(eligible.available)?;
        let eligible_cluster_sets = self.plan.sets.names(&sets.sets);
        let names = |clusters: &[u32]| -> Vec<String> {
            clusters.iter().map(|cluster| self.name(*cluster)).collect()
        };
        let message = outcome.fault.as_ref().map(|fault| fault.message.clone());
        let misconfigured = outcome.status == SchedulerStatus::Misconfigured;
        let mut report = PlacementReport {
            namespace: placement.namespace.to_owned(),
            name: placement.name.to_owned(),
            sync_error: message.clone(),
            scheduler_status: outcome.status,
            scheduler_plugin: outcome
                .fault
                .as_ref()
                .filter(|fault| misconfigured && !fault.plugin.is_empty())
                .map(|fault| fault.plugin.to_owned()),
            scheduler_message: message.filter(|_| misconfigured),
            available_clusters: names(&outcome.available),
            filters: None,
            prioritizers: None,
            ranking: None,
            decisions: Vec::new(),
            placement_decisions: Vec::new(),
            decision_groups: Vec::new(),
            number_of_selected_clusters: outcome.selected,
            unscheduled: outcome.unscheduled,
            requeue_at: outcome.requeue_at.map(|time| time.to_string()),
            conditions: Vec::new(),
            eligible_cluster_sets,
        };
        if outcome.keeps() {
            self.keep(placement, outcome, &mut report);
            return Some(report);
        }
        if let Some(trace) = &outcome.trace {
            self.trace(trace, &mut report);
        }
        self.decide(index, placement, outcome, &mut report);
        let fault = outcome
            .fault
            .as_ref()
            .map(|fault| (fault.plugin, fault.message.as_str()));
        report.conditions = conditions(&Facts {
            bound: eligible.bound,
            named_sets: &placement.cluster_sets,
            eligible_sets: &report.eligible_cluster_sets,
            available: outcome.available.len(),
            selected: outcome.selected,
            unscheduled: outcome.unscheduled,
            misconfigured: fault,
        });
        Some(report)
    }

    fn name(&self, cluster: u32) -> String {
        self.plan.fleet.name(cluster).to_owned()
    }

    fn trace(&self, trace: &Trace, report: &mut PlacementReport) {
        let names = |clusters: &[u32]| clusters.iter().map(|cluster| self.name(*cluster)).collect();
        let filter = |name, clusters: &Option<std::sync::Arc<[u32]>>| {
            clusters.as_ref().map(|clusters| FilterReport {
                name,
                filtered_clusters: names(clusters),
            })
        };
        report.filters = filter("Predicate", &trace.predicate).map(|predicate| {
            let tolerated = filter("Predicate,TaintToleration", &trace.tolerated);
            std::iter::once(predicate).chain(tolerated).collect()
        });
        let candidates = trace.tolerated.as_deref().unwrap_or_default();
        report.prioritizers = trace.prioritizers.as_ref().map(|prioritizers| {
            prioritizers
                .iter()
                .map(|prioritizer| PrioritizerReport {
                    name: prioritizer.name.clone(),
                    weight: prioritizer.weight,
                    scores: candidates
                        .iter()
                        .zip(prioritizer.scores.iter())
                        .filter(|(cluster, _)| {
                            prioritizer.resource.is_none_or(|resource| {
                                self.plan.resources.amount(resource, **cluster).is_some()
                            })
                        })
                        .map(|(cluster, score)| (self.name(*cluster), *score))
                        .collect(),
                })
                .collect()
        });
        report.ranking = trace.ranking.as_ref().map(|ranking| {
            ranking
                .iter()
                .map(|(score, cluster)| Ranked {
                    cluster_name: self.name(*cluster),
                    score: score.0,
                })
                .collect()
        });
    }

    fn decide(
        &self,
        index: usize,
        placement: &Placement<'_>,
        outcome: &Outcome,
        report: &mut PlacementReport,
    ) {
        let results = self.results.get(index);
        let ranking = outcome.trace.as_ref().and_then(|trace| trace.ranking.as_ref());
        let scores: HashMap<u32, i64> = ranking
            .into_iter()
            .flatten()
            .map(|(score, cluster)| (*cluster, score.0))
            .collect();
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
            let clusters = groups.order.get(chunk.start..chunk.end).unwrap_or_default();
            let object_state = results.and_then(|results| results.objects.get(&chunk.number));
            let labels = object_state
                .map(|object| object.labels.resolve(&self.plan, index))
                .unwrap_or_default();
            let label = |name: &str| labels.get(name).cloned().unwrap_or_default();
            for cluster in clusters {
                report.decisions.push(Decision {
                    cluster_name: self.name(*cluster),
                    score: scores.get(cluster).copied().unwrap_or_default(),
                    decision_group_name: label(GROUP_NAME_LABEL),
                    decision_group_index: label(GROUP_INDEX_LABEL),
                    placement_decision: object.clone(),
                });
            }
            report.placement_decisions.push(DecisionObject {
                name: object,
                clusters: clusters.iter().map(|cluster| self.name(*cluster)).collect(),
                labels,
            });
        }
    }

    /// A Placement that is not synced keeps the decisions and the conditions of the input.
    fn keep(&self, placement: &Placement<'_>, outcome: &Outcome, report: &mut PlacementReport) {
        for (position, decision) in self.plan.input.inventory.decisions.iter().enumerate() {
            if decision.namespace != placement.namespace || decision.placement != Some(placement.name) {
                continue;
            }
            let clusters: Vec<String> = decision.clusters.iter().map(|name| (*name).to_owned()).collect();
            let (group, index) = (
                decision.group_name.unwrap_or_default(),
                decision.group_index.unwrap_or_default(),
            );
            for cluster in &clusters {
                report.decisions.push(Decision {
                    cluster_name: cluster.clone(),
                    score: 0,
                    decision_group_name: group.to_owned(),
                    decision_group_index: index.to_owned(),
                    placement_decision: decision.name.to_owned(),
                });
            }
            report.placement_decisions.push(DecisionObject {
                name: decision.name.to_owned(),
                labels: ObjectLabels::Given(position).resolve(&self.plan, 0),
                clusters,
            });
        }
        report.number_of_selected_clusters = report.decisions.len();
        if outcome.status == SchedulerStatus::Skipped {
            let conditions = placement.object.root().get("status").get("conditions");
            report.conditions = conditions.items().map(|condition| kept(&condition)).collect();
        }
    }
}

fn kept(condition: &Field<'_>) -> Condition {
    let text = |name| condition.get(name).str().unwrap_or_default().to_owned();
    Condition {
        kind: text("type"),
        status: match condition.get("status").str() {
            Some("True") => ConditionStatus::True,
            Some("False") => ConditionStatus::False,
            _ => ConditionStatus::Unknown,
        },
        reason: text("reason"),
        message: text("message"),
    }
}
