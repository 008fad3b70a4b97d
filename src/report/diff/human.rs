//! The form for a terminal: a table of clusters, then unified hunks, each change once.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::clusters::describe;
use super::compare::{Comparison, ObjectChange, Presence};
use super::hunks::{Tag, hunks};
use super::look::Look;
use super::report::{Change, DiffReport};
use super::semantic::{effective, places};
use super::side::BothSides;
use crate::diagnostic::{one_line, wrapped_hanging};

/// The report as text.
#[must_use]
pub fn human(report: &DiffReport, locate: &BothSides<'_>, look: Look) -> String {
    let mut text = String::new();
    look.line(&mut text, (0, 2), Style::new().bold(), &report.headline());
    if report.is_empty() {
        return text;
    }
    table(&mut text, &report.comparison, look);
    effective(&mut text, report, look);
    for change in &report.comparison.changes {
        object(&mut text, report, change, locate, look);
    }
    text
}

/// Appends `clusters x {added, changed, removed}`.
pub(super) fn table(text: &mut String, comparison: &Comparison, look: Look) {
    if comparison.rows.is_empty() {
        return;
    }
    let names: Vec<String> = comparison
        .rows
        .iter()
        .map(|row| {
            let names = one_line(&describe(&comparison.clusters, &row.clusters), usize::MAX);
            match presence(row.presence) {
                "" => names,
                word => format!("{names} ({word})"),
            }
        })
        .collect();
    let room = look
        .width
        .map_or(usize::MAX, |width| width.saturating_sub(COUNTS.len()));
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or_default()
        .min(room)
        .max(TABLE_TITLE.len());
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
pub(super) const TABLE_TITLE: &str = "objects on each of";

/// What is said behind the names of clusters that come or go.
pub(super) const fn presence(presence: Presence) -> &'static str {
    match presence {
        Presence::Both => "",
        Presence::Joins => "new",
        Presence::Leaves => "gone",
    }
}

fn object(text: &mut String, report: &DiffReport, change: &ObjectChange, locate: &BothSides<'_>, look: Look) {
    let plain = Style::new();
    let title = format!(
        "{} {} on {}",
        change.change.as_str(),
        change.object,
        describe(&report.comparison.clusters, &change.clusters)
    );
    text.push('\n');
    look.line(text, (0, 2), plain.bold(), &title);
    let places = places(change, locate);
    if !places.is_empty() {
        look.line(text, (0, 5), plain, &format!("from {}", places.join(", ")));
    }
    let (old, new) = match change.change {
        Change::Added => ("nothing", report.titles.new.as_str()),
        Change::Changed => (report.titles.old.as_str(), report.titles.new.as_str()),
        Change::Removed => (report.titles.old.as_str(), "nothing"),
    };
    let red = plain.fg_color(Some(AnsiColor::Red.into()));
    let green = plain.fg_color(Some(AnsiColor::Green.into()));
    let cyan = plain.fg_color(Some(AnsiColor::Cyan.into()));
    look.put(text, 0, red, &format!("--- {}", one_line(old, usize::MAX)));
    look.put(text, 0, green, &format!("+++ {}", one_line(new, usize::MAX)));
    // What somebody applies or copies is never wrapped.
    for line in hunks(change.old.as_ref(), change.new.as_ref()) {
        let style = match line.tag {
            Tag::Header => cyan,
            Tag::Same => plain,
            Tag::Removed => red,
            Tag::Added => green,
        };
        look.put(text, 0, style, &line.text);
    }
}
