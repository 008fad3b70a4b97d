//! The parts of a definition or a schema that cannot be used.

use apimachinery::pointer;

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
