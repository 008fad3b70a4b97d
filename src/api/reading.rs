//! Reading a text that stands inside an object or is a file of our own: parameters, configuration.
//!
//! Owns: the one place where `api` calls the YAML reader. Flows in: text. Flows out: a value that knows the
//! line and column of its fields, or why there is none. Must not know: what the text means.

use serde_json::Value;

use crate::yaml;

/// A text that was read.
#[derive(Debug)]
pub(super) struct ReadText {
    /// Its only document; null when there is none.
    pub(super) value: Value,
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
    #[expect(clippy::unused_self, reason = "the real reader's positions will be a field")]
    pub(super) fn position(&self, _pointer: &str, _key: bool) -> Option<(usize, usize)> {
        None
    }
}

/// Reads a text of one document, YAML as Kubernetes reads it, so JSON too.
///
/// # Errors
/// [`ReadFailure`] when it is no YAML, or has several documents.
pub(super) fn read(text: &str) -> Result<ReadText, ReadFailure> {
    let failure = |message: String| ReadFailure {
        message,
        range: 0..text.len(),
    };
    let mut documents = yaml::stand_in_read_all(text).map_err(failure)?;
    let value = documents.pop().unwrap_or(Value::Null);
    if documents.is_empty() {
        Ok(ReadText { value })
    } else {
        Err(failure("there must be one document, not several".to_owned()))
    }
}
