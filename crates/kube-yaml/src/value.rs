//! A scalar, and its form in JSON: as a value, and as a key. A number goes through JSON and back, which makes `1.0` an
//! integer.

use std::borrow::Cow;
use std::ops::Range;

use kube_json::{Number, Text, Value};

use super::error::{Error, ErrorKind, Outcome};

/// What a scalar is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    Integer(i64),
    /// An integer above `i64::MAX`.
    Unsigned(u64),
    Float(f64),
    Text(Cow<'t, str>),
}

impl Scalar<'_> {
    /// The value in JSON.
    ///
    /// # Errors
    /// Infinity and NaN, which JSON has not.
    pub(super) fn into_value(self, range: &Range<usize>) -> Outcome<Value> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(bool),
            Self::Integer(integer) => Value::Number(integer.into()),
            Self::Unsigned(integer) => Value::Number(integer.into()),
            Self::Float(float) => float_value(float).ok_or_else(|| {
                Error::new(
                    ErrorKind::Value,
                    range.clone(),
                    "JSON, and so Kubernetes, has neither infinity nor NaN",
                    "quote it if it is text",
                )
            })?,
            Self::Text(text) => Value::String(text.into()),
        })
    }

    /// The text of the scalar as a key (docs/systems/kubernetes.md#keys); floats in 32-bit precision.
    ///
    /// # Errors
    /// null, and integers above i64, are no keys.
    pub(super) fn into_key(self, range: &Range<usize>) -> Outcome<Text> {
        let refuse = |message: &'static str| {
            Err(Error::new(
                ErrorKind::Key,
                range.clone(),
                message,
                "quote the key if it is text",
            ))
        };
        match self {
            Self::Null => refuse("a key cannot be null"),
            Self::Unsigned(_) => refuse("a key cannot be an integer above 9223372036854775807"),
            Self::Bool(bool) => Ok(Text::from(if bool { "true" } else { "false" })),
            Self::Integer(integer) => Ok(integer.to_string().into()),
            Self::Float(float) => Ok(float_key(float).into()),
            Self::Text(text) => Ok(text.into()),
        }
    }
}

/// A float as the hop through JSON leaves it: integral values below 1e21 are integers
/// (docs/systems/kubernetes.md#numbers-after-json).
pub(super) fn float_value(float: f64) -> Option<Value> {
    let is_integral = float.trunc() == float && float.abs() < 1e21;
    if is_integral && !(float == 0.0 && float.is_sign_negative()) {
        // JSON holds the shortest digits that give this float, and zeros: 2^60 is 1152921504606847000 there.
        let text = format!("{float}");
        if let Ok(integer) = text.parse::<i64>() {
            return Some(Value::Number(integer.into()));
        }
        if let Ok(integer) = text.parse::<u64>() {
            return Some(Value::Number(integer.into()));
        }
    }
    Number::from_f64(float).map(Value::Number)
}

/// A float as a key: the shortest digits that give its 32-bit neighbor, with an exponent below -4 and from 6
/// on.
#[allow(clippy::cast_possible_truncation)]
fn float_key(float: f64) -> String {
    let single = float as f32;
    if single.is_nan() {
        return ".nan".to_owned();
    }
    let sign = if single.is_sign_negative() { "-" } else { "" };
    if single.is_infinite() {
        return format!("{sign}.inf");
    }
    if single == 0.0 {
        return format!("{sign}0");
    }
    let (digits, exponent) = shortest_digits(single.abs());
    if (-4..6).contains(&exponent) {
        return format!("{sign}{}", plain_decimal(&digits, exponent));
    }
    let (first, rest) = digits.split_at_checked(1).unwrap_or(("0", ""));
    let point = if rest.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{sign}{first}{point}{rest}e{exponent_sign}{:02}",
        exponent.unsigned_abs()
    )
}

/// Digits without an exponent, the first of them at the place that `exponent` says.
fn plain_decimal(digits: &str, exponent: i32) -> String {
    let Ok(before_point) = usize::try_from(exponent.saturating_add(1)) else {
        return format!("0.{}{digits}", "0".repeat(leading_zeros(exponent)));
    };
    match digits.split_at_checked(before_point) {
        None | Some((_, "")) => format!("{digits:0<before_point$}"),
        Some(("", fraction)) => format!("0.{fraction}"),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
    }
}

/// The zeros between the point and the first digit.
fn leading_zeros(exponent: i32) -> usize {
    usize::try_from(exponent.unsigned_abs())
        .unwrap_or(usize::MAX)
        .saturating_sub(1)
}

/// The shortest digits of a positive float, and the exponent of its first one. Of two texts of that length that are
/// equally near, the one that ends in an even digit: Go's choice, not Rust's.
fn shortest_digits(float: f32) -> (String, i32) {
    let shortest = format!("{float:e}");
    let count = shortest
        .bytes()
        .take_while(|byte| *byte != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    let nearest = format!("{float:.*e}", count.saturating_sub(1));
    let text = if nearest.parse() == Ok(float) {
        nearest
    } else {
        shortest
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
    (digits, exponent.parse().unwrap_or(0))
}
