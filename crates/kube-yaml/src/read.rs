//! Reads a text as one value, with or without the places of its parts.
//!
//! The usual form of YAML is read by `lines`; all else, and every error, comes from the composer.

use kube_json::Value;

use super::character::check;
use super::compose::compose;
use super::error::{Error, ErrorKind, Outcome};
use super::lines::read_lines;
use super::position::{Located, Positions, Record, Spot, Unlocated};
use super::split::{Chunk, Syntax, split};
use super::{json, source};
use crate::compose::Limits;

/// The value of one document of a stream. An empty document is null.
///
/// # Errors
/// See [`ErrorKind`]; ranges count the bytes of the chunk's text ([`Error::shifted`] makes them count those of
/// the file).
pub fn read(chunk: &Chunk<'_>, limits: &Limits) -> Result<Value, Error> {
    read_counting(chunk, limits).0
}

/// The same as [`read`], and how much of [`Limits::alias_nodes`] it took, also when it fails, so that many documents can
/// have one budget.
pub fn read_counting(chunk: &Chunk<'_>, limits: &Limits) -> (Result<Value, Error>, usize) {
    let mut copied = 0;
    let read = read_chunk::<Unlocated>(chunk, limits, &mut copied);
    let value = value(read, chunk.text, || read_located(chunk, limits));
    (value, copied)
}

/// The same as [`read`], and where everything is in the chunk's text.
///
/// # Errors
/// The same as [`read`].
pub fn read_located(chunk: &Chunk<'_>, limits: &Limits) -> Result<(Value, Positions), Error> {
    located(read_chunk::<Located>(chunk, limits, &mut 0), chunk.text)
}

/// The value of a text that is one YAML document, without splitting it first: a separator may be in front of
/// it, a second document is an error. For text that comes from inside other documents; files go through
/// [`split()`].
///
/// # Errors
/// The same as [`read`].
pub fn read_document(text: &str, limits: &Limits) -> Result<Value, Error> {
    let read = read_yaml::<Unlocated>(text, limits, &mut 0);
    value(read, text, || read_document_located(text, limits))
}

/// The same as [`read_document`], and where everything is in the text.
///
/// # Errors
/// The same as [`read`].
pub fn read_document_located(text: &str, limits: &Limits) -> Result<(Value, Positions), Error> {
    located(read_yaml::<Located>(text, limits, &mut 0), text)
}

/// The values of all documents of a YAML file, in order, except empty ones.
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

/// The value and its places, or the error.
fn located(read: Outcome<(Value, Spot)>, text: &str) -> Result<(Value, Positions), Error> {
    match read {
        Ok((value, root)) => Ok((value, Positions { root })),
        Err(error) => Err(error.settled(text)),
    }
}

/// The value, or the error. Where two keys exclude each other, only a reader with places says where the first one is.
fn value(
    read: Outcome<(Value, ())>,
    text: &str,
    read_again: impl FnOnce() -> Result<(Value, Positions), Error>,
) -> Result<Value, Error> {
    match read {
        Ok((value, ())) => Ok(value),
        Err(error) if matches!(error.kind, ErrorKind::DuplicateKey | ErrorKind::Merge) => {
            read_again().map(|(value, _)| value)
        }
        Err(error) => Err(error.settled(text)),
    }
}

fn read_chunk<R: Record>(
    chunk: &Chunk<'_>,
    limits: &Limits,
    copied: &mut usize,
) -> Outcome<(Value, R::Node)> {
    match chunk.syntax {
        Syntax::Json => {
            check_size(chunk.text, limits)?;
            compose::<R>(json::read_events, chunk.text, limits, copied)
        }
        // The splitter adds the newline that a file's last line may lack.
        Syntax::Yaml if !chunk.text.ends_with('\n') => {
            check_size(chunk.text, limits)?;
            let limits = &Limits {
                document_bytes: usize::MAX,
                ..limits.clone()
            };
            read_yaml::<R>(&format!("{}\n", chunk.text), limits, copied)
        }
        Syntax::Yaml => read_yaml::<R>(chunk.text, limits, copied),
    }
}

fn read_yaml<R: Record>(text: &str, limits: &Limits, copied: &mut usize) -> Outcome<(Value, R::Node)> {
    check_size(text, limits)?;
    let only_lf = check(text)?;
    if only_lf && let Some(read) = read_lines::<R>(text, limits) {
        return Ok(read);
    }
    compose::<R>(source::read_events, text, limits, copied)
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
