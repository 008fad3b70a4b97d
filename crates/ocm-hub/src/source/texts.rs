//! The texts of a run, and how a symbolic place becomes a line: late, and only for what is printed. A place may also be
//! inside a text that a field holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Room;
use super::lookups::{Found, Lookups};
use crate::diagnostic::{DocumentId, Inside, Locate, Part, Place, SourceId, Span, floor_boundary};

/// One input file and the documents found in it.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Hub or spoke.
    pub room: Room,
    /// Path relative to the input's root, as in reports.
    pub relative: String,
    /// Path as the user would type it here, as in findings.
    pub shown: String,
    /// The whole text.
    pub text: Arc<String>,
    /// Byte range of each document, in order, empty ones included.
    pub documents: Vec<DocumentRange>,
}

/// Where a document is in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentRange {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// How the document was read.
    pub syntax: kube_yaml::Syntax,
}

impl DocumentRange {
    /// The range of a chunk of its file.
    pub(super) fn of(chunk: &kube_yaml::Chunk<'_>) -> Self {
        Self {
            start: chunk.offset,
            end: chunk.offset.saturating_add(chunk.text.len()),
            line: chunk.line,
            syntax: chunk.syntax,
        }
    }

    /// The document of this text, to be read.
    pub(super) const fn chunk(self, text: &str) -> kube_yaml::Chunk<'_> {
        kube_yaml::Chunk {
            text,
            offset: self.start,
            line: self.line,
            syntax: self.syntax,
        }
    }
}

/// All texts of a run.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
    charts: Vec<String>,
    /// Files of which a part was not read.
    unread: BTreeSet<SourceId>,
    lookups: Lookups,
    /// The files that generated documents were made from, by numbers of their own, and what is there of which document.
    authored: Option<Box<Sources>>,
    redirected: BTreeMap<DocumentId, DocumentId>,
}

impl Sources {
    /// Adds a file; its number is how many there were.
    pub(super) fn push(&mut self, file: SourceFile) {
        self.files.push(file);
    }

    /// Adds a file that documents were generated from; its number among those.
    pub(super) fn push_authored(&mut self, file: SourceFile) -> SourceId {
        let authored = self.authored.get_or_insert_default();
        authored.push(file);
        SourceId(u32::try_from(authored.files.len().saturating_sub(1)).unwrap_or(u32::MAX))
    }

    /// From now on, places in a generated document are those in the authored one that it was made from.
    pub(super) fn redirect(&mut self, generated: DocumentId, authored: DocumentId) {
        self.redirected.insert(generated, authored);
    }

    /// Notes that the content of a part of a file is unknown.
    pub(super) fn note_unread(&mut self, source: SourceId) {
        self.unread.insert(source);
    }

    /// Keeps only the lines of the documents of a file.
    pub(super) fn drop_text(&mut self, source: SourceId) {
        if let Some(file) = usize::try_from(source.0)
            .ok()
            .and_then(|at| self.files.get_mut(at))
        {
            file.text = Arc::default();
        }
    }

    /// Whether the content of a part of a file is unknown.
    pub fn is_unread(&self, source: SourceId) -> bool {
        self.unread.contains(&source)
    }

    /// The same texts, with `prefix` before every path that is shown to people: `HEAD:` shows which version of a file
    /// is meant.
    #[must_use]
    pub fn prefixed(&self, prefix: &str) -> Self {
        let rename = |file: &SourceFile| SourceFile {
            shown: format!("{prefix}{}", file.shown),
            ..file.clone()
        };
        Self {
            files: self.files.iter().map(rename).collect(),
            charts: self.charts.clone(),
            unread: self.unread.clone(),
            lookups: Lookups::default(),
            authored: self.authored.clone(),
            redirected: self.redirected.clone(),
        }
    }

    #[cfg(test)]
    pub(super) fn lookups(&self) -> &Lookups {
        &self.lookups
    }

    /// Adds directories that are Helm charts.
    pub(super) fn add_charts(&mut self, charts: impl IntoIterator<Item = String>) {
        self.charts.extend(charts);
    }

    /// Directories that are Helm charts, whose templates were not read.
    pub fn charts(&self) -> &[String] {
        &self.charts
    }

    /// The file with this number.
    pub fn file(&self, id: SourceId) -> Option<&SourceFile> {
        self.files.get(usize::try_from(id.0).ok()?)
    }

    /// All files, in the order of their numbers.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The same texts under paths relative to the input's root: for reports, which must not depend on the
    /// directory the tool was started in.
    pub const fn root_relative(&self) -> RootRelative<'_> {
        RootRelative { sources: self }
    }

    /// The text of a document.
    pub fn text_of(&self, document: DocumentId) -> Option<&str> {
        let (file, range) = self.document(document)?;
        file.text.get(range.start..range.end)
    }

    fn document(&self, document: DocumentId) -> Option<(&SourceFile, DocumentRange)> {
        let file = self.file(document.source)?;
        let range = *file.documents.get(usize::try_from(document.index).ok()?)?;
        Some((file, range))
    }

    fn text(&self, document: DocumentId) -> Option<(&SourceFile, DocumentRange, &str)> {
        let (file, range) = self.document(document)?;
        let text = file.text.get(range.start..range.end);
        Some((file, range, text.unwrap_or_default()))
    }

    /// The file with its number, the byte range, and a byte at or before it whose line is known.
    fn range(&self, place: &Place) -> Option<(SourceId, &SourceFile, usize, usize, Known)> {
        let of_document = |source, file, range: DocumentRange, (start, end): (usize, usize)| {
            let (byte, line) = (range.start, range.line);
            let at = |inside: usize| byte.saturating_add(inside);
            (source, file, at(start), at(end), Known { byte, line })
        };
        match place {
            Place::Field {
                document,
                pointer,
                part,
            } => {
                let (file, range, text) = self.text(*document)?;
                let inside = match pointer.as_str() {
                    // Whole documents are asked for by the thousand: no need to parse them again.
                    "" => None,
                    pointer => self.locate_field(*document, text, range, pointer, *part),
                };
                let (start, end) = inside.unwrap_or_else(|| first_line(text));
                Some(of_document(document.source, file, range, (start, end)))
            }
            Place::Embedded {
                document,
                inside,
                part,
            } => {
                let Inside { pointer, inner } = &**inside;
                let (file, range, text) = self.text(*document)?;
                let (start, end) = self
                    .locate_embedded(*document, text, range, pointer, inner, *part)
                    .or_else(|| self.locate_field(*document, text, range, pointer, Part::Value))
                    .unwrap_or_else(|| first_line(text));
                Some(of_document(document.source, file, range, (start, end)))
            }
            Place::Text { source, start, end } => {
                let file = self.file(*source)?;
                let after = file.documents.partition_point(|range| range.start <= *start);
                let range = after.checked_sub(1).and_then(|at| file.documents.get(at));
                let (byte, line) = range.map_or((0, 1), |range| (range.start, range.line));
                Some((*source, file, *start, *end, Known { byte, line }))
            }
            Place::Path(_) | Place::Run => None,
        }
    }

    /// The field or its nearest parent: the document is read again, this time with positions.
    fn locate_field(
        &self,
        document: DocumentId,
        text: &str,
        range: DocumentRange,
        pointer: &str,
        part: Part,
    ) -> Option<(usize, usize)> {
        let found = self
            .lookups
            .found(document, None, text.len(), || read_again(text, range));
        let nearest = found.positions.as_ref()?.nearest(pointer);
        // Of a field that is missing, the key of its parent is shown: the value may be a whole page.
        let missing = nearest.pointer != pointer;
        let found = match nearest.key {
            Some(key) if missing || part == Part::Key => key,
            _ if missing && nearest.pointer.is_empty() => return None,
            _ => nearest.value,
        };
        Some((found.start, found.end))
    }

    /// A field of the text inside a literal block (`|`), or its nearest parent. `None` for text in quotes, where
    /// escapes hide the places.
    fn locate_embedded(
        &self,
        document: DocumentId,
        text: &str,
        range: DocumentRange,
        pointer: &str,
        inner: &str,
        part: Part,
    ) -> Option<(usize, usize)> {
        let (start, end) = self.locate_field(document, text, range, pointer, Part::Value)?;
        let found = self
            .lookups
            .found(document, Some(pointer), end.saturating_sub(start), || {
                read_embedded(text, start, end)
            });
        let nearest = found.positions.as_ref()?.nearest(inner);
        let missing = nearest.pointer != inner;
        let place = nearest
            .key
            .filter(|_| missing || part == Part::Key)
            .unwrap_or(nearest.value);
        let outer = |offset: usize| {
            let after = found.embedded.partition_point(|(inside, _)| *inside <= offset);
            let line = found.embedded.get(after.checked_sub(1)?)?;
            Some(line.1.saturating_add(offset.saturating_sub(line.0)))
        };
        Some((outer(place.start)?, outer(place.end)?))
    }

    fn resolve<'a>(&'a self, place: &Place, path: impl Fn(&'a SourceFile) -> &'a str) -> Option<Span<'a>> {
        if let Some((document, _)) = place.field()
            && let Some(there) = self.redirected.get(&document)
            && let Some(authored) = &self.authored
        {
            return authored.resolve(&place.clone().in_document(*there), path);
        }
        // Of a part of an export, there may be no text.
        if let Some((file, range)) = place.document().and_then(|document| self.document(document))
            && range.start == range.end
        {
            return Some(Span {
                path: path(file),
                text: "",
                start: 0,
                end: 0,
                line: range.line,
                column: 1,
            });
        }
        let (source, file, start, end, known) = self.range(place)?;
        let text: &str = &file.text;
        let start = floor_boundary(text, start);
        let end = floor_boundary(text, end).max(start);
        let (line, column) = self.line_and_column((source, text), start, &known);
        Some(Span {
            path: path(file),
            text,
            start,
            end,
            line,
            column,
        })
    }

    fn line_and_column(&self, (source, text): (SourceId, &str), at: usize, known: &Known) -> (usize, usize) {
        let index = self.lookups.lines(source, text);
        let here = index.before(text, at);
        let lines = here
            .newlines
            .saturating_sub(index.before(text, known.byte).newlines);
        (
            known.line.saturating_add(lines),
            here.characters.saturating_add(1),
        )
    }
}

/// A byte whose line number is known, so that counting need not start at the top of a large file.
struct Known {
    byte: usize,
    line: usize,
}

impl Locate for Sources {
    /// The directory that all files are in, as people name them.
    fn run_name(&self) -> String {
        let directory = |file: &SourceFile| file.shown.rsplit_once('/').map(|(before, _)| before.to_owned());
        let directories = self.files.iter().map(|file| directory(file).unwrap_or_default());
        let common = directories.reduce(|common, other| {
            let same = common
                .split('/')
                .zip(other.split('/'))
                .take_while(|(a, b)| a == b);
            same.map(|(part, _)| part).collect::<Vec<_>>().join("/")
        });
        common.unwrap_or_default()
    }

    fn locate(&self, place: &Place) -> Option<Span<'_>> {
        self.resolve(place, |file| &file.shown)
    }
}

/// [`Sources`] under root-relative paths.
#[derive(Debug, Clone, Copy)]
pub struct RootRelative<'a> {
    sources: &'a Sources,
}

impl Locate for RootRelative<'_> {
    fn locate(&self, place: &Place) -> Option<Span<'_>> {
        self.sources.resolve(place, |file| &file.relative)
    }
}

fn read_again(text: &str, range: DocumentRange) -> Found {
    let read = kube_yaml::read_located(&range.chunk(text), &kube_yaml::Limits::default());
    Found {
        positions: read.ok().map(|(_, positions)| positions),
        embedded: Vec::new(),
    }
}

/// Reads the text that a literal block holds: its lines are in the file as they are, indented.
fn read_embedded(text: &str, start: usize, end: usize) -> Found {
    let Some((embedded, lines)) = literal_block(text, start, end) else {
        return Found {
            positions: None,
            embedded: Vec::new(),
        };
    };
    let read = kube_yaml::read_document_located(&embedded, &kube_yaml::Limits::default());
    Found {
        positions: read.ok().map(|(_, positions)| positions),
        embedded: lines,
    }
}

/// The text of a literal block and, for each of its lines, where it starts there and in the document.
fn literal_block(text: &str, start: usize, end: usize) -> Option<(String, Vec<(usize, usize)>)> {
    let block = text.get(start..end)?;
    let (header, body) = block.split_once('\n')?;
    if !header.starts_with('|') {
        return None;
    }
    let indent = body
        .lines()
        .find(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())?;
    let mut embedded = String::with_capacity(body.len());
    let mut lines = Vec::new();
    let mut at = start.saturating_add(header.len()).saturating_add(1);
    for line in body.split_inclusive('\n') {
        let content = line.get(indent..).unwrap_or("\n");
        lines.push((
            embedded.len(),
            at.saturating_add(line.len().saturating_sub(content.len())),
        ));
        embedded.push_str(content);
        at = at.saturating_add(line.len());
    }
    if !embedded.ends_with('\n') {
        embedded.push('\n');
    }
    Some((embedded, lines))
}

/// The first line with content: what is shown when a document has no better place.
fn first_line(text: &str) -> (usize, usize) {
    let mut start = 0_usize;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        if !content.is_empty() && !content.starts_with('#') && !content.starts_with("---") {
            return (start, start.saturating_add(content.len()));
        }
        start = start.saturating_add(line.len());
    }
    (0, 0)
}
