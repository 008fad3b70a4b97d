//! How bad a finding is: two words, the same in every format.
//!
//! Owns: the words. Flows in: nothing. Flows out: [`Severity`]. Must not know: which findings are errors and which are
//! warnings.

/// How bad a finding is. An error stops anything from being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is written; exit status 3 or 4, depending on the code.
    Error,
    /// Reported; the run goes on.
    Warning,
}

impl Severity {
    /// The word in every output format: `error` or `warning`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}
