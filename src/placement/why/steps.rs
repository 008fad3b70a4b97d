//! The steps of an explanation, room by room.
//!
//! Owns: the words, and which place each room points at. Flows in: the plan, the outcome. Flows out: steps.

use super::{Bearing, Room, Step, Why};
use crate::api::ocm::{CLUSTER_SET_LABEL, ManagedClusterSet, SetMembership, TaintEffect};
use crate::diagnostic::Place;
use crate::placement::decisions::{chunks, group_name, object_name};
use crate::placement::fleet::FleetTaint;
use crate::placement::outcome::Scores;
use crate::placement::predicate::{self, predicate_pointer};
use crate::placement::prioritizers::Resource;
use crate::placement::taints::{self, Bearing as TaintBearing};
use apimachinery::Requirement;

impl Why<'_, '_> {
    /// Which set made the cluster eligible; whether any did.
    pub(super) fn cluster_set(&self, steps: &mut Vec<Step>) -> bool {
        let plan = &self.evaluation.plan;
        let Some(eligible) = plan.sets.eligible.get(self.index) else {
            return false;
        };
        let against = |text: String, place: Place| Step::new(Room::ClusterSet, Bearing::Against, text, place);
        if !eligible.bound {
            let namespace = self.placement.namespace;
            let text =
                format!("no ManagedClusterSetBinding in namespace {namespace} names a set that exists");
            steps.push(against(text, self.placement.object.place("/metadata/namespace")));
            return false;
        }
        let sets = plan
            .sets
            .available
            .get(eligible.available)
            .map(|available| available.sets.as_slice());
        let sets = sets.unwrap_or_default();
        if sets.is_empty() {
            let text = "none of the Placement's clusterSets is bound to its namespace";
            steps.push(against(
                text.to_owned(),
                self.placement.object.place("/spec/clusterSets"),
            ));
            return false;
        }
        if self.cluster.deleting {
            let text = "the cluster is being deleted".to_owned();
            steps.push(against(
                text,
                self.cluster.object.place("/metadata/deletionTimestamp"),
            ));
            return false;
        }
        let mut found = false;
        for (set, members) in sets
            .iter()
            .filter_map(|set| Some((plan.sets.all.get(*set)?, plan.sets.members.get(*set)?)))
        {
            let member = members
                .as_ref()
                .is_ok_and(|members| members.binary_search(&self.id).is_ok());
            steps.push(self.membership(set, member));
            found |= member;
        }
        if found {
            steps.retain(|step| step.room != Room::ClusterSet || step.bearing == Bearing::For);
        }
        found
    }

    fn membership(&self, set: &ManagedClusterSet<'_>, member: bool) -> Step {
        let bearing = if member { Bearing::For } else { Bearing::Against };
        let label = "/metadata/labels/cluster.open-cluster-management.io~1clusterset";
        let name = set.name;
        let step = |text: String, place| Step::new(Room::ClusterSet, bearing, text, place);
        match &set.membership {
            SetMembership::ExclusiveLabel => {
                let value = self.evaluation.plan.fleet.label(self.cluster, CLUSTER_SET_LABEL);
                let text = match (member, value) {
                    (true, _) => format!("its label puts it into the cluster set {name}"),
                    (false, Some(other)) => {
                        format!("its label puts it into {other}, not into the cluster set {name}")
                    }
                    (false, None) => format!("it has no label that puts it into the cluster set {name}"),
                };
                step(text, self.cluster.object.place(label)).related(set.object.place(""), "the set")
            }
            SetMembership::Selector(None) => step(
                format!("the cluster set {name} has no label selector, which selects nothing"),
                set.object.place("/spec/clusterSelector"),
            ),
            SetMembership::Selector(Some(selector)) => {
                let pointer = "/spec/clusterSelector/labelSelector";
                let unmet = selector
                    .compile()
                    .ok()
                    .and_then(|selector| self.first_unmet_label(&selector.requirements));
                match unmet {
                    Some(requirement) => step(
                        format!(
                            "the cluster set {name} wants {requirement}, it has {}",
                            self.labelled(&requirement.key)
                        ),
                        set.object
                            .place(&format!("{pointer}{}", requirement.origin.pointer())),
                    ),
                    None => step(
                        format!("the label selector of the cluster set {name} matches"),
                        set.object.place(pointer),
                    ),
                }
                .related(self.cluster.object.place("/metadata/labels"), "its labels")
            }
        }
    }

    fn first_unmet_label(&self, requirements: &[Requirement]) -> Option<Requirement> {
        let label = |key: &str| self.evaluation.plan.fleet.label(self.cluster, key);
        requirements
            .iter()
            .find(|requirement| !requirement.accepts(label(&requirement.key)))
            .cloned()
    }

    fn labelled(&self, key: &str) -> String {
        match self.evaluation.plan.fleet.label(self.cluster, key) {
            Some(value) => format!("{key}={value}"),
            None => format!("no label {key}"),
        }
    }

    /// Which predicate the cluster fits, or what each of them lacks.
    pub(super) fn predicate(&self, steps: &mut Vec<Step>) -> bool {
        if self.placement.predicates.is_empty() {
            let text = "the Placement has no predicates: every cluster passes";
            steps.push(Step::new(
                Room::Predicate,
                Bearing::For,
                text,
                self.placement.object.place("/spec"),
            ));
            return true;
        }
        let mut failures = Vec::new();
        for index in 0..self.placement.predicates.len() {
            match self.predicate_failure(index) {
                None => {
                    let text = format!("predicate {index} matches");
                    let place = self.placement.object.place(&predicate_pointer(index));
                    steps.push(Step::new(Room::Predicate, Bearing::For, text, place));
                    return true;
                }
                Some(step) => failures.push(step),
            }
        }
        steps.extend(failures);
        false
    }

    /// What a predicate wants and the cluster lacks.
    fn predicate_failure(&self, index: usize) -> Option<Step> {
        let selector = self.placement.predicates.get(index)?;
        let pointer = predicate_pointer(index);
        let built = predicate::build(selector, &pointer).ok()?;
        let against = |text: String, pointer: String| {
            Step::new(
                Room::Predicate,
                Bearing::Against,
                text,
                self.placement.object.place(&pointer),
            )
        };
        if let Some(unmet) = self.first_unmet_label(&built.labels.requirements) {
            let text = format!(
                "predicate {index} wants label {unmet}, it has {}",
                self.labelled(&unmet.key)
            );
            let step = against(text, format!("{pointer}/labelSelector{}", unmet.origin.pointer()));
            return Some(step.related(self.cluster.object.place("/metadata/labels"), "its labels"));
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
                    .place(&format!("/status/clusterClaims/{}", claim.index)),
                None => self.cluster.object.place("/status/clusterClaims"),
            };
            let text = format!("predicate {index} wants claim {unmet}, it has {has}");
            let step = against(text, format!("{pointer}/claimSelector{}", unmet.origin.pointer()));
            return Some(step.related(place, "its claims"));
        }
        let failing = self
            .evaluation
            .failing_expression(&selector.cel_expressions, self.id)?;
        let expression = selector.cel_expressions.get(failing).copied().unwrap_or_default();
        let text = format!("predicate {index} wants {expression}, which is not true");
        Some(against(
            text,
            format!("{pointer}/celSelector/celExpressions/{failing}"),
        ))
    }

    /// What the tolerations make of each taint; whether all are tolerated.
    pub(super) fn taints(&self, steps: &mut Vec<Step>) -> bool {
        let selected = self.evaluation.existing.get(self.index);
        let selected = selected.is_some_and(|existing| existing.clusters.contains(&self.id));
        let mut passes = true;
        for own in self.evaluation.plan.fleet.taints(self.id) {
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
        let place = self.cluster.object.place(&pointer);
        let value = if taint.value.is_empty() {
            String::new()
        } else {
            format!("={}", taint.value)
        };
        let shown = format!("taint {}{value}:{}", taint.key, taint.effect.as_str());
        let step = |bearing, text: String| Step::new(Room::TaintToleration, bearing, text, place.clone());
        if taint.effect == TaintEffect::NoSelectIfNew && selected {
            return step(
                Bearing::For,
                format!("{shown} spares clusters that are selected already, and this one is"),
            );
        }
        let now = self.evaluation.plan.input.now;
        let tolerations = &self.placement.tolerations;
        let toleration_place =
            |index: usize| self.placement.object.place(&format!("/spec/tolerations/{index}"));
        match taints::bearing(taint, tolerations, now) {
            TaintBearing::Always => step(Bearing::For, format!("{shown} drops nobody")),
            TaintBearing::By {
                toleration, expires, ..
            } => {
                let until = expires.and_then(|time| jiff::Timestamp::from_nanosecond(time).ok());
                let until = until.map(|time| format!(" until {time}")).unwrap_or_default();
                step(Bearing::For, format!("{shown} is tolerated{until}"))
                    .related(toleration_place(toleration), "by this toleration")
            }
            TaintBearing::Not => {
                let step = step(Bearing::Against, format!("{shown} is not tolerated"));
                let covering = tolerations
                    .iter()
                    .enumerate()
                    .filter(|(_, toleration)| taints::covers(toleration, taint));
                covering.fold(step, |step, (index, toleration)| {
                    let expired = taints::expiry(toleration, taint)
                        .and_then(|time| jiff::Timestamp::from_nanosecond(time).ok())
                        .map_or_else(|| "has expired".to_owned(), |time| format!("expired at {time}"));
                    step.related(toleration_place(index), expired)
                })
            }
        }
    }

    /// What each prioritizer gave, and from which numbers.
    pub(super) fn prioritizers(&self, steps: &mut Vec<Step>) {
        let trace = self.outcome.trace.as_ref();
        let prioritizers = trace.and_then(|trace| trace.prioritizers.as_ref());
        for prioritizer in prioritizers.into_iter().flatten() {
            let Some(score) = self.scored(&prioritizer.scores) else {
                continue;
            };
            let (because, place) = self.reason(prioritizer);
            let total = prioritizer.weight.saturating_mul(score);
            let text = format!(
                "{} gives {score}, times weight {} is {total}: {because}",
                prioritizer.name, prioritizer.weight
            );
            let configuration = prioritizer.configuration.map(|index| {
                self.placement
                    .object
                    .place(&format!("/spec/prioritizerPolicy/configurations/{index}"))
            });
            let default = self.placement.object.place("/spec");
            let step = Step::new(
                Room::Prioritizer,
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

    fn reason(&self, prioritizer: &Scores) -> (String, Option<Place>) {
        let plan = &self.evaluation.plan;
        if let Some((counts, max)) = &prioritizer.counts {
            let count = self.scored(counts).unwrap_or_default();
            return (
                format!("in {count} decisions of others, where the most of any cluster is {max}"),
                None,
            );
        }
        if let Some(resource) = prioritizer.resource {
            return self.resource_reason(resource);
        }
        if let Some(rest) = prioritizer.name.strip_prefix("AddOn/") {
            let object = rest
                .split_once('/')
                .and_then(|(name, _)| plan.add_ons.object(self.cluster.name, name));
            return match object {
                None => (format!("no AddOnPlacementScore of {}", self.cluster.name), None),
                Some(object)
                    if object
                        .valid_until
                        .is_some_and(|until| plan.input.now.is_some_and(|now| now > until)) =>
                {
                    (
                        "the score has expired".to_owned(),
                        Some(object.object.place("/status/validUntil")),
                    )
                }
                Some(object) => (
                    "the add-on's score".to_owned(),
                    Some(object.object.place("/status/scores")),
                ),
            };
        }
        let existing = self.evaluation.existing.get(self.index);
        let selected = existing.is_some_and(|existing| existing.clusters.contains(&self.id));
        let text = if selected {
            "it is selected already"
        } else {
            "it is not selected yet"
        };
        (text.to_owned(), None)
    }

    fn resource_reason(&self, resource: Resource) -> (String, Option<Place>) {
        let resources = &self.evaluation.plan.resources;
        let candidates = self
            .outcome
            .trace
            .as_ref()
            .and_then(|trace| trace.tolerated.as_deref())
            .unwrap_or_default();
        let key = resource.key();
        let place = self.cluster.object.place(&format!("/status/allocatable/{key}"));
        let text = match (
            resources.amount(resource, self.id),
            resources.range(resource, candidates),
        ) {
            (Some(amount), Some(range)) => {
                format!(
                    "allocatable {amount}, where the least is {} and the most {}",
                    range.min, range.max
                )
            }
            _ => format!("it lacks allocatable or capacity of {key}"),
        };
        (text, Some(place))
    }

    /// The rank and the cut; whether the cluster is selected.
    pub(super) fn ranking(&self, steps: &mut Vec<Step>) -> bool {
        let selected = self.outcome.groups.order.contains(&self.id);
        let ranking = self
            .outcome
            .trace
            .as_ref()
            .and_then(|trace| trace.ranking.as_ref());
        let ranked = ranking.and_then(|ranking| {
            let position = ranking.iter().position(|(_, cluster)| *cluster == self.id)?;
            let (total, _) = ranking.get(position)?;
            Some((position.saturating_add(1), ranking.len(), total.0))
        });
        let Some((rank, of, total)) = ranked else {
            return selected;
        };
        let number = self.placement.number_of_clusters;
        let place = self.placement.object.place("/spec/numberOfClusters");
        let standing = format!("rank {rank} of {of} with {total} points");
        let cut = number.filter(|number| rank > *number);
        steps.push(match (cut, number) {
            (Some(number), _) => Step::new(
                Room::Ranking,
                Bearing::Against,
                format!("{standing}, cut by numberOfClusters {number}"),
                place,
            ),
            (None, Some(number)) => Step::new(
                Room::Ranking,
                Bearing::For,
                format!("{standing}, within numberOfClusters {number}"),
                place,
            ),
            (None, None) => Step::new(
                Room::Ranking,
                Bearing::For,
                format!("{standing}, and all of them are wanted"),
                self.placement.object.place("/spec"),
            ),
        });
        cut.is_none()
    }

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
                steps.push(Step::new(
                    Room::Decision,
                    Bearing::Against,
                    text,
                    fault.place.clone(),
                ));
            }
            return;
        };
        let named = groups.groups.get(chunk.group).and_then(|group| group.named);
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
        steps.push(Step::new(
            Room::Decision,
            Bearing::For,
            text,
            self.placement.object.place(&pointer),
        ));
    }
}
