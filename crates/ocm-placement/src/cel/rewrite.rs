//! Rewriting what the engine evaluates otherwise than cel-go, and counting cost.
//!
//! Owns: these differences. Field selection on something that is no map is false in the engine and an error in
//! cel-go: it becomes indexing. Selecting a missing field optionally is an error in the engine and no value in
//! cel-go: it becomes optional indexing. `has()` becomes `in`. Equality compares an integer with a float by
//! value. Each turn of a loop pays what its body costs by cel-go's prices (names, fields and calls 1, lists 10,
//! maps 30); sizes of strings are not priced.
//! Flows in: a checked expression. Flows out: one to run. Must not know: clusters.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, operators};

use super::expand::map_children;
use super::library::{CHARGE, EQUAL, MEMBER, SCORES};

/// An expression to run.
pub(super) struct Rewritten {
    pub(super) expression: IdedExpr,
    /// What it costs but for its loops.
    pub(super) cost: u64,
    /// Whether it asks for add-on scores.
    pub(super) scores: bool,
}

pub(super) fn rewrite(expression: IdedExpr) -> Rewritten {
    let cost = cost(&expression);
    let mut scores = false;
    Rewritten {
        expression: change(expression, &mut scores),
        cost,
        scores,
    }
}

/// cel-go's prices. A loop's body is paid turn by turn.
fn cost(expression: &IdedExpr) -> u64 {
    let all = |list: &[IdedExpr]| list.iter().map(cost).fold(0u64, u64::saturating_add);
    match &expression.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Struct(_) => 0,
        Expr::Ident(_) => 1,
        Expr::Select(select) => cost(&select.operand).saturating_add(1),
        Expr::List(list) => all(&list.elements).saturating_add(10),
        Expr::Map(map) => map
            .entries
            .iter()
            .map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => cost(&entry.key).saturating_add(cost(&entry.value)),
                EntryExpr::StructField(field) => cost(&field.value),
            })
            .fold(30, u64::saturating_add),
        Expr::Call(call) => {
            let target = call.target.as_deref().map(cost).unwrap_or_default();
            all(&call.args).saturating_add(target).saturating_add(1)
        }
        Expr::Comprehension(comprehension) => [
            &comprehension.iter_range,
            &comprehension.accu_init,
            &comprehension.result,
        ]
        .into_iter()
        .map(cost)
        .fold(0, u64::saturating_add),
    }
}

fn change(expression: IdedExpr, scores: &mut bool) -> IdedExpr {
    let turn = match &expression.expr {
        Expr::Comprehension(comprehension) => {
            cost(&comprehension.loop_cond).saturating_add(cost(&comprehension.loop_step))
        }
        _ => 0,
    };
    // Nothing here fails: the result is there in either case.
    let children = map_children(expression, &mut |child| Ok(change(child, scores)));
    let IdedExpr { id, expr } = children.unwrap_or_default();
    let expr = match expr {
        Expr::Select(select) => {
            let field = text(id, &select.field);
            if select.test {
                call(operators::IN, vec![field, *select.operand])
            } else {
                call(operators::INDEX, vec![*select.operand, field])
            }
        }
        Expr::Call(call) => changed_call(id, call, scores),
        Expr::Comprehension(mut comprehension) => {
            let price = i64::try_from(turn.max(1)).unwrap_or(i64::MAX);
            let price = node(id, Expr::Literal(LiteralValue::Int(price.into())));
            let condition = std::mem::take(&mut comprehension.loop_cond);
            comprehension.loop_cond = node(id, call(CHARGE, vec![price, condition]));
            Expr::Comprehension(comprehension)
        }
        other => other,
    };
    node(id, expr)
}

fn changed_call(id: u64, mut changed: CallExpr, scores: &mut bool) -> Expr {
    let plain = |argument: Option<&IdedExpr>| {
        use LiteralValue::{Boolean, Null, String};
        matches!(
            argument.map(|argument| &argument.expr),
            Some(Expr::Literal(String(_) | Boolean(_) | Null))
        )
    };
    match changed.func_name.as_str() {
        operators::OPT_SELECT => operators::OPT_INDEX.clone_into(&mut changed.func_name),
        // Text, booleans and null equal nothing of another type: the engine's own comparison will do.
        operators::EQUALS if !changed.args.iter().any(|argument| plain(Some(argument))) => {
            EQUAL.clone_into(&mut changed.func_name);
        }
        operators::NOT_EQUALS if !changed.args.iter().any(|argument| plain(Some(argument))) => {
            EQUAL.clone_into(&mut changed.func_name);
            return call(operators::LOGICAL_NOT, vec![node(id, Expr::Call(changed))]);
        }
        operators::IN if !plain(changed.args.first()) => MEMBER.clone_into(&mut changed.func_name),
        "scores" => {
            if let (Some(cluster), Some(name)) = (changed.target.take(), changed.args.pop()) {
                *scores = true;
                let metadata = call(operators::INDEX, vec![*cluster, text(id, "metadata")]);
                let cluster = call(operators::INDEX, vec![node(id, metadata), text(id, "name")]);
                return call(SCORES, vec![node(id, cluster), name]);
            }
        }
        _ => {}
    }
    Expr::Call(changed)
}

fn node(id: u64, expr: Expr) -> IdedExpr {
    IdedExpr { id, expr }
}

fn text(id: u64, text: &str) -> IdedExpr {
    node(id, Expr::Literal(LiteralValue::String(text.into())))
}

fn call(function: &str, args: Vec<IdedExpr>) -> Expr {
    Expr::Call(CallExpr {
        func_name: function.to_owned(),
        target: None,
        args,
    })
}
