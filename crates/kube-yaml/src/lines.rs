//! Documents in their usual form, read line by line, straight to the value. That form is block collections whose keys
//! are plain or quoted words, with plain scalars, quoted ones on one line, literal blocks, and flow collections on one
//! line; without anchors, aliases, tags, and merges.
//!
//! Nearly all Kubernetes objects have this form, and most of their lines need no more than a look for the end of a word.
//! Nothing here is an error: what is not in the usual form, or against a rule, is read again from the start, so that
//! errors have one source.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use kube_json::{Map, Text, Value};

use super::character::{find_from, spaces_end, text_end, word_end};
use super::position::Record;
use super::source::LONGEST_SIMPLE_KEY;
use crate::compose::Limits;
use crate::scalar::read_plain;

/// Each level here is one of the machine stack. No Kubernetes object has as many.
const DEEPEST: usize = 64;

/// Whether only a plain scalar begins with this byte, whatever follows. `<` is not one: `<<` may merge.
const fn starts_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'/' | b'.' | b'+' | b'~' | b'$' | b'^' | b'(' | b')' | b'\\' | b';' | b'='
        )
}

/// Whether a plain word in a flow collection may end at this byte.
const fn ends_flow(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b':' | b'#' | b',' | b'?' | b'[' | b']' | b'{' | b'}'
    )
}

/// The value of a document in its usual form, whose lines end in LF.
pub(super) fn read_lines<R: Record>(text: &str, limits: &Limits) -> Option<(Value, R::Node)> {
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let mut lines = Lines {
        text,
        bytes: text.as_bytes(),
        pos: start,
        line_start: start,
        last_end: 0,
        members: Vec::new(),
        items: Vec::new(),
        record: PhantomData::<R>,
    };
    lines.document(limits.depth.min(DEEPEST))
}

struct Lines<'t, R> {
    text: &'t str,
    bytes: &'t [u8],
    /// Between two scalars, at a text or in front of the blanks before it.
    pos: usize,
    /// Where the line of `pos` starts; what is between them is the column.
    line_start: usize,
    /// The end of the last text or indicator, where a collection ends and an absent value is said to stand.
    last_end: usize,
    /// The members of the mappings that are open, those of the innermost last. A collection takes its own when it ends, so it
    /// is made in its size at once.
    members: Vec<(Text, Value)>,
    /// The same of the items of lists.
    items: Vec<Value>,
    record: PhantomData<R>,
}

/// A value, and the places in it.
type Found<R> = Option<(Value, <R as Record>::Node)>;

/// A key, its `:` passed.
struct Key<'t> {
    text: Cow<'t, str>,
    range: Range<usize>,
}

impl<'t, R: Record> Lines<'t, R> {
    fn document(&mut self, depth: usize) -> Found<R> {
        self.skip_blank_lines();
        if self.column() == 0
            && self.slice(self.pos, self.pos + 3) == "---"
            && matches!(self.at(self.pos + 3), b' ' | b'\n')
        {
            self.pos += 3;
            self.skip_spaces();
            self.next_line()?;
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
        let (start, column) = (self.pos, self.column());
        let first = self.key()?;
        self.mapping(depth, start, column, first)
    }

    /// The mapping of this first member.
    fn mapping(&mut self, depth: usize, start: usize, column: usize, first: Key<'t>) -> Found<R> {
        let inner = depth.checked_sub(1)?;
        let outer_members = self.members.len();
        let mut fields = R::Fields::default();
        let mut key = first;
        loop {
            let (value, node) = self.content(column, inner)?;
            R::insert(&mut fields, &key.text, &key.range, node);
            self.members.push((key.text.as_ref().into(), value));
            if self.is_left_of(column) {
                break;
            }
            if self.column() > column {
                return None;
            }
            key = self.key()?;
        }
        let node = R::mapping(fields, &(start..self.last_end));
        let members = self.members.drain(outer_members..);
        Some((Value::Object(Map::from_distinct(members)?), node))
    }

    /// The list whose first `- ` is the next text; without indentation, it is at the column of the mapping around it.
    fn list(&mut self, depth: usize, indentless: bool) -> Found<R> {
        let depth = depth.checked_sub(1)?;
        let (start, column) = (self.pos, self.column());
        let outer_items = self.items.len();
        let mut entries = Vec::new();
        loop {
            let (item, node) = self.entry(column, depth)?;
            self.items.push(item);
            entries.push(node);
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
        let items = self.items.drain(outer_items..).collect();
        Some((Value::Array(items), R::sequence(entries, &(start..self.last_end))))
    }

    /// What follows `key:` of a mapping at `column`.
    fn content(&mut self, column: usize, depth: usize) -> Found<R> {
        self.skip_spaces();
        if !matches!(self.byte(), b'\n' | b'#') {
            return self.node_of_line(column, depth);
        }
        self.next_line()?;
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
        self.last_end = self.pos + 1;
        self.pos = self.last_end;
        self.skip_spaces();
        match self.byte() {
            b'\n' | b'#' => {
                self.next_line()?;
                if self.is_left_of(column) || self.column() == column {
                    return Some(self.absent());
                }
                self.collection(depth)
            }
            b'-' if self.is_entry() => self.list(depth, false),
            _ => {
                let (start, column_inside) = (self.pos, self.column());
                match self.key() {
                    Some(key) => self.mapping(depth, start, column_inside, key),
                    None => self.node_of_line(column, depth),
                }
            }
        }
    }

    /// A key and its `:`.
    fn key(&mut self) -> Option<Key<'t>> {
        match self.byte() {
            b'"' | b'\'' => self.quoted_key(),
            _ => self.plain_key(),
        }
    }

    /// A key that is one word, and no number, boolean, or null; nothing moves if there is none.
    fn plain_key(&mut self) -> Option<Key<'t>> {
        let start = self.pos;
        if !starts_plain(self.byte()) {
            return None;
        }
        let mut end = word_end(self.bytes, start);
        while self.at(end) == b':' && !self.ends_key(end) {
            end = word_end(self.bytes, end + 1);
        }
        let text = self.slice(start, end);
        if self.at(end) != b':' || text.len() > LONGEST_SIMPLE_KEY || read_plain(text).is_some() {
            return None;
        }
        self.pass_colon(end);
        Some(Key {
            text: text.into(),
            range: start..end,
        })
    }

    /// A key in quotes; nothing moves if there is none.
    fn quoted_key(&mut self) -> Option<Key<'t>> {
        let start = self.pos;
        let text = self.quoted()?;
        let range = start..self.pos;
        if self.byte() == b':' && self.ends_key(range.end) && range.len() <= LONGEST_SIMPLE_KEY {
            self.pass_colon(range.end);
            return Some(Key { text, range });
        }
        self.pos = start;
        None
    }

    /// Whether the `:` at `end` makes a key of what is before it.
    fn ends_key(&self, end: usize) -> bool {
        matches!(self.at(end + 1), b' ' | b'\n')
    }

    fn pass_colon(&mut self, at: usize) {
        self.last_end = at + 1;
        self.pos = self.last_end;
    }

    // ---- what begins on a line, in a block collection at `column`

    fn node_of_line(&mut self, column: usize, depth: usize) -> Found<R> {
        match self.byte() {
            b'"' | b'\'' => {
                let start = self.pos;
                let text = self.quoted()?;
                self.last_end = self.pos;
                self.skip_spaces();
                self.next_line()?;
                Some((Value::String(text.into()), R::scalar(&(start..self.last_end))))
            }
            b'|' => self.literal(column),
            b'[' | b'{' => {
                let found = self.flow(depth)?;
                self.skip_spaces();
                self.next_line()?;
                Some(found)
            }
            b'-' if !matches!(self.at(self.pos + 1), b' ' | b'\n' | b'\t') => self.plain(column),
            0x80.. => self.plain(column),
            byte if starts_plain(byte) => self.plain(column),
            _ => None,
        }
    }

    /// A plain scalar, which goes on in lines that are indented deeper than `column`.
    fn plain(&mut self, column: usize) -> Found<R> {
        let start = self.pos;
        let mut folded: Option<String> = None;
        loop {
            let (from, stop) = (self.pos, self.plain_end()?);
            let line = self.slice(from, stop).trim_end_matches(' ');
            if let Some(folded) = &mut folded {
                folded.push_str(line);
            }
            self.pos = stop;
            self.last_end = from + line.len();
            // A comment ends the scalar, on its line or on the next one with a text.
            self.skip_empty_lines();
            let is_ended = self.byte() == b'#';
            self.skip_blank_lines();
            if self.is_left_of(column + 1) {
                break;
            }
            if is_ended {
                return None;
            }
            let folded = folded.get_or_insert_with(|| line.to_owned());
            let breaks = self.slice(stop, self.pos).matches('\n').count();
            match breaks {
                1 => folded.push(' '),
                _ => folded.extend(std::iter::repeat_n('\n', breaks - 1)),
            }
        }
        let range = start..self.last_end;
        match folded {
            Some(text) => Self::meaning(&text, &range),
            None => Self::meaning(self.slice(start, range.end), &range),
        }
    }

    /// Where the plain text of this line ends: in front of the line break, or of a comment.
    fn plain_end(&self) -> Option<usize> {
        let mut stop = self.pos;
        loop {
            stop = text_end(self.bytes, stop);
            match self.at(stop) {
                b'\n' => return Some(stop),
                b'#' if self.at(stop - 1) == b' ' => return Some(stop),
                b':' if matches!(self.at(stop + 1), b' ' | b'\n' | b'\t') => return None,
                b':' | b'#' | 0x80.. => stop += 1,
                _ => return None,
            }
        }
    }

    /// A scalar in quotes on this line, whose escapes are usual; nothing moves if there is none.
    fn quoted(&mut self) -> Option<Cow<'t, str>> {
        let quote = self.byte();
        let mut from = self.pos + 1;
        let mut copied: Option<String> = None;
        loop {
            let rest = self.bytes.get(from..)?;
            let end = from + memchr::memchr3(quote, b'\\', b'\n', rest)?;
            let next = self.at(end + 1);
            let (copy_to, go_on) = match self.at(end) {
                b'\'' if quote == b'\'' && next == b'\'' => (end + 1, end + 2),
                byte if byte == quote => {
                    self.pos = end + 1;
                    let text = self.slice(from, end);
                    return Some(match copied {
                        None => text.into(),
                        Some(copied) => (copied + text).into(),
                    });
                }
                b'\\' if quote == b'\'' => (end + 1, end + 1),
                b'\\' if b"\"\\ntr".contains(&next) => (end, end + 2),
                _ => return None,
            };
            let copied = copied.get_or_insert_default();
            copied.push_str(self.text.get(from..copy_to)?);
            match next {
                _ if quote == b'\'' => {}
                b'n' => copied.push('\n'),
                b't' => copied.push('\t'),
                b'r' => copied.push('\r'),
                _ => copied.push(char::from(next)),
            }
            from = go_on;
        }
    }

    /// A literal block: `|`, `|-`, or `|+`, with nothing behind it.
    fn literal(&mut self, column: usize) -> Found<R> {
        let start = self.pos;
        let chomping = self.at(start + 1);
        self.pos += 1 + usize::from(matches!(chomping, b'-' | b'+'));
        self.last_end = self.pos;
        self.skip_spaces();
        if self.byte() != b'\n' {
            return None;
        }
        let header_end = self.pos;
        self.skip_empty_lines();
        let indent = self.column();
        let mut breaks = self.slice(header_end + 1, self.line_start);
        if indent <= column
            || self.is_end()
            || self.byte() == b'\t'
            || breaks.split('\n').any(|blank| blank.len() > indent)
        {
            return None;
        }
        let mut text = String::new();
        let mut breaks_before = breaks.matches('\n').count();
        loop {
            let end = self.pos + memchr::memchr(b'\n', self.bytes.get(self.pos..)?)?;
            text.extend(std::iter::repeat_n('\n', breaks_before));
            let line = self.slice(self.line_start + indent, end);
            text.push_str(line);
            if line.bytes().any(|byte| byte != b' ') {
                self.last_end = end;
            }
            self.pos = end;
            self.skip_empty_lines_up_to(indent);
            breaks = self.slice(end, self.line_start);
            breaks_before = breaks.matches('\n').count();
            // Blanks that nothing ends may belong to the text.
            if self.is_end() && self.column() > 0 {
                return None;
            }
            if self.column() < indent || self.is_end() {
                break;
            }
        }
        match chomping {
            b'-' => {}
            b'+' => text.extend(std::iter::repeat_n('\n', breaks_before)),
            _ => text.push('\n'),
        }
        self.skip_blank_lines();
        Some((Value::String(text.into()), R::scalar(&(start..self.last_end))))
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
        let start = self.pos;
        match self.byte() {
            b'[' => self.flow_list(depth.checked_sub(1)?),
            b'{' => self.flow_mapping(depth.checked_sub(1)?),
            b'"' | b'\'' => {
                let text = self.quoted()?;
                Some((Value::String(text.into()), R::scalar(&(start..self.pos))))
            }
            _ => {
                let text = self.flow_word()?;
                Self::meaning(text, &(start..self.pos))
            }
        }
    }

    fn flow_list(&mut self, depth: usize) -> Found<R> {
        let start = self.pos;
        let outer_items = self.items.len();
        let mut entries = Vec::new();
        let mut goes_on = self.opens(b']');
        while goes_on {
            let (item, node) = self.flow(depth)?;
            self.items.push(item);
            entries.push(node);
            goes_on = self.goes_on(b']')?;
        }
        let items = self.items.drain(outer_items..).collect();
        Some((Value::Array(items), R::sequence(entries, &(start..self.last_end))))
    }

    fn flow_mapping(&mut self, depth: usize) -> Found<R> {
        let start = self.pos;
        let outer_members = self.members.len();
        let mut fields = R::Fields::default();
        let mut goes_on = self.opens(b'}');
        while goes_on {
            let key_start = self.pos;
            let key = match self.byte() {
                b'"' | b'\'' => self.quoted()?,
                _ => self.flow_word().filter(|word| read_plain(word).is_none())?.into(),
            };
            let key_range = key_start..self.pos;
            if self.byte() != b':' || self.at(self.pos + 1) != b' ' {
                return None;
            }
            if key_range.len() > LONGEST_SIMPLE_KEY {
                return None;
            }
            self.pos += 1;
            self.skip_spaces();
            let (value, node) = self.flow(depth)?;
            R::insert(&mut fields, &key, &key_range, node);
            self.members.push((key.as_ref().into(), value));
            goes_on = self.goes_on(b'}')?;
        }
        let node = R::mapping(fields, &(start..self.last_end));
        let members = self.members.drain(outer_members..);
        Some((Value::Object(Map::from_distinct(members)?), node))
    }

    /// Passes the opening bracket; whether an entry follows.
    fn opens(&mut self, closing: u8) -> bool {
        self.pos += 1;
        self.skip_spaces();
        !self.closes(closing)
    }

    /// Passes what follows an entry; whether another one does.
    fn goes_on(&mut self, closing: u8) -> Option<bool> {
        self.skip_spaces();
        if self.closes(closing) {
            return Some(false);
        }
        if self.byte() != b',' {
            return None;
        }
        self.pos += 1;
        self.skip_spaces();
        Some(true)
    }

    fn closes(&mut self, closing: u8) -> bool {
        let closes = self.byte() == closing;
        if closes {
            self.pos += 1;
            self.last_end = self.pos;
        }
        closes
    }

    /// A plain scalar that is one word.
    fn flow_word(&mut self) -> Option<&'t str> {
        let start = self.pos;
        let mut first = start;
        while self.at(first) == b'-' {
            first += 1;
        }
        if !starts_plain(self.at(first)) {
            return None;
        }
        let mut end = find_from(self.bytes, first, ends_flow);
        while match self.at(end) {
            b':' => starts_plain(self.at(end + 1)),
            byte => byte == b'#',
        } {
            end = find_from(self.bytes, end + 1, ends_flow);
        }
        self.pos = end;
        Some(self.slice(start, end))
    }

    // ---- from one text to the next one

    fn skip_spaces(&mut self) {
        self.pos = spaces_end(self.bytes, self.pos);
    }

    /// Goes over blanks and comments up to the next text.
    fn skip_blank_lines(&mut self) {
        loop {
            self.skip_empty_lines();
            if self.byte() != b'#' {
                return;
            }
            self.pos = memchr::memchr(b'\n', self.rest()).map_or(self.bytes.len(), |found| self.pos + found);
        }
    }

    /// Goes over blanks up to the next text.
    fn skip_empty_lines(&mut self) {
        self.skip_empty_lines_up_to(usize::MAX);
    }

    /// Goes over blanks up to the next text, or to this column of a line that is longer.
    fn skip_empty_lines_up_to(&mut self, column: usize) {
        loop {
            let spaces = spaces_end(self.bytes, self.pos);
            self.pos = spaces.min(self.line_start.saturating_add(column).max(self.pos));
            if self.byte() != b'\n' {
                return;
            }
            self.pos += 1;
            self.line_start = self.pos;
        }
    }

    /// Goes to the next text, which must be on another line. Blanks in front of a comment are passed already.
    fn next_line(&mut self) -> Option<()> {
        let (pos, line_start) = (self.pos, self.line_start);
        // A comment has a blank in front of it.
        if self.at(pos) == b'#' && self.at(pos - 1) != b' ' {
            return None;
        }
        self.skip_blank_lines();
        (self.line_start != line_start || self.is_end()).then_some(())
    }

    // ---- where we are

    fn byte(&self) -> u8 {
        self.at(self.pos)
    }

    /// The byte at `at`; 0 behind the end (no text holds a 0).
    fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.pos..).unwrap_or(&[])
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }

    fn column(&self) -> usize {
        self.pos - self.line_start
    }

    fn is_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// Whether a collection at `column` is over.
    fn is_left_of(&self, column: usize) -> bool {
        self.column() < column || self.is_end()
    }

    /// Whether `- ` is next.
    fn is_entry(&self) -> bool {
        self.byte() == b'-' && matches!(self.at(self.pos + 1), b' ' | b'\n')
    }
}
