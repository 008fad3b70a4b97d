//! Cuts a text that may be larger than memory into parts that are read one by one.
//!
//! Owns: where a document ends, and where the items of a list end, in YAML as `kubectl` writes it and in JSON. Flows
//! in: bytes. Flows out: [`Piece`]s in order. Must not know: files, the contents of a piece.
//!
//! A cut is a guess from what lines look like, and the reader of the pieces checks it. An item that can be read by
//! itself as the only entry of a list is the same item of the whole document: the reader would be in the same state
//! where the item begins, and quotes or brackets that extend beyond its end leave it unfinished. So a wrong cut is an
//! error, and never changes the meaning.

use std::io::{self, Read};

use kube_yaml::Syntax;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The part of the document that it is.
    pub(super) what: What,
}

/// The part of its document that a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// All of it.
    Document,
    /// An item of its list: in YAML a list of one.
    Item(u32),
    /// All but the items, which stood before: `key` is the byte of `items`, `end` one past the document's last byte.
    Frame {
        /// Where `items` must be in the text.
        key: usize,
        /// Where the document ends in the file.
        end: usize,
    },
}

/// Why a text is not cut any further.
#[derive(Debug)]
pub(super) enum Stop {
    /// Nobody could read on.
    Unreadable(io::Error),
    /// From this byte and line on, the text cannot be cut, or the reader of the pieces could not read one.
    Uncut(usize, usize),
    /// There are too many pieces.
    TooMany,
}

/// A document, or an item, has at most so many bytes: as many as a file that is read as a whole.
const MOST_BYTES_OF_A_PIECE: usize = 64 << 20;
/// As many works as a plan may have (docs/reference/limits.md). Each is kept, in about a kilobyte.
pub(super) const MOST_PIECES: usize = 2_000_000;
/// Bytes to read at once.
const BLOCK: usize = 1 << 18;

/// Cuts a text. `is_json` means that it contains only JSON.
pub(super) fn cut(
    reader: impl Read,
    is_json: bool,
    take: &mut dyn FnMut(Piece) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut cutter = Cutter {
        window: Window {
            reader,
            bytes: Vec::new(),
            start: 0,
            offset: 0,
            line: 1,
        },
        syntax: Syntax::Yaml,
        document: 0,
        pieces: 0,
        take,
    };
    cutter.window.more()?;
    let begins = String::from_utf8_lossy(cutter.window.at_most(BLOCK))
        .trim_start()
        .chars()
        .next();
    if is_json || begins == Some('{') {
        cutter.syntax = Syntax::Json;
        while cutter.json_document()? {}
    } else {
        while cutter.yaml_document()? {}
    }
    Ok(())
}

/// The part of a text that is in memory: from the beginning of the next piece on.
struct Window<R> {
    reader: R,
    bytes: Vec<u8>,
    /// The next piece begins at this one of `bytes`, and at this byte and line of the text.
    start: usize,
    offset: usize,
    line: usize,
}

impl<R: Read> Window<R> {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    fn at_most(&self, length: usize) -> &[u8] {
        let rest = self.rest();
        rest.get(..length).unwrap_or(rest)
    }

    fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.rest().get(from..to).unwrap_or_default()
    }

    fn uncut(&self) -> Stop {
        Stop::Uncut(self.offset, self.line)
    }

    /// Reads on; whether there was more.
    fn more(&mut self) -> Result<bool, Stop> {
        if self.rest().len() > MOST_BYTES_OF_A_PIECE {
            return Err(self.uncut());
        }
        self.bytes.drain(..self.start);
        self.start = 0;
        let block = u64::try_from(BLOCK.max(self.bytes.len())).unwrap_or(u64::MAX);
        let read = self.reader.by_ref().take(block).read_to_end(&mut self.bytes);
        Ok(read.map_err(Stop::Unreadable)? > 0)
    }

    /// The byte at a position, which may still have to be read.
    fn byte(&mut self, at: usize) -> Result<Option<u8>, Stop> {
        loop {
            if let Some(byte) = self.rest().get(at) {
                return Ok(Some(*byte));
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// One past the end of the line that begins at a position; `None` at the end of the text.
    fn line_end(&mut self, at: usize) -> Result<Option<usize>, Stop> {
        let mut from = at;
        loop {
            let rest = self.rest();
            let found = memchr::memchr(b'\n', rest.get(from..).unwrap_or_default());
            if let Some(found) = found {
                return Ok(Some(from.saturating_add(found).saturating_add(1)));
            }
            from = rest.len().max(at);
            if !self.more()? {
                return Ok((from > at).then_some(from));
            }
        }
    }

    /// Leaves bytes behind.
    fn advance(&mut self, length: usize) {
        let lines = memchr::memchr_iter(b'\n', self.at_most(length)).count();
        self.line = self.line.saturating_add(lines);
        self.offset = self.offset.saturating_add(length);
        self.start = self.start.saturating_add(length).min(self.bytes.len());
    }
}

/// The role of a line of a list in block style.
enum Line {
    /// A part of the item, or blank.
    Inside,
    /// The first of an item.
    Begins,
    /// The first behind the list.
    Ends,
}

struct Cutter<'t, R> {
    window: Window<R>,
    syntax: Syntax,
    document: u32,
    pieces: usize,
    take: &'t mut dyn FnMut(Piece) -> Result<(), Stop>,
}

impl<R: Read> Cutter<'_, R> {
    /// Takes the next bytes as a piece.
    fn emit(&mut self, length: usize, what: What) -> Result<(), Stop> {
        let piece = self.piece(length, what);
        self.pass_on(piece)
    }

    /// The next bytes, which are left behind.
    fn piece(&mut self, length: usize, what: What) -> Piece {
        let piece = Piece {
            text: self.window.at_most(length).to_vec(),
            offset: self.window.offset,
            line: self.window.line,
            syntax: self.syntax,
            document: self.document,
            what,
        };
        self.window.advance(length);
        piece
    }

    fn pass_on(&mut self, piece: Piece) -> Result<(), Stop> {
        self.pieces = self.pieces.saturating_add(1);
        if self.pieces > MOST_PIECES {
            return Err(Stop::TooMany);
        }
        if !matches!(piece.what, What::Item(_)) {
            self.document = self.document.saturating_add(1);
        }
        (self.take)(piece)
    }

    /// Whether the line is a separator of documents (docs/systems/kubernetes.md#documents-in-a-stream).
    fn is_separator(&self, from: usize, to: usize) -> Result<bool, Stop> {
        let Some(tail) = self.window.slice(from, to).strip_prefix(b"---") else {
            return Ok(false);
        };
        match tail.trim_ascii().first() {
            None | Some(b'#') => Ok(true),
            Some(_) => Err(self.window.uncut()),
        }
    }

    /// Cuts one document; whether another may follow.
    fn yaml_document(&mut self) -> Result<bool, Stop> {
        let mut at = 0;
        while let Some(end) = self.window.line_end(at)? {
            if self.is_separator(at, end)? {
                // With nothing in front of it, it is the first line of the document below it (`kube_yaml::split`).
                if at > 0 {
                    self.emit(at, What::Document)?;
                    self.window.advance(end.saturating_sub(at));
                    return Ok(true);
                }
            } else if self.window.slice(at, end).trim_ascii_end() == b"items:"
                && let Some(column) = self.column_of_items(end)?
            {
                return self.yaml_list(at, end, column);
            }
            at = end;
        }
        if at > 0 {
            self.emit(at, What::Document)?;
        }
        Ok(false)
    }

    /// The indentation of the items, if the next non-blank line begins one.
    fn column_of_items(&mut self, from: usize) -> Result<Option<usize>, Stop> {
        let mut at = from;
        while let Some(end) = self.window.line_end(at)? {
            let line = self.window.slice(at, end);
            let column = line.iter().take_while(|byte| **byte == b' ').count();
            match line.get(column..).unwrap_or_default().trim_ascii_end() {
                [] | [b'#', ..] => at = end,
                [b'-'] | [b'-', b' ', ..] => return Ok(Some(column)),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    fn line_of_list(&self, from: usize, to: usize, column: usize) -> Result<Line, Stop> {
        let line = self.window.slice(from, to);
        // Most lines: whatever is behind these blanks.
        let margin = line.get(..=column).unwrap_or_default();
        if !margin.is_empty() && margin.iter().all(|byte| *byte == b' ') {
            return Ok(Line::Inside);
        }
        let content = line.trim_ascii();
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        match (line.get(indent), content) {
            (_, [] | [b'#', ..]) => Ok(Line::Inside),
            (Some(b'-'), [b'-'] | [b'-', b' ', ..]) if indent == column => Ok(Line::Begins),
            // A key of the document. Anything else may be a part of a text in quotes, or of a list in brackets.
            (Some(first), _) if indent == 0 && first.is_ascii_alphabetic() => Ok(Line::Ends),
            (Some(_), _) if indent > column => Ok(Line::Inside),
            _ => Err(self.window.uncut()),
        }
    }

    /// Cuts the items of a document whose `items` is at `key` and ends at `head`.
    fn yaml_list(&mut self, key: usize, head: usize, column: usize) -> Result<bool, Stop> {
        let mut frame = self.piece(head, What::Document);
        let (mut at, mut has_begun, mut number) = (0, false, 0_u32);
        let mut separator = None;
        let ends = loop {
            let Some(end) = self.window.line_end(at)? else {
                break false;
            };
            if self.is_separator(at, end)? {
                separator = Some(end.saturating_sub(at));
                break false;
            }
            match self.line_of_list(at, end, column)? {
                Line::Inside => {}
                Line::Begins if has_begun => {
                    self.emit(at, What::Item(number))?;
                    number = number.saturating_add(1);
                    at = end.saturating_sub(at);
                    continue;
                }
                Line::Begins => has_begun = true,
                Line::Ends => break true,
            }
            at = end;
        };
        self.emit(at, What::Item(number))?;
        if ends {
            at = 0;
            while let Some(end) = self.window.line_end(at)? {
                if self.is_separator(at, end)? {
                    separator = Some(end.saturating_sub(at));
                    break;
                }
                at = end;
            }
            frame.text.extend_from_slice(self.window.at_most(at));
            self.window.advance(at);
        }
        frame.what = What::Frame {
            key,
            end: self.window.offset,
        };
        self.pass_on(frame)?;
        self.window.advance(separator.unwrap_or_default());
        Ok(separator.is_some())
    }

    /// Where the next token of JSON begins and ends: a text in quotes, or any other byte that is not blank.
    fn token(&mut self, from: usize) -> Result<Option<(usize, usize)>, Stop> {
        let mut at = from;
        while let Some(byte) = self.window.byte(at)? {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => at = at.saturating_add(1),
                b'"' => return Ok(Some((at, self.string_end(at)?))),
                _ => return Ok(Some((at, at.saturating_add(1)))),
            }
        }
        Ok(None)
    }

    fn string_end(&mut self, start: usize) -> Result<usize, Stop> {
        let mut at = start.saturating_add(1);
        loop {
            match self.window.byte(at)? {
                Some(b'"') => return Ok(at.saturating_add(1)),
                Some(b'\\') => at = at.saturating_add(2),
                Some(_) => at = at.saturating_add(1),
                None => return Err(self.window.uncut()),
            }
        }
    }

    /// Cuts one object; whether there was one.
    fn json_document(&mut self) -> Result<bool, Stop> {
        let Some((start, mut at)) = self.token(0)? else {
            return Ok(false);
        };
        self.window.advance(start);
        at = at.saturating_sub(start);
        if self.window.byte(0)? != Some(b'{') {
            return Err(self.window.uncut());
        }
        let mut frame: Option<(Piece, usize)> = None;
        let (mut depth, mut key) = (1_usize, None);
        while depth > 0 {
            let Some((from, to)) = self.token(at)? else {
                return Err(self.window.uncut());
            };
            let token = self.window.slice(from, to);
            match (token, key) {
                ([b'['], Some(items)) if depth == 1 && frame.is_none() => {
                    frame = Some((self.piece(to, What::Document), items));
                    self.json_items()?;
                    (at, depth, key) = (0, 2, None);
                    continue;
                }
                ([b'{' | b'['], _) => depth = depth.saturating_add(1),
                ([b'}' | b']'], _) => depth = depth.saturating_sub(1),
                _ => {}
            }
            key = match token {
                br#""items""# if depth == 1 => Some(from),
                [b':'] => key,
                _ => None,
            };
            at = to;
        }
        match frame {
            None => self.emit(at, What::Document)?,
            Some((mut frame, key)) => {
                frame.text.extend_from_slice(self.window.at_most(at));
                self.window.advance(at);
                frame.what = What::Frame {
                    key,
                    end: self.window.offset,
                };
                self.pass_on(frame)?;
            }
        }
        Ok(true)
    }

    /// Cuts the items of a list whose bracket was left behind, up to the one that closes it.
    fn json_items(&mut self) -> Result<(), Stop> {
        let (mut at, mut depth, mut number) = (0, 0_usize, 0_u32);
        while let Some((from, to)) = self.token(at)? {
            at = to;
            match self.window.slice(from, to) {
                [b'{' | b'['] => depth = depth.saturating_add(1),
                [b']'] if depth == 0 => {
                    let is_blank = self.window.at_most(from).trim_ascii().is_empty();
                    if is_blank && number == 0 {
                        self.window.advance(from);
                        return Ok(());
                    }
                    return self.emit(from, What::Item(number));
                }
                [b'}' | b']'] => depth = depth.saturating_sub(1),
                [b','] if depth == 0 => {
                    self.emit(from, What::Item(number))?;
                    number = number.saturating_add(1);
                    self.window.advance(1);
                    at = 0;
                }
                _ => {}
            }
        }
        Err(self.window.uncut())
    }
}
