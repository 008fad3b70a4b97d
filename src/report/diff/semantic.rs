//! The short form: one line for each field that differs, `path: old -> new`.

use std::fmt::Write as _;
use std::io;

use anstyle::Style;
use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::Formatter;

use super::clusters::describe;
use super::compare::{ObjectChange, Which};
use super::effective_text::groups;
use super::fields::{FieldChange, field_changes};
use super::human::table;
use super::look::Look;
use super::report::{Change, DiffReport};
use super::side::BothSides;
use crate::diagnostic::{Locate as _, Part, one_line};

/// A value is cut here; the hunks of the other forms show all of it.
const LONGEST_VALUE: usize = 120;

/// The report as text.
#[must_use]
pub fn semantic(report: &DiffReport, locate: &BothSides<'_>, look: Look) -> String {
    let mut text = String::new();
    let plain = Style::new();
    look.line(&mut text, (0, 2), plain.bold(), &report.headline());
    if report.is_empty() {
        return text;
    }
    table(&mut text, &report.comparison, look);
    effective(&mut text, report, look);
    for change in &report.comparison.changes {
        let mark = match change.change {
            Change::Added => '+',
            Change::Changed => '~',
            Change::Removed => '-',
        };
        let mut title = format!(
            "{mark} {} on {}",
            change.object,
            describe(&report.comparison.clusters, &change.clusters)
        );
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

/// `path: old -> new`, `path: added value`, `path: removed value`.
pub(super) fn field_line(field: &FieldChange) -> String {
    let path = one_line(
        if field.path.is_empty() {
            "the whole"
        } else {
            &field.path
        },
        usize::MAX,
    );
    match (&field.old, &field.new) {
        (Some(Value::String(old)), Some(Value::String(new))) => {
            let (old, new) = from_the_difference(old, new);
            format!("{path}: {} -> {}", show(&old), show(&new))
        }
        (Some(old), Some(new)) => format!("{path}: {} -> {}", show(old), show(new)),
        (None, Some(new)) => format!("{path}: added {}", show(new)),
        (Some(old), None) => format!("{path}: removed {}", show(old)),
        (None, None) => path,
    }
}

/// Two texts, cut at the front where they would look the same once they are cut at the end.
fn from_the_difference(old: &str, new: &str) -> (Value, Value) {
    const LEAD: usize = 20;
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    if same < LONGEST_VALUE / 2 {
        return (Value::from(old), Value::from(new));
    }
    let cut = |text: &str| {
        let rest: String = text.chars().skip(same.saturating_sub(LEAD)).collect();
        Value::from(format!("...{rest}"))
    };
    (cut(old), cut(new))
}

/// A value on one line: scalars as YAML has them, anything else as JSON.
fn show(value: &Value) -> String {
    let text = match value {
        Value::String(text) => kube_yaml::scalar(text).into_owned(),
        other => spaced(other),
    };
    one_line(&text, LONGEST_VALUE)
}

/// JSON with blanks where a line may be broken.
fn spaced(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Spaced);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => value.to_string(),
    }
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
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
pub(super) fn effective(text: &mut String, report: &DiffReport, look: Look) {
    if report.effective_changes.is_empty() {
        return;
    }
    let plain = Style::new();
    text.push('\n');
    look.line(text, (0, 0), plain.bold(), "effective settings that change");
    for group in groups(report) {
        look.line(
            text,
            (2, 6),
            plain,
            &format!("{} on {}", group.title, group.clusters),
        );
        for path in &group.paths {
            look.line(text, (4, 8), plain, path);
        }
        for line in &group.lines {
            look.line(text, (6, 10), plain, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_from_where_they_differ() {
        let text = |end: &str| Some(Value::from(format!("{}{end}", "x".repeat(500))));
        let line = field_line(&FieldChange {
            path: "data.params".to_owned(),
            old: text("old"),
            new: text("new"),
        });
        assert!(line.contains("xold\" -> ") && line.ends_with("xnew\""), "{line}");
        assert!(line.len() < 120, "{line}");
    }
}
