//! Kubernetes' small languages: names, labels, label selectors, quantities, durations, patterns, and JSON pointers into objects.
//!
//! These are the rules of `k8s.io/apimachinery` that other tools reimplement in part, with its complaints: what a name,
//! a label or an annotation key may be ([`names`]), how a label selector is read, refused and evaluated ([`Selector`]),
//! what a quantity is worth ([`Quantity`]), how long one of Go's durations is ([`duration`]), what a pattern matches
//! ([`Pattern`]), how Go reads a URL ([`Url`]). Beside them: [`Work`], which limits how much work a run spends on its
//! input; [`Field`], a cursor that reads a value together with its JSON pointer; and [`FieldPath`], a path to a field
//! as people write it. Nothing here knows a particular kind.

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

mod broken;
pub mod duration;
mod field;
pub mod field_path;
mod identity;
pub mod names;
mod pattern;
pub mod pointer;
mod quantity;
mod selector;
mod table;
mod url;
mod work;

pub use broken::broken;
pub use field::{EXACT_MAX, Field, Mismatch};
pub use field_path::{FieldPath, NotFound, PathError};
pub use identity::{ApiVersion, GroupKind, Identity, Locators, core_group, key, named_parts};
pub use pattern::{ParsedPattern, Pattern, PatternError};
pub use quantity::{Quantity, QuantityError};
pub use selector::{
    LabelSelector, MatchExpression, Operator, Requirement, RequirementOrigin, Selector, SelectorError,
    key_complaints, value_complaints,
};
pub use table::{RowId, Table};
pub use url::Url;
pub use work::{Allowance, Compiled, Spent, Work};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
