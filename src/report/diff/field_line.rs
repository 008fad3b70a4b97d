//! A field that differs, on one line.
//!
//! Owns: how a value is shown there, and where it is cut. Flows in: a [`FieldChange`]. Flows out: one printable line.
//! Must not know: terminals, or what the field belongs to.

use std::io;

use kube_json::Value;
use serde::Serialize as _;
use serde_json::ser::Formatter;

use super::fields::FieldChange;
use crate::diagnostic::one_line;

/// A value is cut here; the hunks of the other forms show all of it.
const LONGEST_VALUE: usize = 120;

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
