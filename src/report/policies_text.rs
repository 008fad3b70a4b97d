//! `policies` for people: a table with a line for each policy, and what is in effect on each path.
//!
//! Owns: columns, and what is said below a row. Flows in: a report or [`ExplainedPaths`], a width. Flows out: text. Must
//! not know: why a policy wins.

use apimachinery::Kinds;

use super::alike::alike;
use super::explain::ExplainedPaths;
use super::explain_text::{MOST_NAMES, MOST_PATHS, effective_part, ties};
use super::status_text::below;
use crate::diagnostic::{Lines, and_more, fitting_names, one_line, row};
use crate::outcome::{PolicyEntry, PolicyReport};

/// A line for each policy, as `kubectl get` prints it, and below it where the policy fares otherwise.
#[must_use]
pub fn policies_text(report: &PolicyReport, width: usize) -> String {
    let mut text = Lines::default();
    let mut policies: Vec<&PolicyEntry> = report.policies.iter().collect();
    policies.sort_by_key(|entry| &entry.policy);
    let targets = policies.iter().flat_map(|entry| &entry.targets);
    let elsewhere = report.elsewhere.iter().map(|entry| &entry.policy);
    let all = policies.iter().map(|entry| &entry.policy).chain(targets).chain(elsewhere);
    let kinds: Kinds<'_> = all.map(String::as_str).collect();
    if policies.is_empty() {
        no_policy(&mut text, report);
    } else {
        table(&mut text, &policies, &kinds, width);
    }
    elsewhere_part(&mut text, report, &kinds, width);
    text.into_text()
}

/// The settings in effect, equal ones on several paths once.
#[must_use]
pub fn effective_text(report: &PolicyReport, paths: &[ExplainedPaths], width: usize) -> String {
    let mut text = Lines::default();
    if report.policies.is_empty() {
        no_policy(&mut text, report);
    }
    for part in paths {
        effective_part(&mut text, part, width);
    }
    for without in &report.without_paths {
        text.blank();
        let gateway = Kinds::default().short(&without.gateway);
        text.push(format_args!(
            "{} on {gateway}: no {} in the input, so nothing is effective there",
            without.kind, without.ends
        ));
    }
    ties(&mut text, paths);
    text.into_text().trim_start_matches('\n').to_owned()
}

fn no_policy(text: &mut Lines, report: &PolicyReport) {
    match &report.cluster {
        Some(cluster) => text.push(format_args!("no policy on cluster {cluster}")),
        None => text.push("no policy in the input"),
    }
}

fn table(text: &mut Lines, policies: &[&PolicyEntry], kinds: &Kinds<'_>, width: usize) {
    let mut rows: Vec<[String; 4]> = vec![["POLICY", "TARGET", "STATE", "CLUSTERS"].map(str::to_owned)];
    rows.extend(policies.iter().map(|policy| cells(policy, kinds)));
    let [names, targets, states, counts] = [0, 1, 2, 3].map(|column| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).collect::<Vec<_>>()
    });
    let longest = |column: &[usize]| column.iter().copied().max().unwrap_or_default();
    // Numbers are at the end of their column, so its heading may begin above the states.
    let cells = states.iter().zip(&counts).enumerate();
    let ends = cells.map(|(number, (state, count))| [*state, *count, number.min(1), 1].iter().sum());
    let last: usize = ends.max().unwrap_or_default();
    let target = longest(&targets);
    // A name that leaves the others no room is on a line of its own.
    let room = width.saturating_sub(target).saturating_sub(last).saturating_sub(4);
    let name = longest(&names).min(room.max(names.first().copied().unwrap_or_default()));
    for (number, [policy, on, state, count]) in rows.iter().enumerate() {
        let mut first = policy.as_str();
        if policy.chars().count() > name {
            text.push(std::mem::take(&mut first));
        }
        let room = last.saturating_sub(state.chars().count());
        text.push(row(&[first, on, &format!("{state}{count:>room$}")], &[name, target]));
        if let Some(policy) = number.checked_sub(1).and_then(|number| policies.get(number)) {
            exceptions(text, policy, width);
        }
    }
}

fn cells(policy: &PolicyEntry, kinds: &Kinds<'_>) -> [String; 4] {
    let shown = |locator: &String| one_line(&kinds.short(locator), usize::MAX);
    let targets: Vec<String> = policy.targets.iter().map(shown).collect();
    let targets = match targets.as_slice() {
        [] => "<none>".to_owned(),
        // The first of several, and how many more there are.
        several => fitting_names(several, 0),
    };
    let count = policy.clusters.len().to_string();
    [shown(&policy.policy), targets, policy.state.clone(), count]
}

/// What a row does not say: why a policy is not in effect, where it lives, and where it fares otherwise.
fn exceptions(text: &mut Lines, policy: &PolicyEntry, width: usize) {
    let condition = policy.conditions.last().unwrap_or(&policy.accepted);
    if !condition.is_true() || condition.kind == "Overridden" {
        below(text, "", &condition.message.to_string(), width);
    }
    if policy.local {
        below(text, "lives on: ", &fitting_names(policy.clusters.iter(), MOST_NAMES), width);
    }
    let there = policy.on_clusters.iter();
    let there = there.filter_map(|on| Some((on.cluster.as_ref(), on.condition()?.message.to_string())));
    for (message, clusters) in alike(there) {
        let names = fitting_names(&clusters, MOST_NAMES);
        below(text, &format!("on {names}: "), &message, width);
    }
}

/// The policies that are not on the cluster that is looked at.
fn elsewhere_part(text: &mut Lines, report: &PolicyReport, kinds: &Kinds<'_>, width: usize) {
    let Some(cluster) = report.cluster.as_ref().filter(|_| !report.elsewhere.is_empty()) else {
        return;
    };
    text.push(format_args!("not on {cluster}:"));
    for entry in report.elsewhere.iter().take(MOST_PATHS) {
        let policy = kinds.short(&entry.policy);
        let room = width.saturating_sub(policy.chars().count().saturating_add(8));
        let on = if entry.clusters.is_empty() {
            "on no cluster".to_owned()
        } else {
            format!("on {}", fitting_names(&entry.clusters, room))
        };
        text.push(format_args!("  {policy} {on}"));
    }
    if let Some(more) = and_more(report.elsewhere.len().saturating_sub(MOST_PATHS), "policy") {
        text.push(format_args!("  {more}; `-o json` lists all"));
    }
}
