//! Runs one Placement through the pipeline (docs/systems/ocm-placement.md#the-pipeline).

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;

use crate::api::object::Location;
use crate::api::placement::{FieldFault, Placement};
use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, NameId, PlacementId, Table};
use crate::input::Detail;
use crate::outcome::{Fault, NeedsNow, Outcome, Ranked, SchedulerStatus, Scores, Stage, Trace};
use crate::plan::{Filtered, Plan};
use crate::prioritizers::{Kind, Prioritizer, balance, prioritizers, steady};
use crate::{decision_groups, taints_and_tolerations as taints};

/// Where a worker keeps what changes from Placement to Placement.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    /// How often each name is in any decision.
    counts: Table<NameId, u32>,
    /// The clusters of this Placement's existing decisions.
    mine: Bits,
}

impl Scratch {
    pub(crate) fn new(fleet: &Fleet<'_>, counts: Table<NameId, u32>) -> Self {
        Self {
            mine: Bits::none(fleet.len()),
            counts,
        }
    }

    /// Takes this Placement's own decisions out of the counts, because Balance counts those of others only, and notes
    /// them as mine.
    pub(crate) fn begin(&mut self, fleet: &Fleet<'_>, existing: &[NameId]) {
        for name in existing {
            self.counts[*name] = self.counts[*name].saturating_sub(1);
            if let Some(cluster) = fleet.cluster_of(*name) {
                self.mine.insert(cluster);
            }
        }
    }

    /// Forgets what is mine and adds decisions to the counts.
    pub(crate) fn end(&mut self, fleet: &Fleet<'_>, existing: &[NameId], decisions: &[NameId]) {
        for cluster in existing.iter().filter_map(|name| fleet.cluster_of(*name)) {
            self.mine.remove(cluster);
        }
        for name in decisions {
            self.counts[*name] = self.counts[*name].saturating_add(1);
        }
    }
}

/// Schedules a Placement. `existing` are its decisions as they are; `scratch` has begun with them.
pub(crate) fn schedule<'a>(
    plan: &Plan<'a>,
    id: PlacementId,
    existing: &[NameId],
    scratch: &Scratch,
    detail: Detail,
) -> Outcome<'a> {
    let placement = &plan.input.inventory.placements[id];
    if let Some(reason) = placement.left_alone {
        return Outcome {
            status: SchedulerStatus::Skipped,
            left_alone: Some(reason),
            ..Outcome::default()
        };
    }
    let available = match &plan.sets.for_placement(id).clusters {
        Ok(available) => available,
        Err(bad) => {
            let pointer = bad.error.origin.pointer();
            let pointer = format!("/spec/clusterSelector/labelSelector{pointer}");
            return Outcome {
                status: SchedulerStatus::Error,
                fault: Some(Fault {
                    stage: Stage::ClusterSet,
                    message: bad.error.message.clone(),
                    at: plan.sets.all[bad.set].object.at(pointer),
                }),
                ..Outcome::default()
            };
        }
    };
    let run = Run {
        plan,
        id,
        placement,
        existing,
        scratch,
        detail,
        available,
    };
    let mut outcome = Outcome::default();
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
            // Earlier decisions are wiped: OCM writes the groups of nothing, too.
            run.group(&mut outcome, Vec::new());
        }
    }
    outcome.available = available.clone();
    outcome.needs_now.sort();
    outcome.needs_now.dedup();
    if detail == Detail::Full {
        outcome.trace = trace;
    }
    outcome
}

/// The order of the candidates, and so which of them `numberOfClusters` keeps: total descending, then name ascending
/// (docs/systems/ocm-placement.md#ranking).
fn rank(candidates: &[ClusterId], totals: &[i64]) -> Vec<Ranked> {
    let ranked = candidates.iter().zip(totals);
    let mut ranking: Vec<Ranked> = ranked
        .map(|(cluster, total)| (Reverse(*total), *cluster))
        .collect();
    ranking.sort_unstable();
    ranking
}

struct Run<'r, 'a> {
    plan: &'r Plan<'a>,
    id: PlacementId,
    placement: &'a Placement<'a>,
    existing: &'r [NameId],
    scratch: &'r Scratch,
    detail: Detail,
    available: &'r Arc<[ClusterId]>,
}

impl<'a> Run<'_, 'a> {
    /// Filters, weights, scores, cut: the selected clusters, ascending.
    fn pipeline(&self, outcome: &mut Outcome<'_>, trace: &mut Trace<'a>) -> Result<Vec<ClusterId>, Fault> {
        let filtered = self.plan.filtered(self.id, self.available);
        let filtered = filtered.map_err(|fault| self.fault(Stage::Predicate, fault.clone()))?;
        outcome.matched = filtered.predicate.len();
        trace.predicate = Some(filtered.predicate.clone());
        let candidates = self.tolerations(filtered, outcome)?;
        trace.tolerated = Some(candidates.clone());
        let prioritizers = prioritizers(&self.placement.prioritizer_policy)
            .map_err(|fault| self.fault(Stage::Prioritizer, fault))?;
        let number = self.placement.number_of_clusters.unwrap_or(candidates.len());
        let cuts = number < candidates.len();
        self.expired_scores(&prioritizers, &candidates, cuts, outcome);
        if self.detail == Detail::Decisions && !cuts {
            return Ok(candidates.to_vec());
        }
        let scores = self.scores(&prioritizers, &candidates);
        let mut totals = vec![0i64; candidates.len()];
        for (prioritizer, scores) in prioritizers.iter().zip(&scores) {
            for (total, score) in totals.iter_mut().zip(scores.iter()) {
                *total = total.saturating_add(prioritizer.weight.saturating_mul(*score));
            }
        }
        let ranking = rank(&candidates, &totals);
        let mut selected: Vec<ClusterId> = ranking.iter().take(number).map(|(_, cluster)| *cluster).collect();
        selected.sort_unstable();
        if self.detail == Detail::Decisions {
            return Ok(selected);
        }
        let scored = prioritizers.into_iter().zip(scores);
        let scored = scored.map(|(prioritizer, scores)| Scores {
            counts: (prioritizer.kind == Kind::Balance).then(|| {
                let counts = candidates.iter().map(|cluster| self.count(*cluster));
                (counts.collect(), self.most())
            }),
            prioritizer,
            scores,
        });
        trace.prioritizers = Some(scored.collect());
        trace.ranking = Some(ranking);
        Ok(selected)
    }

    /// The candidates: what passes both filters, ascending.
    fn tolerations(&self, filtered: &Filtered, outcome: &mut Outcome<'_>) -> Result<Arc<[ClusterId]>, Fault> {
        // OCM looks at tolerations only where a cluster is left, so a bad one is no fault before.
        if filtered.predicate.is_empty() {
            return Ok(filtered.tolerated.clone());
        }
        if let Some(fault) = taints::fault(&self.placement.tolerations) {
            return Err(self.fault(Stage::TaintToleration, fault));
        }
        self.unsure_tolerations(filtered, outcome);
        let kept = filtered.if_selected.iter().copied();
        let mut kept = kept
            .filter(|cluster| self.scratch.mine.contains(*cluster))
            .peekable();
        if kept.peek().is_none() {
            return Ok(filtered.tolerated.clone());
        }
        let mut candidates: Vec<ClusterId> = filtered.tolerated.iter().copied().chain(kept).collect();
        candidates.sort_unstable();
        Ok(candidates.into())
    }

    fn unsure_tolerations(&self, filtered: &Filtered, outcome: &mut Outcome<'_>) {
        let list = self.plan.verdicts.of_placement[self.id];
        for cluster in &filtered.unsure {
            let verdict = self.plan.verdicts.verdict(list, *cluster);
            let [new, selected] = verdict.unsure;
            let (unsure, passes) = if self.scratch.mine.contains(*cluster) {
                (selected, verdict.for_selected)
            } else {
                (new, verdict.for_new)
            };
            if let Some(index) = unsure.filter(|_| passes) {
                let name = self.plan.fleet.name(*cluster);
                outcome.needs_now.push(NeedsNow {
                    at: self.at(format!("/spec/tolerations/{index}/tolerationSeconds")),
                    decides: format!("whether the taints of {name} are tolerated"),
                });
            }
        }
    }

    /// Expired scores end the run in a Warning; scores that may have expired need a clock.
    fn expired_scores(
        &self,
        prioritizers: &[Prioritizer<'a>],
        candidates: &[ClusterId],
        cuts: bool,
        outcome: &mut Outcome<'_>,
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
            let unsure = candidates
                .iter()
                .filter(|cluster| column.unsure.contains(**cluster));
            for cluster in unsure {
                let name = self.plan.fleet.name(*cluster);
                if let Some(object) = self.plan.add_ons.object(name, score.resource_name) {
                    outcome.needs_now.push(NeedsNow {
                        at: object.object.at("/status/validUntil"),
                        decides: format!("whether {name} has its score {}", score.score_name),
                    });
                }
            }
        }
    }

    fn scores(&self, prioritizers: &[Prioritizer<'a>], candidates: &[ClusterId]) -> Vec<Arc<[i64]>> {
        let scores = prioritizers.iter().map(|prioritizer| match prioritizer.kind {
            Kind::Balance => {
                let most = self.most();
                let score = |cluster: &ClusterId| balance(self.count(*cluster), most);
                candidates.iter().map(score).collect()
            }
            Kind::Steady => {
                let score = |cluster: &ClusterId| steady(&self.scratch.mine, *cluster);
                candidates.iter().map(score).collect()
            }
            Kind::Allocatable(resource) => self.plan.resources.scores(resource, candidates).into(),
            Kind::AddOn(score) => {
                let column = self.plan.add_ons.column(&score);
                let score =
                    |cluster: &ClusterId| column.map(|column| column.score(*cluster)).unwrap_or_default();
                candidates.iter().map(score).collect()
            }
        });
        scores.collect()
    }

    /// How often a cluster is in the decisions of other Placements.
    fn count(&self, cluster: ClusterId) -> u32 {
        self.scratch.counts[cluster.into()]
    }

    /// The largest count of any name. One that is no candidate, even one without a cluster, still raises it: OCM takes it
    /// over all decisions (open-cluster-management-io/ocm
    /// pkg/placement/plugins/balance/balance.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
    fn most(&self) -> u32 {
        let counts = self.scratch.counts.rows().iter();
        counts.copied().max().unwrap_or_default()
    }

    fn group(&self, outcome: &mut Outcome<'_>, selected: Vec<ClusterId>) {
        outcome.groups = decision_groups::group(
            self.placement.group_strategy.clusters_per_group,
            selected,
            self.plan.group_selectors.for_placement(self.id),
        );
        if let (Some(fault), None) = (&outcome.groups.fault, &outcome.fault) {
            outcome.fault = Some(self.fault(Stage::Decision, fault.clone()));
        }
    }

    /// When the first toleration in use on a cluster of the existing decisions expires; those of this run do not count
    /// until the next one.
    fn requeue_at(&self) -> Option<Timestamp> {
        self.plan.input.now?;
        let list = self.plan.verdicts.of_placement[self.id];
        let fleet = &self.plan.fleet;
        let clusters = self.existing.iter().filter_map(|name| fleet.cluster_of(*name));
        let first = clusters
            .filter(|cluster| fleet.tainted.contains(*cluster))
            .filter_map(|cluster| self.plan.verdicts.verdict(list, cluster).expires)
            .min()?;
        Timestamp::from_nanosecond(first).ok()
    }

    fn fault(&self, stage: Stage, FieldFault { message, pointer }: FieldFault) -> Fault {
        let at = self.at(pointer);
        Fault { stage, message, at }
    }

    /// A field of the Placement.
    fn at(&self, pointer: impl Into<String>) -> Location {
        self.placement.object.at(pointer)
    }
}
