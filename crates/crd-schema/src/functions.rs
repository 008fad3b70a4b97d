//! Functions that `kube-cel` evaluates differently than cel-go.
//!
//! Owns: the replacements for them. Flows in: a call. Flows out: its value. Must not know: rules.
//!
//! - `duration`: `kube-cel` ignores the text after the last unit that it knows. Go's `time.ParseDuration` accepts all
//!   or nothing.

use std::sync::Arc;

use apimachinery::duration;
use cel_eval::{Call, Failure, Functions, Meter};
use kube_cel::cel::{ExecutionError, Value};

/// The functions that rules may call in addition to those of every expression.
pub(crate) struct OfRules;

impl Functions for OfRules {
    fn call(&self, call: Call<'_>, _meter: &mut Meter<'_, '_>) -> Option<Result<Value, Failure>> {
        match (call.name, call.target, call.args) {
            ("duration", None, [Value::String(text)]) => Some(of_text(text).map_err(Failure::from)),
            _ => None,
        }
    }

    fn price(&self, _call: Call<'_>, _result: &Value) -> Option<u64> {
        None
    }
}

fn of_text(text: &str) -> Result<Value, ExecutionError> {
    let refused = || {
        let message = "type conversion error from 'string' to 'google.protobuf.Duration'";
        ExecutionError::function_error("duration", message)
    };
    let nanoseconds = duration::nanoseconds(text).ok_or_else(refused)?;
    // In parts that a float holds exactly: the crate reads them as floats.
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let (seconds, rest) = (all / NANOSECONDS, all % NANOSECONDS);
    kube_cel::cel::functions::duration(Arc::new(format!("{sign}{seconds}s{rest}ns")))
}

/// Nanoseconds in a second.
const NANOSECONDS: u64 = 1_000_000_000;
