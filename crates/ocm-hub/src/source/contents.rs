//! What is in a file: where its documents are, and what they became.
//!
//! Owns: [`DocumentRange`], and [`FileReadBefore`] for another tree that has the same content. Flows in: pieces of a text,
//! values. Flows out: the same, together. Must not know: what a file is called, which tree it is in.

use std::sync::Arc;

use kube_json::Value;

/// Where a document is in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentRange {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// How the document was read.
    pub syntax: kube_yaml::Syntax,
}

impl DocumentRange {
    /// The range of a chunk of its file.
    pub(super) fn of(chunk: &kube_yaml::Chunk<'_>) -> Self {
        Self {
            start: chunk.offset,
            end: chunk.offset.saturating_add(chunk.text.len()),
            line: chunk.line,
            syntax: chunk.syntax,
        }
    }
}

/// A file of which every document was read, and of which nothing is to be said: another tree that has the same content
/// may take over what it became.
#[derive(Debug, Clone)]
pub struct FileReadBefore {
    /// The text, which is the content.
    pub(super) text: Arc<String>,
    /// Whether it was read as JSON: by the end of its name, not by its content.
    pub(super) json: bool,
    /// Where its documents are.
    pub(super) documents: Vec<DocumentRange>,
    /// The documents that are not empty, by their number.
    pub(super) values: Vec<(u32, Value)>,
}

impl FileReadBefore {
    /// Whether it was read as JSON: only a file that is read the same way may take it over.
    #[must_use]
    pub fn was_read_as_json(&self) -> bool {
        self.json
    }
}
