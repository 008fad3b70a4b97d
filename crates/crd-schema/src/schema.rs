//! A compiled schema and what it does with values.
//!
//! The order is the API server's (docs/systems/kubernetes.md#crd-schemas): defaults, nulls, structural rules, and CEL
//! rules only if there is no structural violation. A rule that ran before the defaults would refuse values that the
//! server accepts; one that ran on a wrong type would report an error of the engine.
//!
//! Every value is judged as newly created. An API server accepts an update that leaves an invalid value unchanged
//! (ratcheting, since Kubernetes 1.33). An object in a file may be created anywhere, so here it is not accepted. Updates
//! have a question of their own, about the rules that compare two values: those are never ratcheted.

use std::borrow::Cow;
use std::sync::OnceLock;

use apimachinery::{Allowance, Spent, Work, pointer};
use kube_json::Value;

use crate::compile::{Additional, Node};
use crate::violation::{SchemaProblem, Violation, ViolationKind};
use crate::{check, compile, complete, evaluate, metadata};

/// A compiled schema: compile once, check many values; shared freely between threads.
#[derive(Debug)]
pub struct Schema {
    pub(crate) root: Node,
    /// Whether status is a subresource: an API server drops it from what is created, values unseen.
    status_is_separate: bool,
    /// [`complete::matters_to_checks`], when somebody has asked.
    defaults_matter: OnceLock<bool>,
}

impl Schema {
    /// Compiles the schema of a Kubernetes kind: `apiVersion`, `kind` and `metadata` are implied at the root.
    ///
    /// With `status_is_separate` (the kind has the status subresource) the values below `status` are not
    /// checked, because an API server drops them from what is created; unknown fields there still count.
    /// Whatever cannot be understood is left out of the checks and reported; the rest still works. Patterns
    /// and CEL rules compile when a value first meets them: [`Schema::verify`] compiles them all.
    pub fn from_resource(schema: &Value, status_is_separate: bool) -> (Self, Vec<SchemaProblem>) {
        let (mut schema, problems) = Self::from_value(schema);
        schema.root.resource = true;
        schema.status_is_separate = status_is_separate;
        (schema, problems)
    }

    /// Compiles the schema of a value that is not a Kubernetes object: parameters, configuration.
    pub fn from_value(schema: &Value) -> (Self, Vec<SchemaProblem>) {
        let (root, problems) = compile::compile(schema);
        let schema = Self {
            root,
            status_is_separate: false,
            defaults_matter: OnceLock::new(),
        };
        (schema, problems)
    }

    /// Compiles every pattern and rule, and returns those that cannot be used and are not checked.
    pub fn verify(&self) -> Vec<SchemaProblem> {
        self.verify_within(check::trusted())
    }

    /// As [`Schema::verify`], as far as a stock has work left.
    pub fn verify_within(&self, work: &Work) -> Vec<SchemaProblem> {
        compile::verify(&self.root, "", work)
    }

    /// Everything that is wrong with `value`, in the order of its fields. Empty if it is accepted.
    ///
    /// For schemas that can be trusted: only the costs of their rules limit how long it takes.
    pub fn validate(&self, value: &Value) -> Vec<Violation> {
        self.violations_of_written(value, self.counted())
    }

    /// As [`Schema::validate`], for somebody who asks [`check_metadata`](crate::check_metadata) about every object: what
    /// that says is left out.
    pub fn validate_beside_metadata(&self, value: &Value) -> Vec<Violation> {
        let counts = self.counted();
        self.violations_of_written(value, |violation| {
            violation.kind != ViolationKind::Metadata && counts(violation)
        })
    }

    /// As [`Schema::validate`], for a schema that a stranger wrote: it stops when no work is left. Then
    /// [`Work::is_spent`] is true and the result is incomplete, so the caller must refuse the value, or report nothing
    /// about any value.
    pub fn validate_within(&self, value: &Value, work: &Work) -> Vec<Violation> {
        let mut allowance = work.allowance(value);
        match complete::completed_within(&self.root, value, &mut allowance) {
            Ok(value) => self.violations(&value, &mut allowance, self.counted()),
            Err(Spent) => Vec::new(),
        }
    }

    /// As [`Schema::validate`], with the values below `status`, also where status is a subresource: for objects whose
    /// status no controller writes.
    pub fn validate_with_status(&self, value: &Value) -> Vec<Violation> {
        self.violations_of_written(value, |_| true)
    }

    /// As [`Schema::validate`], for a value that [`Schema::default`] or [`Schema::defaulted`] has made.
    pub fn validate_defaulted(&self, value: &Value) -> Vec<Violation> {
        self.violations(value, &mut check::trusted().allowance_of(0), self.counted())
    }

    /// The violations of a new value.
    fn counted(&self) -> impl Fn(&Violation) -> bool {
        let status_is_separate = self.status_is_separate;
        move |violation| {
            !status_is_separate
                || matches!(violation.kind, ViolationKind::UnknownField { .. })
                || pointer::inside(&violation.pointer, "/status").is_none()
        }
    }

    /// The violations of a value whose defaults are not filled in, by a schema that can be trusted.
    fn violations_of_written(&self, value: &Value, counts: impl Fn(&Violation) -> bool) -> Vec<Violation> {
        let mut allowance = check::trusted().allowance_of(0);
        // Filling in defaults copies the value: a sixth of the instructions of a `check` of 20,000 routes.
        let matters = || complete::matters_to_checks(&self.root);
        let value = if *self.defaults_matter.get_or_init(matters) || complete::contains_null(value) {
            self.defaulted(value)
        } else {
            Cow::Borrowed(value)
        };
        self.violations(&value, &mut allowance, counts)
    }

    fn violations(
        &self,
        value: &Value,
        allowance: &mut Allowance<'_>,
        counts: impl Fn(&Violation) -> bool,
    ) -> Vec<Violation> {
        let mut violations = check::check(&self.root, &metadata::NODE, value, allowance);
        violations.retain(&counts);
        if !violations.iter().any(|violation| violation.blocks_rules) {
            evaluate::check_rules(&self.root, (None, value), allowance, &mut violations);
            violations.retain(&counts);
        }
        violations
    }

    /// Whether any rule compares a value with the one before it, so that [`Schema::transitions`] may find something.
    pub const fn has_transitions(&self) -> bool {
        self.root.transitions_below
    }

    /// The rules by which an API server refuses to update the object `old` to `new`, although it may accept either
    /// (docs/systems/kubernetes.md#transition-rules). What is wrong with `new` itself is left to the other functions. As
    /// for [`Schema::validate_within`], the result is incomplete when no work is left.
    pub fn transitions(&self, old: &Value, new: &Value, work: &Work) -> Vec<Violation> {
        let mut violations = Vec::new();
        let mut allowance = work.allowance(new);
        let mut completed = |value| complete::completed_within(&self.root, value, &mut allowance);
        if let (Ok(old), Ok(new)) = (completed(old), completed(new)) {
            evaluate::check_rules(&self.root, (Some(&old), &new), &mut allowance, &mut violations);
        }
        violations.retain(self.counted());
        violations
    }

    /// What is wrong with some fields of the mapping `holder` of an object, regardless of its other fields: `value` is
    /// that mapping with only these fields. Only rules that read no other field are evaluated. Pointers begin in the
    /// mapping.
    ///
    /// So one can ask what a kind accepts there, without an object of the kind.
    ///
    /// Such a value is not in the input, so it brings no work along: each costs something of the `allowance`. Where
    /// that has nothing left, nothing is said.
    pub fn validate_part(
        &self,
        holder: &str,
        fields: &[&str],
        value: &Value,
        allowance: &mut Allowance<'_>,
    ) -> Vec<Violation> {
        let Some(node) = self.root.child(holder) else {
            return Vec::new();
        };
        let mut part = value.clone();
        if allowance.copy(value).is_err() || complete::complete(node, &mut part, true, allowance).is_err() {
            return Vec::new();
        }
        if let Value::Object(part) = &mut part {
            part.retain(|name, _| fields.contains(&name.as_str()));
        }
        let mut violations = check::check(node, &metadata::NODE, &part, allowance);
        violations.retain(|violation| {
            let first = pointer::tokens(&violation.pointer).next();
            first.is_some_and(|first| fields.contains(&&*first))
        });
        if !violations.iter().any(|violation| violation.blocks_rules) {
            evaluate::check_rules_about(node, &part, fields, allowance, &mut violations);
        }
        violations
    }

    /// Makes `value` what the API server would store: defaults filled in where their parent is present, nulls of
    /// fields that are not nullable gone. Defaults that multiply beyond some megabytes are not filled in.
    pub fn default(&self, value: &mut Value) {
        let nulls = complete::contains_null(value);
        let work = Work::default();
        let mut allowance = work.allowance(value);
        let _ = complete::complete(&self.root, value, nulls, &mut allowance);
    }

    /// As [`Schema::default`], with a copy only if that changes anything.
    pub fn defaulted<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        complete::completed(&self.root, value)
    }

    /// Whether a value may have a field: the schema knows it, or keeps unknown fields there.
    pub fn accepts_field(&self, path: &[&str]) -> bool {
        let takes_any =
            |holder: &Node| holder.preserve_unknown || !matches!(holder.additional, Additional::Unknown);
        self.lacking(path).is_none_or(takes_any)
    }

    /// Whether the schema knows a field, such as `["spec", "targetRef"]`. A list represents its items.
    pub fn has_field(&self, path: &[&str]) -> bool {
        self.lacking(path).is_none()
    }

    /// The level on the way to a field that does not know the next step.
    fn lacking(&self, path: &[&str]) -> Option<&Node> {
        let mut node = &self.root;
        for name in path {
            let holder = node.items.as_deref().unwrap_or(node);
            match holder.property(name) {
                Some(next) => node = next,
                None => return Some(holder),
            }
        }
        None
    }
}
