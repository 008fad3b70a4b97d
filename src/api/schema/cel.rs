//! CEL rules of a schema (`x-kubernetes-validations`), evaluated by `kube-cel`.
//!
//! Owns: which rules stand at a level, and running them. Flows in: schemas, completed values that are
//! structurally right. Flows out: violations. Must not know: anything else about schemas.
//!
//! Each level with rules gets a program of its own, with a reduced schema that keeps only what decides how a
//! value converts to CEL (formats, maps, embedded resources): so every violation has an exact pointer, the
//! order is that of the fields, and levels without rules cost nothing. Without the feature `cel` nothing is
//! checked here.

use serde_json::Value;

use super::compile::SchemaProblem;
use super::node::Node;
use super::violation::{Path, Violation};

#[cfg(feature = "cel")]
pub(super) use with_engine::Rules;
#[cfg(not(feature = "cel"))]
pub(super) use without_engine::Rules;

/// Runs every rule at and below `node`.
pub(super) fn check_rules(node: &Node, value: &Value, violations: &mut Vec<Violation>) {
    walk(node, value, &Path::Root, violations);
}

fn walk(node: &Node, value: &Value, path: &Path<'_>, violations: &mut Vec<Violation>) {
    if !node.rules_below || value.is_null() {
        return;
    }
    node.rules.run(value, path, violations);
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Some(child) = node.child(name) {
                    walk(child, field, &Path::Key(path, name), violations);
                }
            }
        }
        Value::Array(items) => {
            if let Some(child) = node.items.as_deref() {
                for (index, item) in items.iter().enumerate() {
                    walk(child, item, &Path::Index(path, index), violations);
                }
            }
        }
        _ => {}
    }
}

#[cfg(not(feature = "cel"))]
mod without_engine {
    use super::{Path, SchemaProblem, Value, Violation};

    /// No rules: the feature `cel` is off.
    #[derive(Debug, Default)]
    pub(in super::super) struct Rules;

    impl Rules {
        pub(in super::super) fn read(_schema: &Value, _at: &str) -> (Self, Vec<SchemaProblem>) {
            (Self, Vec::new())
        }

        #[expect(clippy::unused_self, reason = "the same signature as with the engine")]
        pub(in super::super) fn verify(&self, _at: &str) -> Vec<SchemaProblem> {
            Vec::new()
        }

        pub(in super::super) const fn is_empty(&self) -> bool {
            true
        }

        #[expect(clippy::unused_self, reason = "the same signature as with the engine")]
        pub(super) fn run(&self, _value: &Value, _path: &Path<'_>, _violations: &mut Vec<Violation>) {}
    }
}

#[cfg(feature = "cel")]
mod with_engine {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::OnceLock;

    use kube_cel::{CompiledSchema, ErrorKind, compile_schema};
    use serde_json::{Map, json};

    use super::super::violation::ViolationKind;
    use super::{Path, SchemaProblem, Value, Violation};

    /// Keyword of the rules.
    const VALIDATIONS: &str = "x-kubernetes-validations";
    /// Longer expressions are not given to the engine's recursive parser.
    const RULE_BYTES_MAX: usize = 16 * 1024;
    /// Deeper brackets neither.
    const RULE_DEPTH_MAX: usize = 64;

    /// The rules of one level, compiled when a value first meets them: compiling costs far more than running,
    /// and an object meets few of the levels of its schema.
    #[derive(Debug, Default)]
    pub(in super::super) struct Rules(Option<Box<Level>>);

    #[derive(Debug)]
    struct Level {
        /// The reduced schema, with the rules.
        schema: Value,
        /// Where each of them stands in the list of the original.
        indexes: Vec<usize>,
        /// `None` when the engine cannot compile them at all.
        compiled: OnceLock<Option<CompiledSchema>>,
    }

    impl Level {
        fn compiled(&self) -> Option<&CompiledSchema> {
            self.compiled
                .get_or_init(|| catch_unwind(AssertUnwindSafe(|| compile_schema(&self.schema))).ok())
                .as_ref()
        }
    }

    impl Rules {
        /// The rules of `schema` itself, not of what is below it.
        pub(in super::super) fn read(schema: &Value, at: &str) -> (Self, Vec<SchemaProblem>) {
            let rules = schema.get(VALIDATIONS).and_then(Value::as_array);
            let mut problems = Vec::new();
            let mut indexes = Vec::new();
            let mut kept = Vec::new();
            for (index, rule) in rules.into_iter().flatten().enumerate() {
                match refusal(rule) {
                    None => {
                        indexes.push(index);
                        kept.push(rule.clone());
                    }
                    Some((message, unsupported)) => problems.push(problem(at, index, message, unsupported)),
                }
            }
            if kept.is_empty() {
                return (Self(None), problems);
            }
            let mut reduced = shape(schema).unwrap_or_default();
            reduced.insert(VALIDATIONS.to_owned(), Value::Array(kept));
            let level = Level {
                schema: Value::Object(reduced),
                indexes,
                compiled: OnceLock::new(),
            };
            (Self(Some(Box::new(level))), problems)
        }

        pub(in super::super) const fn is_empty(&self) -> bool {
            self.0.is_none()
        }

        /// Which rules do not compile.
        pub(in super::super) fn verify(&self, at: &str) -> Vec<SchemaProblem> {
            let Some(level) = &self.0 else {
                return Vec::new();
            };
            let Some(compiled) = level.compiled() else {
                let message = "the rules of this level cannot be compiled here".to_owned();
                return vec![problem(at, 0, message, true)];
            };
            let results = level.indexes.iter().zip(&compiled.validations);
            results
                .filter_map(|(index, result)| {
                    let text = result.as_ref().err()?.to_string();
                    let line = text.lines().next().unwrap_or_default().to_owned();
                    Some(problem(at, *index, line, false))
                })
                .collect()
        }

        pub(super) fn run(&self, value: &Value, path: &Path<'_>, violations: &mut Vec<Violation>) {
            let Some(compiled) = self.0.as_ref().and_then(|level| level.compiled()) else {
                return;
            };
            // A panic of the engine must not become ours: the rule then counts as passed.
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                kube_cel::validate_compiled(compiled, value, None)
            }));
            let Ok(Err(errors)) = outcome else {
                return;
            };
            for error in errors {
                // That the engine lacks a function, or that a rule did not compile, which the schema's
                // problems say once, says nothing about the object.
                if !matches!(
                    error.kind,
                    ErrorKind::ValidationFailure | ErrorKind::EvaluationError | ErrorKind::InvalidResult
                ) {
                    continue;
                }
                let (pointer, field) = locate(path, &steps(&error.field_path));
                violations.push(Violation {
                    kind: ViolationKind::Invalid,
                    pointer,
                    field,
                    message: format!("Invalid value: {}", error.message),
                    help: Some(format!("the rule is: {}", error.rule)),
                    blocks_rules: false,
                });
            }
        }
    }

    /// The steps of a rule's `fieldPath`, such as `.spec.a['b']`.
    fn steps(field_path: &str) -> Vec<String> {
        field_path
            .split(['.', '['])
            .map(|step| step.trim_end_matches(']').trim_matches(['\'', '"']).to_owned())
            .filter(|step| !step.is_empty())
            .collect()
    }

    /// Pointer and field of `path` followed by `steps`.
    fn locate(path: &Path<'_>, steps: &[String]) -> (String, String) {
        match steps.split_first() {
            None => (path.pointer(), path.field()),
            Some((step, rest)) => locate(&Path::Key(path, step), rest),
        }
    }

    fn problem(at: &str, index: usize, message: String, unsupported: bool) -> SchemaProblem {
        SchemaProblem {
            pointer: format!("{at}/{VALIDATIONS}/{index}"),
            message,
            unsupported,
        }
    }

    /// Why a rule is not given to the engine, and whether that is our limit rather than the rule's fault.
    fn refusal(rule: &Value) -> Option<(String, bool)> {
        for keyword in ["rule", "messageExpression"] {
            let Some(text) = rule.get(keyword) else {
                continue;
            };
            let Some(text) = text.as_str() else {
                return Some((format!("{keyword} must be a string"), false));
            };
            if text.len() > RULE_BYTES_MAX || bracket_depth(text) > RULE_DEPTH_MAX {
                return Some((
                    format!("{keyword} is too long or too deep to be checked here"),
                    true,
                ));
            }
        }
        let text = rule.get("rule").and_then(Value::as_str).unwrap_or_default();
        text.trim()
            .is_empty()
            .then(|| ("rule is required".to_owned(), false))
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

    /// What of a schema decides how a value converts to CEL; `None` when nothing does.
    fn shape(schema: &Value) -> Option<Map<String, Value>> {
        let mut kept = Map::new();
        for keyword in ["x-kubernetes-int-or-string", "x-kubernetes-embedded-resource"] {
            if let Some(true) = schema.get(keyword).and_then(Value::as_bool) {
                kept.insert(keyword.to_owned(), json!(true));
            }
        }
        if let Some(format @ ("date-time" | "duration" | "byte")) =
            schema.get("format").and_then(Value::as_str)
        {
            kept.insert("format".to_owned(), json!(format));
        }
        if let Some(items) = schema.get("items").and_then(shape) {
            kept.insert("items".to_owned(), Value::Object(items));
        }
        match schema.get("additionalProperties") {
            None | Some(Value::Bool(false)) => {}
            Some(additional) => {
                // Keys of maps are data: they must not be escaped like field names.
                let inner = shape(additional).unwrap_or_default();
                kept.insert("additionalProperties".to_owned(), Value::Object(inner));
            }
        }
        let properties: Map<String, Value> = schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(name, property)| Some((name.clone(), Value::Object(shape(property)?))))
            .collect();
        if !properties.is_empty() {
            kept.insert("properties".to_owned(), Value::Object(properties));
        }
        (!kept.is_empty()).then_some(kept)
    }
}
