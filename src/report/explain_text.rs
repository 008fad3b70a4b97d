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
    if let Some(policy) = &explanation.policy {
        policy_part(&mut text, policy, width);
    }
    if explanation.effective.is_empty() {
        let _ = writeln!(text, "\nNo policy of the input is on any path through it.");
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
    for on in &policy.on_clusters {
        let _ = writeln!(text, "  on {}: {}", on.cluster, on.condition.message);
    }
    if !policy.if_deleted.is_empty() {
        let _ = writeln!(text, "\nIf it were deleted");
        for change in &policy.if_deleted {
            change_part(text, change, width);
        }
    }
}

fn change_part(text: &mut String, change: &ChangePart, width: usize) {
    labels(text, &change.labels);
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

/// The paths of one result, many of them cut short.
fn labels(text: &mut String, labels: &[String]) {
    for label in labels.iter().take(MOST_PATHS) {
        let _ = writeln!(text, "  {label}");
    }
    if let Some(more) = and_more(labels.len().saturating_sub(MOST_PATHS), "path") {
        let _ = writeln!(text, "  {more}");
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
                fitting_names(&policy.clusters, width.saturating_sub(12))
            );
        }
        for on in &policy.on_clusters {
            let there = on.enforced.as_ref().or(on.programmed.as_ref());
            if let Some(condition) = there {
                let _ = writeln!(text, "  on {}: {}", on.cluster, condition.message);
            }
        }
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
    let path: Vec<&str> = entry.path.iter().map(|locator| short(locator)).collect();
    let _ = writeln!(text, "\n{} > {}", entry.kind, path.join(" > "));
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
