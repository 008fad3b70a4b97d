//! Lines of block collections in their usual form, read without tokens.
//!
//! Owns: which lines are in that form: `key: text`, `key:`, `- text`, and `- key: text`, where the key and the start of an
//! entry's text are plain. Flows in: the scanner between two tokens. Flows out: the event that the tokens would give; or
//! nothing, and the tokens decide. Must not know: flow collections, anchors, tags, what is wrong with a line.
//!
//! Nearly all lines of Kubernetes objects have this form. Each is looked at once here; as tokens, each key waits in a queue
//! until its `:` is seen. Nothing here is an error, and a scalar is read ahead of its key's event only if the key cannot be
//! refused: errors come from where they would without this file, and in the same order.

use std::borrow::Cow;

use super::character::{ByteSet, byte_set, find_in};
use super::error::Outcome;
use super::event::Event;
use super::parser::{Parser, State};
use super::resolve::is_string;
use super::scanner::{LONGEST_SIMPLE_KEY, Scanner};
use super::token::{Token, TokenKind};

/// Bytes with which a key may begin here. No text that begins with one of them is a number.
const STARTS_KEY: ByteSet = byte_set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/");
/// Bytes with which only a plain scalar begins, whatever follows.
const STARTS_PLAIN: ByteSet =
    byte_set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.+~$(");
/// Bytes at which a word of plain text may end.
const ENDS_WORD: ByteSet = byte_set(b" \t\n\r:\xC2\xE2");

/// What a line begins with.
#[derive(Clone, Copy)]
enum Head {
    /// A key that ends at this byte, where its `:` is.
    Key(usize),
    /// `- `
    Entry,
}

impl Scanner<'_> {
    /// Goes to the next text, and says how it begins, if it stands where a key or an entry may.
    fn head(&mut self) -> Option<Head> {
        self.skip_blank_lines();
        if !self.key_allowed {
            return None;
        }
        match self.at(self.pos) {
            b'-' if self.is_gap(self.pos + 1) => Some(Head::Entry),
            _ => self.key_at(self.pos).map(Head::Key),
        }
    }

    /// Goes over spaces, comments, and lines that end in LF.
    fn skip_blank_lines(&mut self) {
        loop {
            self.skip_spaces();
            if self.at(self.pos) == b'#' {
                self.pos = self.line_end(self.pos);
            }
            if self.at(self.pos) != b'\n' {
                return;
            }
            self.pos += 1;
            self.line_start = self.pos;
            self.key_allowed = true;
        }
    }

    fn skip_spaces(&mut self) {
        while self.at(self.pos) == b' ' {
            self.pos += 1;
        }
    }

    /// Where the key at `start` ends, if one is there.
    fn key_at(&mut self, start: usize) -> Option<usize> {
        let end = self.word_at(start)?;
        (self.at(end) == b':' && end - start <= LONGEST_SIMPLE_KEY).then_some(end)
    }

    /// Where the plain text at `start` has its first blank or break, or the `:` that makes it a key, if it starts as a key
    /// may. The last answer is remembered: a line that closes several collections is asked for it by each.
    fn word_at(&mut self, start: usize) -> Option<usize> {
        if self.seen_word.start == start && !self.seen_word.is_empty() {
            return Some(self.seen_word.end);
        }
        if !is_in(&STARTS_KEY, self.at(start)) {
            return None;
        }
        let mut end = find_in(self.bytes, start, &ENDS_WORD);
        while self.at(end) == b':' && !self.is_gap(end + 1) {
            end = find_in(self.bytes, end + 1, &ENDS_WORD);
        }
        self.seen_word = start..end;
        Some(end)
    }
}

fn is_in(set: &ByteSet, byte: u8) -> bool {
    set.get(usize::from(byte)).copied().unwrap_or_default()
}

impl<'t> Parser<'t> {
    /// The next event, if it comes from a line in the usual form.
    #[inline]
    pub(super) fn next_of_line(&mut self) -> Outcome<Option<Event<'t>>> {
        #[cfg(any(test, fuzzing))]
        if self.by_tokens_alone {
            return Ok(None);
        }
        if !self.scanner.is_between_tokens() {
            return Ok(None);
        }
        match self.state {
            State::BlockKey => self.key_of_line(),
            State::BlockContent => self.content_of_line(),
            State::BlockEntry | State::IndentlessEntry => self.entry_of_line(),
            _ => Ok(None),
        }
    }

    /// A key, with its scalar if one follows on the line; or the mapping's end.
    fn key_of_line(&mut self) -> Outcome<Option<Event<'t>>> {
        let Some(head) = self.scanner.head() else {
            return Ok(None);
        };
        let column = self.scanner.column();
        if column < self.scanner.indent {
            return Ok(Some(self.close_block()));
        }
        let Head::Key(end) = head else {
            return Ok(None);
        };
        if column > self.scanner.indent {
            return Ok(None);
        }
        let start = self.scanner.pos;
        let key = self.scanner.slice(start, end);
        self.scanner.pass_key(start, end);
        self.last_end = self.scanner.pos;
        // A key that is no string may be refused, and before what follows it.
        if is_string(key)
            && let Some(token) = self.scalar_of_line()?
        {
            self.last_end = token.end;
            return match token.kind {
                TokenKind::Scalar { text, plain } => Ok(Some(Event::Member {
                    key,
                    key_range: start..end,
                    text,
                    plain,
                    range: token.start..token.end,
                })),
                _ => self.no_node().map(Some),
            };
        }
        self.state = State::BlockContent;
        Ok(Some(Event::Scalar {
            text: Cow::Borrowed(key),
            plain: true,
            properties: None,
            range: start..end,
        }))
    }

    /// The scalar behind `key:`, if one is on the line.
    fn scalar_of_line(&mut self) -> Outcome<Option<Token<'t>>> {
        self.scanner.skip_spaces();
        let byte = self.scanner.at(self.scanner.pos);
        if is_in(&STARTS_PLAIN, byte) {
            return self.scanner.scan_plain().map(Some);
        }
        match byte {
            b'\'' | b'"' => self.scanner.scan_quoted(byte).map(Some),
            _ => Ok(None),
        }
    }

    /// What follows `key:`.
    fn content_of_line(&mut self) -> Outcome<Option<Event<'t>>> {
        if let Some(token) = self.scalar_of_line()? {
            return self.text_of_line(State::BlockKey, token).map(Some);
        }
        match self.scanner.at(self.scanner.pos) {
            b'\n' | b'#' => Ok(self.content_below()),
            _ => Ok(None),
        }
    }

    /// What follows a line that ends with `key:`.
    fn content_below(&mut self) -> Option<Event<'t>> {
        let head = self.scanner.head()?;
        let (column, indent) = (self.scanner.column(), self.scanner.indent);
        let place = self.scanner.pos..self.scanner.pos;
        let properties = None;
        match head {
            Head::Key(_) if column > indent => {
                self.open_block(column, State::BlockKey, State::BlockKey);
                Some(Event::MappingStart {
                    properties,
                    range: place,
                })
            }
            Head::Entry if column >= indent => {
                let inside = if column > indent {
                    State::BlockEntry
                } else {
                    State::IndentlessEntry
                };
                self.open_block(column, State::BlockKey, inside);
                Some(Event::SequenceStart {
                    properties,
                    range: place,
                })
            }
            Head::Key(_) | Head::Entry => Some(self.absent_then(State::BlockKey)),
        }
    }

    /// An entry of a list, or the list's end.
    fn entry_of_line(&mut self) -> Outcome<Option<Event<'t>>> {
        let Some(head) = self.scanner.head() else {
            return Ok(None);
        };
        let (column, indent) = (self.scanner.column(), self.scanner.indent);
        let indentless = self.state == State::IndentlessEntry;
        match head {
            Head::Entry if column == indent => self.content_of_entry(),
            // The mapping around the list is at its column, and closes next if this line is left of both.
            Head::Key(_) | Head::Entry if column <= indent && indentless => {
                self.pop();
                Ok(Some(Event::End { at: self.last_end }))
            }
            Head::Key(_) | Head::Entry if column < indent => Ok(Some(self.close_block())),
            Head::Key(_) | Head::Entry => Ok(None),
        }
    }

    /// What follows `- `: the first key of a mapping, or text up to the end of the line. The `- ` is passed only if one
    /// of the two is there.
    fn content_of_entry(&mut self) -> Outcome<Option<Event<'t>>> {
        let scanner = &mut self.scanner;
        let dash = scanner.pos;
        let mut start = dash + 1;
        while scanner.at(start) == b' ' {
            start += 1;
        }
        let is_mapping = scanner.key_at(start).is_some();
        // What begins otherwise may be a number that is refused, but only after what follows it was looked at.
        let is_text = scanner.word_at(start).is_some_and(|end| scanner.at(end) == b'\n');
        if !is_mapping && !is_text {
            return Ok(None);
        }
        scanner.pos = start;
        scanner.key_allowed = true;
        self.last_end = dash + 1;
        if is_text {
            scanner.key_allowed = false;
            let token = scanner.scan_plain()?;
            return self.text_of_line(self.state, token).map(Some);
        }
        self.open_block(self.scanner.column(), self.state, State::BlockKey);
        Ok(Some(Event::MappingStart {
            properties: None,
            range: start..start,
        }))
    }

    /// A scalar, after which `then` holds.
    fn text_of_line(&mut self, then: State, token: Token<'t>) -> Outcome<Event<'t>> {
        self.last_end = token.end;
        self.state = then;
        match token.kind {
            TokenKind::Scalar { text, plain } => Ok(Event::Scalar {
                text,
                plain,
                properties: None,
                range: token.start..token.end,
            }),
            _ => self.no_node(),
        }
    }

    fn open_block(&mut self, column: isize, then: State, inside: State) {
        self.outer.push(then);
        self.state = inside;
        self.scanner.open_indent(column);
    }

    fn close_block(&mut self) -> Event<'t> {
        self.scanner.close_indent();
        self.pop();
        Event::End { at: self.last_end }
    }
}
