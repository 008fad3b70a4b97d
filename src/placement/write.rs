//! PlacementDecision objects as documents: what `placement --write DIR` stores and the next run takes as given.
//!
//! Owns: their shape (OCM placement 1.4). Flows in: an evaluation. Flows out: JSON values.
//! Must not know: files.

use serde_json::{Value, json};

use super::run::Evaluation;
use crate::api::ocm::GROUP;

impl Evaluation<'_> {
    /// Every PlacementDecision as OCM would leave it, by namespace, Placement and number. Without the owner
    /// reference, which needs the Placement's uid.
    ///
    /// A Placement that is left alone or cannot be synced keeps the objects of the input.
    #[must_use]
    pub fn decision_objects(&self) -> Vec<Value> {
        let reports = (0..self.outcomes.len()).filter_map(|index| self.placement_report(index));
        reports
            .flat_map(|report| {
                let namespace = report.namespace;
                report.placement_decisions.into_iter().map(move |object| {
                    let decisions: Vec<Value> = object
                        .clusters
                        .iter()
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
                })
            })
            .collect()
    }

    /// How many decisions all Placements have together.
    #[must_use]
    pub fn decision_count(&self) -> usize {
        self.results.iter().map(|result| result.clusters.len()).sum()
    }

    /// The clusters of a Placement in the order of output, each once; `None` when there is no such Placement.
    ///
    /// For one that is left alone or cannot be synced these are the clusters of its given decisions.
    #[must_use]
    pub fn clusters_of(&self, namespace: &str, name: &str) -> Option<Vec<&str>> {
        let placements = &self.plan.input.inventory.placements;
        let index = placements
            .binary_search_by(|placement| (placement.namespace, placement.name).cmp(&(namespace, name)))
            .ok()?;
        let clusters = &self.results.get(index)?.clusters;
        let mut seen = std::collections::HashSet::new();
        let names = clusters.iter().map(|cluster| self.plan.fleet.name(*cluster));
        Some(
            names
                .filter(|name| !name.is_empty() && seen.insert(*name))
                .collect(),
        )
    }
}
