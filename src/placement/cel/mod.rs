//! CEL selectors (OCM placement 1.2, celSelector).
//!
//! Owns: compiling an expression once a run, evaluating it once for each cluster that somebody asks about, the
//! limits of cost. Flows in: expressions, the fleet, add-on scores. Flows out: the clusters that match, or the
//! complaint that makes a Placement misconfigured. Must not know: Placements.
//!
//! The engine is the `cel` crate with Kubernetes' libraries from `kube-cel`. What they lack is built here, on
//! the syntax tree: `expand` (macros), `check` (names and types: cel-go refuses at compile time what the crate
//! would only notice when it runs), `rewrite` (what the crate evaluates otherwise than cel-go, and counting of
//! cost), `library` (OCM's and missing functions), `view` (the cluster as Go would show it).

#[cfg(feature = "cel")]
mod check;
#[cfg(feature = "cel")]
mod engine;
#[cfg(feature = "cel")]
mod expand;
#[cfg(feature = "cel")]
mod library;
#[cfg(feature = "cel")]
mod rewrite;
#[cfg(feature = "cel")]
mod signatures;
#[cfg(feature = "cel")]
mod view;

#[cfg(all(test, feature = "cel"))]
mod tests;

use super::Input;
use super::bits::Bits;
use super::fleet::Fleet;

/// An expression that does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompileError {
    /// Which of the expressions.
    pub(super) index: usize,
    pub(super) message: String,
}

/// The expressions of one selector, ANDed.
#[derive(Debug)]
pub(super) struct Expressions {
    #[cfg(feature = "cel")]
    compiled: Vec<engine::Compiled>,
}

/// A selector and the clusters that it is asked about.
pub(super) struct Question<'q> {
    /// Whose question; comes back with the answer.
    pub(super) index: usize,
    #[cfg_attr(
        not(feature = "cel"),
        expect(dead_code, reason = "nothing compiles without the feature")
    )]
    pub(super) expressions: &'q Expressions,
    #[cfg_attr(
        not(feature = "cel"),
        expect(dead_code, reason = "nothing compiles without the feature")
    )]
    pub(super) candidates: Bits,
}

impl Expressions {
    /// Compiles all expressions; the first one that cannot be compiled decides the message.
    #[cfg(feature = "cel")]
    pub(super) fn compile(expressions: &[&str]) -> Result<Self, CompileError> {
        let compiled = engine::compile_all(expressions);
        let mut list = Vec::with_capacity(compiled.len());
        for (index, result) in compiled.into_iter().enumerate() {
            list.push(result.map_err(|message| CompileError { index, message })?);
        }
        Ok(Self { compiled: list })
    }

    /// Without the feature no expression compiles.
    #[cfg(not(feature = "cel"))]
    pub(super) fn compile(_expressions: &[&str]) -> Result<Self, CompileError> {
        Err(CompileError {
            index: 0,
            message: "this build of spokewright cannot evaluate CEL: build it with the feature `cel`"
                .to_owned(),
        })
    }
}

/// The clusters that match, for each question.
#[cfg(feature = "cel")]
pub(super) fn ask(questions: &[Question<'_>], input: &Input<'_>, fleet: &Fleet<'_>) -> Vec<(usize, Bits)> {
    engine::ask(questions, input, fleet)
}

/// Nobody can ask without the feature: nothing compiles.
#[cfg(not(feature = "cel"))]
pub(super) fn ask(questions: &[Question<'_>], _input: &Input<'_>, fleet: &Fleet<'_>) -> Vec<(usize, Bits)> {
    questions
        .iter()
        .map(|question| (question.index, Bits::none(fleet.len())))
        .collect()
}
