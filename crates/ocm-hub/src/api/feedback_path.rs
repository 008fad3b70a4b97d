//! Feedback paths: client-go's JSONPath dialect, in which OCM's work agent reads status values.
//!
//! Owns: checking a path ([`FeedbackPath::parse`]), and what it finds in an object. Flows in: paths from GatewayClass parameters and from our own feedback rules. Flows out: checked paths, values,
//! `PathError`s with an offset. Must not know: what a value means.
//!
//! The dialect (docs/systems/ocm-work.md#feedback): the agent wraps a path in `{...}`, a missing key is not an error,
//! and only the first result counts. Names escape with `\`; a quoted name in brackets is read like a
//! field, so its dots separate unless escaped; filters compare one path with one literal or path.

mod evaluate;
mod parse;
mod problem;

#[cfg(test)]
mod tests;

pub(crate) use problem::PathError;

use std::fmt;

use kube_json::Value;

use self::parse::Step;

/// A path that OCM's work agent can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackPath {
    text: String,
    steps: Vec<Step>,
}

impl FeedbackPath {
    /// Checks a path. Braces around the whole of it are taken off: OCM adds its own.
    ///
    /// # Errors
    /// `PathError` with the offset of the first thing that the agent would refuse.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let steps = parse::parse(text)?;
        let (start, end) = parse::inside_braces(text);
        Ok(Self {
            text: text.get(start..end).unwrap_or_default().to_owned(),
            steps,
        })
    }

    /// What the agent would feed back of this object: the first thing that the path finds. `None`, too, where a
    /// wildcard, a slice, a union, or `..` leaves open which is the first on a cluster, which adds fields of its own.
    pub fn first(&self, object: &Value) -> Option<Value> {
        evaluate::found(&self.steps, object)?
            .first()
            .map(|value| (*value).clone())
    }
}

impl fmt::Display for FeedbackPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
