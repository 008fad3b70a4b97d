//! The schemas of CustomResourceDefinitions: which custom resources an API server would refuse, and why.
//!
//! It reads a definition ([`Crd`]), compiles its structural schemas once ([`Schema`]), and checks many values against
//! them: types, ranges, formats, combinators, unknown fields, list sets and maps, embedded resources, metadata, CEL
//! rules; it fills in defaults, and prunes. A [`Violation`] has a JSON pointer and the API server's wording.
//!
//! The modules, in the order of the flow: `crd` reads the definition, `compile` makes nodes of a schema (with the `format`
//! and `rules` of a level), `complete` changes a value, `check` walks it, `evaluate` runs the rules on it, `schema` has the
//! order of these steps. `condition` evaluates an expression by itself.

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

mod check;
mod compile;
mod complete;
mod condition;
mod crd;
mod evaluate;
mod format;
mod metadata;
mod rules;
mod schema;
mod violation;

#[cfg(test)]
mod tests;

pub use apimachinery::Work;
pub use check::check_metadata;
pub use condition::{Condition, Variable};
pub use crd::{Crd, CrdVersion, Scope};
pub use schema::Schema;
pub use violation::{SchemaProblem, Violation, ViolationKind};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
