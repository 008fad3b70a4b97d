//! The place of something in the input, as reports give it.
//!
//! Owns: file and line as data. Flows in: a symbolic place, texts. Flows out: a [`SourceLine`]. Must not know: reports.

use serde::Serialize;

use crate::diagnostic::{Locate, Place};

/// File and line of an object of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceLine {
    /// Path relative to the root of the input.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
}

impl SourceLine {
    /// The line of a place, where there is a text.
    pub fn of(locate: &dyn Locate, place: Place) -> Option<Self> {
        let span = locate.locate(&place)?;
        Some(Self {
            path: span.path.to_owned(),
            line: span.line,
        })
    }
}
