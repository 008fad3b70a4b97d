//! Evaluates all Placements of an input, in a mode (docs/systems/ocm-placement.md#the-order-of-placements). The mode
//! decides which Placement sees the decisions of which others.

use std::collections::{BTreeSet, HashSet};

use rayon::prelude::*;

use crate::decision_groups::group_name;
use crate::ids::{NameId, PlacementId, Table};
use crate::input::{Detail, Input, Mode};
use crate::outcome::Outcome;
use crate::placement_decisions::{Existing, given};
use crate::plan::Plan;
use crate::schedule::{Scratch, schedule};

/// The outcome of every Placement of an input.
#[derive(Debug)]
pub struct Evaluation<'a> {
    pub(crate) plan: Plan<'a>,
    pub(crate) outcomes: Table<PlacementId, Outcome<'a>>,
    /// For each Placement what it had when it was scheduled (last).
    pub(crate) existing: Table<PlacementId, Existing>,
    /// For each Placement what it has then.
    pub(crate) results: Table<PlacementId, Existing>,
    pub(crate) rounds: usize,
    pub(crate) converged: Option<bool>,
}

impl Evaluation<'_> {
    /// How many decisions all Placements have together.
    pub fn decision_count(&self) -> usize {
        let results = self.results.rows().iter();
        results.map(|result| result.clusters.len()).sum()
    }

    /// The clusters of a Placement in the order of output, each once; `None` if there is no such Placement.
    ///
    /// For one that is left alone or cannot be synced, these are the clusters of its given decisions.
    pub fn clusters_of(&self, namespace: &str, name: &str) -> Option<Vec<&str>> {
        let placement = self.plan.input.inventory.placement(namespace, name)?;
        let mut seen = HashSet::new();
        let clusters = self.results[placement].clusters.iter();
        let names = clusters.map(|cluster| self.plan.fleet.name(*cluster));
        let names = names.filter(|name| !name.is_empty() && seen.insert(*name));
        Some(names.collect())
    }

    /// The decision groups of a Placement, in the order of their index: the name of each, and its clusters. `None` if there
    /// is no such Placement, or if it keeps its given decisions.
    pub fn decision_groups(&self, namespace: &str, name: &str) -> Option<Vec<(String, BTreeSet<String>)>> {
        let inventory = self.plan.input.inventory;
        let id = inventory.placement(namespace, name)?;
        let (placement, outcome) = (&inventory.placements[id], &self.outcomes[id]);
        let groups = outcome.groups.groups.iter().map(|group| {
            let clusters = outcome.groups.part(group.start, group.end).iter();
            let clusters = clusters.map(|cluster| self.plan.fleet.name(*cluster).to_owned());
            (group_name(placement, group.named).to_owned(), clusters.collect())
        });
        (!outcome.keeps()).then(|| groups.collect())
    }
}

/// Rounds of a fixpoint before the run gives up: two Placements may push each other back and forth forever.
pub(crate) const MOST_ROUNDS: usize = 100;

/// Decisions as they are while a run goes on.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) own: Table<PlacementId, Existing>,
    /// How often each name is in any decision.
    pub(crate) counts: Table<NameId, u32>,
}

impl State {
    /// The decisions of the input.
    pub(crate) fn given(plan: &Plan<'_>) -> Self {
        let (own, counts) = given(plan.input.inventory, &plan.fleet);
        Self { own, counts }
    }

    /// The same hub, once its Placements have other decisions.
    pub(crate) fn with(&self, own: Table<PlacementId, Existing>) -> Self {
        let mut counts = self.counts.clone();
        for name in self.own.rows().iter().flat_map(|existing| &*existing.clusters) {
            counts[*name] = counts[*name].saturating_sub(1);
        }
        for name in own.rows().iter().flat_map(|existing| &*existing.clusters) {
            counts[*name] = counts[*name].saturating_add(1);
        }
        Self { own, counts }
    }
}

/// The result of a run.
pub(crate) struct Run<'a> {
    pub(crate) outcomes: Table<PlacementId, Outcome<'a>>,
    /// For each Placement what it had when it was scheduled last.
    pub(crate) existing: Table<PlacementId, Existing>,
    /// What each has after it.
    pub(crate) own: Table<PlacementId, Existing>,
    pub(crate) rounds: usize,
    pub(crate) converged: bool,
    /// The Placements that were still changing in the later half of a run that did not converge.
    pub(crate) restless: BTreeSet<PlacementId>,
}

/// Evaluates every Placement of the input.
///
/// Equal inputs give equal results, regardless of the order of the objects and the number of threads.
pub fn evaluate<'a>(input: &Input<'a>, detail: Detail) -> Evaluation<'a> {
    let plan = Plan::new(input);
    let state = State::given(&plan);
    let run = match input.mode {
        Mode::Snapshot => snapshot(&plan, &state, detail),
        Mode::Sequential => rounds(&plan, state, detail, 1, Order::Forwards),
        Mode::Fixpoint => rounds(&plan, state, detail, MOST_ROUNDS, Order::Forwards),
    };
    Evaluation {
        plan,
        outcomes: run.outcomes,
        existing: run.existing,
        results: run.own,
        rounds: run.rounds,
        converged: (input.mode == Mode::Fixpoint).then_some(run.converged),
    }
}

/// Every Placement on its own: they run on all threads.
pub(crate) fn snapshot<'a>(plan: &Plan<'a>, state: &State, detail: Detail) -> Run<'a> {
    let placements: Vec<PlacementId> = state.own.ids().collect();
    let scheduled: Vec<(Outcome<'_>, Existing)> = placements
        .into_par_iter()
        .map_init(
            || Scratch::new(&plan.fleet, state.counts.clone()),
            |scratch, id| {
                let existing = &state.own[id];
                scratch.begin(&plan.fleet, &existing.clusters);
                let outcome = schedule(plan, id, &existing.clusters, scratch, detail);
                scratch.end(&plan.fleet, &existing.clusters, &existing.clusters);
                let (after, _) = after(plan, id, &outcome, existing);
                (outcome, after)
            },
        )
        .collect();
    let (outcomes, results): (Vec<_>, Vec<_>) = scheduled.into_iter().unzip();
    Run {
        outcomes: Table::from_rows(outcomes),
        existing: state.own.clone(),
        own: Table::from_rows(results),
        rounds: 1,
        converged: false,
        restless: BTreeSet::new(),
    }
}

/// In which order Placements have their turns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// By namespace and name.
    Forwards,
    Backwards,
}

/// Rounds in which every Placement has its turn and sees what those before it have got, until one changes
/// nothing.
pub(crate) fn rounds<'a>(
    plan: &Plan<'a>,
    state: State,
    detail: Detail,
    most: usize,
    order: Order,
) -> Run<'a> {
    let mut own = state.own;
    let mut turns: Vec<PlacementId> = own.ids().collect();
    if order == Order::Backwards {
        turns.reverse();
    }
    let mut scratch = Scratch::new(&plan.fleet, state.counts);
    let mut rounds = 0usize;
    let mut restless = BTreeSet::new();
    loop {
        let existing = own.clone();
        let mut outcomes = Vec::with_capacity(turns.len());
        let mut changed = Vec::new();
        for id in turns.iter().copied() {
            let before = &existing[id];
            scratch.begin(&plan.fleet, &before.clusters);
            let outcome = schedule(plan, id, &before.clusters, &scratch, detail);
            let (after, differs) = after(plan, id, &outcome, before);
            scratch.end(&plan.fleet, &before.clusters, &after.clusters);
            own[id] = after;
            changed.extend(differs.then_some(id));
            outcomes.push(outcome);
        }
        rounds = rounds.saturating_add(1);
        // A first round writes every Placement's status: it never ends a fixpoint.
        let converged = rounds > 1 && changed.is_empty();
        if rounds > most / 2 {
            restless.extend(changed);
        }
        if converged || rounds >= most {
            if order == Order::Backwards {
                outcomes.reverse();
            }
            return Run {
                outcomes: Table::from_rows(outcomes),
                existing,
                own,
                rounds,
                converged,
                restless: if converged { BTreeSet::new() } else { restless },
            };
        }
    }
}

/// The decisions of a Placement after it was scheduled, and whether they changed.
fn after(plan: &Plan<'_>, id: PlacementId, outcome: &Outcome<'_>, before: &Existing) -> (Existing, bool) {
    if outcome.keeps() {
        return (before.clone(), false);
    }
    before.after(&outcome.groups, id, plan.input.inventory, &plan.fleet)
}
