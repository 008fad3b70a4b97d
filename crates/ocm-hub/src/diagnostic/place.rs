//! Where a finding is: a [`Place`], symbolic while the pipeline runs. [`Locate`] resolves it to lines only when something
//! is printed.

use kube_json::Text;

/// Index of an input file in the order of its path (the `source` module hands them out).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// One document of one input file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId {
    /// The file.
    pub source: SourceId,
    /// Position of the document in its file, from 0, empty documents included.
    pub index: u32,
}

impl DocumentId {
    /// The first document of the first file.
    pub const FIRST: Self = Self {
        source: SourceId(0),
        index: 0,
    };
}

/// Which half of a mapping entry a place means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The key: an unknown or misspelled field.
    Key,
    /// The value: everything else.
    Value,
}

/// A field of a YAML text that is in a string of a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inside {
    /// Pointer of the string.
    pub pointer: Text,
    /// Pointer inside its text.
    pub inner: Text,
}

/// A symbolic location. Cheap to make, compare and keep; a line number is worked out late, by [`Locate`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A field of a document: a JSON pointer (RFC 6901) from the document's root, `""` for the whole of it.
    Field {
        /// The document.
        document: DocumentId,
        /// RFC 6901 pointer. When the field does not exist, the nearest existing parent is shown.
        pointer: Text,
        /// The key or the value.
        part: Part,
    },
    /// A field of a YAML text that is in a string of a document: GatewayClass parameters in a ConfigMap.
    Embedded {
        /// The document.
        document: DocumentId,
        /// Where in it. Few places are of this kind, and there may be hundreds of thousands of the others.
        inside: Box<Inside>,
        /// The key or the value.
        part: Part,
    },
    /// A byte range of a file's text: syntax errors, which have no document yet.
    Text {
        /// The file.
        source: SourceId,
        /// First byte.
        start: usize,
        /// One past the last byte; never before `start`.
        end: usize,
    },
    /// A whole file or directory: unreadable input, output paths. Relative if the user gave it so.
    Path(String),
    /// Nothing in particular: the run as a whole.
    Run,
}

impl Place {
    /// The value at `pointer` of `document`.
    pub fn value(document: DocumentId, pointer: impl Into<Text>) -> Self {
        Self::Field {
            document,
            pointer: pointer.into(),
            part: Part::Value,
        }
    }

    /// The same place in another document.
    #[must_use]
    pub fn in_document(mut self, other: DocumentId) -> Self {
        if let Self::Field { document, .. } | Self::Embedded { document, .. } = &mut self {
            *document = other;
        }
        self
    }

    /// The document and the pointer in it; `None` for what has no document.
    pub fn field(&self) -> Option<(DocumentId, &str)> {
        match self {
            Self::Field {
                document, pointer, ..
            } => Some((*document, pointer)),
            Self::Embedded { document, inside, .. } => Some((*document, &inside.pointer)),
            Self::Text { .. } | Self::Path(_) | Self::Run => None,
        }
    }

    /// The document that it is in.
    pub fn document(&self) -> Option<DocumentId> {
        self.field().map(|(document, _)| document)
    }

    /// The file that it is in, unless that is known by its path only.
    pub fn source(&self) -> Option<SourceId> {
        match self {
            Self::Text { source, .. } => Some(*source),
            _ => self.document().map(|document| document.source),
        }
    }

    /// The object that it is in, by its pointer in the document: a whole document or, in a `List`, one item of it.
    pub fn object(&self) -> Option<(DocumentId, &str)> {
        let (document, pointer) = self.field()?;
        let item = pointer.strip_prefix("/items/").unwrap_or_default();
        let inside = item.find('/').and_then(|end| item.get(end..)).unwrap_or_default();
        let object = if item.is_empty() {
            ""
        } else {
            pointer.strip_suffix(inside)?
        };
        Some((document, object))
    }

    /// Whether it is the field of another place, key or value, or inside it.
    pub fn is_inside(&self, outer: &Self) -> bool {
        self.field().zip(outer.field()).is_some_and(|(own, outer)| {
            own.0 == outer.0 && apimachinery::pointer::inside(own.1, outer.1).is_some()
        })
    }

    /// The key at `pointer` of `document`.
    pub fn key(document: DocumentId, pointer: impl Into<Text>) -> Self {
        Self::Field {
            document,
            pointer: pointer.into(),
            part: Part::Key,
        }
    }
}

/// A resolved place: a file, a range of its text, and where that starts for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'a> {
    /// The path as it is shown to people: relative to the input root, with `/` between components.
    pub path: &'a str,
    /// The whole text of the file.
    pub text: &'a str,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte, from 1, in characters.
    pub column: usize,
}

impl<'a> Span<'a> {
    /// Path, line, and column.
    pub const fn position(self) -> (&'a str, usize, usize) {
        (self.path, self.line, self.column)
    }
}

/// Turns symbolic places into spans. Implemented by the holder of the texts (the `source` module).
pub trait Locate: Sync {
    /// The span of `place`, or `None` for [`Place::Path`] and [`Place::Run`], which have no text.
    fn locate(&self, place: &Place) -> Option<Span<'_>>;

    /// Path, line, and column of a place, for somebody who needs no text of it, and asks about many documents in their
    /// order.
    fn position(&self, place: &Place) -> Option<(&str, usize, usize)> {
        self.locate(place).map(Span::position)
    }

    /// A name for all the texts together, such as their directory: it distinguishes the runs of one repository.
    fn run_name(&self) -> String {
        String::new()
    }
}
