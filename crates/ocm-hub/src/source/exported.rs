//! Reads exported objects, of any size, so that only a part of them is in memory.
//!
//! Owns: which files are read as a whole, reading the pieces of others in parallel, with the results in order, and which
//! texts are kept for findings. Flows in: a walk's request, standard input. Flows out: the caller's result for each
//! object, and texts in [`Sources`]. Must not know: what an object means.
//!
//! A file of up to 64 MiB is read like any other input. A larger one is cut into documents and, if it is JSON, into the
//! items of its list.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use kube_json::Value;

use super::disk::Disk;
use super::documents::{
    BYTES_FOR_A_VALUE, Content, Document, MOST_BYTES_OF_AN_OBJECT, STDIN, input, may_be_a_list, read_inputs,
    too_large, unreadable, wrong,
};
use super::paths::show;
use super::pieces::{Cutter, MOST_BYTES_OF_A_DOCUMENT, Piece, Stop, not_text};
use super::texts::{PartOfText, SourceFile, Sources};
use super::walk::{Discovered, Found, Request, Room, walk};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, SourceId};
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

/// Files, or pieces, of so many bytes are read at once.
const BATCH: usize = 8 << 20;
/// Texts of so many bytes are kept for findings. Beyond that, a finding has a line and no excerpt.
const MOST_KEPT: usize = 64 << 20;
/// As many works as a plan may have (docs/reference/limits.md). Each is kept, in about a kilobyte.
const MOST_PIECES: usize = 2_000_000;

/// Reads files on disk, or standard input, in their order.
pub fn read_exported<T: Send>(
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
    let piped = Discovered {
        room: Room::Hub,
        relative: STDIN.to_owned(),
        path: Path::new(STDIN).to_owned(),
    };
    let mut reading = Reading {
        make,
        sources,
        findings,
        made: Vec::new(),
        small: Vec::new(),
        bytes: 0,
        kept: 0,
        most: kube_yaml::Limits::DEFAULT_DOCUMENT_BYTES,
    };
    for Found { file, at } in &walked.files {
        match disk.open(at) {
            Ok(mut open) => reading.file(file, &mut open),
            Err(_) => reading.small.push((file, Content::OnDisk(&disk, at))),
        }
        steps.advance(1);
    }
    if let Some(stdin) = stdin {
        reading.file(&piped, stdin);
        steps.advance(1);
    }
    reading.read_small();
    reading.made
}

struct Reading<'r, 'm, T> {
    make: &'r Make<'m, T>,
    sources: &'r mut Sources,
    findings: &'r mut Findings,
    made: Vec<T>,
    /// Files that are read next, as a whole, and their bytes.
    small: Vec<(&'r Discovered, Content<'r>)>,
    bytes: usize,
    /// Bytes of texts that are kept.
    kept: usize,
    /// A file of so many bytes is read as a whole.
    most: usize,
}

impl<'r, T: Send> Reading<'r, '_, T> {
    fn file(&mut self, file: &'r Discovered, reader: &mut dyn Read) {
        let mut start = Vec::new();
        let most = u64::try_from(self.most.saturating_add(1)).unwrap_or(u64::MAX);
        if let Err(error) = reader.take(most).read_to_end(&mut start) {
            self.findings.push(unreadable(&show(&file.path), &error));
        } else if start.len() > self.most {
            self.read_small();
            self.read_large(file, start, reader);
        } else {
            self.bytes = self.bytes.saturating_add(start.len());
            self.small.push((file, Content::Known(start.into())));
            if self.bytes >= BATCH {
                self.read_small();
            }
        }
    }

    /// Reads files like any other input.
    fn read_small(&mut self) {
        let first = self.sources.files().len();
        self.bytes = 0;
        let files = std::mem::take(&mut self.small);
        let inputs = files.into_iter().map(|(file, content)| input(file, content));
        let documents = read_inputs(inputs.collect(), &Request::default(), self.sources, self.findings);
        let make = |Document { id, value, .. }: Document| {
            let part = Part {
                id,
                pointer: String::new(),
                value,
            };
            (id.source, (self.make.make)(part))
        };
        let mut asked_for = BTreeSet::new();
        for (source, (made, is_asked_for)) in parallel::map_each(documents, make) {
            self.made.push(made);
            if is_asked_for {
                asked_for.insert(source);
            }
        }
        for at in first..self.sources.files().len() {
            let source = SourceId(u32::try_from(at).unwrap_or(u32::MAX));
            let length = self.sources.file(source).map_or(0, |file| file.text.len());
            // A finding about several objects may also be about one of which nothing else is said.
            let room = if asked_for.contains(&source) {
                MOST_KEPT.saturating_mul(2)
            } else {
                MOST_KEPT
            };
            if self.kept.saturating_add(length) <= room {
                self.kept = self.kept.saturating_add(length);
            } else {
                self.sources.drop_text(source);
            }
        }
    }

    fn read_large(&mut self, file: &Discovered, start: Vec<u8>, reader: &mut dyn Read) {
        let is_json = file.path.extension().is_some_and(|extension| extension == "json");
        let source = SourceId(u32::try_from(self.sources.files().len()).unwrap_or(u32::MAX));
        let shown = show(&file.path);
        let mut batch = Batch {
            make: self.make,
            source,
            shown: &shown,
            room_for_texts: MOST_KEPT.saturating_sub(self.kept),
            pieces: Vec::new(),
            bytes: 0,
            count: 0,
            made: Vec::new(),
            list: (0, 0),
            parts: Vec::new(),
            findings: Vec::new(),
        };
        let stopped =
            Cutter::new(start, reader, (source, &shown), &mut |piece| batch.take(piece)).cut(is_json);
        batch.read();
        let Batch {
            mut made,
            mut parts,
            findings,
            ..
        } = batch;
        self.findings.extend(findings);
        if let Err(stop) = stopped {
            // The contents of the rest are unknown, so the beginning is not used.
            made.clear();
            self.sources.note_unread(source);
            parts.push(PartOfText::after(&stop));
            self.findings.push(stop.finding);
        }
        self.made.extend(made);
        let kept = parts.iter().filter_map(|part| part.text.as_ref());
        self.kept = kept.fold(self.kept, |kept, text| kept.saturating_add(text.len()));
        self.sources.keep_parts(source, parts);
        self.sources.push(SourceFile {
            room: file.room.clone(),
            relative: file.relative.clone(),
            shown,
            text: Arc::default(),
            documents: Vec::new(),
        });
    }
}

/// The pieces of one file that are read next, and what came of those before.
struct Batch<'b, 'm, T> {
    make: &'b Make<'m, T>,
    source: SourceId,
    shown: &'b str,
    room_for_texts: usize,
    pieces: Vec<Piece>,
    bytes: usize,
    count: usize,
    made: Vec<T>,
    /// The current document, and how much was made before it.
    list: (u32, usize),
    parts: Vec<PartOfText>,
    findings: Vec<Finding>,
}

/// The result of a piece.
enum Outcome<T> {
    /// It is empty, or a list whose items are pieces.
    Nothing,
    Made(T, bool),
    Wrong(Finding),
}

impl<T: Send> Batch<'_, '_, T> {
    fn take(&mut self, piece: Piece) -> Result<(), Stop> {
        self.count = self.count.saturating_add(1);
        if self.count > MOST_PIECES {
            let message = format!("`{}` contains more than {MOST_PIECES} objects", self.shown);
            let finding = Finding::new(Code::YAML_LIMIT, Place::Path(self.shown.to_owned()), message)
                .help("read fewer clusters at a time, such as `kubectl get manifestwork -n CLUSTER -o yaml`");
            return Err(Stop {
                offset: piece.offset,
                line: piece.line,
                finding,
            });
        }
        self.bytes = self.bytes.saturating_add(piece.text.len());
        self.pieces.push(piece);
        if self.bytes >= BATCH {
            self.read();
        }
        Ok(())
    }

    /// Reads the pieces in parallel, because each is independent.
    fn read(&mut self) {
        self.bytes = 0;
        let pieces = std::mem::take(&mut self.pieces);
        let (source, make) = (self.source, self.make);
        let read = parallel::map(&pieces, |piece| outcome(piece, source, make));
        for (piece, outcome) in pieces.into_iter().zip(read) {
            self.note(piece, outcome);
        }
    }

    fn note(&mut self, piece: Piece, outcome: Outcome<T>) {
        if self.list.0 != piece.document {
            self.list = (piece.document, self.made.len());
        }
        let mut part = PartOfText::of(&piece);
        let is_asked_for = match outcome {
            Outcome::Nothing => false,
            Outcome::Made(made, is_asked_for) => {
                // The supposed items of a list are fields of an object that is not a list.
                if piece.lacks_items {
                    self.made.truncate(self.list.1);
                }
                self.made.push(made);
                is_asked_for
            }
            Outcome::Wrong(finding) => {
                self.findings.push(finding);
                true
            }
        };
        if is_asked_for && piece.text.len() <= self.room_for_texts {
            self.room_for_texts = self.room_for_texts.saturating_sub(piece.text.len());
            part.text = String::from_utf8(piece.text).ok().map(Arc::new);
        }
        self.parts.push(part);
    }
}

fn outcome<T>(piece: &Piece, source: SourceId, make: &Make<'_, T>) -> Outcome<T> {
    let place = Place::Text {
        source,
        start: piece.offset,
        end: piece.offset,
    };
    let Ok(text) = std::str::from_utf8(&piece.text) else {
        return Outcome::Wrong(not_text(place));
    };
    if text.len() > MOST_BYTES_OF_AN_OBJECT && !may_be_a_list(text) {
        return Outcome::Wrong(too_large(place, text.len()));
    }
    let chunk = kube_yaml::Chunk {
        text,
        offset: piece.offset,
        line: piece.line,
        syntax: piece.syntax,
    };
    let defaults = kube_yaml::Limits::default();
    // An item is inside a list and a mapping.
    let above = if piece.item.is_some() { 2 } else { 0 };
    let limits = kube_yaml::Limits {
        depth: defaults.depth.saturating_sub(above),
        document_bytes: MOST_BYTES_OF_A_DOCUMENT,
        alias_nodes: text.len() / BYTES_FOR_A_VALUE,
    };
    let value = match kube_yaml::read(&chunk, &limits) {
        Ok(Value::Null) if piece.item.is_none() => return Outcome::Nothing,
        Ok(value) if piece.lacks_items && (make.is_list)(&value) => return Outcome::Nothing,
        Ok(value) => value,
        Err(error) => {
            let mut finding = wrong(source, error, piece.offset, text);
            if piece.lacks_items {
                // After the items, its text is elsewhere.
                finding.place = place;
                finding.related.clear();
            }
            return Outcome::Wrong(finding);
        }
    };
    let id = DocumentId {
        source,
        index: piece.document,
    };
    let pointer = piece
        .item
        .map_or_else(String::new, |item| format!("/items/{item}"));
    let (made, is_asked_for) = (make.make)(Part { id, pointer, value });
    Outcome::Made(made, is_asked_for)
}
#[cfg(test)]
mod tests;
