//! Feedback paths: client-go's JSONPath dialect, in which OCM's work agent reads status values.
//!
//! Owns: checking a path ([`FeedbackPath::parse`]), its translation to RFC 9535, and evaluating it for
//! previews. Flows in: paths from GatewayClass parameters and from our own feedback rules. Flows out: checked
//! paths, [`PathError`]s with an offset. Must not know: which object a path will be read from.
//!
//! The dialect (docs/systems/ocm-work.md#feedback): the agent wraps a path in `{...}`, missing keys are no
//! error, only the first result counts. Names escape with `\`; a quoted name in brackets is read like a
//! field, so its dots separate unless escaped; filters compare one path with one literal or path.

mod parse;
mod translate;

#[cfg(test)]
mod tests;

use std::fmt;

use jsonpath_rust::JsonPath as _;
use serde_json::Value;

/// Longer paths are refused: no status needs them, and parsers recurse.
pub const PATH_MAX: usize = 2048;

/// A path that OCM's work agent can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackPath {
    text: String,
    rfc9535: String,
}

impl FeedbackPath {
    /// Checks a path. Braces around the whole of it are taken off: OCM adds its own.
    ///
    /// ```
    /// use spokewright::api::feedback_path::FeedbackPath;
    ///
    /// let path = FeedbackPath::parse(r#".status.conditions[?(@.type=="Ready")].status"#).unwrap();
    /// assert_eq!(path.rfc9535(), r#"$['status']['conditions'][?@['type']=="Ready"]['status']"#);
    /// ```
    ///
    /// # Errors
    /// [`PathError`] with the offset of the first thing that the agent would refuse.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let steps = parse::parse(text)?;
        let (start, end) = parse::inside_braces(text);
        Ok(Self {
            text: text.get(start..end).unwrap_or_default().to_owned(),
            rfc9535: translate::rfc9535(&steps),
        })
    }

    /// The path as a feedback rule wants it: without braces.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same question in RFC 9535's notation.
    #[must_use]
    pub fn rfc9535(&self) -> &str {
        &self.rfc9535
    }

    /// The first result on an object, as the agent would read it; `None` when nothing is there.
    ///
    /// For previews: the agent's own answer also depends on types (docs/systems/ocm-work.md#feedback).
    #[must_use]
    pub fn first<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        object.query(&self.rfc9535).ok()?.into_iter().next()
    }
}

impl fmt::Display for FeedbackPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Why the agent would refuse a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset}")]
pub struct PathError {
    /// First byte of what is wrong, in the text as given.
    pub offset: usize,
    /// What is wrong.
    pub problem: PathProblem,
}

impl PathError {
    /// What to write instead.
    #[must_use]
    pub fn help(&self) -> String {
        match &self.problem {
            PathProblem::Empty => "write a path such as .status.phase".to_owned(),
            PathProblem::TooLong => format!("keep it below {PATH_MAX} bytes"),
            PathProblem::Range => {
                "only the first result counts: write .items[0].x, or [*] in place of the loop".to_owned()
            }
            PathProblem::Identifier(name) => format!("start with a dot: .{name}"),
            PathProblem::Unquoted(name) => format!("quote it: \"{name}\""),
            PathProblem::Unclosed(what) => format!("close {what}"),
            PathProblem::Character('&' | '|') => {
                "a filter compares once: && and || do not exist in this dialect".to_owned()
            }
            PathProblem::Character('{' | '}') => {
                "write the path without braces, as one expression".to_owned()
            }
            PathProblem::Character(_) => "remove it, or escape it with a backslash inside a name".to_owned(),
            PathProblem::Index(text) if text.starts_with('"') => {
                format!("use single quotes: ['{}']", text.trim_matches('"'))
            }
            PathProblem::Index(_) => {
                "write a number, start:end:step, *, or a name in single quotes".to_owned()
            }
            PathProblem::Operator(_) => "the operators are ==, !=, <, <=, >, >=".to_owned(),
            PathProblem::Step => "leave the step out, or make it 1 or more".to_owned(),
            PathProblem::Union => "escape dots in the names of a union: ['a\\.b','c']".to_owned(),
            PathProblem::TwiceRecursive => "one '..' is enough".to_owned(),
            PathProblem::NotAValue => "compare with a string, a number, true, false or a path".to_owned(),
        }
    }
}

/// What is wrong with a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// There is nothing in it.
    #[error("empty path")]
    Empty,
    /// It is longer than [`PATH_MAX`].
    #[error("path is too long")]
    TooLong,
    /// `range` or `end`: the agent reads one expression.
    #[error("range is not possible in a feedback path")]
    Range,
    /// A bare word where a path begins.
    #[error("unrecognized identifier {0}")]
    Identifier(String),
    /// A bare word where a filter's value stands.
    #[error("unrecognized identifier {0}")]
    Unquoted(String),
    /// A bracket, filter or quote without its end.
    #[error("unterminated {0}")]
    Unclosed(&'static str),
    /// A character that means nothing here.
    #[error("unrecognized character {0:?}")]
    Character(char),
    /// What stands between brackets is no index, slice, name or union.
    #[error("invalid array index {0}")]
    Index(String),
    /// A comparison that does not exist.
    #[error("unrecognized filter operator {0}")]
    Operator(String),
    /// A step below 1.
    #[error("step must be at least 1")]
    Step,
    /// A member of a union is more than one step.
    #[error("a union of whole paths")]
    Union,
    /// `....`.
    #[error("invalid multiple recursive descent")]
    TwiceRecursive,
    /// The right side of a comparison is neither a literal nor a path to one value.
    #[error("not a value to compare with")]
    NotAValue,
}
