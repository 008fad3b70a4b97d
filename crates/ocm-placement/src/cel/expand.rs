//! Macros that the parser does not know: `optMap` and `optFlatMap` of cel-go's optional types.
//!
//! Owns: their expansion. Flows in: a parsed expression. Flows out: one without them. Must not know: types.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, operators,
};

/// Nodes of an expression with macros in it, once they are expanded. Each macro copies what it is called on, as in
/// cel-go (google/cel-go cel/library.go@v0.26.0 `optMap`), so each link of a chain doubles all before it.
const MOST_NODES: usize = 100_000;

/// The nodes that an expanded macro adds to the copy of what it is called on.
const MACRO: usize = 9;

/// Expands both macros everywhere.
///
/// # Errors
/// The first argument of a macro is no simple name; the expression becomes too large.
pub(super) fn expand(expression: IdedExpr) -> Result<IdedExpr, String> {
    measured(expression).map(|(expanded, _)| expanded)
}

/// An expanded expression and the number of its nodes.
fn measured(expression: IdedExpr) -> Result<(IdedExpr, usize), String> {
    let mut nodes = 1usize;
    // A call's target comes first.
    let mut first = None;
    let expression = map_children(expression, &mut |child| {
        let (child, size) = measured(child)?;
        nodes = nodes.saturating_add(size);
        first.get_or_insert(size);
        Ok(child)
    })?;
    let Some(flat) = macro_of(&expression) else {
        return Ok((expression, nodes));
    };
    let nodes = nodes
        .saturating_add(first.unwrap_or_default())
        .saturating_add(MACRO);
    if nodes > MOST_NODES {
        return Err(format!(
            "expression too complex: its macros expand to more than {MOST_NODES} operations"
        ));
    }
    Ok((expand_here(expression, flat)?, nodes))
}

/// Whether a call is a macro, and whether that is the flat one.
fn macro_of(expression: &IdedExpr) -> Option<bool> {
    match &expression.expr {
        Expr::Call(call) if call.target.is_some() && call.args.len() == 2 => match call.func_name.as_str() {
            "optMap" => Some(false),
            "optFlatMap" => Some(true),
            _ => None,
        },
        _ => None,
    }
}

fn expand_here(expression: IdedExpr, flat: bool) -> Result<IdedExpr, String> {
    let IdedExpr { id, expr } = expression;
    let Expr::Call(CallExpr { target, args, .. }) = expr else {
        return Ok(IdedExpr { id, expr });
    };
    let mut args = args.into_iter();
    let (Some(target), Some(variable), Some(body)) = (target, args.next(), args.next()) else {
        return Err("macro without arguments".to_owned());
    };
    let Expr::Ident(variable) = variable.expr else {
        return Err("argument must be a simple name".to_owned());
    };
    let node = |expr| IdedExpr { id, expr };
    let method = |target: IdedExpr, name: &str, args| {
        node(Expr::Call(CallExpr {
            func_name: name.to_owned(),
            target: Some(Box::new(target)),
            args,
        }))
    };
    let optional = || node(Expr::Ident("optional".to_owned()));
    // A loop over nothing binds a name: its accumulator.
    let bound = node(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: node(Expr::List(ListExpr::new(Vec::new()))),
        iter_var: "#unused".to_owned(),
        iter_var2: None,
        accu_init: method((*target).clone(), "value", Vec::new()),
        loop_cond: node(Expr::Literal(LiteralValue::Boolean(false.into()))),
        loop_step: node(Expr::Ident(variable.clone())),
        accu_var: variable,
        result: body,
    })));
    let present = if flat {
        bound
    } else {
        method(optional(), "of", vec![bound])
    };
    Ok(node(Expr::Call(CallExpr {
        func_name: operators::CONDITIONAL.to_owned(),
        target: None,
        args: vec![
            method(*target, "hasValue", Vec::new()),
            present,
            method(optional(), "none", Vec::new()),
        ],
    })))
}

/// Puts every direct child through `change`.
pub(super) fn map_children(
    expression: IdedExpr,
    change: &mut impl FnMut(IdedExpr) -> Result<IdedExpr, String>,
) -> Result<IdedExpr, String> {
    let IdedExpr { id, expr } = expression;
    let expr = match expr {
        Expr::Call(mut call) => {
            if let Some(target) = call.target.take() {
                call.target = Some(Box::new(change(*target)?));
            }
            call.args = call
                .args
                .into_iter()
                .map(&mut *change)
                .collect::<Result<_, _>>()?;
            Expr::Call(call)
        }
        Expr::Comprehension(mut comprehension) => {
            comprehension.iter_range = change(comprehension.iter_range)?;
            comprehension.accu_init = change(comprehension.accu_init)?;
            comprehension.loop_cond = change(comprehension.loop_cond)?;
            comprehension.loop_step = change(comprehension.loop_step)?;
            comprehension.result = change(comprehension.result)?;
            Expr::Comprehension(comprehension)
        }
        Expr::List(mut list) => {
            list.elements = list
                .elements
                .into_iter()
                .map(&mut *change)
                .collect::<Result<_, _>>()?;
            Expr::List(list)
        }
        Expr::Map(mut map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = change(std::mem::take(&mut entry.key))?;
                    entry.value = change(std::mem::take(&mut entry.value))?;
                }
            }
            Expr::Map(map)
        }
        Expr::Select(mut select) => {
            *select.operand = change(std::mem::take(&mut select.operand))?;
            Expr::Select(select)
        }
        other @ (Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_)) => other,
    };
    Ok(IdedExpr { id, expr })
}
