//! Placements whose clusters on a live hub are a matter of chance, or never settle
//! (docs/systems/ocm-placement.md#the-order-of-placements).

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::api::object::Location;
use crate::evaluate::{MOST_ROUNDS, Order, State, rounds, snapshot};
use crate::evaluation::Evaluation;
use crate::existing::Existing;
use crate::ids::{NameId, PlacementId, Table};
use crate::input::Detail;
use crate::problems::{Problem, ProblemKind, problem};
use crate::weights::{Kind, prioritizers};

/// The result of one order: what each Placement has then, and those that were still changing.
type End = (Table<PlacementId, Existing>, BTreeSet<PlacementId>);

impl Evaluation<'_> {
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
        let predicate = plan
            .predicates
            .of(id)
            .and_then(|predicate| predicate.as_ref().ok());
        let filtered = plan.filtered(id, &outcome.available, predicate);
        wanted < filtered.tolerated.len()
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
