//! Placements for people and as JSON: the table of `placement`, `--why`, and the steps by which a Placement arrives at its
//! clusters, with how many are left after each and why the others are not.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use ocm_placement::{
    Bearing, Evaluation, Explanation, Location, PlacementReport as Placement, Report, Stage,
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::api::config::PlacementSource;
use crate::api::ocm::GROUP;
use crate::diagnostic::{API_VERSION, GAP, Lines, Locate, fitting_names, row, widths};
use crate::hub::Hub;
use crate::outcome::SourceLine;
use crate::parallel;
use crate::placing::{Decided, place_of};

/// A table of placements that fits `width` columns: how many clusters, who decided, how an evaluation ends, which ones.
pub fn placement_table(document: &PlacementReport<'_>, width: usize) -> String {
    let headings = ["PLACEMENT", "CLUSTERS", "DECIDED BY", "EVALUATION"].map(str::to_owned);
    let placements = || document.report.placements.each().map(|(_, placed)| placed);
    let mut rows = vec![headings];
    rows.extend(placements().map(|placed| table_row(&placed)));
    if rows.len() == 1 {
        return "no Placement in the input\n".to_owned();
    }
    let widths = widths(
        rows.iter()
            .map(|cells| cells.each_ref().map(|cell| cell.chars().count())),
    );
    let taken = widths.iter().map(|width| width.saturating_add(GAP.len())).sum();
    let room = width.saturating_sub(taken);
    let mut text = Lines::default();
    // The names of all clusters, of which a row shows a few, are only in memory for one row.
    let selected = placements().map(|placed| fitting_names(placed.clusters, room));
    let selected = std::iter::once(fitting_names(["SELECTED"], room)).chain(selected);
    for ([name, clusters, by, outcome], selected) in rows.iter().zip(selected) {
        text.push(row(&[name, clusters, by, outcome, &selected], &widths));
    }
    text.into_text()
}

/// A row of the table, without the names of the clusters.
fn table_row(placed: &PlacedPlacement) -> [String; 4] {
    let placement = &placed.evaluated;
    let mut conditions = placement.conditions.iter();
    let outcome = if conditions.any(|condition| condition.reason == "Misconfigured") {
        "Misconfigured".to_owned()
    } else {
        let mut conditions = placement.conditions.iter();
        let satisfied = conditions.find(|condition| condition.kind == "PlacementSatisfied");
        satisfied.map_or_else(|| "Unchanged".to_owned(), |condition| condition.reason.clone())
    };
    let by = match placed.source {
        DecidedBy::Evaluation => "evaluation",
        DecidedBy::Decisions if placed.differs => "decisions (differ)",
        DecidedBy::Decisions => "decisions",
    };
    let name = format!("{}/{}", placement.namespace, placement.name);
    let count = placed.clusters.len().to_string();
    [name, count, by.to_owned(), outcome]
}

/// Why each Placement has, or has not, selected a cluster.
pub fn why_text(document: &PlacementExplanation<'_>) -> String {
    let mut text = Lines::default();
    let placements = &document.placements;
    let selected = placements.iter().filter(|placement| placement.selected).count();
    text.push(format_args!(
        "{}: selected by {selected} of {} Placements",
        document.cluster,
        placements.len()
    ));
    let is = |selected: bool| if selected { "selected" } else { "not selected" };
    for placement in placements {
        text.blank();
        let (namespace, name) = (placement.namespace, placement.name);
        text.push(format_args!("{namespace}/{name}: {}", is(placement.selected)));
        if let DecidedBy::Decisions = placement.source {
            text.push(format_args!(
                "    PlacementDecisions of the input decide; by evaluation it is {}:",
                is(placement.evaluated)
            ));
        }
        for step in &placement.steps {
            let mark = match step.bearing {
                Bearing::For => '+',
                Bearing::Against => '-',
                Bearing::Neutral => ' ',
            };
            text.push(format_args!("  {mark} {}", step.text));
            if let Some(at) = &step.at {
                text.push(format_args!("      at {at}"));
            }
            for related in &step.related {
                if let Some(at) = &related.at {
                    text.push(format_args!("      at {at} ({})", related.text));
                }
            }
        }
    }
    text.into_text()
}

/// What decides the clusters of a Placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum DecidedBy {
    /// PlacementDecisions of the input.
    Decisions,
    /// The evaluation.
    Evaluation,
}

impl DecidedBy {
    fn of(given: Option<&[String]>) -> Self {
        match given {
            Some(_) => Self::Decisions,
            None => Self::Evaluation,
        }
    }
}

/// The document of `placement -o json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementReport<'e> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    #[schemars(with = "Report<Vec<PlacedPlacement>>")]
    report: Report<Placements<'e>>,
}

impl<'e> PlacementReport<'e> {
    /// The document of one evaluation with full detail: of the Placements that select a cluster that `admits` accepts;
    /// `None` accepts all, also those without a cluster.
    pub fn new(
        evaluation: &'e Evaluation<'e>,
        hub: &'e Hub,
        source: PlacementSource,
        locate: &'e dyn Locate,
        admits: Option<&'e dyn Fn(&str) -> bool>,
    ) -> Self {
        let managed = hub.objects.of_kind(GROUP, "ManagedCluster").iter();
        Self {
            api_version: API_VERSION,
            kind: "PlacementReport",
            report: evaluation.report_with(Placements {
                evaluation,
                hub,
                decided: Decided::new(hub, source),
                locate,
                admits,
                clusters: managed.map(|cluster| cluster.name.as_str()).collect(),
            }),
        }
    }
}

/// What became of each Placement, made one by one while it is written: thousands of them with thousands of clusters are
/// more than fits into memory.
struct Placements<'e> {
    evaluation: &'e Evaluation<'e>,
    hub: &'e Hub,
    decided: Decided<'e>,
    locate: &'e dyn Locate,
    admits: Option<&'e dyn Fn(&str) -> bool>,
    /// All clusters, sorted.
    clusters: Vec<&'e str>,
}

/// A Placement: the result of its evaluation, and its clusters.
#[derive(Debug, Serialize, JsonSchema)]
struct PlacedPlacement {
    #[serde(flatten)]
    evaluated: Placement,
    /// What decides its clusters; `decisions` and `conditions` are those of the evaluation.
    source: DecidedBy,
    /// Its clusters, sorted.
    clusters: Vec<String>,
    /// How the evaluation arrives at its clusters.
    steps: Vec<PlacementStep>,
    #[serde(skip)]
    differs: bool,
}

/// A step of the evaluation.
#[derive(Debug, Serialize, JsonSchema)]
struct PlacementStep {
    name: &'static str,
    /// How many clusters are left after it.
    left: usize,
    dropped: Vec<DroppedClusters>,
}

/// Clusters that a step drops for one reason.
#[derive(Debug, Serialize, JsonSchema)]
struct DroppedClusters {
    reason: String,
    #[serde(flatten)]
    at: Option<SourceLine>,
    clusters: Vec<String>,
}

impl Placements<'_> {
    /// All that are asked for, with their positions in the evaluation, without steps.
    fn each(&self) -> impl Iterator<Item = (usize, PlacedPlacement)> {
        let (decided, admits) = (&self.decided, self.admits);
        let placed = self.evaluation.placement_reports().map(|evaluated| {
            let names = evaluated.decisions.iter().map(|decision| &decision.cluster_name);
            let selected: BTreeSet<&String> = names.collect();
            let given = decided.for_placement(&evaluated.namespace, &evaluated.name);
            let clusters: BTreeSet<&String> =
                given.map_or_else(|| selected.clone(), |given| given.iter().collect());
            PlacedPlacement {
                source: DecidedBy::of(given),
                differs: clusters != selected,
                clusters: clusters.into_iter().cloned().collect(),
                steps: Vec::new(),
                evaluated,
            }
        });
        let is_meant = move |(_, placed): &(usize, PlacedPlacement)| {
            let mut clusters = placed.clusters.iter();
            admits.is_none_or(|admits| clusters.any(|cluster| admits(cluster)))
        };
        placed.enumerate().filter(is_meant)
    }

    /// The steps of the Placement at a position in the reports of an evaluation. One that is left alone has not all of
    /// them.
    fn steps(&self, position: usize, evaluated: &Placement) -> Vec<PlacementStep> {
        // A Placement may select thousands of clusters, and the full reasons are too long for this view.
        let selected = evaluated.decisions.iter();
        let selected: HashSet<&str> = selected.map(|decision| decision.cluster_name.as_str()).collect();
        // What happens to one cluster does not affect another.
        let explained = self.evaluation.explain_placement(position).map(|explain| {
            parallel::map(&self.clusters, |cluster| {
                let others = Some(*cluster).filter(|cluster| !selected.contains(cluster));
                let (step, reason, at) = others.and_then(&explain).and_then(dropped)?;
                Some(((step, reason), at, *cluster))
            })
        });
        let mut reasons: BTreeMap<(usize, String), (Location, Vec<String>)> = BTreeMap::new();
        for (reason, at, cluster) in explained.into_iter().flatten().flatten() {
            let (_, clusters) = reasons.entry(reason).or_insert((at, Vec::new()));
            clusters.push(cluster.to_owned());
        }
        let filter = |position: usize| {
            let filters = evaluated.filters.as_ref()?;
            Some(filters.get(position)?.filtered_clusters.len())
        };
        let left = [
            Some(evaluated.available_clusters.len()),
            filter(0),
            filter(1),
            Some(evaluated.decisions.len()),
        ];
        let mut dropped = STEPS.map(|_| Vec::new());
        for ((step, reason), (at, clusters)) in reasons {
            if let Some(of_step) = dropped.get_mut(step) {
                let at = SourceLine::of(self.locate, place_of(self.hub, &at));
                of_step.push(DroppedClusters { reason, at, clusters });
            }
        }
        let steps = STEPS.into_iter().zip(left).zip(dropped);
        let there = steps.filter_map(|((name, left), dropped)| {
            let left = left?;
            Some(PlacementStep { name, left, dropped })
        });
        there.collect()
    }
}

/// A Placement on a page.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlacementOnPage {
    #[serde(flatten)]
    placed: PlacedPlacement,
    /// Where it is defined.
    #[serde(flatten)]
    at: Option<SourceLine>,
    /// How many clusters it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<i64>,
}

impl PlacementOnPage {
    /// All of them, with the steps if these are `explained`, and without the lists that no page shows.
    pub(crate) fn all(
        evaluation: &Evaluation<'_>,
        (hub, source): (&Hub, PlacementSource),
        locate: &dyn Locate,
        clusters: &[&str],
        explained: bool,
    ) -> Vec<Self> {
        let placements = Placements {
            evaluation,
            hub,
            decided: Decided::new(hub, source),
            locate,
            admits: None,
            clusters: clusters.to_vec(),
        };
        let all = placements.each().map(|(position, mut placed)| {
            if explained {
                placed.steps = placements.steps(position, &placed.evaluated);
            }
            let evaluated = &mut placed.evaluated;
            let namespace = Some(&*evaluated.namespace);
            let object = hub.objects.find(GROUP, "Placement", namespace, &evaluated.name);
            let at = object.and_then(|object| SourceLine::of(locate, object.place("")));
            let wanted = object.and_then(|object| object.value.pointer("/spec/numberOfClusters")?.as_i64());
            evaluated.available_clusters.clear();
            (evaluated.filters, evaluated.ranking) = (None, None);
            evaluated.placement_decisions.clear();
            evaluated.decision_groups.clear();
            for prioritizer in evaluated.prioritizers.iter_mut().flatten() {
                prioritizer.scores.clear();
            }
            if !placed.differs {
                evaluated.decisions.clear();
            }
            Self { placed, at, wanted }
        });
        all.collect()
    }

    /// Leaves out how it came to its clusters.
    pub(super) fn forget_steps(&mut self) {
        self.placed.steps.clear();
    }
}

impl Serialize for Placements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.each().map(|(position, placed)| PlacedPlacement {
            steps: self.steps(position, &placed.evaluated),
            ..placed
        }))
    }
}

impl fmt::Debug for Placements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.each()).finish()
    }
}

/// The document of `placement --why CLUSTER -o json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementExplanation<'a> {
    api_version: &'static str,
    kind: &'static str,
    cluster: &'a str,
    placements: Vec<ExplainedPlacement<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExplainedPlacement<'a> {
    namespace: &'a str,
    name: &'a str,
    selected: bool,
    /// What decides that.
    source: DecidedBy,
    /// Whether an evaluation selects it; `steps` say why.
    evaluated: bool,
    steps: Vec<ExplainedStep<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExplainedStep<'a> {
    /// The step of the scheduler.
    #[schemars(with = "String")]
    stage: Stage,
    #[schemars(with = "String")]
    bearing: Bearing,
    text: &'a str,
    #[serde(flatten)]
    at: Option<SourceLine>,
    related: Vec<RelatedPlace<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RelatedPlace<'a> {
    text: &'a str,
    #[serde(flatten)]
    at: Option<SourceLine>,
}

impl<'a> PlacementExplanation<'a> {
    /// The document about one cluster.
    pub fn new(
        cluster: &'a str,
        explanations: &'a [Explanation],
        hub: &Hub,
        source: PlacementSource,
        locate: &dyn Locate,
    ) -> Self {
        let decided = Decided::new(hub, source);
        let related = |(at, text): &'a (Location, String)| RelatedPlace {
            text,
            at: SourceLine::of(locate, place_of(hub, at)),
        };
        let steps = |explanation: &'a Explanation| {
            let steps = explanation.steps.iter().map(|step| ExplainedStep {
                stage: step.stage,
                bearing: step.bearing,
                text: &step.text,
                at: SourceLine::of(locate, place_of(hub, &step.at)),
                related: step.related.iter().map(related).collect(),
            });
            steps.collect()
        };
        let placements = explanations.iter().map(|explanation| {
            let given = decided.for_placement(&explanation.namespace, &explanation.name);
            let is_given = |given: &[String]| given.iter().any(|name| name == cluster);
            ExplainedPlacement {
                namespace: &explanation.namespace,
                name: &explanation.name,
                selected: given.map_or(explanation.selected, is_given),
                source: DecidedBy::of(given),
                evaluated: explanation.selected,
                steps: steps(explanation),
            }
        });
        Self {
            api_version: API_VERSION,
            kind: "PlacementExplanation",
            cluster,
            placements: placements.collect(),
        }
    }
}

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
