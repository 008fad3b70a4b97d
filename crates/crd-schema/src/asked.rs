//! Which parts of its value a CEL rule reads.
//!
//! Owns: finding the fields of `self` that an expression reads. Flows in: an expression. Flows out: yes or no. Must not
//! know: any value.

use cel_eval::parts;
use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{Expr, LiteralValue};

/// The value that a rule is at.
const SELF: &str = "self";
/// `self.?field`.
const OPTIONAL_SELECT: &str = "_?._";

/// Whether an expression reads only these fields of `self`.
pub(crate) fn asks_only_for(expression: &IdedExpr, fields: &[&str]) -> bool {
    if let Expr::Call(call) = &expression.expr
        && let (OPTIONAL_SELECT, [operand, field]) = (call.func_name.as_str(), call.args.as_slice())
        && is_self(operand)
    {
        return match &field.expr {
            Expr::Literal(LiteralValue::String(field)) => fields.contains(&field.inner()),
            _ => false,
        };
    }
    match &expression.expr {
        Expr::Ident(name) => name != SELF,
        Expr::Select(select) if is_self(&select.operand) => fields.contains(&select.field.as_str()),
        _ => parts(expression)
            .into_iter()
            .all(|part| asks_only_for(part, fields)),
    }
}

fn is_self(expression: &IdedExpr) -> bool {
    matches!(&expression.expr, Expr::Ident(name) if name == SELF)
}
