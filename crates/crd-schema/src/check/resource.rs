//! The fields that the root of an object and an embedded resource have without a schema for them.

use kube_json::{Map, Value};

use crate::check::{Mode, Place, Walk};
use crate::metadata::{self, Whose};
use crate::node::Node;
use crate::violation::{Path, ViolationKind, shown};
use apimachinery::names::NameRule;

impl Walk<'_, '_> {
    /// The root of an object or an embedded resource: type, kind and metadata that its schema only implies.
    pub(super) fn resource(&mut self, node: &Node, fields: &Map, path: &Path<'_>) {
        for name in ["apiVersion", "kind"] {
            let here = Path::Key(path, name);
            let (blocks_rules, message) = match fields.get(name) {
                Some(Value::String(text)) if node.embedded && !text.is_empty() => {
                    let problem = type_meta_problem(name, text);
                    let message = problem.map(|problem| format!("Invalid value: {text:?}: {problem}"));
                    (false, message)
                }
                None | Some(Value::String(_)) => {
                    if node.embedded {
                        self.required(&here, None);
                    }
                    continue;
                }
                Some(other) => {
                    let message = format!("Invalid value: {}: must be a string", shown(other));
                    (true, Some(message))
                }
            };
            if let Some(message) = message {
                let at = Place::bracketed(&here);
                self.add(at, ViolationKind::Invalid, blocks_rules, message, None);
            }
        }
        let Some(metadata) = fields.get("metadata") else {
            return;
        };
        let here = Path::Key(path, "metadata");
        let before = self.violations.len();
        match metadata {
            Value::Object(_) => {
                self.value(self.metadata, metadata, &here, Mode::Strict);
                if self.violations.len() == before {
                    let whose = if node.embedded {
                        Whose::Embedded
                    } else {
                        Whose::Object
                    };
                    for problem in metadata::problems(metadata, whose) {
                        let at = Place {
                            pointer: format!("{}{}", here.pointer(), problem.pointer),
                            field: format!("{}.{}", here.field(), problem.field),
                        };
                        self.add(at, ViolationKind::Invalid, false, problem.message, problem.help);
                    }
                }
            }
            Value::Null => {}
            _ => self.push(&here, true, || "Invalid value: must be an object".to_owned()),
        }
        if !node.embedded {
            let of_metadata = self.violations.iter_mut().skip(before);
            for violation in of_metadata.filter(|violation| violation.kind == ViolationKind::Invalid) {
                violation.kind = ViolationKind::Metadata;
            }
        }
    }
}

/// What Kubernetes refuses in an embedded resource's `apiVersion` or `kind`.
/// kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go@v1.34.1.
fn type_meta_problem(field: &str, text: &str) -> Option<String> {
    if field == "apiVersion" {
        return (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"));
    }
    let error = NameRule::Rfc1035Label.check(&text.to_ascii_lowercase()).err()?;
    Some(format!(
        "may have mixed case, but should otherwise match: {error}"
    ))
}
