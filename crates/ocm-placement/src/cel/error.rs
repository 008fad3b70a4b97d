//! Why an expression cannot be used.

/// An expression that does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompileError {
    /// Which of the expressions.
    pub(crate) index: usize,
    /// The mistake in it.
    pub(crate) message: String,
}
