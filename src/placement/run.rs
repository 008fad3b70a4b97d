//! All Placements of an input, in a mode (OCM placement 1.6).
//!
//! Owns: who sees whose decisions, rounds. Flows in: the input. Flows out: an [`Evaluation`].
//! Must not know: how one Placement is scheduled.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::decisions::{Content, ObjectLabels, ObjectState, chunks, object_number};
use super::input::{Detail, Input, Mode};
use super::outcome::{NeedsNow, Outcome};
use super::plan::Plan;
use super::schedule::{Scratch, schedule};

/// Rounds of a fixpoint before it is given up.
const MOST_ROUNDS: usize = 100;

/// The outcome of every Placement of an input.
#[derive(Debug)]
pub struct Evaluation<'a> {
    pub(super) plan: Plan<'a>,
    /// For each Placement of the inventory.
    pub(super) outcomes: Vec<Outcome>,
    /// For each Placement what it had when it was scheduled (last).
    pub(super) existing: Vec<Existing>,
    /// For each Placement what it has then.
    pub(super) results: Vec<Existing>,
    pub(super) rounds: usize,
    pub(super) converged: Option<bool>,
}

/// What a Placement has at one time.
#[derive(Debug, Clone, Default)]
pub(super) struct Existing {
    /// Names in the order of its decisions, repeats included.
    pub(super) clusters: Arc<[u32]>,
    /// Its objects by their number.
    pub(super) objects: Arc<BTreeMap<usize, ObjectState>>,
}

/// Decisions as they are while a run goes on.
#[derive(Clone)]
struct State {
    /// For each Placement of the inventory.
    own: Vec<Existing>,
    /// How often each name stands in any decision.
    counts: Vec<u32>,
}

/// Evaluates every Placement of the input.
///
/// Equal inputs give equal results, whatever the order of the objects or the number of threads.
#[must_use]
pub fn evaluate<'a>(input: &Input<'a>, detail: Detail) -> Evaluation<'a> {
    let plan = Plan::new(input);
    let state = given(&plan);
    match input.mode {
        Mode::Snapshot => snapshot(plan, state, detail),
        Mode::Sequential => rounds(plan, state, detail, 1),
        Mode::Fixpoint => rounds(plan, state, detail, MOST_ROUNDS),
    }
}

/// The decisions of the input.
fn given(plan: &Plan<'_>) -> State {
    let inventory = plan.input.inventory;
    let mut counts = vec![0u32; plan.fleet.names.len()];
    let keys = inventory.placements.iter().enumerate();
    let by_key: HashMap<(&str, &str), usize> = keys
        .map(|(index, placement)| ((placement.namespace, placement.name), index))
        .collect();
    let mut clusters: Vec<Vec<u32>> = vec![Vec::new(); inventory.placements.len()];
    let mut objects: Vec<BTreeMap<usize, ObjectState>> = vec![BTreeMap::new(); inventory.placements.len()];
    for (position, decision) in inventory.decisions.iter().enumerate() {
        if let Some((placement, number)) = object_number(decision.name)
            && let Some(named) = by_key.get(&(decision.namespace, placement))
            && let Some(objects) = objects.get_mut(*named)
        {
            let state = ObjectState {
                labels: ObjectLabels::Given(position),
                content: Content::Given(position),
            };
            objects.insert(number, state);
        }
        let owner = decision
            .placement
            .and_then(|name| by_key.get(&(decision.namespace, name)));
        let mut owner = owner.and_then(|index| clusters.get_mut(*index));
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
    let own = clusters
        .into_iter()
        .zip(objects)
        .map(|(clusters, objects)| Existing {
            clusters: clusters.into(),
            objects: Arc::new(objects),
        });
    State {
        own: own.collect(),
        counts,
    }
}

/// Every Placement on its own: they run on all threads.
fn snapshot(plan: Plan<'_>, state: State, detail: Detail) -> Evaluation<'_> {
    let scheduled: Vec<(Outcome, Existing)> = (0..state.own.len())
        .into_par_iter()
        .map_init(
            || Scratch::new(&plan, state.counts.clone()),
            |scratch, index| {
                let existing = state.own.get(index)?;
                scratch.begin(&existing.clusters);
                let outcome = schedule(&plan, index, &existing.clusters, scratch, detail);
                scratch.end(&existing.clusters, &existing.clusters);
                let outcome = outcome?;
                let (after, _) = after(&plan, index, &outcome, existing);
                Some((outcome, after))
            },
        )
        .flatten()
        .collect();
    let (outcomes, results) = scheduled.into_iter().unzip();
    Evaluation {
        plan,
        outcomes,
        existing: state.own,
        results,
        rounds: 1,
        converged: None,
    }
}

/// Rounds in which every Placement has its turn and sees what those before it have got, until one changes
/// nothing.
fn rounds(plan: Plan<'_>, mut state: State, detail: Detail, most: usize) -> Evaluation<'_> {
    let mut scratch = Scratch::new(&plan, std::mem::take(&mut state.counts));
    let mut rounds = 0usize;
    loop {
        let existing = state.own.clone();
        let mut outcomes = Vec::with_capacity(state.own.len());
        let mut changed = false;
        for (index, own) in state.own.iter_mut().enumerate() {
            let before = own.clone();
            scratch.begin(&before.clusters);
            if let Some(outcome) = schedule(&plan, index, &before.clusters, &scratch, detail) {
                let (after, differs) = after(&plan, index, &outcome, &before);
                *own = after;
                changed |= differs;
                outcomes.push(outcome);
            }
            scratch.end(&before.clusters, &own.clusters);
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
///
/// OCM writes the content of an object that is there already; it writes its labels only when the content was
/// right before (observed in the cases), so labels may be a run late.
fn after(plan: &Plan<'_>, index: usize, outcome: &Outcome, before: &Existing) -> (Existing, bool) {
    if outcome.keeps() {
        return (before.clone(), false);
    }
    let groups = &outcome.groups;
    let mut changed = false;
    let mut objects = BTreeMap::new();
    for chunk in chunks(groups) {
        let made = ObjectLabels::Made {
            named: groups.groups.get(chunk.group).and_then(|group| group.named),
            index: chunk.group,
        };
        let clusters = groups.order.get(chunk.start..chunk.end).unwrap_or_default();
        let labels = match before.objects.get(&chunk.number) {
            Some(object) if !holds(plan, object, before, clusters) => {
                changed = true;
                object.labels
            }
            Some(object) => {
                changed |= !object.labels.same(&made, plan, index);
                made
            }
            None => {
                changed = true;
                made
            }
        };
        let content = Content::Run {
            start: chunk.start,
            end: chunk.end,
        };
        objects.insert(chunk.number, ObjectState { labels, content });
    }
    changed |= objects.len() != before.objects.len();
    let after = Existing {
        objects: Arc::new(objects),
        clusters: groups.order.as_slice().into(),
    };
    (after, changed)
}

/// Whether an object holds exactly these clusters.
fn holds(plan: &Plan<'_>, object: &ObjectState, before: &Existing, clusters: &[u32]) -> bool {
    match object.content {
        Content::Run { start, end } => before.clusters.get(start..end) == Some(clusters),
        Content::Given(position) => plan
            .input
            .inventory
            .decisions
            .get(position)
            .is_some_and(|decision| {
                decision.plain
                    && decision.clusters.len() == clusters.len()
                    && decision
                        .clusters
                        .iter()
                        .zip(clusters)
                        .all(|(name, id)| plan.fleet.name(*id) == *name)
            }),
    }
}

impl Evaluation<'_> {
    /// Every time that would decide something, when the input has no clock; sorted.
    #[must_use]
    pub fn needs_now(&self) -> Vec<NeedsNow> {
        let mut needs: Vec<NeedsNow> = self
            .outcomes
            .iter()
            .flat_map(|outcome| outcome.needs_now.clone())
            .collect();
        needs.sort();
        needs.dedup();
        needs
    }
}
