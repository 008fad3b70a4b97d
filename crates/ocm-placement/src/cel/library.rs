//! Functions that neither the engine nor Kubernetes' libraries have.
//!
//! Owns: OCM's `scores` and `parseJSON`, cel-go's `type`, `dyn` and `bool`, and what `rewrite` puts into
//! expressions. Flows in: add-on scores, the counter of cost. Flows out: a context that knows them.
//! Must not know: which expressions call them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::{Key, Map, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, Value};
use serde_json::Value as Json;

use crate::input::Input;

/// `@charge(price, condition)`: the condition, once the price is paid.
pub(super) const CHARGE: &str = "@charge";
/// `@scores(cluster, name)`: what `managedCluster.scores(name)` means.
pub(super) const SCORES: &str = "@scores";
/// `@equal(a, b)`: equality as in cel-go.
pub(super) const EQUAL: &str = "@equal";
/// `@member(element, container)`: membership by that equality.
pub(super) const MEMBER: &str = "@member";

/// The names of types that an expression may compare `type(x)` with, and what `type` returns for them.
pub(super) const TYPES: [(&str, &str); 9] = [
    ("bool", "bool"),
    ("bytes", "bytes"),
    ("double", "double"),
    ("int", "int"),
    ("list", "list"),
    ("map", "map"),
    ("null_type", "null_type"),
    ("string", "string"),
    ("uint", "uint"),
];

/// Lists of `{name, value}` by cluster, then by AddOnPlacementScore. `validUntil` does not count here.
#[derive(Debug, Default)]
pub(super) struct Scores {
    by_cluster: HashMap<String, HashMap<String, Value>>,
}

impl Scores {
    pub(super) fn new(input: &Input<'_>) -> Self {
        let mut scores = Self::default();
        for object in &input.inventory.scores {
            let items = object.scores.iter().map(|(name, value)| {
                let entries = HashMap::from([
                    (Key::from("name".to_owned()), Value::from(*name)),
                    (Key::from("value".to_owned()), Value::Int(i64::from(*value))),
                ]);
                Value::Map(Map {
                    map: Arc::new(entries),
                })
            });
            let cluster = scores.by_cluster.entry(object.cluster.to_owned()).or_default();
            // Of two objects with one identity (an error elsewhere) the first one counts.
            cluster
                .entry(object.name.to_owned())
                .or_insert_with(|| Value::List(Arc::new(items.collect())));
        }
        scores
    }
}

/// Adds everything to a context. `spent` counts cost; beyond `limit` a loop fails.
pub(super) fn register(context: &mut Context<'_>, scores: Arc<Scores>, spent: &Arc<AtomicU64>, limit: u64) {
    let counter = spent.clone();
    context.add_function(
        CHARGE,
        move |price: i64, condition: Value| -> Result<Value, ExecutionError> {
            let price = u64::try_from(price).unwrap_or(u64::MAX);
            let before = counter.fetch_add(price, Ordering::Relaxed);
            if before.saturating_add(price) > limit {
                return Err(ExecutionError::function_error(
                    "loop",
                    "operation cancelled: actual cost limit exceeded",
                ));
            }
            Ok(condition)
        },
    );
    let counter = spent.clone();
    context.add_function(
        SCORES,
        move |cluster: Value, name: Value| -> Result<Value, ExecutionError> {
            let (Value::String(cluster), Value::String(name)) = (&cluster, &name) else {
                return Err(ExecutionError::NoSuchOverload);
            };
            let list = scores
                .by_cluster
                .get(cluster.as_str())
                .and_then(|objects| objects.get(name.as_str()));
            let list = list
                .ok_or_else(|| ExecutionError::function_error("scores", "failed to get score: not found"))?;
            if let Value::List(items) = list {
                // A list and for each of its maps the map and the call, by OCM's own estimate.
                let items = u64::try_from(items.len()).unwrap_or(u64::MAX);
                counter.fetch_add(items.saturating_mul(31).saturating_add(10), Ordering::Relaxed);
            }
            Ok(list.clone())
        },
    );
    context.add_function(
        "parseJSON",
        |This(text): This<Value>| -> Result<Value, ExecutionError> {
            let Value::String(text) = text else {
                return Err(ExecutionError::NoSuchOverload);
            };
            let parsed: Json = serde_json::from_str(&text)
                .map_err(|error| ExecutionError::function_error("parseJSON", error.to_string()))?;
            Ok(decoded(&parsed))
        },
    );
    context.add_function(EQUAL, |a: Value, b: Value| -> Result<Value, ExecutionError> {
        Ok(Value::Bool(equal(&a, &b)))
    });
    context.add_function(
        MEMBER,
        |element: Value, container: Value| -> Result<Value, ExecutionError> {
            match &container {
                Value::List(items) => Ok(Value::Bool(items.iter().any(|item| equal(&element, item)))),
                Value::Map(map) => Ok(Value::Bool(
                    key_of(&element).is_some_and(|key| map.get(&key).is_some()),
                )),
                _ => Err(ExecutionError::NoSuchOverload),
            }
        },
    );
    context.add_function("dyn", |value: Value| -> Result<Value, ExecutionError> {
        Ok(value)
    });
    context.add_function("bool", |value: Value| -> Result<Value, ExecutionError> {
        match &value {
            Value::Bool(_) => Ok(value),
            Value::String(text) => match text.as_str() {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
                _ => Err(ExecutionError::function_error(
                    "bool",
                    "type conversion error from string to bool",
                )),
            },
            _ => Err(ExecutionError::NoSuchOverload),
        }
    });
    context.add_function("type", |value: Value| -> Result<Value, ExecutionError> {
        let name = match &value {
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Int(_) => "int",
            Value::UInt(_) => "uint",
            Value::Float(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Bool(_) => "bool",
            Value::Null => "null_type",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            _ => "dyn",
        };
        Ok(type_value(name))
    });
    for (name, value) in TYPES {
        context.add_variable_from_value(name, type_value(value));
    }
}

/// A type as a value; no text that a cluster can hold equals it.
fn type_value(name: &str) -> Value {
    Value::String(Arc::new(format!("\u{0}type:{name}")))
}

/// A JSON value as Go's decoder leaves it: every number a float.
fn decoded(value: &Json) -> Value {
    match value {
        Json::Number(number) => number.as_f64().map_or(Value::Null, Value::Float),
        other => super::view::converted(other, &decoded),
    }
}

/// Equality as in cel-go: numbers by value whatever their type, lists and maps by their elements.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let same = |(key, value): (&Key, &Value)| b.get(key).is_some_and(|other| equal(value, other));
            a.map.len() == b.map.len() && a.map.iter().all(same)
        }
        (Value::Opaque(one), Value::Opaque(other)) => {
            let (one, other) = (
                one.downcast_ref::<OptionalValue>(),
                other.downcast_ref::<OptionalValue>(),
            );
            match (one, other) {
                (Some(one), Some(other)) => match (one.value(), other.value()) {
                    (Some(one), Some(other)) => equal(one, other),
                    (one, other) => one.is_none() && other.is_none(),
                },
                _ => a == b,
            }
        }
        (
            Value::Int(_) | Value::UInt(_) | Value::Float(_),
            Value::Int(_) | Value::UInt(_) | Value::Float(_),
        ) => number_equal(a, b),
        _ => a == b,
    }
}

#[allow(clippy::float_cmp, clippy::cast_precision_loss)]
fn number_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::UInt(a), Value::UInt(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Int(int), Value::UInt(uint)) | (Value::UInt(uint), Value::Int(int)) => {
            u64::try_from(*int).is_ok_and(|int| int == *uint)
        }
        (Value::Int(int), Value::Float(float)) | (Value::Float(float), Value::Int(int)) => {
            *int as f64 == *float
        }
        (Value::UInt(uint), Value::Float(float)) | (Value::Float(float), Value::UInt(uint)) => {
            *uint as f64 == *float
        }
        _ => false,
    }
}

/// A value as the key of a map; a float without a fraction counts as an integer.
fn key_of(value: &Value) -> Option<Key> {
    match value {
        Value::Float(float) if float.fract() == 0.0 && float.abs() < 9e15 => {
            #[allow(clippy::cast_possible_truncation)]
            let integer = *float as i64;
            Some(Key::from(integer))
        }
        Value::Float(_) => None,
        other => other.clone().try_into().ok(),
    }
}
