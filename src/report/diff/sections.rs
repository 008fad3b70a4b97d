//! Sections that several formats for people share: the table of clusters, effective settings, the source of an object.
//!
//! Owns: these sections. Flows in: a report, a [`Look`]. Flows out: text. Must not know: how the changed objects
//! themselves are shown; each format does that in its own way.

use std::fmt::Write as _;

use anstyle::Style;

use super::clusters::describe;
use super::compare::{Comparison, Effect, ObjectChange, Presence};
use super::look::Look;
use super::report::DiffReport;
use super::side::BothSides;
use super::summary::{remaining_groups, summary, told_at_once};
use crate::diagnostic::{one_line, wrapped_hanging};

/// Appends `clusters x {added, changed, removed}`.
pub(super) fn table(text: &mut String, comparison: &Comparison, look: Look) {
    if comparison.rows.is_empty() {
        return;
    }
    let names = comparison.rows.iter().map(|row| {
        let names = one_line(&describe(&comparison.clusters, &row.clusters), usize::MAX);
        match presence(row.presence) {
            "" => names,
            word => format!("{names} ({word})"),
        }
    });
    let names: Vec<String> = names.collect();
    let room = look.width.map(|width| width.saturating_sub(COUNTS.len()));
    let widest = names.iter().map(|name| name.chars().count()).max();
    let width = widest.unwrap_or_default().min(room.unwrap_or(usize::MAX));
    let width = width.max(TABLE_TITLE.len());
    let _ = writeln!(text, "\n{TABLE_TITLE:width$}{COUNTS}");
    for (name, row) in names.iter().zip(&comparison.rows) {
        let counts = row.objects;
        let mut lines = wrapped_hanging(name, width, width.saturating_sub(2)).into_iter();
        let _ = writeln!(
            text,
            "{:width$}  {:>5}  {:>7}  {:>7}",
            lines.next().unwrap_or_default(),
            counts.added,
            counts.changed,
            counts.removed
        );
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }
}

/// The heads of the other columns.
const COUNTS: &str = "  added  changed  removed";

/// The head of the first column: the numbers are those of one cluster.
const TABLE_TITLE: &str = "objects on each of";

/// The text after the names of clusters that join or leave.
pub(super) const fn presence(presence: Presence) -> &'static str {
    match presence {
        Presence::Both => "",
        Presence::Joins => "new",
        Presence::Leaves => "gone",
    }
}

/// The change of an object, in a word or two.
pub(super) const fn word(change: &ObjectChange) -> &'static str {
    match change.effect {
        Effect::Real => change.change.as_str(),
        Effect::OtherWork => "kept",
        Effect::Orphaned => "left behind",
    }
}

/// The places of the hub objects that an object was made from, as `path:line`.
pub(super) fn places(change: &ObjectChange, locate: &BothSides<'_>) -> Vec<String> {
    let spans = change.origins.iter().filter_map(|sided| locate.origin(sided));
    spans
        .map(|span| format!("{}:{}", one_line(span.path, usize::MAX), span.line))
        .collect()
}

/// Appends what a change does beyond its budget, then what is lost and what is new.
pub(super) fn first(text: &mut String, report: &DiffReport, look: Look) {
    let plain = Style::new();
    for exceeded in &report.exceeded {
        let allowed = if exceeded.allowed { " (allowed)" } else { "" };
        let line = format!("over budget: {}{allowed}", exceeded.sentence());
        look.line(text, (0, 2), plain.bold(), &line);
    }
    let summary = summary(report);
    for (title, points) in summary.parts() {
        text.push('\n');
        look.line(text, (0, 2), plain.bold(), &title.to_lowercase());
        for point in points {
            look.line(text, (2, 6), plain, &point.as_text());
            for line in &point.below {
                look.line(text, (6, 10), plain, line);
            }
        }
    }
}

/// Appends the policies whose effective settings change.
pub(super) fn effective(text: &mut String, report: &DiffReport, look: Look) {
    let groups = remaining_groups(report, &told_at_once(&report.comparison));
    if groups.is_empty() {
        return;
    }
    let plain = Style::new();
    text.push('\n');
    look.line(text, (0, 0), plain.bold(), "effective settings that change");
    for group in groups {
        let title = format!("{} on {}", group.title, group.clusters);
        look.line(text, (2, 6), plain, &title);
        for path in &group.paths {
            look.line(text, (4, 8), plain, path);
        }
        for line in &group.lines {
            look.line(text, (6, 10), plain, line);
        }
    }
}
