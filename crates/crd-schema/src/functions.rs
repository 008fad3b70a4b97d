//! Functions that the `cel` crate evaluates otherwise than cel-go.
//!
//! Owns: what is rewritten of them, and those that take the place of the crate's. Flows in: a parsed expression, a context.
//! Flows out: an expression to run, a context that can run it. Must not know: rules.
//!
//! - an argument without a value: the crate forgets why, unless the argument stands in front as a method's target. So
//!   `size(a)` becomes `a.size()`;
//! - `duration`: the crate ignores what follows the last unit that it knows. Go's `time.ParseDuration` takes all or nothing.

use std::sync::Arc;

use kube_cel::cel::common::ast::Expr;
use kube_cel::cel::{Context, ExecutionError, IdedExpr, Value};

use crate::expression::with_children;

/// Functions of one argument that may as well be methods.
const METHODS: [&str; 5] = ["double", "int", "size", "string", "uint"];

/// Rewrites the calls in `expression`.
pub(crate) fn rewrite(expression: IdedExpr) -> IdedExpr {
    let IdedExpr { id, mut expr } = with_children(expression, &mut rewrite);
    if let Expr::Call(call) = &mut expr
        && call.target.is_none()
        && call.args.len() == 1
        && METHODS.contains(&call.func_name.as_str())
    {
        call.target = call.args.pop().map(Box::new);
    }
    IdedExpr { id, expr }
}

/// The functions that take the place of the crate's.
pub(crate) fn register(context: &mut Context<'_>) {
    context.add_function("duration", duration);
}

fn duration(text: Arc<String>) -> Result<Value, ExecutionError> {
    let refused = || {
        let message = "type conversion error from 'string' to 'google.protobuf.Duration'";
        ExecutionError::function_error("duration", message)
    };
    let nanoseconds = parse_duration(&text).ok_or_else(refused)?;
    // In parts that a float holds exactly: the crate reads them as floats.
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let (seconds, rest) = (all / NANOSECONDS, all % NANOSECONDS);
    kube_cel::cel::functions::duration(Arc::new(format!("{sign}{seconds}s{rest}ns")))
}

/// Nanoseconds in a second.
const NANOSECONDS: u64 = 1_000_000_000;

/// Go's `time.ParseDuration`: a sign, then numbers with units; a fraction of a nanosecond is cut off.
fn parse_duration(text: &str) -> Option<i64> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if body == "0" {
        return Some(0);
    }
    if body.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    let mut rest = body;
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after
            .find(|character: char| character == '.' || character.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        let unit: u64 = match unit {
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => NANOSECONDS,
            "m" => NANOSECONDS.checked_mul(60)?,
            "h" => NANOSECONDS.checked_mul(3600)?,
            _ => return None,
        };
        let whole = if whole.is_empty() {
            0
        } else {
            whole.parse::<u64>().ok()?
        };
        total = total
            .checked_add(whole.checked_mul(unit)?)?
            .checked_add(fraction_of(fraction, unit)?)?;
        rest = after;
    }
    // One more fits below zero than above.
    if negative {
        0_i64.checked_sub_unsigned(total)
    } else {
        i64::try_from(total).ok()
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// So many tenths, hundredths, and so on, of a unit.
fn fraction_of(digits: &str, unit: u64) -> Option<u64> {
    let (mut nanoseconds, mut step) = (0_u128, u128::from(unit).checked_mul(1_000_000_000_000_000_000)?);
    let scale = 1_000_000_000_000_000_000_u128;
    for digit in digits.bytes() {
        step /= 10;
        nanoseconds = nanoseconds.checked_add(u128::from(digit.checked_sub(b'0')?).checked_mul(step)?)?;
    }
    u64::try_from(nanoseconds / scale).ok()
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_are_those_of_go() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("+5s", 5_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("1h15m30.918273645s", 4_530_918_273_645),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("1\u{b5}s", 1_000),
            ("0.100000000000000000000h", 360_000_000_000),
            ("0.9ns", 0),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(parse_duration(text), Some(nanoseconds), "{text}");
        }
        for text in [
            "",
            "3",
            "-",
            "s",
            ".",
            "-.",
            ".s",
            "+.s",
            "1d",
            "7s\u{e9}",
            "1s ",
            " 1s",
            "\u{661}s",
            "9223372036854775808ns",
            "3000000h",
            "--1s",
            "1e3s",
            "infs",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
