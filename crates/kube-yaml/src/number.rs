//! Numbers in YAML's text, as the Go library reads them. Prefixes, signs, underscores, and the boundary between numbers
//! and strings: docs/systems/kubernetes.md#scalars.

use std::borrow::Cow;

use super::value::Scalar;

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
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes
            .iter()
            .skip(from)
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(at);
    at += whole;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        fraction = digits(at);
        at += fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    if at != bytes.len() {
        return None;
    }
    text.parse::<f64>()
        .ok()
        .filter(|float| float.is_finite())
        .map(Scalar::Float)
}
