//! Placements for people: the table of `placement`, and `--why`; and their JSON.
//!
//! Owns: columns, marks, the shape of the document. Flows in: the scheduler's report or explanations, a width.
//! Flows out: text, serializable data. Must not know: how a cluster is chosen.

use ocm_placement::{Bearing, Explanation, Location, Report, Stage};
use schemars::JsonSchema;
use serde::Serialize;

use crate::diagnostic::{API_VERSION, GAP, Lines, Locate, fitting_names, row};
use crate::hub::Hub;
use crate::placing::place_of;

/// A table of placements that fits `width` columns: how many clusters, how it ended, which ones.
#[must_use]
pub fn placement_table(document: &PlacementReport, width: usize) -> String {
    let report = &document.report;
    let rows: Vec<([String; 3], Vec<&str>)> = report
        .placements
        .iter()
        .map(|placement| {
            let satisfied = placement
                .conditions
                .iter()
                .find(|condition| condition.kind == "PlacementSatisfied");
            let outcome = if placement
                .conditions
                .iter()
                .any(|condition| condition.reason == "Misconfigured")
            {
                "Misconfigured".to_owned()
            } else {
                satisfied.map_or_else(|| "Unchanged".to_owned(), |condition| condition.reason.clone())
            };
            let cells = [
                format!("{}/{}", placement.namespace, placement.name),
                placement.number_of_selected_clusters.to_string(),
                outcome,
            ];
            let selected = placement.decisions.iter();
            (
                cells,
                selected.map(|decision| decision.cluster_name.as_str()).collect(),
            )
        })
        .collect();
    if rows.is_empty() {
        return "no Placement in the input\n".to_owned();
    }
    let header = (
        ["PLACEMENT", "CLUSTERS", "RESULT"].map(str::to_owned),
        vec!["SELECTED"],
    );
    let mut widths = [0_usize; 3];
    for (cells, _) in std::iter::once(&header).chain(&rows) {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let taken = widths.iter().map(|width| width.saturating_add(GAP.len())).sum();
    let room = width.saturating_sub(taken);
    let mut text = Lines::default();
    for ([name, clusters, outcome], selected) in std::iter::once(&header).chain(&rows) {
        let selected = fitting_names(selected, room);
        text.push(row(&[name, clusters, outcome, &selected], &widths));
    }
    text.into_text()
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
pub struct PlacementReport {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    report: Report,
}

impl PlacementReport {
    /// The document of one evaluation.
    #[must_use]
    pub fn new(report: Report) -> Self {
        Self {
            api_version: API_VERSION,
            kind: "PlacementReport",
            report,
        }
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
