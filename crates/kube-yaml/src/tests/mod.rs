//! Rules of reading and writing, each in a test of its own.

mod cases;
mod limits;
mod messages;
mod oracle;
mod places;
mod scalars;
mod structure;
mod texts;
mod writing;

use kube_json::Value;

use super::{Error, ErrorKind, Limits, read_document};

/// The value of a document that has to be fine.
fn value(text: &str) -> Value {
    read_document(text, &Limits::default()).unwrap_or_else(|error| panic!("{text:?}: {error:?}"))
}

/// The error of a document that has to have one.
fn error(text: &str) -> Error {
    match read_document(text, &Limits::default()) {
        Ok(value) => panic!("{text:?} is read as {value}"),
        Err(error) => error,
    }
}

/// The kind of error of a document that has to have one.
fn kind(text: &str) -> ErrorKind {
    error(text).kind
}
