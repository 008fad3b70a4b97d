//! CEL selectors (docs/systems/ocm-placement.md#cel-selectors).
//!
//! Owns: compiling an expression once in a run, evaluating it once for each requested cluster, the cost limits. Flows
//! in: expressions, the fleet, add-on scores. Flows out: the clusters that match, or the
//! complaint that makes a Placement misconfigured. Must not know: Placements.
//!
//! Expressions are read and evaluated by `cel-eval`. What is OCM's is built here: `expand` (macros), `check` (names and
//! types: cel-go refuses at compile time what would otherwise fail only when it runs), `library` (OCM's functions),
//! `view` (the cluster as Go presents it).

mod error;

#[cfg(feature = "cel")]
mod check;
#[cfg(feature = "cel")]
mod engine;
#[cfg(feature = "cel")]
mod expand;
#[cfg(feature = "cel")]
mod library;
#[cfg(feature = "cel")]
mod signatures;
#[cfg(feature = "cel")]
mod view;

#[cfg(not(feature = "cel"))]
mod without;

#[cfg(all(test, feature = "cel"))]
mod tests;

#[cfg(feature = "cel")]
pub(crate) use engine::{Expressions, Question, ask};
#[cfg(not(feature = "cel"))]
pub(crate) use without::{Expressions, Question, ask};
