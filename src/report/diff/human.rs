//! The form for a terminal: a table of clusters, then unified hunks, each change once.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::clusters::describe;
use super::compare::{Comparison, ObjectChange, Presence};
use super::hunks::{Tag, hunks};
use super::report::{Change, DiffReport};
use super::semantic::{effective, places};
use super::side::BothSides;
use crate::diagnostic::one_line;

/// The report as text; `colour` says whether with escapes for a terminal.
#[must_use]
pub fn human(report: &DiffReport, locate: &BothSides<'_>, colour: bool) -> String {
    let paint = Paint(colour);
    let mut text = String::new();
    let _ = writeln!(text, "{}", paint.with(Style::new().bold(), &report.headline()));
    if report.is_empty() {
        return text;
    }
    table(&mut text, &report.comparison);
    effective(&mut text, report);
    for change in &report.comparison.changes {
        object(&mut text, report, change, locate, paint);
    }
    text
}

/// Appends `clusters x {added, changed, removed}`.
pub(super) fn table(text: &mut String, comparison: &Comparison) {
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
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or_default()
        .max(TABLE_TITLE.len());
    let _ = writeln!(text, "\n{TABLE_TITLE:width$}  added  changed  removed");
    for (name, row) in names.iter().zip(&comparison.rows) {
        let counts = row.objects;
        let _ = writeln!(
            text,
            "{name:width$}  {:>5}  {:>7}  {:>7}",
            counts.added, counts.changed, counts.removed
        );
    }
}

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

fn object(
    text: &mut String,
    report: &DiffReport,
    change: &ObjectChange,
    locate: &BothSides<'_>,
    paint: Paint,
) {
    let title = format!(
        "{} {} on {}",
        change.change.as_str(),
        change.object,
        describe(&report.comparison.clusters, &change.clusters)
    );
    let _ = writeln!(
        text,
        "\n{}",
        paint.with(Style::new().bold(), &one_line(&title, usize::MAX))
    );
    let places = places(change, locate);
    if !places.is_empty() {
        let _ = writeln!(text, "from {}", places.join(", "));
    }
    let (old, new) = match change.change {
        Change::Added => ("nothing", report.titles.new.as_str()),
        Change::Changed => (report.titles.old.as_str(), report.titles.new.as_str()),
        Change::Removed => (report.titles.old.as_str(), "nothing"),
    };
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    let green = Style::new().fg_color(Some(AnsiColor::Green.into()));
    let cyan = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
    let _ = writeln!(
        text,
        "{}",
        paint.with(red, &format!("--- {}", one_line(old, usize::MAX)))
    );
    let _ = writeln!(
        text,
        "{}",
        paint.with(green, &format!("+++ {}", one_line(new, usize::MAX)))
    );
    for line in hunks(change.old.as_ref(), change.new.as_ref()) {
        let style = match line.tag {
            Tag::Header => cyan,
            Tag::Same => Style::new(),
            Tag::Removed => red,
            Tag::Added => green,
        };
        let _ = writeln!(text, "{}", paint.with(style, &line.text));
    }
}

/// Colours, or none.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        if self.0 && style != Style::new() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}
