//! The Kubernetes dialect of YAML: reading, writing, positions.
//!
//! Text becomes a [`kube_json::Value`] exactly as an API server's clients read it, with the place of every key and
//! value, and a value becomes canonical text that every reader reads as the same value.
//!
//! Reading goes [`decode()`] (bytes to text), [`split()`] or [`split_json`] (text to [`Chunk`]s, one document each),
//! [`read()`] or [`read_located`] (chunk to value). Inside, `lines` makes the value of a document in its usual form. For
//! all others, `source` makes events with the library `saphyr-parser`, and `compose` makes the value; `json` makes events
//! from JSON with `serde_json`.
//! Writing is [`write_document`], or its pieces.

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

mod character;
mod compose;
mod decode;
mod error;
mod faults;
mod json;
mod lines;
mod position;
mod read;
mod scalar;
mod source;
mod split;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod testing;
mod write;

#[cfg(test)]
mod tests;

pub use compose::Limits;
pub use decode::{Undecodable, decode};
pub use error::{Error, ErrorKind, Related};
pub use position::{Nearest, Positions};
pub use read::{read, read_all, read_counting, read_document, read_document_located, read_located};
pub use scalar::base64;
pub use split::{Chunk, Syntax, split, split_json, split_yaml};
pub use write::{scalar, write_document, write_editable, write_work};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
