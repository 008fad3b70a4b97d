//! The score that each prioritizer gave a cluster, and the numbers behind it.
//!
//! Owns: the wording about scores. Flows in: a [`Case`]. Flows out: steps. Must not know: other stages.

use super::case::Case;
use super::explanation::{Bearing, Stage, Step};
use crate::api::object::Location;
use crate::api::placement::AddOnScore;
use crate::outcome::Scores;
use crate::prioritizers::resource_allocatable::Resource;
use crate::weights::Kind;

impl Case<'_, '_> {
    /// What each prioritizer gave, and from which numbers.
    pub(super) fn prioritizers(&self, steps: &mut Vec<Step>) {
        let trace = self.outcome.trace.as_ref();
        let prioritizers = trace.and_then(|trace| trace.prioritizers.as_ref());
        for scored in prioritizers.into_iter().flatten() {
            let prioritizer = &scored.prioritizer;
            let Some(score) = self.scored(&scored.scores) else {
                continue;
            };
            let (because, place) = self.reason(scored);
            let total = prioritizer.weight.saturating_mul(score);
            let text = format!(
                "{} gives {score}, times weight {} is {total}: {because}",
                prioritizer.kind.name(),
                prioritizer.weight
            );
            let configuration = prioritizer.configuration.map(|index| {
                self.placement
                    .object
                    .at(format!("/spec/prioritizerPolicy/configurations/{index}"))
            });
            let default = self.placement.object.at("/spec");
            let step = Step::new(
                Stage::Prioritizer,
                Bearing::Neutral,
                text,
                configuration.unwrap_or(default),
            );
            steps.push(match place {
                Some(place) => step.related(place, "the numbers"),
                None => step,
            });
        }
    }

    fn reason(&self, scored: &Scores<'_>) -> (String, Option<Location>) {
        if let Some((counts, max)) = &scored.counts {
            let count = self.scored(counts).unwrap_or_default();
            let text = format!("in {count} decisions of others; the most of any cluster is {max}");
            return (text, None);
        }
        let kind = &scored.prioritizer.kind;
        if let Some(resource) = Resource::of(kind) {
            return self.resource_reason(resource);
        }
        if let Kind::AddOn(score) = kind {
            return self.add_on_reason(score);
        }
        let text = if self.was_selected() {
            "it is already selected"
        } else {
            "it is not selected yet"
        };
        (text.to_owned(), None)
    }

    fn add_on_reason(&self, score: &AddOnScore<'_>) -> (String, Option<Location>) {
        let Some(score) = self.plan.add_ons.object(self.cluster.name, score.resource_name) else {
            return (format!("no AddOnPlacementScore of {}", self.cluster.name), None);
        };
        let now = self.plan.input.now;
        let expired = score
            .valid_until
            .is_some_and(|until| now.is_some_and(|now| now > until));
        if expired {
            let at = score.object.at("/status/validUntil");
            ("the score has expired".to_owned(), Some(at))
        } else {
            (
                "the add-on's score".to_owned(),
                Some(score.object.at("/status/scores")),
            )
        }
    }

    fn resource_reason(&self, resource: Resource) -> (String, Option<Location>) {
        let resources = &self.plan.resources;
        let candidates = self
            .outcome
            .trace
            .as_ref()
            .and_then(|trace| trace.tolerated.as_deref())
            .unwrap_or_default();
        let key = resource.key();
        let place = self.cluster.object.at(format!("/status/allocatable/{key}"));
        let text = match (
            resources.amount(resource, self.id),
            resources.range(resource, candidates),
        ) {
            (Some(amount), Some(range)) => {
                format!(
                    "allocatable {amount}; the least is {} and the most {}",
                    range.min, range.max
                )
            }
            _ => format!("it lacks allocatable or capacity of {key}"),
        };
        (text, Some(place))
    }
}
