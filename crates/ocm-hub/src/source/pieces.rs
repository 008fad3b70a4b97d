//! Cuts a text that is larger than what is read as a whole into parts that are read one by one.
//!
//! Owns: where a document of YAML ends, and where an item of a list in JSON ends. Flows in: bytes. Flows out: [`Piece`]s in
//! order. Must not know: files, the contents of a piece.

use std::io::Read;

use kube_yaml::Syntax;
use serde::de::IgnoredAny;

use super::documents::{MOST_BYTES_OF_AN_OBJECT, unreadable, wrong};
use crate::diagnostic::{Code, Finding, Place, SourceId};

/// A document, or an item of its list.
#[derive(Debug)]
pub(super) struct Piece {
    /// Its text.
    pub(super) text: Vec<u8>,
    /// Where it begins, in bytes.
    pub(super) offset: usize,
    /// The number of its first line, from 1.
    pub(super) line: usize,
    /// How it is read.
    pub(super) syntax: Syntax,
    /// Position of its document.
    pub(super) document: u32,
    /// Its number in the list `items` of the document.
    pub(super) item: Option<u32>,
    /// Whether it is a document without its items, which came before.
    pub(super) lacks_items: bool,
}

/// Why a text is not cut any further.
#[derive(Debug)]
pub(super) struct Stop {
    /// The byte and the line from which on nothing is read.
    pub(super) offset: usize,
    pub(super) line: usize,
    pub(super) finding: Finding,
}

/// A document of YAML, which may be a list, has at most so many bytes.
pub(super) const MOST_BYTES_OF_A_DOCUMENT: usize = 256 << 20;
/// Bytes to read at once, at least.
const BLOCK: usize = if cfg!(test) { 7 } else { 1 << 20 };

/// A text that is cut while it is read.
pub(super) struct Cutter<'t> {
    reader: &'t mut dyn Read,
    is_at_end: bool,
    /// The part of the text that is in memory.
    bytes: Vec<u8>,
    /// The next piece begins at this one of `bytes`, and at this byte and line of the text.
    start: usize,
    offset: usize,
    line: usize,
    /// So far, `bytes` are known to be of that piece.
    at: usize,
    source: SourceId,
    shown: &'t str,
    document: u32,
    take: &'t mut dyn FnMut(Piece) -> Result<(), Stop>,
}

impl<'t> Cutter<'t> {
    /// The rest of a text that begins with `bytes`.
    pub(super) fn new(
        bytes: Vec<u8>,
        reader: &'t mut dyn Read,
        (source, shown): (SourceId, &'t str),
        take: &'t mut dyn FnMut(Piece) -> Result<(), Stop>,
    ) -> Self {
        Self {
            reader,
            is_at_end: false,
            bytes,
            start: 0,
            offset: 0,
            line: 1,
            at: 0,
            source,
            shown,
            document: 0,
            take,
        }
    }

    /// Cuts the text. `is_json` means that it contains only JSON.
    pub(super) fn cut(&mut self, is_json: bool) -> Result<(), Stop> {
        if is_json || self.bytes.trim_ascii_start().starts_with(b"{") {
            while self.json_document()? {}
            return Ok(());
        }
        while !self.yaml_documents()? {
            self.more(MOST_BYTES_OF_A_DOCUMENT)?;
        }
        Ok(())
    }

    /// Stops at this one of `bytes`.
    fn stop(&self, at: usize, finding: impl FnOnce(Place) -> Finding) -> Stop {
        let before = self.bytes.get(self.start..at).unwrap_or_default();
        let offset = self.offset.saturating_add(before.len());
        let place = Place::Text {
            source: self.source,
            start: offset,
            end: offset,
        };
        Stop {
            offset,
            line: self.line.saturating_add(newlines(before)),
            finding: finding(place),
        }
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
        // The start of a text is larger than what comes after it.
        self.bytes
            .shrink_to(known.saturating_mul(2).saturating_add(BLOCK.saturating_mul(4)));
        let block = known.max(BLOCK).min(most.saturating_sub(known).saturating_add(1));
        let block = u64::try_from(block).unwrap_or(u64::MAX);
        let read = self.reader.take(block).read_to_end(&mut self.bytes);
        let read = read.map_err(|error| self.stop(known, |_| unreadable(self.shown, &error)))?;
        self.is_at_end = read == 0;
        Ok(read > 0)
    }

    fn too_large(&self, most: usize) -> Stop {
        self.stop(self.at, |place| {
            let (what, help) = if most == MOST_BYTES_OF_A_DOCUMENT {
                (
                    "document",
                    "export JSON, which is read object by object: `kubectl get manifestworks -A -o json`",
                )
            } else {
                (
                    "object",
                    "an API server accepts no request above 3 MiB: export the objects again",
                )
            };
            Finding::new(
                Code::YAML_LIMIT,
                place,
                format!("this {what} has more than {most} bytes"),
            )
            .help(help)
        })
    }

    /// Cuts what is in memory at the separators of documents; whether that was all.
    fn yaml_documents(&mut self) -> Result<bool, Stop> {
        let rest = self.bytes.get(self.start..).unwrap_or_default();
        let length = match memchr::memrchr(b'\n', rest) {
            _ if self.is_at_end => rest.len(),
            newline => newline.map_or(0, |newline| newline.saturating_add(1)),
        };
        let lines = rest.get(..length).unwrap_or_default();
        let within = |at: usize| self.start.saturating_add(at);
        let text =
            std::str::from_utf8(lines).map_err(|error| self.stop(within(error.valid_up_to()), not_text))?;
        let chunks = kube_yaml::split_yaml(text).map_err(|error| {
            self.stop(within(error.range.start), |_| {
                wrong(self.source, error, self.offset, text)
            })
        })?;
        let mut end = length;
        for chunk in chunks {
            // No separator follows it yet.
            if !self.is_at_end && chunk.offset.saturating_add(chunk.text.len()) == length {
                end = chunk.offset;
                break;
            }
            (self.take)(Piece {
                text: chunk.text.into(),
                offset: self.offset.saturating_add(chunk.offset),
                line: self.line.saturating_add(chunk.line).saturating_sub(1),
                syntax: chunk.syntax,
                document: self.document,
                item: None,
                lacks_items: false,
            })?;
            self.document = self.document.saturating_add(1);
        }
        self.at = self.start.saturating_add(end);
        self.pass();
        Ok(self.is_at_end)
    }

    /// Leaves the text up to `at` behind.
    fn pass(&mut self) -> Vec<u8> {
        let text = self.bytes.get(self.start..self.at).unwrap_or_default().to_vec();
        self.line = self.line.saturating_add(newlines(&text));
        self.offset = self.offset.saturating_add(text.len());
        self.start = self.at;
        text
    }
}

/// JSON, as a stream of objects.
impl Cutter<'_> {
    /// The next byte that is not blank.
    fn next(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let blanks = rest.iter().take_while(|byte| b" \t\n\r".contains(byte)).count();
            self.at = self.at.saturating_add(blanks);
            if let Some(byte) = self.bytes.get(self.at) {
                return Ok(Some(*byte));
            }
            if !self.more(MOST_BYTES_OF_AN_OBJECT)? {
                return Ok(None);
            }
        }
    }

    /// Leaves a value behind, and returns its text.
    fn value(&mut self) -> Result<&[u8], Stop> {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
            let value = values.next();
            let length = values.byte_offset();
            let is_open = !matches!(value, Some(Ok(_))) || length == rest.len();
            if is_open && rest.len() <= MOST_BYTES_OF_AN_OBJECT && self.more(MOST_BYTES_OF_AN_OBJECT)? {
                continue;
            }
            let (from, to) = (self.at, self.at.saturating_add(length));
            match value {
                Some(Ok(_)) if to.saturating_sub(self.start) <= MOST_BYTES_OF_AN_OBJECT => self.at = to,
                Some(Err(error)) if !error.is_eof() || self.is_at_end => return Err(self.not_json()),
                None => return Err(self.not_json()),
                _ => return Err(self.too_large(MOST_BYTES_OF_AN_OBJECT)),
            }
            return Ok(self.bytes.get(from..self.at).unwrap_or_default());
        }
    }

    /// What the reader of a document says where a value should be, or that there is none.
    fn not_json(&self) -> Stop {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let text = String::from_utf8_lossy(rest.get(..MOST_BYTES_OF_AN_OBJECT).unwrap_or(rest));
        let chunk = kube_yaml::Chunk {
            text: &text,
            offset: 0,
            line: 1,
            syntax: Syntax::Json,
        };
        match kube_yaml::read(&chunk, &kube_yaml::Limits::default()) {
            Err(error) if error.kind == kube_yaml::ErrorKind::Syntax => {
                let at = self.at.saturating_add(error.range.start);
                let offset = self.offset.saturating_add(self.at.saturating_sub(self.start));
                self.stop(at, |_| wrong(self.source, error, offset, &text))
            }
            _ => self.stop(self.at, |place| {
                let message = "from here on, this is not JSON as `kubectl get -o json` writes it";
                Finding::new(Code::YAML_SYNTAX, place, message).help("export the objects again")
            }),
        }
    }

    fn emit(&mut self, head: Option<(Vec<u8>, usize, usize)>, item: Option<u32>) -> Result<(), Stop> {
        let (offset, line) = (self.offset, self.line);
        let text = self.pass();
        let lacks_items = head.is_some();
        let (text, offset, line) = match head {
            Some((head, offset, line)) => ([head, text].concat(), offset, line),
            None => (text, offset, line),
        };
        (self.take)(Piece {
            text,
            offset,
            line,
            syntax: Syntax::Json,
            document: self.document,
            item,
            lacks_items,
        })
    }

    /// Cuts one object, and the items of its list; whether there was one.
    fn json_document(&mut self) -> Result<bool, Stop> {
        match self.next()? {
            None => return Ok(false),
            Some(b'{') => {}
            Some(_) => return Err(self.not_json()),
        }
        self.pass();
        self.at = self.at.saturating_add(1);
        let mut head = None;
        let mut is_at_items = false;
        // What is wrong between keys and values is for the reader of the document, which gets all but the items.
        loop {
            match self.next()? {
                None => return Err(self.not_json()),
                Some(b'}') => break,
                Some(b':') => self.at = self.at.saturating_add(1),
                Some(b',') => {
                    self.at = self.at.saturating_add(1);
                    is_at_items = false;
                }
                Some(b'[') if is_at_items && head.is_none() => {
                    self.at = self.at.saturating_add(1);
                    let (offset, line) = (self.offset, self.line);
                    head = Some((self.pass(), offset, line));
                    self.json_items()?;
                    self.at = self.at.saturating_add(1);
                }
                Some(_) => is_at_items = self.value()? == br#""items""#,
            }
        }
        self.at = self.at.saturating_add(1);
        self.emit(head, None)?;
        self.document = self.document.saturating_add(1);
        Ok(true)
    }

    /// Cuts the items of a list whose bracket was left behind, as far as the one that closes it.
    fn json_items(&mut self) -> Result<(), Stop> {
        let mut number = 0_u32;
        if self.next()? == Some(b']') {
            return Ok(());
        }
        loop {
            self.value()?;
            self.emit(None, Some(number))?;
            number = number.saturating_add(1);
            match self.next()? {
                Some(b',') => {
                    self.at = self.at.saturating_add(1);
                    self.pass();
                    self.next()?;
                }
                Some(b']') => return Ok(()),
                _ => return Err(self.not_json()),
            }
        }
    }
}

fn newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

pub(super) fn not_text(place: Place) -> Finding {
    Finding::new(Code::YAML_SYNTAX, place, "this is not UTF-8")
        .help("save the file as UTF-8 (`iconv -f ISO-8859-1 -t UTF-8` converts Latin-1), or exclude it if it is not text")
}
