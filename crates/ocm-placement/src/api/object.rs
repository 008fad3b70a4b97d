//! An object of the caller, and a place in it. The caller identifies its objects by a number, which it gets back.

use apimachinery::{ApiVersion, Field, Identity};
use kube_json::Value;

/// Which of the caller's objects: the number under which the caller finds it again.
///
/// Of two objects with one identity, which no API server lets happen, the one with the lower number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub usize);

/// An object of the caller.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    /// The caller's number.
    pub id: ObjectId,
    /// The whole object.
    pub value: &'a Value,
    /// The namespace that counts; a caller may know one that is not written.
    pub namespace: Option<&'a str>,
}

/// A field of an object of the caller.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The object.
    pub object: ObjectId,
    /// JSON pointer (RFC 6901) inside it, `""` for the whole. The field need not be there.
    pub pointer: String,
}

impl<'a> Object<'a> {
    /// An object whose namespace is the written one.
    pub fn new(id: ObjectId, value: &'a Value) -> Self {
        Self {
            id,
            value,
            namespace: Field::new(value).get("metadata").text("namespace"),
        }
    }

    pub(crate) fn root(&self) -> Field<'a> {
        Field::new(self.value)
    }

    pub(crate) fn kind(&self) -> &'a str {
        self.value.get("kind").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn api_version(&self) -> ApiVersion {
        let text = self.value.get("apiVersion").and_then(Value::as_str);
        ApiVersion::parse(text.unwrap_or_default())
    }

    pub(crate) fn name(&self) -> &'a str {
        self.of_metadata("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The namespace, `""` for a cluster-scoped object.
    pub(crate) fn namespace_or_empty(&self) -> &'a str {
        self.namespace.unwrap_or_default()
    }

    pub(crate) fn label(&self, name: &str) -> Option<&'a str> {
        self.of_metadata("labels")?.get(name)?.as_str()
    }

    pub(crate) fn annotation(&self, name: &str) -> Option<&'a str> {
        self.of_metadata("annotations")?.get(name)?.as_str()
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity::new(
            &self.api_version().group,
            self.kind(),
            self.namespace,
            self.name(),
        )
    }

    /// A field of the object.
    pub(crate) fn at(&self, pointer: impl Into<String>) -> Location {
        Location {
            object: self.id,
            pointer: pointer.into(),
        }
    }

    fn of_metadata(&self, member: &str) -> Option<&'a Value> {
        self.value.get("metadata")?.get(member)
    }
}
