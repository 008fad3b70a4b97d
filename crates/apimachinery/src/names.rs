//! Kubernetes' rules for names, label keys and values, annotation keys. An [`InvalidName`] says which rule is broken,
//! how, and what to write instead.
//!
//! Every name that becomes a path component or part of another name passes through here first.

/// The longest RFC 1123 subdomain, in bytes.
pub const SUBDOMAIN_MAX: usize = 253;
/// The longest RFC 1123 or RFC 1035 label, label value, or name part of a key, in bytes.
pub const LABEL_MAX: usize = 63;
/// The most bytes that all keys and values of an object's annotations may have together.
pub const ANNOTATIONS_MAX: usize = 256 * 1024;

/// A rule that Kubernetes applies to some kind of name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameRule {
    /// Labels joined by dots, 253 bytes: the names of nearly every kind.
    Rfc1123Subdomain,
    /// Lower case letters, digits, hyphens, 63 bytes: Namespaces, and so clusters.
    Rfc1123Label,
    /// As an RFC 1123 label, but starting with a letter: Services.
    Rfc1035Label,
    /// Anything that may be between two slashes of a URL: RBAC kinds.
    PathSegment,
    /// `prefix/name`, where the prefix is an optional subdomain.
    LabelKey,
    /// Empty, or 63 bytes of letters, digits, `-`, `_`, `.`.
    LabelValue,
    /// As a label key, but upper case is allowed in the prefix.
    AnnotationKey,
}

impl NameRule {
    /// The rule for `metadata.name` of a kind.
    ///
    /// Custom resources follow [`NameRule::Rfc1123Subdomain`]. So do ManagedClusters, although a cluster can have no
    /// works if a Namespace cannot have its name: see [`check_cluster_name`].
    pub fn for_kind(group: &str, kind: &str) -> Self {
        match (group, kind) {
            ("", "Namespace") => Self::Rfc1123Label,
            ("", "Service") => Self::Rfc1035Label,
            ("rbac.authorization.k8s.io", _) => Self::PathSegment,
            _ => Self::Rfc1123Subdomain,
        }
    }

    /// Checks `text` against this rule.
    ///
    /// # Errors
    /// [`InvalidName`] with the first thing that is wrong.
    pub fn check(self, text: &str) -> Result<(), InvalidName> {
        let problem = match self {
            Self::Rfc1123Subdomain => subdomain_problem(text),
            Self::Rfc1123Label => label_problem(text, false),
            Self::Rfc1035Label => label_problem(text, true),
            Self::PathSegment => segment_problem(text),
            Self::LabelKey => key_problem(text),
            Self::LabelValue => value_problem(text),
            Self::AnnotationKey => key_problem(&text.to_ascii_lowercase()),
        };
        match problem {
            None => Ok(()),
            Some(problem) => Err(InvalidName {
                rule: self,
                problem,
                suggestion: self.suggest(text),
            }),
        }
    }

    /// The nearest text that obeys this rule, when repairing `text` is obvious enough.
    fn suggest(self, text: &str) -> Option<String> {
        let candidate = match self {
            Self::Rfc1123Subdomain => mend(text, &['.'], SUBDOMAIN_MAX),
            Self::Rfc1123Label | Self::Rfc1035Label => mend(text, &[], LABEL_MAX),
            Self::LabelValue => text
                .chars()
                .map(|letter| if is_key_character(letter) { letter } else { '-' })
                .take(LABEL_MAX)
                .collect::<String>()
                .trim_matches(|letter: char| !letter.is_ascii_alphanumeric())
                .to_owned(),
            Self::PathSegment | Self::LabelKey | Self::AnnotationKey => return None,
        };
        let useful = !candidate.is_empty() && candidate != text && self.check(&candidate).is_ok();
        useful.then_some(candidate)
    }
}

/// A name that Kubernetes would refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct InvalidName {
    /// The rule that is broken.
    pub rule: NameRule,
    /// How, like the API server's message, or close to it.
    pub problem: String,
    /// What to write instead, if a repair is obvious.
    pub suggestion: Option<String>,
}

/// The API server's own words, as OCM's observed answers quote them.
pub(crate) const SUBDOMAIN_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT: &str = "an RFC 1123 label has only lower case letters, digits and '-', and starts and ends with a letter or digit";
const LABEL_1035_TEXT: &str = "an RFC 1035 label has only lower case letters, digits and '-', starts with a letter and ends \
with a letter or digit";
const LABEL_VALUE_TEXT: &str =
    "a label value has only letters, digits, '-', '_' and '.', and starts and ends with a letter or digit";
const KEY_NAME_TEXT: &str =
    "name part has only letters, digits, '-', '_' and '.', and starts and ends with a letter or digit";

/// A namespace: an RFC 1123 label.
///
/// # Errors
/// [`InvalidName`]; `..`, `a/b` and everything else that could leave a directory is among what is refused.
pub fn check_namespace(name: &str) -> Result<(), InvalidName> {
    NameRule::Rfc1123Label.check(name)
}

/// The name of a cluster. OCM keeps a namespace of that name on the hub, so it obeys the same rule.
///
/// # Errors
/// [`InvalidName`].
pub fn check_cluster_name(name: &str) -> Result<(), InvalidName> {
    NameRule::Rfc1123Label.check(name)
}

/// What is wrong with a text of at most `limit` bytes.
fn problem(text: &str, limit: usize, is_right: bool, words: &str) -> Option<String> {
    if text.len() > limit {
        Some(format!("must be no more than {limit} bytes"))
    } else {
        (!is_right).then(|| {
            if text.is_empty() {
                "must not be empty"
            } else {
                words
            }
            .to_owned()
        })
    }
}

fn subdomain_problem(text: &str) -> Option<String> {
    problem(text, SUBDOMAIN_MAX, is_subdomain(text), SUBDOMAIN_TEXT)
}

fn label_problem(text: &str, letter_first: bool) -> Option<String> {
    let words = if letter_first { LABEL_1035_TEXT } else { LABEL_TEXT };
    problem(text, LABEL_MAX, is_label(text, letter_first), words)
}

fn segment_problem(text: &str) -> Option<String> {
    match text {
        "" => Some("must not be empty".to_owned()),
        "." | ".." => Some("may not be '.' or '..'".to_owned()),
        _ => {
            let found = ['/', '%'].into_iter().find(|character| text.contains(*character));
            found.map(|character| format!("may not contain {character:?}"))
        }
    }
}

fn key_problem(text: &str) -> Option<String> {
    let name = match text.split_once('/') {
        None => text,
        Some((_, name)) if name.contains('/') => {
            return Some("may contain one '/' at most, after a DNS subdomain prefix".to_owned());
        }
        Some(("", _)) => return Some("prefix part must be non-empty".to_owned()),
        Some((prefix, name)) => match subdomain_problem(prefix) {
            None => name,
            Some(problem) => return Some(format!("prefix part {problem}")),
        },
    };
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    problem(name, LABEL_MAX, is_key_name(name), KEY_NAME_TEXT)
}

fn value_problem(text: &str) -> Option<String> {
    problem(
        text,
        LABEL_MAX,
        text.is_empty() || is_key_name(text),
        LABEL_VALUE_TEXT,
    )
}

/// Lower case letters, digits and hyphens, the first and last of them no hyphen.
fn is_label(text: &str, letter_first: bool) -> bool {
    let lower_or_digit = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let first_fits = bytes.first().is_some_and(|first| {
        if letter_first {
            first.is_ascii_lowercase()
        } else {
            lower_or_digit(first)
        }
    });
    first_fits
        && bytes.last().is_some_and(lower_or_digit)
        && bytes.iter().all(|byte| lower_or_digit(byte) || *byte == b'-')
}

/// Labels joined by dots: at either end, and on both sides of a dot, is a letter or a digit.
pub(crate) fn is_subdomain(text: &str) -> bool {
    let lower_or_digit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut before = b'.';
    for byte in text.bytes() {
        let fits = match byte {
            b'-' => before != b'.',
            b'.' => lower_or_digit(before),
            other => lower_or_digit(other),
        };
        if !fits {
            return false;
        }
        before = byte;
    }
    lower_or_digit(before)
}

pub(crate) fn is_key_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| is_key_character(char::from(*byte)))
}

fn is_key_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Lower case, everything foreign to a hyphen, cut to `limit`, no hyphens or dots at either end of a label.
fn mend(text: &str, keep: &[char], limit: usize) -> String {
    let mended: String = text
        .chars()
        .map(|character| match character.to_ascii_lowercase() {
            lower if lower.is_ascii_lowercase() || lower.is_ascii_digit() || keep.contains(&lower) => lower,
            _ => '-',
        })
        .take(limit)
        .collect();
    let labels: Vec<&str> = mended
        .split('.')
        .map(|label| label.trim_matches('-'))
        .filter(|label| !label.is_empty())
        .collect();
    labels.join(".")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problem(rule: NameRule, text: &str) -> Option<String> {
        rule.check(text).err().map(|error| error.problem)
    }

    #[test]
    fn a_subdomain_is_dotted_labels_of_253_bytes() {
        for good in ["a", "0", "a.b", "example.com", "a-b.c0", &"a".repeat(253)] {
            assert_eq!(problem(NameRule::Rfc1123Subdomain, good), None, "{good}");
        }
        for bad in [
            "Not_Valid",
            "a.",
            ".a",
            "a..b",
            "-a",
            "a-",
            "a.-b",
            "ä",
            "a/b",
            "..",
            "a b",
            "a\n",
        ] {
            assert_eq!(
                problem(NameRule::Rfc1123Subdomain, bad),
                Some(SUBDOMAIN_TEXT.to_owned()),
                "{bad}"
            );
        }
        assert_eq!(
            problem(NameRule::Rfc1123Subdomain, ""),
            Some("must not be empty".to_owned())
        );
        let long = "a".repeat(254);
        assert_eq!(
            problem(NameRule::Rfc1123Subdomain, &long),
            Some("must be no more than 253 bytes".to_owned())
        );
    }

    #[test]
    fn a_namespace_is_a_label_of_63_bytes_without_dots() {
        assert!(check_namespace(&"a".repeat(63)).is_ok());
        assert!(check_namespace("1a").is_ok());
        for bad in [
            "a.b",
            "A",
            "a_b",
            "../../etc",
            "..",
            ".",
            "",
            "_hub",
            "a/b",
            &"a".repeat(64),
        ] {
            assert!(check_cluster_name(bad).is_err(), "{bad}");
            assert!(check_namespace(bad).is_err(), "{bad}");
            assert!(NameRule::for_kind("", "Namespace").check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        let said = |rule: NameRule, text: &str| rule.check(text).expect_err(text).to_string();
        for (rule, text, words) in [
            (NameRule::Rfc1123Label, "", "must not be empty"),
            (NameRule::PathSegment, "..", "may not be '.' or '..'"),
            (NameRule::PathSegment, "50%", "may not contain '%'"),
            (NameRule::LabelKey, "/a", "prefix part must be non-empty"),
            (NameRule::LabelKey, "a/", "name part must be non-empty"),
            (
                NameRule::LabelKey,
                "a/b/c",
                "may contain one '/' at most, after a DNS subdomain prefix",
            ),
        ] {
            assert_eq!(said(rule, text), words, "{text}");
        }
        let long = "a".repeat(300);
        assert_eq!(
            said(NameRule::Rfc1123Label, &long),
            "must be no more than 63 bytes"
        );
        assert_eq!(
            said(NameRule::LabelKey, &format!("{long}/a")),
            "prefix part must be no more than 253 bytes"
        );
        for (rule, begin) in [
            (
                NameRule::Rfc1123Subdomain,
                "a lowercase RFC 1123 subdomain must consist of",
            ),
            (NameRule::Rfc1123Label, "an RFC 1123 label has only"),
            (NameRule::Rfc1035Label, "an RFC 1035 label has only"),
            (NameRule::LabelValue, "a label value has only"),
            (NameRule::LabelKey, "name part has only"),
        ] {
            let said = said(rule, "-A b-");
            assert!(said.starts_with(begin), "{said}");
        }
    }

    #[test]
    fn a_service_starts_with_a_letter_and_an_rbac_name_is_a_path_segment() {
        assert!(NameRule::for_kind("", "Service").check("1a").is_err());
        assert!(NameRule::for_kind("", "Service").check("a1").is_ok());
        let rbac = NameRule::for_kind("rbac.authorization.k8s.io", "ClusterRole");
        assert!(
            rbac.check("open-cluster-management:klusterlet-work:gateway")
                .is_ok()
        );
        assert!(rbac.check("System:Node").is_ok());
        for bad in ["..", ".", "a/b", "50%", ""] {
            assert!(rbac.check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_have_an_optional_subdomain_prefix_and_a_name_of_63_bytes() {
        for good in [
            "app",
            "example.com/App_1.x",
            &format!("{}/{}", "a".repeat(253), "b".repeat(63)),
        ] {
            assert_eq!(problem(NameRule::LabelKey, good), None, "{good}");
        }
        let no_name = Some("name part must be non-empty".to_owned());
        assert_eq!(problem(NameRule::LabelKey, ""), no_name);
        assert_eq!(
            problem(NameRule::LabelKey, "Example.com/a"),
            Some(format!("prefix part {SUBDOMAIN_TEXT}"))
        );
        assert_eq!(problem(NameRule::AnnotationKey, "Example.com/a"), None);
        assert_eq!(
            problem(NameRule::LabelKey, "a/-b"),
            Some(KEY_NAME_TEXT.to_owned())
        );
    }

    #[test]
    fn a_label_value_may_be_empty() {
        for good in ["", "a", "MyValue", "1.2_3-4", &"a".repeat(63)] {
            assert_eq!(problem(NameRule::LabelValue, good), None, "{good}");
        }
        for bad in ["-a", "a-", "a b", "a/b", &"a".repeat(64)] {
            assert!(NameRule::LabelValue.check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_broken_name_gets_a_suggestion_that_is_valid() {
        let suggestion = |rule: NameRule, text| rule.check(text).err().and_then(|error| error.suggestion);
        assert_eq!(
            suggestion(NameRule::Rfc1123Subdomain, "Not_Valid").as_deref(),
            Some("not-valid")
        );
        assert_eq!(
            suggestion(NameRule::Rfc1123Label, "Prod.EU").as_deref(),
            Some("prod-eu")
        );
        assert_eq!(
            suggestion(NameRule::Rfc1123Label, "Node 7").as_deref(),
            Some("node-7")
        );
        assert_eq!(suggestion(NameRule::Rfc1123Label, "---"), None);
        assert_eq!(suggestion(NameRule::LabelValue, "a b").as_deref(), Some("a-b"));
        assert_eq!(suggestion(NameRule::LabelValue, " "), None);
    }

    proptest! {
        #[test]
        fn a_subdomain_is_labels_joined_by_dots(text in "[a-z0-9.A-]{0,8}|[a.-]{0,8}") {
            prop_assert_eq!(is_subdomain(&text), text.split('.').all(|label| is_label(label, false)));
        }
    }

    proptest! {
        #[test]
        fn a_valid_cluster_name_never_leaves_its_directory(name in "\\PC*") {
            if check_cluster_name(&name).is_ok() {
                prop_assert!(!name.contains(['/', '\\', '.', '\0']));
                prop_assert!(!name.is_empty() && !name.starts_with('_'));
            }
        }

        #[test]
        fn a_suggestion_always_obeys_its_rule(name in "\\PC*") {
            for rule in [NameRule::Rfc1123Subdomain, NameRule::Rfc1123Label, NameRule::Rfc1035Label,
                         NameRule::PathSegment, NameRule::LabelKey, NameRule::LabelValue] {
                if let Err(InvalidName { suggestion: Some(suggestion), .. }) = rule.check(&name) {
                    prop_assert!(rule.check(&suggestion).is_ok());
                }
            }
        }
    }
}
