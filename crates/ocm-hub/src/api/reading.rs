//! Reads a text that is inside an object or in a file of our own: parameters, configuration.

use kube_json::Value;

use kube_yaml::Limits;

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadFailure {
    /// One line.
    pub(super) message: String,
    /// The bytes it is about.
    pub(super) range: std::ops::Range<usize>,
}

impl ReadFailure {
    /// The line of `text`, from 1, where the fault begins.
    pub(super) fn line_in(&self, text: &str) -> usize {
        let before = text.as_bytes().get(..self.range.start).unwrap_or(text.as_bytes());
        before
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            .saturating_add(1)
    }
}

/// How much aliases inside such a text may expand to: there may be as many texts as a hub has objects.
const MOST_FROM_ALIASES: usize = 10_000;

/// Reads a text of one document, YAML as Kubernetes reads it, so JSON too.
///
/// # Errors
/// [`ReadFailure`] if it is not YAML, or has several documents.
pub(super) fn read(text: &str) -> Result<Value, ReadFailure> {
    let limits = Limits {
        alias_nodes: MOST_FROM_ALIASES,
        ..Limits::default()
    };
    kube_yaml::read_document(text, &limits).map_err(|error| ReadFailure {
        message: error.message.into_owned(),
        range: error.range,
    })
}

/// The text in base64, if it is one.
pub(crate) fn decoded(text: &str) -> Option<String> {
    String::from_utf8(kube_yaml::base64(text.as_bytes())?).ok()
}
