//! The formats of text fields.
//!
//! Owns: enums, lengths and patterns, each as a rule in words and a check without a regular expression.
//! Flows in: text. Flows out: nothing, or the rule that it breaks and what to write instead.

use crate::api::ocm::parse_time;
use apimachinery::key_complaints;

/// A rule for the text of one field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    /// Any text.
    Any,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// Between so many characters, inclusive.
    Length(usize, usize),
    /// A key of labels, taints and conditions: an optional DNS prefix and a name, 316 characters at most.
    QualifiedName,
    /// A DNS label.
    DnsLabel,
    /// The reason of a condition.
    Reason,
    /// RFC 3339.
    Time,
    /// Base64.
    Base64,
    /// `1%` to `100%`, or a positive number.
    Percentage,
    /// A group's name: as a label value, two characters at least.
    GroupName,
    /// `30s`, `5m`, `1h`.
    Duration,
}

impl Format {
    /// Whether `text` follows the rule; if not, the rule (after `must ...`) and a help line.
    pub(super) fn check(self, text: &str) -> Result<(), (String, String)> {
        let refuse = |rule: &str, help: &str| Err((rule.to_owned(), help.to_owned()));
        let length = text.chars().count();
        match self {
            Self::Any => Ok(()),
            Self::OneOf(values) if values.contains(&text) => Ok(()),
            Self::OneOf(values) => {
                let list = values.join(", ");
                Err((
                    format!("is `{text}`, but must be one of {list}"),
                    format!("write one of {list}"),
                ))
            }
            Self::Length(least, _) if length < least => {
                refuse("must not be empty", "write a value or remove the field")
            }
            Self::Length(_, most) if length > most => Err((
                format!("has {length} characters, but at most {most} are allowed"),
                "shorten it".to_owned(),
            )),
            Self::Length(..) => Ok(()),
            Self::QualifiedName if length <= 316 && is_qualified_name(text) => Ok(()),
            Self::QualifiedName => {
                let complaint = key_complaints(text).into_iter().next().unwrap_or_default();
                Err((format!("is `{text}`, which is no qualified name"), complaint))
            }
            Self::DnsLabel if length <= 63 && is_dns_label(text) => Ok(()),
            Self::DnsLabel => refuse(
                "must be a DNS label",
                "use lower-case letters, digits and `-`, 63 at most",
            ),
            Self::Reason if length <= 1024 && is_reason(text) => Ok(()),
            Self::Reason => refuse(
                "must be a CamelCase reason",
                "use letters, digits, `_`, `,` and `:`, first a letter",
            ),
            Self::Time if parse_time(text).is_some() => Ok(()),
            Self::Time => refuse("must be a time", "write it as 2026-06-01T00:00:00Z"),
            Self::Base64 if is_base64(text) => Ok(()),
            Self::Base64 => refuse("must be base64", "encode it with `base64 -w0`"),
            Self::Percentage if is_percentage(text) => Ok(()),
            Self::Percentage => refuse(
                "must be a positive number or a percentage from 1% to 100%",
                "write `25%` or 10",
            ),
            Self::GroupName if is_group_name(text) => Ok(()),
            Self::GroupName => refuse(
                "must be a group name",
                "use 2 to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
            ),
            Self::Duration if is_duration(text) => Ok(()),
            Self::Duration => refuse(
                "must be a duration",
                "write a number and one of h, m, s, such as `1m`",
            ),
        }
    }
}

fn alphanumeric_ends(text: &str) -> bool {
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    ends(text.as_bytes().first()) && ends(text.as_bytes().last())
}

fn is_dns_label(text: &str) -> bool {
    alphanumeric_ends(text)
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// As the CRDs' pattern has it: unlike a label key, neither part has a length of its own.
fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    prefix.is_none_or(|prefix| prefix.split('.').all(is_dns_label)) && is_label_name(name)
}

fn is_label_name(text: &str) -> bool {
    alphanumeric_ends(text)
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn is_reason(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes
            .last()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b',' | b':'))
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len().saturating_sub(body.len()) <= 2
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'\n' | b'\r'))
}

fn is_percentage(text: &str) -> bool {
    let digits = text.strip_suffix('%').unwrap_or(text);
    let number =
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    number && (digits.len() == text.len() || digits.len() <= 2 || digits == "100")
}

fn is_group_name(text: &str) -> bool {
    (2..=63).contains(&text.len()) && is_label_name(text)
}

fn is_duration(text: &str) -> bool {
    text.strip_suffix(['h', 'm', 's'])
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(format: Format, texts: &[&str]) {
        for text in texts {
            assert!(format.check(text).is_ok(), "{format:?} {text:?}");
        }
    }

    fn refuses(format: Format, texts: &[&str]) {
        for text in texts {
            assert!(format.check(text).is_err(), "{format:?} {text:?}");
        }
    }

    #[test]
    fn percentages_run_from_one_to_a_hundred() {
        accepts(Format::Percentage, &["1%", "25%", "100%", "5", "1000"]);
        refuses(
            Format::Percentage,
            &["", "%", "0%", "101%", "1.5%", "0", "-1", "05%", "all", "1000%"],
        );
    }

    #[test]
    fn keys_are_qualified_names() {
        accepts(Format::QualifiedName, &["gpu", "a.b/c_d", "A"]);
        refuses(Format::QualifiedName, &["", "/x", "a/b/c", "A.b/c", "-x", "x y"]);
    }

    #[test]
    fn group_names_have_two_characters_at_least() {
        accepts(Format::GroupName, &["g1", "a-b"]);
        refuses(Format::GroupName, &["", "g", "-g", "g ", &"x".repeat(64)]);
    }

    #[test]
    fn lengths_count_characters_and_enums_are_exact() {
        accepts(Format::Length(1, 3), &["é", "éée"]);
        refuses(Format::Length(1, 3), &["", "éeée"]);
        accepts(Format::OneOf(&["A", "B"]), &["A"]);
        refuses(Format::OneOf(&["A", "B"]), &["a", ""]);
    }

    #[test]
    fn reasons_durations_and_base64_have_their_alphabets() {
        accepts(Format::Reason, &["Joined", "A:b_"]);
        refuses(Format::Reason, &["", "1a", "a b", "a,"]);
        accepts(Format::Duration, &["1m", "30s"]);
        refuses(Format::Duration, &["", "m", "1d", "1.5m"]);
        accepts(Format::Base64, &["", "YQ==", "YWJj"]);
        refuses(Format::Base64, &["a", "====", "a b c==="]);
    }
}
