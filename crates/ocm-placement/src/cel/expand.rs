//! Macros that the parser does not know: `optMap` and `optFlatMap` of cel-go's optional types.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, operators,
};

/// Nodes of an expression with macros in it, once they are expanded. Each macro copies what it is called on, as in
/// cel-go (google/cel-go cel/library.go@v0.26.0 `optMap`), so each link of a chain doubles all before it.
const MOST_NODES: usize = 100_000;

/// The nodes that an expanded macro adds to the copy of what it is called on.
const MACRO: usize = 9;

/// Expands both macros everywhere; the number of nodes after it.
///
/// # Errors
/// The first argument of a macro is no simple name; the expression becomes too large.
pub(super) fn expand(expression: &mut IdedExpr) -> Result<usize, String> {
    let mut nodes = 1usize;
    // A call's target comes first.
    let mut first = None;
    for part in parts(&mut expression.expr) {
        let size = expand(part)?;
        nodes = nodes.saturating_add(size);
        first.get_or_insert(size);
    }
    let Expr::Call(call) = &mut expression.expr else {
        return Ok(nodes);
    };
    let is_macro = matches!(call.func_name.as_str(), "optMap" | "optFlatMap");
    if let Some(target) = call.target.take_if(|_| is_macro && call.args.len() == 2) {
        nodes = nodes
            .saturating_add(first.unwrap_or_default())
            .saturating_add(MACRO);
        if nodes > MOST_NODES {
            return Err(format!(
                "expression too complex: its macros expand to more than {MOST_NODES} operations"
            ));
        }
        expression.expr = expanded(expression.id, *target, call)?;
    }
    Ok(nodes)
}

/// What a call of a macro stands for.
fn expanded(id: u64, target: IdedExpr, call: &mut CallExpr) -> Result<Expr, String> {
    let mut args = std::mem::take(&mut call.args).into_iter();
    let (Some(variable), Some(body)) = (args.next(), args.next()) else {
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
        accu_init: method(target.clone(), "value", Vec::new()),
        loop_cond: node(Expr::Literal(LiteralValue::Boolean(false.into()))),
        loop_step: node(Expr::Ident(variable.clone())),
        accu_var: variable,
        result: body,
    })));
    let present = if call.func_name == "optFlatMap" {
        bound
    } else {
        method(optional(), "of", vec![bound])
    };
    Ok(Expr::Call(CallExpr {
        func_name: operators::CONDITIONAL.to_owned(),
        target: None,
        args: vec![
            method(target, "hasValue", Vec::new()),
            present,
            method(optional(), "none", Vec::new()),
        ],
    }))
}

/// The expressions directly inside one, to change them.
fn parts(expression: &mut Expr) -> Vec<&mut IdedExpr> {
    match expression {
        Expr::Call(call) => {
            let target = call.target.as_deref_mut();
            target.into_iter().chain(&mut call.args).collect()
        }
        Expr::Comprehension(comprehension) => vec![
            &mut comprehension.iter_range,
            &mut comprehension.accu_init,
            &mut comprehension.loop_cond,
            &mut comprehension.loop_step,
            &mut comprehension.result,
        ],
        Expr::List(list) => list.elements.iter_mut().collect(),
        Expr::Map(map) => {
            let entries = map.entries.iter_mut().filter_map(|entry| match &mut entry.expr {
                EntryExpr::MapEntry(entry) => Some([&mut entry.key, &mut entry.value]),
                EntryExpr::StructField(_) => None,
            });
            entries.flatten().collect()
        }
        Expr::Select(select) => vec![&mut select.operand],
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => Vec::new(),
    }
}
