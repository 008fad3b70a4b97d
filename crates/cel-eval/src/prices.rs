//! The costs of calls. They are cel-go's and those of Kubernetes' libraries, for actual runs, not for estimates.
//!
//! Where a price is not known for certain (libraries that the versions of Kubernetes price differently), it is the lowest,
//! so that what an API server accepts is accepted: a limit is hit here where it is hit there, or later.
//!
//! Source: google/cel-go interpreter/runtimecost.go@v0.26.0,
//! kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/library/cost.go@v1.34.1.

use kube_cel::cel::Value;
use kube_cel::cel::common::ast::operators;

use crate::sizes::{size, traversal};

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
