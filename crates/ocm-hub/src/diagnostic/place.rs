//! Where a finding is: symbolic while the pipeline runs, resolved to lines only when something is printed ([`Locate`]). Also which
//! places are in a value, inside it, or around it.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use kube_json::Text;
use serde::Serialize;

use super::sanitize::one_line;

/// Index of an input file in the order of its path (the `source` module hands them out).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

impl SourceId {
    /// The file at a position.
    pub(crate) fn at(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }
}

/// One document of one input file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId {
    /// The file.
    pub source: SourceId,
    /// Position of the document in its file, from 0, empty documents included.
    pub index: u32,
}

impl DocumentId {
    /// The document at a position of a file.
    pub(crate) fn at(source: SourceId, position: usize) -> Self {
        let index = u32::try_from(position).unwrap_or(u32::MAX);
        Self { source, index }
    }

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
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    #[default]
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

    /// A byte range of a file's text.
    pub(crate) const fn text(source: SourceId, range: &Range<usize>) -> Self {
        Self::Text {
            source,
            start: range.start,
            end: range.end,
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
pub trait Locate: fmt::Debug + Sync {
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

/// Lines and columns of a span, from 1, columns in characters, the end exclusive. Lines end at LF, so the CR of
/// a CRLF belongs to the line it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Region {
    /// Line of the first character.
    #[serde(rename = "startLine")]
    pub line: usize,
    /// Column of the first character.
    #[serde(rename = "startColumn")]
    pub column: usize,
    /// Line of the first character after the span.
    pub end_line: usize,
    /// Column of the first character after the span.
    pub end_column: usize,
}

impl Span<'_> {
    /// Start and end as lines and columns. Reads the bytes of the span once.
    pub fn region(&self) -> Region {
        let start = floor_boundary(self.text, self.start);
        let end = floor_boundary(self.text, self.end).max(start);
        let inside = self.text.get(start..end).unwrap_or_default();
        let (lines, last) = match inside.rsplit_once('\n') {
            Some((earlier, last)) => (1 + earlier.matches('\n').count(), last),
            None => (0, inside),
        };
        let before = if lines == 0 { self.column } else { 1 };
        Region {
            line: self.line,
            column: self.column,
            end_line: self.line + lines,
            end_column: before + last.chars().count(),
        }
    }
}

/// A place as the formats print it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location<'a> {
    /// As shown to people: relative to the root where it can be, with `/`.
    pub(super) path: &'a str,
    /// Missing where the place is a file as such.
    pub(super) region: Option<Region>,
}

/// Where `place` is; `None` for the run as a whole and for a place that cannot be found.
pub(super) fn resolve<'a>(place: &'a Place, locate: &'a dyn Locate) -> Option<Location<'a>> {
    match place {
        Place::Run => None,
        Place::Path(path) => Some(Location { path, region: None }),
        Place::Field { .. } | Place::Embedded { .. } | Place::Text { .. } => {
            locate.locate(place).map(|span| Location {
                path: span.path,
                region: Some(span.region()),
            })
        }
    }
}

/// `path:line:column`, as far as there is one.
pub(super) fn origin(place: &Place, locate: &dyn Locate) -> Option<String> {
    let location = resolve(place, locate)?;
    let path = one_line(location.path, usize::MAX);
    Some(match location.region {
        Some(region) => format!("{path}:{}:{}", region.line, region.column),
        None => path,
    })
}

/// The greatest character boundary of `text` that is not beyond `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The least of what was noted of places, by every value that they are in, and whether it was noted of this very value.
#[derive(Debug)]
pub(super) struct Within<'p, T>(HashMap<(DocumentId, &'p str), (T, bool)>);

impl<T> Default for Within<'_, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<'p, T: Copy + Ord> Within<'p, T> {
    /// Notes `least` of a place, unless less is noted already.
    pub(super) fn add(&mut self, place: &'p Place, least: T) {
        let Some((document, pointer)) = place.field() else {
            return;
        };
        for outer in outwards(pointer) {
            let (noted, is_here) = self.0.entry((document, outer)).or_insert((least, false));
            *noted = least.min(*noted);
            *is_here |= outer.len() == pointer.len();
        }
    }

    /// The least that was noted of a field, by its document and pointer, or below it.
    pub(super) fn least(&self, field: (DocumentId, &str)) -> Option<T> {
        self.0.get(&field).map(|(least, _)| *least)
    }

    /// Whether anything was noted of the same field of the same document, or of a value around it.
    pub(super) fn is_around(&self, place: &Place) -> bool {
        let is_noted = |field| self.0.get(&field).is_some_and(|(_, is_here)| *is_here);
        place
            .field()
            .is_some_and(|(document, pointer)| outwards(pointer).any(|outer| is_noted((document, outer))))
    }
}

/// A pointer, and those of the values around it, inmost first.
fn outwards(pointer: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(pointer), |inner| {
        inner.rfind('/').and_then(|end| inner.get(..end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(text: &str, start: usize, end: usize, line: usize, column: usize) -> (usize, usize) {
        let region = Span {
            path: "a.yaml",
            text,
            start,
            end,
            line,
            column,
        }
        .region();
        assert_eq!((region.line, region.column), (line, column));
        (region.end_line, region.end_column)
    }

    #[test]
    fn the_end_is_exclusive_and_counted_in_characters() {
        assert_eq!(region("ä: öü\n", 4, 8, 1, 4), (1, 6));
        assert_eq!(region("a", 0, 0, 1, 1), (1, 1));
    }

    #[test]
    fn lines_end_at_lf_also_in_crlf_files() {
        assert_eq!(region("a:\r\n  b: 1\r\n  c: 2\r\n", 6, 18, 2, 3), (3, 7));
        assert_eq!(region("a:\n  b\n", 5, 7, 2, 3), (3, 1));
    }

    #[test]
    fn a_span_beyond_the_text_ends_with_it() {
        assert_eq!(region("abc", 1, 99, 1, 2), (1, 4));
        assert_eq!(region("é", 1, 1, 1, 1), (1, 1));
    }

    fn at(index: u32, pointer: &str) -> Place {
        let source = SourceId(0);
        Place::value(DocumentId { source, index }, pointer)
    }

    fn is_within(inner: &Place, outer: &Place) -> bool {
        let (Some((document, pointer)), Some((of, root))) = (inner.field(), outer.field()) else {
            return false;
        };
        let below = pointer.strip_prefix(root);
        document == of && below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    #[test]
    fn it_says_what_asking_each_of_them_says() {
        let pointers = ["", "/a", "/a/b", "/a/b/c", "/ab", "/a~1b", "/a/0", "/b"];
        let noted = [(0, "/a/b", 2), (0, "/a/b/c", 1), (0, "/ab", 0), (1, "/b", 3)];
        let mut within = Within::default();
        let places = noted.map(|(document, pointer, number)| (at(document, pointer), number));
        for (place, number) in &places {
            within.add(place, *number);
        }
        within.add(&Place::Run, 0);
        assert_eq!(Place::Run.field().and_then(|field| within.least(field)), None);
        assert!(!within.is_around(&Place::Run));
        for document in 0..3 {
            for outer in pointers.map(|pointer| at(document, pointer)) {
                let asked = noted
                    .iter()
                    .filter(|(document, pointer, _)| is_within(&at(*document, pointer), &outer))
                    .map(|(_, _, number)| *number)
                    .min();
                assert_eq!(
                    outer.field().and_then(|field| within.least(field)),
                    asked,
                    "{outer:?}"
                );
                let mut noted = noted.iter();
                let is_around =
                    noted.any(|(document, pointer, _)| is_within(&outer, &at(*document, pointer)));
                assert_eq!(within.is_around(&outer), is_around, "{outer:?}");
            }
        }
    }
}
