//! JSON, as a stream of objects.
//!
//! Owns: the grammar of JSON with its own escapes (`\/`, surrogate pairs). Flows in: text. Flows out: the same
//! events as from YAML, so that one composer makes values from both. Must not know: duplicate keys, limits.

use std::borrow::Cow;
use std::ops::Range;

use kube_json::Value;

use super::character::{ByteSet, byte_set, find_in};
use super::error::{Error, ErrorKind, Outcome};
use super::event::{Event, Events};
use super::value::float_value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    FirstEntry,
    FirstKey,
    Colon,
    /// `,` or the closing bracket; the end when nothing is open.
    Next,
}

/// Reads the events of one JSON value.
#[derive(Debug)]
pub(super) struct JsonParser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    expect: Expect,
    /// The open brackets: where, and whether it is an object.
    open: Vec<(usize, bool)>,
    /// Whether more values may follow: they are left to the caller.
    one_of_many: bool,
}

impl<'t> JsonParser<'t> {
    /// A parser of the only value in `text`.
    pub(super) fn new(text: &'t str) -> Self {
        let pos = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self {
            text,
            bytes: text.as_bytes(),
            pos,
            expect: Expect::Value,
            open: Vec::new(),
            one_of_many: false,
        }
    }

    fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.at(self.pos), b' ' | b'\t' | b'\n' | b'\r') {
            self.pos += 1;
        }
    }

    fn here(&self) -> Range<usize> {
        let length = self
            .text
            .get(self.pos..)
            .and_then(|tail| tail.chars().next())
            .map_or(0, char::len_utf8);
        self.pos..self.pos + length
    }

    fn refuse<T>(&self, message: impl Into<Cow<'static, str>>) -> Outcome<T> {
        let message = message.into();
        let error = if self.pos >= self.bytes.len() {
            let message = format!("the JSON ends too early: {message}");
            Error::syntax(self.here(), message, "close what is open")
        } else {
            Error::syntax(self.here(), message, "correct the JSON")
        };
        Err(match self.open.last() {
            Some((start, _)) => error.with_related(*start..start + 1, "the bracket opens here"),
            None => error,
        })
    }

    fn value(&mut self) -> Outcome<Event<'t>> {
        let start = self.pos;
        match self.at(start) {
            b'{' => {
                self.pos += 1;
                self.open.push((start, true));
                self.expect = Expect::FirstKey;
                Ok(Event::MappingStart {
                    properties: None,
                    range: start..self.pos,
                })
            }
            b'[' => {
                self.pos += 1;
                self.open.push((start, false));
                self.expect = Expect::FirstEntry;
                Ok(Event::SequenceStart {
                    properties: None,
                    range: start..self.pos,
                })
            }
            b'"' => {
                self.expect = Expect::Next;
                self.string()
            }
            b'-' | b'0'..=b'9' => {
                self.expect = Expect::Next;
                let value = self.number()?;
                Ok(Event::Literal {
                    value,
                    range: start..self.pos,
                })
            }
            _ => {
                let literals = [
                    ("null", Value::Null),
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                ];
                for (word, value) in literals {
                    if self
                        .bytes
                        .get(start..)
                        .is_some_and(|tail| tail.starts_with(word.as_bytes()))
                    {
                        self.pos += word.len();
                        self.expect = Expect::Next;
                        return Ok(Event::Literal {
                            value,
                            range: start..self.pos,
                        });
                    }
                }
                self.refuse("a value is expected here")
            }
        }
    }

    fn key(&mut self) -> Outcome<Event<'t>> {
        if self.at(self.pos) != b'"' {
            return self.refuse("a key in double quotes is expected here");
        }
        self.expect = Expect::Colon;
        self.string()
    }

    fn close(&mut self) -> Event<'t> {
        self.pos += 1;
        self.open.pop();
        self.expect = Expect::Next;
        Event::End { at: self.pos }
    }

    fn number(&mut self) -> Outcome<Value> {
        let start = self.pos;
        let digits = |from: usize| {
            self.bytes
                .iter()
                .skip(from)
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let mut at = start + usize::from(self.at(start) == b'-');
        let whole = digits(at);
        let leading_zero = self.at(at) == b'0' && whole > 1;
        at += whole;
        let mut is_integer = true;
        let mut complete = whole > 0 && !leading_zero;
        if self.at(at) == b'.' {
            is_integer = false;
            let fraction = digits(at + 1);
            complete &= fraction > 0;
            at += 1 + fraction;
        }
        if matches!(self.at(at), b'e' | b'E') {
            is_integer = false;
            at += 1;
            at += usize::from(matches!(self.at(at), b'+' | b'-'));
            let exponent = digits(at);
            complete &= exponent > 0;
            at += exponent;
        }
        let text = self.text.get(start..at).unwrap_or("");
        let range = start..at.max(start + 1);
        if !complete {
            return Err(Error::syntax(
                range,
                format!("`{text}` is not a number in JSON"),
                "correct the number",
            ));
        }
        self.pos = at;
        if is_integer {
            if let Ok(integer) = text.parse::<i64>() {
                return Ok(Value::Number(integer.into()));
            }
            if let Ok(integer) = text.parse::<u64>() {
                return Ok(Value::Number(integer.into()));
            }
        }
        text.parse().ok().and_then(float_value).ok_or_else(|| {
            Error::new(
                ErrorKind::Value,
                range,
                format!("the number `{text}` is too large"),
                format!("quote it: \"{text}\""),
            )
        })
    }

    fn string(&mut self) -> Outcome<Event<'t>> {
        #[expect(clippy::indexing_slicing, reason = "evaluated when the crate is compiled")]
        const ENDS: ByteSet = {
            let mut set = byte_set(b"\"\\");
            let mut control = 0;
            while control < 0x20 {
                set[control] = true;
                control += 1;
            }
            set
        };
        let start = self.pos;
        self.pos += 1;
        let mut piece = self.pos;
        let mut owned: Option<String> = None;
        loop {
            self.pos = find_in(self.bytes, self.pos, &ENDS);
            match self.at(self.pos) {
                b'"' => {
                    let rest = self.text.get(piece..self.pos).unwrap_or("");
                    let text = match owned {
                        None => Cow::Borrowed(rest),
                        Some(text) => Cow::Owned(text + rest),
                    };
                    self.pos += 1;
                    return Ok(Event::Scalar {
                        text,
                        plain: false,
                        properties: None,
                        range: start..self.pos,
                    });
                }
                b'\\' => {
                    let text = owned.get_or_insert_default();
                    text.push_str(self.text.get(piece..self.pos).unwrap_or(""));
                    let (character, length) = self.escape()?;
                    text.push(character);
                    self.pos += length;
                    piece = self.pos;
                }
                _ if self.pos >= self.bytes.len() => {
                    return Err(Error::syntax(
                        start..start + 1,
                        "the text that `\"` opens is never closed",
                        "close it with `\"`",
                    ));
                }
                _ => {
                    return self.refuse(
                        "a control character must be escaped in JSON: write `\\n`, `\\t` or `\\u00NN`",
                    );
                }
            }
        }
    }

    /// The character that the escape at `pos` stands for, and the escape's length.
    fn escape(&self) -> Outcome<(char, usize)> {
        let simple = match self.at(self.pos + 1) {
            letter @ (b'"' | b'\\' | b'/') => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return self.refuse("this is not an escape in JSON"),
        };
        Ok((simple, 2))
    }

    /// Half a surrogate pair alone becomes U+FFFD, as in Go.
    fn unicode_escape(&self) -> Outcome<(char, usize)> {
        let unit = |at: usize| {
            let digits = self.bytes.get(at + 2..at + 6)?;
            let escape = self.at(at) == b'\\' && self.at(at + 1) == b'u';
            digits
                .iter()
                .filter(|_| escape)
                .try_fold((0u32, 0), |(number, seen), digit| {
                    Some((number * 16 + char::from(*digit).to_digit(16)?, seen + 1))
                })
        };
        let Some((first, 4)) = unit(self.pos) else {
            return self.refuse("`\\u` needs four hexadecimal digits");
        };
        if let Some(character) = char::from_u32(first) {
            return Ok((character, 6));
        }
        if let Some((second @ 0xDC00..=0xDFFF, 4)) = unit(self.pos + 6)
            && let Some(character) = char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        {
            return Ok((character, 12));
        }
        Ok(('\u{fffd}', 6))
    }
}

impl<'t> Events<'t> for JsonParser<'t> {
    fn next(&mut self) -> Outcome<Event<'t>> {
        loop {
            if self.expect == Expect::Next && self.open.is_empty() && self.one_of_many {
                return Ok(Event::DocumentEnd);
            }
            self.skip_blanks();
            let byte = self.at(self.pos);
            match (self.expect, self.open.last()) {
                (Expect::FirstEntry, _) if byte == b']' => return Ok(self.close()),
                (Expect::FirstKey, _) if byte == b'}' => return Ok(self.close()),
                (Expect::FirstEntry | Expect::Value, _) => return self.value(),
                (Expect::FirstKey, _) => return self.key(),
                (Expect::Colon, _) => {
                    if byte != b':' {
                        return self.refuse("`:` is expected here");
                    }
                    self.pos += 1;
                    self.expect = Expect::Value;
                }
                (Expect::Next, Some((_, true))) if byte == b'}' => return Ok(self.close()),
                (Expect::Next, Some((_, false))) if byte == b']' => return Ok(self.close()),
                (Expect::Next, Some((_, is_object))) => {
                    let is_object = *is_object;
                    if byte != b',' {
                        let bracket = if is_object { '}' } else { ']' };
                        return self.refuse(format!("`,` or `{bracket}` is expected here"));
                    }
                    self.pos += 1;
                    if is_object {
                        self.skip_blanks();
                        return self.key();
                    }
                    self.expect = Expect::Value;
                }
                (Expect::Next, None) => {
                    if self.pos < self.bytes.len() {
                        return Err(Error::new(
                            ErrorKind::Dropped,
                            self.pos..self.bytes.len(),
                            "text follows the end of the JSON value",
                            "remove it",
                        ));
                    }
                    return Ok(Event::DocumentEnd);
                }
            }
        }
    }
}

/// The objects at the start of a text, one after the other.
#[derive(Debug)]
pub(super) struct Objects {
    /// Where they are.
    pub(super) ranges: Vec<Range<usize>>,
    /// Why they do not reach to the end of the text.
    pub(super) stopped: Option<Box<Error>>,
}

/// The objects of a stream of JSON values, up to the first thing that is none: [`ErrorKind::Syntax`] when it is not
/// even JSON.
pub(super) fn objects(text: &str) -> Objects {
    let mut parser = JsonParser::new(text);
    parser.one_of_many = true;
    let mut ranges = Vec::new();
    loop {
        match parser.object() {
            Ok(None) => {
                return Objects {
                    ranges,
                    stopped: None,
                };
            }
            Ok(Some(range)) => ranges.push(range),
            Err(error) => {
                return Objects {
                    ranges,
                    stopped: Some(error),
                };
            }
        }
    }
}

impl JsonParser<'_> {
    /// Where the next value stands, which must be an object; nothing at the end of the text.
    fn object(&mut self) -> Outcome<Option<Range<usize>>> {
        self.skip_blanks();
        if self.pos >= self.bytes.len() {
            return Ok(None);
        }
        let start = self.here();
        self.expect = Expect::Value;
        while self.next()? != Event::DocumentEnd {}
        let (message, help) = match self.at(start.start) {
            b'{' => return Ok(Some(start.start..self.pos)),
            b'[' => (
                "a JSON array is not a Kubernetes object",
                "write one document per object, or use `items` of a `kind: List`",
            ),
            _ => (
                "the top level of a JSON file can contain only objects",
                "start each object with `{`",
            ),
        };
        Err(Error::new(ErrorKind::Stream, start, message, help))
    }
}
