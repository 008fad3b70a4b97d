//! CEL selectors.

use super::Input;
use super::bits::Bits;
use super::fleet::Fleet;

#[derive(Debug)]
pub(super) struct Expressions {}

pub(super) struct CompileError {
    pub(super) index: usize,
    pub(super) message: String,
}

impl Expressions {
    pub(super) fn compile(_expressions: &[&str]) -> Result<Self, CompileError> {
        Ok(Self {})
    }
}

pub(super) struct Question<'q> {
    pub(super) index: usize,
    pub(super) expressions: &'q Expressions,
    pub(super) candidates: Bits,
}

pub(super) fn ask(questions: &[Question<'_>], _input: &Input<'_>, _fleet: &Fleet<'_>) -> Vec<(usize, Bits)> {
    questions.iter().map(|question| (question.index, question.candidates.clone())).collect()
}
