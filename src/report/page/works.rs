//! What the clusters report about the works, next to what is planned.
//!
//! Owns: which Gateway or policy a reported status belongs to. Flows in: statuses that were aggregated from exported
//! works. Flows out: a [`WorksPart`], conditions in the rows. Must not know: how a status comes about.

use std::collections::HashMap;

use super::document::{GatewayRow, PolicyRow, ProblemRow, WorksPart};
use super::interned::{Tables, signed_or_none};
use super::numbers::Numbers;
use super::paths::Paths;
use super::policies::condition_row;
use crate::report::aggregate::{Aggregated, WorkProblem};

pub(super) fn works(
    aggregated: &Aggregated,
    (numbers, paths): (&Numbers, &Paths),
    (gateways, policies): (&mut [GatewayRow], &mut [PolicyRow]),
    tables: &Tables<'_>,
) -> WorksPart {
    for status in &aggregated.objects {
        let conditions = || status.conditions.iter().map(condition_row).collect();
        if let Some(row) = paths.gateway(&status.object).and_then(|at| gateways.get_mut(at)) {
            row.reported = Some(conditions());
            row.addresses = status
                .addresses
                .iter()
                .map(|address| address.value.clone())
                .collect();
        }
        let policy = numbers.find(&status.object, None);
        if let Some(row) = policy.and_then(|at| policies.get_mut(at)) {
            row.reported = Some(conditions());
        }
    }
    let numbered = || gateways.iter().zip(0..);
    let by_key = numbered().map(|(row, position)| (format!("{}/{}", row.ns, row.name), position));
    let by_key: HashMap<String, usize> = by_key.collect();
    let by_work = |(row, position): (&GatewayRow, usize)| {
        Some((
            row.work.as_deref()?.strip_prefix("ManifestWork ")?.to_owned(),
            position,
        ))
    };
    let by_work: HashMap<String, usize> = numbered().filter_map(by_work).collect();
    // Nothing shows who owns a work that does not exist.
    let whose = |problem: &WorkProblem| {
        let parent = problem.parent.as_ref().and_then(|parent| by_key.get(parent));
        parent.or_else(|| by_work.get(problem.work.as_str())).copied()
    };
    let problems = aggregated.works.problems.iter().map(|problem| ProblemRow {
        cluster: signed_or_none(tables.cluster(&problem.cluster)),
        on: problem.cluster.clone(),
        work: problem.work.clone(),
        state: problem.state.word(),
        message: problem.message.clone(),
        objects: problem
            .manifests
            .iter()
            .map(|object| {
                let name = match object.namespace.as_str() {
                    "" => object.name.clone(),
                    namespace => format!("{namespace}/{}", object.name),
                };
                format!("{} {name}: {}", object.kind, object.message)
            })
            .collect(),
        help: problem.help,
        gateway: signed_or_none(whose(problem)),
    });
    WorksPart {
        planned: aggregated.works.planned,
        applied: aggregated.works.applied,
        problems: problems.collect(),
    }
}
