//! How each Placement came to its clusters: how many are left after each step, and why the others are not.
//!
//! Owns: the steps of the funnel, and which clusters share a reason. Flows in: an evaluation with full detail, decisions
//! that are in the input. Flows out: rows. Must not know: how a scheduler decides.

use std::collections::{BTreeMap, HashMap};

use ocm_placement::{Bearing, ConditionStatus, Evaluation, Location, Stage};
use rayon::prelude::*;

use super::document::{DroppedRow, PlacementRow};
use super::interned::Tables;
use crate::api::ocm::GROUP;
use crate::hub::Hub;
use crate::placing::{Decided, place_of};

/// The steps in their order, as a page calls them.
const STEPS: [&str; 4] = ["Cluster sets", "Predicates", "Taints", "Ranking"];

/// Which step of the page one of the scheduler belongs to.
const fn step_of(stage: Stage) -> usize {
    match stage {
        Stage::ClusterSet | Stage::Scheduler => 0,
        Stage::Predicate => 1,
        Stage::TaintToleration => 2,
        Stage::Prioritizer | Stage::Ranking | Stage::Decision => 3,
    }
}

/// Each reason, what decided it, and the clusters that share it.
type Reasons = BTreeMap<String, (Location, Vec<usize>)>;

/// Why a Placement drops a cluster.
struct Dropped {
    placement: usize,
    step: usize,
    text: String,
    at: Location,
}

/// The rows of all Placements, by namespace and name.
pub(super) fn placements(
    evaluation: &Evaluation<'_>,
    decided: &Decided<'_>,
    hub: &Hub,
    clusters: &[&str],
    tables: &mut Tables<'_>,
) -> Vec<PlacementRow> {
    let reports = evaluation.report().placements;
    // One cluster is no other's business.
    let dropped: Vec<Vec<Dropped>> = clusters
        .par_iter()
        .map(|cluster| dropped(evaluation, cluster))
        .collect();
    // By Placement and step: each reason with the clusters that share it.
    let mut reasons: HashMap<(usize, usize), Reasons> = HashMap::new();
    for (cluster, dropped) in dropped.into_iter().enumerate() {
        for Dropped {
            placement,
            step,
            text,
            at,
        } in dropped
        {
            let of_step = reasons.entry((placement, step)).or_default();
            let (_, clusters) = of_step.entry(text).or_insert_with(|| (at, Vec::new()));
            clusters.push(cluster);
        }
    }
    let managed = hub.objects.of_kind(GROUP, "ManagedCluster").len();
    let mut rows = Vec::new();
    for (number, report) in reports.iter().enumerate() {
        let object = hub
            .objects
            .find(GROUP, "Placement", Some(&report.namespace), &report.name);
        let evaluated = report.decisions.iter();
        let evaluated = tables.set(evaluated.map(|decision| decision.cluster_name.as_str()));
        let given = decided.of(&report.namespace, &report.name);
        let used = match given {
            Some(given) => tables.set(given.iter().map(String::as_str)),
            None => evaluated,
        };
        let filter = |position: usize| {
            let filters = report.filters.as_ref()?;
            Some(filters.get(position)?.filtered_clusters.len())
        };
        let left = [
            Some(report.available_clusters.len()),
            filter(0),
            filter(1),
            Some(report.decisions.len()),
        ];
        let stages = STEPS.iter().zip(left).enumerate();
        let stages = stages.filter_map(|(step, (name, left))| {
            let dropped = reasons.remove(&(number, step)).unwrap_or_default();
            let dropped = dropped.into_iter().map(|(text, (at, clusters))| -> DroppedRow {
                let at = tables.at(place_of(hub, &at));
                (text, at, tables.set_of(clusters))
            });
            let dropped: Vec<DroppedRow> = dropped.collect();
            // A Placement that is left alone has no steps.
            left.map(|left| (*name, left, dropped))
        });
        rows.push(PlacementRow {
            ns: report.namespace.clone(),
            name: report.name.clone(),
            total: managed,
            stages: stages.collect(),
            at: object.and_then(|object| tables.object(object)),
            want: object.and_then(|object| object.value.pointer("/spec/numberOfClusters")?.as_i64()),
            source: if given.is_some() {
                "decisions"
            } else {
                "evaluation"
            },
            evaluated,
            clusters: used,
            sets: report.eligible_cluster_sets.clone(),
            conditions: report
                .conditions
                .iter()
                .map(|condition| {
                    let status = match condition.status {
                        ConditionStatus::True => "True",
                        ConditionStatus::False => "False",
                        ConditionStatus::Unknown => "Unknown",
                    };
                    (
                        condition.kind.clone(),
                        status.to_owned(),
                        condition.reason.clone(),
                        condition.message.clone(),
                    )
                })
                .collect(),
            prioritizers: report
                .prioritizers
                .iter()
                .flatten()
                .map(|prioritizer| (prioritizer.name.clone(), prioritizer.weight))
                .collect(),
        });
    }
    rows
}

/// Which Placements drop a cluster, and why.
fn dropped(evaluation: &Evaluation<'_>, cluster: &str) -> Vec<Dropped> {
    let explanations = evaluation.explain(cluster).unwrap_or_default();
    let left_out = explanations.into_iter().enumerate();
    let left_out = left_out.filter(|(_, explanation)| !explanation.selected);
    left_out
        .filter_map(|(placement, explanation)| {
            // Several predicates may speak against it: the first stands for all.
            let against = |step: &ocm_placement::Step| step.bearing == Bearing::Against;
            let steps = &explanation.steps;
            let step = steps.iter().find(|step| against(step)).or(steps.last())?;
            Some(Dropped {
                placement,
                step: step_of(step.stage),
                text: step.text.clone(),
                at: step.at.clone(),
            })
        })
        .collect()
}
