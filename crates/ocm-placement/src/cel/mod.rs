//! CEL selectors (docs/systems/ocm-placement.md#cel-selectors).
//!
//! An expression is compiled once in a run, and evaluated once for each cluster that is asked for. One that cannot be
//! used makes the Placement misconfigured.
//!
//! Expressions are read and evaluated by `cel-eval`. What is OCM's is built here: `expand` (macros), `check` (names and
//! types: cel-go refuses at compile time what would otherwise fail only when it runs), `library` (OCM's functions),
//! `view` (the cluster as Go presents it).

mod check;
mod engine;
mod expand;
mod library;
mod signatures;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use engine::{Expressions, Question, ask};
