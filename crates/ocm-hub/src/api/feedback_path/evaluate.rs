//! What the steps of a path find in an object, as client-go evaluates them.
//!
//! Owns: fields, indexes, and filters. Flows in: [`Step`]s, an object. Flows out: the values found. Must not know: the
//! notation.
//!
//! Rules: `kubernetes/client-go util/jsonpath/jsonpath.go`, `third_party/forked/golang/template/funcs.go` (v0.34.1).

use std::cmp::Ordering;

use kube_json::Value;

use super::parse::{Operand, Operator, Step};

/// The values that the steps find, in order. `None` where client-go reports an error, so that the agent feeds nothing
/// back, and at a wildcard, a slice, a union, or `..`: a cluster adds fields and items of its own, which may come first.
pub(super) fn found<'v>(steps: &[Step], object: &'v Value) -> Option<Vec<&'v Value>> {
    let mut values = vec![object];
    for step in steps {
        let mut next = Vec::new();
        for value in values {
            match (step, value) {
                (Step::Field(name), Value::Object(fields)) => next.extend(fields.get(name)),
                // A missing field is no error, nor is a field of a value that has none. An item of `null` is nothing.
                (Step::Field(_), _) | (Step::Index(_), Value::Null) => {}
                (Step::Index(index), Value::Array(items)) => next.push(item(items, *index)?),
                (Step::Filter(left, comparison), Value::Array(items)) => {
                    for item in items {
                        if passes(left, comparison.as_ref(), item)? {
                            next.push(item);
                        }
                    }
                }
                _ => return None,
            }
        }
        values = next;
    }
    Some(values)
}

/// The item at an index, which counts from the end if it is negative.
fn item(items: &[Value], index: i64) -> Option<&Value> {
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 {
        items.get(items.len().checked_sub(from_end)?)
    } else {
        items.get(from_end)
    }
}

/// Whether a filter keeps an item. `None` is an error, as in [`found`].
fn passes(left: &[Step], comparison: Option<&(Operator, Operand)>, item: &Value) -> Option<bool> {
    let lefts = found(left, item)?;
    let Some((operator, operand)) = comparison else {
        return Some(!lefts.is_empty());
    };
    let rights = match operand {
        Operand::Literal(value) => vec![value],
        Operand::Path(right) => found(right, item)?,
    };
    // Compared paths have neither filters nor wildcards (`comparison` in parse.rs), so each finds one value or none.
    let (Some(left), Some(right)) = (lefts.first(), rights.first()) else {
        return Some(false);
    };
    compare(left, *operator, right)
}

/// A comparison. `None` is an error: two kinds differ, or have no such comparison. An integer and a float are two kinds.
fn compare(left: &Value, operator: Operator, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => match operator {
            Operator::Equal | Operator::NotEqual => Some(left.cmp(right)),
            _ => return None,
        },
        (Value::String(left), Value::String(right)) => Some(left.as_str().cmp(right.as_str())),
        (Value::Number(_), Value::Number(_)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
            _ => return None,
        },
        _ => return None,
    };
    Some(match operator {
        Operator::Equal => order == Some(Ordering::Equal),
        Operator::NotEqual => order != Some(Ordering::Equal),
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Greater => order == Some(Ordering::Greater),
        Operator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}
