//! What an evaluation has to say to people.
//!
//! Owns: the findings of an evaluation: misconfigured Placements, times without a clock, Placements without
//! clusters, decisions that differ from the evaluation. Flows in: an evaluation. Flows out: findings.

use std::collections::BTreeSet;

use super::outcome::{NeedsNow, Outcome, SchedulerStatus};
use super::run::Evaluation;
use crate::api::ocm::Placement;
use crate::diagnostic::{Code, Finding, Place, first_names};
use crate::object::Object;
use apimachinery::value_complaints;

/// A Placement whose given decisions are not what the evaluation gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Namespace and name of the Placement.
    pub placement: (String, String),
    /// The Placement.
    pub place: Place,
    /// The first of its decisions.
    pub decision: Place,
    /// Clusters in the decisions only, sorted.
    pub only_given: Vec<String>,
    /// Clusters in the evaluation only, sorted.
    pub only_evaluated: Vec<String>,
}

/// At most so many clusters are named.
const MOST_NAMES: usize = 10;

impl Difference {
    /// The warning `placement/differs`.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let (namespace, name) = &self.placement;
        let part = |clusters: &[String], text: &str| {
            (!clusters.is_empty()).then(|| format!("{text}: {}", first_names(clusters, MOST_NAMES)))
        };
        let parts = [
            part(&self.only_given, "only in the PlacementDecisions"),
            part(&self.only_evaluated, "only in the evaluation"),
        ];
        let mut finding = Finding::new(
            Code::PLACEMENT_DIFFERS,
            self.decision.clone(),
            format!("PlacementDecisions of {namespace}/{name} and its evaluation give different clusters"),
        )
        .related(self.place.clone(), "the Placement")
        .help("render with `--placement evaluate`, or refresh the files with `spokewright placement --write DIR`");
        for part in parts.into_iter().flatten() {
            finding = finding.note(part);
        }
        finding
    }
}

impl NeedsNow {
    /// The error `placement/needs-now`.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let (namespace, name) = &self.placement;
        Finding::new(
            Code::PLACEMENT_NEEDS_NOW,
            self.place.clone(),
            format!("a time decides Placement {namespace}/{name}: {}", self.decides),
        )
        .help("pass the time with `--now`, such as `--now 2026-06-01T00:00:00Z`")
    }
}

impl Evaluation<'_> {
    /// Misconfigured Placements (also those that OCM cannot sync), Placements that select no cluster, and times
    /// that would decide something in a run without a clock.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.findings_of(|_, _| true)
    }

    /// The same as [`Evaluation::findings`], of the Placements that `concerns` admits by namespace and name.
    #[must_use]
    pub fn findings_of(&self, concerns: impl Fn(&str, &str) -> bool) -> Vec<Finding> {
        let needs_now = self.needs_now();
        let needed = needs_now
            .iter()
            .filter(|needs| concerns(&needs.placement.0, &needs.placement.1));
        let mut findings: Vec<Finding> = needed.map(NeedsNow::finding).collect();
        let placements = self.plan.input.inventory.placements.iter();
        for (placement, outcome) in placements.zip(&self.outcomes) {
            if !concerns(placement.namespace, placement.name) {
                continue;
            }
            findings.extend(fault_finding(placement, outcome));
            let empty = outcome.selected == 0 && outcome.fault.is_none() && !outcome.keeps();
            if empty && placement.number_of_clusters != Some(0) {
                let key = placement.object.key();
                let message = format!("Placement {key} selects no cluster");
                let place = placement.object.place("/metadata/name");
                findings.push(
                    Finding::new(Code::PLACEMENT_NO_CLUSTERS, place, message)
                        .help("`spokewright placement --why CLUSTER` says what drops a cluster"),
                );
            }
        }
        findings
    }

    /// Where the decisions of the input and the evaluation differ, for Placements that have any.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let inventory = self.plan.input.inventory;
        let mut differences = Vec::new();
        let mut given: std::collections::BTreeMap<(&str, &str), (&Object, BTreeSet<&str>)> =
            std::collections::BTreeMap::new();
        for decision in &inventory.decisions {
            let Some(placement) = decision.placement else {
                continue;
            };
            let entry = given
                .entry((decision.namespace, placement))
                .or_insert_with(|| (decision.object, BTreeSet::new()));
            entry
                .1
                .extend(decision.clusters.iter().filter(|name| !name.is_empty()));
        }
        for (placement, outcome) in inventory.placements.iter().zip(&self.outcomes) {
            let Some((object, given)) = given.get(&(placement.namespace, placement.name)) else {
                continue;
            };
            if outcome.keeps() {
                continue;
            }
            let evaluated: BTreeSet<&str> = outcome
                .groups
                .order
                .iter()
                .map(|cluster| self.plan.fleet.name(*cluster))
                .collect();
            let names = |difference: &mut dyn Iterator<Item = &&str>| -> Vec<String> {
                difference.map(|name| (**name).to_owned()).collect()
            };
            let only_given = names(&mut given.difference(&evaluated));
            let only_evaluated = names(&mut evaluated.difference(given));
            if !only_given.is_empty() || !only_evaluated.is_empty() {
                differences.push(Difference {
                    placement: (placement.namespace.to_owned(), placement.name.to_owned()),
                    place: placement.object.place(""),
                    decision: object.place("/status/decisions"),
                    only_given,
                    only_evaluated,
                });
            }
        }
        differences
    }

    /// Decisions of the input that name a cluster without a ManagedCluster, when the input has ManagedClusters at
    /// all. One that was refused is not unknown; an empty name is skipped (design section 6).
    #[must_use]
    pub fn unknown_clusters(&self) -> Vec<Finding> {
        let inventory = self.plan.input.inventory;
        let refused: BTreeSet<&str> = inventory
            .rejected
            .iter()
            .filter(|identity| identity.group_kind.kind == "ManagedCluster")
            .map(|identity| identity.name.as_str())
            .collect();
        if inventory.clusters.is_empty() {
            return Vec::new();
        }
        let mut findings = Vec::new();
        for decision in &inventory.decisions {
            for (index, name) in decision.clusters.iter().enumerate() {
                let id = self.plan.fleet.id(name);
                let known = id.is_some_and(|id| self.plan.fleet.cluster(id).is_some());
                if known || name.is_empty() || refused.contains(name) {
                    continue;
                }
                let place = decision
                    .object
                    .place(&format!("/status/decisions/{index}/clusterName"));
                let message = format!(
                    "{} names {name}, which has no ManagedCluster",
                    decision.object.identity()
                );
                findings.push(
                    Finding::new(Code::PLACEMENT_UNKNOWN_CLUSTER, place, message)
                        .help("add the ManagedCluster (`kubectl get managedcluster -o yaml`), or remove the decision"),
                );
            }
        }
        findings
    }

    /// The names of Placements whose decisions no API server would take: a label holds the name, and a label's
    /// value has 63 characters at most (OCM placement 1.4).
    #[must_use]
    pub fn unwritable(&self) -> Vec<Finding> {
        let placements = self.plan.input.inventory.placements.iter();
        let too_long = placements.filter(|placement| !value_complaints(placement.name).is_empty());
        too_long
            .map(|placement| {
                let key = placement.object.key();
                Finding::new(
                    Code::OBJECT_INVALID_NAME,
                    placement.object.place("/metadata/name"),
                    format!("the name of Placement {key} cannot be the value of a label, so it can have no decisions"),
                )
                .help("use a name of 63 characters at most")
            })
            .collect()
    }
}

fn fault_finding(placement: &Placement<'_>, outcome: &Outcome) -> Option<Finding> {
    let fault = outcome.fault.as_ref()?;
    let key = placement.object.key();
    let message = if outcome.status == SchedulerStatus::Error {
        format!("OCM cannot schedule Placement {key}: a cluster set that it needs has an invalid selector")
    } else {
        format!("OCM would call Placement {key} misconfigured")
    };
    let help = match (outcome.status, outcome.group_fault) {
        (SchedulerStatus::Error, _) => {
            "correct the set's selector; until then earlier decisions stay as they are"
        }
        (_, true) => "correct the decision groups; the clusters of this group and of those after it are lost",
        _ => "correct the Placement; until then it selects nothing and earlier decisions are wiped",
    };
    let finding = Finding::new(Code::PLACEMENT_MISCONFIGURED, fault.place.clone(), message)
        .label(fault.message.clone())
        .help(help);
    Some(if outcome.status == SchedulerStatus::Error {
        finding.related(placement.object.place(""), "this Placement needs it")
    } else {
        finding
    })
}
