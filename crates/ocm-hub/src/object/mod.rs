//! The dynamic Kubernetes object, its [`Origin`], and the [names](well_known) that several modules share. It knows no
//! particular kind; `api` does. The small languages inside an object belong to `apimachinery`.

mod rank;
mod variable;
pub mod well_known;

pub use rank::{Ages, Rank, rank_of};
pub use variable::{SUBSTITUTE_FIRST, first_placeholder, first_variable};
pub(crate) use variable::{is_placeholder, is_unfilled};

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use apimachinery::{ApiVersion, Field, GroupKind, Identity, pointer};

use kube_json::{Text, Value};

use crate::diagnostic::{Code, DocumentId, Finding, Part, Place, nearest};

/// Where an object came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The document.
    pub document: DocumentId,
    /// JSON pointer of the object inside its document: `""`, or `/items/3` for a member of a `List`.
    pub pointer: String,
}

impl Origin {
    /// The origin of an object that is a whole document.
    pub const fn from_document(document: DocumentId) -> Self {
        let pointer = String::new();
        Self { document, pointer }
    }

    /// The document, and the pointer of the object in it.
    pub fn object(&self) -> (DocumentId, &str) {
        (self.document, &self.pointer)
    }

    /// The place of a field of the object, given its pointer inside the object.
    pub fn place(&self, pointer: &str, part: Part) -> Place {
        let (document, pointer) = self.field(pointer);
        Place::Field {
            document,
            pointer,
            part,
        }
    }

    /// The document and the JSON pointer in it of a field of the object here.
    pub fn field(&self, pointer: &str) -> (DocumentId, Text) {
        let whole = if self.pointer.is_empty() {
            Text::from(pointer)
        } else {
            format!("{}{pointer}", self.pointer).into()
        };
        (self.document, whole)
    }

    /// The place of a field that `value`, the object here, lacks, and the help: its misspelled key if there is one,
    /// otherwise the mapping at `parent` that it belongs into.
    pub(crate) fn missing(&self, value: &Value, parent: &str, field: &str) -> (Place, Option<String>) {
        let mapping = value.pointer(parent).and_then(Value::as_object);
        let keys = mapping.into_iter().flat_map(|mapping| mapping.keys());
        match nearest(field, keys.map(Text::as_str)) {
            Some(near) => (
                self.place(&pointer::child(parent, near), Part::Key),
                Some(format!("did you mean `{field}`?")),
            ),
            None => (self.place(parent, Part::Value), None),
        }
    }
}

/// A field that a ClusterOverlay changed in an object, for the places of findings and of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlaidField {
    /// Its JSON pointer inside the changed object.
    pub pointer: String,
    /// Its value on the hub; nothing if the overlay adds it.
    pub hub: Option<Value>,
    /// The ClusterOverlay.
    pub overlay: Identity,
    /// The document of the overlay.
    pub document: DocumentId,
    /// The pointer, in that document, of the entry of `set` that changed it.
    pub entry: String,
}

/// An object of the input: any kind, exactly as the author wrote it, or as ClusterOverlays change it for some clusters.
///
/// Invariant: `value` is a mapping whose `apiVersion`, `kind` and `metadata.name` are what the other fields
/// say. `namespace` is the effective namespace: the written one, or the one given by `--namespace`; `None`
/// exactly for cluster-scoped kinds. An object with another value is made by [`with_value`](Self::with_value), because
/// the typed view belongs to the value.
#[derive(Debug, Clone)]
pub struct Object {
    /// Group and version.
    pub api_version: ApiVersion,
    /// Kind, such as `Gateway`.
    pub kind: Text,
    /// Effective namespace, `None` for cluster-scoped objects.
    pub namespace: Option<Text>,
    /// `metadata.name`.
    pub name: Text,
    /// The whole object as written.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
    /// What ClusterOverlays changed in it: fields none of which is inside another.
    pub overlaid: Option<Arc<[OverlaidField]>>,
    /// Whether rendering does not use it, so that no mistake in it stops a run.
    pub is_bystander: bool,
    /// What its definition in the input refuses first.
    pub refusal: Option<Text>,
    views: Views,
}

/// The typed views of a value, each made once, when somebody first asks for it. Clones share them.
#[derive(Debug, Clone, Default)]
struct Views {
    first: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Few objects are read as more than one thing.
    others: OnceLock<Arc<Self>>,
}

impl Views {
    fn get<T: Any + Send + Sync>(&self, read: &dyn Fn() -> T) -> &T {
        let first = self.first.get_or_init(|| Arc::new(read()));
        let of_other = || self.others.get_or_init(Arc::default).get(read);
        first.downcast_ref().unwrap_or_else(of_other)
    }
}

impl AsRef<Self> for Object {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Object {
    /// What is said where a reference without a namespace leads to none, and this object has that name.
    pub fn is_elsewhere(&self) -> String {
        let identity = self.identity();
        format!("{identity} has that name, but a reference without `namespace` stays in its own")
    }

    /// The object in a value, regardless of its kind's scope: `hub` checks the names and resolves the namespaces of the
    /// input. Missing parts are empty.
    pub fn from_value(value: Value, origin: Origin) -> Self {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_text).cloned();
        Self {
            api_version: ApiVersion::parse(&text("/apiVersion").unwrap_or_default()),
            kind: text("/kind").unwrap_or_default(),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name").unwrap_or_default(),
            origin,
            value,
            overlaid: None,
            is_bystander: false,
            refusal: None,
            views: Views::default(),
        }
    }

    /// The object that a value is, as if it was alone in the first file of the input.
    pub fn alone(value: Value) -> Self {
        Self::from_value(value, Origin::from_document(DocumentId::FIRST))
    }

    /// An object of this group, version, kind, and name, from this place, with another value.
    #[must_use]
    pub fn with_value(&self, value: Value) -> Self {
        Self {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            value,
            origin: self.origin.clone(),
            overlaid: self.overlaid.clone(),
            is_bystander: self.is_bystander,
            refusal: self.refusal.clone(),
            views: Views::default(),
        }
    }

    /// The same with another name.
    #[must_use]
    pub fn with_name(mut self, namespace: impl Into<Text>, name: impl Into<Text>) -> Self {
        self.namespace = Some(namespace.into());
        self.name = name.into();
        self
    }

    /// An object of which nothing but the name is known.
    pub fn from_identity(identity: Identity) -> Self {
        Self {
            api_version: ApiVersion {
                group: identity.group_kind.group,
                version: Text::new(),
            },
            kind: identity.group_kind.kind,
            namespace: identity.namespace,
            name: identity.name,
            ..Self::alone(Value::Null)
        }
    }

    /// The typed view of the value that `read` makes of it.
    pub(crate) fn view<T: Any + Send + Sync>(&self, read: impl Fn(&Self) -> T) -> &T {
        self.views.get(&|| read(self))
    }

    /// Group, kind, namespace and name: what must be unique in the input.
    pub fn identity(&self) -> Identity {
        Identity {
            group_kind: self.group_kind(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    /// Group and kind.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: self.api_version.group.clone(),
            kind: self.kind.clone(),
        }
    }

    /// Group and kind as they are in the value, where a typo in them is not corrected.
    pub fn written_kind(&self) -> GroupKind {
        let text = |name: &str| self.value.get(name).and_then(Value::as_text);
        let group = text("apiVersion").map(|text| ApiVersion::parse(text).group);
        GroupKind {
            group: group.unwrap_or_default(),
            kind: text("kind").cloned().unwrap_or_default(),
        }
    }

    /// Whether the object is of this group and kind, regardless of its version.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.api_version.group == group && self.kind == kind
    }

    /// A cursor on the whole object.
    pub fn root(&self) -> Field<'_> {
        Field::new(&self.value)
    }

    /// The effective namespace, or `""` for a cluster-scoped object.
    pub fn namespace_or_empty(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    /// `namespace/name`, or just `name` for a cluster-scoped object.
    pub fn key(&self) -> String {
        apimachinery::key(self.namespace_or_empty(), &self.name)
    }

    /// A finding about the value at `pointer`. The message begins with the name of the object.
    pub fn finding(&self, code: Code, pointer: &str, what: impl fmt::Display) -> Finding {
        Finding::new(code, self.place(pointer), format!("{} {what}", self.identity()))
    }

    /// The place of the value at `pointer` inside the object: in a ClusterOverlay, if one set it.
    pub fn place(&self, pointer: &str) -> Place {
        let (document, pointer) = self.field(pointer);
        Place::value(document, pointer)
    }

    /// The place of the key at `pointer` inside the object.
    pub fn key_place(&self, pointer: &str) -> Place {
        // The key of a field that an overlay sets is the `path` there.
        if let Some((field, "")) = self.overlaid_at(pointer) {
            return Place::value(field.document, format!("{}/path", field.entry));
        }
        let (document, pointer) = self.field(pointer);
        Place::key(document, pointer)
    }

    /// The document and the JSON pointer in it of a field: in a ClusterOverlay, if one set it.
    pub fn field(&self, pointer: &str) -> (DocumentId, Text) {
        match self.overlaid_at(pointer) {
            Some((field, rest)) => (field.document, format!("{}/value{rest}", field.entry).into()),
            None => self.origin.field(pointer),
        }
    }

    /// Where it came from, and the entries of the ClusterOverlays that changed it.
    pub fn origins(&self) -> Vec<Origin> {
        let overlaid = self.overlaid.iter().flat_map(|fields| fields.iter());
        let entries = overlaid.map(|field| Origin {
            document: field.document,
            pointer: field.entry.clone(),
        });
        std::iter::once(self.origin.clone()).chain(entries).collect()
    }

    /// The field that a ClusterOverlay changed and that `pointer` is or leads into, with the rest of the pointer.
    pub fn overlaid_at<'p>(&self, pointer: &'p str) -> Option<(&OverlaidField, &'p str)> {
        let mut fields = self.overlaid.iter().flat_map(|fields| fields.iter());
        fields.find_map(|field| Some((field, pointer::inside(pointer, &field.pointer)?)))
    }

    /// The label of this name, when it is there and a string.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.value.get("metadata")?.get("labels")?.get(name)?.as_str()
    }

    /// The labels that are strings, by key.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let metadata = self.value.get("metadata");
        let labels = metadata.and_then(|metadata| metadata.get("labels")?.as_object());
        let labels = labels.into_iter().flatten();
        labels.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
    }

    /// The annotation of this name, when it is there and a string.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        let metadata = self.value.get("metadata")?;
        metadata.get("annotations")?.get(name)?.as_str()
    }
}
