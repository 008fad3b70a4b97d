//! Why OCM's work agent would refuse a path, and what to write instead.
//!
//! Owns: the wording. Flows in: nothing. Flows out: [`PathError`]. Must not know: how a path is read.

/// Longer paths are refused: no status needs them, and parsers recurse.
pub(super) const PATH_MAX: usize = 2048;

/// Why the agent would refuse a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset}")]
pub struct PathError {
    /// First byte of what is wrong, in the text as given.
    pub offset: usize,
    /// The mistake.
    pub problem: PathProblem,
}

impl PathError {
    /// What to write instead.
    pub(crate) fn help(&self) -> String {
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

/// A mistake in a path.
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
    /// A bare word in the place of a filter's value.
    #[error("unrecognized identifier {0}")]
    Unquoted(String),
    /// A bracket, filter or quote without its end.
    #[error("unterminated {0}")]
    Unclosed(&'static str),
    /// A character that means nothing here.
    #[error("unrecognized character {0:?}")]
    Character(char),
    /// The text between brackets is not an index, slice, name, or union.
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
