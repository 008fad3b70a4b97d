//! Access to values by fields, keys, and positions, including optional ones, and their equality and order, as in cel-go.
//! Numbers are equal by value regardless of type, lists and maps by their elements, optional values by their contents.
//!
//! Source: google/cel-go interpreter/attributes.go@v0.26.0 `refQualify`, `applyQualifiers`, and
//! google/cel-go common/types/{compare,list,map,optional}.go@v0.26.0.

use std::cmp::Ordering;
use std::sync::Arc;

use kube_cel::cel::objects::{Key, OptionalValue};
use kube_cel::cel::{ExecutionError, Value};

use crate::meter::{Failure, Meter};

/// The part that is found, or the error if a required part is missing.
type Found = Result<Value, ExecutionError>;

/// A part that must be there; from an optional value, an optional part.
pub(crate) fn get(value: &Value, key: &Value) -> Result<Value, ExecutionError> {
    match optional(value) {
        Some(_) => get_optional(value, key),
        None => find(value, key)?,
    }
}

/// A part that may be there.
pub(crate) fn get_optional(value: &Value, key: &Value) -> Result<Value, ExecutionError> {
    match holder(value) {
        Some(holder) => Ok(find(holder, key)?.map_or_else(|_| none(), some)),
        None => Ok(none()),
    }
}

/// Whether a part is there.
pub(crate) fn has(value: &Value, key: &Value) -> Result<bool, ExecutionError> {
    match holder(value) {
        Some(holder) => Ok(find(holder, key)?.is_ok()),
        None => Ok(false),
    }
}

/// The value whose fields and items are selected: the content of an optional, or the value itself. `None` for an empty
/// optional.
fn holder(value: &Value) -> Option<&Value> {
    optional(value).map_or(Some(value), OptionalValue::value)
}

fn find(value: &Value, key: &Value) -> Result<Found, ExecutionError> {
    match value {
        Value::Map(map) => {
            let key = key_of(key).ok_or(ExecutionError::NoSuchOverload)?;
            Ok(map.get(&key).cloned().ok_or_else(|| no_such_key(&key)))
        }
        Value::List(items) => {
            let index = match key_of(key) {
                Some(Key::Int(index)) => index,
                Some(Key::Uint(index)) => i64::try_from(index).unwrap_or(i64::MAX),
                _ => return Err(ExecutionError::NoSuchOverload),
            };
            let part = usize::try_from(index).ok().and_then(|index| items.get(index));
            let missing = || ExecutionError::IndexOutOfBounds(Value::Int(index));
            Ok(part.cloned().ok_or_else(missing))
        }
        _ => match key_of(key) {
            Some(key) => Ok(Err(no_such_key(&key))),
            None => Err(ExecutionError::NoSuchOverload),
        },
    }
}

/// A value as the key of a map; a float without a fraction counts as an integer.
pub(crate) fn key_of(value: &Value) -> Option<Key> {
    match value {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it has no fraction, and an integer holds it"
        )]
        Value::Float(float) if float.fract() == 0.0 && float.abs() < 9e15 => Some(Key::Int(*float as i64)),
        Value::Int(int) => Some(Key::Int(*int)),
        Value::UInt(uint) => Some(Key::Uint(*uint)),
        Value::Bool(flag) => Some(Key::Bool(*flag)),
        Value::String(text) => Some(Key::String(Arc::clone(text))),
        _ => None,
    }
}

fn no_such_key(key: &Key) -> ExecutionError {
    match key {
        Key::String(text) => ExecutionError::NoSuchKey(Arc::clone(text)),
        Key::Int(int) => ExecutionError::no_such_key(&int.to_string()),
        Key::Uint(uint) => ExecutionError::no_such_key(&uint.to_string()),
        Key::Bool(flag) => ExecutionError::no_such_key(&flag.to_string()),
    }
}

/// An optional value; `None` of any other one.
pub(crate) fn optional(value: &Value) -> Option<&OptionalValue> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref(),
        _ => None,
    }
}

/// An optional value with a value.
pub(crate) fn some(value: Value) -> Value {
    Value::Opaque(Arc::new(OptionalValue::of(value)))
}

/// An optional value without a value.
pub(crate) fn none() -> Value {
    Value::Opaque(Arc::new(OptionalValue::none()))
}

/// Whether two values are equal.
pub(crate) fn equal(a: &Value, b: &Value, meter: &mut Meter<'_, '_>) -> Result<bool, Failure> {
    meter.work(1)?;
    Ok(match (a, b) {
        (Value::String(a), Value::String(b)) => {
            meter.touch(a.len().min(b.len()))?;
            a == b
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            meter.touch(a.len().min(b.len()))?;
            a == b
        }
        (Value::List(a), Value::List(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal(a, b, meter)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(a), Value::Map(b)) => {
            if a.map.len() != b.map.len() {
                return Ok(false);
            }
            // What is compared until a difference is found must not depend on the order of a hash map.
            let mut keys: Vec<&Key> = a.map.keys().collect();
            meter.have_room(keys.len().saturating_mul(size_of::<&Key>()))?;
            keys.sort_unstable();
            for key in keys {
                let same = match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => equal(a, b, meter)?,
                    _ => false,
                };
                if !same {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Opaque(one), Value::Opaque(other)) => {
            match (
                one.downcast_ref::<OptionalValue>(),
                other.downcast_ref::<OptionalValue>(),
            ) {
                (Some(one), Some(other)) => match (one.value(), other.value()) {
                    (Some(one), Some(other)) => equal(one, other, meter)?,
                    (one, other) => one.is_none() && other.is_none(),
                },
                _ => a == b,
            }
        }
        _ => a == b,
    })
}

/// Which of two values comes first; `None` if they have no order.
pub(crate) fn compare(a: &Value, b: &Value, meter: &mut Meter<'_, '_>) -> Result<Option<Ordering>, Failure> {
    Ok(match (a, b) {
        (Value::String(a), Value::String(b)) => {
            meter.touch(a.len().min(b.len()))?;
            Some(a.cmp(b))
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            meter.touch(a.len().min(b.len()))?;
            Some(a.cmp(b))
        }
        (Value::Null, Value::Null) => None,
        _ => a.partial_cmp(b),
    })
}

/// Whether an element of a list equals a value.
pub(crate) fn contains(items: &[Value], element: &Value, meter: &mut Meter<'_, '_>) -> Result<bool, Failure> {
    for item in items {
        if equal(element, item, meter)? {
            return Ok(true);
        }
    }
    Ok(false)
}
