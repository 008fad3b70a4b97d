//! The CEL rules of one level of a schema (`x-kubernetes-validations`).
//!
//! Owns: which rules stand there, compiling them, running them on a value. Flows in: a level of a schema as JSON, a value
//! as CEL has it. Flows out: violations, and problems of rules that cannot be used. Must not know: other levels, or how a
//! value becomes one of CEL. Without the feature `cel` there are no rules.
//!
//! Costs are not counted (docs/systems/kubernetes.md#cel-rules): an API server's budget is about its own time, and what
//! it refuses to estimate it refuses when the definition is created.

#[cfg(feature = "cel")]
pub(crate) use with_engine::{Level, Rules, root_context};
#[cfg(not(feature = "cel"))]
pub(crate) use without_engine::Rules;

#[cfg(not(feature = "cel"))]
mod without_engine {
    use serde_json::Value;

    use crate::problem::SchemaProblem;

    /// No rules: the feature `cel` is off.
    #[derive(Debug, Default)]
    pub(crate) struct Rules;

    impl Rules {
        pub(crate) fn read(_schema: &Value, _at: &str) -> (Self, Vec<SchemaProblem>) {
            (Self, Vec::new())
        }

        #[expect(clippy::unused_self, reason = "the same signature as with the engine")]
        pub(crate) fn verify(&self, _at: &str) -> Vec<SchemaProblem> {
            Vec::new()
        }

        pub(crate) const fn is_empty(&self) -> bool {
            true
        }
    }
}

#[cfg(feature = "cel")]
mod with_engine {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, OnceLock};

    use kube_cel::KubeCelExt as _;
    use kube_cel::cel::objects::OptionalValue;
    use kube_cel::cel::parser::{Expression, Parser};
    use kube_cel::cel::{Context, ExecutionError, Value as Cel};
    use serde_json::Value;

    use crate::failure;
    use crate::functions;
    use crate::optional;
    use crate::problem::SchemaProblem;
    use crate::violation::{Path, Violation, ViolationKind, shown};

    /// Keyword of the rules.
    const VALIDATIONS: &str = "x-kubernetes-validations";
    /// Longer expressions are not given to the engine's recursive parser.
    const RULE_BYTES_MAX: usize = 16 * 1024;
    /// Deeper brackets neither.
    const RULE_DEPTH_MAX: usize = 64;
    /// The value before an update. Creation has none.
    const OLD_SELF: &str = "oldSelf";

    /// The rules of one level, compiled when a value first meets them: compiling costs far more than running,
    /// and an object meets few of the levels of its schema.
    #[derive(Debug, Default)]
    pub(crate) struct Rules(Vec<Rule>);

    #[derive(Debug)]
    struct Rule {
        /// Where it stands in the list.
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
    struct Refusal {
        message: String,
        unsupported: bool,
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

        /// Which rules do not compile.
        pub(crate) fn verify(&self, at: &str) -> Vec<SchemaProblem> {
            let refused = |rule: &Rule| Some(rule.program().as_ref().err()?.problem(at, rule.index));
            self.0.iter().filter_map(refused).collect()
        }

        /// What is wrong with `value`, which stands at `at`, rule by rule; `cel` is the same as CEL has it.
        pub(crate) fn run(
            &self,
            at: &Level<'_>,
            value: &Value,
            cel: Cel,
            root: &Context<'_>,
            found: &mut Vec<Violation>,
        ) {
            let mut context = root.new_inner_scope();
            context.add_variable_from_value("self", cel);
            for rule in &self.0 {
                let Some(complaint) = rule.complaint(&context) else {
                    continue;
                };
                let (steps, message) = match complaint {
                    Complaint::Broken(detail) => (
                        steps(rule.field_path.as_deref().unwrap_or_default()),
                        rule.reason.message(value, &detail),
                    ),
                    // Said of the level, with the type of its schema in place of the value.
                    Complaint::Failed(why) => (Vec::new(), format!("Invalid value: {:?}: {why}", at.kind)),
                };
                let (pointer, field) = locate(at.path, &steps, at.names_properties);
                found.push(Violation {
                    kind: ViolationKind::Rule {
                        rule: rule.text.clone(),
                    },
                    pointer,
                    field,
                    message,
                    help: None,
                    blocks_rules: false,
                });
            }
        }
    }

    /// Where a value stands whose rules run.
    pub(crate) struct Level<'l> {
        pub(crate) path: &'l Path<'l>,
        /// The type of its schema; empty without one.
        pub(crate) kind: &'static str,
        /// Whether its schema has properties, and no map's keys.
        pub(crate) names_properties: bool,
    }

    /// What a rule says of a value.
    enum Complaint {
        /// It does not hold: what is said then.
        Broken(String),
        /// It has no answer: why.
        Failed(String),
    }

    /// A rule's `reason`: which sort of error it is where it does not hold.
    /// kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go@v1.36.0.
    #[derive(Debug, Clone, Copy)]
    enum Reason {
        Invalid,
        Forbidden,
        Required,
        Duplicate,
    }

    impl Reason {
        fn read(text: Option<&str>) -> Self {
            match text {
                Some("FieldValueForbidden") => Self::Forbidden,
                Some("FieldValueRequired") => Self::Required,
                Some("FieldValueDuplicate") => Self::Duplicate,
                _ => Self::Invalid,
            }
        }

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
                Some(Value::String(text)) => Ok(Some(text.clone())),
                Some(_) => Err(Refusal::fault(format!("{keyword} must be a string"))),
            };
            let rule = text("rule")?.unwrap_or_default();
            let message_expression = text("messageExpression")?;
            for (keyword, expression) in [
                ("rule", Some(&rule)),
                ("messageExpression", message_expression.as_ref()),
            ] {
                if expression
                    .is_some_and(|text| text.len() > RULE_BYTES_MAX || bracket_depth(text) > RULE_DEPTH_MAX)
                {
                    return Err(Refusal {
                        message: format!("{keyword} is too long or too deep to be checked here"),
                        unsupported: true,
                    });
                }
            }
            if rule.trim().is_empty() {
                return Err(Refusal::fault("rule is required".to_owned()));
            }
            Ok(Self {
                index,
                text: rule,
                message: text("message")?,
                message_expression,
                field_path: text("fieldPath")?,
                reason: Reason::read(text("reason")?.as_deref()),
                optional_old_self: entry.get("optionalOldSelf").and_then(Value::as_bool) == Some(true),
                program: OnceLock::new(),
            })
        }

        fn program(&self) -> &Result<Program, Refusal> {
            self.program.get_or_init(|| {
                let rule = self.parse(&self.text).map_err(|error| {
                    error.within(&format!("failed to compile CEL rule \"{}\"", self.text))
                })?;
                let message = self.message_expression.as_deref().map(|text| {
                    self.parse(text).map_err(|error| {
                        error.within(&format!(
                            "failed to compile messageExpression \"{text}\" for rule \"{}\"",
                            self.text
                        ))
                    })
                });
                Ok(Program {
                    is_transition: rule.references().has_variable(OLD_SELF),
                    rule,
                    message: message.transpose()?,
                })
            })
        }

        fn parse(&self, text: &str) -> Result<Expression, Refusal> {
            // Kubernetes' environment has CEL's optional types:
            // kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/environment/base.go@v1.34.1
            let parser = Parser::new().enable_optional_syntax(true);
            let parsed = catch_unwind(AssertUnwindSafe(|| parser.parse(text)));
            let parsed = parsed.map_err(|_| Refusal {
                message: "it cannot be compiled here".to_owned(),
                unsupported: true,
            })?;
            let parsed = parsed.map_err(|errors| Refusal::fault(errors.to_string()))?;
            let optional_names: &[&str] = if self.optional_old_self { &[OLD_SELF] } else { &[] };
            Ok(optional::rewrite(functions::rewrite(parsed), optional_names))
        }

        /// What the rule says of the value in `context`; nothing where it holds.
        ///
        /// That the engine lacks a function, panics, or that the rule did not compile, which the schema's problems
        /// say once, says nothing about the object.
        fn complaint(&self, context: &Context<'_>) -> Option<Complaint> {
            let program = self.program().as_ref().ok()?;
            let mut context = context.new_inner_scope();
            if program.is_transition {
                if !self.optional_old_self {
                    return None;
                }
                let none = Cel::Opaque(Arc::new(OptionalValue::none()));
                context.add_variable_from_value(OLD_SELF, none);
            }
            match evaluate(&program.rule, &context)? {
                Ok(Cel::Bool(true)) | Err(ExecutionError::UndeclaredReference(_)) => None,
                Ok(Cel::Bool(false)) => Some(Complaint::Broken(self.message(program, &context))),
                Ok(_) => Some(Complaint::Failed(format!(
                    "rule \"{}\" did not evaluate to bool",
                    self.text
                ))),
                Err(error) => Some(Complaint::Failed(self.failure(&error))),
            }
        }

        /// What a rule says that does not hold. A computed message of no text or of several lines is none:
        /// kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go@v1.34.1.
        fn message(&self, program: &Program, context: &Context<'_>) -> String {
            let computed = program.message.as_ref();
            if let Some(Ok(Cel::String(text))) = computed.and_then(|expression| evaluate(expression, context))
                && !text.trim().is_empty()
                && !text.trim().contains('\n')
            {
                return text.trim().to_owned();
            }
            match self.fixed_message() {
                Some(message) => message.to_owned(),
                None => format!("failed rule: {}", self.text.trim()),
            }
        }

        /// What is said where a rule has no answer: the error, and which rule it is. The same file.
        fn failure(&self, error: &ExecutionError) -> String {
            let rule = self.fixed_message().unwrap_or_else(|| self.text.trim());
            match failure::words(error) {
                Some(words) => format!("{words} evaluating rule: {rule}"),
                None => format!(
                    "'no such overload': call arguments did not match a supported operator, function or macro signature \
                     for rule: {rule}"
                ),
            }
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

    /// What every rule may call.
    pub(crate) fn root_context() -> Context<'static> {
        let mut context = Context::default();
        context.register_all();
        optional::register(&mut context);
        functions::register(&mut context);
        context
    }

    /// `None` when the engine panics, which must not become ours.
    fn evaluate(expression: &Expression, context: &Context<'_>) -> Option<Result<Cel, ExecutionError>> {
        catch_unwind(AssertUnwindSafe(|| Cel::resolve(expression, context))).ok()
    }

    /// The steps of a rule's `fieldPath`, such as `.spec.a['b']`.
    fn steps(field_path: &str) -> Vec<String> {
        field_path
            .split(['.', '['])
            .map(|step| step.trim_end_matches(']').trim_matches(['\'', '"']).to_owned())
            .filter(|step| !step.is_empty())
            .collect()
    }

    /// Pointer and field of `path` followed by `steps`, of which the first is a property or a map's key; what follows is
    /// taken for properties.
    fn locate(path: &Path<'_>, steps: &[String], is_property: bool) -> (String, String) {
        match steps.split_first() {
            None => (path.pointer(), path.field()),
            Some((step, rest)) => locate(&Path::member(path, step, is_property), rest, true),
        }
    }

    fn bracket_depth(text: &str) -> usize {
        let mut depth = 0_usize;
        let mut deepest = 0;
        for byte in text.bytes() {
            match byte {
                b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        deepest
    }
}
