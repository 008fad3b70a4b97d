//! `explain` and `policies` for people: trees and a table that fit a terminal, with long values and lists cut. What
//! ClusterOverlays change is also worded here for other reports.

use std::collections::BTreeSet;

use apimachinery::Locators;
use kube_json::Value;

use super::diff::{fenced, field_changes, field_line};
use super::status::{alike, below};
use crate::diagnostic::{
    GAP, Lines, and_more, counted, first_names, fitting_names, one_line, one_or_many, row, widths,
};
use crate::outcome::{
    ChangeIfDeleted, CoverageReport, ExplainedPaths, Gap, LostSetting, ObjectExplanation, OnCluster,
    OverlayChanges, PolicyEntry, PolicyPart, PolicyReport, RequestExplanation, RuleLine, RuleOutcome,
    RuleState, SourceLine,
};

/// Names of clusters take at least so many columns, however long what is reported about them.
const MOST_NAMES: usize = 40;
/// At most so many paths with one result are listed, the rest is counted.
const MOST_PATHS: usize = 8;
/// So much of one text is shown.
const LONGEST_VALUE: usize = 1000;
/// More gaps are counted in Markdown, which has a limit.
const MOST_GAPS: usize = 200;
/// The columns of coverage.
const COVERAGE_HEADINGS: [&str; 5] = ["KIND", "ROUTES", "COVERED", "OPEN", "GAPS"];

/// An explanation as a tree of at most `width` columns where values allow it.
#[must_use]
pub fn explanation_text(explanation: &ObjectExplanation, width: usize) -> String {
    let mut text = Lines::default();
    let at = at_line(explanation.place.as_ref());
    text.push(format_args!("{}{at}", explanation.title));
    if let Some(cluster) = &explanation.cluster {
        text.push(format_args!("  as seen on cluster {cluster}"));
        if !explanation.elsewhere.is_empty() {
            let names = fitting_names(&explanation.elsewhere, width.saturating_sub(22));
            text.push(format_args!("  it is not there, but on {names}"));
        }
    } else if !explanation.clusters.is_empty() {
        let names = fitting_names(&explanation.clusters, width.saturating_sub(12));
        text.push(format_args!("  clusters: {names}"));
    }
    if let Some(clusters) = &explanation.shipped_to {
        let names = if clusters.is_empty() {
            "no cluster".to_owned()
        } else {
            fitting_names(clusters, width.saturating_sub(14))
        };
        text.push(format_args!("  shipped to: {names}"));
    }
    for why in &explanation.not_attached {
        text.push(format_args!("  not attached: {why}"));
    }
    if explanation.assumed {
        text.push("  not shipped: assumed to be on the clusters of its Gateway, by other means");
    }
    if let Some(policy) = &explanation.policy {
        policy_part(&mut text, policy, width);
    }
    for rule in &explanation.violated_rules {
        violations(
            &mut text,
            rule,
            &format!("violates {}:", short(&rule.rule)),
            width,
        );
    }
    overlay_lines(&mut text, &explanation.overlays, width);
    if let Some(rule) = &explanation.rule {
        rule_part(&mut text, rule, width);
    } else if explanation.effective.is_empty()
        && explanation.elsewhere.is_empty()
        && explanation.overlays.is_empty()
    {
        for policy in &explanation.attached {
            let at = at_line(policy.place.as_ref());
            text.push(format_args!("  targeted by {}{at}", short(&policy.policy)));
        }
        text.blank();
        text.push(if explanation.policy.is_some() {
            "It is on no path."
        } else if explanation.attached.is_empty() {
            "No policy of the input is on a path through it."
        } else if explanation.clusters.is_empty() {
            "No path from a Gateway leads through it."
        } else {
            "None of their settings is in effect on a path through it."
        });
    }
    for paths in &explanation.effective {
        effective_part(&mut text, paths, width);
    }
    ties(&mut text, &explanation.effective);
    text.into_text()
}

/// An explanation of a request, in the same form.
#[must_use]
pub fn request_text(explanation: &RequestExplanation, width: usize) -> String {
    let mut text = Lines::default();
    text.push(format_args!("{}", explanation.request));
    if let Some(cluster) = &explanation.cluster {
        text.push(format_args!("  as seen on cluster {cluster}"));
    }
    if explanation.answers.is_empty() {
        text.push("  no listener accepts it");
        for listener in &explanation.listeners {
            text.push(format_args!("  there is {listener}"));
        }
    }
    let line = |rule: &RuleLine| format!("{}{}", rule.title, at_line(rule.place.as_ref()));
    for answer in &explanation.answers {
        text.blank();
        text.push(format_args!("{}", answer.listener_title));
        on_clusters(&mut text, &answer.clusters, answer.everywhere, width);
        match &answer.rule {
            Some(rule) => text.push(format_args!("  served by {}", line(rule))),
            None if answer.unknown.is_empty() => text.push("  no rule of its routes matches: 404"),
            None => text.push("  no rule of its routes is known to match"),
        }
        for filter in &answer.filters {
            let kind = filter.get("type").and_then(Value::as_str).unwrap_or_default();
            let settings = filter.as_object().into_iter().flat_map(|fields| fields.iter());
            let settings = settings.filter(|(key, _)| *key != "type").map(|(_, value)| value);
            let settings: Vec<String> = settings.map(ToString::to_string).collect();
            text.push(format_args!("    {kind} {}", settings.join(" ")));
        }
        if let Some((next, because)) = answer.next.as_ref().zip(answer.because) {
            text.push(format_args!("  before {}", line(next)));
            text.push(format_args!("    because {because}"));
        }
        for unknown in &answer.unknown {
            text.push(format_args!("  may be served by {}", line(&unknown.rule)));
            text.push(format_args!("    because {}", unknown.because));
        }
        if answer.effective.is_empty() {
            text.push("  no policy of the input is on its path");
        }
        for paths in &answer.effective {
            effective_part(&mut text, paths, width);
        }
        for withheld in &answer.withheld {
            text.blank();
            text.push(format_args!("{} is withheld", short(&withheld.policy)));
            on_clusters(&mut text, &withheld.clusters, false, width);
            for winner in &withheld.winners {
                let at = at_line(winner.place.as_ref());
                text.push(format_args!("    {} lives there{at}", short(&winner.policy)));
            }
        }
    }
    let answers = explanation.answers.iter();
    ties(&mut text, answers.flat_map(|answer| &answer.effective));
    text.into_text()
}

/// Says once why names decide, if they do.
fn ties<'e>(text: &mut Lines, paths: impl IntoIterator<Item = &'e ExplainedPaths>) {
    let mut losses = paths.into_iter().flat_map(|paths| &paths.overridden);
    if losses.any(LostSetting::is_decided_by_name) {
        text.blank();
        text.push(
            "On a new cluster, synced objects are created in the same second. Their creation times are equal there, so the \
             order of their names decides.",
        );
    }
}

fn policy_part(text: &mut Lines, policy: &PolicyPart, width: usize) {
    for condition in &policy.conditions {
        text.push(format_args!(
            "  {}={} ({}): {}",
            condition.kind, condition.status, condition.reason, condition.message
        ));
    }
    for target in &policy.targets {
        text.push(format_args!("  targets {}", short(target)));
    }
    let reach = &policy.reach;
    let parts = [
        (reach.clusters.len(), "cluster"),
        (reach.gateways.len(), "Gateway"),
        (reach.listeners.len(), "listener"),
        (reach.routes.len(), "route"),
        (reach.backends.len(), "backend"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, noun)| counted(count, noun)).collect();
    match parts.as_slice() {
        [] => text.push("  affects nothing"),
        parts => text.push(format_args!("  affects {}", parts.join(", "))),
    }
    for winner in &policy.overridden_by {
        let at = at_line(winner.place.as_ref());
        // Of several that live there, others may be in effect.
        let what = if winner.local {
            "lives on the cluster, so this one is withheld"
        } else {
            "is in effect instead"
        };
        text.push(format_args!("  {} {what}{at}", short(&winner.policy)));
    }
    for loser in &policy.overrides {
        let at = loser.place.as_ref().map(ToString::to_string).unwrap_or_default();
        text.push(format_args!("  overrides {}  {at}", short(&loser.policy)));
        on_clusters(text, &loser.clusters, false, width);
    }
    for (message, clusters) in said_on_clusters(&policy.on_clusters) {
        let room = width.saturating_sub(message.len()).max(MOST_NAMES);
        text.push(format_args!("  on {}: {message}", fitting_names(&clusters, room)));
    }
    if !policy.if_deleted.is_empty() {
        text.blank();
        text.push("If it were deleted");
        for change in &policy.if_deleted {
            change_part(text, change, width);
        }
    }
}

fn rule_part(text: &mut Lines, rule: &RuleOutcome, width: usize) {
    if rule.state == RuleState::Invalid {
        return text.push("  it cannot be evaluated");
    }
    let (subject, whose) = match &rule.each {
        Some(kind) => ("setting", format!(" of {kind}")),
        None => ("path", String::new()),
    };
    text.push(one_line(&format!("  demands: {}", rule.message), LONGEST_VALUE));
    text.push(format_args!(
        "  is about {}{whose} on {}: {} satisfied, {} violated",
        counted(rule.satisfied.saturating_add(rule.violated), subject),
        counted(rule.clusters.len(), "cluster"),
        rule.satisfied,
        rule.violated
    ));
    text.push(format_args!(
        "  does not match {}",
        counted(rule.not_matched, subject)
    ));
    if !rule.clusters.is_empty() {
        let names = fitting_names(&*rule.clusters, width.saturating_sub(12));
        text.push(format_args!("  clusters: {names}"));
    }
    violations(text, rule, "violated by", width);
}

/// A line for each violation of a rule.
fn violations(text: &mut Lines, rule: &RuleOutcome, verb: &str, width: usize) {
    for violation in &rule.violations {
        let accepted = if violation.accepted {
            ", which is accepted"
        } else {
            ""
        };
        let at = at_line(violation.place.as_ref());
        text.push(format_args!("  {verb} {}{accepted}{at}", violation.subject));
        on_clusters(text, &violation.clusters, false, width);
        if let Some(reason) = &violation.reason {
            text.push(format_args!("    {reason}"));
        }
    }
}

fn change_part(text: &mut Lines, change: &ChangeIfDeleted, width: usize) {
    labels(text, &change.labels);
    on_clusters(text, &change.clusters, change.everywhere, width);
    for setting in change.settings.iter() {
        let name = &setting.setting;
        let from = setting.new_from.iter();
        let from: String = from.map(|from| format!(" (from {})", short(from))).collect();
        let values = [&setting.old, &setting.new].map(|value| or_nothing(value.as_ref()));
        let line = format!("    {name}: {}{from}", values.join(" -> "));
        match (&setting.old, &setting.new) {
            _ if line.chars().count() <= width => text.push(line),
            (Some(old), Some(new)) => {
                text.push(format_args!("    {name}{from}"));
                for field in field_changes(old, new) {
                    text.push(format_args!("      {}", field_line(&field)));
                }
            }
            (None, Some(new)) => value_lines(text, "    ", &format!("{name}: added{from}"), new, width),
            // Its value is above.
            (_, None) => text.push(format_args!("    {name}: removed")),
        }
    }
}

fn effective_part(text: &mut Lines, paths: &ExplainedPaths, width: usize) {
    text.blank();
    text.push(format_args!("{} ({})", paths.kind, paths.group));
    labels(text, &paths.labels);
    on_clusters(text, &paths.clusters, paths.everywhere, width);
    for setting in &paths.settings {
        // Where policies add up, each is a setting of its own.
        let is_whole = setting.setting == setting.policy;
        let name = if is_whole {
            short(&setting.policy)
        } else {
            setting.setting.to_string()
        };
        value_lines(text, "    ", &name, &setting.value, width);
        let at = at_line(setting.place.as_ref());
        text.push(format_args!("      from {}{at}", short(&setting.policy)));
        for field in &setting.overlaid {
            let [hub, here] = [&field.hub, &field.here].map(|value| or_nothing(value.as_ref()));
            text.push(format_args!("      {}: {hub} -> {here}", field.path));
            let at = at_line(field.place.as_ref());
            text.push(format_args!("        by {}{at}", short(&field.overlay)));
        }
    }
    for refused in &paths.refused {
        let at = at_line(refused.place.as_ref());
        text.push(format_args!("    refused: {}{}", short(&refused.policy), at));
    }
    for loss in &paths.overridden {
        let by: Vec<String> = loss.by.iter().map(|by| short(by)).collect();
        let whose = short(&loss.policy);
        text.push(format_args!("    overridden: {} of {whose}", loss.setting));
        let win = one_or_many(by.len(), "wins", "win");
        text.push(format_args!("      {} {win}: {}", by.join(", "), loss.because));
    }
}

/// A value behind its name; if they do not fit into a line, the name above its fields, each in the same way.
fn value_lines(text: &mut Lines, indent: &str, name: &str, value: &Value, width: usize) {
    let fields: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.to_string(), value))
            .collect(),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(number, item)| (format!("[{number}]"), item))
                .collect()
        }
        _ => Vec::new(),
    };
    let line = format!("{indent}{name}  {value}");
    if fields.is_empty() || line.chars().count() <= width {
        return text.push(one_line(&line, LONGEST_VALUE));
    }
    // Below the name of a setting, a field that is alone is on the line of its parent.
    if let ([(field, value)], true) = (fields.as_slice(), indent.len() > 4) {
        let dot = if field.starts_with('[') { "" } else { "." };
        return value_lines(text, indent, &format!("{name}{dot}{field}"), value, width);
    }
    text.push(format_args!("{indent}{name}"));
    for (name, value) in fields {
        value_lines(text, &format!("{indent}  "), &name, value, width);
    }
}

/// The name of an object below a title that has its group.
fn short(locator: &str) -> String {
    Locators::default().short(locator)
}

/// Where a result applies, unless that is everywhere: on all clusters of its Gateway.
fn on_clusters(text: &mut Lines, clusters: &[impl AsRef<str>], everywhere: bool, width: usize) {
    if !clusters.is_empty() && !everywhere {
        let names = fitting_names(clusters, width.saturating_sub(7));
        text.push(format_args!("    on {names}"));
    }
}

/// The paths of one result, many of them cut short.
fn labels(text: &mut Lines, labels: &[String]) {
    let more = and_more(labels.len().saturating_sub(MOST_PATHS), "path");
    for label in labels.iter().take(MOST_PATHS).chain(&more) {
        text.push(format_args!("  {label}"));
    }
}

/// File and line behind a name.
fn at_line(place: Option<&SourceLine>) -> String {
    place.map_or_else(String::new, |place| format!("  {place}"))
}

/// One side of a change.
fn or_nothing(value: Option<&impl ToString>) -> String {
    value.map_or_else(|| "nothing".to_owned(), ToString::to_string)
}

/// So many clusters are named in one line; the rest is counted.
const MOST_CLUSTERS: usize = 3;

/// One line about what overlays change: `1 overlay changes 1 object on eu-2`; none if they change nothing.
#[must_use]
pub fn overlays_line(changes: &[OverlayChanges]) -> Option<String> {
    let (mut changing, mut objects, mut clusters) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for change in changes.iter().filter(|change| change.is_effective()) {
        changing.insert(&change.overlay);
        objects.insert(&change.object);
        clusters.extend(&change.clusters);
    }
    let verb = one_or_many(changing.len(), "changes", "change");
    let overlays = counted(changing.len(), "overlay");
    let objects = counted(objects.len(), "object");
    let clusters = first_names(clusters, MOST_CLUSTERS);
    (!changing.is_empty()).then(|| format!("{overlays} {verb} {objects} on {clusters}"))
}

/// What overlays change, below the title of an overlay or of an object.
fn overlay_lines(text: &mut Lines, changes: &[OverlayChanges], width: usize) {
    for change in changes {
        text.blank();
        let at = at_line(change.place.as_ref());
        let [overlay, object] = [&change.overlay, &change.object].map(|locator| short(locator));
        text.push(format_args!("{overlay} changes {object}{at}"));
        let clusters = fitting_names(&change.clusters, width.saturating_sub(5));
        text.push(format_args!("  on {clusters}"));
        for field in &change.fields {
            let [hub, here] = [&field.hub, &field.here].map(|value| or_nothing(value.as_ref()));
            let overrides = ", which a higher priority overrides";
            let overridden = if field.overridden { overrides } else { "" };
            text.push(format_args!("    {}: {hub} -> {here}{overridden}", field.path));
        }
    }
}

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
    for (message, clusters) in said_on_clusters(&policy.on_clusters) {
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

/// The messages of conditions, each with the clusters that have it.
fn said_on_clusters(on_clusters: &[OnCluster]) -> Vec<(String, Vec<&str>)> {
    let messages = on_clusters.iter().filter_map(|on_cluster| {
        let condition = on_cluster.condition()?;
        Some((on_cluster.cluster.as_ref(), condition.message.to_string()))
    });
    alike(messages)
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

/// A line for each kind, then one for each gap.
pub fn coverage_text(report: &CoverageReport) -> String {
    coverage_lines(report, usize::MAX)
}

/// The same for the summary of a job. Names and paths are those of a pull request, so nothing of it is markup.
pub fn coverage_markdown(report: &CoverageReport) -> String {
    format!(
        "### Routes with a policy in effect\n\n{}",
        fenced("text", &coverage_lines(report, MOST_GAPS))
    )
}

fn coverage_lines(report: &CoverageReport, most: usize) -> String {
    let mut text = Lines::default();
    if report.kinds.is_empty() {
        text.push("no policy about routes in the input");
        return text.into_text();
    }
    let kinds = report.kinds.iter().map(|kind| {
        let counts = [kind.routes, kind.covered, kind.open, kind.gaps];
        let [routes, covered, open, gaps] = counts.map(|count| count.to_string());
        [kind.kind.clone(), routes, covered, open, gaps]
    });
    let rows: Vec<[String; 5]> = std::iter::once(COVERAGE_HEADINGS.map(str::to_owned))
        .chain(kinds)
        .collect();
    let widths = widths(
        rows.iter()
            .map(|cells| cells.each_ref().map(|cell| cell.chars().count())),
    );
    for cells in rows {
        let cells = cells.iter().zip(widths).enumerate();
        // Names to the left, and numbers to the right.
        let cells = cells.map(|(column, (cell, width))| match column {
            0 => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        text.push(cells.collect::<Vec<_>>().join(GAP));
    }
    for gap in report.gaps.iter().take(most) {
        let place = gap.place.as_ref().map(|place| format!("  {place}"));
        let line = format!("{}{}", sentence(gap), place.unwrap_or_default());
        text.push(one_line(&line, LONGEST_VALUE));
    }
    if let Some(more) = and_more(report.gaps.len().saturating_sub(most), "gap") {
        text.push(more);
    }
    text.into_text()
}

/// `HTTPRoute shop/web has no AuthPolicy on us-1 (listener web of Gateway shop/storefront)`.
fn sentence(gap: &Gap) -> String {
    let [route, listener] = &gap.names;
    let clusters = match first_names(&*gap.clusters, 5) {
        clusters if clusters.is_empty() => clusters,
        clusters => format!(" on {clusters}"),
    };
    format!("{route} has no {}{clusters} ({listener})", gap.kind)
}
