//! Rules of reading and writing, each in a test of its own.

mod cases;
mod oracle;
