//! All Placements of an input, in a mode (docs/systems/ocm-placement.md#the-order-of-placements).
//!
//! Owns: who sees whose decisions, rounds. Flows in: the input. Flows out: an [`Evaluation`].
//! Must not know: how one Placement is scheduled.

use rayon::prelude::*;

use crate::evaluation::Evaluation;
use crate::existing::{Existing, given};
use crate::ids::{Column, NameId, PlacementId};
use crate::input::{Detail, Input, Mode};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::schedule::{Scratch, schedule};

/// Rounds of a fixpoint before it is given up: two Placements may push each other to and fro for ever.
const MOST_ROUNDS: usize = 100;

/// Decisions as they are while a run goes on.
struct State {
    own: Column<PlacementId, Existing>,
    /// How often each name stands in any decision.
    counts: Column<NameId, u32>,
}

/// Evaluates every Placement of the input.
///
/// Equal inputs give equal results, whatever the order of the objects or the number of threads.
#[must_use]
pub fn evaluate<'a>(input: &Input<'a>, detail: Detail) -> Evaluation<'a> {
    let plan = Plan::new(input);
    let (own, counts) = given(input.inventory, &plan.fleet);
    let state = State { own, counts };
    match input.mode {
        Mode::Snapshot => snapshot(plan, state, detail),
        Mode::Sequential => rounds(plan, state, detail, 1),
        Mode::Fixpoint => rounds(plan, state, detail, MOST_ROUNDS),
    }
}

/// Every Placement on its own: they run on all threads.
fn snapshot(plan: Plan<'_>, state: State, detail: Detail) -> Evaluation<'_> {
    let placements: Vec<PlacementId> = state.own.ids().collect();
    let scheduled: Vec<(Outcome<'_>, Existing)> = placements
        .into_par_iter()
        .map_init(
            || Scratch::new(&plan.fleet, state.counts.clone()),
            |scratch, id| {
                let existing = &state.own[id];
                scratch.begin(&plan.fleet, &existing.clusters);
                let outcome = schedule(&plan, id, &existing.clusters, scratch, detail);
                scratch.end(&plan.fleet, &existing.clusters, &existing.clusters);
                let (after, _) = after(&plan, id, &outcome, existing);
                (outcome, after)
            },
        )
        .collect();
    let (outcomes, results): (Vec<_>, Vec<_>) = scheduled.into_iter().unzip();
    Evaluation {
        plan,
        outcomes: Column::new(outcomes),
        existing: state.own,
        results: Column::new(results),
        rounds: 1,
        converged: None,
    }
}

/// Rounds in which every Placement has its turn and sees what those before it have got, until one changes
/// nothing.
fn rounds(plan: Plan<'_>, mut state: State, detail: Detail, most: usize) -> Evaluation<'_> {
    let mut scratch = Scratch::new(&plan.fleet, std::mem::take(&mut state.counts));
    let mut rounds = 0usize;
    loop {
        let existing = state.own.clone();
        let mut outcomes = Column::default();
        let mut changed = false;
        for (id, before) in existing.iter() {
            scratch.begin(&plan.fleet, &before.clusters);
            let outcome = schedule(&plan, id, &before.clusters, &scratch, detail);
            let (after, differs) = after(&plan, id, &outcome, before);
            scratch.end(&plan.fleet, &before.clusters, &after.clusters);
            state.own[id] = after;
            changed |= differs;
            outcomes.push(outcome);
        }
        rounds = rounds.saturating_add(1);
        // A first round writes every Placement's status: it never ends a fixpoint.
        let converged = rounds > 1 && !changed;
        if converged || rounds >= most {
            return Evaluation {
                outcomes,
                existing,
                results: state.own,
                rounds,
                converged: (plan.input.mode == Mode::Fixpoint).then_some(converged),
                plan,
            };
        }
    }
}

/// What a Placement has after it was scheduled, and whether that is something else.
fn after(plan: &Plan<'_>, id: PlacementId, outcome: &Outcome<'_>, before: &Existing) -> (Existing, bool) {
    if outcome.keeps() {
        return (before.clone(), false);
    }
    before.after(&outcome.groups, id, plan.input.inventory, &plan.fleet)
}
