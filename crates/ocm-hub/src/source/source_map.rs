//! The texts of a run, and how a symbolic place becomes a line: late, and only for what is printed. A place may also be
//! inside a text that a field holds.
//!
//! Places are computed once for each document and once for each file, however many findings ask. Otherwise, a thousand findings in
//! one document would read it a thousand times: a file of half a megabyte took minutes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::Room;
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
    /// That of a text that is one document.
    pub(super) const fn whole(text: &str, syntax: kube_yaml::Syntax) -> Self {
        Self {
            start: 0,
            end: text.len(),
            line: 1,
            syntax,
        }
    }

    /// The range of a chunk of its file.
    pub(super) fn from_chunk(chunk: &kube_yaml::Chunk<'_>) -> Self {
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
    /// The number of the next file.
    pub(super) fn next_id(&self) -> SourceId {
        SourceId::at(self.files.len())
    }

    /// Adds a file.
    pub(super) fn push(&mut self, file: SourceFile) {
        self.files.push(file);
    }

    /// Adds a file that documents were generated from; its number among those.
    pub(super) fn push_authored(&mut self, file: SourceFile) -> SourceId {
        let authored = self.authored.get_or_insert_default();
        let id = authored.next_id();
        authored.push(file);
        id
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
        let mut prefixed = self.clone();
        for file in &mut prefixed.files {
            file.shown.insert_str(0, prefix);
        }
        prefixed
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
        RootRelative(self)
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
        if let Place::Text { source, start, end } = place {
            let file = self.file(*source)?;
            let after = file.documents.partition_point(|range| range.start <= *start);
            let range = after.checked_sub(1).and_then(|at| file.documents.get(at));
            let (byte, line) = range.map_or((0, 1), |range| (range.start, range.line));
            return Some((*source, file, *start, *end, Known { byte, line }));
        }
        let (document, pointer) = place.field()?;
        let (file, range, text) = self.text(document)?;
        let inside = match place {
            Place::Embedded { inside, part, .. } => self
                .locate_embedded(document, text, range, inside, *part)
                .or_else(|| self.locate_field(document, text, range, pointer, Part::Value)),
            Place::Field { part, .. } if !pointer.is_empty() => {
                self.locate_field(document, text, range, pointer, *part)
            }
            // Whole documents are asked for by the thousand: no need to parse them again.
            _ => None,
        };
        let (start, end) = inside.unwrap_or_else(|| first_line(text));
        let (byte, line) = (range.start, range.line);
        let at = |inside: usize| byte.saturating_add(inside);
        Some((document.source, file, at(start), at(end), Known { byte, line }))
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
        let found = self.lookups.found(document, None, text.len(), || {
            let read = kube_yaml::read_located(&range.chunk(text), &kube_yaml::Limits::default());
            Found {
                positions: read.ok().map(|(_, positions)| positions),
                embedded: Vec::new(),
            }
        });
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
        Inside { pointer, inner }: &Inside,
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
        let index = self.lookups.lines(source, text);
        let here = index.before(text, start);
        let lines = here
            .newlines
            .saturating_sub(index.before(text, known.byte).newlines);
        Some(Span {
            path: path(file),
            text,
            start,
            end,
            line: known.line.saturating_add(lines),
            column: here.characters.saturating_add(1),
        })
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
pub struct RootRelative<'a>(&'a Sources);

impl Locate for RootRelative<'_> {
    fn locate(&self, place: &Place) -> Option<Span<'_>> {
        self.0.resolve(place, |file| &file.relative)
    }
}

/// Reads the text that a literal block holds: its lines are in the file as they are, indented.
fn read_embedded(text: &str, start: usize, end: usize) -> Found {
    let block = literal_block(text, start, end);
    let read = block.as_ref().and_then(|(embedded, _)| {
        kube_yaml::read_document_located(embedded, &kube_yaml::Limits::default()).ok()
    });
    Found {
        positions: read.map(|(_, positions)| positions),
        embedded: block.map(|(_, lines)| lines).unwrap_or_default(),
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

/// Documents of so many bytes are kept in mind at once; a larger one by itself. Places of keys and values take some
/// twenty times their text, and findings come in the order of the documents.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    kept: Mutex<LookupCache>,
}

/// A copy of the texts computes it again: a copy may have other names.
impl Clone for Lookups {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Debug, Default)]
struct LookupCache {
    /// By document and, for a text inside one of its fields, the pointer of that field.
    documents: HashMap<(DocumentId, Option<String>), Arc<Found>>,
    bytes: usize,
    /// Of all files that are asked for: they take a thirtieth of their text.
    lines: HashMap<SourceId, Arc<Lines>>,
    /// How often a document had to be read.
    made: usize,
}

impl LookupCache {
    fn make_room(&mut self, bytes: usize) {
        self.made = self.made.saturating_add(1);
        if self.bytes.saturating_add(bytes) > MOST_BYTES {
            self.documents.clear();
            self.bytes = 0;
        }
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The known places of a document, or of a text inside one.
#[derive(Debug)]
pub(super) struct Found {
    /// Nothing where the text cannot be read.
    pub(super) positions: Option<kube_yaml::Positions>,
    /// For each line of a text inside a field: where it starts there, and in the document. Empty for a document.
    pub(super) embedded: Vec<(usize, usize)>,
}

impl Lookups {
    /// What is known of a document of `bytes` bytes, or of the text inside the field `inside`; `find` reads it.
    pub(super) fn found(
        &self,
        document: DocumentId,
        inside: Option<&str>,
        bytes: usize,
        find: impl FnOnce() -> Found,
    ) -> Arc<Found> {
        let key = (document, inside.map(str::to_owned));
        if let Some(found) = self.cache().documents.get(&key) {
            return Arc::clone(found);
        }
        let found = Arc::new(find());
        let mut kept = self.cache();
        kept.make_room(bytes);
        kept.documents.insert(key, Arc::clone(&found));
        found
    }

    /// The lines of a file.
    pub(super) fn lines(&self, source: SourceId, text: &str) -> Arc<Lines> {
        let mut kept = self.cache();
        let lines = kept.lines.entry(source);
        Arc::clone(lines.or_insert_with(|| Arc::new(Lines::new(text))))
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, LookupCache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn made(&self) -> usize {
        self.cache().made
    }
}

/// How many lines end before some bytes of a text, and where they are in their own: a line may be as long as the file, and
/// a file may have a million lines.
#[derive(Debug)]
pub(super) struct Lines {
    /// Before each [`BLOCK`] of bytes, and at the end.
    before: Vec<Before>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) newlines: usize,
    /// Characters that begin after the last of them.
    pub(super) characters: usize,
}

const BLOCK: usize = 512;

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let mut before = Vec::with_capacity((text.len() / BLOCK).saturating_add(2));
        let mut counted = Before::default();
        for block in text.as_bytes().chunks(BLOCK) {
            before.push(counted);
            counted = counted.and(block);
        }
        before.push(counted);
        Self { before }
    }

    /// What is before the byte `at` of `text`.
    pub(super) fn before(&self, text: &str, at: usize) -> Before {
        let block = at / BLOCK;
        let known = self.before.get(block).copied().unwrap_or_default();
        let rest = text.as_bytes().get(block.saturating_mul(BLOCK)..at);
        known.and(rest.unwrap_or_default())
    }
}

impl Before {
    /// Before what follows these bytes of UTF-8.
    fn and(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            if *byte == b'\n' {
                self.newlines = self.newlines.saturating_add(1);
                self.characters = 0;
            } else if byte & 0xC0 != 0x80 {
                self.characters = self.characters.saturating_add(1);
            }
        }
        self
    }
}
