//! CEL's optional values, as Kubernetes evaluates them.
//!
//! Owns: rewriting what the `cel` crate evaluates otherwise than cel-go. Flows in: a parsed expression. Flows out: one to
//! run. Must not know: rules, values.
//!
//! The differences, by cel-go (google/cel-go interpreter/attributes.go@v0.26.0 `applyQualifiers`, cel/library.go@v0.26.0):
//! - `a.?b` of a missing field is no value there, an error here: it becomes `a[?'b']`, which agrees;
//! - once a value is optional, what is selected from it is too: `a.?b.c` becomes an index, which looks inside;
//! - `has(a.?b.c)` asks whether that last field is there; here it is false of anything that is no map;
//! - `or` and `orValue` evaluate their argument only where it is needed;
//! - `optMap` and `optFlatMap` are macros.
//!
//! Plain selections stay as they are.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, operators,
};

/// A name that no expression can have.
const HELD: &str = "#held";

/// Rewrites `expression`; `names` are variables that hold optional values.
///
/// # Errors
/// The first argument of a macro is no simple name.
pub(crate) fn as_calls(expression: IdedExpr, names: &[&str]) -> Result<IdedExpr, String> {
    let IdedExpr { id, expr } = with_children(expression, &mut |child| as_calls(child, names))?;
    let at = At(id);
    let expr = match expr {
        Expr::Select(select) if is_optional(&select.operand, names) => {
            let selected = at.call(operators::INDEX, vec![*select.operand, at.text(&select.field)]);
            if select.test {
                return Ok(at.method(selected, "hasValue", Vec::new()));
            }
            return Ok(selected);
        }
        Expr::Call(mut call) => match (call.func_name.as_str(), call.target.take(), call.args.len()) {
            (operators::OPT_SELECT, None, 2) => return Ok(at.call(operators::OPT_INDEX, call.args)),
            ("orValue", Some(target), 1) => {
                let present = at.method(at.name(HELD), "value", Vec::new());
                return Ok(at.held(*target, present, call.args));
            }
            ("or", Some(target), 1) => return Ok(at.held(*target, at.name(HELD), call.args)),
            ("optMap" | "optFlatMap", Some(target), 2) => return at.mapped(*target, call),
            (_, target, _) => {
                call.target = target;
                Expr::Call(call)
            }
        },
        other => other,
    };
    Ok(IdedExpr { id, expr })
}

/// Whether an expression that has been rewritten is an optional value, whatever the object holds.
fn is_optional(expression: &IdedExpr, names: &[&str]) -> bool {
    match &expression.expr {
        Expr::Ident(name) => names.contains(&name.as_str()),
        Expr::Call(call) => match (call.func_name.as_str(), call.target.as_deref(), call.args.as_slice()) {
            (operators::OPT_INDEX, ..) => true,
            (operators::INDEX, None, [indexed, ..]) => is_optional(indexed, names),
            (operators::CONDITIONAL, None, [_, yes, no]) => is_optional(yes, names) || is_optional(no, names),
            ("none" | "of" | "ofNonZeroValue", Some(target), _) => {
                matches!(&target.expr, Expr::Ident(name) if name == "optional")
            }
            _ => false,
        },
        // What `or` has become: it gives the optional value itself.
        Expr::Comprehension(held) if held.accu_var == HELD => {
            is_optional(&held.result, &[names, &[HELD]].concat())
        }
        _ => false,
    }
}

/// Makes nodes in the place of one.
#[derive(Clone, Copy)]
struct At(u64);

impl At {
    const fn node(self, expr: Expr) -> IdedExpr {
        IdedExpr { id: self.0, expr }
    }

    fn name(self, name: &str) -> IdedExpr {
        self.node(Expr::Ident(name.to_owned()))
    }

    fn text(self, text: &str) -> IdedExpr {
        self.node(Expr::Literal(LiteralValue::String(text.into())))
    }

    fn call(self, function: &str, args: Vec<IdedExpr>) -> IdedExpr {
        self.node(Expr::Call(CallExpr {
            func_name: function.to_owned(),
            target: None,
            args,
        }))
    }

    fn method(self, target: IdedExpr, function: &str, args: Vec<IdedExpr>) -> IdedExpr {
        self.node(Expr::Call(CallExpr {
            func_name: function.to_owned(),
            target: Some(Box::new(target)),
            args,
        }))
    }

    /// `value` under a name inside `body`: a loop over nothing, whose accumulator it is.
    fn bound(self, name: &str, value: IdedExpr, body: IdedExpr) -> IdedExpr {
        self.node(Expr::Comprehension(Box::new(ComprehensionExpr {
            iter_range: self.node(Expr::List(ListExpr::new(Vec::new()))),
            iter_var: "#unused".to_owned(),
            iter_var2: None,
            accu_var: name.to_owned(),
            accu_init: value,
            loop_cond: self.node(Expr::Literal(LiteralValue::Boolean(false.into()))),
            loop_step: self.name(name),
            result: body,
        })))
    }

    /// `present` where the optional value has one, else the only one of `otherwise`.
    fn held(self, optional: IdedExpr, present: IdedExpr, otherwise: Vec<IdedExpr>) -> IdedExpr {
        let mut branches = vec![self.method(self.name(HELD), "hasValue", Vec::new()), present];
        branches.extend(otherwise);
        self.bound(HELD, optional, self.call(operators::CONDITIONAL, branches))
    }

    /// `target.optMap(name, body)`, or `optFlatMap`.
    fn mapped(self, target: IdedExpr, call: CallExpr) -> Result<IdedExpr, String> {
        let flat = call.func_name == "optFlatMap";
        let mut args = call.args.into_iter();
        let (Some(variable), Some(body)) = (args.next(), args.next()) else {
            return Err(format!("{} needs a name and an expression", call.func_name));
        };
        let Expr::Ident(variable) = variable.expr else {
            return Err("argument must be a simple name".to_owned());
        };
        let value = self.method(self.name(HELD), "value", Vec::new());
        let mapped = self.bound(&variable, value, body);
        let present = if flat {
            mapped
        } else {
            self.method(self.name("optional"), "of", vec![mapped])
        };
        let none = self.method(self.name("optional"), "none", Vec::new());
        Ok(self.held(target, present, vec![none]))
    }
}

/// Puts every direct child through `change`.
fn with_children(
    expression: IdedExpr,
    change: &mut impl FnMut(IdedExpr) -> Result<IdedExpr, String>,
) -> Result<IdedExpr, String> {
    let IdedExpr { id, mut expr } = expression;
    match &mut expr {
        Expr::Call(call) => {
            let target = call.target.as_deref_mut();
            for child in target.into_iter().chain(&mut call.args) {
                *child = change(std::mem::take(child))?;
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
                *child = change(std::mem::take(child))?;
            }
        }
        Expr::List(list) => {
            for child in &mut list.elements {
                *child = change(std::mem::take(child))?;
            }
        }
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = change(std::mem::take(&mut entry.key))?;
                    entry.value = change(std::mem::take(&mut entry.value))?;
                }
            }
        }
        Expr::Select(select) => *select.operand = change(std::mem::take(&mut select.operand))?,
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
    }
    Ok(IdedExpr { id, expr })
}
