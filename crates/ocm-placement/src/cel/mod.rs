//! CEL selectors (docs/systems/ocm-placement.md#cel-selectors).
//!
//! Owns: compiling an expression once in a run, evaluating it once for each requested cluster, the cost limits. Flows
//! in: expressions, the fleet, add-on scores. Flows out: the clusters that match, or the
//! complaint that makes a Placement misconfigured. Must not know: Placements.
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
