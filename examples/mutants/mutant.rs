//! A mutant as `cargo mutants --list --json` prints it.

use serde::Deserialize;

/// A change of one place. Its own place in the list, from 1 on, is its number everywhere.
#[derive(Debug, Deserialize)]
pub(crate) struct Mutant {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) genre: String,
    pub(crate) replacement: String,
    pub(crate) span: Span,
    function: Option<Function>,
}

impl Mutant {
    /// Where the function begins in which it is.
    pub(crate) fn function_line(&self) -> Option<usize> {
        self.function.as_ref().map(|function| function.span.start.line)
    }
}

#[derive(Debug, Deserialize)]
struct Function {
    span: Span,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Span {
    pub(crate) start: Place,
}

/// Line and column in characters, both from 1 on.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}
