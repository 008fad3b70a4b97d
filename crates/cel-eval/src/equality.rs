//! Equality and order, as in cel-go. Numbers are equal by value regardless of type, lists and maps by their elements,
//! optional values by their contents.
//!
//! Source: google/cel-go common/types/{compare,list,map,optional}.go@v0.26.0.

use std::cmp::Ordering;

use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, OptionalValue};

use crate::meter::{Failure, Meter};

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
