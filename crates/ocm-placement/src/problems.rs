//! The problems that an evaluation finds in its input, among them Placements whose clusters on a live hub are a matter of
//! chance, or never settle (docs/systems/ocm-placement.md#the-order-of-placements). Callers word and print them.

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::value_complaints;
use rayon::prelude::*;

use crate::api::object::Location;
use crate::api::placement::Placement;
use crate::evaluate::{Evaluation, MOST_ROUNDS, Order, State, rounds, snapshot};
use crate::ids::{NameId, PlacementId, Table};
use crate::input::Detail;
use crate::outcome::{Outcome, SchedulerStatus, Stage};
use crate::placement_decisions::Existing;
use crate::prioritizers::{Kind, prioritizers};

/// Something that a Placement's author should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The Placement's namespace.
    pub namespace: String,
    /// The Placement's name.
    pub name: String,
    /// The Placement itself.
    pub placement: Location,
    /// The field that is wrong: of the Placement, or of what it needs.
    pub at: Location,
    /// The mistake.
    pub kind: ProblemKind,
}

/// The mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A time would decide something, and the input has no clock.
    NeedsNow {
        /// What it decides, a few words.
        decides: String,
    },
    /// OCM cannot schedule it, because a cluster set that it needs has an invalid selector. Earlier decisions stay.
    NotScheduled {
        /// OCM's message.
        message: String,
    },
    /// OCM calls it misconfigured: it selects nothing, and earlier decisions are wiped.
    Misconfigured {
        /// OCM's message.
        message: String,
    },
    /// OCM calls its decision groups misconfigured: the clusters of this group and of those after it are lost.
    MisconfiguredGroups {
        /// OCM's message.
        message: String,
    },
    /// It requests clusters and selects none.
    SelectsNothing {
        /// The step that lost the last one.
        emptied_by: EmptiedBy,
    },
    /// Which clusters it gets depends on the order in which OCM happens to schedule Placements.
    OrderDependent {
        /// The clusters that some orders give and others do not, sorted.
        contested: Vec<String>,
    },
    /// OCM would keep changing its decisions forever.
    NeverSettles,
    /// Its name cannot be the value of a label, so no PlacementDecision can carry it.
    NameIsNoLabelValue,
}

/// The step that lost the last cluster of a Placement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmptiedBy {
    /// No ManagedClusterSetBinding of its namespace names a cluster set that exists. `sets` are the sets that it asks for.
    NotBound {
        /// `spec.clusterSets`; empty for all that are bound.
        sets: Vec<String>,
    },
    /// Sets are bound to its namespace, but none that it requests.
    NoIntersection {
        /// `spec.clusterSets`.
        sets: Vec<String>,
    },
    /// Its sets have no cluster.
    EmptySets {
        /// The sets that it may choose from, sorted.
        sets: Vec<String>,
    },
    /// No cluster of its sets matches its predicates.
    Predicates {
        /// How many clusters there are.
        clusters: usize,
    },
    /// Every cluster that matches its predicates has a taint that it does not tolerate.
    Taints {
        /// How many clusters match.
        clusters: usize,
    },
}

/// A Placement whose given decisions are not what the evaluation gives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The Placement's namespace.
    pub namespace: String,
    /// The Placement's name.
    pub name: String,
    /// The Placement.
    pub placement: Location,
    /// The decisions in the first of its PlacementDecisions.
    pub decisions: Location,
    /// Clusters in the decisions only, sorted.
    pub only_given: Vec<String>,
    /// Clusters in the evaluation only, sorted.
    pub only_evaluated: Vec<String>,
}

impl Evaluation<'_> {
    /// Misconfigured Placements (also those that OCM cannot sync), Placements that select no cluster, and times that
    /// would decide something in a run without a clock; in the order of the Placements.
    pub fn problems(&self) -> Vec<Problem> {
        let placements = &self.plan.input.inventory.placements;
        let mut problems = Vec::new();
        for (id, outcome) in self.outcomes.iter() {
            let placement = &placements[id];
            problems.extend(outcome.needs_now.iter().map(|needs| {
                let decides = needs.decides.clone();
                problem(placement, needs.at.clone(), ProblemKind::NeedsNow { decides })
            }));
            problems.extend(fault(placement, outcome));
            let is_told = outcome.fault.is_some() || outcome.keeps();
            if !is_told
                && placement.number_of_clusters != Some(0)
                && let Some(emptied_by) = self.emptied_by(id, outcome)
            {
                let at = placement.object.at("/metadata/name");
                problems.push(problem(placement, at, ProblemKind::SelectsNothing { emptied_by }));
            }
        }
        problems
    }

    /// The step that lost the last cluster, in the order in which OCM comes to them; `None` if some are left.
    pub(crate) fn emptied_by(&self, id: PlacementId, outcome: &Outcome<'_>) -> Option<EmptiedBy> {
        let placement = &self.plan.input.inventory.placements[id];
        let asked = || {
            let sets = placement.cluster_sets.iter();
            sets.map(|set| (*set).to_owned()).collect()
        };
        let eligible = self.plan.sets.names(&self.plan.sets.for_placement(id).sets);
        Some(if !self.plan.sets.eligible[id].bound {
            EmptiedBy::NotBound { sets: asked() }
        } else if eligible.is_empty() {
            EmptiedBy::NoIntersection { sets: asked() }
        } else if outcome.available.is_empty() {
            EmptiedBy::EmptySets { sets: eligible }
        } else if outcome.selected > 0 {
            return None;
        } else if outcome.matched == 0 {
            let clusters = outcome.available.len();
            EmptiedBy::Predicates { clusters }
        } else {
            let clusters = outcome.matched;
            EmptiedBy::Taints { clusters }
        })
    }

    /// The Placements whose decisions no API server would accept: a label contains the name, and the value of a label
    /// has at most 63 characters, but a name may have 253.
    pub fn unwritable(&self) -> Vec<Problem> {
        let placements = self.plan.input.inventory.placements.rows().iter();
        let too_long = placements.filter(|placement| !value_complaints(placement.name).is_empty());
        let unwritable = too_long.map(|placement| {
            let at = placement.object.at("/metadata/name");
            problem(placement, at, ProblemKind::NameIsNoLabelValue)
        });
        unwritable.collect()
    }

    /// Where the decisions of the input and the evaluation differ, for Placements that have any.
    pub fn differences(&self) -> Vec<Difference> {
        let inventory = self.plan.input.inventory;
        let mut differences = Vec::new();
        let mut given: BTreeMap<(&str, &str), (Location, BTreeSet<&str>)> = BTreeMap::new();
        for decision in inventory.decisions.rows() {
            let Some(placement) = decision.placement else {
                continue;
            };
            let (_, names) = given
                .entry((decision.namespace, placement))
                .or_insert_with(|| (decision.object.at("/status/decisions"), BTreeSet::new()));
            names.extend(decision.clusters.iter().filter(|name| !name.is_empty()));
        }
        for (id, outcome) in self.outcomes.iter() {
            let placement = &inventory.placements[id];
            let Some((decisions, given)) = given.get(&(placement.namespace, placement.name)) else {
                continue;
            };
            if outcome.keeps() {
                continue;
            }
            let order = outcome.groups.order.iter();
            let evaluated: BTreeSet<&str> = order.map(|cluster| self.plan.fleet.name(*cluster)).collect();
            let only = |one: &BTreeSet<&str>, other: &BTreeSet<&str>| -> Vec<String> {
                one.difference(other).map(|name| (*name).to_owned()).collect()
            };
            let only_given = only(given, &evaluated);
            let only_evaluated = only(&evaluated, given);
            if !only_given.is_empty() || !only_evaluated.is_empty() {
                differences.push(Difference {
                    namespace: placement.namespace.to_owned(),
                    name: placement.name.to_owned(),
                    placement: placement.object.at(""),
                    decisions: decisions.clone(),
                    only_given,
                    only_evaluated,
                });
            }
        }
        differences
    }

    /// Placements that end with other clusters when others have their turn first, and those that never end; in the order of
    /// the Placements.
    ///
    /// Three orders are compared, each until nothing changes: by namespace and name, the reverse, and all at once before
    /// they go on by name, as they do on a hub that has just started. That costs a few rounds of an evaluation, and
    /// nothing where no Placement chooses among its candidates.
    pub fn unsettled(&self) -> Vec<Problem> {
        let placements = self.plan.input.inventory.placements.ids();
        let choosing: Vec<PlacementId> = placements.filter(|id| self.chooses(*id)).collect();
        if choosing.is_empty() {
            return Vec::new();
        }
        let given = State::given(&self.plan);
        let at_once = given.with(snapshot(&self.plan, &given, Detail::Decisions).own);
        let mut starts = vec![(given.clone(), Order::Backwards), (at_once, Order::Forwards)];
        let mut ends = Vec::new();
        if self.converged == Some(true) {
            ends.push((self.results.clone(), BTreeSet::new()));
        } else {
            starts.push((given, Order::Forwards));
        }
        ends.par_extend(starts.into_par_iter().map(|(state, order)| {
            let run = rounds(&self.plan, state, Detail::Decisions, MOST_ROUNDS, order);
            (run.own, run.restless)
        }));
        let found = choosing.iter().filter_map(|id| {
            let placement = &self.plan.input.inventory.placements[*id];
            if let Some(at) = self.restless(*id, &ends, choosing.len()) {
                return Some(problem(placement, at, ProblemKind::NeverSettles));
            }
            let contested = self.contested(*id, &ends);
            let at = placement.object.at("/spec/numberOfClusters");
            (!contested.is_empty()).then(|| problem(placement, at, ProblemKind::OrderDependent { contested }))
        });
        found.collect()
    }

    /// Whether a Placement takes some of its candidates and leaves others: only then do scores decide.
    fn chooses(&self, id: PlacementId) -> bool {
        let (plan, outcome) = (&self.plan, &self.outcomes[id]);
        let wanted = plan.input.inventory.placements[id].number_of_clusters;
        let Some(wanted) = wanted.filter(|wanted| *wanted > 0) else {
            return false;
        };
        if outcome.keeps() || outcome.fault.is_some() {
            return false;
        }
        let filtered = plan.filtered(id, &outcome.available);
        filtered.is_ok_and(|filtered| wanted < filtered.tolerated.len())
    }

    /// Where it is said that a Placement never settles.
    ///
    /// A weight of Steady of 0 or less keeps no cluster for being there. On a hub a Placement is scheduled again after each
    /// of its own writes, and with Balance it then moves away from what others wrote meanwhile, as they do from what it
    /// wrote: that goes on although turns taken in order would end. Below 0 it leaves its own clusters by itself.
    fn restless(&self, id: PlacementId, ends: &[End], choosing: usize) -> Option<Location> {
        let placement = &self.plan.input.inventory.placements[id];
        let policy = &placement.prioritizer_policy;
        let weights = prioritizers(policy).ok()?;
        let weight = |kind: Kind<'_>| -> i64 {
            let of_kind = weights.iter().filter(|prioritizer| prioritizer.kind == kind);
            of_kind.map(|prioritizer| prioritizer.weight).sum()
        };
        let unsteady = weight(Kind::Steady) <= 0;
        let moved_by_others = unsteady && choosing > 1 && weight(Kind::Balance) > 0;
        let configured = policy
            .configurations
            .iter()
            .rposition(|configuration| configuration.coordinate.built_in == "Steady")
            .filter(|_| unsteady);
        let at = match configured {
            Some(index) => format!("/spec/prioritizerPolicy/configurations/{index}/weight"),
            None => "/spec/numberOfClusters".to_owned(),
        };
        let is_restless = moved_by_others || ends.iter().any(|(_, restless)| restless.contains(&id));
        is_restless.then(|| placement.object.at(at))
    }

    fn contested(&self, id: PlacementId, ends: &[End]) -> Vec<String> {
        let clusters = |(own, _): &End| own[id].clusters.iter().copied().collect();
        let ends: Vec<BTreeSet<NameId>> = ends.iter().map(clusters).collect();
        let all: BTreeSet<NameId> = ends.iter().flatten().copied().collect();
        let contested = all
            .into_iter()
            .filter(|name| !ends.iter().all(|end| end.contains(name)));
        let mut names: Vec<String> = contested
            .map(|name| self.plan.fleet.name(name).to_owned())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn problem(placement: &Placement<'_>, at: Location, kind: ProblemKind) -> Problem {
    Problem {
        namespace: placement.namespace.to_owned(),
        name: placement.name.to_owned(),
        placement: placement.object.at(""),
        at,
        kind,
    }
}

fn fault(placement: &Placement<'_>, outcome: &Outcome<'_>) -> Option<Problem> {
    let fault = outcome.fault.as_ref()?;
    let message = fault.message.clone();
    let kind = match (outcome.status, fault.stage) {
        (SchedulerStatus::Error, _) => ProblemKind::NotScheduled { message },
        (_, Stage::Decision) => ProblemKind::MisconfiguredGroups { message },
        _ => ProblemKind::Misconfigured { message },
    };
    Some(problem(placement, fault.at.clone(), kind))
}

/// The result of one order: what each Placement has then, and those that were still changing.
type End = (Table<PlacementId, Existing>, BTreeSet<PlacementId>);
