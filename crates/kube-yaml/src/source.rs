//! YAML: the events of the library, with their places, and the refusal of what Kubernetes reads otherwise. Where YAML
//! 1.2 (the library) and YAML 1.1 (Kubernetes) differ: docs/systems/kubernetes.md#structure-and-characters.
//!
//! The library tells for each event what it is, and where plain and block texts end. A cursor goes over the text beside
//! it: from one node to the next there are only blanks, comments, and the indicators that the place allows. What the
//! library takes and Kubernetes' reader refuses, or takes for something else, is found there and refused.

use std::borrow::Cow;
use std::cell::Cell;
use std::iter::Chain;
use std::ops::Range;
use std::str::Chars;

use saphyr_parser::{Event as Found, Parser, ScalarStyle, Span, Tag};

use super::character::is_name_byte;
use super::compose::{Event, Properties};
use super::error::{Error, ErrorKind, Outcome};
use super::write::double_quoted;

/// A key without `?` ends at most this many characters after its start
/// (docs/systems/kubernetes.md#structure-and-characters).
pub(super) const LONGEST_SIMPLE_KEY: usize = 1024;

/// The characters that one event may need: the library keeps all tokens of a flow collection that may be a key, some 64
/// bytes for each character. No Kubernetes object has as many in one text, or in one flow collection.
pub(super) const MOST_AT_ONCE: usize = 2 << 20;

/// One in this many characters has its place noted, where bytes are not characters.
const NOTED: usize = 64;

/// Gives the events of the only document in `text` to `take`. Of an empty text there are none.
///
/// # Errors
/// The first fault of the text, or of what takes the events.
pub(super) fn read_events<'t>(text: &'t str, take: &mut dyn FnMut(Event<'t>) -> Outcome<()>) -> Outcome<()> {
    check_first_line(text)?;
    let left = Cell::new(MOST_AT_ONCE);
    // The library takes the end of the text for the end of a line: see `end_in_text`.
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut parser = Parser::new_from_iter(Rationed {
        characters: text.chars().chain(end.chars()),
        left: &left,
    });
    let mut source = Source::new(text);
    loop {
        left.set(MOST_AT_ONCE);
        let found = match parser.next_event() {
            None => return Ok(()),
            _ if left.get() == 0 => return Err(source.too_much_at_once()),
            Some(Err(error)) => return Err(source.fault(&error)),
            Some(Ok(found)) => found,
        };
        if let Some(event) = source.event(found)? {
            take(event)?;
        }
    }
}

/// Counts the bytes that are looked at, for the test that they are proportional to the text; nothing otherwise.
#[inline]
fn count_work(bytes: usize) {
    #[cfg(test)]
    WORK.with(|work| work.set(work.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

#[cfg(test)]
thread_local! {
    /// The work on this thread so far.
    pub(super) static WORK: Cell<usize> = const { Cell::new(0) };
}

/// The characters of a text, so many for each event.
struct Rationed<'t, 'c> {
    characters: Chain<Chars<'t>, Chars<'static>>,
    left: &'c Cell<usize>,
}

impl Iterator for Rationed<'_, '_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        count_work(1);
        self.left.set(self.left.get().checked_sub(1)?);
        self.characters.next()
    }
}

/// Behind the quote that closes what the quote at `start` opens.
pub(super) fn quoted_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes.get(start).copied().unwrap_or(0);
    let mut at = start + 1;
    loop {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let Some(found) = memchr::memchr2(quote, b'\\', rest) else {
            return bytes.len();
        };
        let is_doubled = quote == b'\'' && rest.get(found..found + 2) == Some(b"''");
        match rest.get(found) {
            Some(b'\\') if quote == b'"' => at += found + 2,
            Some(b'\\') => at += found + 1,
            _ if is_doubled => at += found + 2,
            _ => return at + found + 1,
        }
    }
}

/// An open collection.
pub(super) struct Open {
    pub(super) start: usize,
    is_list: bool,
    /// Inside of brackets.
    pub(super) is_flow: bool,
    /// It has brackets of its own, which `[a: b]` gives to the list only.
    pub(super) has_brackets: bool,
    /// Of a mapping: whether a key follows.
    key_is_next: bool,
    /// Of a mapping: whether the key has a `?`.
    is_explicit: bool,
    /// Of a mapping: where the last key begins.
    key_start: usize,
}

pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    /// The next byte that no event was about.
    pub(super) at: usize,
    /// The end of the last text or indicator, where a collection ends and an absent node is said to stand.
    pub(super) last_end: usize,
    /// Whether blanks here may indent a block collection: a tab is none.
    pub(super) indents: bool,
    /// Whether a `?` was passed whose key has not come yet.
    pub(super) question: bool,
    has_begun: bool,
    pub(super) open: Vec<Open>,
    /// The byte of each character whose number is a multiple of [`NOTED`]; nothing if bytes are characters.
    noted: Vec<usize>,
}

impl<'t> Source<'t> {
    fn new(text: &'t str) -> Self {
        let starts = || text.char_indices().step_by(NOTED).map(|(at, _)| at);
        Self {
            text,
            at: text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len(),
            last_end: 0,
            indents: true,
            question: false,
            has_begun: false,
            open: Vec::new(),
            noted: if text.is_ascii() {
                Vec::new()
            } else {
                starts().collect()
            },
        }
    }

    // ---- looking at the text

    pub(super) fn byte(&self, at: usize) -> u8 {
        count_work(1);
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Where the character of this number is.
    pub(super) fn place(&self, character: usize) -> usize {
        if self.noted.is_empty() {
            return character.min(self.text.len());
        }
        let from = self
            .noted
            .get(character / NOTED)
            .copied()
            .unwrap_or(self.text.len());
        let rest = self.text.get(from..).unwrap_or("");
        let further = rest.char_indices().nth(character % NOTED);
        further.map_or(self.text.len(), |(at, _)| from + at)
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'t str {
        // Of the rest of the text, callers look at a name or a line.
        if range.end < self.text.len() {
            count_work(range.len());
        }
        self.text.get(range).unwrap_or("")
    }

    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        count_work(length);
        at + length
    }

    /// Whether a blank, a line break, or the end of the text is at `at`.
    pub(super) fn is_gap(&self, at: usize) -> bool {
        matches!(self.byte(at), b' ' | b'\t' | b'\n' | b'\r' | 0)
    }

    pub(super) fn in_flow(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_flow)
    }

    fn key_is_next(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| !open.is_list && open.key_is_next)
    }

    // ---- events

    fn event(&mut self, (found, span): (Found<'_>, Span)) -> Outcome<Option<Event<'t>>> {
        Ok(Some(match found {
            Found::DocumentStart(_) => {
                if self.has_begun {
                    return Err(self.dropped(self.place(span.start.index())));
                }
                self.has_begun = true;
                return Ok(None);
            }
            // What follows may hold a tab.
            Found::DocumentEnd | Found::StreamEnd => {
                self.gap(false)?;
                while self.slice(self.at..self.at + 3) == "..." {
                    self.at += 3;
                    self.indents = false;
                    self.gap(false)?;
                }
                return Ok(None);
            }
            Found::Nothing | Found::StreamStart => return Ok(None),
            Found::Alias(_) => {
                self.gap(true)?;
                let range = self.at..self.name_end(b'*')?;
                let name = self.slice(range.start + 1..range.end);
                self.node(range.clone());
                Event::Alias { name, range }
            }
            Found::Scalar(text, style, anchor, tag) => {
                let properties = self.properties(anchor > 0, tag)?;
                self.scalar(text.into_owned(), style, properties, self.place(span.end.index()))?
            }
            Found::SequenceStart(anchor, tag) => {
                let properties = self.properties(anchor > 0, tag)?;
                let range = self.open_collection(true, b'[');
                Event::SequenceStart { properties, range }
            }
            Found::MappingStart(anchor, tag) => {
                let properties = self.properties(anchor > 0, tag)?;
                let range = self.open_collection(false, b'{');
                Event::MappingStart { properties, range }
            }
            Found::SequenceEnd | Found::MappingEnd => {
                if self.open.last().is_some_and(|open| open.has_brackets) {
                    self.gap(true)?;
                    self.last_end = self.at + 1;
                    self.at = self.last_end;
                    self.indents = false;
                }
                self.open.pop();
                self.passed_child(self.at);
                Event::End { at: self.last_end }
            }
        }))
    }

    /// Goes over what stands in front of the next node (or bracket): blanks, comments, and each indicator that the place
    /// allows, once.
    pub(super) fn gap(&mut self, indicators: bool) -> Outcome<()> {
        let in_flow = self.in_flow();
        let is_list = self.open.last().is_some_and(|open| open.is_list);
        let is_map = self.open.last().is_some_and(|open| !open.is_list);
        let key_is_next = self.key_is_next();
        let mut dash = indicators && is_list && !in_flow;
        let mut question = indicators && key_is_next;
        let mut colon = indicators && is_map && !key_is_next;
        let mut comma = indicators && in_flow && (is_list || key_is_next);
        let mut marker = self.last_end == 0 && self.open.is_empty();
        loop {
            let is_marker = marker
                && self.is_gap(self.at + 3)
                && self.slice(self.at..self.at + 3) == "---"
                && (self.at == 0 || self.slice(0..self.at).ends_with(['\n', '\r', '\u{feff}']));
            match self.byte(self.at) {
                b'\n' | b'\r' => self.indents = true,
                b' ' => {}
                b'\t' if in_flow || !self.indents => {}
                b'\t' => return Err(tab(self.at)),
                b'#' => {
                    self.at = self.line_end(self.at);
                    continue;
                }
                b'-' if is_marker => {
                    marker = false;
                    self.indents = false;
                    self.at += 2;
                    self.last_end = self.at + 1;
                }
                b'-' if dash && self.is_gap(self.at + 1) => {
                    dash = false;
                    self.indicator(true);
                }
                b'?' if question && self.is_gap(self.at + 1) => {
                    question = false;
                    self.question = true;
                    self.indicator(true);
                }
                b':' if colon && (in_flow || self.is_gap(self.at + 1)) => {
                    colon = false;
                    self.check_key()?;
                    let is_explicit = self.open.last().is_some_and(|open| open.is_explicit);
                    self.indicator(is_explicit);
                }
                b',' if comma => {
                    comma = false;
                    self.indicator(false);
                }
                _ => return Ok(()),
            }
            self.at += 1;
        }
    }

    fn indicator(&mut self, indents: bool) {
        self.indents = indents;
        self.last_end = self.at + 1;
    }

    /// Goes to the next text, as far as a place allows.
    pub(super) fn pass_gap(&mut self) -> Outcome<()> {
        self.gap(true)
    }

    /// A node was passed.
    fn node(&mut self, range: Range<usize>) {
        self.at = range.end;
        self.last_end = range.end;
        self.indents = false;
        self.passed_child(range.start);
    }

    /// A child of the innermost collection was passed, which began at `start`.
    fn passed_child(&mut self, start: usize) {
        let question = std::mem::take(&mut self.question);
        if let Some(open) = self.open.last_mut().filter(|open| !open.is_list) {
            if open.key_is_next {
                open.is_explicit = question;
                open.key_start = start;
            }
            open.key_is_next = !open.key_is_next;
        }
    }

    fn open_collection(&mut self, is_list: bool, bracket: u8) -> Range<usize> {
        let start = self.at;
        let has_brackets = self.byte(start) == bracket;
        if has_brackets {
            self.at += 1;
            self.last_end = self.at;
        }
        self.open.push(Open {
            start,
            is_list,
            is_flow: has_brackets || self.in_flow(),
            has_brackets,
            key_is_next: true,
            is_explicit: false,
            key_start: start,
        });
        start..self.at
    }

    /// The anchor and the tag in front of a node, in either order; the cursor then is at the node, if it is not absent.
    fn properties(
        &mut self,
        has_anchor: bool,
        tag: Option<Cow<'_, Tag>>,
    ) -> Outcome<Option<Box<Properties<'t>>>> {
        self.gap(true)?;
        if !has_anchor && tag.is_none() {
            return Ok(None);
        }
        let mut found = Properties {
            range: self.at..self.at,
            ..Properties::default()
        };
        for _ in 0..usize::from(has_anchor) + usize::from(tag.is_some()) {
            let start = self.at;
            self.at = if self.byte(start) == b'&' {
                let end = self.name_end(b'&')?;
                found.anchor = Some(self.slice(start + 1..end));
                end
            } else {
                self.tag_end()?
            };
            self.last_end = self.at;
            found.range.end = self.at;
            self.indents = false;
            self.gap(false)?;
        }
        found.tag = tag.map(|tag| format!("{}{}", tag.handle, tag.suffix));
        Ok(Some(Box::new(found)))
    }

    /// The end of the name behind the `&` or `*` here.
    pub(super) fn name_end(&self, sign: u8) -> Outcome<usize> {
        let name = self.slice(self.at + 1..self.text.len());
        let end = self.at + 1 + name.bytes().take_while(|byte| is_name_byte(*byte)).count();
        let ends = self.is_gap(end) || (self.in_flow() && b",]}".contains(&self.byte(end)));
        if end > self.at + 1 && ends {
            return Ok(end);
        }
        Err(self.bad_name(self.at, sign))
    }

    /// The end of the tag here. To Kubernetes' reader, brackets and commas are part of it.
    pub(super) fn tag_end(&self) -> Outcome<usize> {
        let rest = self.slice(self.at..self.text.len());
        let ends = [' ', '\t', '\n', '\r'];
        let end = self.at + rest.find(ends).unwrap_or(rest.len());
        let tag = self.slice(self.at..end);
        if (self.in_flow() && tag.contains([',', '[', ']', '{', '}'])) || tag.contains('#') || tag == "!<>" {
            return Err(self.bad_tag(self.at));
        }
        Ok(end)
    }

    fn scalar(
        &mut self,
        mut text: String,
        style: ScalarStyle,
        properties: Option<Box<Properties<'t>>>,
        span_end: usize,
    ) -> Outcome<Event<'t>> {
        let start = self.at;
        let plain = style == ScalarStyle::Plain;
        let range = match style {
            ScalarStyle::Plain if text.is_empty() => self.last_end..self.last_end,
            ScalarStyle::Plain => start..span_end,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => start..quoted_end(self.text, start),
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let block = self.slice(start..span_end).trim_end_matches([' ', '\n', '\r']);
                start..self.line_end(start + block.len())
            }
        };
        match style {
            ScalarStyle::Plain if self.in_flow() => self.check_plain_in_flow(range.clone())?,
            ScalarStyle::Plain => self.check_plain_lines(range.clone())?,
            ScalarStyle::DoubleQuoted => self.check_escapes(range.clone())?,
            ScalarStyle::Literal | ScalarStyle::Folded => {
                self.check_block(range.clone())?;
                if span_end == self.text.len() {
                    self.end_in_text(&mut text)?;
                }
            }
            ScalarStyle::SingleQuoted => {}
        }
        if range.is_empty() {
            self.passed_child(self.at);
        } else {
            self.node(range.clone());
        }
        Ok(Event::Scalar {
            text: text.into(),
            plain,
            properties,
            range,
        })
    }

    // ---- what the library takes, and Kubernetes' reader does not, or not for the same

    /// In brackets, the library lets a key of YAML 1.1 go on over lines, and be of any length.
    fn check_key(&self) -> Outcome<()> {
        let Some(open) = self.open.last().filter(|open| open.is_flow && !open.is_explicit) else {
            return Ok(());
        };
        let key = self.slice(open.key_start..self.at);
        if key.contains(['\n', '\r']) {
            return Err(self.key_of_lines(self.at));
        }
        if key.len() > LONGEST_SIMPLE_KEY && key.chars().count() > LONGEST_SIMPLE_KEY {
            return Err(long_key(open.key_start..self.at));
        }
        Ok(())
    }

    fn check_plain_in_flow(&self, range: Range<usize>) -> Outcome<()> {
        let text = self.slice(range.clone());
        let rest = self.slice(range.end..self.text.len());
        let follows = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let refuse = |at: usize, message: &'static str| {
            let help = format!("quote the text: {}", double_quoted(&self.word_at(range.start)));
            Err(Error::syntax(at..at + 1, message, help))
        };
        if let Some(found) = text.find('?') {
            return refuse(
                range.start + found,
                "inside of `[ ]` and `{ }`, `?` starts a key for Kubernetes' reader",
            );
        }
        match text.bytes().next() {
            Some(b':') => return refuse(range.start, "a key is missing before `:`"),
            Some(byte @ (b'|' | b'>')) => return Err(self.cannot_start(range.start, byte)),
            _ => {}
        }
        let mut next = follows.bytes();
        if next.next() == Some(b':') && next.next().is_some_and(|byte| b",[]{}?".contains(&byte)) {
            return refuse(
                self.text.len() - follows.len(),
                "Kubernetes' reader takes a `:` in front of a bracket or a comma for a part of the text",
            );
        }
        Ok(())
    }

    /// A tab indents no line of a text without quotes.
    fn check_plain_lines(&self, range: Range<usize>) -> Outcome<()> {
        let mut at = range.start;
        for line in self.slice(range.clone()).split_inclusive(['\n', '\r']) {
            let blanks = line.len() - line.trim_start().len();
            if let Some(found) = line.get(..blanks).and_then(|blanks| blanks.find('\t')) {
                return Err(tab(at + found));
            }
            at += line.len();
        }
        Ok(())
    }

    /// Only JSON allows `\/`.
    fn check_escapes(&self, range: Range<usize>) -> Outcome<()> {
        let slash = memchr::memmem::find(self.slice(range.clone()).as_bytes(), b"\\/");
        match slash.and_then(|_| self.bad_escape(range.start)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The block text that goes on to the end of the whole text has a line break less than the library says, if the last
    /// line has none.
    fn end_in_text(&self, text: &mut String) -> Outcome<()> {
        let last = self.text.rfind(['\n', '\r']).map_or(0, |found| found + 1);
        let line = self.slice(last..self.text.len());
        if line.trim().is_empty() && !line.is_empty() {
            return Err(Error::syntax(
                last..self.text.len(),
                "the text ends in a line of blanks, which readers take for a part of the block text or not",
                "remove the blanks, or end the line",
            ));
        }
        if !line.is_empty() && text.ends_with('\n') {
            text.pop();
        }
        Ok(())
    }

    /// Kubernetes' reader refuses a tab where it looks for the indentation, and wants at least one blank in front of each
    /// line.
    fn check_block(&self, range: Range<usize>) -> Outcome<()> {
        let block = self.slice(range.clone());
        let mut lines = block.split_inclusive(['\n', '\r']);
        let header = lines.next().unwrap_or("");
        let mut looks = !header.bytes().take(3).any(|byte| byte.is_ascii_digit());
        let mut at = range.start + header.len();
        for line in lines {
            let text = line.trim_start_matches(' ');
            let place = at + line.len() - text.len();
            if looks && text.starts_with('\t') {
                return Err(tab_in_block(place));
            }
            let is_empty = text.trim_end().is_empty();
            if self.open.is_empty() && !is_empty && place == at {
                return Err(Error::syntax(
                    at..at + line.trim_end().len(),
                    "the lines of a block text must be indented",
                    "indent them by two spaces",
                ));
            }
            looks &= is_empty;
            at += line.len();
            if !looks && !self.open.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

/// Directives, and the end of a document that has not begun, are nothing to the library.
fn check_first_line(text: &str) -> Outcome<()> {
    let said = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut at = text.len() - said.len();
    for line in said.split_inclusive(['\n', '\r']) {
        let said = line.trim();
        if line.starts_with('%') {
            return Err(directive(at..at + line.trim_end().len()));
        }
        let ends = line
            .strip_prefix("...")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']));
        if ends {
            return Err(Error::syntax(
                at..at + 3,
                "`...` ends a document that has not begun",
                "quote it if it is text, or remove it",
            ));
        }
        if !said.is_empty() && !said.starts_with('#') {
            break;
        }
        at += line.len();
    }
    Ok(())
}

pub(super) fn tab(at: usize) -> Box<Error> {
    Error::syntax(at..at + 1, "a tab cannot indent", "indent with spaces")
}

pub(super) fn tab_in_block(at: usize) -> Box<Error> {
    Error::syntax(
        at..at + 1,
        "a tab cannot indent a block scalar",
        "indent with spaces; quote text that starts with a tab",
    )
}

pub(super) fn directive(place: Range<usize>) -> Box<Error> {
    Error::syntax(
        place,
        "a line that starts with `%` is a directive, which Kubernetes' tools do not keep with its document",
        "remove the line, or quote the text if `%` is part of it",
    )
}

pub(super) fn key_of_lines(at: usize) -> Box<Error> {
    Error::syntax(
        at..at + 1,
        "a key and its `:` must be on one line",
        "write the key and `:` on one line",
    )
}

pub(super) fn long_key(place: Range<usize>) -> Box<Error> {
    Error::syntax(
        place,
        "a key ends at most 1,024 characters after its start",
        "write `? ` before a key this long, and `: ` in front of its value on the next line",
    )
}

impl Source<'_> {
    /// Text behind the document, at `place`.
    pub(super) fn dropped(&self, place: usize) -> Box<Error> {
        let between = self.slice(self.at..place);
        let has_marker = between.lines().any(|line| line.starts_with("..."));
        let (message, help) = if has_marker {
            (
                "Kubernetes silently drops text after `...`",
                "separate documents with `---`, or remove what follows",
            )
        } else {
            (
                "Kubernetes silently drops text after the value of the document",
                "indent it to match the value above, separate it with `---`, or remove it",
            )
        };
        Error::new(ErrorKind::Dropped, place..self.line_end(place), message, help)
    }

    fn too_much_at_once(&self) -> Box<Error> {
        Error::new(
            ErrorKind::Limit,
            self.at..self.at,
            "one text, or one list or mapping in brackets, has more than 2,097,152 characters from here on",
            "no Kubernetes object has as many: write a long list with `- `, or JSON in a file that is only JSON",
        )
    }
}
