//! Change budgets: how much one change may do before a user has to allow it.
//!
//! Owns: counting what is limited. Flows in: limits, a [`DiffReport`]. Flows out: [`Exceeded`]s. Must not know:
//! who set the limits, or what happens then.

use super::change::Change;
use super::clusters::describe;
use super::compare::Effect;
use super::denied::DENIED;
use super::limit::{Exceeded, Limit};
use super::report::DiffReport;
use super::side::is_cluster;
use crate::api::config::Budget;
use crate::diagnostic::{Code, Finding, Findings, Place, and_more};

/// How much of what is beyond a limit is listed at most.
const MOST_LISTED: usize = 10;

/// The limits that are exceeded and were not allowed.
pub fn over_budget(exceeded: &[Exceeded]) -> Findings {
    let mut findings = Findings::new();
    for exceeded in exceeded.iter().filter(|exceeded| !exceeded.allowed) {
        let finding = Finding::new(Code::DIFF_OVER_BUDGET, Place::Run, exceeded.sentence()).help(format!(
            "if this is meant, pass `--allow {}`, or raise the limit",
            exceeded.limit.as_str()
        ));
        let listed = exceeded.offenders.iter().take(MOST_LISTED).cloned();
        let more = and_more(exceeded.offenders.len().saturating_sub(MOST_LISTED), "line");
        findings.push(listed.chain(more).fold(finding, Finding::note));
    }
    findings
}

/// The limits that a report exceeds.
pub fn exceeded(budget: Budget, report: &DiffReport, allowed: &[Limit]) -> Vec<Exceeded> {
    let all = Limit::ALL.into_iter().filter_map(|limit| {
        let most = usize::try_from(match limit {
            Limit::Removed => budget.max_removed,
            Limit::Clusters => budget.max_clusters,
            Limit::LostPolicies => budget.max_lost_policies,
        }?)
        .unwrap_or(usize::MAX);
        let count = match limit {
            Limit::Removed => report.removed_objects(),
            Limit::Clusters => report.comparison.changed_clusters,
            Limit::LostPolicies => report.lost_policies(),
        };
        (count > most).then(|| Exceeded {
            limit,
            most,
            count,
            allowed: allowed.contains(&limit),
            offenders: offenders(report, limit),
        })
    });
    all.collect()
}

fn offenders(report: &DiffReport, limit: Limit) -> Vec<String> {
    let comparison = &report.comparison;
    let on = |clusters: &[u32]| describe(&comparison.clusters, clusters);
    match limit {
        Limit::Removed => comparison
            .changes
            .iter()
            .filter(|change| change.change == Change::Removed && change.effect == Effect::Real)
            .chain(comparison.moved())
            .map(|change| comparison.sentence(change, &change.clusters))
            .collect(),
        Limit::Clusters => {
            let rows = comparison.rows.iter().map(|row| row.clusters.clone());
            let is_real = |position: &u32| {
                let name = usize::try_from(*position)
                    .ok()
                    .and_then(|at| comparison.clusters.get(at));
                name.is_some_and(|name| is_cluster(name))
            };
            rows.filter(|row| row.iter().all(is_real))
                .map(|row| on(&row))
                .collect()
        }
        Limit::LostPolicies => report
            .losing()
            .filter(|(change, _)| change.is_lost)
            .map(|(change, is_denied)| {
                format!(
                    "{} {} on {}{}",
                    change.kind,
                    change.old_names.join(", "),
                    change.label,
                    if is_denied { DENIED } else { "" }
                )
            })
            .chain(
                comparison
                    .moved()
                    .filter(|moved| moved.is_policy())
                    .map(|moved| comparison.sentence(moved, &moved.clusters)),
            )
            .collect(),
    }
}
