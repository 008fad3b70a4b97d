//! A field that differs, on one line.
//!
//! Owns: how a value is shown there, and what of two that are alike is left out. Flows in: a [`FieldChange`]. Flows out: one printable line.
//! Must not know: terminals, or what the field belongs to.

use std::io;

use kube_json::Value;
use serde::Serialize as _;
use serde_json::ser::Formatter;

use super::fields::FieldChange;
use crate::diagnostic::one_line;

/// Where two texts are the same for more characters, only the nearest are shown.
const LONG: usize = 60;

/// So many of them.
const AROUND: usize = 20;

/// `path: old -> new`, `path: added value`, `path: removed value`.
pub(crate) fn field_line(field: &FieldChange) -> String {
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

/// Two texts from where they begin to differ to where they end to. All between is shown: a reader who sees one difference
/// does not look for another behind a cut.
fn from_the_difference(old: &str, new: &str) -> (Value, Value) {
    let lead = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let rest = old.chars().count().min(new.chars().count()).saturating_sub(lead);
    let tail = old.chars().rev().zip(new.chars().rev());
    let tail = tail.take(rest).take_while(|(a, b)| a == b).count();
    // As much of what is the same as tells where it is.
    let cut_off = |same: usize| {
        if same < LONG {
            0
        } else {
            same.saturating_sub(AROUND)
        }
    };
    let (lead, tail) = (cut_off(lead), cut_off(tail));
    let cut = |text: &str| {
        let dots = |cut: usize| if cut > 0 { "..." } else { "" };
        let shown = text.chars().count().saturating_sub(lead).saturating_sub(tail);
        let shown: String = text.chars().skip(lead).take(shown).collect();
        Value::from([dots(lead), &shown, dots(tail)].concat())
    };
    (cut(old), cut(new))
}

/// A value on one line: scalars as YAML has them, anything else as JSON.
fn show(value: &Value) -> String {
    let text = match value {
        Value::String(text) => kube_yaml::scalar(text).into_owned(),
        other => spaced(other),
    };
    one_line(&text, usize::MAX)
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

    fn line(old: &str, new: &str) -> String {
        field_line(&FieldChange {
            path: "data.params".to_owned(),
            old: Some(Value::from(old)),
            new: Some(Value::from(new)),
        })
    }

    #[test]
    fn long_texts_are_shown_from_where_they_differ_to_where_they_last_do() {
        let same = "x".repeat(500);
        let line = line(&format!("{same}old{same}"), &format!("{same}new{same}"));
        assert!(line.contains("xoldx") && line.contains("xnewx"), "{line}");
        assert!(line.len() < 180, "{line}");
    }

    #[test]
    fn no_difference_is_behind_a_cut_however_far_it_is_from_the_first_one() {
        let same = "x".repeat(500);
        let text = |first: &str, last: &str| format!("{same}{first}{same}{last}{same}");
        let line = line(&text("old", "deny"), &text("new", "allow"));
        assert!(line.contains("xdenyx") && line.contains("xallowx"), "{line}");
        let whole = |side: fn(Value) -> (Option<Value>, Option<Value>)| {
            let (old, new) = side(kube_json::json!({"a": vec!["x"; 500], "z": "allow"}));
            field_line(&FieldChange {
                path: "a".to_owned(),
                old,
                new,
            })
        };
        assert!(whole(|value| (None, Some(value))).contains("allow"));
        assert!(whole(|value| (Some(value), None)).contains("allow"));
        assert!(whole(|value| (Some(Value::from(1)), Some(value))).contains("allow"));
    }
}
