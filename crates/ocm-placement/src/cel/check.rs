//! Names and types, as cel-go checks them before anything runs.
//!
//! That is undeclared names, unknown functions, and calls that fit no overload. The contents of the cluster are
//! dynamic, so most expressions pass. An expression that is certainly wrong makes the Placement misconfigured, instead
//! of matching nothing.

use std::collections::HashMap;

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};

use super::signatures::{
    LIST, MAP, OPTIONAL, Overload, Type, is_library_function, may_be_null, overloads, simple,
};
use cel_eval::is_type;

/// The variable of every expression.
const CLUSTER: &str = "managedCluster";

/// Checks an expression.
///
/// # Errors
/// cel-go's complaint in a few words, without its position.
pub(super) fn check(expression: &IdedExpr) -> Result<(), String> {
    let cluster = Type::Named(MAP, vec![simple("string"), Type::Dyn]);
    let mut scope = vec![(CLUSTER.to_owned(), cluster)];
    type_of(expression, &mut scope).map(|_| ())
}

type Scope = Vec<(String, Type)>;

fn type_of(expression: &IdedExpr, scope: &mut Scope) -> Result<Type, String> {
    match &expression.expr {
        Expr::Unspecified => Err("empty expression".to_owned()),
        Expr::Struct(message) => Err(format!("undeclared reference to '{}'", message.type_name)),
        Expr::Literal(literal) => Ok(literal_type(literal)),
        Expr::Ident(name) => ident(name, scope),
        Expr::Select(select) => {
            let (field, is_optional) = select_from(type_of(&select.operand, scope)?)?;
            Ok(match (select.test, is_optional) {
                (true, _) => simple("bool"),
                (false, true) => Type::Named(OPTIONAL, vec![field]),
                (false, false) => field,
            })
        }
        Expr::List(list) => {
            let mut element = None;
            for (index, item) in list.elements.iter().enumerate() {
                let found = inner_of(type_of(item, scope)?, list.optional_indices.contains(&index));
                element = Some(element.map_or(found.clone(), |known| joined(known, found)));
            }
            Ok(Type::Named(LIST, vec![element.unwrap_or(Type::Dyn)]))
        }
        Expr::Map(map) => {
            let mut entries: Option<(Type, Type)> = None;
            for entry in &map.entries {
                let EntryExpr::MapEntry(entry) = &entry.expr else {
                    return Err("a map has keys and values".to_owned());
                };
                let key = type_of(&entry.key, scope)?;
                let value = inner_of(type_of(&entry.value, scope)?, entry.optional);
                entries = Some(match entries {
                    Some((keys, values)) => (joined(keys, key), joined(values, value)),
                    None => (key, value),
                });
            }
            let (key, value) = entries.unwrap_or((Type::Dyn, Type::Dyn));
            Ok(Type::Named(MAP, vec![key, value]))
        }
        Expr::Call(call) => call_type(call, scope),
        Expr::Comprehension(comprehension) => comprehension_type(comprehension, scope),
    }
}

fn literal_type(literal: &LiteralValue) -> Type {
    simple(match literal {
        LiteralValue::Boolean(_) => "bool",
        LiteralValue::Bytes(_) => "bytes",
        LiteralValue::Double(_) => "double",
        LiteralValue::Int(_) => "int",
        LiteralValue::Null => "null",
        LiteralValue::String(_) => "string",
        LiteralValue::UInt(_) => "uint",
    })
}

fn ident(name: &str, scope: &Scope) -> Result<Type, String> {
    // `.name` is `name` at the top.
    let bare = name.strip_prefix('.').unwrap_or(name);
    if let Some((_, found)) = scope.iter().rev().find(|(known, _)| known == bare) {
        return Ok(found.clone());
    }
    if is_type(bare) {
        return Ok(simple("type"));
    }
    Err(format!("undeclared reference to '{bare}' (in container '')"))
}

/// What an optional value has in it, if `is_optional`; else the type itself.
fn inner_of(found: Type, is_optional: bool) -> Type {
    match found {
        Type::Named(OPTIONAL, mut parts) if is_optional => parts.pop().unwrap_or(Type::Dyn),
        other => other,
    }
}

/// The type of a field, and whether the operand is optional: then what is in it has the field.
fn select_from(operand: Type) -> Result<(Type, bool), String> {
    let is_optional = matches!(operand, Type::Named(OPTIONAL, _));
    match inner_of(operand, true) {
        Type::Dyn => Ok((Type::Dyn, is_optional)),
        Type::Named(MAP, mut parts) => Ok((parts.pop().unwrap_or(Type::Dyn), is_optional)),
        other => Err(format!(
            "type '{}' does not support field selection",
            name(&other)
        )),
    }
}

fn call_type(call: &CallExpr, scope: &mut Scope) -> Result<Type, String> {
    let mut arguments = Vec::with_capacity(call.args.len());
    if call.func_name == operators::OPT_SELECT {
        let operand = call.args.first().ok_or("selection without operand")?;
        let (field, _) = select_from(type_of(operand, scope)?)?;
        return Ok(Type::Named(OPTIONAL, vec![field]));
    }
    for argument in &call.args {
        arguments.push(type_of(argument, scope)?);
    }
    let library = call.target.as_deref().and_then(|target| match &target.expr {
        Expr::Ident(name) if !scope.iter().any(|(known, _)| known == name) => Some(name.as_str()),
        _ => None,
    });
    if let Some(library) = library.filter(|library| is_library_function(library, &call.func_name)) {
        let function = format!("{library}.{}", call.func_name);
        return resolve(&function, None, &arguments);
    }
    let receiver = call.target.as_ref().map(|target| type_of(target, scope));
    let receiver = receiver.transpose()?;
    resolve(&call.func_name, receiver.as_ref(), &arguments)
}

fn resolve(function: &str, receiver: Option<&Type>, arguments: &[Type]) -> Result<Type, String> {
    let known = overloads(function);
    if known.is_empty() {
        return Err(format!("undeclared reference to '{function}' (in container '')"));
    }
    let results = known.iter();
    let results = results.filter_map(|overload| result(overload, receiver, arguments));
    let results: Vec<Type> = results.collect();
    let Some((first, rest)) = results.split_first() else {
        let list: Vec<String> = arguments.iter().map(name).collect();
        let list = list.join(", ");
        let receiver = receiver.map(|receiver| format!("{}.", name(receiver)));
        let receiver = receiver.unwrap_or_default();
        return Err(format!(
            "found no matching overload for '{function}' applied to '{receiver}({list})'"
        ));
    };
    // Several overloads fit because something is dynamic: so is the result, unless they agree.
    Ok(if rest.iter().all(|other| other == first) {
        first.clone()
    } else {
        Type::Dyn
    })
}

/// The result of an overload; `None` when the call does not fit it.
fn result(overload: &Overload, receiver: Option<&Type>, arguments: &[Type]) -> Option<Type> {
    let mut bound = HashMap::new();
    match (&overload.receiver, receiver) {
        (None, None) => {}
        (Some(wanted), Some(given)) => fits(wanted, given, &mut bound).then_some(())?,
        _ => return None,
    }
    let parameters = &overload.parameters;
    let fit = parameters.len() == arguments.len()
        && (parameters.iter().zip(arguments)).all(|(wanted, given)| fits(wanted, given, &mut bound));
    fit.then(|| substitute(&overload.result, &bound))
}

/// Whether a value of the given type may be where one of the wanted type is expected.
fn fits(wanted: &Type, given: &Type, bound: &mut HashMap<char, Type>) -> bool {
    match (wanted, given) {
        (Type::Parameter(parameter), given) => match bound.get(parameter).cloned() {
            Some(known) => {
                let compatible = agree(&known, given);
                if known == Type::Dyn || known == simple("null") {
                    bound.insert(*parameter, given.clone());
                }
                compatible
            }
            None => {
                bound.insert(*parameter, given.clone());
                true
            }
        },
        (Type::Dyn, _) | (_, Type::Dyn) => true,
        (Type::Named(wanted, parts), Type::Named(given, given_parts)) => {
            let mut parts = parts.iter().zip(given_parts);
            wanted == given && parts.all(|(wanted, given)| fits(wanted, given, bound))
        }
        (wanted, given) => wanted == given,
    }
}

/// Whether two types can be one and the same; something dynamic agrees with everything.
fn agree(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Dyn, _) | (_, Type::Dyn) => true,
        (Type::Named("null", _), Type::Named(name, _)) | (Type::Named(name, _), Type::Named("null", _)) => {
            may_be_null(name)
        }
        (Type::Named(one, parts), Type::Named(other, other_parts)) => {
            let mut parts = parts.iter().zip(other_parts);
            one == other && parts.all(|(one, other)| agree(one, other))
        }
        (one, other) => one == other,
    }
}

fn substitute(result: &Type, bound: &HashMap<char, Type>) -> Type {
    match result {
        Type::Parameter(parameter) => bound.get(parameter).cloned().unwrap_or(Type::Dyn),
        Type::Named(name, parts) => {
            Type::Named(name, parts.iter().map(|part| substitute(part, bound)).collect())
        }
        Type::Dyn => Type::Dyn,
    }
}

/// The type of a list's elements: theirs, or dynamic when they differ.
fn joined(one: Type, other: Type) -> Type {
    if one == other { one } else { Type::Dyn }
}

fn comprehension_type(comprehension: &ComprehensionExpr, scope: &mut Scope) -> Result<Type, String> {
    let element = match type_of(&comprehension.iter_range, scope)? {
        Type::Dyn => Type::Dyn,
        Type::Named(LIST | MAP, parts) => parts.into_iter().next().unwrap_or(Type::Dyn),
        other => {
            return Err(format!(
                "expression of type '{}' cannot be range of a comprehension",
                name(&other)
            ));
        }
    };
    let accumulator = type_of(&comprehension.accu_init, scope)?;
    let before = scope.len();
    scope.push((comprehension.accu_var.clone(), accumulator));
    scope.push((comprehension.iter_var.clone(), element));
    let result = inside(comprehension, scope);
    scope.truncate(before);
    result
}

fn inside(comprehension: &ComprehensionExpr, scope: &mut Scope) -> Result<Type, String> {
    let condition = type_of(&comprehension.loop_cond, scope)?;
    if !agree(&condition, &simple("bool")) {
        return Err(format!(
            "found no matching overload: a condition is '{}'",
            name(&condition)
        ));
    }
    let step = type_of(&comprehension.loop_step, scope)?;
    // What a loop collects is known only after its first turn: `map` starts with an empty list.
    let mut innermost = scope.iter_mut().rev();
    if let Some((_, accumulator)) = innermost.find(|(known, _)| *known == comprehension.accu_var) {
        *accumulator = step;
    }
    type_of(&comprehension.result, scope)
}

/// A type as cel-go writes it.
fn name(of: &Type) -> String {
    match of {
        Type::Dyn | Type::Parameter(_) => "dyn".to_owned(),
        Type::Named(name, parts) if parts.is_empty() => (*name).to_owned(),
        Type::Named(name, parts) => {
            let parts: Vec<String> = parts.iter().map(self::name).collect();
            format!("{name}({})", parts.join(", "))
        }
    }
}
