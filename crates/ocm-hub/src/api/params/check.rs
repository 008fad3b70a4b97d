//! Mistakes in the text of the parameters.
//!
//! Owns: turning faults in the ConfigMap's text into findings and into the status of the class. Flows in: faults. Flows
//! out: findings, the first failure. Must not know: which fields exist.

use super::status::InvalidParameters;
use crate::api::violation;
use crate::diagnostic::{Code, Finding, Inside, Part, Place};
use crate::object::Object;
use apimachinery::pointer::dotted;
use crd_schema::Violation;

/// The key of the parameters in the ConfigMap's data.
pub(super) const PARAMS_KEY: &str = "params";

/// One reading of `data.params`.
pub(super) struct Check<'o> {
    pub(super) config_map: &'o Object,
    pub(super) failure: Option<InvalidParameters>,
    pub(super) findings: Vec<Finding>,
    /// Where the schema refuses something.
    pub(super) refused: Vec<String>,
}

/// A field of the text inside the ConfigMap.
pub(super) fn place(config_map: &Object, inner: &str, at_key: bool) -> Place {
    let origin = &config_map.origin;
    Place::Embedded {
        document: origin.document,
        inside: Box::new(Inside {
            pointer: format!("{}/data/{PARAMS_KEY}", origin.pointer).into(),
            inner: inner.into(),
        }),
        part: if at_key { Part::Key } else { Part::Value },
    }
}

/// Something wrong inside the text of the parameters.
pub(super) struct Fault<'f> {
    pub(super) code: Code,
    /// Pointer inside the text.
    pub(super) pointer: &'f str,
    /// Whether the key at the pointer is meant, not the value.
    pub(super) at_key: bool,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Check<'_> {
    /// Whether the schema refuses something here or below, so that what is left says nothing about what was meant.
    pub(super) fn refuses(&self, pointer: &str) -> bool {
        let below = |refused: &String| {
            let rest = refused.strip_prefix(pointer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.refused.iter().any(below)
    }

    pub(super) fn fault(&mut self, fault: Fault<'_>) {
        let field = dotted(fault.pointer);
        let inside = if fault.message.contains(&field) {
            String::new()
        } else {
            format!(" (at `{field}`)")
        };
        let message = format!(
            "parameters in ConfigMap {}: {}{inside}",
            self.config_map.key(),
            fault.message
        );
        let mut finding = Finding::new(
            fault.code,
            place(self.config_map, fault.pointer, fault.at_key),
            message,
        );
        finding.help = fault.help.map(Into::into);
        self.findings.push(finding);
        let failure = if fault.code == Code::PARAMS_RESOURCE {
            InvalidParameters::Resource(fault.message)
        } else {
            InvalidParameters::Unmarshal(fault.message)
        };
        self.failure.get_or_insert(failure);
    }

    pub(super) fn violation(&mut self, violation: &Violation) {
        let unknown = violation::is_unknown_field(violation);
        self.fault(Fault {
            code: if unknown {
                Code::PARAMS_UNKNOWN_FIELD
            } else {
                Code::PARAMS_INVALID
            },
            pointer: &violation.pointer,
            at_key: unknown,
            message: violation.to_string(),
            help: violation::help(violation),
        });
    }

    pub(super) fn invalid(&mut self, pointer: &str, message: impl Into<String>, help: Option<String>) {
        self.fault(Fault {
            code: Code::PARAMS_INVALID,
            pointer,
            at_key: false,
            message: message.into(),
            help,
        });
    }
}
