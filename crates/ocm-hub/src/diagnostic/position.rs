//! Resolves places for the machine-readable formats: a path, and lines and columns if there is text.
//!
//! Owns: how a span becomes numbers. Flows in: a place. Flows out: a path and a region. Must not know: formats.

use serde::Serialize;

use super::visible::floor_boundary;
use super::{Locate, Place, Span};

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
}
