//! Turns text into tokens: indentation, flow collections, keys that are recognized only by the `:` after them.
//!
//! Owns: the position in the text, the stack of indentations, the tokens that may still turn out to be keys.
//! Flows in: one document's text. Flows out: tokens, a few at a time, so that memory stays small. Must not know:
//! grammar above tokens, values.
//!
//! The rules are those of YAML 1.1 as the C and Go libraries apply them
//! (docs/systems/kubernetes.md#structure-and-characters), not those of YAML 1.2. Work is linear in the text:
//! each token looks only at the lowest key that may still hold the queue up.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::character::{Charset, break_length, check, count_work};
use super::error::{Error, ErrorKind, Outcome};
use super::token::{Token, TokenKind};

/// A key without `?` ends at most this many characters after its start
/// (docs/systems/kubernetes.md#structure-and-characters).
pub(super) const LONGEST_SIMPLE_KEY: usize = 1024;

/// Reads tokens from one document.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    /// The next byte to look at.
    pub(super) pos: usize,
    /// Where the line of `pos` starts; what is between them is the column.
    pub(super) line_start: usize,
    /// Whether the splitter has joined the lines of this text (see [`break_length`]).
    pub(super) joined_lines: bool,
    /// The column of the innermost block collection, -1 outside any.
    pub(super) indent: isize,
    outer_indents: Vec<isize>,
    /// One for each open flow collection and one for the block context.
    pub(super) keys: Vec<PossibleKey>,
    /// No possible key below this level of `keys` is still in the queue.
    pub(super) lowest_waiting: usize,
    /// Whether a key may begin here.
    pub(super) key_allowed: bool,
    pub(super) queue: VecDeque<Token<'t>>,
    taken: usize,
    head_is_final: bool,
    /// Whether the last token is in the queue.
    pub(super) ended: bool,
    charset: Charset,
    /// A position and the number of characters in front of it.
    counted: (usize, usize),
}

/// A place where a key without `?` may have begun.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PossibleKey {
    pub(super) possible: bool,
    /// It is where only a key can stand: at the indentation of the mapping around it.
    required: bool,
    pub(super) token: usize,
    pub(super) pos: usize,
    pub(super) line_start: usize,
    characters: usize,
}

impl<'t> Scanner<'t> {
    /// A scanner at the start of `text`.
    ///
    /// # Errors
    /// A character in the text that must be escaped.
    pub(super) fn new(text: &'t str, joined_lines: bool) -> Outcome<Self> {
        let charset = check(text).map_err(|(at, character)| forbidden_character(at, character))?;
        Ok(Self::at_start(text, joined_lines, charset))
    }

    /// Goes back to the start of the text.
    pub(super) fn rewind(&mut self) {
        *self = Self::at_start(self.text, self.joined_lines, self.charset);
    }

    fn at_start(text: &'t str, joined_lines: bool, charset: Charset) -> Self {
        let start = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self {
            text,
            bytes: text.as_bytes(),
            pos: start,
            line_start: start,
            joined_lines,
            indent: -1,
            outer_indents: Vec::new(),
            keys: vec![PossibleKey::default()],
            lowest_waiting: 0,
            key_allowed: true,
            queue: VecDeque::new(),
            taken: 0,
            head_is_final: false,
            ended: false,
            charset,
            counted: (0, 0),
        }
    }

    /// The next token, which stays.
    pub(super) fn peek(&mut self) -> Outcome<&Token<'t>> {
        if !self.head_is_final {
            while !self.ended && (self.queue.is_empty() || self.head_may_become_key()?) {
                self.fetch()?;
            }
            self.head_is_final = true;
        }
        if self.queue.is_empty() {
            let end = self.bytes.len();
            self.queue.push_back(Token {
                kind: TokenKind::StreamEnd,
                start: end,
                end,
            });
        }
        self.queue
            .front()
            .ok_or_else(|| Error::syntax(0..0, "the text ends", "this is a bug: please report it"))
    }

    /// The next token, taken.
    pub(super) fn take(&mut self) -> Outcome<Token<'t>> {
        self.peek()?;
        self.head_is_final = false;
        self.taken += 1;
        self.queue
            .pop_front()
            .ok_or_else(|| Error::syntax(0..0, "the text ends", "this is a bug: please report it"))
    }

    // ---- looking at the text

    /// The byte at `at`; 0 behind the end (no text holds a 0: [`check`]).
    #[inline]
    pub(super) fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The length of the line break at `at`, or 0.
    #[inline]
    pub(super) fn break_at(&self, at: usize) -> usize {
        match self.at(at) {
            b'\n' => 1,
            b'\r' | 0xC2 | 0xE2 => break_length(self.bytes, at, self.joined_lines),
            _ => 0,
        }
    }

    /// Whether a blank, a line break or the end of the text is at `at`.
    #[inline]
    pub(super) fn is_gap(&self, at: usize) -> bool {
        match self.at(at) {
            b' ' | b'\t' | b'\n' | b'\r' | 0 => true,
            0xC2 | 0xE2 => self.break_at(at) > 0,
            _ => false,
        }
    }

    #[inline]
    pub(super) fn column(&self) -> isize {
        isize::try_from(self.pos.saturating_sub(self.line_start)).unwrap_or(isize::MAX)
    }

    #[inline]
    pub(super) fn in_flow(&self) -> bool {
        self.keys.len() > 1
    }

    /// Whether `---` or `...` stands alone at the start of the line at `pos`.
    #[inline]
    pub(super) fn at_document_indicator(&self) -> bool {
        self.pos == self.line_start && matches!(self.at(self.pos), b'-' | b'.') && {
            let mark = self.bytes.get(self.pos..self.pos + 3);
            (mark == Some(b"---") || mark == Some(b"...")) && self.is_gap(self.pos + 3)
        }
    }

    /// The text between two positions.
    #[inline]
    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }

    /// The end of the character at `at`, for ranges.
    pub(super) fn character_end(&self, at: usize) -> usize {
        at + self
            .text
            .get(at..)
            .and_then(|tail| tail.chars().next())
            .map_or(0, char::len_utf8)
    }

    /// The first line break (or the end) from `at` on.
    pub(super) fn line_end(&self, at: usize) -> usize {
        const ENDS: super::character::ByteSet = super::character::byte_set(b"\n\r\xC2\xE2");
        if self.charset.only_lf {
            let end = self
                .text
                .get(at..)
                .and_then(|tail| tail.find('\n'))
                .map_or(self.bytes.len(), |found| at + found);
            count_work(end.saturating_sub(at) + 1);
            return end;
        }
        let mut at = at;
        loop {
            at = super::character::find_in(self.bytes, at, &ENDS);
            if at >= self.bytes.len() || self.break_at(at) > 0 {
                return at;
            }
            at += 1;
        }
    }

    /// The number of characters in front of `pos`; each call must be at or behind the last one.
    fn characters(&mut self) -> usize {
        if self.charset.ascii {
            return self.pos;
        }
        let (from, count) = self.counted;
        let between = self.bytes.get(from..self.pos).unwrap_or(&[]);
        count_work(between.len());
        let count = count + between.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        self.counted = (self.pos.max(from), count);
        count
    }

    // ---- keys

    /// Whether the token at the head of the queue may still get a key token in front of it.
    fn head_may_become_key(&mut self) -> Outcome<bool> {
        while let Some(key) = self.keys.get(self.lowest_waiting) {
            count_work(1);
            if !key.possible || key.token < self.taken {
                self.lowest_waiting += 1;
            } else if key.token > self.taken {
                return Ok(false);
            } else {
                return self.key_still_fits(self.lowest_waiting);
            }
        }
        Ok(false)
    }

    /// Whether the possible key at `level` is on this line and short enough; forgets it otherwise.
    pub(super) fn key_still_fits(&mut self, level: usize) -> Outcome<bool> {
        let characters = self.characters();
        let line_start = self.line_start;
        let Some(key) = self.keys.get_mut(level) else {
            return Ok(false);
        };
        if !key.possible {
            return Ok(false);
        }
        if key.line_start == line_start && key.characters + LONGEST_SIMPLE_KEY >= characters {
            return Ok(true);
        }
        key.possible = false;
        let key = *key;
        if key.required {
            Err(self.key_without_colon(key))
        } else {
            Ok(false)
        }
    }

    /// Notes that a key may begin at `pos`.
    pub(super) fn save_key(&mut self) -> Outcome<()> {
        if !self.key_allowed {
            return Ok(());
        }
        self.remove_key()?;
        let key = PossibleKey {
            possible: true,
            required: !self.in_flow() && self.indent == self.column(),
            token: self.taken + self.queue.len(),
            pos: self.pos,
            line_start: self.line_start,
            characters: self.characters(),
        };
        let level = self.keys.len().saturating_sub(1);
        if let Some(place) = self.keys.get_mut(level) {
            *place = key;
        }
        self.lowest_waiting = self.lowest_waiting.min(level);
        Ok(())
    }

    /// Forgets the possible key of this level.
    pub(super) fn remove_key(&mut self) -> Outcome<()> {
        if let Some(place) = self.keys.last_mut() {
            let key = *place;
            place.possible = false;
            if key.possible && key.required {
                return Err(self.key_without_colon(key));
            }
        }
        Ok(())
    }

    fn key_without_colon(&self, key: PossibleKey) -> Box<Error> {
        let end = self.line_end(key.pos);
        if self.line_start == key.line_start && end.saturating_sub(key.pos) > LONGEST_SIMPLE_KEY {
            return Error::syntax(
                key.pos..end,
                "a key ends at most 1,024 characters after its start",
                "write `? ` before a key this long, and `: ` in front of its value on the next line",
            );
        }
        Error::syntax(
            key.pos..end,
            "a key of the mapping is expected here, but no `:` follows on its line",
            "write `key: value`, or indent the line deeper if it continues the value above",
        )
    }

    // ---- indentation

    /// Opens a block collection when `column` is deeper than the ones around; `token` counts from the first
    /// token ever.
    pub(super) fn roll_indent(
        &mut self,
        column: isize,
        token: Option<usize>,
        kind: TokenKind<'t>,
        pos: usize,
    ) {
        if self.in_flow() || self.indent >= column {
            return;
        }
        self.open_indent(column);
        let start = Token {
            kind,
            start: pos,
            end: pos,
        };
        match token {
            Some(number) => self.insert(number, start),
            None => self.queue.push_back(start),
        }
    }

    /// Deeper indentation begins, if `column` is deeper.
    pub(super) fn open_indent(&mut self, column: isize) {
        if column > self.indent {
            self.outer_indents.push(self.indent);
            self.indent = column;
        }
    }

    /// The innermost indentation ends.
    pub(super) fn close_indent(&mut self) {
        self.indent = self.outer_indents.pop().unwrap_or(-1);
    }

    pub(super) fn insert(&mut self, number: usize, token: Token<'t>) {
        let index = number.saturating_sub(self.taken).min(self.queue.len());
        count_work(self.queue.len() - index);
        self.queue.insert(index, token);
    }

    /// Closes the block collections that are indented deeper than `column`.
    pub(super) fn unroll_indent(&mut self, column: isize) {
        if self.in_flow() {
            return;
        }
        while self.indent > column {
            count_work(1);
            self.queue.push_back(Token {
                kind: TokenKind::BlockEnd,
                start: self.pos,
                end: self.pos,
            });
            self.close_indent();
        }
    }

    /// A scalar that is in the text as it is.
    pub(super) fn verbatim(&self, start: usize, end: usize) -> Cow<'t, str> {
        Cow::Borrowed(self.slice(start, end))
    }
}

/// The fault of a character that must be escaped.
fn forbidden_character(at: usize, character: char) -> Box<Error> {
    let number = u32::from(character);
    let escape = if number <= 0xFF {
        format!("\\x{number:02x}")
    } else {
        format!("\\u{number:04x}")
    };
    Error::new(
        ErrorKind::Character,
        at..at + character.len_utf8(),
        format!("the control character U+{number:04X} must be escaped in YAML"),
        format!("remove it, or write `{escape}` between double quotes"),
    )
}
