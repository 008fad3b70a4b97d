//! The sizes of values: as cel-go measures them, and in memory.

use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, OptionalValue};

use crate::meter::{BYTES_MAX, Failure, Meter, Stop};
use crate::url::url;
use apimachinery::Url;

/// A value in a list.
pub(crate) const ITEM: usize = size_of::<Value>();
/// What is around a text of its own.
pub(crate) const TEXT: usize = 48;
/// An entry of a map, without its key's text and its value's parts.
pub(crate) const ENTRY: usize = ITEM + size_of::<Key>() + 16;

/// The size that cel-go's prices speak of: characters, bytes, items or entries; one of anything else.
/// google/cel-go interpreter/runtimecost.go@v0.26.0 `actualSize`.
pub(crate) fn size(value: &Value) -> u64 {
    let size = match value {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len(),
        Value::Map(map) => map.map.len(),
        _ => 1,
    };
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// The cost of going through all of a value.
/// kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/library/cost.go@v1.34.1 `traversalCost`.
pub(crate) fn traversal(value: &Value) -> u64 {
    let text = |bytes: usize| u64::try_from(bytes / 10).unwrap_or(u64::MAX);
    match value {
        Value::String(of) => text(of.len()),
        Value::Bytes(of) => text(of.len()),
        Value::List(items) => items.iter().map(traversal).fold(0, u64::saturating_add),
        // Kubernetes adds the keys, of which only the sum matters, like that of the values.
        Value::Map(map) => map.map.values().map(traversal).fold(0, u64::saturating_add),
        _ => 1,
    }
}

/// The bytes of a value with all its parts. A part in two places counts twice, because a copy duplicates it.
pub(crate) fn deep(value: &Value, meter: &mut Meter<'_, '_>) -> Result<usize, Failure> {
    let mut bytes = 0;
    add(value, &mut bytes, meter)?;
    Ok(bytes)
}

fn add(value: &Value, bytes: &mut usize, meter: &mut Meter<'_, '_>) -> Result<(), Failure> {
    meter.work(1)?;
    let own = match value {
        Value::String(text) => text.len().saturating_add(TEXT),
        Value::Bytes(of) => of.len().saturating_add(TEXT),
        _ => 0,
    };
    *bytes = bytes.saturating_add(own).saturating_add(ITEM);
    if *bytes > BYTES_MAX {
        return Err(Stop::Memory.into());
    }
    match value {
        Value::List(items) => items.iter().try_for_each(|item| add(item, bytes, meter)),
        Value::Map(map) => {
            // Their sum is the same in any order, and so is whether it is too large.
            #[expect(clippy::iter_over_hash_type, reason = "a sum")]
            for (key, value) in map.map.iter() {
                *bytes = bytes.saturating_add(ENTRY).saturating_add(key_bytes(key));
                add(value, bytes, meter)?;
            }
            Ok(())
        }
        Value::Opaque(opaque) => {
            *bytes = bytes.saturating_add(url(value).map_or(0, Url::bytes));
            match opaque
                .downcast_ref::<OptionalValue>()
                .and_then(OptionalValue::value)
            {
                Some(value) => add(value, bytes, meter),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn key_bytes(key: &Key) -> usize {
    match key {
        Key::String(text) => text.len().saturating_add(TEXT),
        _ => 0,
    }
}
