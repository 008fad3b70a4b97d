//! What the text of a scalar means: null, a boolean, a number or a string. The words and forms are those of
//! docs/systems/kubernetes.md#scalars.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use super::error::{Error, ErrorKind, Outcome};
use super::number::read_number;
use super::value::Scalar;

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
