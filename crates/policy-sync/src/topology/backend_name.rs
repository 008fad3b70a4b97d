//! The name of a backend.
//!
//! Owns: how it is kept. Flows in: names. Flows out: the same. Must not know: what a backend is for.
//!
//! Routes name two backends each, and a fleet has many routes: their names take as little memory as they can.

use apimachinery::Identity;
use kube_json::Text;

/// Group, kind, namespace, and name of a backend.
pub(crate) type BackendKey<'k> = (&'k str, &'k str, Option<&'k str>, &'k str);

/// Group and kind of a Service.
const SERVICE: (&str, &str) = ("", "Service");

/// The name of a backend as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct BackendName {
    /// Group and kind, unless it is a Service, as nearly all are.
    other_kind: Option<Box<(Text, Text)>>,
    pub(crate) namespace: Option<Text>,
    pub(crate) name: Text,
}

impl BackendName {
    pub(super) fn of((group, kind, namespace, name): BackendKey<'_>) -> Self {
        Self {
            other_kind: ((group, kind) != SERVICE).then(|| Box::new((group.into(), kind.into()))),
            namespace: namespace.map(Text::from),
            name: name.into(),
        }
    }

    pub(crate) fn key(&self) -> BackendKey<'_> {
        let (group, kind) = match &self.other_kind {
            Some(other) => (other.0.as_str(), other.1.as_str()),
            None => SERVICE,
        };
        (group, kind, self.namespace.as_deref(), &self.name)
    }

    /// The same for everybody else.
    pub(crate) fn identity(&self) -> Identity {
        let (group, kind, namespace, name) = self.key();
        Identity::new(group, kind, namespace, name)
    }
}
