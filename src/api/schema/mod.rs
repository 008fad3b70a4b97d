//! Structural schemas: what an API server with strict field validation refuses.
//!
//! Owns: compiling an OpenAPI v3 schema of a CustomResourceDefinition (or of our own files) once, and checking
//! many values against it: types, ranges, formats, combinators, unknown fields, list sets and maps, embedded
//! resources, CEL rules; and the copy with nulls pruned and defaults filled in that interpretation reads.
//! Flows in: a schema as JSON, values. Flows out: [`Violation`]s with JSON pointers in the API server's words.
//! Must not know: which kind the schema belongs to, or where a value came from.
//!
//! The order of steps is the API server's: defaults, null pruning, structural rules, and CEL rules only when
//! nothing structural stands in their way.

mod cel;
mod check;
mod compile;
mod complete;
mod format;
mod metadata;
mod node;
mod pattern;
mod violation;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::Value;

pub use compile::SchemaProblem;
pub use violation::{Violation, ViolationKind};

use node::Node;

/// A compiled schema: compile once, check many values; shared freely between threads.
#[derive(Debug)]
pub struct Schema {
    root: Node,
    /// ObjectMeta, for the root and for embedded resources.
    metadata: Node,
    /// Whether status is a subresource: an API server drops it from what is created, values unseen.
    status_is_separate: bool,
}

impl Schema {
    /// Compiles the schema of a Kubernetes kind: `apiVersion`, `kind` and `metadata` are implied at the root.
    ///
    /// With `status_is_separate` (the kind has the status subresource) the values below `status` are not
    /// checked, because an API server drops them from what is created; unknown fields there still count.
    /// Whatever cannot be understood is left out of the checks and reported; the rest still works. Patterns
    /// and CEL rules compile when a value first meets them: [`Schema::verify`] compiles them all.
    #[must_use]
    pub fn of_resource(schema: &Value, status_is_separate: bool) -> (Self, Vec<SchemaProblem>) {
        let (mut root, problems) = compile::compile(schema);
        root.resource = true;
        let metadata = metadata::node();
        let schema = Self {
            root,
            metadata,
            status_is_separate,
        };
        (schema, problems)
    }

    /// Compiles the schema of a value that is no Kubernetes object: parameters, configuration.
    #[must_use]
    pub fn of_value(schema: &Value) -> (Self, Vec<SchemaProblem>) {
        let (root, problems) = compile::compile(schema);
        let metadata = metadata::node();
        let schema = Self {
            root,
            metadata,
            status_is_separate: false,
        };
        (schema, problems)
    }

    /// Compiles every pattern and rule, and says which cannot be used: those are not checked.
    #[must_use]
    pub fn verify(&self) -> Vec<SchemaProblem> {
        compile::verify(&self.root, "")
    }

    /// Everything that is wrong with `value`, in the order of its fields. Empty when it is accepted.
    #[must_use]
    pub fn check(&self, value: &Value) -> Vec<Violation> {
        self.check_completed(&self.complete(value))
    }

    /// As [`Schema::check`], for a value that [`Schema::complete`] has made.
    #[must_use]
    pub fn check_completed(&self, completed: &Value) -> Vec<Violation> {
        let counts = |violation: &Violation| {
            !self.status_is_separate
                || violation.kind == ViolationKind::UnknownField
                || !is_below_status(&violation.pointer)
        };
        let mut violations = check::check(&self.root, &self.metadata, completed);
        violations.retain(counts);
        if !violations.iter().any(|violation| violation.blocks_rules) {
            cel::check_rules(&self.root, completed, &mut violations);
            violations.retain(counts);
        }
        violations
    }

    /// The value as the API server would store it, for interpretation only: defaults filled in where their
    /// parent is present, nulls of fields that are not nullable gone. Borrowed when that changes nothing.
    #[must_use]
    pub fn complete<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        let nulls = complete::contains_null(value);
        if !self.root.defaults_below && !nulls {
            return Cow::Borrowed(value);
        }
        let mut copy = value.clone();
        complete::complete(&self.root, &mut copy, nulls);
        Cow::Owned(copy)
    }

    /// Whether the schema knows a field, such as `["spec", "targetRef"]`.
    #[must_use]
    pub fn has_field(&self, path: &[&str]) -> bool {
        let mut node = &self.root;
        for name in path {
            let Some(next) = node.properties.get(*name) else {
                return false;
            };
            node = next;
        }
        true
    }
}

/// Whether a pointer leads to the root's status or into it.
fn is_below_status(pointer: &str) -> bool {
    pointer
        .strip_prefix("/status")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
