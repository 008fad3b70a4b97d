//! `policies` for people: a table with a line for each policy, and what is said below a row; or what is in effect on each
//! path.

use apimachinery::Locators;

use super::explain::ExplainedPaths;
use super::explain_text::{MOST_NAMES, MOST_PATHS, alike, effective_part, ties};
use super::status::below;
use crate::diagnostic::{Lines, and_more, fitting_names, one_line, row, widths};
use crate::outcome::{PolicyEntry, PolicyReport};

/// The columns. Numbers are at the end of the last one, so its heading may begin above the states.
const HEADINGS: [&str; 4] = ["POLICY", "TARGET", "STATE", "CLUSTERS"];

/// A line for each policy, as `kubectl get` prints it, with exceptions below it; or the settings in `effect`, equal ones
/// on several paths once.
pub fn policies_text(report: &PolicyReport, effect: Option<&[ExplainedPaths]>, width: usize) -> String {
    let mut text = Lines::default();
    let elsewhere = report.elsewhere.iter().map(|entry| &entry.policy);
    let listed = report.policies.iter();
    let named = listed.flat_map(|entry| entry.targets.iter().chain([&entry.policy]));
    let kinds: Locators<'_> = named.chain(elsewhere).map(String::as_str).collect();
    match (effect, &report.cluster) {
        (_, Some(cluster)) if report.policies.is_empty() => {
            text.push(format_args!("no policy on cluster {cluster}"));
        }
        _ if report.policies.is_empty() => text.push("no policy in the input"),
        (None, _) => table(&mut text, report, &kinds, width),
        (Some(paths), _) => {
            for part in paths {
                effective_part(&mut text, part, width);
            }
            ties(&mut text, paths);
        }
    }
    for without in report.without_paths.iter().filter(|_| effect.is_some()) {
        text.blank();
        text.push(format_args!(
            "{} on {}: no {} in the input, so nothing is effective there",
            without.kind,
            kinds.short(&without.gateway),
            without.ends
        ));
    }
    elsewhere_part(&mut text, report, &kinds, width);
    text.into_text().trim_start().to_owned()
}

fn table(text: &mut Lines, report: &PolicyReport, kinds: &Locators<'_>, width: usize) {
    let mut policies: Vec<&PolicyEntry> = report.policies.iter().collect();
    policies.sort_by_key(|entry| &entry.policy);
    let mut rows = vec![(HEADINGS.map(str::to_owned), None)];
    rows.extend(
        policies
            .into_iter()
            .map(|policy| (cells(policy, kinds), Some(policy))),
    );
    let [longest, target, last] = widths(rows.iter().map(|(cells, _)| {
        let [name, target, state, count] = cells.each_ref().map(|cell| cell.chars().count());
        [name, target, state.saturating_add(count).saturating_add(1)]
    }));
    // A name that leaves the others no room is on a line of its own.
    let room = width
        .saturating_sub(target)
        .saturating_sub(last)
        .saturating_sub(4);
    let name = longest.min(room.max("POLICY".len()));
    for ([policy, on, state, count], entry) in &rows {
        let mut first = policy.as_str();
        if policy.chars().count() > name {
            text.push(std::mem::take(&mut first));
        }
        let room = last.saturating_sub(state.chars().count());
        let last = format!("{state}{count:>room$}");
        text.push(row(&[first, on, &last], &[name, target]));
        if let Some(policy) = entry {
            exceptions(text, report, policy, width);
        }
    }
}

fn cells(policy: &PolicyEntry, kinds: &Locators<'_>) -> [String; 4] {
    let shown = |locator: &String| one_line(&kinds.short(locator), usize::MAX);
    let targets: Vec<String> = policy.targets.iter().map(shown).collect();
    // The first of several, and how many more there are.
    let targets = if targets.is_empty() {
        "<none>".to_owned()
    } else {
        fitting_names(targets, 0)
    };
    let count = policy.clusters.len().to_string();
    [shown(&policy.policy), targets, policy.state.clone(), count]
}

/// What a row does not say: why a policy is not in effect, where it lives, and where it fares otherwise.
fn exceptions(text: &mut Lines, report: &PolicyReport, policy: &PolicyEntry, width: usize) {
    let condition = policy.conditions.last().unwrap_or(&policy.accepted);
    if !condition.is_true() || condition.kind == "Overridden" {
        below(text, "", &condition.message.to_string(), width);
    }
    if policy.local {
        let clusters = fitting_names(policy.clusters.iter(), MOST_NAMES);
        below(text, "lives on: ", &clusters, width);
    }
    let there = policy.on_clusters.iter();
    let there = there.filter_map(|on| Some((on.cluster.as_ref(), on.condition()?.message.to_string())));
    for (message, clusters) in alike(there) {
        let names = fitting_names(&clusters, MOST_NAMES);
        below(text, &format!("on {names}: "), &message, width);
    }
    let changes = report.overlays.iter();
    let changes = changes.filter(|change| change.object == policy.policy && change.is_effective());
    let changes = changes.flat_map(|change| {
        let clusters = change.clusters.iter();
        clusters.map(|cluster| (cluster.as_str(), &change.overlay))
    });
    for (overlay, clusters) in alike(changes) {
        let names = fitting_names(&clusters, MOST_NAMES);
        let message = format!("{} changes it", Locators::default().short(overlay));
        below(text, &format!("on {names}: "), &message, width);
    }
}

/// The policies that are not on the cluster that is looked at.
fn elsewhere_part(text: &mut Lines, report: &PolicyReport, kinds: &Locators<'_>, width: usize) {
    let Some(cluster) = report.cluster.as_ref().filter(|_| !report.elsewhere.is_empty()) else {
        return;
    };
    text.push(format_args!("not on {cluster}:"));
    for entry in report.elsewhere.iter().take(MOST_PATHS) {
        let policy = kinds.short(&entry.policy);
        let room = width.saturating_sub(policy.chars().count().saturating_add(8));
        let clusters = match entry.clusters.as_slice() {
            [] => "no cluster".to_owned(),
            clusters => fitting_names(clusters, room),
        };
        text.push(format_args!("  {policy} on {clusters}"));
    }
    if let Some(more) = and_more(report.elsewhere.len().saturating_sub(MOST_PATHS), "policy") {
        text.push(format_args!("  {more}; `-o json` lists all"));
    }
}
