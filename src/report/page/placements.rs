//! How each Placement came to its clusters.
//!
//! Owns: the rows of Placements. Flows in: an evaluation with full detail, decisions that are in the input. Flows out: rows.
//! Must not know: how a scheduler decides.

use ocm_placement::{ConditionStatus, Evaluation};

use super::document::{DroppedRow, PlacementRow};
use super::interned::Tables;
use crate::api::ocm::GROUP;
use crate::hub::Hub;
use crate::placing::{Decided, place_of};
use crate::report::funnel::funnel;

/// The rows of all Placements, by namespace and name.
pub(super) fn placements(
    (evaluation, explains): (&Evaluation<'_>, bool),
    decided: &Decided<'_>,
    hub: &Hub,
    clusters: &[&str],
    tables: &mut Tables<'_>,
) -> Vec<PlacementRow> {
    let managed = hub.objects.of_kind(GROUP, "ManagedCluster").len();
    let mut rows = Vec::new();
    for (number, report) in evaluation.placement_reports().enumerate() {
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
        let stages = explains.then(|| funnel(evaluation, (number, &report), clusters));
        let stages = stages.into_iter().flatten();
        let stages = stages.map(|step| {
            let dropped = step.dropped.into_iter().map(|dropped| -> DroppedRow {
                let at = tables.at(place_of(hub, &dropped.at));
                (dropped.reason, at, tables.set_of(dropped.clusters))
            });
            (step.name, step.left, dropped.collect())
        });
        let stages: Vec<(&'static str, usize, Vec<DroppedRow>)> = stages.collect();
        rows.push(PlacementRow {
            ns: report.namespace.clone(),
            name: report.name.clone(),
            total: managed,
            stages,
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
