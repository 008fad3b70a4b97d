//! The format for a terminal: a table of clusters, then unified hunks, each change once.
//!
//! Owns: this format. Flows in: a [`DiffReport`], a [`Look`]. Flows out: text. Must not know: terminals.

use anstyle::{AnsiColor, Style};

use super::change::Change;
use super::compare::ObjectChange;
use super::hunks::{Tag, hunks};
use super::look::Look;
use super::report::DiffReport;
use super::sections::{effective, first, places, table, word};
use super::side::BothSides;
use super::summary::{arriving, remaining};
use crate::diagnostic::one_line;

/// The report as text.
pub fn human(report: &DiffReport, locate: &BothSides<'_>, look: Look) -> String {
    let mut text = String::new();
    look.line(&mut text, (0, 2), Style::new().bold(), &report.headline());
    if report.is_empty() {
        return text;
    }
    first(&mut text, report, look);
    table(&mut text, &report.comparison, look);
    effective(&mut text, report, look);
    let arriving = arriving(&report.comparison);
    for change in &report.comparison.changes {
        let clusters = remaining(change, &arriving);
        if !clusters.is_empty() {
            object(&mut text, report, (change, &clusters), locate, look);
        }
    }
    text
}

fn object(
    text: &mut String,
    report: &DiffReport,
    (change, clusters): (&ObjectChange, &[u32]),
    locate: &BothSides<'_>,
    look: Look,
) {
    let plain = Style::new();
    let sentence = report.comparison.sentence(change, clusters);
    let title = format!("{} {sentence}", word(change));
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
    // Text that a user applies or copies is never wrapped.
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
