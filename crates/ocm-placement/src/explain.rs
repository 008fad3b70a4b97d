//! Explanations: why a Placement has, or has not, selected a cluster.
//!
//! Each stage of the scheduler has a step, with the place that decided it. An explanation needs an evaluation with full
//! detail. `report` prints it.

use apimachinery::{Requirement, Selector};
use jiff::Timestamp;
use serde::Serialize;

use crate::api::CLUSTER_SET_LABEL;
use crate::api::managed_cluster::{ManagedCluster, ManagedClusterSet, SetMembership, TaintEffect};
use crate::api::object::Location;
use crate::api::placement::{AddOnScore, LeftAlone, Placement};
use crate::cel;
use crate::decision_groups::group_name;
use crate::evaluate::Evaluation;
use crate::fleet::{Bits, FleetTaint};
use crate::ids::{ClusterId, PlacementId};
use crate::outcome::{Outcome, SchedulerStatus, Scores, Stage};
use crate::placement_decisions::{Existing, chunks, object_name};
use crate::plan::Plan;
use crate::predicates::{build, predicate_pointer};
use crate::prioritizers::{Kind, Range, Resource};
use crate::taints_and_tolerations::{Tolerated, covering, expiry, tolerated};

/// The explanation of one Placement for one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Namespace of the Placement.
    pub namespace: String,
    /// Name of the Placement.
    pub name: String,
    /// Whether the cluster is among its decisions.
    pub selected: bool,
    /// In the order of the pipeline; the last one decided.
    pub steps: Vec<Step>,
}

/// Which way a step points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bearing {
    /// The cluster passes.
    For,
    /// The cluster is dropped here.
    Against,
    /// Information that drops no cluster: a score, a requirement of another predicate.
    Neutral,
}

/// One step of an explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where in the pipeline.
    pub stage: Stage,
    /// Which way it points.
    pub bearing: Bearing,
    /// What happened, one sentence without a full stop.
    pub text: String,
    /// What decided it.
    pub at: Location,
    /// Other places that bear on it, with a few words each.
    pub related: Vec<(Location, String)>,
}

impl Step {
    fn new(stage: Stage, bearing: Bearing, text: impl Into<String>, at: Location) -> Self {
        Self {
            stage,
            bearing,
            text: text.into(),
            at,
            related: Vec::new(),
        }
    }

    fn related(mut self, at: Location, text: impl Into<String>) -> Self {
        self.related.push((at, text.into()));
        self
    }
}

impl<'a> Evaluation<'a> {
    /// How each Placement decides about a cluster, by namespace and name; `None` if there is no such ManagedCluster.
    ///
    /// Needs an evaluation with full detail: without it, scores and ranks are left out.
    pub fn explain(&self, cluster: &str) -> Option<Vec<Explanation>> {
        let id = self.plan.fleet.cluster_id(cluster)?;
        let explanation = |(placement, outcome)| self.explanation(placement, outcome, id);
        Some(self.outcomes.iter().map(explanation).collect())
    }

    /// How one Placement, given by its position in [`Self::placement_reports`], decides about each cluster.
    pub fn explain_placement(
        &self,
        position: usize,
    ) -> Option<impl Fn(&str) -> Option<Explanation> + Sync + use<'_, 'a>> {
        let (placement, outcome) = self.outcomes.iter().nth(position)?;
        Some(move |cluster: &str| {
            let id = self.plan.fleet.cluster_id(cluster)?;
            Some(self.explanation(placement, outcome, id))
        })
    }

    fn explanation(&self, placement_id: PlacementId, outcome: &Outcome<'a>, id: ClusterId) -> Explanation {
        let placement = &self.plan.input.inventory.placements[placement_id];
        let case = Case {
            plan: &self.plan,
            placement_id,
            placement,
            outcome,
            existing: &self.existing[placement_id],
            id,
            cluster: self.plan.fleet.clusters[id],
        };
        Explanation {
            namespace: placement.namespace.to_owned(),
            name: placement.name.to_owned(),
            selected: self.results[placement_id].clusters.contains(&id.into()),
            steps: case.steps(),
        }
    }
}

/// One Placement and one cluster.
struct Case<'w, 'a> {
    plan: &'w Plan<'a>,
    placement_id: PlacementId,
    placement: &'a Placement<'a>,
    outcome: &'w Outcome<'a>,
    /// The decisions of the Placement before it was scheduled.
    existing: &'w Existing,
    id: ClusterId,
    cluster: &'a ManagedCluster<'a>,
}

/// The steps of one stage.
type Explain<'w, 'a> = fn(&Case<'w, 'a>) -> Vec<Step>;

impl<'a> Case<'_, 'a> {
    fn steps(&self) -> Vec<Step> {
        if let Some(reason) = self.outcome.left_alone {
            let (text, pointer) = match reason {
                LeftAlone::Deleting => ("the Placement is being deleted", "/metadata/deletionTimestamp"),
                LeftAlone::SchedulingDisabled => {
                    ("scheduling is disabled by an annotation", "/metadata/annotations")
                }
            };
            let text = format!("{text}: its decisions do not change");
            return vec![self.step(Stage::Scheduler, Bearing::Neutral, text, pointer)];
        }
        if let (SchedulerStatus::Error, Some(fault)) = (self.outcome.status, &self.outcome.fault) {
            let (message, at) = (&fault.message, fault.at.clone());
            let text = format!("the Placement cannot be synced, so its decisions do not change: {message}");
            return vec![Step::new(Stage::Scheduler, Bearing::Neutral, text, at)];
        }
        let stages: [(Stage, Explain<'_, '_>); 6] = [
            (Stage::ClusterSet, Self::cluster_sets),
            (Stage::Predicate, Self::predicates),
            (Stage::TaintToleration, Self::taints),
            (Stage::Prioritizer, Self::prioritizers),
            (Stage::Ranking, Self::ranking),
            (Stage::Decision, Self::decision),
        ];
        let is_misconfigured = self.outcome.status == SchedulerStatus::Misconfigured;
        let mut steps = Vec::new();
        for (stage, explain) in stages {
            let mut fault = self.outcome.fault.iter().filter(|_| is_misconfigured);
            if let Some(fault) = fault.find(|fault| fault.stage == stage) {
                let message = &fault.message;
                let text = format!("the Placement is misconfigured and selects nothing: {message}");
                let at = fault.at.clone();
                steps.push(Step::new(Stage::Scheduler, Bearing::Against, text, at));
            } else {
                steps.extend(explain(self));
            }
            if steps.iter().any(|step| step.bearing == Bearing::Against) {
                break;
            }
        }
        steps
    }

    /// A step that a field of the Placement decides.
    fn step(&self, stage: Stage, bearing: Bearing, text: impl Into<String>, pointer: &str) -> Step {
        Step::new(stage, bearing, text, self.placement.object.at(pointer))
    }

    /// Whether the cluster was selected before.
    fn was_selected(&self) -> bool {
        self.existing.clusters.contains(&self.id.into())
    }

    /// What a list that is aligned with the candidates holds for the cluster, if that is one of them.
    fn scored<T: Copy>(&self, scores: &[T]) -> Option<T> {
        let candidates = self.outcome.trace.tolerated.as_deref()?;
        let position = candidates.binary_search(&self.id).ok()?;
        scores.get(position).copied()
    }

    fn first_unmet_label<'s>(&self, selector: &'s Selector) -> Option<&'s Requirement> {
        selector.first_unmet(|key| self.plan.fleet.label(self.cluster, key))
    }

    fn labelled(&self, key: &str) -> String {
        match self.plan.fleet.label(self.cluster, key) {
            Some(value) => format!("{key}={value}"),
            None => format!("no label `{key}`"),
        }
    }

    /// Which set made the cluster eligible, or why none did.
    fn cluster_sets(&self) -> Vec<Step> {
        let sets = &self.plan.sets;
        if !sets.eligible[self.placement_id].bound {
            let namespace = self.placement.namespace;
            let text =
                format!("no ManagedClusterSetBinding in namespace `{namespace}` names a set that exists");
            return vec![self.step(Stage::ClusterSet, Bearing::Against, text, "/metadata/namespace")];
        }
        let eligible = &sets.for_placement(self.placement_id).sets;
        if eligible.is_empty() {
            let text = "none of the Placement's clusterSets is bound to its namespace";
            return vec![self.step(Stage::ClusterSet, Bearing::Against, text, "/spec/clusterSets")];
        }
        if self.cluster.deleting {
            let at = self.cluster.object.at("/metadata/deletionTimestamp");
            let text = "the cluster is being deleted";
            return vec![Step::new(Stage::ClusterSet, Bearing::Against, text, at)];
        }
        let memberships = eligible.iter().map(|set| {
            let members = sets.members[*set].as_ref();
            let member = members.is_ok_and(|members| members.binary_search(&self.id).is_ok());
            self.membership(sets.all[*set], member)
        });
        let mut steps: Vec<Step> = memberships.collect();
        if steps.iter().any(|step| step.bearing == Bearing::For) {
            steps.retain(|step| step.bearing == Bearing::For);
        }
        steps
    }

    fn membership(&self, set: &ManagedClusterSet<'_>, member: bool) -> Step {
        let bearing = if member { Bearing::For } else { Bearing::Against };
        let label = "/metadata/labels/cluster.open-cluster-management.io~1clusterset";
        let name = set.name;
        let step = |text: String, place| Step::new(Stage::ClusterSet, bearing, text, place);
        match &set.membership {
            SetMembership::ExclusiveLabel => {
                let value = self.plan.fleet.label(self.cluster, CLUSTER_SET_LABEL);
                let text = match (member, value) {
                    (true, _) => format!("its label puts it into the cluster set `{name}`"),
                    (false, Some(other)) => {
                        format!("its label puts it into `{other}`, not into the cluster set `{name}`")
                    }
                    (false, None) => format!("it has no label for the cluster set `{name}`"),
                };
                step(text, self.cluster.object.at(label)).related(set.object.at(""), "the set")
            }
            SetMembership::Selector(None) => step(
                format!("the cluster set `{name}` has no label selector, so it selects nothing"),
                set.object.at("/spec/clusterSelector"),
            ),
            SetMembership::Selector(Some(selector)) => {
                let pointer = "/spec/clusterSelector/labelSelector";
                let selector = selector.compile().ok();
                let unmet = selector
                    .as_ref()
                    .and_then(|selector| self.first_unmet_label(selector));
                let (text, origin) = match unmet {
                    Some(requirement) => {
                        let has = self.labelled(&requirement.key);
                        let text = format!("the cluster set `{name}` requires {requirement}, it has {has}");
                        (text, requirement.origin.pointer())
                    }
                    None => {
                        let text = format!("the label selector of the cluster set `{name}` matches");
                        (text, String::new())
                    }
                };
                step(text, set.object.at(format!("{pointer}{origin}")))
                    .related(self.cluster.object.at("/metadata/labels"), "its labels")
            }
        }
    }

    /// The decision group and the object that hold the cluster.
    fn decision(&self) -> Vec<Step> {
        let groups = &self.outcome.groups;
        let position = groups.order.iter().position(|cluster| *cluster == self.id);
        let chunk = position.and_then(|position| {
            let mut chunks = chunks(groups).into_iter();
            chunks.find(|chunk| (chunk.start..chunk.end).contains(&position))
        });
        let Some(chunk) = chunk else {
            let fault = self.outcome.fault.iter().filter(|_| self.ranked().is_some());
            let lost_group = fault.map(|fault| {
                let text = format!("selected, but lost with its decision group: {}", fault.message);
                Step::new(Stage::Decision, Bearing::Against, text, fault.at.clone())
            });
            return lost_group.collect();
        };
        let object = object_name(self.placement.name, chunk.number);
        let (name, pointer) = match chunk.named {
            Some(index) => (
                format!(" ({})", group_name(self.placement, chunk.named)),
                format!("/spec/decisionStrategy/groupStrategy/decisionGroups/{index}"),
            ),
            None => (String::new(), "/spec".to_owned()),
        };
        let group = chunk.group;
        let text = format!("selected: decision group {group}{name}, PlacementDecision {object}");
        vec![self.step(Stage::Decision, Bearing::For, text, &pointer)]
    }

    /// Which predicate the cluster fits, or what each of them lacks.
    fn predicates(&self) -> Vec<Step> {
        if self.placement.predicates.is_empty() {
            let text = "the Placement has no predicates, so every cluster matches";
            return vec![self.step(Stage::Predicate, Bearing::For, text, "/spec")];
        }
        let mut failures = Vec::new();
        for index in 0..self.placement.predicates.len() {
            match self.predicate_failure(index) {
                None => {
                    let text = format!("predicate {index} matches");
                    let at = predicate_pointer(index);
                    return vec![self.step(Stage::Predicate, Bearing::For, text, &at)];
                }
                Some(step) => failures.push(step),
            }
        }
        failures
    }

    /// The requirements of a predicate that the cluster lacks.
    fn predicate_failure(&self, index: usize) -> Option<Step> {
        let selector = self.placement.predicates.get(index)?;
        let pointer = predicate_pointer(index);
        let built = build(selector, &pointer).ok()?;
        let against =
            |text: String, pointer: String| self.step(Stage::Predicate, Bearing::Against, text, &pointer);
        if let Some(unmet) = self.first_unmet_label(&built.labels) {
            let has = self.labelled(&unmet.key);
            let text = format!("predicate {index} requires label {unmet}, it has {has}");
            let step = against(text, format!("{pointer}/labelSelector{}", unmet.origin.pointer()));
            return Some(step.related(self.cluster.object.at("/metadata/labels"), "its labels"));
        }
        let claim = |key: &str| self.cluster.claims.get(key).map(|claim| claim.value);
        if let Some(unmet) = built.claims.first_unmet(claim) {
            let (key, mut place) = (unmet.key.as_str(), "/status/clusterClaims".to_owned());
            let has = match self.cluster.claims.get(key) {
                Some(claim) => {
                    place.push_str(&format!("/{}", claim.index));
                    format!("{key}={}", claim.value)
                }
                None => format!("no claim {key}"),
            };
            let text = format!("predicate {index} requires claim {unmet}, it has {has}");
            let step = against(text, format!("{pointer}/claimSelector{}", unmet.origin.pointer()));
            return Some(step.related(self.cluster.object.at(place), "its claims"));
        }
        let failing = self.failing_expression(&selector.cel_expressions)?;
        let expression = selector.cel_expressions.get(failing).copied().unwrap_or_default();
        let text = format!("predicate {index} requires {expression}, which is not true");
        let pointer = format!("{pointer}/celSelector/celExpressions/{failing}");
        Some(against(text, pointer))
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
            let mut answers = cel::ask(&[question], &self.plan.input, fleet).into_iter();
            answers.all(|answer| answer.map_or(true, |matching| matching.is_empty()))
        })
    }

    /// What each prioritizer gave, and from which numbers.
    fn prioritizers(&self) -> Vec<Step> {
        let prioritizers = self.outcome.trace.prioritizers.iter().flatten();
        let steps = prioritizers.filter_map(|scored| {
            let prioritizer = &scored.prioritizer;
            let score = self.scored(&scored.scores)?;
            let (because, place) = self.reason(scored);
            let total = prioritizer.weight.saturating_mul(score);
            let (name, weight) = (prioritizer.kind.name(), prioritizer.weight);
            let text = format!("{name} gives {score}, times weight {weight} is {total}: {because}");
            let pointer = match prioritizer.configuration {
                Some(index) => format!("/spec/prioritizerPolicy/configurations/{index}"),
                None => "/spec".to_owned(),
            };
            let step = self.step(Stage::Prioritizer, Bearing::Neutral, text, &pointer);
            Some(match place {
                Some(place) => step.related(place, "the numbers"),
                None => step,
            })
        });
        steps.collect()
    }

    fn reason(&self, scored: &Scores<'a>) -> (String, Option<Location>) {
        if let Some((counts, max)) = &scored.counts {
            let count = self.scored(counts).unwrap_or_default();
            let text = format!("decisions of others: {count}; the most of any cluster: {max}");
            return (text, None);
        }
        match &scored.prioritizer.kind {
            Kind::Allocatable(resource) => self.resource_reason(*resource),
            Kind::AddOn(score) => self.add_on_reason(score),
            _ if self.was_selected() => ("it is already selected".to_owned(), None),
            _ => ("it is not selected yet".to_owned(), None),
        }
    }

    fn add_on_reason(&self, score: &AddOnScore<'a>) -> (String, Option<Location>) {
        let column = self.plan.add_ons.column(score);
        let Some(score) = self.plan.add_ons.object(self.cluster.name, score.resource_name) else {
            return (format!("no AddOnPlacementScore of {}", self.cluster.name), None);
        };
        let (text, pointer) = if column.is_some_and(|column| column.expired.contains(self.id)) {
            ("the score has expired", "/status/validUntil")
        } else {
            ("the add-on's score", "/status/scores")
        };
        (text.to_owned(), Some(score.object.at(pointer)))
    }

    fn resource_reason(&self, resource: Resource) -> (String, Option<Location>) {
        let resources = &self.plan.resources;
        let candidates = self.outcome.trace.tolerated.as_deref().unwrap_or_default();
        let key: &str = resource.into();
        let place = self.cluster.object.at(format!("/status/allocatable/{key}"));
        let (amount, range) = (
            resources.amount(resource, self.id),
            resources.range(resource, candidates),
        );
        let text = match (amount, range) {
            (Some(amount), Some(Range { min, max })) => {
                format!("allocatable {amount}; the least is {min} and the most {max}")
            }
            _ => format!("it lacks allocatable or capacity of {key}"),
        };
        (text, Some(place))
    }

    /// The rank of the cluster, of how many, and its total.
    fn ranked(&self) -> Option<(usize, usize, i64)> {
        let ranking = self.outcome.trace.ranking.as_ref()?;
        let mut ranks = (1_usize..).zip(ranking);
        let (rank, (total, _)) = ranks.find(|(_, (_, cluster))| *cluster == self.id)?;
        Some((rank, ranking.len(), total.0))
    }

    /// The rank and the cut.
    fn ranking(&self) -> Vec<Step> {
        let Some((rank, of, total)) = self.ranked() else {
            return Vec::new();
        };
        let number = self.placement.number_of_clusters;
        let standing = format!("rank {rank} of {of} with {total} points");
        let cut = number.filter(|number| rank > *number);
        let (bearing, why, at) = match (cut, number) {
            (Some(number), _) => {
                let why = format!("cut by numberOfClusters {number}");
                (Bearing::Against, why, "/spec/numberOfClusters")
            }
            (None, Some(number)) => {
                let why = format!("within numberOfClusters {number}");
                (Bearing::For, why, "/spec/numberOfClusters")
            }
            (None, None) => (Bearing::For, "and all are selected".to_owned(), "/spec"),
        };
        vec![self.step(Stage::Ranking, bearing, format!("{standing}, {why}"), at)]
    }

    /// What the tolerations make of each taint.
    fn taints(&self) -> Vec<Step> {
        let selected = self.was_selected();
        let taints = self.plan.fleet.taints[self.id].iter();
        taints.map(|own| self.taint(own, selected)).collect()
    }

    fn taint(&self, own: &FleetTaint<'_>, selected: bool) -> Step {
        let taint = &own.taint;
        let pointer = match own.index {
            Some(index) => format!("/spec/taints/{index}"),
            None => "/status/conditions".to_owned(),
        };
        let place = self.cluster.object.at(&pointer);
        let equals = if taint.value.is_empty() { "" } else { "=" };
        let (key, value, effect) = (taint.key, taint.value, <&str>::from(taint.effect));
        let shown = format!("taint {key}{equals}{value}:{effect}");
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
                covering(tolerations, taint).fold(step, |step, (index, toleration)| {
                    let expired = expiry(toleration, taint)
                        .and_then(|time| Timestamp::from_nanosecond(time).ok())
                        .map_or_else(|| "has expired".to_owned(), |time| format!("expired at {time}"));
                    step.related(toleration_place(index), expired)
                })
            }
        }
    }
}
