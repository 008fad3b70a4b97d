//! The decision group and the PlacementDecision that contain a cluster.
//!
//! Owns: the wording about both. Flows in: a [`Case`]. Flows out: a step. Must not know: other stages.

use super::case::Case;
use super::explanation::{Bearing, Stage, Step};
use crate::decision_groups::group_name;
use crate::placement_decisions::{chunks, object_name};

impl Case<'_, '_> {
    /// The decision group and the object that hold the cluster.
    pub(super) fn decision(&self, steps: &mut Vec<Step>) {
        let groups = &self.outcome.groups;
        let position = groups.order.iter().position(|cluster| *cluster == self.id);
        let chunk = position.and_then(|position| {
            chunks(groups)
                .into_iter()
                .find(|chunk| (chunk.start..chunk.end).contains(&position))
        });
        let Some(chunk) = chunk else {
            if let Some(fault) = &self.outcome.fault {
                let text = format!("selected, but lost with its decision group: {}", fault.message);
                let at = fault.at.clone();
                steps.push(Step::new(Stage::Decision, Bearing::Against, text, at));
            }
            return;
        };
        let named = chunk.named;
        let object = object_name(self.placement.name, chunk.number);
        let (group, pointer) = match named {
            Some(index) => (
                format!(
                    "decision group {} ({})",
                    chunk.group,
                    group_name(self.placement, named)
                ),
                format!("/spec/decisionStrategy/groupStrategy/decisionGroups/{index}"),
            ),
            None => (format!("decision group {}", chunk.group), "/spec".to_owned()),
        };
        let text = format!("selected: {group}, PlacementDecision {object}");
        steps.push(self.step(Stage::Decision, Bearing::For, text, &pointer));
    }
}
