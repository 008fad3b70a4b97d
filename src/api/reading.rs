//! Reading a text that stands inside an object or is a file of our own: parameters, configuration.
//!
//! Owns: the one place where `api` calls the YAML reader. Flows in: text. Flows out: a value that knows the
//! line and column of its fields, or why there is none. Must not know: what the text means.

use serde_json::Value;

use crate::yaml::{self, Limits, Positions};

/// A text that was read.
#[derive(Debug)]
pub(super) struct ReadText {
    /// Its only document; null when there is none.
    pub(super) value: Value,
    text: String,
    positions: Positions,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadFailure {
    /// One line.
    pub(super) message: String,
    /// The bytes it is about.
    pub(super) range: std::ops::Range<usize>,
}

impl ReadText {
    /// Line and column, both from 1, of the value at `pointer` or of the nearest parent that exists; the key's
    /// when `key` is set. `None` when the reader gives no positions.
    pub(super) fn position(&self, pointer: &str, key: bool) -> Option<(usize, usize)> {
        let nearest = self.positions.nearest(pointer);
        let range = nearest.key.filter(|_| key).unwrap_or(nearest.value);
        let before = self.text.get(..range.start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline.saturating_add(1));
        let line = before
            .bytes()
            .filter(|byte| *byte == b'\n')
            .count()
            .saturating_add(1);
        let column = before.get(line_start..)?.chars().count().saturating_add(1);
        Some((line, column))
    }
}

/// Reads a text of one document, YAML as Kubernetes reads it, so JSON too.
///
/// # Errors
/// [`ReadFailure`] when it is no YAML, or has several documents.
pub(super) fn read(text: &str) -> Result<ReadText, ReadFailure> {
    let text = if text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    };
    match yaml::read_document_located(&text, &Limits::default()) {
        Ok((value, positions)) => Ok(ReadText {
            value,
            text,
            positions,
        }),
        Err(error) => Err(ReadFailure {
            message: error.message,
            range: error.range,
        }),
    }
}
