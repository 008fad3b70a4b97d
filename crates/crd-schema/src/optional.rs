//! CEL's optional values, as Kubernetes evaluates them.
//!
//! Owns: what the `cel` crate evaluates otherwise than cel-go: some of it is rewritten, some are functions. Flows in: a
//! parsed expression, a context. Flows out: an expression to run, a context that can run it. Must not know: rules.
//!
//! The differences, by cel-go (google/cel-go interpreter/attributes.go@v0.26.0 `applyQualifiers`, cel/library.go@v0.26.0):
//! - `a.?b` of a missing field is no value there, an error here: it becomes `a[?'b']`, which agrees;
//! - once a value is optional, what is selected from it is too: `a.?b.c` becomes an index, which looks inside;
//! - `has(a.?b.c)` asks whether that last field is there; here it is false of anything that is no map;
//! - two optional values are equal where neither has a value or where the values are; here they never are;
//! - `or` and `orValue` evaluate their argument only where it is needed;
//! - `optMap` and `optFlatMap` are macros; here they are functions whose arguments are not evaluated before.
//!
//! Plain selections stay as they are. An optional value is never bound to a name: the crate unwraps it there.

use std::sync::Arc;

use kube_cel::cel::common::ast::{CallExpr, Expr, LiteralValue, operators};
use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{Context, ExecutionError, FunctionContext, IdedExpr, Value};

use crate::expression::with_children;

/// Equality of optional values: a name that no rule can write.
const EQUAL: &str = "=?=";

/// Rewrites `expression`; `names` are variables that hold optional values.
pub(crate) fn rewrite(expression: IdedExpr, names: &[&str]) -> IdedExpr {
    let IdedExpr { id, expr } = with_children(expression, &mut |child| rewrite(child, names));
    let node = |expr| IdedExpr { id, expr };
    let expr = match expr {
        Expr::Select(select) if is_optional(&select.operand, names) => {
            let field = node(Expr::Literal(LiteralValue::String(select.field.as_str().into())));
            let selected = Expr::Call(CallExpr {
                func_name: operators::INDEX.to_owned(),
                target: None,
                args: vec![*select.operand, field],
            });
            if select.test {
                Expr::Call(CallExpr {
                    func_name: "hasValue".to_owned(),
                    target: Some(Box::new(node(selected))),
                    args: Vec::new(),
                })
            } else {
                selected
            }
        }
        Expr::Call(mut call) => {
            if call.func_name == operators::OPT_SELECT {
                operators::OPT_INDEX.clone_into(&mut call.func_name);
            }
            let is_equality = [operators::EQUALS, operators::NOT_EQUALS].contains(&call.func_name.as_str());
            if is_equality && call.args.iter().any(|side| is_optional(side, names)) {
                let differs = call.func_name == operators::NOT_EQUALS;
                EQUAL.clone_into(&mut call.func_name);
                if differs {
                    call = CallExpr {
                        func_name: operators::LOGICAL_NOT.to_owned(),
                        target: None,
                        args: vec![node(Expr::Call(call))],
                    };
                }
            }
            Expr::Call(call)
        }
        other => other,
    };
    node(expr)
}

/// Whether an expression that has been rewritten is an optional value, whatever the object holds.
fn is_optional(expression: &IdedExpr, names: &[&str]) -> bool {
    match &expression.expr {
        Expr::Ident(name) => names.contains(&name.as_str()),
        Expr::Call(call) => match (
            call.func_name.as_str(),
            call.target.as_deref(),
            call.args.as_slice(),
        ) {
            (operators::OPT_INDEX, ..) | ("or" | "optMap" | "optFlatMap", Some(_), _) => true,
            (operators::INDEX, None, [indexed, ..]) => is_optional(indexed, names),
            (operators::CONDITIONAL, None, [_, yes, no]) => is_optional(yes, names) || is_optional(no, names),
            ("none" | "of" | "ofNonZeroValue", Some(target), _) => {
                matches!(&target.expr, Expr::Ident(name) if name == "optional")
            }
            _ => false,
        },
        _ => false,
    }
}

/// The functions of optional values.
pub(crate) fn register(context: &mut Context<'_>) {
    context.add_function(EQUAL, equal);
    context.add_function("or", or);
    context.add_function("orValue", or_value);
    context.add_function("optMap", opt_map);
    context.add_function("optFlatMap", opt_flat_map);
}

fn equal(call: &FunctionContext<'_, '_>) -> Result<Value, ExecutionError> {
    let [left, right] = call.args else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let (left, right) = (Value::resolve(left, call.ptx)?, Value::resolve(right, call.ptx)?);
    let sides = (
        <&OptionalValue>::try_from(&left),
        <&OptionalValue>::try_from(&right),
    );
    Ok(Value::Bool(
        matches!(sides, (Ok(left), Ok(right)) if left.value() == right.value()),
    ))
}

fn or(call: &FunctionContext<'_, '_>) -> Result<Value, ExecutionError> {
    match (present(call)?, call.args) {
        (Some(value), [_]) => Ok(optional(OptionalValue::of(value))),
        (None, [otherwise]) => Value::resolve(otherwise, call.ptx),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn or_value(call: &FunctionContext<'_, '_>) -> Result<Value, ExecutionError> {
    match (present(call)?, call.args) {
        (Some(value), [_]) => Ok(value),
        (None, [otherwise]) => Value::resolve(otherwise, call.ptx),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn opt_map(call: &FunctionContext<'_, '_>) -> Result<Value, ExecutionError> {
    let mapped = mapped(call)?;
    Ok(optional(
        mapped.map_or_else(OptionalValue::none, OptionalValue::of),
    ))
}

fn opt_flat_map(call: &FunctionContext<'_, '_>) -> Result<Value, ExecutionError> {
    Ok(mapped(call)?.unwrap_or_else(|| optional(OptionalValue::none())))
}

/// The second argument, where the name that the first is stands for the value.
fn mapped(call: &FunctionContext<'_, '_>) -> Result<Option<Value>, ExecutionError> {
    let [name, body] = call.args else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let Expr::Ident(name) = &name.expr else {
        return Err(call.error("argument must be a simple name"));
    };
    let Some(value) = present(call)? else {
        return Ok(None);
    };
    let mut scope = call.ptx.new_inner_scope();
    scope.add_variable_from_value(name.as_str(), value);
    Value::resolve(body, &scope).map(Some)
}

/// What the optional value holds that a method is called on.
fn present(call: &FunctionContext<'_, '_>) -> Result<Option<Value>, ExecutionError> {
    let this = call.this.as_ref().ok_or(ExecutionError::NoSuchOverload)?;
    Ok(<&OptionalValue>::try_from(this)?.value().cloned())
}

fn optional(value: OptionalValue) -> Value {
    Value::Opaque(Arc::new(value))
}
