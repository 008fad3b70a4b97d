//! The costs of calls, and the sizes of values: as cel-go measures them, and in memory. The costs are cel-go's and those
//! of Kubernetes' libraries, for actual runs, not for estimates.
//!
//! Where a price is not known for certain (libraries that the versions of Kubernetes price differently), it is the
//! lowest, so that what an API server accepts is accepted: a limit is hit here where it is hit there, or later.
//!
//! Source: google/cel-go interpreter/runtimecost.go@v0.26.0,
//! kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/library/cost.go@v1.34.1.

use apimachinery::Url;
use kube_cel::cel::Value;
use kube_cel::cel::common::ast::operators;
use kube_cel::cel::objects::{Key, OptionalValue};

use crate::meter::{BYTES_MAX, Failure, Meter, Stop};
use crate::url::url;

/// A list that is made of what is not constant.
pub(crate) const LIST: u64 = 10;
/// Such a map.
pub(crate) const MAP: u64 = 30;

/// The cost of a call in addition to its operands: the target, then the arguments.
pub(crate) fn price(name: &str, operands: &[&Value], result: &Value) -> u64 {
    let of = |index: usize| operands.get(index).map_or(0, |value| size(value));
    let first_text = matches!(operands.first(), Some(Value::String(_) | Value::Bytes(_)));
    match name {
        "startsWith" | "endsWith" => tenths(of(0)),
        "bytes" if first_text => tenths(of(0)),
        "string" if matches!(operands.first(), Some(Value::Bytes(_))) => tenths(of(0)),
        operators::IN if matches!(operands.get(1), Some(Value::List(_))) => of(1),
        operators::EQUALS | operators::NOT_EQUALS => tenths(of(0).min(of(1))),
        operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS
            if first_text =>
        {
            tenths(of(0).min(of(1)))
        }
        operators::ADD if first_text => tenths(of(0).saturating_add(of(1))),
        "matches" | "find" | "findAll" => tenths(of(0).saturating_add(1)).saturating_mul(of(1).div_ceil(4)),
        "contains" => tenths(of(0)).saturating_mul(tenths(of(1))),
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            operands.first().map_or(0, |value| traversal(value))
        }
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "ip"
        | "quantity" | "isQuantity" => tenths(of(0)),
        "replace" | "split" | "ip.isCanonical" => tenths(of(0).saturating_mul(2)),
        "join" => tenths(size(result).saturating_mul(2)),
        _ => 1,
    }
}

/// The traversal of a text: a tenth, rounded up.
const fn tenths(size: u64) -> u64 {
    size.div_ceil(10)
}

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
