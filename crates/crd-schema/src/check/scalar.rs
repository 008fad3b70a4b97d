//! Checks of strings, numbers, and enums.

use std::cmp::Ordering;

use apimachinery::{PatternError, Spent};
use kube_json::{Number, Value};

use crate::check::{Place, Walk, exceeds, falls_short, format_of, shorten};
use crate::compile::{Bound, Node, Pattern};
use crate::format::Format;
use crate::violation::{Path, ViolationKind, shown};

impl Walk<'_, '_> {
    #[inline(never)]
    fn pattern(&mut self, pattern: &Pattern, text: &str, path: &Path<'_>) {
        let mut accepts = |text: &str| pattern.accepts(text, self.allowance);
        match accepts(text) {
            Ok(Some(true)) | Err(Spent) => {}
            Ok(Some(false)) => {
                let help = near_text(text, |near| matches!(accepts(near), Ok(Some(true))));
                self.push_with_help(path, false, |field| {
                    let (text, pattern) = (quoted(text), pattern.as_str());
                    let message = format!("Invalid value: {text}: {field} in body should match '{pattern}'");
                    (message, help.map(|near| format!("write `{near}`")))
                });
            }
            Ok(None) => self.push_with_help(path, false, |field| {
                let message = format!(
                    "Invalid value: {}: it is not known whether {field} in body matches its pattern: {}",
                    quoted(text),
                    PatternError::TooLarge
                );
                let help = "make the pattern of the CustomResourceDefinition smaller";
                (message, Some(help.to_owned()))
            }),
        }
    }

    #[inline(never)]
    pub(super) fn string(&mut self, node: &Node, text: &str, path: &Path<'_>) {
        // Of the length and the pattern, only the first violation is reported, as on an API server. A text has no more
        // characters than bytes, and a fourth of them at least, so few texts are counted.
        let count = || text.chars().count();
        let is_too_long = |limit: &u64| exceeds(text.len(), *limit) && exceeds(count(), *limit);
        let is_too_short =
            |limit: &u64| falls_short(text.len().div_ceil(4), *limit) && falls_short(count(), *limit);
        if let Some(limit) = node.max_length.filter(is_too_long) {
            self.push(path, true, |_| {
                format!("Too long: may not be more than {limit} bytes")
            });
        } else if let Some(limit) = node.min_length.filter(is_too_short) {
            self.push(path, false, |field| {
                let text = quoted(text);
                format!("Invalid value: {text}: {field} in body should be at least {limit} chars long")
            });
        } else if let Some(pattern) = &node.pattern {
            self.pattern(pattern, text, path);
        }
        if let Some(format) = format_of(node)
            && !format.accepts(text)
        {
            // A format is a type to the API server.
            self.push(path, true, |field| {
                let (text, format): (String, &str) = (quoted(text), format.into());
                format!("Invalid value: {text}: {field} in body must be of type {format}: {text}")
            });
        }
    }

    pub(super) fn number(&mut self, node: &Node, number: &Number, path: &Path<'_>) {
        let range = match node.format {
            Some(Format::Int32) => Some((f64::from(i32::MIN)..=f64::from(i32::MAX), "integer", "int32")),
            Some(Format::Float) => Some((f64::from(f32::MIN)..=f64::from(f32::MAX), "number", "float")),
            _ => None,
        };
        let float = number.as_f64().unwrap_or(f64::NAN);
        if let Some((range, kind, format)) = range.filter(|(range, ..)| !range.contains(&float)) {
            self.push_with_help(path, false, |field| {
                let message = format!(
                    "Invalid value: \"\": Checked value must be of type {kind} with format {format} in {field}"
                );
                let (least, most) = range.into_inner();
                let help = format!("write a number of at least {least} and at most {most}");
                (message, Some(help))
            });
        }
        if let Some(bound) = &node.minimum
            && breaks(number, bound, Ordering::Less)
        {
            self.out_of_range((node, bound), number, "greater", path);
        }
        if let Some(bound) = &node.maximum
            && breaks(number, bound, Ordering::Greater)
        {
            self.out_of_range((node, bound), number, "less", path);
        }
        if let Some(step) = node.multiple_of
            && step > 0.0
        {
            let quotient = float / step;
            if (quotient - quotient.round()).abs() > 1e-9 {
                self.push(path, false, |field| {
                    format!("Invalid value: {number}: {field} in body should be a multiple of {step}")
                });
            }
        }
    }

    fn out_of_range(&mut self, (node, bound): (&Node, &Bound), number: &Number, side: &str, path: &Path<'_>) {
        self.push_with_help(path, false, |field| {
            let or_equal = if bound.exclusive { "" } else { " or equal to" };
            let limit = &bound.limit;
            let message =
                format!("Invalid value: {number}: {field} in body should be {side} than{or_equal} {limit}");
            (message, range_help(node))
        });
    }

    pub(super) fn allowed(&mut self, allowed: &[Value], value: &Value, path: &Path<'_>) {
        if allowed.iter().any(|choice| same(choice, value)) {
            return;
        }
        let choices: Vec<String> = allowed.iter().map(supported).collect();
        let message = format!(
            "Unsupported value: {}: supported values: {}",
            shorten(&shown(value)),
            choices.join(", ")
        );
        let kind = ViolationKind::NotSupported {
            value: value.clone(),
            supported: allowed.to_vec(),
        };
        self.add(Place::dotted(path), kind, true, message, None);
    }
}

/// One value of an enum: its text, or its JSON in quotes.
fn supported(choice: &Value) -> String {
    match choice {
        Value::String(text) => format!("{text:?}"),
        other => format!("{:?}", other.to_string()),
    }
}

/// Which numbers there may be.
fn range_help(node: &Node) -> Option<String> {
    let than = |bound: &Bound, side: &str, or_equal: &str| {
        let side = if bound.exclusive { side } else { or_equal };
        format!("{side} {}", bound.limit)
    };
    let (least, most) = (node.minimum.as_ref(), node.maximum.as_ref());
    let least = least.map(|bound| than(bound, "more than", "at least"));
    let most = most.map(|bound| than(bound, "less than", "at most"));
    let both: Vec<String> = least.into_iter().chain(most).collect();
    (!both.is_empty()).then(|| format!("write a number of {}", both.join(" and ")))
}

/// A text that is accepted and that a typo makes of this one: other letters' case, blanks, signs that are no letters,
/// or a unit of time written out.
fn near_text(text: &str, mut accepts: impl FnMut(&str) -> bool) -> Option<String> {
    let trimmed = text.trim();
    let lower = trimmed.to_ascii_lowercase();
    let is_foreign = |letter: char| !(letter.is_ascii_alphanumeric() || ".-*/".contains(letter));
    let dashed = lower.replace(is_foreign, "-");
    let candidates = [trimmed.to_owned(), lower.clone(), short_duration(&lower), dashed];
    let mut candidates = candidates.into_iter();
    candidates.find(|near| near != text && !near.is_empty() && accepts(near))
}

/// `10 seconds` as `10s`.
fn short_duration(text: &str) -> String {
    const UNITS: [(&str, &str); 4] = [
        ("millisecond", "ms"),
        ("second", "s"),
        ("minute", "m"),
        ("hour", "h"),
    ];
    let mut short: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    for (unit, sign) in UNITS {
        short = short.replace(&format!("{unit}s"), sign).replace(unit, sign);
    }
    short.replace("min", "m").replace("sec", "s")
}

fn breaks(number: &Number, bound: &Bound, side: Ordering) -> bool {
    match compare(number, &bound.limit) {
        Some(Ordering::Equal) => bound.exclusive,
        Some(order) => order == side,
        None => false,
    }
}

/// Integers exactly, everything else as floats.
fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Equality of JSON values, where `1` equals `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(Ordering::Equal),
        _ => a == b,
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", shorten(text))
}
