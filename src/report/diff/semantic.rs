//! The short form: one line for each field that differs, `path: old -> new`.

use std::fmt::Write as _;

use serde_json::Value;

use super::clusters::describe;
use super::compare::{ObjectChange, Which};
use super::fields::{FieldChange, field_changes};
use super::human::table;
use super::report::{Change, DiffReport};
use super::side::BothSides;
use crate::diagnostic::{Locate as _, Part, one_line};
use crate::yaml;

/// A value is cut here; the hunks of the other forms show all of it.
const LONGEST_VALUE: usize = 120;

/// The report as text.
#[must_use]
pub fn semantic(report: &DiffReport, locate: &BothSides<'_>) -> String {
    let mut text = format!("{}\n", report.headline());
    if report.is_empty() {
        return text;
    }
    table(&mut text, &report.comparison);
    effective(&mut text, report);
    for change in &report.comparison.changes {
        let mark = match change.change {
            Change::Added => '+',
            Change::Changed => '~',
            Change::Removed => '-',
        };
        let title = format!(
            "{} on {}",
            change.object,
            describe(&report.comparison.clusters, &change.clusters)
        );
        let _ = write!(text, "\n{mark} {}", one_line(&title, usize::MAX));
        let places = places(change, locate);
        if !places.is_empty() {
            let _ = write!(text, "  ({})", places.join(", "));
        }
        text.push('\n');
        if let (Some(old), Some(new)) = (&change.old, &change.new) {
            for field in field_changes(old, new) {
                let _ = writeln!(text, "    {}", field_line(&field));
            }
        }
    }
    text
}

/// `path: old -> new`, `path: added value`, `path: removed value`.
pub(super) fn field_line(field: &FieldChange) -> String {
    let path = one_line(
        if field.path.is_empty() {
            "(all)"
        } else {
            &field.path
        },
        usize::MAX,
    );
    match (&field.old, &field.new) {
        (Some(old), Some(new)) => format!("{path}: {} -> {}", show(old), show(new)),
        (None, Some(new)) => format!("{path}: added {}", show(new)),
        (Some(old), None) => format!("{path}: removed {}", show(old)),
        (None, None) => path,
    }
}

/// A value on one line: scalars as YAML has them, anything else as JSON.
fn show(value: &Value) -> String {
    let text = match value {
        Value::String(text) => yaml::scalar(text).into_owned(),
        other => other.to_string(),
    };
    one_line(&text, LONGEST_VALUE)
}

/// Where the hub objects stand that an object was made from, as `path:line`.
pub(super) fn places(change: &ObjectChange, locate: &BothSides<'_>) -> Vec<String> {
    change
        .origins
        .iter()
        .filter_map(|sided| {
            let place = sided.origin.place("", Part::Value);
            let place = match sided.side {
                Which::Old => locate.old_place(place),
                Which::New => place,
            };
            let span = locate.locate(&place)?;
            Some(format!("{}:{}", one_line(span.path, usize::MAX), span.line))
        })
        .collect()
}

/// Appends the policies whose effective settings change.
pub(super) fn effective(text: &mut String, report: &DiffReport) {
    if report.effective_changes.is_empty() {
        return;
    }
    text.push_str("\neffective settings that change\n");
    for change in &report.effective_changes {
        let title = format!("{} for {}", change.kind, change.path.join(" > "));
        let _ = writeln!(
            text,
            "  {} on {}",
            one_line(&title, usize::MAX),
            one_line(&change.clusters.join(", "), LONGEST_VALUE)
        );
        let null = Value::Null;
        let (old, new) = (
            change.old.as_ref().unwrap_or(&null),
            change.new.as_ref().unwrap_or(&null),
        );
        for field in field_changes(old, new) {
            let _ = writeln!(text, "      {}", field_line(&field));
        }
    }
}
