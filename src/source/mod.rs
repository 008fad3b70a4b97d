//! Files in, documents out.
//!
//! Owns: which files are input ([`discover()`]), how a file splits into documents ([`load`]), and the texts
//! themselves ([`Sources`]), so that any symbolic place can become a line and a column.
//! Flows in: paths, or text from standard input. Flows out: [`Document`]s with their origin.
//! Must not know: what an object is, or what any kind means.

mod discover;
mod documents;
mod texts;

pub use discover::{Discovered, Request, Room, discover};
pub use documents::{Document, load, read_text};
pub use texts::{RootRelative, SourceFile, Sources};
