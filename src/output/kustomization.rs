//! The text of a `kustomization.yaml`.

use std::fmt::Write as _;

/// A kustomization that includes `resources` (files and directories beside it), each once, in byte order.
///
/// Canonical YAML (design section 9): lists are not indented below their key, and whatever a YAML 1.1 or 1.2
/// reader could take for something other than a string, such as a cluster named `on` or `1e3`, is quoted.
#[must_use]
pub fn kustomization<S: AsRef<str>>(resources: &[S]) -> String {
    let mut names = resources.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    names.sort_unstable();
    names.dedup();
    let mut text = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n".to_owned();
    if names.is_empty() {
        text.push_str("resources: []\n");
        return text;
    }
    text.push_str("resources:\n");
    for name in names {
        text.push_str("- ");
        push_scalar(&mut text, name);
        text.push('\n');
    }
    text
}

fn push_scalar(text: &mut String, name: &str) {
    if is_plain(name) {
        text.push_str(name);
        return;
    }
    text.push('"');
    for character in name.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            // Writing into a String cannot fail.
            other if other.is_control() => drop(write!(text, "\\u{:04X}", u32::from(other))),
            other => text.push(other),
        }
    }
    text.push('"');
}

/// Whether every reader takes this for the string that it is (spec yaml.md, section 6). Stricter than needed for
/// characters that no name of Kubernetes has.
fn is_plain(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphanumeric() || "_./".contains(first));
    starts_well
        && name.bytes().all(allowed)
        && !name.starts_with("...")
        && !is_word(name)
        && !is_like_a_number(name)
}

/// The words that a YAML 1.1 or 1.2 reader takes for a boolean or null, in any case.
fn is_word(name: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    const FLOATS: [&str; 4] = [".inf", ".nan", "inf", "nan"];
    WORDS
        .iter()
        .chain(&FLOATS)
        .any(|word| name.eq_ignore_ascii_case(word))
}

/// Whether a text starts like a number and has nothing but number-like characters: decimal, octal, hexadecimal,
/// binary, exponents, underscores, dates. Two dots make a version of it, which no reader mistakes.
fn is_like_a_number(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_digit())
        || name
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let hexadecimal = name
        .strip_prefix("0x")
        .or_else(|| name.strip_prefix("0X"))
        .is_some_and(|digits| {
            digits
                .bytes()
                .all(|digit| digit.is_ascii_hexdigit() || digit == b'_')
        });
    let number_like = |byte: u8| byte.is_ascii_digit() || b"._-eEoObBtTzZ".contains(&byte);
    hexadecimal || (starts && name.bytes().all(number_like) && name.matches('.').count() < 2)
}
