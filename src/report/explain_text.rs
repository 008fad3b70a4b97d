//! `explain` and `policies` for people: trees that fit a terminal.
//!
//! Owns: the layout, and where long values and lists are cut. Flows in: an [`ObjectExplanation`] or a report, a
//! width. Flows out: text. Must not know: why a policy wins.

use std::fmt::Write as _;

use serde_json::Value;

use super::explain::{ChangePart, ExplainedPaths, ObjectExplanation, PolicyPart};
use super::policies::{EffectiveEntry, PolicyReport};
use super::render_report::SourceLine;
use crate::diagnostic::{and_more, counted, fitting_names, one_line};

/// Names of clusters take at least so many columns, however long what is said of them.
const MOST_NAMES: usize = 40;
/// At most so many paths with one result are listed, the rest is counted.
const MOST_PATHS: usize = 8;

/// An explanation as a tree of at most `width` columns where values allow it.
#[must_use]
pub fn explanation_text(explanation: &ObjectExplanation, width: usize) -> String {
    let mut text = String::new();
    let at = explanation
        .place
        .as_ref()
        .map(|place| format!("  {}", line_of(place)))
        .unwrap_or_default();
    let _ = writeln!(text, "{}{at}", explanation.title);
    if let Some(cluster) = &explanation.cluster {
        let _ = writeln!(text, "  as seen on cluster {cluster}");
    } else if !explanation.clusters.is_empty() {
        let _ = writeln!(
            text,
            "  clusters: {}",
            fitting_names(&explanation.clusters, width.saturating_sub(12))
        );
    }
    if let Some(clusters) = &explanation.shipped_to {
        let _ = writeln!(
            text,
            "  shipped to: {}",
            if clusters.is_empty() {
                "no cluster".to_owned()
            } else {
                fitting_names(clusters, width.saturating_sub(14))
            }
        );
    }
    if explanation.assumed {
        let _ = writeln!(
            text,
            "  not shipped: taken to be where its Gateway is, as others deliver it"
        );
    }
    if let Some(policy) = &explanation.policy {
        policy_part(&mut text, policy, width);
    }
    if explanation.effective.is_empty() {
        for policy in &explanation.attached {
            let at = policy.place.as_ref();
            let at = at.map_or_else(String::new, |place| format!("  {}", line_of(place)));
            let _ = writeln!(text, "  targeted by {}{at}", policy.title);
        }
        let attached = !explanation.attached.is_empty();
        let no_path = match (
            explanation.policy.is_some(),
            attached,
            explanation.clusters.is_empty(),
        ) {
            (true, ..) => "It is on no path.",
            (false, true, true) => "No path from a Gateway leads through it.",
            (false, true, false) => "Nothing of them holds on a path through it.",
            (false, false, _) => "No policy of the input is on any path through it.",
        };
        let _ = writeln!(text, "\n{no_path}");
    }
    for paths in &explanation.effective {
        effective_part(&mut text, paths, width);
    }
    text
}

fn policy_part(text: &mut String, policy: &PolicyPart, width: usize) {
    for condition in &policy.conditions {
        let _ = writeln!(
            text,
            "  {}={} ({}): {}",
            condition.kind, condition.status, condition.reason, condition.message
        );
    }
    for target in &policy.targets {
        let _ = writeln!(text, "  targets {target}");
    }
    let reach = &policy.reach;
    let parts = [
        (reach.clusters.len(), "cluster"),
        (reach.gateways.len(), "Gateway"),
        (reach.listeners.len(), "listener"),
        (reach.routes.len(), "route"),
        (reach.backends.len(), "backend"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    let parts = if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join(", ")
    };
    let _ = writeln!(text, "  reaches {parts}");
    for winner in &policy.overridden_by {
        let at = winner
            .place
            .as_ref()
            .map(|place| format!("  {}", line_of(place)))
            .unwrap_or_default();
        let why = if winner.local {
            ", because it lives on the cluster"
        } else {
            ""
        };
        let _ = writeln!(text, "  {} holds instead{why}{at}", winner.title);
    }
    let there = policy.on_clusters.iter();
    exceptions(
        text,
        there.map(|on| (on.cluster.as_str(), on.condition.message.as_str())),
        width,
    );
    if !policy.if_deleted.is_empty() {
        let _ = writeln!(text, "\nIf it were deleted");
        for change in &policy.if_deleted {
            change_part(text, change, width);
        }
    }
}

fn change_part(text: &mut String, change: &ChangePart, width: usize) {
    labels(text, &change.labels);
    if !change.everywhere {
        on_clusters(text, &change.clusters, width);
    }
    for setting in &change.changes {
        let value = |json: &Option<String>| {
            json.as_deref()
                .map_or("nothing".to_owned(), |json| cut(json, width / 3))
        };
        let from = setting
            .after_from
            .as_ref()
            .map(|from| format!(" (from {from})"))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "    {}: {} -> {}{from}",
            setting.setting,
            value(&setting.before),
            value(&setting.after)
        );
    }
}

fn effective_part(text: &mut String, paths: &ExplainedPaths, width: usize) {
    let _ = writeln!(text, "\n{} ({})", paths.kind, paths.group);
    labels(text, &paths.labels);
    if !paths.everywhere {
        on_clusters(text, &paths.clusters, width);
    }
    for setting in &paths.settings {
        let room = width
            .saturating_sub(6)
            .saturating_sub(setting.setting.chars().count());
        let _ = writeln!(
            text,
            "    {}  {}",
            setting.setting,
            value_text(&setting.value, room)
        );
        let at = setting
            .place
            .as_ref()
            .map(|place| format!("  {}", line_of(place)))
            .unwrap_or_default();
        let _ = writeln!(text, "      from {}{at}", setting.key);
    }
    for loss in &paths.overridden {
        let _ = writeln!(text, "    overridden: {} of {}", loss.setting, loss.key);
        let _ = writeln!(text, "      {} wins: {}", loss.by_keys.join(", "), loss.because);
    }
}

/// Where something holds that does not hold on all clusters of its Gateway.
fn on_clusters(text: &mut String, clusters: &[String], width: usize) {
    if !clusters.is_empty() {
        let _ = writeln!(
            text,
            "    on {}",
            fitting_names(clusters, width.saturating_sub(7))
        );
    }
}

/// The paths of one result, many of them cut short.
fn labels(text: &mut String, labels: &[String]) {
    for label in labels.iter().take(MOST_PATHS) {
        let _ = writeln!(text, "  {label}");
    }
    if let Some(more) = and_more(labels.len().saturating_sub(MOST_PATHS), "path") {
        let _ = writeln!(text, "  {more}");
    }
}

/// The clusters where a policy fares otherwise, those with one message together.
fn exceptions<'m>(text: &mut String, there: impl Iterator<Item = (&'m str, &'m str)>, width: usize) {
    let mut by_message: Vec<(&str, Vec<String>)> = Vec::new();
    for (cluster, message) in there {
        match by_message.iter_mut().find(|(known, _)| *known == message) {
            Some((_, clusters)) => clusters.push(cluster.to_owned()),
            None => by_message.push((message, vec![cluster.to_owned()])),
        }
    }
    for (message, clusters) in by_message {
        let room = width.saturating_sub(message.len()).max(MOST_NAMES);
        let _ = writeln!(text, "  on {}: {message}", fitting_names(&clusters, room));
    }
}

/// Every effective policy, and every policy's status.
#[must_use]
pub fn policies_text(report: &PolicyReport, width: usize) -> String {
    let mut text = String::new();
    for policy in &report.policies {
        let outcome = policy
            .enforced
            .as_ref()
            .or(policy.programmed.as_ref())
            .unwrap_or(&policy.accepted);
        let _ = writeln!(text, "{}", policy.policy);
        let _ = writeln!(
            text,
            "  {}={} ({}): {}",
            outcome.kind, outcome.status, outcome.reason, outcome.message
        );
        if !policy.clusters.is_empty() {
            let _ = writeln!(
                text,
                "  clusters: {}",
                fitting_names(policy.clusters.iter(), width.saturating_sub(12))
            );
        }
        let there = policy.on_clusters.iter();
        let there = there.filter_map(|on| Some((on.cluster.as_str(), on.condition()?.message.as_str())));
        exceptions(&mut text, there, width);
    }
    if report.policies.is_empty() {
        text.push_str("no policy in the input\n");
    }
    for entry in &report.effective {
        effective_entry(&mut text, entry, width);
    }
    for without in &report.without_paths {
        let _ = writeln!(
            text,
            "\n{} on {}: no {} in the input, so nothing is effective there",
            without.kind, without.gateway, without.ends
        );
    }
    text
}

fn effective_entry(text: &mut String, entry: &EffectiveEntry, width: usize) {
    let mut path: Vec<&str> = entry.path.iter().map(|locator| short(locator)).collect();
    if entry.any_route {
        path.push("any route that comes");
    }
    let _ = writeln!(text, "\n{} > {}", entry.kind, path.join(" > "));
    on_clusters(text, &entry.clusters, width);
    match (&entry.rules, &entry.rule_sources) {
        (Some(rules), Some(sources)) => {
            for (name, value) in rules {
                let room = width.saturating_sub(4).saturating_sub(name.chars().count());
                let _ = writeln!(text, "  {name}  {}", value_text(value, room));
                let _ = writeln!(
                    text,
                    "    from {}",
                    sources.get(name).map_or("", |source| short(source))
                );
            }
        }
        _ => {
            for (pointer, source) in &entry.sources {
                let value = entry
                    .spec
                    .as_ref()
                    .and_then(|spec| spec.pointer(pointer))
                    .unwrap_or(&Value::Null);
                let room = width.saturating_sub(4).saturating_sub(pointer.chars().count());
                let _ = writeln!(text, "  {pointer}  {}", value_text(value, room));
                let _ = writeln!(text, "    from {}", short(source));
            }
        }
    }
}

/// A locator without its kind: `infra/gw#http`.
fn short(locator: &str) -> &str {
    locator.split_once(':').map_or(locator, |(_, name)| name)
}

fn line_of(place: &SourceLine) -> String {
    format!("{}:{}", place.path, place.line)
}

/// A value on one line, cut when it does not fit.
fn value_text(value: &Value, room: usize) -> String {
    cut(&value.to_string(), room.max(20))
}

fn cut(text: &str, room: usize) -> String {
    let text = one_line(text, usize::MAX);
    if text.chars().count() <= room {
        return text;
    }
    let kept: String = text.chars().take(room.saturating_sub(3)).collect();
    format!("{kept}...")
}
