//! The functions of `kube-cel`, called with values. Which of them are incorrect, and how large a result becomes, is
//! decided in `library`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kube_cel::KubeCelExt as _;
use kube_cel::cel::common::ast::{CallExpr, Expr};
use kube_cel::cel::{Context, ExecutionError, IdedExpr, Value};

thread_local! {
    /// Every function: as dear to make as a rule is to compile.
    static ENVIRONMENT: Context<'static> = {
        let mut context = Context::default();
        context.register_all();
        context
    };
}

/// Calls a function of `kube-cel`, as a method if there is a target. It copies its arguments.
///
/// # Errors
/// The function's own error. If the function panics, the error is that there is no such function, because its panic
/// must not become ours.
pub fn call(name: &str, target: Option<&Value>, args: &[&Value]) -> Result<Value, ExecutionError> {
    let variable = |index: usize| format!("@{index}");
    let ident = |index| IdedExpr {
        id: 0,
        expr: Expr::Ident(variable(index)),
    };
    let expression = IdedExpr {
        id: 0,
        expr: Expr::Call(CallExpr {
            func_name: name.to_owned(),
            target: target.map(|_| Box::new(ident(args.len()))),
            args: (0..args.len()).map(ident).collect(),
        }),
    };
    ENVIRONMENT.with(|environment| {
        let mut context = environment.new_inner_scope();
        for (index, value) in args.iter().copied().chain(target).enumerate() {
            context.add_variable_from_value(variable(index), value.clone());
        }
        let called = AssertUnwindSafe(|| Value::resolve(&expression, &context));
        catch_unwind(called).unwrap_or_else(|_| Err(ExecutionError::undeclared_reference(name)))
    })
}
