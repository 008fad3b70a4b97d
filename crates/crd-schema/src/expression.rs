//! Parts of an expression.
//!
//! Owns: going to each. Flows in: an expression. Flows out: the same with other parts. Must not know: what is changed.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{EntryExpr, Expr};

/// Puts every direct child through `change`.
pub(crate) fn with_children(expression: IdedExpr, change: &mut impl FnMut(IdedExpr) -> IdedExpr) -> IdedExpr {
    let IdedExpr { id, mut expr } = expression;
    match &mut expr {
        Expr::Call(call) => {
            let target = call.target.as_deref_mut();
            for child in target.into_iter().chain(&mut call.args) {
                *child = change(std::mem::take(child));
            }
        }
        Expr::Comprehension(comprehension) => {
            for child in [
                &mut comprehension.iter_range,
                &mut comprehension.accu_init,
                &mut comprehension.loop_cond,
                &mut comprehension.loop_step,
                &mut comprehension.result,
            ] {
                *child = change(std::mem::take(child));
            }
        }
        Expr::List(list) => {
            for child in &mut list.elements {
                *child = change(std::mem::take(child));
            }
        }
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = change(std::mem::take(&mut entry.key));
                    entry.value = change(std::mem::take(&mut entry.value));
                }
            }
        }
        Expr::Select(select) => *select.operand = change(std::mem::take(&mut select.operand)),
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
    }
    IdedExpr { id, expr }
}
