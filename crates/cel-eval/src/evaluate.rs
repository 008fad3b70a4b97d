//! Evaluates an expression. That is the order of evaluation, which errors are absorbed, loops, operators, and the cost
//! of each part.
//!
//! As in cel-go (google/cel-go interpreter/interpretable.go@v0.26.0), a loop continues if a step has no value: the next
//! steps then decide the result. A map is traversed in the order of its keys, so that the same input has the same
//! answer and the same cost.

use std::collections::HashMap;
use std::sync::Arc;

use apimachinery::Allowance;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, MapExpr, operators,
};
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{ExecutionError, IdedExpr, Value};

use crate::library::{self, Call, no_overload};
use crate::meter::{Failure, Meter, Stop};
use crate::parse::{Expression, on_a_large_stack};
use crate::prices::{self, ENTRY, ITEM, TEXT, price};
use crate::values::{self, compare, contains, equal, key_of, none, optional, some};

/// The name that the parser gives to what a loop gathers. No expression can write it.
const GATHERED: &str = "@result";

/// Functions that the caller adds, or that replace others.
pub trait Functions: Sync {
    /// The value of a call; `None` where it is not one of these functions. A result larger than what was there before
    /// is paid for first.
    fn call(&self, call: Call<'_>, meter: &mut Meter<'_, '_>) -> Option<Result<Value, Failure>>;

    /// The cost of such a call in addition to its operands; `None` if it has no special cost.
    fn price(&self, _call: Call<'_>, _result: &Value) -> Option<u64> {
        None
    }
}

/// The result of an evaluation.
#[derive(Debug)]
pub struct Evaluated {
    /// The value, or why there is none.
    pub value: Result<Value, Failure>,
    /// The cost, even if there is no value.
    pub cost: u64,
    /// The bytes that are held in the end.
    pub held: usize,
}

/// Evaluates an expression; `variables` are the values of its names.
pub fn evaluate(
    expression: &Expression,
    variables: &[(&str, &Value)],
    functions: &dyn Functions,
    allowance: &mut Allowance<'_>,
) -> Evaluated {
    if !expression.is_deep() {
        return here(expression.root(), variables, functions, allowance);
    }
    let elsewhere = on_a_large_stack(|| here(expression.root(), variables, functions, allowance));
    elsewhere.unwrap_or_else(|| Evaluated {
        value: Err(Stop::Memory.into()),
        cost: 0,
        held: 0,
    })
}

fn here(
    expression: &IdedExpr,
    variables: &[(&str, &Value)],
    functions: &dyn Functions,
    allowance: &mut Allowance<'_>,
) -> Evaluated {
    let variables = variables
        .iter()
        .map(|(name, value)| (*name, Ok((*value).clone())));
    let mut evaluation = Evaluation {
        meter: Meter::new(allowance),
        functions,
        names: variables.collect(),
        texts: HashMap::new(),
    };
    let value = evaluation.value(expression);
    Evaluated {
        value,
        cost: evaluation.meter.cost(),
        held: evaluation.meter.held(),
    }
}

type Answer = Result<Value, Failure>;

struct Evaluation<'e, 'm, 'w> {
    meter: Meter<'m, 'w>,
    functions: &'e dyn Functions,
    /// The values of names, the inner ones last. The accumulator of a loop may be an error.
    names: Vec<(&'e str, Result<Value, ExecutionError>)>,
    /// Texts and bytes of the expression, by where they are: a loop meets them often.
    texts: HashMap<*const LiteralValue, Value>,
}

impl<'e> Evaluation<'e, '_, '_> {
    fn value(&mut self, expression: &'e IdedExpr) -> Answer {
        let held = self.meter.held();
        self.meter.work(1)?;
        let value = match &expression.expr {
            Expr::Unspecified => no_overload(),
            Expr::Struct(message) => Err(ExecutionError::undeclared_reference(&message.type_name).into()),
            Expr::Literal(literal) => return self.literal(literal),
            Expr::Ident(name) => {
                self.meter.charge(1)?;
                return self.named(name);
            }
            Expr::Select(select) => {
                let operand = self.value(&select.operand)?;
                self.meter.charge(1)?;
                let field = Value::from(select.field.as_str());
                if select.test {
                    values::has(&operand, &field)
                        .map(Value::Bool)
                        .map_err(Failure::from)
                } else {
                    Ok(values::get(&operand, &field)?)
                }
            }
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
        };
        // What holds nothing leaves nothing behind.
        if matches!(
            value,
            Ok(Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Null)
                | Err(Failure::Error(_))
        ) {
            self.meter.release_to(held);
        }
        value
    }

    fn literal(&mut self, literal: &'e LiteralValue) -> Answer {
        Ok(match literal {
            LiteralValue::Boolean(flag) => Value::Bool(*flag.inner()),
            LiteralValue::Int(int) => Value::Int(*int.inner()),
            LiteralValue::UInt(uint) => Value::UInt(*uint.inner()),
            LiteralValue::Double(float) => Value::Float(*float.inner()),
            LiteralValue::Null => Value::Null,
            LiteralValue::String(text) => {
                let known = self.texts.entry(literal);
                known.or_insert_with(|| Value::from(text.inner())).clone()
            }
            LiteralValue::Bytes(bytes) => {
                let known = self.texts.entry(literal);
                known
                    .or_insert_with(|| Value::Bytes(Arc::new(bytes.inner().to_vec())))
                    .clone()
            }
        })
    }

    fn named(&self, name: &str) -> Answer {
        // `.name` is `name` at the top.
        let bare = name.strip_prefix('.').unwrap_or(name);
        let known = self.names.iter().rev().find(|(known, _)| *known == bare);
        match known {
            Some((_, value)) => Ok(value.clone()?),
            None if library::is_type(bare) => Ok(library::type_named(bare)),
            None => Err(ExecutionError::undeclared_reference(bare).into()),
        }
    }

    fn list(&mut self, list: &'e ListExpr) -> Answer {
        self.meter.hold(list.elements.len().saturating_mul(ITEM))?;
        let mut items = Vec::with_capacity(list.elements.len());
        for (index, element) in list.elements.iter().enumerate() {
            let value = self.value(element)?;
            match optional(&value) {
                Some(inside) if list.optional_indices.contains(&index) => {
                    items.extend(inside.value().cloned());
                }
                _ => items.push(value),
            }
        }
        // Constants are evaluated once, before anything runs.
        if !list.elements.iter().all(is_constant) {
            self.meter.charge(prices::LIST)?;
        }
        Ok(Value::List(Arc::new(items)))
    }

    fn map(&mut self, map: &'e MapExpr) -> Answer {
        let mut entries = HashMap::new();
        let mut is_made_once = true;
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else {
                return no_overload();
            };
            is_made_once = is_made_once && is_constant(&entry.key) && is_constant(&entry.value);
            let key = self.value(&entry.key)?;
            let value = self.value(&entry.value)?;
            let key = key_of(&key).ok_or(ExecutionError::NoSuchOverload)?;
            self.meter.hold(2 * ENTRY)?;
            match optional(&value) {
                Some(inside) if entry.optional => {
                    entries.extend(inside.value().cloned().map(|value| (key, value)));
                }
                _ => {
                    entries.insert(key, value);
                }
            }
        }
        if !is_made_once {
            self.meter.charge(prices::MAP)?;
        }
        Ok(Value::Map(Map {
            map: Arc::new(entries),
        }))
    }

    fn call(&mut self, call: &'e CallExpr) -> Answer {
        match (
            call.func_name.as_str(),
            call.target.as_deref(),
            call.args.as_slice(),
        ) {
            (operators::CONDITIONAL, None, [condition, yes, no]) => match self.value(condition)? {
                Value::Bool(true) => self.uncounted_name(yes),
                Value::Bool(false) => self.uncounted_name(no),
                _ => no_overload(),
            },
            (operators::LOGICAL_OR, None, [left, right]) => self.logical(left, right, true),
            (operators::LOGICAL_AND, None, [left, right]) => self.logical(left, right, false),
            (operators::NOT_STRICTLY_FALSE, None, [of]) => {
                let is_false = matches!(self.attempt(of)?, Ok(Value::Bool(false)));
                self.meter.charge(1)?;
                Ok(Value::Bool(!is_false))
            }
            (name @ (operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT), None, [of, key]) => {
                let value = self.value(of)?;
                let key = self.uncounted_name(key)?;
                self.meter.charge(1)?;
                Ok(if name == operators::INDEX {
                    values::get(&value, &key)?
                } else {
                    values::get_optional(&value, &key)?
                })
            }
            (operators::ADD, None, [left, right]) => self.sum(left, right),
            ("or", Some(of), [otherwise]) => match self.optional_value(of)? {
                value @ Some(_) => Ok(value.map_or_else(none, some)),
                None => self.value(otherwise),
            },
            ("orValue", Some(of), [otherwise]) => match self.optional_value(of)? {
                Some(value) => Ok(value),
                None => self.value(otherwise),
            },
            ("optMap" | "optFlatMap", Some(of), [name, body]) => {
                let Expr::Ident(name) = &name.expr else {
                    let message = "argument must be a simple name";
                    return Err(ExecutionError::function_error(&call.func_name, message).into());
                };
                let Some(value) = self.optional_value(of)? else {
                    return Ok(none());
                };
                self.names.push((name, Ok(value)));
                let mapped = self.value(body);
                self.names.pop();
                let mapped = mapped?;
                Ok(if call.func_name == "optMap" {
                    some(mapped)
                } else {
                    mapped
                })
            }
            (name, None, args) => self.function(name, None, args),
            (name, Some(target), args) => match &target.expr {
                Expr::Ident(space) if library::is_space(space) && !self.is_known(space) => {
                    self.function(&format!("{space}.{name}"), None, args)
                }
                _ => {
                    let target = self.value(target)?;
                    self.function(name, Some(target), args)
                }
            },
        }
    }

    fn is_known(&self, name: &str) -> bool {
        self.names.iter().any(|(known, _)| *known == name)
    }

    /// A value; where it is a name with fields, these are not counted: cel-go counts but some of them in a choice and
    /// as a key.
    fn uncounted_name(&mut self, expression: &'e IdedExpr) -> Answer {
        if !matches!(expression.expr, Expr::Ident(_) | Expr::Select(_)) {
            return self.value(expression);
        }
        let before = self.meter.set_free(true);
        let value = self.value(expression);
        self.meter.set_free(before);
        value
    }

    /// An alternative, or a conjunction: what settles it absorbs an error of the other side.
    fn logical(&mut self, left: &'e IdedExpr, right: &'e IdedExpr, settles: bool) -> Answer {
        let mut first = None;
        for side in [left, right] {
            let error = match self.attempt(side)? {
                Ok(Value::Bool(flag)) if flag == settles => return Ok(Value::Bool(settles)),
                Ok(Value::Bool(_)) => continue,
                Ok(_) => ExecutionError::NoSuchOverload,
                Err(error) => error,
            };
            first.get_or_insert(error);
        }
        match first {
            Some(error) => Err(error.into()),
            None => Ok(Value::Bool(!settles)),
        }
    }

    /// A value, or an error that something may absorb.
    fn attempt(&mut self, expression: &'e IdedExpr) -> Result<Result<Value, ExecutionError>, Failure> {
        match self.value(expression) {
            Ok(value) => Ok(Ok(value)),
            Err(Failure::Error(error)) => Ok(Err(error)),
            Err(stop) => Err(stop),
        }
    }

    fn optional_value(&mut self, of: &'e IdedExpr) -> Result<Option<Value>, Failure> {
        let value = self.value(of)?;
        self.meter.charge(1)?;
        match optional(&value) {
            Some(inside) => Ok(inside.value().cloned()),
            None => no_overload(),
        }
    }

    /// `left + right`. What a loop gathers is taken from its name for that time: so nothing is copied, and only the
    /// loop itself can ask for it.
    fn sum(&mut self, left: &'e IdedExpr, right: &'e IdedExpr) -> Answer {
        let gathers = matches!(&left.expr, Expr::Ident(name) if name == GATHERED);
        let place = self
            .names
            .iter()
            .rposition(|(name, _)| gathers && *name == GATHERED);
        let place = place.and_then(|place| self.names.get_mut(place));
        let left = match place {
            Some((_, gathered)) => {
                let gathered = std::mem::replace(gathered, Ok(Value::Null));
                self.meter.charge(1)?;
                self.meter.work(1)?;
                gathered?
            }
            None => self.value(left)?,
        };
        let right = self.value(right)?;
        self.meter.work(1)?;
        let cost = price(operators::ADD, &[&left, &right], &Value::Null);
        self.meter.charge(cost)?;
        match (left, right) {
            (Value::String(left), Value::String(right)) => {
                let bytes = left.len().saturating_add(right.len());
                self.meter.hold(bytes.saturating_add(TEXT))?;
                let mut sum = String::with_capacity(bytes);
                sum.push_str(&left);
                sum.push_str(&right);
                Ok(Value::String(Arc::new(sum)))
            }
            (Value::Bytes(left), Value::Bytes(right)) => {
                self.meter
                    .hold(left.len().saturating_add(right.len()).saturating_add(TEXT))?;
                Ok(Value::Bytes(Arc::new(
                    [left.as_slice(), right.as_slice()].concat(),
                )))
            }
            (Value::List(mut left), Value::List(right)) => {
                // A vector that grows has up to twice the room that it needs, and for a moment what it had before.
                let fresh = if Arc::get_mut(&mut left).is_some() {
                    right.len().saturating_mul(3)
                } else {
                    left.len().saturating_add(right.len().saturating_mul(3))
                };
                self.meter.hold(fresh.saturating_mul(ITEM))?;
                Arc::make_mut(&mut left).extend(right.iter().cloned());
                Ok(Value::List(left))
            }
            (left, right) => Ok(library::plain(left + right)?),
        }
    }

    fn function(&mut self, name: &str, target: Option<Value>, args: &'e [IdedExpr]) -> Answer {
        let is_of_constants = target.is_none() && args.iter().all(is_constant);
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.value(arg)?);
        }
        let call = Call {
            name,
            target: target.as_ref(),
            args: &values,
        };
        let value = match self.operator(call)? {
            Some(value) => value,
            None => match self.functions.call(call, &mut self.meter) {
                Some(value) => value?,
                None => library::called(call, &mut self.meter)?,
            },
        };
        // What converts a constant, and what a constant list holds, is found out before anything runs.
        let is_free = match name {
            operators::IN => args.get(1).is_some_and(is_constant),
            "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "uint" => {
                is_of_constants
            }
            _ => false,
        };
        if !is_free {
            let special = self.functions.price(call, &value);
            let cost = special.unwrap_or_else(|| price(name, &call.operands(), &value));
            self.meter.charge(cost)?;
        }
        Ok(value)
    }

    /// An operator whose operands are all evaluated.
    fn operator(&mut self, call: Call<'_>) -> Result<Option<Value>, Failure> {
        if call.target.is_some() {
            return Ok(None);
        }
        let value = match (call.name, call.args) {
            (operators::EQUALS, [a, b]) => Value::Bool(equal(a, b, &mut self.meter)?),
            (operators::NOT_EQUALS, [a, b]) => Value::Bool(!equal(a, b, &mut self.meter)?),
            (
                operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS,
                [a, b],
            ) => {
                let is_number =
                    |value: &Value| matches!(value, Value::Int(_) | Value::UInt(_) | Value::Float(_));
                match compare(a, b, &mut self.meter)? {
                    Some(order) => Value::Bool(match call.name {
                        operators::LESS => order.is_lt(),
                        operators::LESS_EQUALS => order.is_le(),
                        operators::GREATER => order.is_gt(),
                        _ => order.is_ge(),
                    }),
                    // No comparison with NaN is true.
                    None if is_number(a) && is_number(b) => Value::Bool(false),
                    None => return no_overload(),
                }
            }
            (operators::IN, [element, Value::List(items)]) => {
                Value::Bool(contains(items, element, &mut self.meter)?)
            }
            (operators::IN, [element, Value::Map(map)]) => {
                Value::Bool(key_of(element).is_some_and(|key| map.get(&key).is_some()))
            }
            (operators::SUBSTRACT, [a, b]) => library::plain(a.clone() - b.clone())?,
            (operators::MULTIPLY, [a, b]) => library::plain(a.clone() * b.clone())?,
            (operators::DIVIDE, [a, b]) => library::plain(a.clone() / b.clone())?,
            (operators::MODULO, [a, b]) => library::plain(a.clone() % b.clone())?,
            (operators::LOGICAL_NOT, [Value::Bool(flag)]) => Value::Bool(!flag),
            (operators::NEGATE, [of]) => match of {
                Value::Int(int) => {
                    let overflow = || ExecutionError::Overflow("neg", Value::Int(*int), Value::Null);
                    Value::Int(int.checked_neg().ok_or_else(overflow)?)
                }
                Value::Float(float) => Value::Float(-float),
                Value::Duration(duration) => Value::Duration(-*duration),
                _ => return no_overload(),
            },
            (operators::IN | operators::LOGICAL_NOT, _) => return no_overload(),
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    fn comprehension(&mut self, comprehension: &'e ComprehensionExpr) -> Answer {
        let gathered = self.attempt(&comprehension.accu_init)?;
        let range = self.value(&comprehension.iter_range)?;
        let outside = self.names.len();
        self.names.push((&comprehension.accu_var, gathered));
        let value = self
            .turns(comprehension, &range)
            .and_then(|()| self.value(&comprehension.result));
        self.names.truncate(outside);
        value
    }

    fn turns(&mut self, comprehension: &'e ComprehensionExpr, range: &Value) -> Result<(), Failure> {
        match range {
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let index = || Value::Int(i64::try_from(index).unwrap_or(i64::MAX));
                    if !self.turn(comprehension, index, item)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                self.meter
                    .have_room(map.map.len().saturating_mul(size_of::<&Key>()))?;
                let mut entries: Vec<(&Key, &Value)> = map.map.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                for (key, value) in entries {
                    let key = Value::from(key);
                    let item = if comprehension.iter_var2.is_some() {
                        value
                    } else {
                        &key
                    };
                    if !self.turn(comprehension, || key.clone(), item)? {
                        break;
                    }
                }
            }
            _ => return no_overload(),
        }
        Ok(())
    }

    /// One turn; whether another one may follow.
    fn turn(
        &mut self,
        comprehension: &'e ComprehensionExpr,
        index: impl FnOnce() -> Value,
        item: &Value,
    ) -> Result<bool, Failure> {
        if matches!(self.attempt(&comprehension.loop_cond)?, Ok(Value::Bool(false))) {
            return Ok(false);
        }
        let inside = self.names.len();
        if let Some(second) = &comprehension.iter_var2 {
            self.names.push((&comprehension.iter_var, Ok(index())));
            self.names.push((second, Ok(item.clone())));
        } else {
            self.names.push((&comprehension.iter_var, Ok(item.clone())));
        }
        let step = self.attempt(&comprehension.loop_step);
        self.names.truncate(inside);
        let step = step?;
        if let Some((_, gathered)) = self.names.last_mut() {
            *gathered = step;
        }
        Ok(true)
    }
}

/// Whether an expression is constant, regardless of the variables.
fn is_constant(expression: &IdedExpr) -> bool {
    match &expression.expr {
        Expr::Literal(_) => true,
        Expr::List(list) => list.elements.iter().all(is_constant),
        Expr::Map(map) => map.entries.iter().all(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => is_constant(&entry.key) && is_constant(&entry.value),
            EntryExpr::StructField(_) => false,
        }),
        _ => false,
    }
}
