//! The JSON value of a Kubernetes object: small in memory, and shared when it is cloned.
//!
//! Names and methods are those of `serde_json`, so that a reader knows them. `convert` uses `value`.

// Input never causes a panic, and a library does not print; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

mod convert;
mod value;

pub use convert::{from_value, to_value};
/// A text: up to 15 bytes in place, longer ones shared by all clones.
pub use ecow::EcoString as Text;
/// A number of JSON: a 64-bit integer, signed or not, or a finite float.
pub use serde_json::Number;
pub use value::{Iter, Map, Value, index, position, unescape};

/// What [`json!`] expands to.
#[doc(hidden)]
pub use serde_json::json as serde_json_json;

/// A [`Value`] in the syntax of JSON, with expressions for values and names.
///
/// ```
/// let replicas = 3;
/// let value = kube_json::json!({"spec": {"replicas": replicas, "paused": false}});
/// assert_eq!(value["spec"]["replicas"], 3);
/// ```
#[macro_export]
macro_rules! json {
    ($($json:tt)+) => {
        $crate::Value::from($crate::serde_json_json!($($json)+))
    };
}

#[cfg(test)]
mod tests;

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
