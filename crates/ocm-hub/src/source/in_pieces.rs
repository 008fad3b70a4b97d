//! Reads files of any size piece by piece, so that only a part of them is in memory.
//!
//! Owns: reading the pieces in parallel, with the results in order, the checks that make a cut safe, and which texts
//! are kept for findings. Flows in: a walk's request, standard input. Flows out: the caller's result for each object,
//! and texts in [`Sources`]. Must not know: what an object means.
//!
//! A file of up to 64 MiB that cannot be cut is read again as a whole, like any other input. For a larger one, a
//! finding shows where it stops being readable.

use std::fmt;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use kube_json::Value;

use super::contents::DocumentRange;
use super::disk::{Disk, help_for};
use super::documents::{
    BYTES_FOR_A_VALUE, Content, Document, MOST_BYTES_OF_AN_OBJECT, STDIN, load_file, may_be_a_list,
    shared_text, syntax,
};
use super::lfs::is_pointer;
use super::paths::{reason, show};
use super::pieces::{MOST_PIECES, Piece, Stop, What, cut};
use super::texts::{PartOfText, SourceFile, Sources};
use super::walk::{Discovered, Found, Request, Room, walk};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Secrecy, SourceId};
use crate::parallel;
use crate::progress::Stage;

/// A value that was read: of a document, or of an item of its list.
#[derive(Debug)]
pub struct Part {
    /// The document.
    pub id: DocumentId,
    /// Where in the document.
    pub pointer: String,
    /// The value.
    pub value: Value,
}

/// The result for each value, so that the value itself need not be kept.
pub struct Make<'m, T> {
    /// Whether a document represents its items.
    pub is_list: fn(&Value) -> bool,
    /// Makes something of a value, and returns whether somebody may ask where it is.
    pub make: &'m (dyn Fn(Part) -> (T, bool) + Sync),
}

impl<T> fmt::Debug for Make<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Make").finish_non_exhaustive()
    }
}

/// Pieces of so many bytes are read at once.
const BATCH: usize = 8 << 20;
/// A text of so many bytes may be of any length.
const MUCH: usize = 1 << 20;
/// Texts of so many bytes are kept for findings. Beyond that, a finding has a line and no excerpt.
const MOST_KEPT: usize = 64 << 20;

/// Reads files on disk, or standard input, in their order.
pub fn read_in_pieces<T: Send>(
    request: &Request,
    stdin: Option<&mut dyn Read>,
    sources: &mut Sources,
    findings: &mut Findings,
    make: &Make<'_, T>,
) -> Vec<T> {
    let finding = request.progress.begin(Stage::Finding);
    let disk = Disk::below(request.named());
    let walked = walk(request, &disk, findings);
    drop(finding);
    sources.add_charts(walked.charts);
    let steps = request.progress.count(
        Stage::Reading,
        walked.files.len().saturating_add(stdin.iter().len()),
    );
    let mut reading = Reading {
        make,
        sources,
        findings,
        made: Vec::new(),
        kept: 0,
        most: kube_yaml::Limits::default().document_bytes,
    };
    for Found { file, at } in &walked.files {
        match disk.open(at) {
            Ok(mut open) => reading.file(file, &mut open),
            Err(_) => reading.as_a_whole(file, Content::OnDisk(&disk, at)),
        }
        steps.advance(1);
    }
    if let Some(stdin) = stdin {
        let file = Discovered {
            room: Room::Hub,
            relative: STDIN.to_owned(),
            path: Path::new(STDIN).to_owned(),
        };
        reading.file(&file, stdin);
        steps.advance(1);
    }
    reading.made
}

struct Reading<'r, 'm, T> {
    make: &'r Make<'m, T>,
    sources: &'r mut Sources,
    findings: &'r mut Findings,
    made: Vec<T>,
    /// Bytes of texts that are kept.
    kept: usize,
    /// A file of so many bytes may be read as a whole.
    most: usize,
}

impl<T: Send> Reading<'_, '_, T> {
    fn file(&mut self, file: &Discovered, reader: &mut dyn Read) {
        let mut start = match at_most(self.most.saturating_add(1), reader) {
            Ok(start) => start,
            Err(error) => {
                self.findings.push(unreadable(file, &error));
                return;
            }
        };
        let is_whole = start.len() <= self.most;
        if is_pointer(&start) {
            return self.as_a_whole(file, Content::Known(start.into()));
        }
        let is_json = file.path.extension().is_some_and(|extension| extension == "json");
        let source = SourceId(u32::try_from(self.sources.files().len()).unwrap_or(u32::MAX));
        let mut batch = Batch::new(self.make, source, is_whole, MOST_KEPT.saturating_sub(self.kept));
        let begin: Box<dyn Read> = if is_whole {
            Box::new(&*start)
        } else {
            Box::new(Once(Cursor::new(std::mem::take(&mut start))))
        };
        let stopped =
            cut(begin.chain(reader), is_json, &mut |piece| batch.take(piece)).and_then(|()| batch.read());
        let Batch {
            room_for_texts,
            mut made,
            documents,
            mut parts,
            findings,
            ..
        } = batch;
        if is_whole && !matches!(stopped, Ok(()) | Err(Stop::TooMany)) {
            return self.as_a_whole(file, Content::Known(start.into()));
        }
        self.findings.extend(findings);
        let keeps_all = is_whole && start.len() <= room_for_texts;
        let text = if keeps_all {
            self.kept = self.kept.saturating_add(start.len());
            shared_text(start)
        } else {
            Arc::default()
        };
        if let Err(stop) = stopped {
            // The contents of the rest are unknown, so the beginning is not used.
            made.clear();
            self.sources.note_unread(source);
            match stop {
                Stop::Uncut(offset, line) => {
                    parts.push(PartOfText::nothing(offset, line));
                    self.findings.push(uncut(file, source, offset, self.most));
                }
                Stop::TooMany => self.findings.push(too_many(file)),
                Stop::Unreadable(error) => self.findings.push(unreadable(file, &error)),
            }
        }
        self.made.extend(made);
        if !keeps_all {
            let kept = parts.iter().filter_map(|part| part.text.as_ref());
            self.kept = kept.fold(self.kept, |kept, text| kept.saturating_add(text.len()));
            self.sources.keep_parts(source, parts);
        }
        self.sources.push(SourceFile {
            room: file.room.clone(),
            relative: file.relative.clone(),
            shown: show(&file.path),
            text,
            documents,
        });
    }

    /// Reads a file like any other input.
    fn as_a_whole(&mut self, file: &Discovered, content: Content<'_>) {
        let documents = load_file(file, content, self.sources, self.findings);
        let make = |Document { id, value, .. }: Document| {
            let part = Part {
                id,
                pointer: String::new(),
                value,
            };
            (self.make.make)(part).0
        };
        self.made.extend(parallel::map_each(documents, make));
    }
}

/// The first bytes of a text, no more than `most`.
fn at_most(most: usize, reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut read_on = |start: &mut Vec<u8>, to: usize| {
        let room = to.saturating_sub(start.len());
        Read::take(&mut *reader, u64::try_from(room).unwrap_or(u64::MAX)).read_to_end(start)
    };
    let mut start = Vec::new();
    if read_on(&mut start, most.min(MUCH))? == MUCH {
        // A list that grows step by step holds its bytes twice at each step. Room that nobody uses takes no memory. Where
        // there is none, the list grows.
        let _ = start.try_reserve_exact(most.saturating_sub(MUCH));
        read_on(&mut start, most)?;
    }
    Ok(start)
}

/// Bytes that are left as soon as all of them were read.
struct Once(Cursor<Vec<u8>>);

impl Read for Once {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        if read == 0 {
            self.0 = Cursor::default();
        }
        Ok(read)
    }
}

/// The pieces of one file that are read next, and what came of those before.
struct Batch<'b, 'm, T> {
    make: &'b Make<'m, T>,
    source: SourceId,
    is_whole: bool,
    room_for_texts: usize,
    pieces: Vec<Piece>,
    bytes: usize,
    made: Vec<T>,
    /// How much was made before the items of the current list.
    list: usize,
    documents: Vec<DocumentRange>,
    parts: Vec<PartOfText>,
    findings: Vec<Finding>,
}

/// The result of a piece.
enum Outcome<T> {
    /// It is empty.
    Nothing,
    Made(T, bool),
    /// A document that is one of what it lists.
    List,
    TooLarge,
    /// It cannot be read by itself.
    Wrong(Option<kube_yaml::Error>),
}

impl<'b, 'm, T: Send> Batch<'b, 'm, T> {
    const fn new(make: &'b Make<'m, T>, source: SourceId, is_whole: bool, room_for_texts: usize) -> Self {
        Self {
            make,
            source,
            is_whole,
            room_for_texts,
            pieces: Vec::new(),
            bytes: 0,
            made: Vec::new(),
            list: 0,
            documents: Vec::new(),
            parts: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn take(&mut self, piece: Piece) -> Result<(), Stop> {
        self.bytes = self.bytes.saturating_add(piece.text.len());
        self.pieces.push(piece);
        if self.bytes < BATCH { Ok(()) } else { self.read() }
    }

    /// Reads the pieces in parallel, because each is independent.
    fn read(&mut self) -> Result<(), Stop> {
        self.bytes = 0;
        let pieces = std::mem::take(&mut self.pieces);
        let (make, source) = (self.make, self.source);
        let read = parallel::map(&pieces, |piece| outcome(piece, source, make));
        for (piece, outcome) in pieces.iter().zip(read) {
            self.note(piece, outcome)?;
        }
        Ok(())
    }

    fn note(&mut self, piece: &Piece, outcome: Outcome<T>) -> Result<(), Stop> {
        match piece.what {
            What::Item(0) => self.list = self.made.len(),
            What::Item(_) => {}
            What::Document => self
                .documents
                .push(range(piece, piece.offset.saturating_add(piece.text.len()))),
            What::Frame { end, .. } => self.documents.push(range(piece, end)),
        }
        let mut part = PartOfText::of(piece);
        let is_item = matches!(piece.what, What::Item(_));
        let mut is_asked_for = true;
        match outcome {
            Outcome::Nothing | Outcome::List => is_asked_for = false,
            Outcome::Made(made, asks) => {
                // The supposed items of a list are fields of an object that is not a list.
                if matches!(piece.what, What::Frame { .. }) {
                    self.made.truncate(self.list);
                }
                self.made.push(made);
                is_asked_for = asks;
            }
            // For a document, the reader of the whole document reports it.
            Outcome::TooLarge if is_item || !self.is_whole => {
                self.findings.push(too_large(piece, self.source));
                is_asked_for = false;
            }
            Outcome::TooLarge | Outcome::Wrong(_) if self.is_whole => return Err(stop(piece)),
            Outcome::Wrong(Some(error)) => self.findings.push(wrong(piece, error, self.source)),
            Outcome::TooLarge | Outcome::Wrong(None) => return Err(stop(piece)),
        }
        if is_asked_for && piece.text.len() <= self.room_for_texts {
            self.room_for_texts = self.room_for_texts.saturating_sub(piece.text.len());
            part.text = std::str::from_utf8(&piece.text)
                .ok()
                .map(|text| Arc::new(text.to_owned()));
        }
        self.parts.push(part);
        Ok(())
    }
}

fn stop(piece: &Piece) -> Stop {
    Stop::Uncut(piece.offset, piece.line)
}

fn range(piece: &Piece, end: usize) -> DocumentRange {
    DocumentRange {
        start: piece.offset,
        end,
        line: piece.line,
        syntax: piece.syntax,
    }
}

fn outcome<T>(piece: &Piece, source: SourceId, make: &Make<'_, T>) -> Outcome<T> {
    let Ok(text) = std::str::from_utf8(&piece.text) else {
        return Outcome::Wrong(None);
    };
    let is_too_large = text.len() > MOST_BYTES_OF_AN_OBJECT;
    let may_be_a_list = is_too_large && may_be_a_list(text);
    let chunk = kube_yaml::Chunk {
        text,
        offset: piece.offset,
        line: piece.line,
        syntax: piece.syntax,
    };
    let pointer = match piece.what {
        What::Document if is_too_large && !may_be_a_list => return Outcome::TooLarge,
        What::Item(_) if is_too_large => return Outcome::TooLarge,
        What::Frame { .. } if is_too_large => return Outcome::Wrong(None),
        What::Item(number) => format!("/items/{number}"),
        What::Document | What::Frame { .. } => String::new(),
    };
    let value = match piece.what {
        What::Frame { key, .. } => match frame(&chunk, key) {
            Ok(value) if (make.is_list)(&value) => return Outcome::List,
            read => read,
        },
        _ => value(&chunk, piece.what),
    };
    let value = match value {
        Ok(Value::Null) if pointer.is_empty() => return Outcome::Nothing,
        Ok(value) => value,
        Err(error) => return Outcome::Wrong(error),
    };
    let id = DocumentId {
        source,
        index: piece.document,
    };
    let (made, is_asked_for) = (make.make)(Part { id, pointer, value });
    Outcome::Made(made, is_asked_for)
}

/// The value of a document, or of an item; no error where the text is fine, and no piece.
fn value(chunk: &kube_yaml::Chunk<'_>, what: What) -> Result<Value, Option<kube_yaml::Error>> {
    let defaults = kube_yaml::Limits::default();
    let is_item = matches!(what, What::Item(_));
    // An item is inside a list and a mapping; in YAML, the list is a part of the piece.
    let above = match chunk.syntax {
        _ if !is_item => 0,
        kube_yaml::Syntax::Yaml => 1,
        kube_yaml::Syntax::Json => 2,
    };
    let limits = kube_yaml::Limits {
        depth: defaults.depth.saturating_sub(above),
        alias_nodes: chunk.text.len() / BYTES_FOR_A_VALUE,
        ..defaults
    };
    match (kube_yaml::read(chunk, &limits).map_err(Some)?, chunk.syntax) {
        (Value::Array(mut items), kube_yaml::Syntax::Yaml) if is_item => {
            match (items.pop(), items.is_empty()) {
                (Some(item), true) => Ok(item),
                _ => Err(None),
            }
        }
        (_, kube_yaml::Syntax::Yaml) if is_item => Err(None),
        (value, _) => Ok(value),
    }
}

/// A document without its items: `items` must be its key at the byte `key`. An anchor there might be one of an item's, a
/// directive would hold for all items.
fn frame(chunk: &kube_yaml::Chunk<'_>, key: usize) -> Result<Value, Option<kube_yaml::Error>> {
    let is_yaml = chunk.syntax == kube_yaml::Syntax::Yaml;
    if is_yaml && chunk.text.contains(['&', '*', '!', '%']) {
        return Err(None);
    }
    let read = kube_yaml::read_located(chunk, &kube_yaml::Limits::default());
    let (mut value, positions) = read.map_err(Some)?;
    if positions.key("/items").is_none_or(|found| found.start != key) {
        return Err(None);
    }
    match value.get_mut("items") {
        Some(items) if is_yaml && items.is_null() => *items = Value::Array(Vec::new()),
        Some(Value::Array(items)) if items.is_empty() => {}
        _ => return Err(None),
    }
    Ok(value)
}

/// What a reader says of a piece of a large file, of which nothing else is said.
fn wrong(piece: &Piece, error: kube_yaml::Error, source: SourceId) -> Finding {
    let text = String::from_utf8_lossy(&piece.text);
    let may_be_secret = Secrecy::new(&text).covers_document(&text);
    let mut finding = syntax(source, error.shifted(piece.offset), may_be_secret);
    if let What::Frame { .. } = piece.what {
        // After the items, its text is elsewhere.
        finding.place = at(source, piece.offset);
        finding.related.clear();
    }
    finding
}

fn at(source: SourceId, offset: usize) -> Place {
    Place::Text {
        source,
        start: offset,
        end: offset,
    }
}

fn too_large(piece: &Piece, source: SourceId) -> Finding {
    let bytes = piece.text.len();
    Finding::new(
        Code::YAML_LIMIT,
        at(source, piece.offset),
        format!("this object has {bytes} bytes; at most {MOST_BYTES_OF_AN_OBJECT} are read"),
    )
    .help("an API server accepts no request above 3 MiB: export the objects again")
}

fn uncut(file: &Discovered, source: SourceId, offset: usize, most: usize) -> Finding {
    let message = format!(
        "`{}` has more than {most} bytes, and cannot be read in parts from here on",
        show(&file.path)
    );
    Finding::new(Code::YAML_LIMIT, at(source, offset), message).help(
        "export objects as `kubectl get -o yaml` or `-o json` writes them: a list in block style, or one document per object",
    )
}

fn too_many(file: &Discovered) -> Finding {
    let shown = show(&file.path);
    let message = format!("`{shown}` contains more than {MOST_PIECES} objects");
    Finding::new(Code::YAML_LIMIT, Place::Path(shown), message)
        .help("read fewer clusters at a time, such as `kubectl get manifestwork -n CLUSTER -o yaml`")
}

fn unreadable(file: &Discovered, error: &std::io::Error) -> Finding {
    let shown = show(&file.path);
    let message = format!("cannot read `{shown}`: {}", reason(error));
    Finding::new(Code::INPUT_UNREADABLE, Place::Path(shown), message).help(help_for(error))
}

#[cfg(test)]
mod tests;
