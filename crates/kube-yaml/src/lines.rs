//! Documents in their usual form, read line by line, straight to the value.
//!
//! Owns: which documents are in that form: block collections whose keys are plain or quoted words, with scalars of every
//! style, and flow collections on one line; without anchors, aliases, tags, and merges. Flows in: the scanner at the start
//! of a document. Flows out: what the composer would make of it; or nothing, and tokens and events decide. Must not know:
//! what is wrong with a document.
//!
//! Nearly all Kubernetes objects have this form, and most of their lines need no more than a look for the end of a word.
//! Nothing here is an error: what is not in the usual form, or against a rule, is read again from the start, so that
//! errors have one source. A scalar that is not on one line is the scanner's.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use kube_json::{Map, Value};

use super::character::{ByteSet, byte_set, find_in, text_end, word_end};
use super::limits::Limits;
use super::position::Record;
use super::resolve::read_plain;
use super::scanner::{LONGEST_SIMPLE_KEY, Scanner};
use super::token::{Token, TokenKind};

/// Each level here is one of the machine stack. No Kubernetes object has as many.
const DEEPEST: usize = 64;

/// Bytes with which only a plain scalar begins, whatever follows. `<` is not one: `<<` may merge.
const STARTS_PLAIN: ByteSet =
    byte_set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.+~$^()\\;=");
/// Bytes at which a plain word in a flow collection may end. 0xC2 and 0xE2 begin the line breaks that are not ASCII.
const ENDS_FLOW: ByteSet = byte_set(b" \t\n\r:#,?[]{}\xC2\xE2");

/// The value of a document in its usual form.
pub(super) fn read_lines<R: Record>(scanner: &mut Scanner<'_>, limits: &Limits) -> Option<(Value, R::Node)> {
    let mut lines = Lines {
        scanner,
        last_end: 0,
        record: PhantomData::<R>,
    };
    lines.document(limits.depth.min(DEEPEST))
}

struct Lines<'t, 's, R> {
    /// Between two scalars, at a text or in front of the blanks before it.
    scanner: &'s mut Scanner<'t>,
    /// The end of the last text or indicator, where a collection ends and an absent value is said to stand.
    last_end: usize,
    record: PhantomData<R>,
}

/// A value, and the places in it.
type Found<R> = Option<(Value, <R as Record>::Node)>;

/// A key, its `:` passed.
struct Key<'t> {
    text: Cow<'t, str>,
    range: Range<usize>,
}

impl<'t, R: Record> Lines<'t, '_, R> {
    fn document(&mut self, depth: usize) -> Found<R> {
        self.scanner.skip_blank_lines();
        if self.scanner.at_document_indicator() && self.byte() == b'-' {
            self.scanner.pos += 3;
            self.scanner.next_line()?;
        }
        let found = self.collection(depth)?;
        self.is_end().then_some(found)
    }

    // ---- block collections; `depth` is how many more levels are allowed

    /// The collection that begins at the next text.
    fn collection(&mut self, depth: usize) -> Found<R> {
        if self.is_entry() {
            return self.list(depth, false);
        }
        let (start, column) = (self.scanner.pos, self.column());
        let first = self.key()?;
        self.mapping(depth, start, column, first)
    }

    /// The mapping of this first member.
    fn mapping(&mut self, depth: usize, start: usize, column: usize, first: Key<'t>) -> Found<R> {
        let inner = depth.checked_sub(1)?;
        let mut members = Vec::new();
        let mut fields = R::Fields::default();
        let mut key = first;
        loop {
            let (value, node) = self.content(column, inner)?;
            R::insert(&mut fields, &key.text, &key.range, node);
            members.push((key.text.as_ref().into(), value));
            if self.is_left_of(column) {
                break;
            }
            if self.column() > column {
                return None;
            }
            key = self.key()?;
        }
        let node = R::mapping(fields, &(start..self.last_end));
        Some((Value::Object(Map::from_distinct(members)?), node))
    }

    /// The list whose first `- ` is the next text; without indentation, it is at the column of the mapping around it.
    fn list(&mut self, depth: usize, indentless: bool) -> Found<R> {
        let depth = depth.checked_sub(1)?;
        let (start, column) = (self.scanner.pos, self.column());
        let mut items = Vec::new();
        let mut entries = R::Entries::default();
        loop {
            let (item, node) = self.entry(column, depth)?;
            items.push(item);
            R::push(&mut entries, node);
            if self.is_left_of(column) {
                break;
            }
            if self.column() > column {
                return None;
            }
            if !self.is_entry() {
                if indentless {
                    break;
                }
                return None;
            }
        }
        items.shrink_to_fit();
        Some((Value::Array(items), R::sequence(entries, &(start..self.last_end))))
    }

    /// What follows `key:` of a mapping at `column`.
    fn content(&mut self, column: usize, depth: usize) -> Found<R> {
        self.scanner.skip_spaces();
        if !matches!(self.byte(), b'\n' | b'#') {
            return self.node_of_line(column, depth);
        }
        self.scanner.next_line()?;
        if self.is_left_of(column) || (self.column() == column && !self.is_entry()) {
            return Some(self.absent());
        }
        if self.column() == column {
            return self.list(depth, true);
        }
        self.collection(depth)
    }

    /// One entry of a list at `column`, `- ` in front.
    fn entry(&mut self, column: usize, depth: usize) -> Found<R> {
        self.last_end = self.scanner.pos + 1;
        self.scanner.pos = self.last_end;
        self.scanner.skip_spaces();
        match self.byte() {
            b'\n' | b'#' => {
                self.scanner.next_line()?;
                if self.is_left_of(column) || self.column() == column {
                    return Some(self.absent());
                }
                self.collection(depth)
            }
            b'-' if self.is_entry() => self.list(depth, false),
            _ => {
                let (start, column_inside) = (self.scanner.pos, self.column());
                let key = match self.byte() {
                    b'"' | b'\'' => match self.quoted_key() {
                        Ok(key) => Some(key),
                        Err(token) => return self.quoted(token?),
                    },
                    _ => self.plain_key(),
                };
                match key {
                    Some(key) => self.mapping(depth, start, column_inside, key),
                    None => self.node_of_line(column, depth),
                }
            }
        }
    }

    /// A key and its `:`.
    fn key(&mut self) -> Option<Key<'t>> {
        match self.byte() {
            b'"' | b'\'' => self.quoted_key().ok(),
            _ => self.plain_key(),
        }
    }

    /// A key that is one word, and no number, boolean, or null; nothing moves if there is none.
    fn plain_key(&mut self) -> Option<Key<'t>> {
        let start = self.scanner.pos;
        if !is_in(&STARTS_PLAIN, self.byte()) {
            return None;
        }
        let mut end = word_end(self.scanner.bytes, start);
        while self.scanner.at(end) == b':' && !self.ends_key(end) {
            end = word_end(self.scanner.bytes, end + 1);
        }
        let text = self.scanner.slice(start, end);
        if self.scanner.at(end) != b':' || text.len() > LONGEST_SIMPLE_KEY || read_plain(text).is_some() {
            return None;
        }
        self.pass_colon(end);
        Some(Key {
            text: text.into(),
            range: start..end,
        })
    }

    /// A key in quotes; or the scalar that turns out to be none, if it is fine.
    fn quoted_key(&mut self) -> Result<Key<'t>, Option<Token<'t>>> {
        let line_start = self.scanner.line_start;
        let token = self.scanner.scan_quoted(self.byte()).map_err(|_| None)?;
        let end = token.end;
        if self.scanner.at(end) != b':' || !self.ends_key(end) {
            return Err(Some(token));
        }
        let range = token.start..end;
        match token.kind {
            TokenKind::Scalar { text, .. }
                if self.scanner.line_start == line_start && range.len() <= LONGEST_SIMPLE_KEY =>
            {
                self.pass_colon(end);
                Ok(Key { text, range })
            }
            _ => Err(None),
        }
    }

    /// Whether the `:` at `end` makes a key of what is before it.
    fn ends_key(&self, end: usize) -> bool {
        matches!(self.scanner.at(end + 1), b' ' | b'\n')
    }

    fn pass_colon(&mut self, at: usize) {
        self.last_end = at + 1;
        self.scanner.pos = self.last_end;
    }

    // ---- what begins on a line, in a block collection at `column`

    fn node_of_line(&mut self, column: usize, depth: usize) -> Found<R> {
        match self.byte() {
            byte @ (b'"' | b'\'') => {
                let token = self.scanner.scan_quoted(byte).ok()?;
                self.quoted(token)
            }
            byte @ (b'|' | b'>') => self.block_scalar(column, byte == b'|'),
            b'[' | b'{' => {
                let found = self.flow(depth)?;
                self.scanner.next_line()?;
                Some(found)
            }
            b'-' if !self.scanner.is_gap(self.scanner.pos + 1) => self.plain_lines(column),
            // A byte order mark begins with 0xEF.
            byte @ 0x80.. if byte != 0xEF && !self.scanner.is_gap(self.scanner.pos) => {
                self.plain_lines(column)
            }
            byte if is_in(&STARTS_PLAIN, byte) => self.plain(column),
            _ => None,
        }
    }

    fn plain(&mut self, column: usize) -> Found<R> {
        let (start, line_start) = (self.scanner.pos, self.scanner.line_start);
        let mut stop = start;
        loop {
            stop = text_end(self.scanner.bytes, stop);
            match self.scanner.at(stop) {
                b'\n' => break,
                b'#' if self.scanner.at(stop - 1) == b' ' => break,
                b'#' => stop += 1,
                b':' if !self.scanner.is_gap(stop + 1) => stop += 1,
                _ => return self.plain_lines(column),
            }
        }
        let text = self.scanner.slice(start, stop).trim_end_matches(' ');
        self.scanner.pos = stop;
        self.last_end = start + text.len();
        let end = self.last_end;
        self.scanner.next_line()?;
        if self.column() > column {
            // It may go on there.
            (self.scanner.pos, self.scanner.line_start) = (start, line_start);
            return self.plain_lines(column);
        }
        Self::meaning(text, &(start..end))
    }

    /// A plain scalar as the scanner reads it, which may have several lines.
    fn plain_lines(&mut self, column: usize) -> Found<R> {
        self.scanner.indent = isize::try_from(column).ok()?;
        self.scanner.key_allowed = false;
        let token = self.scanner.scan_plain().ok()?;
        self.last_end = token.end;
        // Behind a line break, the scanner is at the next text.
        if self.scanner.key_allowed {
            self.scanner.skip_blank_lines();
        } else {
            self.scanner.next_line()?;
        }
        match token.kind {
            TokenKind::Scalar { text, .. } => Self::meaning(&text, &(token.start..token.end)),
            _ => None,
        }
    }

    /// The value of a scalar in quotes, which the scanner is behind.
    fn quoted(&mut self, token: Token<'t>) -> Found<R> {
        self.last_end = token.end;
        self.scanner.next_line()?;
        Self::string(token)
    }

    fn block_scalar(&mut self, column: usize, literal: bool) -> Found<R> {
        self.scanner.indent = isize::try_from(column).ok()?;
        let token = self.scanner.scan_block_scalar(literal).ok()?;
        self.last_end = token.end;
        self.scanner.skip_blank_lines();
        Self::string(token)
    }

    fn string(token: Token<'t>) -> Found<R> {
        text_of(token).map(|(text, range)| (Value::String(text.into()), R::scalar(&range)))
    }

    fn meaning(text: &str, range: &Range<usize>) -> Found<R> {
        let value = match read_plain(text) {
            None => Value::String(text.into()),
            Some(scalar) => scalar.into_value(range).ok()?,
        };
        Some((value, R::scalar(range)))
    }

    fn absent(&self) -> (Value, R::Node) {
        (Value::Null, R::scalar(&(self.last_end..self.last_end)))
    }

    // ---- flow collections on one line

    /// A flow collection, or what is inside one.
    fn flow(&mut self, depth: usize) -> Found<R> {
        let start = self.scanner.pos;
        match self.byte() {
            b'[' => self.flow_list(depth.checked_sub(1)?),
            b'{' => self.flow_mapping(depth.checked_sub(1)?),
            b'"' | b'\'' => {
                let (text, range) = self.flow_quoted()?;
                Some((Value::String(text.into()), R::scalar(&range)))
            }
            _ => {
                let text = self.flow_word()?;
                Self::meaning(text, &(start..self.scanner.pos))
            }
        }
    }

    fn flow_list(&mut self, depth: usize) -> Found<R> {
        let start = self.scanner.pos;
        let mut items = Vec::new();
        let mut entries = R::Entries::default();
        let mut goes_on = self.opens(b']');
        while goes_on {
            let (item, node) = self.flow(depth)?;
            items.push(item);
            R::push(&mut entries, node);
            goes_on = self.goes_on(b']')?;
        }
        items.shrink_to_fit();
        Some((Value::Array(items), R::sequence(entries, &(start..self.last_end))))
    }

    fn flow_mapping(&mut self, depth: usize) -> Found<R> {
        let start = self.scanner.pos;
        let mut members = Vec::new();
        let mut fields = R::Fields::default();
        let mut goes_on = self.opens(b'}');
        while goes_on {
            let key_start = self.scanner.pos;
            let key = match self.byte() {
                b'"' | b'\'' => self.flow_quoted()?.0,
                _ => self.flow_word().filter(|word| read_plain(word).is_none())?.into(),
            };
            let key_range = key_start..self.scanner.pos;
            if self.byte() != b':' || self.scanner.at(self.scanner.pos + 1) != b' ' {
                return None;
            }
            if key_range.len() > LONGEST_SIMPLE_KEY {
                return None;
            }
            self.scanner.pos += 1;
            self.scanner.skip_spaces();
            let (value, node) = self.flow(depth)?;
            R::insert(&mut fields, &key, &key_range, node);
            members.push((key.as_ref().into(), value));
            goes_on = self.goes_on(b'}')?;
        }
        let node = R::mapping(fields, &(start..self.last_end));
        Some((Value::Object(Map::from_distinct(members)?), node))
    }

    /// Passes the opening bracket; whether an entry follows.
    fn opens(&mut self, closing: u8) -> bool {
        self.scanner.pos += 1;
        self.scanner.skip_spaces();
        !self.closes(closing)
    }

    /// Passes what follows an entry; whether another one does.
    fn goes_on(&mut self, closing: u8) -> Option<bool> {
        self.scanner.skip_spaces();
        if self.closes(closing) {
            return Some(false);
        }
        if self.byte() != b',' {
            return None;
        }
        self.scanner.pos += 1;
        self.scanner.skip_spaces();
        Some(true)
    }

    fn closes(&mut self, closing: u8) -> bool {
        let closes = self.byte() == closing;
        if closes {
            self.scanner.pos += 1;
            self.last_end = self.scanner.pos;
        }
        closes
    }

    /// A scalar in quotes, on one line.
    fn flow_quoted(&mut self) -> Option<(Cow<'t, str>, Range<usize>)> {
        let line_start = self.scanner.line_start;
        let token = self.scanner.scan_quoted(self.byte()).ok()?;
        let is_on_line = self.scanner.line_start == line_start;
        text_of(token).filter(|_| is_on_line)
    }

    /// A plain scalar that is one word.
    fn flow_word(&mut self) -> Option<&'t str> {
        let start = self.scanner.pos;
        let mut first = start;
        while self.scanner.at(first) == b'-' {
            first += 1;
        }
        if !is_in(&STARTS_PLAIN, self.scanner.at(first)) {
            return None;
        }
        let mut end = find_in(self.scanner.bytes, first, &ENDS_FLOW);
        while match self.scanner.at(end) {
            b':' => is_in(&STARTS_PLAIN, self.scanner.at(end + 1)),
            byte => byte == b'#',
        } {
            end = find_in(self.scanner.bytes, end + 1, &ENDS_FLOW);
        }
        self.scanner.pos = end;
        Some(self.scanner.slice(start, end))
    }

    // ---- where the scanner is

    fn byte(&self) -> u8 {
        self.scanner.at(self.scanner.pos)
    }

    fn column(&self) -> usize {
        self.scanner.pos - self.scanner.line_start
    }

    fn is_end(&self) -> bool {
        self.scanner.pos >= self.scanner.bytes.len()
    }

    /// Whether a collection at `column` is over.
    fn is_left_of(&self, column: usize) -> bool {
        self.column() < column || self.is_end()
    }

    /// Whether `- ` is next.
    fn is_entry(&self) -> bool {
        self.byte() == b'-' && matches!(self.scanner.at(self.scanner.pos + 1), b' ' | b'\n')
    }
}

fn text_of(token: Token<'_>) -> Option<(Cow<'_, str>, Range<usize>)> {
    match token.kind {
        TokenKind::Scalar { text, .. } => Some((text, token.start..token.end)),
        _ => None,
    }
}

fn is_in(set: &ByteSet, byte: u8) -> bool {
    set.get(usize::from(byte)).copied().unwrap_or_default()
}
