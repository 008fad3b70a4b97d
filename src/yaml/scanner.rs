//! From text to tokens: indentation, flow collections, keys that are only known by the `:` behind them.
//!
//! Owns: the position in the text, the stack of indentations, the keys that may still turn out to be keys.
//! Flows in: one document's text. Flows out: tokens, a few at a time, so that memory stays small. Must not know:
//! grammar above tokens, values.
//!
//! The rules are those of YAML 1.1 as the C and Go libraries apply them (yaml.md 4), not those of YAML 1.2.
//! Work is linear in the text: each token looks only at the lowest key that may still hold the queue up.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::character::{break_length, check, count_work};
use super::error::{Error, ErrorKind, Outcome};
use super::token::{Token, TokenKind};

/// A key without `?` ends at most this many characters after its start (yaml.md 4).
const LONGEST_SIMPLE_KEY: usize = 1024;

/// Reads tokens from one document.
#[derive(Debug)]
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    /// The next byte to look at.
    pub(super) pos: usize,
    /// Where the line of `pos` starts; what stands between them is the column.
    pub(super) line_start: usize,
    /// Whether the splitter has joined the lines of this text (see [`break_length`]).
    pub(super) joined_lines: bool,
    /// The column of the innermost block collection, -1 outside of any.
    pub(super) indent: isize,
    outer_indents: Vec<isize>,
    /// One for each open flow collection and one for the block context.
    keys: Vec<PossibleKey>,
    /// No possible key below this level of `keys` is still in the queue.
    lowest_waiting: usize,
    /// Whether a key may begin here.
    pub(super) key_allowed: bool,
    queue: VecDeque<Token<'t>>,
    taken: usize,
    head_is_final: bool,
    ended: bool,
    ascii: bool,
    /// A position and the number of characters in front of it.
    counted: (usize, usize),
}

/// A place where a key without `?` may have begun.
#[derive(Clone, Copy, Debug, Default)]
struct PossibleKey {
    possible: bool,
    /// It stands where only a key can stand: at the indentation of the mapping around it.
    required: bool,
    token: usize,
    pos: usize,
    line_start: usize,
    characters: usize,
}

impl<'t> Scanner<'t> {
    /// A scanner at the start of `text`.
    ///
    /// # Errors
    /// A character in the text that must be escaped.
    pub(super) fn new(text: &'t str, joined_lines: bool) -> Outcome<Self> {
        let ascii = check(text).map_err(|(at, character)| forbidden_character(at, character))?;
        let start = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Ok(Self {
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
            queue: VecDeque::with_capacity(16),
            taken: 0,
            head_is_final: false,
            ended: false,
            ascii,
            counted: (0, 0),
        })
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

    /// Whether a blank, a line break or the end of the text stands at `at`.
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
        if self.ascii {
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
    fn key_still_fits(&mut self, level: usize) -> Outcome<bool> {
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
    fn save_key(&mut self) -> Outcome<()> {
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
    fn remove_key(&mut self) -> Outcome<()> {
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
                "write `? ` in front of a key this long, and `: ` in front of its value on the next line",
            );
        }
        Error::syntax(
            key.pos..end,
            "a key of the mapping should stand here, but no `:` follows on its line",
            "write `key: value`, or indent the line deeper if it continues the value above",
        )
    }

    // ---- indentation

    /// Opens a block collection when `column` is deeper than the ones around; `token` counts from the first
    /// token ever.
    fn roll_indent(&mut self, column: isize, token: Option<usize>, kind: TokenKind<'t>, pos: usize) {
        if self.in_flow() || self.indent >= column {
            return;
        }
        self.outer_indents.push(self.indent);
        self.indent = column;
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

    fn insert(&mut self, number: usize, token: Token<'t>) {
        let index = number.saturating_sub(self.taken).min(self.queue.len());
        count_work(self.queue.len() - index);
        self.queue.insert(index, token);
    }

    /// Closes the block collections that are indented deeper than `column`.
    fn unroll_indent(&mut self, column: isize) {
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
            self.indent = self.outer_indents.pop().unwrap_or(-1);
        }
    }

    // ---- one token after the other

    /// Skips blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        loop {
            // A byte order mark at the start of a line is skipped, as one column.
            if self.pos == self.line_start && self.at(self.pos) == 0xEF {
                let mark = '\u{feff}'.len_utf8();
                if self
                    .text
                    .get(self.pos..)
                    .is_some_and(|tail| tail.starts_with('\u{feff}'))
                {
                    self.pos += mark;
                    self.line_start = self.pos - 1;
                }
            }
            // A tab never indents what could be a block collection.
            let tabs = self.in_flow() || !self.key_allowed;
            while self.at(self.pos) == b' ' || (tabs && self.at(self.pos) == b'\t') {
                self.pos += 1;
            }
            if self.at(self.pos) == b'#' {
                self.pos = self.line_end(self.pos);
            }
            let length = self.break_at(self.pos);
            if length == 0 {
                return;
            }
            self.pos += length;
            self.line_start = self.pos;
            if !self.in_flow() {
                self.key_allowed = true;
            }
        }
    }

    /// Puts at least one more token into the queue, unless the text has ended.
    fn fetch(&mut self) -> Outcome<()> {
        self.skip_to_token();
        self.unroll_indent(self.column());
        let byte = self.at(self.pos);
        if self.pos == self.line_start {
            if byte == b'%' {
                return self.fetch_directive();
            }
            if self.at_document_indicator() {
                return self.fetch_document_indicator(byte);
            }
        }
        match byte {
            0 => self.fetch_stream_end(),
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.is_gap(self.pos + 1) => self.fetch_block_entry(),
            b'?' if self.in_flow() || self.is_gap(self.pos + 1) => self.fetch_key(),
            b':' if self.in_flow() || self.is_gap(self.pos + 1) => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(byte),
            b'!' => {
                self.save_key()?;
                self.key_allowed = false;
                let token = self.scan_tag()?;
                self.queue.push_back(token);
                Ok(())
            }
            b'|' | b'>' if !self.in_flow() => {
                self.remove_key()?;
                self.key_allowed = true;
                let token = self.scan_block_scalar(byte == b'|')?;
                self.queue.push_back(token);
                Ok(())
            }
            b'\'' | b'"' => {
                self.save_key()?;
                self.key_allowed = false;
                let token = self.scan_quoted(byte)?;
                self.queue.push_back(token);
                Ok(())
            }
            b'\t' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => Err(self.cannot_start(byte)),
            _ => {
                self.save_key()?;
                self.key_allowed = false;
                let token = self.scan_plain()?;
                self.queue.push_back(token);
                Ok(())
            }
        }
    }

    fn push_indicator(&mut self, kind: TokenKind<'t>, length: usize) {
        let start = self.pos;
        self.pos += length;
        self.queue.push_back(Token {
            kind,
            start,
            end: self.pos,
        });
    }

    fn fetch_stream_end(&mut self) -> Outcome<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.ended = true;
        self.push_indicator(TokenKind::StreamEnd, 0);
        Ok(())
    }

    fn fetch_directive(&mut self) -> Outcome<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        if let Some(token) = self.scan_directive()? {
            self.queue.push_back(token);
        }
        Ok(())
    }

    fn fetch_document_indicator(&mut self, byte: u8) -> Outcome<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        let kind = if byte == b'-' {
            TokenKind::DocumentStart
        } else {
            TokenKind::DocumentEnd
        };
        self.push_indicator(kind, 3);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind<'t>) -> Outcome<()> {
        self.save_key()?;
        self.keys.push(PossibleKey::default());
        self.key_allowed = true;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'t>) -> Outcome<()> {
        self.remove_key()?;
        if self.keys.len() > 1 {
            self.keys.pop();
        }
        self.lowest_waiting = self.lowest_waiting.min(self.keys.len() - 1);
        self.key_allowed = false;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Outcome<()> {
        self.remove_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Outcome<()> {
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(Error::syntax(
                    self.pos..self.pos + 1,
                    "a list cannot begin on the line of its key",
                    "put each `- ` on a line of its own; quote the text if `-` is meant as text",
                ));
            }
            self.roll_indent(self.column(), None, TokenKind::BlockSequenceStart, self.pos);
        }
        self.remove_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Outcome<()> {
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(Error::syntax(
                    self.pos..self.pos + 1,
                    "`? ` starts a key, and no key can begin here",
                    "quote the text if `?` is meant as text",
                ));
            }
            self.roll_indent(self.column(), None, TokenKind::BlockMappingStart, self.pos);
        }
        self.remove_key()?;
        self.key_allowed = !self.in_flow();
        self.push_indicator(TokenKind::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Outcome<()> {
        let level = self.keys.len().saturating_sub(1);
        if self.key_still_fits(level)? {
            let key = self.keys.get(level).copied().unwrap_or_default();
            self.insert(
                key.token,
                Token {
                    kind: TokenKind::Key,
                    start: key.pos,
                    end: key.pos,
                },
            );
            let column = isize::try_from(key.pos - key.line_start).unwrap_or(isize::MAX);
            self.roll_indent(column, Some(key.token), TokenKind::BlockMappingStart, key.pos);
            if let Some(key) = self.keys.last_mut() {
                key.possible = false;
            }
            // A key cannot follow a key on the same line.
            self.key_allowed = false;
        } else {
            if !self.in_flow() {
                if !self.key_allowed {
                    return Err(self.colon_out_of_place());
                }
                self.roll_indent(self.column(), None, TokenKind::BlockMappingStart, self.pos);
            }
            self.key_allowed = !self.in_flow();
        }
        self.push_indicator(TokenKind::Value, 1);
        Ok(())
    }

    fn fetch_anchor(&mut self, byte: u8) -> Outcome<()> {
        self.save_key()?;
        self.key_allowed = false;
        let token = self.scan_anchor(byte)?;
        self.queue.push_back(token);
        Ok(())
    }

    fn colon_out_of_place(&self) -> Box<Error> {
        let place = self.pos..self.pos + 1;
        let key = self.keys.last().copied().unwrap_or_default();
        if self.line_start == key.line_start && self.pos.saturating_sub(key.pos) > LONGEST_SIMPLE_KEY {
            return Error::syntax(
                place,
                "a key ends at most 1,024 characters after its start",
                "write `? ` in front of a key this long, and `: ` in front of its value on the next line",
            );
        }
        Error::syntax(
            place,
            "`: ` starts a value, and no value can begin here",
            "quote the whole text if `: ` is part of it; otherwise look at the indentation of this line and the \
             one above",
        )
    }

    fn cannot_start(&self, byte: u8) -> Box<Error> {
        let shown = char::from(byte);
        let place = self.pos..self.pos + 1;
        if byte == b'\t' {
            return Error::syntax(place, "a tab cannot indent", "indent with spaces");
        }
        let word = self.word_here();
        Error::syntax(
            place,
            format!("a text without quotes cannot start with `{shown}`"),
            format!("quote the text: {}", super::style::double_quoted(&word)),
        )
    }

    /// The rest of this line up to a comment, for help lines; at most 60 characters.
    pub(super) fn word_here(&self) -> String {
        let line = self.slice(self.pos, self.line_end(self.pos));
        let mut end = line.find(" #").unwrap_or(line.len());
        if self.in_flow() {
            end = end.min(line.find([',', ']', '}']).unwrap_or(line.len()));
        }
        let word = line.get(..end).unwrap_or(line).trim_end();
        let word = word.strip_suffix(':').unwrap_or(word);
        word.chars().take(60).collect()
    }

    /// A scalar that stands in the text as it is.
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
        format!("the control character U+{number:04X} cannot stand in YAML as it is"),
        format!("remove it, or write `{escape}` between double quotes"),
    )
}
