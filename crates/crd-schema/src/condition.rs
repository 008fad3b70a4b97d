//! A condition over variables that the caller names: an expression with the functions and the limits of a CRD's rules. Whoever
//! decides by it must not take an error for `false`.

use std::collections::BTreeSet;
use std::sync::Arc;

use apimachinery::{Allowance, Work};
use cel_eval::{Expression, Failure, Stop, evaluate, is_type, parts};
use kube_cel::cel::common::ast::{Expr, LiteralValue, operators};
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{IdedExpr, Value as Cel};
use kube_json::Value;

use crate::evaluate::to_cel;
use crate::rules::{OfRules, read, words};

/// The value of a variable.
#[derive(Debug, Clone)]
pub struct Variable(Cel);

impl From<&Value> for Variable {
    /// Keys are data: they are not escaped like the field names of a schema.
    fn from(value: &Value) -> Self {
        Self(match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| Self::from(item).0);
                Cel::List(Arc::new(items.collect()))
            }
            Value::Object(fields) => {
                let name = |name: &str| Key::String(Arc::new(name.to_owned()));
                let fields = fields.iter().map(|(key, value)| (name(key), Self::from(value).0));
                let map = Arc::new(fields.collect());
                Cel::Map(Map { map })
            }
            scalar => to_cel(None, scalar, false),
        })
    }
}

/// A compiled condition.
#[derive(Debug)]
pub struct Condition {
    expression: Expression,
    names: BTreeSet<String>,
}

impl Condition {
    /// Compiles an expression over these variables.
    ///
    /// # Errors
    /// What is wrong with it: it is no CEL, is too long or too deep, or uses another name.
    pub fn compile(text: &str, variables: &[&str], work: &Work) -> Result<Self, String> {
        let expression = read(text, work).map_err(|refusal| {
            // The parser repeats the text, with a pointer to the place below.
            let first = refusal.message.lines().next().unwrap_or_default();
            first.trim_start_matches("ERROR: <input>:").to_owned()
        })?;
        let mut names = BTreeSet::new();
        add_names(expression.root(), &mut Vec::new(), &mut names);
        names.retain(|name| !is_type(name));
        if let Some(unknown) = names.iter().find(|name| !variables.contains(&name.as_str())) {
            let all = variables.join("`, `");
            return Err(format!("there is no variable `{unknown}`; there are `{all}`"));
        }
        Ok(Self { expression, names })
    }

    /// Whether it reads a variable.
    pub fn has_variable(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The keys by which it looks into a variable that is a map: `v['key']`, `'key' in v`, `v.key`, and `has(v.key)`. Keys
    /// that it computes are not known.
    pub fn keys_of(&self, variable: &str) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        add_keys(self.expression.root(), variable, &mut keys);
        keys
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// Why it has no answer: an error, a value that is not a boolean, or a limit. With an empty stock of work, the caller
    /// must not report it.
    pub fn evaluate(
        &self,
        variables: &[(&str, &Variable)],
        allowance: &mut Allowance<'_>,
    ) -> Result<bool, String> {
        let variables: Vec<(&str, &Cel)> = variables.iter().map(|(name, value)| (*name, &value.0)).collect();
        match evaluate(&self.expression, &variables, &OfRules, allowance).value {
            Ok(Cel::Bool(answer)) => Ok(answer),
            Ok(_) => Err("its value is not a boolean".to_owned()),
            Err(Failure::Error(error)) => Err(words(&error)
                .unwrap_or_else(|| "a function or an operator does not take these types".to_owned())),
            Err(Failure::Stop(stop)) => Err(match stop {
                Stop::Cost => "it costs more than an API server allows a rule".to_owned(),
                Stop::Memory => "it uses more memory than a rule may".to_owned(),
                Stop::Work => "the run has no work left".to_owned(),
            }),
        }
    }
}

/// Adds the names that an expression takes from outside; `own` are those of the loops around it.
fn add_names<'e>(expression: &'e IdedExpr, own: &mut Vec<&'e str>, names: &mut BTreeSet<String>) {
    match &expression.expr {
        Expr::Ident(name) if !own.contains(&name.as_str()) => {
            names.insert(name.clone());
        }
        Expr::Comprehension(comprehension) => {
            add_names(&comprehension.iter_range, own, names);
            add_names(&comprehension.accu_init, own, names);
            let before = own.len();
            own.extend([comprehension.iter_var.as_str(), comprehension.accu_var.as_str()]);
            own.extend(comprehension.iter_var2.as_deref());
            add_names(&comprehension.loop_cond, own, names);
            add_names(&comprehension.loop_step, own, names);
            add_names(&comprehension.result, own, names);
            own.truncate(before);
        }
        _ => {
            for part in parts(expression) {
                add_names(part, own, names);
            }
        }
    }
}

fn add_keys(expression: &IdedExpr, variable: &str, keys: &mut BTreeSet<String>) {
    let is_variable = |part: &IdedExpr| matches!(&part.expr, Expr::Ident(name) if name == variable);
    let text = |part: &IdedExpr| match &part.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.to_string()),
        _ => None,
    };
    match &expression.expr {
        Expr::Select(select) if is_variable(&select.operand) => {
            keys.insert(select.field.clone());
        }
        Expr::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::IN, [key, map])
            | (operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT, [map, key])
                if is_variable(map) =>
            {
                keys.extend(text(key));
            }
            _ => {}
        },
        _ => {}
    }
    for part in parts(expression) {
        add_keys(part, variable, keys);
    }
}
