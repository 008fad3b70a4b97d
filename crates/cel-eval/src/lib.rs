//! Evaluates CEL expressions as cel-go does, counts their cost as Kubernetes does, and uses no more memory than it was
//! given.
//!
//! The parser, the values, and the remaining functions are those of `kube-cel`. Its own evaluation is not used: it
//! copies whole values at each step, ends a loop at its first error, and has no place where costs could be counted.
//!
//! The modules, in the order of the flow: `meter` counts, `prices` measures values and has the costs of cel-go and
//! Kubernetes, `library` has the functions (`url` those of URLs, `engine` those of `kube-cel`), `values` looks into values and compares them, `parse`
//! reads an expression within limits of length and depth, `evaluate` evaluates it.

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

mod engine;
mod evaluate;
mod library;
mod meter;
mod parse;
mod prices;
mod url;
mod values;

#[cfg(test)]
mod tests;

pub use engine::call;
pub use evaluate::{Evaluated, Functions, evaluate};
pub use library::{Call, is_type};
pub use meter::{Failure, Meter, Stop};
pub use parse::{Expression, STACK, Unparsed, on_a_large_stack, parse, parts};

/// What an expression may cost: Kubernetes' `PerCallLimit`,
/// kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/apis/cel/config.go@v1.34.1.
pub const CALL_LIMIT: u64 = 1_000_000;

/// What all expressions about one object may cost: Kubernetes' `RuntimeCELCostBudget`, in the same file.
pub const OBJECT_BUDGET: u64 = 10_000_000;

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
