//! Feedback paths: client-go's JSONPath dialect, in which OCM's work agent reads status values.
//!
//! Owns: checking a path ([`FeedbackPath::parse`]), and its translation to RFC 9535. Flows in: paths from GatewayClass
//! parameters and from our own feedback rules. Flows out: checked paths, [`PathError`]s with an offset. Must not know:
//! which object a path will be read from: nothing here evaluates one; tests do, with a library, to check the translation.
//!
//! The dialect (docs/systems/ocm-work.md#feedback): the agent wraps a path in `{...}`, missing keys are no
//! error, only the first result counts. Names escape with `\`; a quoted name in brackets is read like a
//! field, so its dots separate unless escaped; filters compare one path with one literal or path.

mod parse;
mod problem;
mod translate;

#[cfg(test)]
mod tests;

pub(crate) use problem::PathError;

use std::fmt;

/// A path that OCM's work agent can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FeedbackPath {
    text: String,
    rfc9535: String,
}

impl FeedbackPath {
    /// Checks a path. Braces around the whole of it are taken off: OCM adds its own.
    ///
    /// # Errors
    /// [`PathError`] with the offset of the first thing that the agent would refuse.
    pub(crate) fn parse(text: &str) -> Result<Self, PathError> {
        let steps = parse::parse(text)?;
        let (start, end) = parse::inside_braces(text);
        Ok(Self {
            text: text.get(start..end).unwrap_or_default().to_owned(),
            rfc9535: translate::rfc9535(&steps),
        })
    }

    /// The same question in RFC 9535's notation. Tests hold it to a second evaluator.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "no command reads feedback values back from exported works yet"
        )
    )]
    pub(crate) fn rfc9535(&self) -> &str {
        &self.rfc9535
    }
}

impl fmt::Display for FeedbackPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
