//! The Kubernetes dialect of YAML: reading, writing, positions.
//!
//! Owns: how text becomes a [`serde_json::Value`] exactly as an API server's clients read it, where every key
//! and value stands in the text, and how a value becomes canonical text that every reader takes for the same
//! value. Flows in: text. Flows out: values, positions, text.
//! Must not know: anything else of this crate.

use serde_json::Value;

/// STAND-IN until the real reader lands: every document of a stream.
///
/// # Errors
/// The text of the parser's complaint.
pub fn stand_in_read_all(text: &str) -> Result<Vec<Value>, String> {
    use serde::Deserialize as _;
    serde_yaml_ng::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).map_err(|error| error.to_string()))
        .collect()
}

/// STAND-IN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML
    Yaml,
    /// JSON
    Json,
}
/// STAND-IN.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// bytes
    pub document_bytes: usize,
}
impl Default for Limits {
    fn default() -> Self {
        Self {
            document_bytes: 64 << 20,
        }
    }
}
/// STAND-IN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ErrorKind {
    Syntax,
    DuplicateKey,
    Limit,
    Encoding,
}
/// STAND-IN.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
    pub help: String,
    pub range: std::ops::Range<usize>,
    pub related: Option<(std::ops::Range<usize>, String)>,
}
/// STAND-IN.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Chunk<'a> {
    pub text: &'a str,
    pub start: usize,
    pub line: usize,
    pub format: Format,
}
/// STAND-IN.
#[allow(missing_docs)]
pub fn decode(bytes: &[u8]) -> Result<std::borrow::Cow<'_, str>, Error> {
    Ok(String::from_utf8_lossy(bytes))
}
/// STAND-IN.
#[allow(missing_docs)]
pub fn split(text: &str, _json: bool) -> Result<Vec<Chunk<'_>>, Error> {
    let mut out = Vec::new();
    let (mut start, mut line, mut at, mut l) = (0usize, 1usize, 0usize, 1usize);
    for piece in text.split_inclusive('\n') {
        if piece.starts_with("---") {
            out.push(Chunk {
                text: &text[start..at],
                start,
                line,
                format: Format::Yaml,
            });
            start = at + piece.len();
            line = l + 1;
        }
        at += piece.len();
        l += 1;
    }
    out.push(Chunk {
        text: &text[start..],
        start,
        line,
        format: Format::Yaml,
    });
    Ok(out)
}
/// STAND-IN.
#[allow(missing_docs)]
pub fn read(text: &str, _f: Format, _l: &Limits) -> Result<Value, Error> {
    serde_yaml_ng::from_str(text).map_err(|e| Error {
        kind: ErrorKind::Syntax,
        message: e.to_string(),
        help: String::new(),
        range: 0..0,
        related: None,
    })
}
/// STAND-IN.
#[derive(Debug)]
pub struct Positions;
#[allow(missing_docs)]
impl Positions {
    pub fn key(&self, _p: &str) -> Option<std::ops::Range<usize>> {
        None
    }
    pub fn nearest(&self, _p: &str) -> Option<std::ops::Range<usize>> {
        None
    }
}
/// STAND-IN.
#[allow(missing_docs)]
pub fn positions(_t: &str, _f: Format) -> Option<Positions> {
    None
}
