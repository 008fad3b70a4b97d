//! Mistakes in the text of the parameters. A fault becomes a finding, and the first one the status of the class.

use super::status::InvalidParameters;
use crate::api::{schema, violation};
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

impl Check<'_> {
    /// Whether the schema refuses something here or below.
    pub(super) fn refuses(&self, pointer: &str) -> bool {
        schema::refuses(&self.refused, pointer)
    }

    /// Something wrong at a pointer inside the text.
    pub(super) fn fault(&mut self, code: Code, at: &str, message: String, help: Option<String>) {
        let field = dotted(at);
        let inside = if message.contains(&field) {
            String::new()
        } else {
            format!(" (at `{field}`)")
        };
        let place = place(self.config_map, at, code == Code::PARAMS_UNKNOWN_FIELD);
        let said = format!(
            "parameters in ConfigMap {}: {message}{inside}",
            self.config_map.key()
        );
        let mut finding = Finding::new(code, place, said);
        finding.help = help.map(Into::into);
        self.findings.push(finding);
        self.failure.get_or_insert(if code == Code::PARAMS_RESOURCE {
            InvalidParameters::Resource(message)
        } else {
            InvalidParameters::Unmarshal(message)
        });
    }

    pub(super) fn violation(&mut self, violation: &Violation) {
        let code = if violation::is_unknown_field(violation) {
            Code::PARAMS_UNKNOWN_FIELD
        } else {
            Code::PARAMS_INVALID
        };
        let help = violation::help(violation);
        self.fault(code, &violation.pointer, violation.to_string(), help);
    }

    pub(super) fn invalid(&mut self, at: &str, message: impl Into<String>, help: impl Into<String>) {
        self.fault(Code::PARAMS_INVALID, at, message.into(), Some(help.into()));
    }

    /// A resource that cannot be synced as an entry asks.
    pub(super) fn resource_fault(&mut self, at: &str, message: impl Into<String>, help: impl Into<String>) {
        self.fault(Code::PARAMS_RESOURCE, at, message.into(), Some(help.into()));
    }
}
