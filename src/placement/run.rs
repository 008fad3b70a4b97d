//! All Placements of an input, in a mode (OCM placement 1.6).
//!
//! Owns: who sees whose decisions, rounds. Flows in: the input. Flows out: an [`Evaluation`].
//! Must not know: how one Placement is scheduled.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::input::{Detail, Input, Mode};
use super::plan::Plan;
use super::schedule::{NeedsNow, Outcome, Scratch, schedule};

/// Rounds of a fixpoint before it is given up.
const MOST_ROUNDS: usize = 100;

/// The outcome of every Placement of an input.
#[derive(Debug)]
pub struct Evaluation<'a> {
    pub(super) plan: Plan<'a>,
    /// For each Placement of the inventory.
    pub(super) outcomes: Vec<Outcome>,
    /// For each Placement what it had before the (last) round, as indices of names.
    pub(super) existing: Vec<Arc<[u32]>>,
    /// For each Placement how often each name stood in the decisions of others: only with full detail, and only
    /// the largest count is kept.
    pub(super) rounds: usize,
    pub(super) converged: Option<bool>,
}

/// Decisions as they are while a run goes on.
#[derive(Clone)]
struct State {
    /// For each Placement of the inventory, names in the order of its decisions, repeats included.
    own: Vec<Arc<[u32]>>,
    /// How often each name stands in any decision.
    counts: Vec<u32>,
}

/// Evaluates every Placement of the input.
///
/// Equal inputs give equal results, whatever the order of the objects or the number of threads.
#[must_use]
pub fn evaluate<'a>(input: &Input<'a>, detail: Detail) -> Evaluation<'a> {
    let plan = Plan::new(input);
    let given = given(&plan);
    match input.mode {
        Mode::Snapshot => snapshot(plan, given, detail),
        Mode::Sequential => {
            let mut state = given;
            let (outcomes, existing) = round(&plan, &mut state, detail);
            Evaluation {
                plan,
                outcomes,
                existing,
                rounds: 1,
                converged: None,
            }
        }
        Mode::Fixpoint => fixpoint(plan, given, detail),
    }
}

/// The decisions of the input.
fn given(plan: &Plan<'_>) -> State {
    let inventory = plan.input.inventory;
    let mut counts = vec![0u32; plan.fleet.names.len()];
    let keys = inventory.placements.iter().enumerate();
    let by_key: HashMap<(&str, &str), usize> =
        keys.map(|(index, placement)| ((placement.namespace, placement.name), index)).collect();
    let mut own: Vec<Vec<u32>> = vec![Vec::new(); inventory.placements.len()];
    for decision in &inventory.decisions {
        let owner = decision.placement.and_then(|name| by_key.get(&(decision.namespace, name)));
        let mut owner = owner.and_then(|index| own.get_mut(*index));
        for id in decision.clusters.iter().filter_map(|name| plan.fleet.id(name)) {
            let slot = usize::try_from(id).ok().and_then(|id| counts.get_mut(id));
            if let Some(slot) = slot {
                *slot = slot.saturating_add(1);
            }
            if let Some(owner) = &mut owner {
                owner.push(id);
            }
        }
    }
    State {
        own: own.into_iter().map(Arc::from).collect(),
        counts,
    }
}

/// Every Placement on its own: they run on all threads.
fn snapshot(plan: Plan<'_>, given: State, detail: Detail) -> Evaluation<'_> {
    let outcomes = (0..given.own.len())
        .into_par_iter()
        .map_init(
            || Scratch::new(&plan, given.counts.clone()),
            |scratch, index| {
                let existing = given.own.get(index)?;
                scratch.begin(existing);
                let outcome = schedule(&plan, index, existing, scratch, detail);
                scratch.end(existing, existing);
                outcome
            },
        )
        .flatten()
        .collect();
    Evaluation {
        plan,
        outcomes,
        existing: given.own,
        rounds: 1,
        converged: None,
    }
}

/// Every Placement in its turn; the state carries on. Also what each had before.
fn round(plan: &Plan<'_>, state: &mut State, detail: Detail) -> (Vec<Outcome>, Vec<Arc<[u32]>>) {
    let mut scratch = Scratch::new(plan, std::mem::take(&mut state.counts));
    let mut outcomes = Vec::with_capacity(state.own.len());
    let mut before = Vec::with_capacity(state.own.len());
    for (index, own) in state.own.iter_mut().enumerate() {
        let existing = own.clone();
        scratch.begin(&existing);
        if let Some(outcome) = schedule(plan, index, &existing, &scratch, detail) {
            if !outcome.keeps() {
                *own = outcome.groups.order.as_slice().into();
            }
            outcomes.push(outcome);
        }
        scratch.end(&existing, own);
        before.push(existing);
    }
    state.counts = scratch.counts;
    (outcomes, before)
}

fn fixpoint(plan: Plan<'_>, given: State, detail: Detail) -> Evaluation<'_> {
    let mut state = given;
    let mut rounds = 0usize;
    loop {
        let before = state.own.clone();
        let (outcomes, existing) = round(&plan, &mut state, detail);
        rounds = rounds.saturating_add(1);
        let converged = before == state.own;
        if converged || rounds >= MOST_ROUNDS {
            return Evaluation {
                plan,
                outcomes,
                existing,
                rounds,
                converged: Some(converged),
            };
        }
    }
}

impl Evaluation<'_> {
    /// Every time that would decide something, when the input has no clock; sorted.
    #[must_use]
    pub fn needs_now(&self) -> Vec<NeedsNow> {
        let mut needs: Vec<NeedsNow> = self.outcomes.iter().flat_map(|outcome| outcome.needs_now.clone()).collect();
        needs.sort();
        needs.dedup();
        needs
    }
}
