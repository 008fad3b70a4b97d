//! Why an expression has no value, in cel-go's wording.
//!
//! Owns: this wording. Flows in: the `cel` crate's errors. Flows out: text. Must not know: rules.
//!
//! Source: google/cel-go common/types/err.go and overflow.go@v0.26.0.

use kube_cel::cel::{ExecutionError, Value};

/// The text of an error; none if types do not match, which API servers report in more detail.
pub(crate) fn words(error: &ExecutionError) -> Option<String> {
    Some(match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::IndexOutOfBounds(Value::Int(index)) => format!("index out of bounds: {index}"),
        ExecutionError::IndexOutOfBounds(_) => "index out of bounds".to_owned(),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(_, Value::UInt(_), _) => "unsigned integer overflow".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::FunctionError { message, .. } => message.clone(),
        ExecutionError::MissingArgumentOrTarget => "an argument has no value".to_owned(),
        _ => return None,
    })
}
