//! What is wrong: with a value, by its schema ([`Violation`], and the path that leads to it), or with the schema itself
//! ([`SchemaProblem`]). Both are printed as Kubernetes prints them.

use std::fmt;

use apimachinery::pointer;
use kube_json::Value;

/// The kind of a violation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A value that the schema refuses.
    Invalid,
    /// An item of a list that repeats an earlier one.
    Duplicate {
        /// The fields that distinguish items; if there are none, the whole items are compared.
        keys: Vec<String>,
    },
    /// A field that must be there and is not. The pointer is the field's own.
    Required,
    /// A value that is not one of an enum's.
    NotSupported {
        /// What is there.
        value: Value,
        /// The enum.
        supported: Vec<Value>,
    },
    /// Something in the metadata of the root that no object of any kind may have. Apart from `Invalid` for who
    /// checks every object's metadata anyway, by [`check_metadata`](crate::check_metadata).
    Metadata,
    /// A field that the schema does not have: strict field validation refuses it, an API server without it drops
    /// it. The pointer leads to the key.
    UnknownField {
        /// The fields that it has there, sorted.
        known: Vec<String>,
    },
    /// A CEL rule that the value breaks.
    Rule {
        /// The rule.
        rule: String,
    },
}

/// Something that an API server would refuse.
///
/// Displays as Kubernetes does: `spec.listeners[0].port: Invalid value: 0: ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// Its kind.
    pub kind: ViolationKind,
    /// RFC 6901 pointer inside the checked value. A missing field's own pointer when one is required.
    pub pointer: String,
    /// The same in Kubernetes' notation, `spec.listeners[0].port`; empty for the root.
    pub field: String,
    /// What was there before an update, for a rule that compares both.
    pub old: Option<Value>,
    /// What is wrong, in Kubernetes' wording, without the path.
    pub message: String,
    /// What to write instead, if that adds to the message.
    pub help: Option<String>,
    /// Whether Kubernetes skips CEL rules because of it.
    pub(crate) blocks_rules: bool,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ViolationKind::UnknownField { .. } => write!(formatter, "unknown field {:?}", self.field),
            _ if self.field.is_empty() => formatter.write_str(&self.message),
            _ => write!(formatter, "{}: {}", self.field, self.message),
        }
    }
}

/// A value in a message: scalars as they are, anything else in Go's own form.
/// kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go@v1.34.1.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "\"null\"".to_owned(),
        other => in_go(other),
    }
}

/// What Go prints for `%#v`.
fn in_go(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => format!("{text:?}"),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(in_go).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name:?}:{}", in_go(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
    }
}

/// A path from the root of a value, kept on the stack: only a violation turns it into text.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    /// A field that the schema names, or would have to.
    Key(&'p Path<'p>, &'p str),
    /// A key of a map, which is data.
    Entry(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    /// A member of a mapping.
    pub(crate) const fn member(parent: &'p Self, name: &'p str, is_property: bool) -> Self {
        if is_property {
            Path::Key(parent, name)
        } else {
            Path::Entry(parent, name)
        }
    }

    /// RFC 6901.
    pub(crate) fn pointer(&self) -> String {
        match self {
            Path::Root => String::new(),
            Path::Key(parent, key) | Path::Entry(parent, key) => {
                let mut text = parent.pointer();
                pointer::push(&mut text, key);
                text
            }
            Path::Index(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }

    /// As the validator of structural schemas writes it: a dot before every name, also before a map's key and whatever
    /// the name holds. kubernetes/kube-openapi
    /// pkg/validation/validate/object_validator.go@b70ca82be4d0238f92e45b618ddfff8c8381c8c8.
    pub(crate) fn dotted(&self) -> String {
        self.written(joined)
    }

    /// As everything after that validator writes it, CEL rules among them: brackets around a map's key.
    /// kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/util/validation/field/path.go@v1.34.1.
    pub(crate) fn field(&self) -> String {
        self.written(|parent, key| format!("{parent}[{key}]"))
    }

    fn written(&self, entry: fn(String, &str) -> String) -> String {
        match self {
            Path::Root => String::new(),
            Path::Key(parent, key) => joined(parent.written(entry), key),
            Path::Entry(parent, key) => entry(parent.written(entry), key),
            Path::Index(parent, index) => format!("{}[{index}]", parent.written(entry)),
        }
    }
}

fn joined(parent: String, key: &str) -> String {
    if parent.is_empty() {
        key.to_owned()
    } else {
        format!("{parent}.{key}")
    }
}

/// A part of a schema, or of the definition around it, that cannot be used: it is left out of the checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", self.field())]
#[non_exhaustive]
pub struct SchemaProblem {
    /// RFC 6901 pointer inside what was read: the schema, or the definition.
    pub pointer: String,
    /// The mistake.
    pub message: String,
    /// What to write instead, if only one thing is right.
    pub suggestion: Option<String>,
    /// Whether the schema may well be right and only this crate cannot evaluate it.
    pub unsupported: bool,
}

impl SchemaProblem {
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            suggestion: None,
            unsupported: false,
        }
    }

    /// The pointer in Kubernetes' notation: `spec.versions[0].schema.openAPIV3Schema.properties[a].pattern`.
    pub fn field(&self) -> String {
        let mut field = String::new();
        let mut is_name = false;
        for token in pointer::tokens(&self.pointer) {
            if is_name || token.bytes().all(|byte| byte.is_ascii_digit()) {
                field.push_str(&format!("[{token}]"));
            } else {
                if !field.is_empty() {
                    field.push('.');
                }
                field.push_str(&token);
            }
            is_name = !is_name && token == "properties";
        }
        if field.is_empty() {
            "<nil>".to_owned()
        } else {
            field
        }
    }

    /// The same, inside what is at `at`.
    pub(crate) fn below(mut self, at: &str) -> Self {
        self.pointer.insert_str(0, at);
        self
    }
}
