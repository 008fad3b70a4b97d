//! The Kubernetes dialect of YAML: reading, writing, positions.
//!
//! Owns: how text becomes a [`serde_json::Value`] exactly as an API server's clients read it, where every key
//! and value stands in the text, and how a value becomes canonical text that every reader takes for the same
//! value. Flows in: bytes, text. Flows out: values, positions, text.
//! Must not know: anything else of this crate.
//!
//! Reading goes [`decode()`] (bytes to text), [`split()`] or [`split_json`] (text to [`Chunk`]s, one document each),
//! [`read`] or [`read_located`] (chunk to value). Inside, `scanner` makes tokens, `parser` events, `compose` the
//! value; `json` makes events of JSON. Writing is [`write_document`], or its pieces.

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(
    not(test),
    warn(
        clippy::expect_used,
        clippy::get_unwrap,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::print_stderr,
        clippy::print_stdout,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

mod alias;
mod character;
mod compose;
mod decode;
mod document;
mod error;
mod event;
mod fetch;
mod fields;
mod json;
mod number;
mod parser;
mod position;
mod resolve;
mod scan_block;
mod scan_plain;
mod scan_property;
mod scan_quoted;
mod scanner;
mod split;
mod style;
mod token;
mod write;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::Value;

pub use decode::decode;
pub use error::{Error, ErrorKind, Related};
pub use position::{Nearest, Positions};
pub use split::{Chunk, Syntax, split, split_json};
pub use style::scalar;
pub use write::{KeyOrder, append_entry, append_item, append_value, write_document};

use error::Outcome;
use position::{Located, Record, Unlocated};

/// What a document may cost at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many lists and mappings may be nested; [`Limits::GREATEST_DEPTH`] at most.
    pub depth: usize,
    /// The bytes of one document.
    pub document_bytes: usize,
    /// The values that all aliases together may expand to; each 64 bytes of a text count as one more.
    pub alias_nodes: usize,
}

impl Limits {
    /// No depth beyond this is allowed, whatever [`Limits::depth`] says: values are dropped and cloned by
    /// recursion.
    pub const GREATEST_DEPTH: usize = 1000;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 256,
            document_bytes: 64 << 20,
            alias_nodes: 1_000_000,
        }
    }
}

/// The value of one document of a stream. A document that says nothing is null.
///
/// # Errors
/// See [`ErrorKind`]; ranges count the bytes of the chunk's text ([`Error::shifted`] makes them count those of
/// the file).
pub fn read(chunk: &Chunk<'_>, limits: &Limits) -> Result<Value, Error> {
    let settle = |error: Box<Error>| error.settled(chunk.text);
    read_chunk::<Unlocated>(chunk, limits)
        .map(|(value, ())| value)
        .map_err(|error| explain(error, || read_chunk::<Located>(chunk, limits).err()))
        .map_err(settle)
}

/// The same as [`read`], and where everything stands in the chunk's text.
///
/// # Errors
/// The same as [`read`].
pub fn read_located(chunk: &Chunk<'_>, limits: &Limits) -> Result<(Value, Positions), Error> {
    read_chunk::<Located>(chunk, limits)
        .map(|(value, root)| (value, Positions::new(root)))
        .map_err(|error| error.settled(chunk.text))
}

/// The value of a text that is one YAML document, without splitting it first: a separator may stand in front of
/// it, a second document is an error. For text that comes from inside other documents; files go through
/// [`split()`].
///
/// # Errors
/// The same as [`read`].
pub fn read_document(text: &str, limits: &Limits) -> Result<Value, Error> {
    read_yaml::<Unlocated>(text, false, limits)
        .map(|(value, ())| value)
        .map_err(|error| explain(error, || read_yaml::<Located>(text, false, limits).err()))
        .map_err(|error| error.settled(text))
}

/// The same as [`read_document`], and where everything stands in the text.
///
/// # Errors
/// The same as [`read`].
pub fn read_document_located(text: &str, limits: &Limits) -> Result<(Value, Positions), Error> {
    read_yaml::<Located>(text, false, limits)
        .map(|(value, root)| (value, Positions::new(root)))
        .map_err(|error| error.settled(text))
}

/// The values of all documents of a YAML file, in order, but for those that say nothing.
///
/// # Errors
/// The first error of [`split()`] or [`read`]; ranges count the bytes of `text`.
pub fn read_all(text: &str, limits: &Limits) -> Result<Vec<Value>, Error> {
    let mut values = Vec::new();
    for chunk in split(text)? {
        let value = read(&chunk, limits).map_err(|error| error.shifted(chunk.offset))?;
        if !value.is_null() {
            values.push(value);
        }
    }
    Ok(values)
}

/// The error with the places that only the recording composer knows, when they matter.
fn explain(error: Box<Error>, read_again: impl FnOnce() -> Option<Box<Error>>) -> Box<Error> {
    if matches!(error.kind, ErrorKind::DuplicateKey | ErrorKind::Merge) {
        read_again().unwrap_or(error)
    } else {
        error
    }
}

fn read_chunk<R: Record>(chunk: &Chunk<'_>, limits: &Limits) -> Outcome<(Value, R::Node)> {
    match chunk.syntax {
        Syntax::Json => read_json::<R>(chunk.text, limits),
        // The splitter adds the newline that a file's last line may lack.
        Syntax::Yaml if !chunk.text.ends_with('\n') => {
            check_size(chunk.text, limits)?;
            let text: Cow<'_, str> = format!("{}\n", chunk.text).into();
            read_yaml::<R>(
                &text,
                true,
                &Limits {
                    document_bytes: usize::MAX,
                    ..limits.clone()
                },
            )
        }
        Syntax::Yaml => read_yaml::<R>(chunk.text, true, limits),
    }
}

fn read_yaml<R: Record>(text: &str, joined_lines: bool, limits: &Limits) -> Outcome<(Value, R::Node)> {
    check_size(text, limits)?;
    let scanner = scanner::Scanner::new(text, joined_lines)?;
    compose::compose::<R>(&mut parser::Parser::new(scanner), text, limits)
}

fn read_json<R: Record>(text: &str, limits: &Limits) -> Outcome<(Value, R::Node)> {
    check_size(text, limits)?;
    compose::compose::<R>(&mut json::JsonParser::new(text), text, limits)
}

fn check_size(text: &str, limits: &Limits) -> Outcome<()> {
    if text.len() <= limits.document_bytes {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Limit,
        0..0,
        format!("the document is larger than {} bytes", limits.document_bytes),
        "no Kubernetes object is that large: split the file, or exclude it",
    ))
}

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
