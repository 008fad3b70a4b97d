//! Functions whose result can be larger than their arguments, that are slower elsewhere than they need to be, or that
//! other engines lack or evaluate differently than cel-go; and the memory limits of the remaining ones. Each call is
//! paid for before it runs.

use std::sync::Arc;

use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{ExecutionError, Value};

use crate::meter::{Failure, Meter};
use crate::prices::{ENTRY, ITEM, TEXT, deep};
use crate::values::{none, optional, some};
use crate::{engine, url};

/// Characters of what a function says of its arguments.
const MESSAGE_MAX: usize = 400;

/// A call whose operands have been evaluated.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c> {
    /// The function, with the name that it is behind.
    pub name: &'c str,
    /// The type that it is a method of.
    pub target: Option<&'c Value>,
    /// Its arguments.
    pub args: &'c [Value],
}

impl<'c> Call<'c> {
    /// The target and the arguments.
    pub(crate) fn operands(self) -> Vec<&'c Value> {
        self.target.into_iter().chain(self.args).collect()
    }
}

/// Whether a name is that of a type that an expression may compare `type(x)` with.
pub fn is_type(name: &str) -> bool {
    matches!(
        name,
        "bool" | "bytes" | "double" | "int" | "list" | "map" | "null_type" | "string" | "type" | "uint"
    )
}

/// Whether functions are behind a name, as in `optional.none()`.
pub(crate) fn is_space(name: &str) -> bool {
    matches!(
        name,
        "base64" | "format" | "ip" | "jsonpatch" | "lists" | "math" | "optional" | "sets" | "strings"
    )
}

/// The prefix of the text that stands for a type.
const TYPE_MARK: &str = "\u{0}type:";

/// A type as a value; no text that an object can have equals it.
pub(crate) fn type_named(name: &str) -> Value {
    Value::String(Arc::new(format!("{TYPE_MARK}{name}")))
}

/// The value of a call.
pub(crate) fn called(call: Call<'_>, meter: &mut Meter<'_, '_>) -> Result<Value, Failure> {
    let operands = call.operands();
    match (call.name, operands.as_slice()) {
        ("size", [of]) => match of {
            Value::List(items) => Ok(int(items.len())),
            Value::Map(map) => Ok(int(map.map.len())),
            Value::Bytes(bytes) => Ok(int(bytes.len())),
            Value::String(text) => {
                meter.touch(text.len())?;
                Ok(int(text.chars().count()))
            }
            _ => no_overload(),
        },
        ("startsWith", [Value::String(text), Value::String(part)]) => {
            Ok(Value::Bool(text.starts_with(part.as_str())))
        }
        ("endsWith", [Value::String(text), Value::String(part)]) => {
            Ok(Value::Bool(text.ends_with(part.as_str())))
        }
        ("contains", [Value::String(text), Value::String(part)]) => {
            meter.touch(text.len())?;
            Ok(Value::Bool(text.contains(part.as_str())))
        }
        ("startsWith" | "endsWith" | "contains", _) => no_overload(),
        ("matches", [Value::String(text), Value::String(pattern)]) => {
            let is_match = with_pattern("matches", pattern, text, meter, |pattern, _| {
                Ok(pattern.is_match(text))
            })?;
            Ok(Value::Bool(is_match))
        }
        ("find", [Value::String(text), Value::String(pattern)]) => {
            with_pattern("find", pattern, text, meter, |pattern, meter| {
                let found = pattern.matches(text).next().unwrap_or_default();
                meter.hold(found.len().saturating_add(TEXT))?;
                Ok(Value::from(found))
            })
        }
        ("findAll", [Value::String(text), Value::String(pattern), limit @ ..]) => {
            let limit = limit_of(limit)?;
            with_pattern("findAll", pattern, text, meter, |pattern, meter| {
                texts(pattern.matches(text).take(limit), meter)
            })
        }
        ("matches" | "find" | "findAll", _) => no_overload(),
        (
            "replace",
            [
                Value::String(text),
                Value::String(old),
                Value::String(new),
                limit @ ..,
            ],
        ) => replaced(text, old, new, limit_of(limit)?, meter),
        ("split", [Value::String(text), Value::String(separator), limit @ ..]) => {
            split(text, separator, limit_of(limit)?, meter)
        }
        ("join", [Value::List(items), separator @ ..]) => {
            let separator = match separator {
                [] => "",
                [Value::String(separator)] => separator,
                _ => return no_overload(),
            };
            joined(items, separator, meter)
        }
        ("indexOf", [Value::String(text), Value::String(part), from @ ..]) => {
            meter.touch(text.len())?;
            index_of(text, part, from)
        }
        ("lastIndexOf", [Value::String(text), Value::String(part), to @ ..]) => {
            meter.touch(text.len())?;
            last_index_of(text, part, to)
        }
        ("replace" | "split" | "join", _) => no_overload(),
        ("dyn", [value]) => Ok((*value).clone()),
        ("type", [value]) => Ok(type_named(type_name(value))),
        ("bool", [value]) => to_bool(value),
        ("string", [of @ (Value::Bool(_) | Value::Duration(_) | Value::Timestamp(_))]) => Ok(converted(of)),
        ("bytes", [Value::Bytes(bytes)]) => Ok(Value::Bytes(Arc::clone(bytes))),
        ("optional.none", []) => Ok(none()),
        ("optional.of", [value]) => Ok(some((*value).clone())),
        ("optional.ofNonZeroValue", [value]) => Ok(if value.is_zero() {
            none()
        } else {
            some((*value).clone())
        }),
        ("value", [of]) if optional(of).is_some() => match optional(of).and_then(OptionalValue::value) {
            Some(value) => Ok(value.clone()),
            None => Err(ExecutionError::function_error("value", "optional.none() dereference").into()),
        },
        ("hasValue", [of]) if optional(of).is_some() => {
            Ok(Value::Bool(optional(of).is_some_and(|of| of.value().is_some())))
        }
        _ => remaining(call, &operands, meter),
    }
}

/// A function of URLs or of `kube-cel`, once there is room for copies of its arguments and for its result.
fn remaining(call: Call<'_>, operands: &[&Value], meter: &mut Meter<'_, '_>) -> Result<Value, Failure> {
    let mut bytes = 0_usize;
    for operand in operands {
        bytes = bytes.saturating_add(deep(operand, meter)?);
    }
    // Its arguments are copied into the engine and out of it, and none of these functions writes more than four times
    // what it reads but for what is counted below.
    meter.have_room(bytes.saturating_mul(6))?;
    meter.work(16)?;
    let items = |value: Option<&&Value>| match value {
        Some(Value::List(items)) => items.len(),
        _ => 0,
    };
    let product = |a: usize, b: usize| u64::try_from(a.saturating_mul(b)).unwrap_or(u64::MAX);
    match (call.name, operands) {
        ("format", [Value::String(format), ..]) => meter.have_room(precisions(format))?,
        ("lists.range", [Value::Int(count)]) => {
            meter.have_room(usize::try_from(*count).unwrap_or_default().saturating_mul(ITEM))?;
        }
        ("distinct", [Value::List(items)]) => meter.work(product(items.len(), items.len()))?,
        ("sets.contains" | "sets.equivalent" | "sets.intersects", _) => {
            meter.work(product(items(operands.first()), items(operands.get(1))).saturating_mul(2))?;
        }
        ("getQuery", [of]) => {
            let pairs = url::url(of).map_or(0, |url| url.query().count());
            meter.have_room(pairs.saturating_mul(ENTRY + 2 * (ITEM + TEXT)))?;
        }
        ("quantity" | "isQuantity", [Value::String(text)]) if has_large_exponent(text) => {
            return Err(
                ExecutionError::function_error("quantity", "unable to parse quantity's suffix").into(),
            );
        }
        _ => {}
    }
    let value = match (call.name, operands) {
        // Of what is not one of a conversion's types, the crate would say all that it holds.
        ("string" | "double" | "int" | "uint" | "bytes", [Value::List(_) | Value::Map(_)]) => {
            return no_overload();
        }
        ("format", [format, Value::List(items)]) => {
            let items = items.iter().map(shown).collect::<Result<Vec<_>, _>>()?;
            engine::call(call.name, Some(format), &[&Value::List(Arc::new(items))])
        }
        _ => url::called(call.name, operands)
            .unwrap_or_else(|| engine::call(call.name, call.target, &call.args.iter().collect::<Vec<_>>())),
    };
    let value = value.map_err(without_values)?;
    let bytes = deep(&value, meter)?;
    meter.hold(bytes)?;
    Ok(value)
}

/// A list or a map as the text that a format makes of it, its entries in the order of their keys: the crate has that of
/// a hash map.
fn shown(value: &Value) -> Result<Value, ExecutionError> {
    match value {
        Value::List(_) | Value::Map(_) => text_of(value).map(Value::from),
        other => Ok(other.clone()),
    }
}

fn text_of(value: &Value) -> Result<String, ExecutionError> {
    let part = |value: &Value| match value {
        Value::String(text) => Ok(format!("\"{text}\"")),
        other => text_of(other),
    };
    Ok(match value {
        Value::List(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(part).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Map(map) => {
            let mut entries: Vec<_> = map.map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            let entry =
                |(key, value): (_, &Value)| Ok(format!("{}:{}", part(&Value::from(key))?, part(value)?));
            let entries: Result<Vec<_>, ExecutionError> = entries.into_iter().map(entry).collect();
            format!("{{{}}}", entries?.join(", "))
        }
        other => {
            let only = Value::List(Arc::new(vec![other.clone()]));
            match engine::call("format", Some(&Value::from("%s")), &[&only])? {
                Value::String(text) => text.to_string(),
                _ => return Err(ExecutionError::NoSuchOverload),
            }
        }
    })
}

/// An error without the values that it is about: they may be large, and a hash map has no order.
fn without_values(error: ExecutionError) -> ExecutionError {
    match error {
        ExecutionError::FunctionError { function, message } => ExecutionError::FunctionError {
            function,
            message: message.chars().take(MESSAGE_MAX).collect(),
        },
        ExecutionError::UndeclaredReference(_)
        | ExecutionError::NoSuchKey(_)
        | ExecutionError::IndexOutOfBounds(_)
        | ExecutionError::MissingArgumentOrTarget => error,
        _ => ExecutionError::NoSuchOverload,
    }
}

/// The result of an operator; if types do not match, the error has no values.
pub(crate) fn plain(result: Result<Value, ExecutionError>) -> Result<Value, ExecutionError> {
    result.map_err(|error| match error {
        ExecutionError::UnsupportedBinaryOperator(..) => ExecutionError::NoSuchOverload,
        other => other,
    })
}

/// The digits that a format requests: `%.20f`.
fn precisions(format: &str) -> usize {
    let digits = format.split("%.").skip(1).map(|rest| {
        let end = rest.find(|character: char| !character.is_ascii_digit());
        let digits = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if digits.is_empty() {
            0
        } else {
            digits.parse::<usize>().unwrap_or(usize::MAX)
        }
    });
    digits.fold(0, usize::saturating_add)
}

/// Whether a quantity's decimal exponent has more digits than any that Kubernetes can represent.
fn has_large_exponent(text: &str) -> bool {
    text.rsplit_once(['e', 'E'])
        .is_some_and(|(_, exponent)| exponent.trim_start_matches(['+', '-']).len() > 4)
}

fn with_pattern<T>(
    function: &str,
    pattern: &str,
    text: &str,
    meter: &mut Meter<'_, '_>,
    matched: impl FnOnce(&apimachinery::Pattern, &mut Meter<'_, '_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let compiled = meter.allowance().work().pattern(pattern)?;
    match &*compiled {
        Ok(pattern) => {
            meter.allowance().search(pattern, text)?;
            matched(pattern, meter)
        }
        Err(error) => {
            let message = format!("error parsing regexp: {error}");
            Err(ExecutionError::function_error(function, message).into())
        }
    }
}

/// At most so many; any number where the limit is negative or not there.
fn limit_of(limit: &[&Value]) -> Result<usize, Failure> {
    match limit {
        [] => Ok(usize::MAX),
        [Value::Int(limit)] => Ok(usize::try_from(*limit).unwrap_or(usize::MAX)),
        _ => no_overload(),
    }
}

fn texts<'t>(parts: impl Iterator<Item = &'t str>, meter: &mut Meter<'_, '_>) -> Result<Value, Failure> {
    let mut items = Vec::new();
    for part in parts {
        // A vector has up to twice the room that it needs, and for a moment also what it had before.
        meter.hold(part.len().saturating_add(TEXT).saturating_add(3 * ITEM))?;
        items.push(Value::from(part));
    }
    Ok(Value::List(Arc::new(items)))
}

fn replaced(
    text: &str,
    old: &str,
    new: &str,
    limit: usize,
    meter: &mut Meter<'_, '_>,
) -> Result<Value, Failure> {
    meter.touch(text.len())?;
    let times = text.matches(old).take(limit).count();
    let bytes = text
        .len()
        .saturating_add(times.saturating_mul(new.len()))
        .saturating_sub(times.saturating_mul(old.len()));
    meter.hold(bytes.saturating_add(TEXT))?;
    // It grows as it needs to: for a moment there are three times as many.
    meter.have_room(bytes.saturating_mul(2))?;
    Ok(Value::from(text.replacen(old, new, limit)))
}

/// Go's `strings.SplitN`: no separator cuts between all characters.
fn split(text: &str, separator: &str, limit: usize, meter: &mut Meter<'_, '_>) -> Result<Value, Failure> {
    meter.touch(text.len())?;
    if limit == 0 {
        return Ok(Value::List(Arc::default()));
    }
    if !separator.is_empty() {
        return texts(text.splitn(limit, separator), meter);
    }
    let mut rest = text;
    let mut parts = 0_usize;
    texts(
        std::iter::from_fn(|| {
            let first = rest.chars().next()?;
            parts = parts.saturating_add(1);
            let end = if parts == limit {
                rest.len()
            } else {
                first.len_utf8()
            };
            let (part, after) = rest.split_at_checked(end)?;
            rest = after;
            Some(part)
        }),
        meter,
    )
}

fn joined(items: &[Value], separator: &str, meter: &mut Meter<'_, '_>) -> Result<Value, Failure> {
    meter.work(u64::try_from(items.len()).unwrap_or(u64::MAX))?;
    let mut parts = Vec::new();
    meter.have_room(items.len().saturating_mul(size_of::<&str>()))?;
    let mut bytes = items.len().saturating_mul(separator.len());
    for item in items {
        let Value::String(part) = item else {
            return no_overload();
        };
        bytes = bytes.saturating_add(part.len());
        parts.push(part.as_str());
    }
    meter.hold(bytes.saturating_add(TEXT))?;
    Ok(Value::from(parts.join(separator)))
}

/// A position in characters as one in bytes.
fn byte_at(text: &str, position: usize) -> Option<usize> {
    let ends = std::iter::once(text.len());
    text.char_indices().map(|(at, _)| at).chain(ends).nth(position)
}

fn position_of(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or(0, |before| before.chars().count())
}

/// google/cel-go ext/strings.go@v0.26.0 `indexOfOffset`.
fn index_of(text: &str, part: &str, from: &[&Value]) -> Result<Value, Failure> {
    let from = match from {
        [] => 0,
        [Value::Int(from)] => *from,
        _ => return no_overload(),
    };
    let start = usize::try_from(from).ok().and_then(|from| byte_at(text, from));
    let found = start.and_then(|start| Some(start.saturating_add(text.get(start..)?.find(part)?)));
    Ok(found.map_or(Value::Int(-1), |byte| int(position_of(text, byte))))
}

/// The same file, `lastIndexOfOffset`: the match begins at that position or before it.
fn last_index_of(text: &str, part: &str, to: &[&Value]) -> Result<Value, Failure> {
    let end = match to {
        [] => Some(text.len()),
        [Value::Int(to)] => {
            let start = usize::try_from(*to)
                .ok()
                .map(|to| byte_at(text, to).unwrap_or(text.len()));
            start.map(|start| {
                let mut end = start.saturating_add(part.len()).min(text.len());
                while !text.is_char_boundary(end) {
                    end = end.saturating_sub(1);
                }
                end
            })
        }
        _ => return no_overload(),
    };
    let found = end.and_then(|end| text.get(..end)?.rfind(part));
    Ok(found.map_or(Value::Int(-1), |byte| int(position_of(text, byte))))
}

fn to_bool(value: &Value) -> Result<Value, Failure> {
    match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => {
                let message = "type conversion error from string to bool";
                Err(ExecutionError::function_error("bool", message).into())
            }
        },
        _ => no_overload(),
    }
}

/// The text of a flag or of a time, which the crate has no conversion for, or another one:
/// google/cel-go common/types/{bool,duration,timestamp}.go@v0.26.0 `ConvertToType`.
fn converted(value: &Value) -> Value {
    match value {
        Value::Duration(duration) => {
            let (whole, part) = (duration.num_seconds(), duration.subsec_nanos());
            #[expect(clippy::cast_precision_loss, reason = "cel-go counts seconds in floats, too")]
            let seconds = whole as f64 + f64::from(part) / 1e9;
            Value::from(format!("{seconds}s"))
        }
        Value::Timestamp(time) => {
            let part = format!("{:09}", time.timestamp_subsec_nanos());
            let part = part.trim_end_matches('0');
            let point = if part.is_empty() { "" } else { "." };
            let zone = match time.offset().local_minus_utc() {
                0 => "Z".to_owned(),
                _ => time.offset().to_string(),
            };
            Value::from(format!("{}{point}{part}{zone}", time.format("%Y-%m-%dT%H:%M:%S")))
        }
        other => Value::from(if *other == Value::Bool(true) {
            "true"
        } else {
            "false"
        }),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(text) if text.starts_with(TYPE_MARK) => "type",
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
    }
}

fn int(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) const fn no_overload<T>() -> Result<T, Failure> {
    Err(Failure::Error(ExecutionError::NoSuchOverload))
}
