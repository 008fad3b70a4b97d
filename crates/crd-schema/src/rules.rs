//! The CEL rules of one level of a schema (`x-kubernetes-validations`). It compiles them, runs them on a CEL value, and
//! limits what the rules of one object may cost.
//!
//! Costs are counted as rules run (docs/systems/kubernetes.md#cel-rules). An API server also estimates their maximum
//! cost when the definition is created; this crate does not.

use std::sync::{Arc, OnceLock};

use apimachinery::{Allowance, Work, duration};
use cel_eval::{
    Call, Expression, Failure, Functions, Meter, OBJECT_BUDGET, Stop, Unparsed, evaluate, parse,
    parts as parts_of,
};
use kube_cel::cel::common::ast::{Expr, LiteralValue};
use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{ExecutionError, IdedExpr, Value as Cel};
use kube_json::Value;
use strum::EnumString;

use crate::violation::{Path, SchemaProblem, Violation, ViolationKind, shown};

/// Keyword of the rules.
const VALIDATIONS: &str = "x-kubernetes-validations";
/// The value before an update. Creation has none (docs/systems/kubernetes.md#transition-rules).
const OLD_SELF: &str = "oldSelf";
/// Steps that it takes to parse a byte of a rule.
const STEPS_PER_BYTE: u64 = 32;
/// A longer computed message is none: `MaxEvaluatedMessageExpressionSizeBytes`,
/// kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/apis/cel/config.go@v1.34.1.
const MESSAGE_BYTES_MAX: usize = 5 * 1024;

/// What the rules of one object may still cost, and whether they go on.
/// kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go@v1.34.1.
pub(crate) struct Spending<'s, 'w> {
    allowance: &'s mut Allowance<'w>,
    left: u64,
    is_over: bool,
}

impl<'s, 'w> Spending<'s, 'w> {
    pub(crate) const fn new(allowance: &'s mut Allowance<'w>) -> Self {
        Self {
            allowance,
            left: OBJECT_BUDGET,
            is_over: false,
        }
    }

    /// Whether no further rule is run.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Pays for making CEL's values of a value; whether that can be paid.
    pub(crate) fn convert(&mut self, value: &Value) -> bool {
        self.is_over = self.is_over || self.allowance.spend(parts(value)).is_err();
        !self.is_over
    }

    /// The value of an expression; `None` where it costs more than is left.
    fn value(&mut self, expression: &Expression, variables: &[(&str, &Cel)]) -> Option<Result<Cel, Failure>> {
        let evaluated = evaluate(expression, variables, &OfRules, self.allowance);
        self.left = self.left.checked_sub(evaluated.cost)?;
        Some(evaluated.value)
    }
}

fn parts(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(parts).fold(1, u64::saturating_add),
        Value::Object(fields) => fields.values().map(parts).fold(1, u64::saturating_add),
        _ => 1,
    }
}

/// The rules of one level, compiled when a value first meets them: compiling costs far more than running,
/// and an object meets few of the levels of its schema.
#[derive(Debug, Default)]
pub(crate) struct Rules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    /// Where it is in the list.
    index: usize,
    text: String,
    message: Option<String>,
    message_expression: Option<String>,
    field_path: Option<String>,
    reason: Reason,
    optional_old_self: bool,
    program: OnceLock<Result<Program, Refusal>>,
}

/// A rule that is ready to run.
#[derive(Debug)]
struct Program {
    rule: Expression,
    message: Option<Expression>,
    /// Whether it needs the value before an update.
    is_transition: bool,
}

/// Why a rule cannot be used, and whether that is our limit rather than the rule's fault.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    unsupported: bool,
    /// Why it is too much for us: then it is unknown what it would refuse.
    too_much: Option<String>,
}

impl Rules {
    /// The rules of `schema` itself, not of what is below it.
    pub(crate) fn read(schema: &Value, at: &str) -> (Self, Vec<SchemaProblem>) {
        let listed = schema.get(VALIDATIONS).and_then(Value::as_array);
        let mut rules = Vec::new();
        let mut problems = Vec::new();
        for (index, entry) in listed.into_iter().flatten().enumerate() {
            match Rule::read(index, entry) {
                Ok(rule) => rules.push(rule),
                Err(refusal) => problems.push(refusal.problem(at, index)),
            }
        }
        (Self(rules), problems)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one may compare a value with the one before it.
    pub(crate) fn mention_old(&self) -> bool {
        self.0.iter().any(|rule| rule.text.contains(OLD_SELF))
    }

    /// Which rules do not compile.
    pub(crate) fn verify(&self, at: &str, work: &Work) -> Vec<SchemaProblem> {
        let refused = |rule: &Rule| Some(rule.program(work).as_ref().err()?.problem(at, rule.index));
        self.0.iter().filter_map(refused).collect()
    }

    /// What is wrong with `value`, which is at `at`, rule by rule, of those that `counts` takes; `cel` is the same as CEL has
    /// it. Of an update, what is wrong with the step from the value before it.
    pub(crate) fn run(
        &self,
        counts: impl Fn(&Expression) -> bool,
        at: &Level<'_>,
        value: &Value,
        cel: &Cel,
        spending: &mut Spending<'_, '_>,
        found: &mut Vec<Violation>,
    ) {
        if spending.left == 0 {
            spending.is_over = true;
            found.push(at.violation("", &[], format!("Invalid value: {:?}: {OUT_OF_BUDGET}", at.kind)));
        }
        for rule in &self.0 {
            if spending.is_over {
                return;
            }
            // Of an update, these say what they say of the value anyway.
            if at.old.is_some() && !rule.text.contains(OLD_SELF) {
                continue;
            }
            let program = rule.program(spending.allowance.work()).as_ref();
            if program.is_ok_and(|program| !counts(&program.rule)) {
                continue;
            }
            let Some(complaint) = rule.complaint(at, cel, spending) else {
                continue;
            };
            let of_field = || steps(rule.field_path.as_deref().unwrap_or_default());
            // Said of the level or the field, with the type of the schema in place of the value.
            let of_type = |why: &str| format!("Invalid value: {:?}: {why}", at.kind);
            let (steps, message) = match complaint {
                Complaint::Broken(detail) => (of_field(), rule.reason.message(value, &detail)),
                Complaint::Unsaid(why) => (of_field(), of_type(&why)),
                Complaint::Failed(why) => (Vec::new(), of_type(&why)),
            };
            found.push(at.violation(&rule.text, &steps, message));
        }
    }
}

/// The place of the value whose rules run.
pub(crate) struct Level<'l> {
    pub(crate) path: &'l Path<'l>,
    /// The type of its schema; empty without one.
    pub(crate) kind: &'static str,
    /// Whether its schema has properties, and no map's keys.
    pub(crate) names_properties: bool,
    /// Of an update, the value before it, and the same as CEL has it.
    pub(crate) old: Option<(&'l Value, Cel)>,
}

impl Level<'_> {
    fn violation(&self, rule: &str, steps: &[String], message: String) -> Violation {
        let (pointer, field) = locate(self.path, steps, self.names_properties);
        let old = self.old.as_ref().map(|(old, _)| *old);
        Violation {
            old: old.and_then(|old| steps.iter().try_fold(old, |old, step| old.get(step)).cloned()),
            kind: ViolationKind::Rule {
                rule: rule.to_owned(),
            },
            pointer,
            field,
            message,
            help: None,
            blocks_rules: false,
        }
    }
}

/// The violation if the rules of an object have used up their cost limit.
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The answer of a rule about a value.
enum Complaint {
    /// It is broken: the message.
    Broken(String),
    /// It is broken, and its message cannot be evaluated: the reason.
    Unsaid(String),
    /// It has no answer: why.
    Failed(String),
}

/// A rule's `reason`: which sort of error it is where it does not hold.
/// kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go@v1.36.0.
#[derive(Debug, Clone, Copy, Default, EnumString)]
enum Reason {
    #[default]
    #[strum(serialize = "FieldValueInvalid")]
    Invalid,
    #[strum(serialize = "FieldValueForbidden")]
    Forbidden,
    #[strum(serialize = "FieldValueRequired")]
    Required,
    #[strum(serialize = "FieldValueDuplicate")]
    Duplicate,
}

impl Reason {
    /// Scalars are shown, lists and mappings are not.
    fn message(self, value: &Value, detail: &str) -> String {
        let shown = match value {
            Value::Array(_) | Value::Object(_) => String::new(),
            scalar => format!(": {}", shown(scalar)),
        };
        match self {
            Self::Invalid => format!("Invalid value{shown}: {detail}"),
            Self::Forbidden => format!("Forbidden: {detail}"),
            Self::Required => format!("Required value: {detail}"),
            // This one is said without its message.
            Self::Duplicate => format!("Duplicate value{shown}"),
        }
    }
}

impl Rule {
    fn read(index: usize, entry: &Value) -> Result<Self, Refusal> {
        let text = |keyword: &str| match entry.get(keyword) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.to_string())),
            Some(_) => Err(Refusal::fault(format!("{keyword} must be a string"))),
        };
        let rule = text("rule")?.unwrap_or_default();
        let message_expression = text("messageExpression")?;
        if rule.trim().is_empty() {
            return Err(Refusal::fault("rule is required".to_owned()));
        }
        Ok(Self {
            index,
            text: rule,
            message: text("message")?,
            message_expression,
            field_path: text("fieldPath")?,
            // An unknown reason is that of a rule without one.
            reason: text("reason")?
                .and_then(|reason| reason.parse().ok())
                .unwrap_or_default(),
            optional_old_self: entry.get("optionalOldSelf").and_then(Value::as_bool) == Some(true),
            program: OnceLock::new(),
        })
    }

    fn program(&self, work: &Work) -> &Result<Program, Refusal> {
        self.program.get_or_init(|| {
            let rule = read(&self.text, work)
                .map_err(|error| error.within(&format!("failed to compile CEL rule \"{}\"", self.text)))?;
            let message = self.message_expression.as_deref().map(|text| {
                read(text, work).map_err(|error| {
                    error.within(&format!(
                        "failed to compile messageExpression \"{text}\" for rule \"{}\"",
                        self.text
                    ))
                })
            });
            Ok(Program {
                is_transition: rule.root().references().has_variable(OLD_SELF),
                rule,
                message: message.transpose()?,
            })
        })
    }

    /// What the rule says of a value; nothing where it holds.
    ///
    /// That the engine lacks a function or panics, or that the rule does not compile, which the schema's problems
    /// say once, says nothing about the object. One that is too much for us refuses it.
    fn complaint(&self, at: &Level<'_>, cel: &Cel, spending: &mut Spending<'_, '_>) -> Option<Complaint> {
        let program = match self.program(spending.allowance.work()) {
            Ok(program) => program,
            Err(refusal) => {
                let why = refusal.too_much.as_ref()?;
                return Some(Complaint::Failed(format!(
                    "{why} evaluating rule: {}",
                    self.said()
                )));
            }
        };
        let old = at.old.as_ref().map(|(_, old)| old.clone());
        let before = match (program.is_transition, self.optional_old_self, old) {
            (true, false, None) | (false, _, Some(_)) => return None,
            (true, false, Some(old)) => old,
            (_, _, Some(old)) => Cel::Opaque(Arc::new(OptionalValue::of(old))),
            (_, _, None) => Cel::Opaque(Arc::new(OptionalValue::none())),
        };
        let variables = [("self", cel), (OLD_SELF, &before)];
        let known = if program.is_transition { 2 } else { 1 };
        let variables = variables.get(..known).unwrap_or_default();
        let Some(value) = spending.value(&program.rule, variables) else {
            spending.is_over = true;
            return Some(Complaint::Failed(OUT_OF_BUDGET.to_owned()));
        };
        match value {
            Ok(Cel::Bool(true)) | Err(Failure::Error(ExecutionError::UndeclaredReference(_))) => None,
            Ok(Cel::Bool(false)) => self.broken(program, variables, spending),
            Ok(_) => Some(Complaint::Failed(format!(
                "rule \"{}\" did not evaluate to bool",
                self.text
            ))),
            Err(Failure::Error(error)) => Some(Complaint::Failed(self.failure(&error))),
            Err(Failure::Stop(stop)) => {
                spending.is_over = true;
                let rule = self.said();
                Some(Complaint::Failed(match stop {
                    Stop::Cost => format!(
                        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due \
                         to call cost exceeds limit for rule: {rule}"
                    ),
                    Stop::Memory => format!(
                        "no further validation rules will be run due to more memory than a rule may use for rule: \
                         {rule}"
                    ),
                    // The run reports it once.
                    Stop::Work => return None,
                }))
            }
        }
    }

    /// What a rule says that does not hold. A computed message of no text, of several lines, or too long is none:
    /// kubernetes/kubernetes
    /// staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go@v1.34.1.
    fn broken(
        &self,
        program: &Program,
        variables: &[(&str, &Cel)],
        spending: &mut Spending<'_, '_>,
    ) -> Option<Complaint> {
        let computed = program
            .message
            .as_ref()
            .map(|expression| spending.value(expression, variables));
        match computed {
            Some(Some(Ok(Cel::String(text)))) => {
                let text = text.trim();
                if !text.is_empty() && !text.contains('\n') && text.len() <= MESSAGE_BYTES_MAX {
                    return Some(Complaint::Broken(text.to_owned()));
                }
            }
            Some(None) => {
                spending.is_over = true;
                return Some(Complaint::Unsaid(
                    "messageExpression evaluation failed due to running out of cost budget, no further validation \
                     rules will be run"
                        .to_owned(),
                ));
            }
            Some(Some(Err(Failure::Stop(stop)))) => {
                spending.is_over = true;
                let why = match stop {
                    Stop::Cost => "call cost exceeds limit",
                    Stop::Memory => "more memory than an expression may use",
                    Stop::Work => return None,
                };
                let text = self.message_expression.as_deref().unwrap_or_default();
                return Some(Complaint::Unsaid(format!(
                    "no further validation rules will be run due to {why} for messageExpression: {text:?}"
                )));
            }
            _ => {}
        }
        Some(Complaint::Broken(match self.fixed_message() {
            Some(message) => message.to_owned(),
            None => format!("failed rule: {}", self.text.trim()),
        }))
    }

    /// What is reported where a rule has no answer: the error, and which rule it is. The same file.
    fn failure(&self, error: &ExecutionError) -> String {
        let rule = self.said();
        match words(error) {
            Some(words) => format!("{words} evaluating rule: {rule}"),
            None => format!(
                "'no such overload': call arguments did not match a supported operator, function or macro signature \
                 for rule: {rule}"
            ),
        }
    }

    /// The rule as complaints name it.
    fn said(&self) -> &str {
        self.fixed_message().unwrap_or_else(|| self.text.trim())
    }

    fn fixed_message(&self) -> Option<&str> {
        let message = self.message.as_deref()?.trim();
        (!message.is_empty()).then_some(message)
    }
}

impl Refusal {
    const fn fault(message: String) -> Self {
        Self {
            message,
            unsupported: false,
            too_much: None,
        }
    }

    fn within(self, what: &str) -> Self {
        Self {
            message: format!("{what}: {}", self.message),
            ..self
        }
    }

    fn problem(&self, at: &str, index: usize) -> SchemaProblem {
        let line = self.message.lines().next().unwrap_or_default();
        let mut problem = SchemaProblem::new(format!("{at}/{VALIDATIONS}/{index}"), line);
        problem.unsupported = self.unsupported;
        problem
    }
}

pub(crate) fn read(text: &str, work: &Work) -> Result<Expression, Refusal> {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if work.spend(bytes.saturating_mul(STEPS_PER_BYTE)).is_err() {
        return Err(Refusal {
            message: "the run has no work left".to_owned(),
            unsupported: true,
            too_much: None,
        });
    }
    parse(text).map_err(|error| match error {
        Unparsed::Wrong(message) => Refusal::fault(message),
        Unparsed::TooMuch(message) => Refusal {
            unsupported: true,
            too_much: Some(message.clone()),
            message,
        },
    })
}

/// The steps of a rule's `fieldPath`, such as `.spec.a['b']`.
fn steps(field_path: &str) -> Vec<String> {
    field_path
        .split(['.', '['])
        .map(|step| step.trim_end_matches(']').trim_matches(['\'', '"']).to_owned())
        .filter(|step| !step.is_empty())
        .collect()
}

/// Pointer and field of `path` followed by `steps`, of which the first is a property or a map's key; what follows
/// is taken for properties.
fn locate(path: &Path<'_>, steps: &[String], is_property: bool) -> (String, String) {
    match steps.split_first() {
        None => (path.pointer(), path.field()),
        Some((step, rest)) => locate(&Path::member(path, step, is_property), rest, true),
    }
}

/// The functions that rules may call in addition to those of every expression.
pub(crate) struct OfRules;

impl Functions for OfRules {
    fn call(&self, call: Call<'_>, _meter: &mut Meter<'_, '_>) -> Option<Result<Cel, Failure>> {
        match (call.name, call.target, call.args) {
            ("duration", None, [Cel::String(text)]) => Some(duration_of(text).map_err(Failure::from)),
            _ => None,
        }
    }
}

/// `kube-cel` ignores the text after the last unit that it knows. Go's `time.ParseDuration` accepts all or nothing.
fn duration_of(text: &str) -> Result<Cel, ExecutionError> {
    let refused = || {
        let message = "type conversion error from 'string' to 'google.protobuf.Duration'";
        ExecutionError::function_error("duration", message)
    };
    let nanoseconds = duration::nanoseconds(text).ok_or_else(refused)?;
    // In parts that a float holds exactly: the crate reads them as floats.
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let (seconds, rest) = (all / 1_000_000_000, all % 1_000_000_000);
    kube_cel::cel::functions::duration(Arc::new(format!("{sign}{seconds}s{rest}ns")))
}

/// The text of an error, in cel-go's wording; none if types do not match, which API servers report in more detail:
/// google/cel-go common/types/err.go and overflow.go@v0.26.0.
pub(crate) fn words(error: &ExecutionError) -> Option<String> {
    Some(match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::IndexOutOfBounds(Cel::Int(index)) => format!("index out of bounds: {index}"),
        ExecutionError::IndexOutOfBounds(_) => "index out of bounds".to_owned(),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(_, Cel::UInt(_), _) => "unsigned integer overflow".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::FunctionError { message, .. } => message.clone(),
        ExecutionError::MissingArgumentOrTarget => "an argument has no value".to_owned(),
        _ => return None,
    })
}

/// The value that a rule is at.
const SELF: &str = "self";
/// `self.?field`.
const OPTIONAL_SELECT: &str = "_?._";

/// Whether an expression reads only these fields of `self`.
pub(crate) fn asks_only_for(expression: &IdedExpr, fields: &[&str]) -> bool {
    if let Expr::Call(call) = &expression.expr
        && let (OPTIONAL_SELECT, [operand, field]) = (call.func_name.as_str(), call.args.as_slice())
        && is_self(operand)
    {
        return match &field.expr {
            Expr::Literal(LiteralValue::String(field)) => fields.contains(&field.inner()),
            _ => false,
        };
    }
    match &expression.expr {
        Expr::Ident(name) => name != SELF,
        Expr::Select(select) if is_self(&select.operand) => fields.contains(&select.field.as_str()),
        _ => parts_of(expression)
            .into_iter()
            .all(|part| asks_only_for(part, fields)),
    }
}

fn is_self(expression: &IdedExpr) -> bool {
    matches!(&expression.expr, Expr::Ident(name) if name == SELF)
}
