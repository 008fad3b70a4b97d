//! How a Placement arrives at its clusters: how many are left after each step, and why the others are not.
//!
//! Owns: the steps, and which clusters share a reason. Flows in: an evaluation with full detail. Flows out: steps. Must not
//! know: how a scheduler decides, how steps are shown.

use std::collections::{BTreeMap, HashSet};

use crate::parallel;
use ocm_placement::{Bearing, Evaluation, Explanation, Location, PlacementReport, Stage};

/// The steps in their order, as people call them.
const STEPS: [&str; 4] = ["Cluster sets", "Predicates", "Taints", "Ranking"];

/// Which step one of the scheduler's stages belongs to.
const fn step_of(stage: Stage) -> usize {
    match stage {
        Stage::ClusterSet | Stage::Scheduler => 0,
        Stage::Predicate => 1,
        Stage::TaintToleration => 2,
        Stage::Prioritizer | Stage::Ranking | Stage::Decision => 3,
    }
}

/// A step.
pub(super) struct FunnelStep {
    pub(super) name: &'static str,
    /// How many clusters are left after it.
    pub(super) left: usize,
    pub(super) dropped: Vec<Dropped>,
}

/// Clusters that a step drops for one reason.
pub(super) struct Dropped {
    pub(super) reason: String,
    /// What decided it.
    pub(super) at: Location,
    /// By their positions, in order.
    pub(super) clusters: Vec<usize>,
}

/// The steps of the Placement at a position in the reports of an evaluation. One that is left alone has not all of them.
pub(super) fn funnel(
    evaluation: &Evaluation<'_>,
    (position, report): (usize, &PlacementReport),
    clusters: &[&str],
) -> Vec<FunnelStep> {
    // A Placement may select thousands of clusters, and the full reasons are too long for this view.
    let selected: HashSet<&str> = report
        .decisions
        .iter()
        .map(|decision| decision.cluster_name.as_str())
        .collect();
    let explained = |explain: &dyn Fn(&str) -> Option<Explanation>, cluster: &str| {
        let asked = Some(cluster).filter(|cluster| !selected.contains(cluster));
        asked.and_then(explain).and_then(dropped)
    };
    let why: Vec<Option<(usize, String, Location)>> = match evaluation.explain_placement(position) {
        // What happens to one cluster does not affect another.
        Some(explain) => parallel::map(clusters, |cluster| explained(&explain, cluster)),
        None => Vec::new(),
    };
    let mut reasons: BTreeMap<(usize, String), Dropped> = BTreeMap::new();
    for (cluster, (step, reason, at)) in why
        .into_iter()
        .enumerate()
        .filter_map(|(at, why)| Some((at, why?)))
    {
        let dropped = reasons.entry((step, reason.clone())).or_insert_with(|| Dropped {
            reason,
            at,
            clusters: Vec::new(),
        });
        dropped.clusters.push(cluster);
    }
    let filter = |position: usize| {
        let filters = report.filters.as_ref()?;
        Some(filters.get(position)?.filtered_clusters.len())
    };
    let left = [
        Some(report.available_clusters.len()),
        filter(0),
        filter(1),
        Some(report.decisions.len()),
    ];
    let mut steps: Vec<Vec<Dropped>> = STEPS.iter().map(|_| Vec::new()).collect();
    for ((step, _), dropped) in reasons {
        if let Some(of_step) = steps.get_mut(step) {
            of_step.push(dropped);
        }
    }
    let steps = STEPS.iter().zip(left).zip(steps);
    let there = steps.filter_map(|((name, left), dropped)| {
        Some(FunnelStep {
            name,
            left: left?,
            dropped,
        })
    });
    there.collect()
}

/// The step that drops a cluster, and why.
fn dropped(explanation: Explanation) -> Option<(usize, String, Location)> {
    if explanation.selected {
        return None;
    }
    // Several predicates may exclude it: the first stands for all.
    let against = |step: &ocm_placement::Step| step.bearing == Bearing::Against;
    let steps = &explanation.steps;
    let step = steps.iter().find(|step| against(step)).or(steps.last())?;
    Some((step_of(step.stage), step.text.clone(), step.at.clone()))
}
