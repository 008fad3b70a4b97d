//! One violation of a schema, and the path that leads to it.
//!
//! Owns: [`Violation`], its wording as Kubernetes prints it.
//! Flows in: what the checks find. Flows out: violations. Must not know: schemas.

use std::fmt;

use apimachinery::pointer;
use serde_json::Value;

/// What sort of violation one is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A value that the schema refuses.
    Invalid,
    /// An item of a list that repeats an earlier one.
    Duplicate {
        /// The fields by which items are told apart; none: by all that they are.
        keys: Vec<String>,
    },
    /// A field that must be there and is not. The pointer is the field's own.
    Required,
    /// A value that is none of an enum's.
    NotSupported {
        /// What stands there.
        value: Value,
        /// The enum.
        supported: Vec<Value>,
    },
    /// A name, namespace, label or annotation of the root that no object of any kind may have. Apart from
    /// `Invalid` for who checks every object's metadata anyway.
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
#[non_exhaustive]
pub struct Violation {
    /// What sort it is.
    pub kind: ViolationKind,
    /// RFC 6901 pointer inside the checked value. A missing field's own pointer when one is required.
    pub pointer: String,
    /// The same in Kubernetes' notation, `spec.listeners[0].port`; empty for the root.
    pub field: String,
    /// What is wrong, in Kubernetes' words, without the path.
    pub message: String,
    /// What to write instead, where that is more than the message says.
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

/// A path from the root of a value, kept on the stack: only a violation turns it into text.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl Path<'_> {
    /// RFC 6901.
    pub(crate) fn pointer(&self) -> String {
        match self {
            Path::Root => String::new(),
            Path::Key(parent, key) => {
                let mut text = parent.pointer();
                pointer::push(&mut text, key);
                text
            }
            Path::Index(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }

    /// Kubernetes' notation: dots, and brackets around indexes and around keys that contain dots or slashes.
    pub(crate) fn field(&self) -> String {
        match self {
            Path::Root => String::new(),
            Path::Key(parent, key) => {
                let parent = parent.field();
                if key.contains(['.', '/', '[', ']']) {
                    format!("{parent}[{key}]")
                } else if parent.is_empty() {
                    (*key).to_owned()
                } else {
                    format!("{parent}.{key}")
                }
            }
            Path::Index(parent, index) => format!("{}[{index}]", parent.field()),
        }
    }
}
