//! Kubernetes label selectors, with Kubernetes' own complaints. [`LabelSelector`] is the shape that an author may
//! write, [`Selector`] the usable form. The labels may as well be claims.

use std::collections::BTreeMap;
use std::fmt;

use strum::{Display, EnumString};
use thiserror::Error;

use crate::names::{LABEL_MAX, SUBDOMAIN_MAX, SUBDOMAIN_TEXT, is_key_name, is_subdomain};
use crate::{Field, pointer};

/// A label selector as written. Invariant: nothing has been checked but the types.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelSelector {
    /// `matchLabels`: each entry is one In requirement.
    pub match_labels: BTreeMap<String, String>,
    /// `matchExpressions`, in their order.
    pub match_expressions: Vec<MatchExpression>,
}

/// One of `matchExpressions`, as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MatchExpression {
    /// The label's key.
    pub key: String,
    /// The operator, any text.
    pub operator: String,
    /// The values; empty when absent.
    pub values: Vec<String>,
}

impl LabelSelector {
    /// Reads `matchLabels` and `matchExpressions`; what has another type is left out (the schema refuses it).
    pub fn read(field: &Field<'_>) -> Self {
        let text = |field: &Field<'_>| field.str().unwrap_or_default().to_owned();
        let labels = field.get("matchLabels").entries();
        let expressions = field.get("matchExpressions").items();
        let expressions = expressions.map(|item| MatchExpression {
            key: text(&item.get("key")),
            operator: text(&item.get("operator")),
            values: item.get("values").items().map(|value| text(&value)).collect(),
        });
        Self {
            match_labels: labels
                .map(|(key, value)| (key.to_owned(), text(&value)))
                .collect(),
            match_expressions: expressions.collect(),
        }
    }

    /// Checks every requirement, as Kubernetes' `LabelSelectorAsSelector` does: `matchLabels` first, by key,
    /// then `matchExpressions`; the first one that is wrong decides the message.
    ///
    /// # Errors
    /// [`SelectorError`] with Kubernetes' own text.
    pub fn compile(&self) -> Result<Selector, SelectorError> {
        let mut requirements = Vec::new();
        for (key, value) in &self.match_labels {
            let origin = RequirementOrigin::MatchLabels(key.clone());
            let values = vec![value.clone()];
            requirements.push(Requirement::new(key, Operator::In, values, origin)?);
        }
        for (index, expression) in self.match_expressions.iter().enumerate() {
            let origin = RequirementOrigin::MatchExpressions(index);
            let written = &expression.operator;
            let Ok(operator) = written.parse() else {
                let message = format!("{} is not a valid label selector operator", go_quoted(written));
                return Err(SelectorError { message, origin });
            };
            let values = expression.values.clone();
            requirements.push(Requirement::new(&expression.key, operator, values, origin)?);
        }
        Ok(Selector { requirements })
    }
}

/// Why a label selector cannot be used. Displays exactly what Kubernetes would print.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SelectorError {
    /// Kubernetes' message.
    pub message: String,
    /// The requirement that is wrong.
    pub origin: RequirementOrigin,
}

/// Which part of a selector a requirement comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequirementOrigin {
    /// The entry of `matchLabels` with this key.
    MatchLabels(String),
    /// The element of `matchExpressions` at this index.
    MatchExpressions(usize),
}

impl RequirementOrigin {
    /// The JSON pointer inside the selector.
    pub fn pointer(&self) -> String {
        match self {
            Self::MatchLabels(key) => pointer::child("/matchLabels", key),
            Self::MatchExpressions(index) => format!("/matchExpressions/{index}"),
        }
    }
}

/// The four operators of Kubernetes' label selectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumString)]
pub enum Operator {
    /// The key is there and its value is one of the values.
    In,
    /// The key is missing, or its value is not one of the values.
    NotIn,
    /// The key is there.
    Exists,
    /// The key is missing.
    DoesNotExist,
}

/// A requirement that has been checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Requirement {
    /// The key.
    pub key: String,
    /// The operator.
    pub operator: Operator,
    /// Sorted, without repeats; empty for Exists and DoesNotExist only.
    pub values: Vec<String>,
    /// Where it was written.
    pub origin: RequirementOrigin,
}

impl Requirement {
    fn new(
        key: &str,
        operator: Operator,
        mut values: Vec<String>,
        origin: RequirementOrigin,
    ) -> Result<Self, SelectorError> {
        let mut problems = Vec::new();
        let complaints = key_complaints(key);
        if !complaints.is_empty() {
            problems.push(format!(
                "key: Invalid value: {}: {}",
                go_quoted(key),
                complaints.join("; ")
            ));
        }
        match operator {
            Operator::In | Operator::NotIn if values.is_empty() => problems.push(
                "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
                    .to_owned(),
            ),
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => problems.push(format!(
                "values: Invalid value: {}: values set must be empty for exists and does not exist",
                go_json(&values)
            )),
            _ => {}
        }
        for (index, value) in values.iter().enumerate() {
            let complaints = value_complaints(value);
            if !complaints.is_empty() {
                problems.push(format!(
                    "values[{index}][{key}]: Invalid value: {}: {}",
                    go_quoted(value),
                    complaints.join("; ")
                ));
            }
        }
        match aggregate(problems) {
            Some(message) => Err(SelectorError { message, origin }),
            None => {
                values.sort_unstable();
                values.dedup();
                Ok(Self {
                    key: key.to_owned(),
                    operator,
                    values,
                    origin,
                })
            }
        }
    }

    /// Whether the value of the requirement's key, `None` when the key is missing, meets it.
    pub fn accepts(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| {
            self.values
                .binary_search_by(|known| known.as_str().cmp(value))
                .is_ok()
        };
        match self.operator {
            Operator::In => value.is_some_and(listed),
            Operator::NotIn => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

impl fmt::Display for Requirement {
    /// `env In [dev, prod]`, `tier Exists`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.key, self.operator)?;
        if !self.values.is_empty() {
            write!(formatter, " [{}]", self.values.join(", "))?;
        }
        Ok(())
    }
}

/// A selector all of whose requirements have been checked. Without requirements it matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Selector {
    /// ANDed.
    pub requirements: Vec<Requirement>,
}

impl Selector {
    /// Reads and compiles a selector; `None` when an API server would refuse it.
    pub fn read(field: &Field<'_>) -> Option<Self> {
        LabelSelector::read(field).compile().ok()
    }

    /// The first requirement that the labels do not satisfy; `value_of` looks one up by its key.
    pub fn first_unmet<'l>(&self, value_of: impl Fn(&str) -> Option<&'l str>) -> Option<&Requirement> {
        self.requirements
            .iter()
            .find(|requirement| !requirement.accepts(value_of(&requirement.key)))
    }

    /// Whether the labels satisfy every requirement; `value_of` looks one up by its key.
    pub fn matches<'l>(&self, value_of: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.first_unmet(value_of).is_none()
    }
}

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
fn aggregate(mut problems: Vec<String>) -> Option<String> {
    let mut seen = std::collections::BTreeSet::new();
    problems.retain(|problem| seen.insert(problem.clone()));
    match problems.len() {
        0 => None,
        1 => problems.pop(),
        _ => Some(format!("[{}]", problems.join(", "))),
    }
}

/// A string as Go's `%q` prints it.
fn go_quoted(text: &str) -> String {
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
fn go_json(values: &[String]) -> String {
    serde_json::to_string(values)
        .unwrap_or_default()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn expression(key: &str, operator: &str, values: &[&str]) -> LabelSelector {
        LabelSelector {
            match_labels: BTreeMap::new(),
            match_expressions: vec![MatchExpression {
                key: key.to_owned(),
                operator: operator.to_owned(),
                values: values.iter().map(|value| (*value).to_owned()).collect(),
            }],
        }
    }

    fn matches(selector: &LabelSelector, entries: &[(&str, &str)]) -> bool {
        let labels = labels(entries);
        selector
            .compile()
            .is_ok_and(|selector| selector.matches(|key| labels.get(key).map(String::as_str)))
    }

    fn complaint(selector: &LabelSelector) -> String {
        selector
            .compile()
            .map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
    }

    #[test]
    fn an_empty_selector_matches_everything() {
        assert!(matches(&LabelSelector::default(), &[]));
        assert!(matches(&LabelSelector::default(), &[("a", "b")]));
    }

    #[test]
    fn not_in_and_does_not_exist_match_when_the_key_is_missing() {
        assert!(matches(&expression("env", "NotIn", &["prod"]), &[]));
        assert!(matches(&expression("env", "NotIn", &["prod"]), &[("env", "dev")]));
        assert!(!matches(
            &expression("env", "NotIn", &["prod"]),
            &[("env", "prod")]
        ));
        assert!(matches(&expression("env", "DoesNotExist", &[]), &[]));
        assert!(!matches(&expression("env", "DoesNotExist", &[]), &[("env", "")]));
    }

    #[test]
    fn in_and_exists_need_the_key() {
        assert!(!matches(&expression("env", "In", &["prod", ""]), &[]));
        assert!(matches(&expression("env", "In", &["prod", ""]), &[("env", "")]));
        assert!(matches(&expression("env", "Exists", &[]), &[("env", "")]));
        assert!(!matches(&expression("env", "Exists", &[]), &[]));
    }

    #[test]
    fn all_requirements_are_anded() {
        let mut selector = expression("tier", "Exists", &[]);
        selector.match_labels = labels(&[("env", "prod")]);
        assert!(matches(&selector, &[("env", "prod"), ("tier", "x")]));
        assert!(!matches(&selector, &[("env", "prod")]));
        assert!(!matches(&selector, &[("tier", "x")]));
    }

    #[test]
    fn operators_are_spelled_exactly() {
        assert_eq!(
            complaint(&expression("env", "Like", &["x"])),
            "\"Like\" is not a valid label selector operator"
        );
        assert_eq!(
            complaint(&expression("env", "in", &["x"])),
            "\"in\" is not a valid label selector operator"
        );
    }

    #[test]
    fn values_go_with_in_and_not_in_only() {
        assert_eq!(
            complaint(&expression("env", "In", &[])),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        );
        assert_eq!(
            complaint(&expression("env", "Exists", &["x"])),
            "values: Invalid value: [\"x\"]: values set must be empty for exists and does not exist"
        );
    }

    #[test]
    fn keys_are_qualified_names() {
        assert_eq!(
            complaint(&expression("example.com/env", "Exists", &[])),
            "accepted"
        );
        for key in [
            "",
            "/env",
            "a/b/c",
            "UPPER.com/env",
            "example.com/",
            "-env",
            "env-",
            "e nv",
            &"x".repeat(64),
        ] {
            assert!(
                complaint(&expression(key, "Exists", &[])).starts_with("key: Invalid value: "),
                "{key:?}"
            );
        }
        assert_eq!(
            complaint(&expression("/env", "Exists", &[])),
            "key: Invalid value: \"/env\": prefix part must be non-empty"
        );
    }

    #[test]
    fn several_problems_of_one_requirement_are_listed_in_brackets() {
        let text = complaint(&expression("env", "Exists", &["no good"]));
        assert!(
            text.starts_with("[values: Invalid value: [\"no good\"]: "),
            "{text}"
        );
        assert!(
            text.contains(", values[0][env]: Invalid value: \"no good\": a valid label"),
            "{text}"
        );
        assert!(text.ends_with(']'), "{text}");
    }

    #[test]
    fn a_wrong_requirement_knows_where_it_stands() {
        let mut selector = expression("env", "Like", &[]);
        selector.match_labels = labels(&[("a/b", "x")]);
        let origin = selector.compile().map_err(|error| error.origin.pointer());
        assert_eq!(origin.err().as_deref(), Some("/matchExpressions/0"));
        assert_eq!(
            RequirementOrigin::MatchLabels("a/b".to_owned()).pointer(),
            "/matchLabels/a~1b"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_selector_compiles_or_complains_and_never_panics(key in "\\PC{0,80}", operator in "\\PC{0,12}", value in "\\PC{0,80}") {
            let selector = expression(&key, &operator, &[&value]);
            let _ = selector.compile();
            let _ = expression(&key, "In", &[&value]).compile();
        }

        #[test]
        fn not_in_is_the_negation_of_in(label in "[a-c]{0,1}", value in "[a-c]{0,1}") {
            let entries = [("k", label.as_str())];
            let present = matches(&expression("k", "In", &[&value]), &entries);
            proptest::prop_assert_eq!(present, !matches(&expression("k", "NotIn", &[&value]), &entries));
        }
    }

    #[test]
    fn a_selector_is_read_from_a_field_and_a_requirement_is_shown_as_kubernetes_writes_it() {
        let root = kube_json::json!({"matchLabels": {"env": "dev"},
            "matchExpressions": [{"key": "tier", "operator": "Exists"}, {"key": "zone", "operator": "NotIn", "values": ["a", "b"]},
                {"key": "old", "operator": "DoesNotExist"}]});
        let selector = Selector::read(&Field::new(&root)).unwrap();
        let shown: Vec<String> = selector.requirements.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "env In [dev]",
                "tier Exists",
                "zone NotIn [a, b]",
                "old DoesNotExist"
            ]
        );
        let wrong = kube_json::json!({"matchExpressions": [{"key": "tier", "operator": "Like"}]});
        assert_eq!(Selector::read(&Field::new(&wrong)), None);
    }

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
