//! Which parts of its value a CEL rule reads.
//!
//! Owns: finding the fields of `self` that an expression reads. Flows in: an expression. Flows out: yes or no. Must not
//! know: any value.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{EntryExpr, Expr, LiteralValue};

/// The value that a rule is at.
const SELF: &str = "self";
/// `self.?field`.
const OPTIONAL_SELECT: &str = "_?._";

/// Whether an expression reads only these fields of `self`.
pub(crate) fn asks_only_for(expression: &IdedExpr, fields: &[&str]) -> bool {
    let all = |parts: &[IdedExpr]| parts.iter().all(|part| asks_only_for(part, fields));
    match &expression.expr {
        Expr::Ident(name) => name != SELF,
        Expr::Unspecified | Expr::Literal(_) => true,
        Expr::Select(select) if is_self(&select.operand) => fields.contains(&select.field.as_str()),
        Expr::Select(select) => asks_only_for(&select.operand, fields),
        Expr::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
            (OPTIONAL_SELECT, [operand, field]) if is_self(operand) => match &field.expr {
                Expr::Literal(LiteralValue::String(field)) => fields.contains(&field.inner()),
                _ => false,
            },
            (_, args) => {
                all(args)
                    && call
                        .target
                        .as_ref()
                        .is_none_or(|target| asks_only_for(target, fields))
            }
        },
        Expr::List(list) => all(&list.elements),
        Expr::Map(map) => map.entries.iter().all(|entry| entry_asks(&entry.expr, fields)),
        Expr::Struct(message) => message
            .entries
            .iter()
            .all(|entry| entry_asks(&entry.expr, fields)),
        Expr::Comprehension(comprehension) => [
            &comprehension.iter_range,
            &comprehension.accu_init,
            &comprehension.loop_cond,
            &comprehension.loop_step,
            &comprehension.result,
        ]
        .into_iter()
        .all(|part| asks_only_for(part, fields)),
    }
}

fn is_self(expression: &IdedExpr) -> bool {
    matches!(&expression.expr, Expr::Ident(name) if name == SELF)
}

fn entry_asks(entry: &EntryExpr, fields: &[&str]) -> bool {
    match entry {
        EntryExpr::MapEntry(entry) => {
            asks_only_for(&entry.key, fields) && asks_only_for(&entry.value, fields)
        }
        EntryExpr::StructField(field) => asks_only_for(&field.value, fields),
    }
}
