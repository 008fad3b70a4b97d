//! The stored form of a value: defaults filled in, nulls pruned. An API server takes both steps between decoding and validation.

use std::borrow::Cow;

use apimachinery::{Allowance, Spent, Work};
use kube_json::Value;

use crate::check::{check, trusted};
use crate::compile::{Additional, Node};
use crate::metadata;

/// Whether anything inside is null, so that pruning has something to do.
pub(crate) fn contains_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(contains_null),
        Value::Object(fields) => fields.values().any(contains_null),
        _ => false,
    }
}

/// Whether a check of a value without nulls may find something else once its defaults are filled in. It checks each default, so
/// it is for schemas that can be trusted.
pub(crate) fn matters_to_checks(node: &Node) -> bool {
    let is_refused = |property: &Node| {
        let mut allowance = trusted().allowance_of(0);
        property.default.as_ref().is_some_and(|default| {
            let default = completed(property, default);
            !check(property, &metadata::NODE, &default, &mut allowance).is_empty()
        })
    };
    node.defaults_below
        && (node.judges_defaults()
            || is_refused(node)
            || node.below().any(|(_, below)| matters_to_checks(below)))
}

/// The stored form of a value: a copy if it differs. Defaults that multiply beyond some megabytes are not filled in.
pub(crate) fn completed<'v>(node: &Node, value: &'v Value) -> Cow<'v, Value> {
    if !may_change(node, value) {
        return Cow::Borrowed(value);
    }
    let work = Work::default();
    let completed = completed_within(node, value, &mut work.allowance(value));
    completed.unwrap_or(Cow::Borrowed(value))
}

/// As [`completed`], as far as there is work left.
pub(crate) fn completed_within<'v>(
    node: &Node,
    value: &'v Value,
    allowance: &mut Allowance<'_>,
) -> Result<Cow<'v, Value>, Spent> {
    if !may_change(node, value) {
        return Ok(Cow::Borrowed(value));
    }
    let mut copy = value.clone();
    complete(node, &mut copy, contains_null(value), allowance)?;
    Ok(Cow::Owned(copy))
}

/// Whether there is anything to fill in or to drop.
fn may_change(node: &Node, value: &Value) -> bool {
    node.defaults_below || (!node.is_innermost() && contains_null(value))
}

/// Fills in defaults whose parent is present, then drops nulls of fields that are not nullable.
///
/// A null with a default becomes the default; one without disappears; one in a list stays, and is refused: an item
/// that went would move the others. Both happen on the way down, so the default of an object brings the defaults
/// inside it, and nothing is filled in below a parent that is absent.
/// kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go@v1.34.1
/// and prunenulls.go beside it.
/// `nulls` says whether [`contains_null`]: without any, parts that have no defaults need no visit.
///
/// # Errors
/// There is no work left: defaults in lists that are defaults multiply.
pub(crate) fn complete(
    node: &Node,
    value: &mut Value,
    nulls: bool,
    allowance: &mut Allowance<'_>,
) -> Result<(), Spent> {
    if !nulls && !node.defaults_below {
        return Ok(());
    }
    match value {
        Value::Object(fields) => {
            let mut absent = Vec::new();
            for (name, property) in node.named(&node.with_default) {
                let is_absent = match fields.get(name) {
                    None => true,
                    Some(present) => present.is_null() && !property.nullable,
                };
                if let Some(default) = property.default.as_ref().filter(|_| is_absent) {
                    absent.push((name.clone(), copied(property, default, allowance)?));
                }
            }
            if !absent.is_empty() {
                fields.extend(absent);
            }
            if !nulls && matches!(node.additional, Additional::Unknown | Additional::Any) {
                // Only what may get a default is visited, because visiting to change makes a copy.
                for (name, schema) in node.named(&node.with_default_below) {
                    if let Some(field) = fields.get_mut(name) {
                        complete(schema, field, nulls, allowance)?;
                    }
                }
                return Ok(());
            }
            let mut result = Ok(());
            fields.retain(|name, field| {
                let Some(schema) = node.child(name) else {
                    return true;
                };
                if result.is_err() {
                    return true;
                }
                if field.is_null() && !schema.nullable {
                    match &schema.default {
                        Some(default) => {
                            result = allowance.copy(default);
                            if result.is_err() {
                                return true;
                            }
                            *field = default.clone();
                        }
                        None => return false,
                    }
                }
                result = complete(schema, field, nulls, allowance);
                true
            });
            result
        }
        Value::Array(items) => {
            let Some(schema) = node.items.as_deref() else {
                return Ok(());
            };
            for item in items {
                if let (true, false, Some(default)) = (item.is_null(), schema.nullable, &schema.default) {
                    allowance.copy(default)?;
                    *item = default.clone();
                }
                complete(schema, item, nulls, allowance)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A copy of the default of `node`. Nulls in it go, also where the value that it is for has none.
fn copied(node: &Node, default: &Value, allowance: &mut Allowance<'_>) -> Result<Value, Spent> {
    allowance.copy(default)?;
    let mut copy = default.clone();
    if contains_null(default) {
        complete(node, &mut copy, true, allowance)?;
    }
    Ok(copy)
}
