//! Scalars: whether a text is null, a boolean, a number or a string, and its form in JSON, as a value and as a key. The
//! words and forms are those of docs/systems/kubernetes.md#scalars. A number goes through JSON and back, which makes
//! `1.0` an integer.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use kube_json::{Number, Text, Value};

use crate::error::{Error, ErrorKind, Outcome};

/// What the tags of YAML's core make of a scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    None,
    Text,
    Null,
    Bool,
    Integer,
    Float,
    Timestamp,
    Binary,
    /// Any other tag makes a string.
    Unknown,
}

impl Tag {
    fn of(tag: Option<&str>) -> Self {
        let Some(tag) = tag else { return Self::None };
        match tag.strip_prefix("tag:yaml.org,2002:") {
            Some("str") => Self::Text,
            Some("null") => Self::Null,
            Some("bool") => Self::Bool,
            Some("int") => Self::Integer,
            Some("float") => Self::Float,
            Some("timestamp") => Self::Timestamp,
            Some("binary") => Self::Binary,
            _ => Self::Unknown,
        }
    }
}

/// Whether a key with this text merges: a plain `<<`, or one that says `!!merge`. A lone `!` in front makes it
/// plain, quoted or not: what go-yaml does.
pub(super) fn is_merge(text: &str, plain: bool, tag: Option<&str>) -> bool {
    text == "<<"
        && match tag {
            None => plain,
            Some(tag) => matches!(tag, "!" | "tag:yaml.org,2002:merge"),
        }
}

/// What a scalar of YAML is.
///
/// # Errors
/// A tag that the text contradicts.
pub(super) fn resolve<'t>(
    text: Cow<'t, str>,
    plain: bool,
    tag: Option<&str>,
    range: &Range<usize>,
) -> Outcome<Scalar<'t>> {
    let tag = Tag::of(tag);
    match tag {
        Tag::None if !plain => return Ok(Scalar::Text(text)),
        Tag::Text | Tag::Unknown => return Ok(Scalar::Text(text)),
        Tag::Binary => return decode_binary(&text, range).map(|text| Scalar::Text(Cow::Owned(text))),
        _ => {}
    }
    let scalar = read_plain(&text);
    let contradicts = |expected: &str| {
        Err(Error::new(
            ErrorKind::Value,
            range.clone(),
            format!("`{text}` does not match its tag ({expected})"),
            "remove the tag, or correct the value",
        ))
    };
    match (tag, scalar) {
        (Tag::None, Some(scalar))
        | (Tag::Null, Some(scalar @ Scalar::Null))
        | (Tag::Bool, Some(scalar @ Scalar::Bool(_)))
        | (Tag::Integer, Some(scalar @ (Scalar::Integer(_) | Scalar::Unsigned(_))))
        | (Tag::Float, Some(scalar @ Scalar::Float(_))) => Ok(scalar),
        // The same as in Go: an int becomes the nearest float64.
        #[allow(clippy::cast_precision_loss)]
        (Tag::Float, Some(Scalar::Integer(integer))) => Ok(Scalar::Float(integer as f64)),
        (Tag::None, None) => Ok(Scalar::Text(text)),
        (Tag::Timestamp, None) if is_timestamp(&text) => Ok(Scalar::Text(text)),
        (Tag::Null, _) => contradicts("null"),
        (Tag::Bool, _) => contradicts("boolean"),
        (Tag::Integer, _) => contradicts("integer"),
        (Tag::Float, _) => contradicts("float"),
        _ => contradicts("timestamp"),
    }
}

/// The meaning of a plain scalar, or `None` when it is a string (docs/systems/kubernetes.md#scalars).
pub(super) fn read_plain(text: &str) -> Option<Scalar<'static>> {
    match text.as_bytes().first() {
        None => Some(Scalar::Null),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => read_word(text),
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => read_number(text),
        Some(_) => None,
    }
}

fn read_word(text: &str) -> Option<Scalar<'static>> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Some(Scalar::Bool(true))
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(Scalar::Bool(false))
        }
        "~" | "null" | "Null" | "NULL" => Some(Scalar::Null),
        _ => None,
    }
}

/// `!!binary`: base64, padded, line breaks ignored; each byte that is no UTF-8 becomes U+FFFD.
fn decode_binary(text: &str, range: &Range<usize>) -> Outcome<String> {
    let bytes = base64(text.as_bytes()).ok_or_else(|| {
        Error::new(
            ErrorKind::Value,
            range.clone(),
            "the value of a `!!binary` tag is not base64",
            "write padded base64 without spaces",
        )
    })?;
    let mut decoded = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        decoded.push_str(chunk.valid());
        for _ in chunk.invalid() {
            decoded.push('\u{fffd}');
        }
    }
    Ok(decoded)
}

/// The bytes of padded base64; line breaks are ignored.
pub fn base64(text: &[u8]) -> Option<Vec<u8>> {
    // Go's reader does not look at the bits that are left over in the last digit.
    const LIKE_GO: GeneralPurposeConfig = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let digits = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r'));
    let digits: Vec<u8> = digits.collect();
    GeneralPurpose::new(&STANDARD, LIKE_GO).decode(digits).ok()
}

/// Whether the text is one of the four forms of a timestamp that the Go library reads.
fn is_timestamp(text: &str) -> bool {
    fn digits(text: &mut &str, least: usize, most: usize) -> Option<u32> {
        let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (head, tail) = text.split_at_checked(length)?;
        *text = tail;
        if length < least { None } else { head.parse().ok() }
    }
    fn byte(text: &mut &str, expected: &[u8]) -> Option<u8> {
        let first = *text.as_bytes().first()?;
        *text = text.get(1..)?;
        expected.contains(&first).then_some(first)
    }
    fn read(mut rest: &str) -> Option<()> {
        let rest = &mut rest;
        let year = digits(rest, 4, 4)?;
        byte(rest, b"-")?;
        let month = digits(rest, 1, 2)?;
        byte(rest, b"-")?;
        let day = digits(rest, 1, 2)?;
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        if day == 0 || day > days {
            return None;
        }
        if rest.is_empty() {
            return Some(());
        }
        let separator = byte(rest, b"Tt ")?;
        let hour = digits(rest, 1, 2)?;
        byte(rest, b":")?;
        let minute = digits(rest, 1, 2)?;
        byte(rest, b":")?;
        let second = digits(rest, 1, 2)?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        if rest.starts_with(['.', ',']) {
            *rest = rest.get(1..)?;
            digits(rest, 1, 9)?;
        }
        if separator != b' ' && byte(rest, b"Z+-")? != b'Z' {
            let hours = digits(rest, 2, 2)?;
            byte(rest, b":")?;
            let minutes = digits(rest, 2, 2)?;
            if hours > 24 || minutes > 60 {
                return None;
            }
        }
        rest.is_empty().then_some(())
    }
    read(text).is_some()
}

/// The number that a plain scalar says, if it says one; the caller has seen a digit, a sign or a dot in front.
pub(super) fn read_number(text: &str) -> Option<Scalar<'static>> {
    let bytes = text.as_bytes();
    if bytes.first() == Some(&b'.') {
        return read_leading_dot(text);
    }
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Some(Scalar::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return Some(Scalar::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    // Cheap refusal of what only starts like a number (`100m`, `10.0.0.1:80/24`).
    let last = bytes.last().copied().unwrap_or(0);
    if !(last.is_ascii_hexdigit() || matches!(last, b'_' | b'.')) {
        return None;
    }
    let plain: Cow<'_, str> = if text.contains('_') {
        text.replace('_', "").into()
    } else {
        text.into()
    };
    read_integer(&plain)
        .or_else(|| read_float(&plain))
        .or_else(|| read_inner_sign(&plain))
}

/// go-yaml hands what follows `0b` to Go's own parser, which takes a sign there: `0b-1` is -1.
fn read_inner_sign(text: &str) -> Option<Scalar<'static>> {
    let signed = text.strip_prefix("0b")?;
    if !signed.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(signed, 2).ok().map(Scalar::Integer)
}

/// A number that starts with a dot. Underscores must be between digits here.
fn read_leading_dot(text: &str) -> Option<Scalar<'static>> {
    match text {
        ".inf" | ".Inf" | ".INF" => return Some(Scalar::Float(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" => return Some(Scalar::Float(f64::NAN)),
        _ => {}
    }
    if !text.contains('_') {
        return read_float(text);
    }
    let bytes = text.as_bytes();
    let digit_at = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let in_place = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'_')
        .all(|(at, _)| digit_at(at.checked_sub(1)) && digit_at(at.checked_add(1)));
    if in_place {
        read_float(&text.replace('_', ""))
    } else {
        None
    }
}

/// An integer with an optional sign and prefix, within i64, or within u64 when it has no sign.
fn read_integer(text: &str) -> Option<Scalar<'static>> {
    let unsigned = text.strip_prefix(['+', '-']);
    let negative = text.starts_with('-');
    let digits = unsigned.unwrap_or(text);
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, digits.get(2..)?),
        [b'0', b'b' | b'B', _, ..] => (2, digits.get(2..)?),
        [b'0', b'o' | b'O', _, ..] => (8, digits.get(2..)?),
        [b'0', ..] => (8, digits.get(1..)?),
        [] => return None,
        _ => (10, digits),
    };
    let mut value = 0u64;
    for digit in digits.chars() {
        let digit = digit.to_digit(base)?;
        value = value
            .checked_mul(u64::from(base))?
            .checked_add(u64::from(digit))?;
    }
    if negative {
        return 0i64.checked_sub_unsigned(value).map(Scalar::Integer);
    }
    match i64::try_from(value) {
        Ok(value) => Some(Scalar::Integer(value)),
        Err(_) if unsigned.is_none() => Some(Scalar::Unsigned(value)),
        Err(_) => None,
    }
}

/// A decimal with an optional sign, dot and exponent; a string when it is not finite.
fn read_float(text: &str) -> Option<Scalar<'static>> {
    // The words that Rust reads are none here: infinity and NaN have a dot in front.
    let is_decimal = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let float = text.bytes().all(is_decimal).then(|| text.parse::<f64>())?;
    float.ok().filter(|float| float.is_finite()).map(Scalar::Float)
}

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
