//! One Placement through the pipeline (OCM placement 1.2).
//!
//! Owns: the order of the rooms, where the pipeline stops, what is kept of it. Flows in: the plan, the decisions
//! as they are. Flows out: an [`Outcome`]. Must not know: other Placements, but for the counts of their decisions.

use std::sync::Arc;

use jiff::Timestamp;

use super::bits::Bits;
use super::groups;
use super::input::Detail;
use super::outcome::{Fault, NeedsNow, Outcome, PREDICATE, SchedulerStatus, Scores, TAINT_TOLERATION, Trace};
use super::plan::Plan;
use super::pool::Pool;
use super::prioritizers::{Balance, Resource, steady};
use super::ranking;
use super::taints;
use super::weights::{self, Kind, Prioritizer};
use crate::api::ocm::Placement;
use crate::diagnostic::Place;

/// Where a worker keeps what changes from Placement to Placement.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    /// How often each name stands in any decision.
    pub(super) counts: Vec<u32>,
    /// The clusters of this Placement's existing decisions.
    mine: Bits,
}

impl Scratch {
    pub(super) fn new(plan: &Plan<'_>, counts: Vec<u32>) -> Self {
        Self {
            mine: Bits::none(plan.fleet.len()),
            counts,
        }
    }

    /// Takes this Placement's own decisions out of the counts and notes them as mine.
    pub(super) fn begin(&mut self, existing: &[u32]) {
        self.adjust(existing, |count| count.saturating_sub(1));
        for cluster in existing {
            self.mine.insert(*cluster);
        }
    }

    /// Forgets what is mine and adds decisions to the counts.
    pub(super) fn end(&mut self, existing: &[u32], decisions: &[u32]) {
        for cluster in existing {
            self.mine.remove(*cluster);
        }
        self.adjust(decisions, |count| count.saturating_add(1));
    }

    fn adjust(&mut self, names: &[u32], change: impl Fn(u32) -> u32) {
        for name in names {
            let slot = usize::try_from(*name)
                .ok()
                .and_then(|name| self.counts.get_mut(name));
            if let Some(slot) = slot {
                *slot = change(*slot);
            }
        }
    }
}

/// Schedules the Placement at `index` of the inventory. `existing` are its decisions as they are; `scratch` has
/// begun with them.
pub(super) fn schedule(
    plan: &Plan<'_>,
    index: usize,
    existing: &[u32],
    scratch: &Scratch,
    detail: Detail,
) -> Option<Outcome> {
    let placement = plan.input.inventory.placements.get(index)?;
    if let Some(reason) = placement.left_alone {
        let mut outcome = Outcome::new(SchedulerStatus::Skipped);
        outcome.left_alone = Some(reason);
        return Some(outcome);
    }
    let eligible = plan.sets.eligible.get(index)?;
    let union = plan.sets.available.get(eligible.available)?;
    let available = match &union.clusters {
        Ok(available) => available,
        Err(bad) => {
            let mut outcome = Outcome::new(SchedulerStatus::Error);
            let pointer = format!(
                "/spec/clusterSelector/labelSelector{}",
                bad.error.origin.pointer()
            );
            outcome.fault = Some(Fault {
                plugin: "",
                message: bad.error.message.clone(),
                place: plan
                    .sets
                    .all
                    .get(bad.set)
                    .map_or(Place::Run, |set| set.object.place(&pointer)),
            });
            return Some(outcome);
        }
    };
    let run = Run {
        plan,
        index,
        placement,
        existing,
        scratch,
        detail,
        available,
    };
    let mut outcome = Outcome::new(SchedulerStatus::Success);
    let mut trace = Trace::default();
    match run.pipeline(&mut outcome, &mut trace) {
        Ok(selected) => {
            outcome.selected = selected.len();
            let wanted = placement.number_of_clusters.unwrap_or(selected.len());
            outcome.unscheduled = wanted.saturating_sub(selected.len());
            run.group(&mut outcome, selected);
            outcome.requeue_at = run.requeue_at();
        }
        Err(fault) => {
            outcome.status = SchedulerStatus::Misconfigured;
            outcome.fault = Some(fault);
            run.group(&mut outcome, Vec::new());
        }
    }
    outcome.available = available.clone();
    outcome.needs_now.sort();
    outcome.needs_now.dedup();
    outcome.trace = (detail == Detail::Full).then_some(trace);
    Some(outcome)
}

struct Run<'r, 'a> {
    plan: &'r Plan<'a>,
    index: usize,
    placement: &'a Placement<'a>,
    existing: &'r [u32],
    scratch: &'r Scratch,
    detail: Detail,
    available: &'r Arc<[u32]>,
}

impl<'r, 'a> Run<'r, 'a> {
    /// Filters, weights, scores, cut: the selected clusters, ascending.
    fn pipeline(&self, outcome: &mut Outcome, trace: &mut Trace) -> Result<Vec<u32>, Fault> {
        let pool = self.predicates()?;
        trace.predicate = Some(pool.predicate.clone());
        let candidates = self.tolerations(pool, outcome)?;
        trace.tolerated = Some(candidates.clone());
        let prioritizers =
            weights::prioritizers(&self.placement.prioritizer_policy).map_err(|fault| Fault {
                plugin: "",
                message: fault.message,
                place: self.placement.object.place(&fault.pointer),
            })?;
        let number = self.placement.number_of_clusters.unwrap_or(candidates.len());
        let cuts = number < candidates.len();
        self.expired_scores(&prioritizers, &candidates, cuts, outcome);
        if self.detail == Detail::Decisions && !cuts {
            return Ok(candidates.to_vec());
        }
        let scores = self.scores(&prioritizers, pool, &candidates);
        let mut totals = vec![0i64; candidates.len()];
        for (prioritizer, scores) in prioritizers.iter().zip(&scores) {
            for (total, score) in totals.iter_mut().zip(scores.iter()) {
                *total = total.saturating_add(prioritizer.weight.saturating_mul(*score));
            }
        }
        if self.detail == Detail::Decisions {
            return Ok(ranking::select(&candidates, &totals, number));
        }
        let ranking = ranking::rank(&candidates, &totals);
        let mut selected: Vec<u32> = ranking.iter().take(number).map(|(_, cluster)| *cluster).collect();
        selected.sort_unstable();
        trace.prioritizers = Some(
            prioritizers
                .iter()
                .zip(scores)
                .map(|(prioritizer, scores)| Scores {
                    name: prioritizer.kind.name(),
                    weight: prioritizer.weight,
                    scores,
                    resource: resource_of(&prioritizer.kind),
                    counts: (prioritizer.kind == Kind::Balance).then(|| self.counts(&candidates)),
                    configuration: prioritizer.configuration,
                })
                .collect(),
        );
        trace.ranking = Some(ranking);
        Ok(selected)
    }

    fn predicates(&self) -> Result<&'r Pool, Fault> {
        let list = self
            .plan
            .predicates
            .of_placement
            .get(self.index)
            .copied()
            .flatten();
        let result = list.and_then(|list| self.plan.predicates.results.get(list));
        // Without clusters nothing is even compiled.
        if let (false, Some(Err(fault))) = (self.available.is_empty(), result) {
            return Err(Fault {
                plugin: PREDICATE,
                message: fault.message.clone(),
                place: self.placement.object.place(&fault.pointer),
            });
        }
        self.plan.pool(self.index, self.available).ok_or_else(|| Fault {
            plugin: PREDICATE,
            message: String::new(),
            place: Place::Run,
        })
    }

    /// The candidates: what passes both filters, ascending.
    fn tolerations(&self, pool: &Pool, outcome: &mut Outcome) -> Result<Arc<[u32]>, Fault> {
        if pool.predicate.is_empty() {
            return Ok(pool.tolerated.clone());
        }
        if let Some(fault) = taints::fault(&self.placement.tolerations) {
            let pointer = format!("/spec/tolerations/{}/{}", fault.index, fault.field);
            return Err(Fault {
                plugin: TAINT_TOLERATION,
                message: fault.message.to_owned(),
                place: self.placement.object.place(&pointer),
            });
        }
        self.unsure_tolerations(pool, outcome);
        let kept: Vec<u32> = pool
            .if_selected
            .iter()
            .copied()
            .filter(|cluster| self.scratch.mine.contains(*cluster))
            .collect();
        if kept.is_empty() {
            return Ok(pool.tolerated.clone());
        }
        let mut candidates: Vec<u32> = pool.tolerated.iter().copied().chain(kept).collect();
        candidates.sort_unstable();
        Ok(candidates.into())
    }

    fn unsure_tolerations(&self, pool: &Pool, outcome: &mut Outcome) {
        let list = self
            .plan
            .taints
            .of_placement
            .get(self.index)
            .copied()
            .unwrap_or(usize::MAX);
        for cluster in &pool.unsure {
            let verdict = self.plan.taints.verdict(list, *cluster);
            let [new, selected] = verdict.unsure;
            let (unsure, passes) = if self.scratch.mine.contains(*cluster) {
                (selected, verdict.for_selected)
            } else {
                (new, verdict.for_new)
            };
            if let (Some(index), true) = (unsure, passes) {
                let pointer = format!("/spec/tolerations/{index}/tolerationSeconds");
                outcome.needs_now.push(NeedsNow {
                    placement: self.key(),
                    place: self.placement.object.place(&pointer),
                    decides: format!(
                        "whether the taints of {} are tolerated",
                        self.plan.fleet.name(*cluster)
                    ),
                });
            }
        }
    }

    /// Expired scores end the run in a Warning; scores that may have expired need a clock.
    fn expired_scores(
        &self,
        prioritizers: &[Prioritizer<'a>],
        candidates: &[u32],
        cuts: bool,
        outcome: &mut Outcome,
    ) {
        for prioritizer in prioritizers {
            let Kind::AddOn(score) = prioritizer.kind else {
                continue;
            };
            let Some(column) = self.plan.add_ons.column(&score) else {
                continue;
            };
            if candidates.iter().any(|cluster| column.expired.contains(*cluster)) {
                outcome.status = SchedulerStatus::Warning;
            }
            if !cuts && self.detail == Detail::Decisions {
                continue;
            }
            for cluster in candidates
                .iter()
                .filter(|cluster| column.unsure.contains(**cluster))
            {
                let name = self.plan.fleet.name(*cluster);
                if let Some(object) = self.plan.add_ons.object(name, score.resource_name) {
                    outcome.needs_now.push(NeedsNow {
                        placement: self.key(),
                        place: object.object.place("/status/validUntil"),
                        decides: format!("whether {name} has its score {}", score.score_name),
                    });
                }
            }
        }
    }

    fn scores(
        &self,
        prioritizers: &[Prioritizer<'a>],
        pool: &Pool,
        candidates: &Arc<[u32]>,
    ) -> Vec<Arc<[i64]>> {
        prioritizers
            .iter()
            .map(|prioritizer| match prioritizer.kind {
                Kind::Balance => {
                    let balance = Balance::new(&self.scratch.counts);
                    let count = |cluster: &u32| super::fleet::at(&self.scratch.counts, *cluster).copied();
                    let score = |cluster| balance.score(count(cluster).unwrap_or_default());
                    candidates.iter().map(score).collect()
                }
                Kind::Steady => candidates
                    .iter()
                    .map(|cluster| steady(&self.scratch.mine, *cluster))
                    .collect(),
                Kind::AllocatableCpu => self.resource_scores(Resource::Cpu, pool, candidates),
                Kind::AllocatableMemory => self.resource_scores(Resource::Memory, pool, candidates),
                Kind::AddOn(score) => {
                    let column = self.plan.add_ons.column(&score);
                    let score =
                        |cluster: &u32| column.map(|column| column.score(*cluster)).unwrap_or_default();
                    candidates.iter().map(score).collect()
                }
            })
            .collect()
    }

    fn counts(&self, candidates: &[u32]) -> (Arc<[u32]>, u32) {
        let count = |cluster: &u32| {
            super::fleet::at(&self.scratch.counts, *cluster)
                .copied()
                .unwrap_or_default()
        };
        let max = self.scratch.counts.iter().copied().max().unwrap_or_default();
        (candidates.iter().map(count).collect(), max)
    }

    /// Shared by all Placements with the same candidates: least and most depend on nothing else.
    fn resource_scores(&self, resource: Resource, pool: &Pool, candidates: &Arc<[u32]>) -> Arc<[i64]> {
        let scores = || self.plan.resources.scores(resource, candidates).into();
        let [cpu, memory] = &pool.resources;
        let slot = match resource {
            Resource::Cpu => cpu,
            Resource::Memory => memory,
        };
        if Arc::ptr_eq(candidates, &pool.tolerated) {
            slot.get_or_init(scores).clone()
        } else {
            scores()
        }
    }

    fn group(&self, outcome: &mut Outcome, selected: Vec<u32>) {
        outcome.groups = groups::group(
            &self.placement.group_strategy,
            selected,
            &self.plan.group_selectors,
        );
        if let (Some(fault), None) = (&outcome.groups.fault, &outcome.fault) {
            outcome.group_fault = true;
            outcome.fault = Some(Fault {
                plugin: "",
                message: fault.message.clone(),
                place: self.placement.object.place(&fault.pointer),
            });
        }
    }

    /// When the first toleration in use on a cluster of the existing decisions expires.
    fn requeue_at(&self) -> Option<Timestamp> {
        self.plan.input.now?;
        let list = self.plan.taints.of_placement.get(self.index).copied()?;
        let fleet = &self.plan.fleet;
        let expiries = self
            .existing
            .iter()
            .filter(|cluster| fleet.tainted.contains(**cluster));
        let first = expiries
            .filter_map(|cluster| self.plan.taints.verdict(list, *cluster).expires)
            .min()?;
        Timestamp::from_nanosecond(first).ok()
    }

    fn key(&self) -> (String, String) {
        (
            self.placement.namespace.to_owned(),
            self.placement.name.to_owned(),
        )
    }
}

fn resource_of(kind: &Kind<'_>) -> Option<Resource> {
    match kind {
        Kind::AllocatableCpu => Some(Resource::Cpu),
        Kind::AllocatableMemory => Some(Resource::Memory),
        _ => None,
    }
}
