//! Reads exported objects, of any size, so that only a part of them is in memory.
//!
//! A file of up to 64 MiB is read like any other input. A larger one is cut into documents, and JSON also into the items
//! of its lists. A piece counts as a document. The text of such a file is that of the pieces that somebody may ask for.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use kube_json::Value;
use kube_yaml::Syntax;
use serde::de::IgnoredAny;

use super::disk::Disk;
use super::documents::{
    BYTES_FOR_A_VALUE, Content, Document, MOST_BYTES_OF_AN_OBJECT, is_json, may_be_a_list, read_inputs,
    unreadable, wrong,
};
use super::source_map::{DocumentRange, SourceFile, Sources};
use super::tree::show;
use super::walk::{Discovered, Request, Room, walk};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, SourceId};
use crate::parallel;
use crate::progress::Stage;

/// Makes something of a document, which need not be kept, and returns whether somebody may ask where it is.
pub type Make<'m, T> = dyn Fn(Document) -> (T, bool) + Sync + 'm;

/// Files, or pieces, of so many bytes are read at once.
const BATCH: usize = 8 << 20;
/// Texts of so many bytes are kept for findings. Beyond that, a finding has a line and no excerpt.
const MOST_KEPT: usize = 64 << 20;
/// As many works as a plan may have (docs/reference/limits.md). Each is kept, in about a kilobyte.
const MOST_PIECES: usize = 2_000_000;
/// A document of YAML that may be a list has at most so many bytes.
const MOST_BYTES_OF_A_LIST: usize = 256 << 20;
/// Bytes of a large file to read at once, at least.
const BLOCK: usize = if cfg!(test) { 7 } else { 1 << 20 };

/// Reads files on disk, or standard input, in their order. `is_list` is whether a document represents its items.
pub fn read_exported<T: Send>(
    request: &Request,
    stdin: Option<&mut dyn Read>,
    sources: &mut Sources,
    findings: &mut Findings,
    is_list: fn(&Value) -> bool,
    make: &Make<'_, T>,
) -> Vec<T> {
    let finding = request.progress.begin(Stage::Finding);
    let disk = Disk::below(request.named());
    let walked = walk(request, &disk, None);
    drop(finding);
    findings.extend(walked.findings);
    sources.add_charts(walked.charts);
    let count = walked.files.len().saturating_add(stdin.iter().len());
    let steps = request.progress.count(Stage::Reading, count);
    let piped = Discovered::stdin();
    let mut reading = Reading {
        is_list,
        make,
        sources,
        findings,
        made: Vec::new(),
        small: Vec::new(),
        bytes: 0,
        kept: 0,
        most: kube_yaml::Limits::DEFAULT_DOCUMENT_BYTES,
    };
    for file in &walked.files {
        match disk.open(&file.at) {
            Ok(mut open) => reading.file(file, &mut open),
            Err(_) => reading.small.push((file, Content::OnDisk(&disk, &file.at))),
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

struct Reading<'r, T> {
    is_list: fn(&Value) -> bool,
    make: &'r Make<'r, T>,
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

impl<'r, T: Send> Reading<'r, T> {
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
        self.bytes = 0;
        let first = self.sources.files().len();
        let files = std::mem::take(&mut self.small);
        let (documents, found) = read_inputs(files, &Request::default(), self.sources);
        let mut asked_for = BTreeSet::new();
        for finding in &found {
            if let Place::Text { source, .. } = finding.place {
                asked_for.insert(source);
            }
        }
        self.findings.extend(found);
        let make = |document: Document| (document.id.source, (self.make)(document));
        for (source, (made, is_asked_for)) in parallel::map_each(documents, make) {
            self.made.push(made);
            asked_for.extend(is_asked_for.then_some(source));
        }
        for at in first..self.sources.files().len() {
            let source = SourceId::at(at);
            let length = self.sources.file(source).map_or(0, |file| file.text.len());
            // Others are only asked for if two files have the same object.
            let most = MOST_KEPT.saturating_mul(if asked_for.contains(&source) { 2 } else { 1 });
            if self.kept.saturating_add(length) <= most {
                self.kept = self.kept.saturating_add(length);
            } else {
                self.sources.drop_text(source);
            }
        }
    }

    fn read_large(&mut self, file: &Discovered, start: Vec<u8>, reader: &mut dyn Read) {
        let source = self.sources.next_id();
        let is_json = is_json(&file.path) || start.trim_ascii_start().starts_with(b"{");
        let first = self.made.len();
        let mut large = Large {
            reading: self,
            source,
            shown: show(&file.path),
            text: String::new(),
            documents: Vec::new(),
            list: first,
            pieces: Vec::new(),
            waiting: 0,
            reader,
            is_at_end: false,
            bytes: start,
            start: 0,
            at: 0,
            line: 1,
        };
        let stopped = if is_json { large.json() } else { large.yaml() };
        large.read();
        let file = SourceFile {
            room: file.room.clone(),
            relative: file.relative.clone(),
            shown: large.shown,
            text: Arc::new(large.text),
            documents: large.documents,
        };
        if let Err(finding) = stopped {
            // The contents of the rest are unknown, so the beginning is not used.
            self.made.truncate(first);
            self.sources.note_unread(source);
            self.findings.push(*finding);
        }
        self.kept = self.kept.saturating_add(file.text.len());
        self.sources.push(file);
    }
}

/// A file that is cut while it is read.
struct Large<'l, 'r, T> {
    reading: &'l mut Reading<'r, T>,
    source: SourceId,
    shown: String,
    /// Of the pieces that are kept, and where each piece is in it.
    text: String,
    documents: Vec<DocumentRange>,
    /// How much was made before the items of the current list.
    list: usize,
    /// The pieces that are read next, and their bytes.
    pieces: Vec<Piece>,
    waiting: usize,
    reader: &'l mut dyn Read,
    is_at_end: bool,
    /// The part of the file that is in memory.
    bytes: Vec<u8>,
    /// The next piece begins at this one of `bytes`, and at this line.
    start: usize,
    line: usize,
    /// The text up to this one of `bytes` is known to be of that piece.
    at: usize,
}

/// A document, or a part of it.
struct Piece {
    text: Vec<u8>,
    line: usize,
    syntax: Syntax,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Document,
    Item,
    /// A document without its items, which came before.
    Frame,
}

/// Why a file is not read any further.
type Stop = Box<Finding>;

/// Reading the pieces.
impl<T: Send> Large<'_, '_, T> {
    fn take(&mut self, (text, line): (Vec<u8>, usize), syntax: Syntax, what: What) -> Result<(), Stop> {
        if self.documents.len().saturating_add(self.pieces.len()) >= MOST_PIECES {
            let message = format!("`{}` contains more than {MOST_PIECES} objects", self.shown);
            let finding = Finding::new(Code::YAML_LIMIT, Place::Path(self.shown.clone()), message)
                .help("read fewer clusters at a time, such as `kubectl get manifestwork -n CLUSTER -o yaml`");
            return Err(Box::new(finding));
        }
        self.waiting = self.waiting.saturating_add(text.len());
        self.pieces.push(Piece {
            text,
            line,
            syntax,
            what,
        });
        if self.waiting >= BATCH {
            self.read();
        }
        Ok(())
    }

    /// Reads the pieces in parallel, because each is independent.
    fn read(&mut self) {
        self.waiting = 0;
        let pieces: Vec<(usize, Piece)> = (self.documents.len()..).zip(self.pieces.drain(..)).collect();
        let Reading { is_list, make, .. } = *self.reading;
        let source = self.source;
        let read = parallel::map(&pieces, |(index, piece)| {
            let value = match piece.value()? {
                Value::Null if piece.what != What::Item => return Ok(None),
                value if piece.what == What::Frame && is_list(&value) => return Ok(None),
                value => value,
            };
            let id = DocumentId::at(source, *index);
            let room = Room::Hub;
            Ok(Some(make(Document { id, room, value })))
        });
        for ((_, piece), read) in pieces.into_iter().zip(read) {
            let is_asked_for = !matches!(read, Ok(None | Some((_, false))));
            let text = String::from_utf8_lossy(&piece.text);
            let room = MOST_KEPT.saturating_sub(self.reading.kept);
            let fits = text.len() <= room.saturating_sub(self.text.len()) && piece.what != What::Frame;
            let blanks = piece.text.iter().take_while(|byte| byte.is_ascii_whitespace());
            let blank_lines = blanks.filter(|byte| **byte == b'\n').count();
            let place = if is_asked_for && fits {
                self.keep(&text, piece.line, piece.syntax)
            } else {
                self.keep("", piece.line.saturating_add(blank_lines), piece.syntax)
            };
            match read {
                Ok(None) => {}
                Ok(Some((made, _))) => {
                    // The supposed items of a list are fields of an object that is not a list.
                    if piece.what == What::Frame {
                        self.reading.made.truncate(self.list);
                    }
                    self.reading.made.push(made);
                }
                Err(error) => {
                    let start = self.documents.last().map_or(0, |range| range.start);
                    let mut finding = wrong(self.source, error, start, &text);
                    if !fits {
                        finding.place = place;
                        finding.related.clear();
                    }
                    self.reading.findings.push(finding);
                }
            }
        }
    }

    /// Keeps the text of a piece, or only its line, which becomes its place.
    fn keep(&mut self, text: &str, line: usize, syntax: Syntax) -> Place {
        let start = self.text.len();
        if !text.is_empty() {
            self.text.extend([text, "\n"]);
        }
        let document = DocumentId::at(self.source, self.documents.len());
        self.documents.push(DocumentRange {
            start,
            end: start.saturating_add(text.len()),
            line,
            syntax,
        });
        Place::value(document, "")
    }
}

impl Piece {
    fn value(&self) -> Result<Value, kube_yaml::Error> {
        let text = kube_yaml::decode(&self.text).map_err(|undecodable| undecodable.error)?;
        let chunk = kube_yaml::Chunk {
            text: &text,
            offset: 0,
            line: self.line,
            syntax: self.syntax,
        };
        let depth = match self.syntax {
            Syntax::Json => kube_yaml::Limits::JSON_DEPTH,
            Syntax::Yaml => kube_yaml::Limits::default().depth,
        };
        let limits = kube_yaml::Limits {
            // An item is inside a list and a mapping.
            depth: depth.saturating_sub(if self.what == What::Item { 2 } else { 0 }),
            document_bytes: if may_be_a_list(&text) {
                MOST_BYTES_OF_A_LIST
            } else {
                MOST_BYTES_OF_AN_OBJECT
            },
            alias_nodes: text.len() / BYTES_FOR_A_VALUE,
        };
        kube_yaml::read(&chunk, &limits)
    }
}

/// Cutting the file.
impl<T: Send> Large<'_, '_, T> {
    /// The text from `at` on.
    fn ahead(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Stops so many bytes behind `at`.
    fn stop(&mut self, behind: usize, mut finding: Finding) -> Stop {
        self.read();
        let at = self.at.saturating_add(behind).min(self.bytes.len());
        let line = self
            .line
            .saturating_add(newlines(self.bytes.get(self.start..at).unwrap_or_default()));
        finding.place = self.keep("", line, Syntax::Json);
        finding.related.clear();
        Box::new(finding)
    }

    fn too_large(&mut self, most: usize) -> Stop {
        let help = if most == MOST_BYTES_OF_A_LIST {
            "export JSON, which is read item by item: `kubectl get manifestworks -A -o json`"
        } else {
            "an API server accepts no request above 3 MiB: export the objects again"
        };
        let message = format!("this document has more than {most} bytes, and cannot be read in parts");
        self.stop(0, Finding::new(Code::YAML_LIMIT, Place::Run, message).help(help))
    }

    /// Reads on, if the next piece may be so large; whether there was more.
    fn more(&mut self, most: usize) -> Result<bool, Stop> {
        self.at = self.at.saturating_sub(self.start);
        self.bytes.drain(..self.start);
        self.start = 0;
        let known = self.bytes.len();
        if known > most {
            return Err(self.too_large(most));
        }
        // The start of a file is larger than what is read later.
        self.bytes
            .shrink_to(known.saturating_mul(2).saturating_add(BLOCK.saturating_mul(4)));
        let block = known.max(BLOCK).min(most.saturating_sub(known).saturating_add(1));
        let block = u64::try_from(block).unwrap_or(u64::MAX);
        let read = Read::take(&mut *self.reader, block).read_to_end(&mut self.bytes);
        let read = read.map_err(|error| unreadable(&self.shown, &error))?;
        self.is_at_end = read == 0;
        Ok(read > 0)
    }

    /// The text up to `at`, which is left behind, and its first line.
    fn pass(&mut self) -> (Vec<u8>, usize) {
        let text = self.bytes.get(self.start..self.at).unwrap_or_default().to_vec();
        let line = self.line;
        self.line = line.saturating_add(newlines(&text));
        self.start = self.at;
        (text, line)
    }

    /// Cuts at the separators of documents.
    fn yaml(&mut self) -> Result<(), Stop> {
        loop {
            let rest = self.ahead();
            let length = match memchr::memrchr(b'\n', rest) {
                _ if self.is_at_end => rest.len(),
                newline => newline.map_or(0, |newline| newline.saturating_add(1)),
            };
            let lines = match std::str::from_utf8(rest.get(..length).unwrap_or_default()) {
                Ok(lines) => lines,
                Err(error) => {
                    let finding = Finding::new(Code::YAML_SYNTAX, Place::Run, "this is not UTF-8");
                    return Err(self.stop(error.valid_up_to(), finding.help("export the objects again")));
                }
            };
            let chunks = match kube_yaml::split_yaml(lines) {
                Ok(chunks) => chunks,
                Err(error) => {
                    let at = error.range.start;
                    let finding = wrong(self.source, error, 0, lines);
                    return Err(self.stop(at, finding));
                }
            };
            let range =
                |chunk: &kube_yaml::Chunk<'_>| (chunk.offset, chunk.offset.saturating_add(chunk.text.len()));
            let ranges: Vec<(usize, usize)> = chunks.iter().map(range).collect();
            let first = self.start;
            let mut behind = length;
            for (from, to) in ranges {
                // No separator follows it yet.
                if !self.is_at_end && to == length {
                    behind = from;
                    break;
                }
                self.at = first.saturating_add(from);
                self.pass();
                self.at = first.saturating_add(to);
                let document = self.pass();
                self.take(document, Syntax::Yaml, What::Document)?;
            }
            self.at = first.saturating_add(behind);
            self.pass();
            if self.is_at_end {
                return Ok(());
            }
            self.more(MOST_BYTES_OF_A_LIST)?;
        }
    }

    /// Cuts a stream of objects at their ends, and those of the items of their lists.
    fn json(&mut self) -> Result<(), Stop> {
        while let Some(byte) = self.next()? {
            if byte != b'{' {
                return Err(self.not_json());
            }
            self.pass();
            self.step();
            let mut head = None;
            let mut is_at_items = false;
            // What is wrong between keys and values is for the reader of the frame.
            loop {
                match self.next()? {
                    None => return Err(self.not_json()),
                    Some(b'}') => break self.step(),
                    Some(b':') => self.step(),
                    Some(b',') => {
                        self.step();
                        is_at_items = false;
                    }
                    Some(b'[') if is_at_items && head.is_none() => {
                        self.step();
                        head = Some(self.pass());
                        self.items()?;
                    }
                    Some(_) => is_at_items = self.value()? == br#""items""#,
                }
            }
            let (rest, line) = self.pass();
            match head {
                None => self.take((rest, line), Syntax::Json, What::Document)?,
                Some((head, line)) => self.take(([head, rest].concat(), line), Syntax::Json, What::Frame)?,
            }
        }
        Ok(())
    }

    /// Cuts the items of a list whose bracket was left behind, up to the one that closes it.
    fn items(&mut self) -> Result<(), Stop> {
        self.read();
        self.list = self.reading.made.len();
        let mut byte = self.next()?;
        while byte != Some(b']') {
            self.value()?;
            let item = self.pass();
            self.take(item, Syntax::Json, What::Item)?;
            byte = self.next()?;
            if byte == Some(b',') {
                self.step();
                self.pass();
                self.next()?;
            } else if byte != Some(b']') {
                return Err(self.not_json());
            }
        }
        self.step();
        Ok(())
    }

    const fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// The next byte that is not blank.
    fn next(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            let ahead = self.ahead();
            let blanks = ahead.iter().take_while(|byte| b" \t\n\r".contains(byte)).count();
            let byte = ahead.get(blanks).copied();
            self.at = self.at.saturating_add(blanks);
            if byte.is_some() || !self.more(MOST_BYTES_OF_AN_OBJECT)? {
                return Ok(byte);
            }
        }
    }

    /// Leaves a value behind, and returns its text.
    fn value(&mut self) -> Result<&[u8], Stop> {
        loop {
            let ahead = self.ahead();
            let mut values = serde_json::Deserializer::from_slice(ahead).into_iter::<IgnoredAny>();
            let value = values.next();
            let length = values.byte_offset();
            let known = self.bytes.len().saturating_sub(self.start);
            // A number, or a wrong one, may go on.
            let is_open = !matches!(value, Some(Ok(_))) || length == ahead.len();
            if is_open && known <= MOST_BYTES_OF_AN_OBJECT && self.more(MOST_BYTES_OF_AN_OBJECT)? {
                continue;
            }
            let (from, to) = (self.at, self.at.saturating_add(length));
            match value {
                Some(Ok(_)) if to.saturating_sub(self.start) <= MOST_BYTES_OF_AN_OBJECT => self.at = to,
                Some(Err(error)) if !error.is_eof() || self.is_at_end => return Err(self.not_json()),
                None => return Err(self.not_json()),
                _ => return Err(self.too_large(MOST_BYTES_OF_AN_OBJECT)),
            }
            return Ok(self.bytes.get(from..to).unwrap_or_default());
        }
    }

    /// What the reader of a document says where something else should be, or that it should.
    fn not_json(&mut self) -> Stop {
        let ahead = self.ahead();
        let text = String::from_utf8_lossy(ahead.get(..MOST_BYTES_OF_AN_OBJECT).unwrap_or(ahead));
        let chunk = DocumentRange::whole(&text, Syntax::Json).chunk(&text);
        match kube_yaml::read(&chunk, &kube_yaml::Limits::default()) {
            Err(error) if error.kind == kube_yaml::ErrorKind::Syntax => {
                let at = error.range.start;
                let finding = wrong(self.source, error, 0, &text);
                self.stop(at, finding)
            }
            _ => {
                let message = "from here on, this is not JSON as `kubectl get -o json` writes it";
                let finding = Finding::new(Code::YAML_SYNTAX, Place::Run, message);
                self.stop(0, finding.help("export the objects again"))
            }
        }
    }
}

fn newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

#[cfg(test)]
mod tests;
