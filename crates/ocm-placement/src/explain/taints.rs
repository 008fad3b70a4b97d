//! Which taints of a cluster are tolerated.
//!
//! Owns: the wording about taints and times. Flows in: a [`Case`]. Flows out: steps. Must not know: other stages.

use jiff::Timestamp;

use super::case::Case;
use super::explanation::{Bearing, Stage, Step};
use crate::api::managed_cluster::TaintEffect;
use crate::fleet::FleetTaint;
use crate::taints_and_tolerations::{Tolerated, covers, expiry, tolerated};

impl Case<'_, '_> {
    /// What the tolerations make of each taint; whether all are tolerated.
    pub(super) fn taints(&self, steps: &mut Vec<Step>) -> bool {
        let selected = self.was_selected();
        let mut passes = true;
        for own in &self.plan.fleet.taints[self.id] {
            let step = self.taint(own, selected);
            passes &= step.bearing == Bearing::For;
            steps.push(step);
        }
        passes
    }

    fn taint(&self, own: &FleetTaint<'_>, selected: bool) -> Step {
        let taint = &own.taint;
        let pointer = match own.index {
            Some(index) => format!("/spec/taints/{index}"),
            None => "/status/conditions".to_owned(),
        };
        let place = self.cluster.object.at(&pointer);
        let value = if taint.value.is_empty() {
            String::new()
        } else {
            format!("={}", taint.value)
        };
        let shown = format!("taint {}{value}:{}", taint.key, taint.effect.as_str());
        let step = |bearing, text: String| Step::new(Stage::TaintToleration, bearing, text, place.clone());
        if taint.effect == TaintEffect::NoSelectIfNew && selected {
            return step(
                Bearing::For,
                format!("{shown} does not remove clusters that are already selected, and this one is"),
            );
        }
        let now = self.plan.input.now;
        let tolerations = &self.placement.tolerations;
        let toleration_place = |index: usize| self.placement.object.at(format!("/spec/tolerations/{index}"));
        match tolerated(taint, tolerations, now) {
            Tolerated::Always => step(Bearing::For, format!("{shown} removes no cluster")),
            Tolerated::By {
                toleration, expires, ..
            } => {
                let until = expires.and_then(|time| Timestamp::from_nanosecond(time).ok());
                let until = until.map(|time| format!(" until {time}")).unwrap_or_default();
                step(Bearing::For, format!("{shown} is tolerated{until}"))
                    .related(toleration_place(toleration), "by this toleration")
            }
            Tolerated::Not => {
                let step = step(Bearing::Against, format!("{shown} is not tolerated"));
                let covering = tolerations
                    .iter()
                    .enumerate()
                    .filter(|(_, toleration)| covers(toleration, taint));
                covering.fold(step, |step, (index, toleration)| {
                    let expired = expiry(toleration, taint)
                        .and_then(|time| Timestamp::from_nanosecond(time).ok())
                        .map_or_else(|| "has expired".to_owned(), |time| format!("expired at {time}"));
                    step.related(toleration_place(index), expired)
                })
            }
        }
    }
}
