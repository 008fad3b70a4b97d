//! The replacement for the engine without the feature `cel`: nothing compiles.
//!
//! Owns: the error for an expression. Flows in: expressions. Flows out: an error. Must not know: CEL.

use std::convert::Infallible;

use super::error::CompileError;
use crate::fleet::{Bits, Fleet};
use crate::input::Input;

/// The expressions of one selector; there are none.
#[derive(Debug)]
pub(crate) struct Expressions(Infallible);

/// A selector and the clusters that it is asked about.
pub(crate) struct Question<'q> {
    pub(crate) expressions: &'q Expressions,
    #[expect(dead_code, reason = "nobody can ask")]
    pub(crate) candidates: Bits,
}

impl Expressions {
    /// Without the feature no expression compiles.
    pub(crate) fn compile(_expressions: &[&str]) -> Result<Self, CompileError> {
        Err(CompileError {
            index: 0,
            message: "this build cannot evaluate CEL: build it with the feature `cel`".to_owned(),
        })
    }
}

/// It cannot be asked.
pub(crate) fn ask(
    questions: &[Question<'_>],
    _input: &Input<'_>,
    _fleet: &Fleet<'_>,
) -> Vec<Result<Bits, String>> {
    let questions = questions.iter();
    questions
        .map(|question| match question.expressions.0 {})
        .collect()
}
