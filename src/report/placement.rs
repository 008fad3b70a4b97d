//! Placements for people: the table of `placement`, and `--why`; and their JSON.
//!
//! Owns: columns, marks, the shape of the document. Flows in: the scheduler's report or explanations, a width.
//! Flows out: text, serializable data. Must not know: how a cluster is chosen.

use std::fmt;

use ocm_placement::{
    Bearing, Evaluation, Explanation, Location, PlacementReport as Placement, Report, Stage,
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::diagnostic::{API_VERSION, FirstNames, GAP, Lines, Locate, row};
use crate::hub::Hub;
use crate::placing::place_of;

/// A table of placements that fits `width` columns: how many clusters, how it ended, which ones.
#[must_use]
pub fn placement_table(document: &PlacementReport<'_>, width: usize) -> String {
    let rows = document.report.placements.each();
    let rows: Vec<Row> = rows.map(|placement| table_row(placement, width)).collect();
    if rows.is_empty() {
        return "no Placement in the input\n".to_owned();
    }
    let header = Row {
        cells: ["PLACEMENT", "CLUSTERS", "RESULT"].map(str::to_owned),
        selected: FirstNames::of(["SELECTED".to_owned()], width),
    };
    let mut widths = [0_usize; 3];
    for row in std::iter::once(&header).chain(&rows) {
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let taken = widths.iter().map(|width| width.saturating_add(GAP.len())).sum();
    let room = width.saturating_sub(taken);
    let mut text = Lines::default();
    for Row { cells, selected } in std::iter::once(&header).chain(&rows) {
        let [name, clusters, outcome] = cells;
        text.push(row(&[name, clusters, outcome, &selected.fitting(room)], &widths));
    }
    text.into_text()
}

/// A row of the table, with as many names as may fit.
struct Row {
    cells: [String; 3],
    selected: FirstNames<String>,
}

fn table_row(placement: Placement, width: usize) -> Row {
    let mut conditions = placement.conditions.iter();
    let outcome = if conditions.any(|condition| condition.reason == "Misconfigured") {
        "Misconfigured".to_owned()
    } else {
        let mut conditions = placement.conditions.iter();
        let satisfied = conditions.find(|condition| condition.kind == "PlacementSatisfied");
        satisfied.map_or_else(|| "Unchanged".to_owned(), |condition| condition.reason.clone())
    };
    let selected = placement.decisions.into_iter();
    Row {
        cells: [
            format!("{}/{}", placement.namespace, placement.name),
            placement.number_of_selected_clusters.to_string(),
            outcome,
        ],
        selected: FirstNames::of(selected.map(|decision| decision.cluster_name), width),
    }
}

/// Why each Placement has, or has not, selected a cluster.
#[must_use]
pub fn why_text(cluster: &str, explanations: &[Explanation], hub: &Hub, locate: &dyn Locate) -> String {
    let mut text = Lines::default();
    let selected = explanations
        .iter()
        .filter(|explanation| explanation.selected)
        .count();
    text.push(format_args!(
        "{cluster}: selected by {selected} of {} Placements",
        explanations.len()
    ));
    for explanation in explanations {
        let verdict = if explanation.selected {
            "selected"
        } else {
            "not selected"
        };
        text.blank();
        text.push(format_args!(
            "{}/{}: {verdict}",
            explanation.namespace, explanation.name
        ));
        for step in &explanation.steps {
            let mark = match step.bearing {
                Bearing::For => '+',
                Bearing::Against => '-',
                Bearing::Neutral => ' ',
            };
            text.push(format_args!("  {mark} {}", step.text));
            if let Some(at) = line_of(&step.at, hub, locate) {
                text.push(format_args!("      at {at}"));
            }
            for (at, words) in &step.related {
                if let Some(at) = line_of(at, hub, locate) {
                    text.push(format_args!("      at {at} ({words})"));
                }
            }
        }
    }
    text.into_text()
}

fn line_of(at: &Location, hub: &Hub, locate: &dyn Locate) -> Option<String> {
    locate
        .locate(&place_of(hub, at))
        .map(|span| format!("{}:{}", span.path, span.line))
}

/// The document of `placement -o json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlacementReport<'e> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    report: Report<Placements<'e>>,
}

impl<'e> PlacementReport<'e> {
    /// The document of one evaluation: of the Placements with a cluster that `admits` takes; `None` takes all, also those
    /// with no cluster.
    #[must_use]
    pub fn new(evaluation: &'e Evaluation<'_>, admits: Option<&'e dyn Fn(&str) -> bool>) -> Self {
        let is_meant = move |placement: &Placement| {
            let mut decisions = placement.decisions.iter();
            admits.is_none_or(|admits| decisions.any(|decision| admits(&decision.cluster_name)))
        };
        let each = move || -> Box<dyn Iterator<Item = Placement> + 'e> {
            Box::new(evaluation.placement_reports().filter(is_meant))
        };
        Self {
            api_version: API_VERSION,
            kind: "PlacementReport",
            report: evaluation.report_with(Placements(Box::new(each))),
        }
    }
}

/// What became of each Placement, made one by one while it is written: thousands of them with thousands of clusters are
/// more than fits into memory.
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
struct Placements<'e>(#[schemars(with = "Vec<Placement>")] Box<MakesEach<'e>>);

type MakesEach<'e> = dyn Fn() -> Box<dyn Iterator<Item = Placement> + 'e> + 'e;

impl Placements<'_> {
    fn each(&self) -> impl Iterator<Item = Placement> {
        (self.0)()
    }
}

impl Serialize for Placements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.each())
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
#[non_exhaustive]
pub struct PlacementExplanation<'a> {
    api_version: &'static str,
    kind: &'static str,
    cluster: &'a str,
    placements: Vec<ExplainedPlacement<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExplainedPlacement<'a> {
    namespace: &'a str,
    name: &'a str,
    selected: bool,
    steps: Vec<ExplainedStep<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExplainedStep<'a> {
    room: &'static str,
    bearing: &'static str,
    text: &'a str,
    #[serde(flatten)]
    at: At,
    related: Vec<RelatedPlace<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RelatedPlace<'a> {
    text: &'a str,
    #[serde(flatten)]
    at: At,
}

/// File and line, where there is a text.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct At {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

impl At {
    fn of(at: &Location, hub: &Hub, locate: &dyn Locate) -> Self {
        let span = locate.locate(&place_of(hub, at));
        span.map_or_else(Self::default, |span| Self {
            path: Some(span.path.to_owned()),
            line: Some(span.line),
        })
    }
}

impl<'a> PlacementExplanation<'a> {
    /// The document about one cluster.
    #[must_use]
    pub fn new(cluster: &'a str, explanations: &'a [Explanation], hub: &Hub, locate: &dyn Locate) -> Self {
        let steps = |explanation: &'a Explanation| {
            let steps = explanation.steps.iter().map(|step| ExplainedStep {
                room: stage_name(step.stage),
                bearing: match step.bearing {
                    Bearing::For => "for",
                    Bearing::Against => "against",
                    Bearing::Neutral => "neutral",
                },
                text: &step.text,
                at: At::of(&step.at, hub, locate),
                related: step
                    .related
                    .iter()
                    .map(|(at, text)| RelatedPlace {
                        text,
                        at: At::of(at, hub, locate),
                    })
                    .collect(),
            });
            steps.collect()
        };
        Self {
            api_version: API_VERSION,
            kind: "PlacementExplanation",
            cluster,
            placements: explanations
                .iter()
                .map(|explanation| ExplainedPlacement {
                    namespace: &explanation.namespace,
                    name: &explanation.name,
                    selected: explanation.selected,
                    steps: steps(explanation),
                })
                .collect(),
        }
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::ClusterSet => "ClusterSet",
        Stage::Predicate => "Predicate",
        Stage::TaintToleration => "TaintToleration",
        Stage::Prioritizer => "Prioritizer",
        Stage::Ranking => "Ranking",
        Stage::Decision => "Decision",
        Stage::Scheduler => "Scheduler",
    }
}
