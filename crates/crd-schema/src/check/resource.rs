//! What the root of an object and an embedded resource have without their schema saying so.
//!
//! Owns: the checks of `apiVersion`, `kind` and `metadata`. Flows in: the mapping that is the resource.
//! Flows out: violations. Must not know: the fields of any kind.

use serde_json::{Map, Value};

use crate::check::{Mode, Walk};
use crate::metadata;
use crate::node::Node;
use crate::violation::{Path, ViolationKind};
use apimachinery::names::{LABEL_MAX, NameRule};

impl Walk<'_> {
    /// The root of an object or an embedded resource: type, kind and metadata that its schema only implies.
    pub(super) fn resource(&mut self, node: &Node, fields: &Map<String, Value>, path: &Path<'_>) {
        for name in ["apiVersion", "kind"] {
            let here = Path::Key(path, name);
            match fields.get(name) {
                None if node.embedded => self.required(&here),
                None => {}
                Some(Value::String(text)) if node.embedded => {
                    if let Some(problem) = type_meta_problem(name, text) {
                        self.push(&here, false, format!("Invalid value: {text:?}: {problem}"));
                    }
                }
                Some(Value::String(_)) => {}
                Some(_) => self.push(&here, true, "Invalid value: must be a string".to_owned()),
            }
        }
        let Some(metadata) = fields.get("metadata") else {
            return;
        };
        let here = Path::Key(path, "metadata");
        match metadata {
            Value::Object(fields) => {
                let before = self.violations.len();
                let schema = self.metadata;
                self.value(schema, metadata, &here, Mode::Strict);
                if self.violations.len() == before {
                    let rule = if node.embedded {
                        NameRule::PathSegment
                    } else {
                        NameRule::Rfc1123Subdomain
                    };
                    for problem in metadata::problems(fields, rule) {
                        let help = problem.suggestion.map(|name| format!("for example {name:?}"));
                        self.below(&here, &problem.path, problem.message, help);
                    }
                }
                if !node.embedded {
                    for violation in self.violations.iter_mut().skip(before) {
                        let general = ["name", "namespace", "labels", "annotations"]
                            .iter()
                            .any(|field| violation.pointer.split('/').nth(2) == Some(field));
                        if general && violation.kind == ViolationKind::Invalid {
                            violation.kind = ViolationKind::Metadata;
                        }
                    }
                }
            }
            Value::Null => {}
            _ => self.push(&here, true, "Invalid value: must be an object".to_owned()),
        }
    }

    fn below(&mut self, path: &Path<'_>, steps: &[&str], message: String, help: Option<String>) {
        match steps.split_first() {
            None => self.push_with_help(path, false, message, help),
            Some((step, rest)) => self.below(&Path::Key(path, step), rest, message, help),
        }
    }
}

/// What Kubernetes refuses in an embedded resource's `apiVersion` or `kind`.
fn type_meta_problem(field: &str, text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("must not be empty".to_owned());
    }
    if field == "apiVersion" {
        return (text.matches('/').count() > 1)
            .then(|| "must be group/version, or a version alone".to_owned());
    }
    let lower = text.to_ascii_lowercase();
    if text.len() > LABEL_MAX {
        return Some(format!("must be no more than {LABEL_MAX} bytes"));
    }
    NameRule::Rfc1035Label
        .check(&lower)
        .err()
        .map(|error| error.to_string())
}
