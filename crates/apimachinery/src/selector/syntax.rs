//! The syntax of label keys and values, and Kubernetes' messages about mistakes in them.

use crate::names::{LABEL_MAX, SUBDOMAIN_MAX, SUBDOMAIN_TEXT, is_key_name, is_subdomain};

const NAME_FORMAT: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// Kubernetes' complaints about a label key; none if it is valid.
pub fn key_complaints(key: &str) -> Vec<String> {
    const EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];
    const RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let mut complaints = Vec::new();
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => {
            return vec![format!(
                "a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                pattern_complaint(RULE, NAME_FORMAT, &EXAMPLES)
            )];
        }
        Some(("", name)) => {
            complaints.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            complaints.extend(
                subdomain_complaints(prefix)
                    .into_iter()
                    .map(|complaint| format!("prefix part {complaint}")),
            );
            name
        }
    };
    if name.is_empty() {
        complaints.push("name part must be non-empty".to_owned());
    } else if name.len() > LABEL_MAX {
        complaints.push(format!("name part {}", length_complaint(LABEL_MAX)));
    }
    if !is_key_name(name) {
        complaints.push(format!(
            "name part {}",
            pattern_complaint(RULE, NAME_FORMAT, &EXAMPLES)
        ));
    }
    complaints
}

/// Kubernetes' complaints about a label value; none if it is valid.
pub fn value_complaints(value: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if value.len() > LABEL_MAX {
        complaints.push(length_complaint(LABEL_MAX));
    }
    if !value.is_empty() && !is_key_name(value) {
        complaints.push(pattern_complaint(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            &format!("({NAME_FORMAT})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    complaints
}

fn subdomain_complaints(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > SUBDOMAIN_MAX {
        complaints.push(length_complaint(SUBDOMAIN_MAX));
    }
    if !is_subdomain(text) {
        complaints.push(SUBDOMAIN_TEXT.to_owned());
    }
    complaints
}

fn length_complaint(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

fn pattern_complaint(rule: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!(
        "{rule} (e.g. {}regex used for validation is '{pattern}')",
        examples.join(" or ")
    )
}

/// One problem is its own message; several are `[a, b]`, each once.
pub(super) fn aggregate(mut problems: Vec<String>) -> Option<String> {
    let mut seen = std::collections::BTreeSet::new();
    problems.retain(|problem| seen.insert(problem.clone()));
    match problems.len() {
        0 => None,
        1 => problems.pop(),
        _ => Some(format!("[{}]", problems.join(", "))),
    }
}

/// A string as Go's `%q` prints it.
pub(super) fn go_quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut quoted = String::with_capacity(text.len().saturating_add(2));
    quoted.push('"');
    for character in text.chars() {
        let _ = match character {
            '"' => quoted.write_str("\\\""),
            '\\' => quoted.write_str("\\\\"),
            '\u{7}' => quoted.write_str("\\a"),
            '\u{8}' => quoted.write_str("\\b"),
            '\u{c}' => quoted.write_str("\\f"),
            '\n' => quoted.write_str("\\n"),
            '\r' => quoted.write_str("\\r"),
            '\t' => quoted.write_str("\\t"),
            '\u{b}' => quoted.write_str("\\v"),
            control if u32::from(control) < 0x80 && control.is_control() => {
                write!(quoted, "\\x{:02x}", u32::from(control))
            }
            other if other.is_control() => write!(quoted, "\\u{:04x}", u32::from(other)),
            other => quoted.write_char(other),
        };
    }
    quoted.push('"');
    quoted
}

/// A list of strings as Go's JSON encoder prints it, `<`, `>` and `&` escaped.
pub(super) fn go_json(values: &[String]) -> String {
    serde_json::to_string(values)
        .unwrap_or_default()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_as_go_does() {
        assert_eq!(go_quoted("a\"\\\n\u{1}é"), "\"a\\\"\\\\\\n\\x01é\"");
        assert_eq!(go_json(&["<&>".to_owned()]), "[\"\\u003c\\u0026\\u003e\"]");
    }

    #[test]
    fn lengths_are_complained_about_beyond_their_limit_and_not_at_it() {
        let text = |length: usize| "a".repeat(length);
        let too_long = |limit: usize| format!("must be no more than {limit} bytes");
        assert!(value_complaints(&text(63)).is_empty());
        assert!(key_complaints(&text(63)).is_empty());
        assert!(key_complaints(&format!("{}/a", text(253))).is_empty());
        for more in [1, 2] {
            assert_eq!(value_complaints(&text(63 + more)), [too_long(63)]);
            let name = format!("name part {}", too_long(63));
            assert_eq!(key_complaints(&text(63 + more)), [name]);
            let prefix = format!("prefix part {}", too_long(253));
            assert_eq!(key_complaints(&format!("{}/a", text(253 + more))), [prefix]);
        }
    }

    #[test]
    fn a_prefix_is_a_subdomain_and_a_key_has_one_slash_at_most() {
        for prefix in ["a", "a-b.c1", "1.2"] {
            assert!(key_complaints(&format!("{prefix}/x")).is_empty(), "{prefix}");
        }
        for prefix in ["-a.io", "a-.io", "a..b", ".a", "A.io", "a_b", "a.b-"] {
            let complaints = key_complaints(&format!("{prefix}/x"));
            assert!(
                complaints[0].starts_with("prefix part a lowercase RFC 1123"),
                "{prefix}: {complaints:?}"
            );
        }
        let complaints = key_complaints("a/b/c");
        assert!(
            complaints[0].starts_with("a qualified name must"),
            "{complaints:?}"
        );
    }

    #[test]
    fn control_characters_are_quoted_as_go_does() {
        assert_eq!(
            go_quoted("\u{1}\u{7f}\u{80}\u{85}\u{e9}"),
            "\"\\x01\\x7f\\u0080\\u0085\u{e9}\""
        );
    }
}
