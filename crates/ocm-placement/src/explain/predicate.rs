//! Which predicate a cluster matches, or what each predicate requires that the cluster lacks.
//!
//! Owns: the wording about labels, claims and expressions. Flows in: a [`Case`]. Flows out: steps. Must not know: other
//! stages.

use super::case::Case;
use super::explanation::{Bearing, Stage, Step};
use crate::cel;
use crate::cluster_selector::build;
use crate::fleet::Bits;
use crate::predicates::predicate_pointer;

impl Case<'_, '_> {
    /// Which predicate the cluster fits, or what each of them lacks.
    pub(super) fn predicate(&self, steps: &mut Vec<Step>) -> bool {
        if self.placement.predicates.is_empty() {
            let text = "the Placement has no predicates, so every cluster matches";
            steps.push(self.step(Stage::Predicate, Bearing::For, text, "/spec"));
            return true;
        }
        let mut failures = Vec::new();
        for index in 0..self.placement.predicates.len() {
            match self.predicate_failure(index) {
                None => {
                    let text = format!("predicate {index} matches");
                    let at = predicate_pointer(index);
                    steps.push(self.step(Stage::Predicate, Bearing::For, text, &at));
                    return true;
                }
                Some(step) => failures.push(step),
            }
        }
        steps.extend(failures);
        false
    }

    /// The requirements of a predicate that the cluster lacks.
    fn predicate_failure(&self, index: usize) -> Option<Step> {
        let selector = self.placement.predicates.get(index)?;
        let pointer = predicate_pointer(index);
        let built = build(selector, &pointer).ok()?;
        let against =
            |text: String, pointer: String| self.step(Stage::Predicate, Bearing::Against, text, &pointer);
        if let Some(unmet) = self.first_unmet_label(&built.labels.requirements) {
            let text = format!(
                "predicate {index} requires label {unmet}, it has {}",
                self.labelled(&unmet.key)
            );
            let step = against(text, format!("{pointer}/labelSelector{}", unmet.origin.pointer()));
            return Some(step.related(self.cluster.object.at("/metadata/labels"), "its labels"));
        }
        let claim = |key: &str| self.cluster.claims.get(key).map(|claim| claim.value);
        if let Some(unmet) = built.claims.first_unmet(claim) {
            let has = match self.cluster.claims.get(unmet.key.as_str()) {
                Some(claim) => format!("{}={}", unmet.key, claim.value),
                None => format!("no claim {}", unmet.key),
            };
            let place = match self.cluster.claims.get(unmet.key.as_str()) {
                Some(claim) => self
                    .cluster
                    .object
                    .at(format!("/status/clusterClaims/{}", claim.index)),
                None => self.cluster.object.at("/status/clusterClaims"),
            };
            let text = format!("predicate {index} requires claim {unmet}, it has {has}");
            let step = against(text, format!("{pointer}/claimSelector{}", unmet.origin.pointer()));
            return Some(step.related(place, "its claims"));
        }
        let failing = self.failing_expression(&selector.cel_expressions)?;
        let expression = selector.cel_expressions.get(failing).copied().unwrap_or_default();
        let text = format!("predicate {index} requires {expression}, which is not true");
        Some(against(
            text,
            format!("{pointer}/celSelector/celExpressions/{failing}"),
        ))
    }

    /// The first of some expressions that is not true for the cluster.
    fn failing_expression(&self, expressions: &[&str]) -> Option<usize> {
        let fleet = &self.plan.fleet;
        let mut candidates = Bits::none(fleet.len());
        candidates.insert(self.id);
        expressions.iter().position(|expression| {
            let Ok(compiled) = cel::Expressions::compile(&[expression]) else {
                return true;
            };
            let question = cel::Question {
                expressions: &compiled,
                candidates: candidates.clone(),
            };
            let answers = cel::ask(&[question], &self.plan.input, fleet);
            answers
                .iter()
                .all(|answer| answer.as_ref().map_or(true, Bits::is_empty))
        })
    }
}
