//! One violation of a schema, and the path that leads to it.
//!
//! Owns: [`Violation`], its wording as Kubernetes prints it.
//! Flows in: what the checks find. Flows out: violations, findings. Must not know: schemas.

use std::fmt;

use crate::diagnostic::{Code, Finding};
use crate::object::Object;
use apimachinery::pointer::{self, dotted};

/// Which finding a violation becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViolationKind {
    /// A value that the schema refuses: `object/schema`, at the value.
    Invalid,
    /// A name, namespace, label or annotation of the root that no object of any kind may have: `object/schema`,
    /// at the value. Apart from `Invalid` for who checks every object's metadata anyway.
    Metadata,
    /// A field that the schema does not have: `object/unknown-field`, at the key.
    UnknownField,
}

/// Something that an API server would refuse.
///
/// Displays as Kubernetes does: `spec.listeners[0].port: Invalid value: 0: ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which finding it becomes.
    pub kind: ViolationKind,
    /// RFC 6901 pointer inside the checked value. A missing field's own pointer when one is required.
    pub pointer: String,
    /// The same in Kubernetes' notation, `spec.listeners[0].port`; empty for the root.
    pub field: String,
    /// What is wrong, in Kubernetes' words, without the path.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// Whether Kubernetes skips CEL rules because of it.
    pub(super) blocks_rules: bool,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ViolationKind::UnknownField => write!(formatter, "unknown field {:?}", self.field),
            _ if self.field.is_empty() => formatter.write_str(&self.message),
            _ => write!(formatter, "{}: {}", self.field, self.message),
        }
    }
}

impl Violation {
    /// The finding `object/schema` or `object/unknown-field` about `object`.
    #[must_use]
    pub fn into_finding(self, object: &Object) -> Finding {
        let subject = format!("{} {}: {self}", object.kind, object.key());
        let (code, place) = match self.kind {
            ViolationKind::Invalid | ViolationKind::Metadata => {
                (Code::OBJECT_SCHEMA, object.place(&self.pointer))
            }
            ViolationKind::UnknownField => (Code::OBJECT_UNKNOWN_FIELD, object.key_place(&self.pointer)),
        };
        let finding = Finding::new(code, place, subject);
        match self.help {
            Some(help) => finding.help(help),
            None => {
                let path = dotted(&self.pointer).replace(['[', ']'], " ");
                let fields: Vec<&str> = path
                    .split(['.', ' '])
                    .filter(|part| !part.is_empty() && !part.bytes().all(|byte| byte.is_ascii_digit()))
                    .collect();
                let kind = object.kind.to_lowercase();
                finding.help(format!(
                    "`kubectl explain {kind}.{}` says what belongs here",
                    fields.join(".")
                ))
            }
        }
    }
}

/// A path from the root of a value, kept on the stack: only a violation turns it into text.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl Path<'_> {
    /// RFC 6901.
    pub(super) fn pointer(&self) -> String {
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
    pub(super) fn field(&self) -> String {
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
