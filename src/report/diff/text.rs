//! The formats for people: `human` for a terminal (a table of clusters, then unified hunks, each change once), and
//! `semantic` (one line for each field that differs). Both share sections, and a [`Look`]: colors, indents, and wrapping.

use std::fmt::Write as _;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};

use super::compare::{Change, Comparison, Effect, ObjectChange};
use super::fields::{field_line, hunks};
use super::report::DiffReport;
use super::side::describe;
use super::summary::{arriving, remaining, remaining_groups, summary, told_at_once};
use crate::diagnostic::{not_a_command, one_line, wrapped_hanging};
use crate::outcome::Presence;

/// Where a text is shown: whether it may be colored, and how wide it may become.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether with escapes for a terminal.
    pub colour: bool,
    /// Columns of the terminal; none where nothing is wrapped, because a program may read it.
    pub width: Option<usize>,
}

impl Look {
    /// Appends one line, wrapped where it is too wide: `indent` blanks before its first line, `hang` before others.
    pub(super) fn line(self, text: &mut String, (indent, hang): (usize, usize), style: Style, line: &str) {
        let line = one_line(line, usize::MAX);
        let Some(width) = self.width else {
            self.put(text, indent, style, &line);
            return;
        };
        let lines = wrapped_hanging(&line, width.saturating_sub(indent), width.saturating_sub(hang));
        for (number, line) in lines.into_iter().enumerate() {
            self.put(text, if number == 0 { indent } else { hang }, style, line);
        }
    }

    /// Appends one printable line.
    pub(super) fn put(self, text: &mut String, indent: usize, style: Style, line: &str) {
        let mut line = not_a_command(line.to_owned());
        if self.colour && style != Style::new() {
            line = format!("{style}{line}{style:#}");
        }
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
}

/// The report as text: a table of clusters, then unified hunks, each change once.
pub fn human(report: &DiffReport, look: Look) -> String {
    with_changes(report, look, |text, change, clusters| {
        let plain = Style::new();
        let sentence = report.comparison.sentence(change, clusters);
        let title = format!("{} {sentence}", word(change));
        look.line(text, (0, 2), plain.bold(), &title);
        let places = places(change);
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
        // Text that a user applies or copies is never wrapped.
        for line in hunks(change.sides()) {
            let style = match line.chars().next() {
                Some('@') => cyan,
                Some('-') => red,
                Some('+') => green,
                _ => plain,
            };
            look.put(text, 0, style, &line);
        }
    })
}

/// What both formats begin with, then each change that is more than the arrival of clusters.
fn with_changes(
    report: &DiffReport,
    look: Look,
    append: impl Fn(&mut String, &ObjectChange, &[Arc<str>]),
) -> String {
    let mut text = String::new();
    look.line(&mut text, (0, 2), Style::new().bold(), &report.headline());
    if report.is_silent() {
        return text;
    }
    first(&mut text, report, look);
    table(&mut text, &report.comparison, look);
    effective(&mut text, report, look);
    let arriving = arriving(&report.comparison);
    for change in &report.comparison.changes {
        let clusters = remaining(change, &arriving);
        if !clusters.is_empty() {
            text.push('\n');
            append(&mut text, change, &clusters);
        }
    }
    text
}

/// The report as text: one line for each field that differs, `path: old -> new`.
pub fn semantic(report: &DiffReport, look: Look) -> String {
    with_changes(report, look, |text, change, clusters| {
        let mark = match (change.effect, change.change) {
            (Effect::Real, Change::Added) => '+',
            (Effect::Real, Change::Removed) => '-',
            // What another work has, or what stays, is there before and after.
            _ => '~',
        };
        let mut title = format!("{mark} {}", report.comparison.sentence(change, clusters));
        let places = places(change);
        if !places.is_empty() {
            let _ = write!(title, "  ({})", places.join(", "));
        }
        look.line(text, (0, 4), Style::new(), &title);
        for field in &change.fields {
            look.line(text, (4, 8), Style::new(), &field_line(field));
        }
    })
}

/// Appends `clusters x {added, changed, removed}`.
pub(super) fn table(text: &mut String, comparison: &Comparison, look: Look) {
    if comparison.rows.is_empty() {
        return;
    }
    let names = comparison.rows.iter().map(|row| {
        let names = one_line(&describe(&comparison.clusters, &row.names), usize::MAX);
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
        Presence::NotCompared => "not compared",
    }
}

/// The change of an object, in a word or two.
pub(super) fn word(change: &ObjectChange) -> &'static str {
    match change.effect {
        Effect::Real => change.change.into(),
        Effect::OtherWork => "kept",
        Effect::Orphaned => "left behind",
    }
}

/// The places of the hub objects that an object was made from, as `path:line`.
pub(super) fn places(change: &ObjectChange) -> Vec<String> {
    let places = change.places.iter();
    places
        .map(|place| format!("{}:{}", one_line(&place.path, usize::MAX), place.line))
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
    for (title, points) in summary(report) {
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
