//! The short format: one line for each field that differs, `path: old -> new`.
//!
//! Owns: this format. Flows in: a [`DiffReport`], a [`Look`]. Flows out: text. Must not know: terminals.

use std::fmt::Write as _;

use anstyle::Style;

use super::change::Change;
use super::compare::Effect;
use super::field_line::field_line;
use super::fields::field_changes;
use super::look::Look;
use super::report::DiffReport;
use super::sections::{effective, first, places, table};
use super::side::BothSides;
use super::summary::{arriving, remaining};

/// The report as text.
pub fn semantic(report: &DiffReport, locate: &BothSides<'_>, look: Look) -> String {
    let mut text = String::new();
    let plain = Style::new();
    look.line(&mut text, (0, 2), plain.bold(), &report.headline());
    if report.is_empty() {
        return text;
    }
    first(&mut text, report, look);
    table(&mut text, &report.comparison, look);
    effective(&mut text, report, look);
    let arriving = arriving(&report.comparison);
    for change in &report.comparison.changes {
        let mark = match (change.effect, change.change) {
            (Effect::Real, Change::Added) => '+',
            (Effect::Real, Change::Removed) => '-',
            // What another work has, or what stays, is there before and after.
            _ => '~',
        };
        let clusters = remaining(change, &arriving);
        if clusters.is_empty() {
            continue;
        }
        let mut title = format!("{mark} {}", report.comparison.sentence(change, &clusters));
        let places = places(change, locate);
        if !places.is_empty() {
            let _ = write!(title, "  ({})", places.join(", "));
        }
        text.push('\n');
        look.line(&mut text, (0, 4), plain, &title);
        if let (Some(old), Some(new)) = (&change.old, &change.new) {
            for field in field_changes(old, new) {
                look.line(&mut text, (4, 8), plain, &field_line(&field));
            }
        }
    }
    text
}
