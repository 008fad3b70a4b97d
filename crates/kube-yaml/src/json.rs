//! JSON, as a stream of objects. It makes the same events as the reader of YAML, so that one composer makes values of
//! both; the composer also finds duplicate keys.
//!
//! `serde_json` knows the grammar, and what escapes stand for. It does not say where it is, so a second cursor goes over
//! the text beside it: from one key or value to the next there are only blanks, commas, and colons.

use std::fmt;
use std::ops::Range;

use kube_json::Value;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::character::character_end;
use super::compose::Event;
use super::error::{Error, ErrorKind, Outcome};
use super::scalar::float_value;
use super::source::quoted_end;

/// Gives the events of the only value in `text` to `take`.
///
/// # Errors
/// The first fault of the text, or of what takes the events.
pub(super) fn read_events<'t>(text: &'t str, take: &mut dyn FnMut(Event<'t>) -> Outcome<()>) -> Outcome<()> {
    let start = text.len() - without_mark(text).len();
    let mut json = serde_json::Deserializer::from_str(without_mark(text));
    let mut feed = Feed {
        text,
        at: start,
        take,
        refused: None,
    };
    let read = feed.deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| {
        let refused = feed.refused.take();
        refused.unwrap_or_else(|| feed.fault(&error, start))
    })
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

struct Feed<'f, 't> {
    text: &'t str,
    /// Behind the last key, value, or bracket.
    at: usize,
    take: &'f mut dyn FnMut(Event<'t>) -> Outcome<()>,
    /// Why an event was not taken.
    refused: Option<Box<Error>>,
}

impl<'t> Feed<'_, 't> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Goes to the end of the next key, value, or bracket, which is there, and says where it is.
    fn pass(&mut self) -> Range<usize> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        let start = self.at + rest.iter().take_while(|byte| b" \t\n\r,:".contains(byte)).count();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        self.at = match self.byte(start) {
            b'"' => quoted_end(self.text, start),
            byte if is_word(&byte) => {
                let word = self.text.as_bytes().get(start..).unwrap_or(&[]);
                start + word.iter().take_while(|byte| is_word(byte)).count()
            }
            _ => start + 1,
        };
        start..self.at
    }

    fn give<E: serde::de::Error>(&mut self, event: Event<'t>) -> Result<(), E> {
        (self.take)(event).map_err(|error| {
            self.refused = Some(error);
            E::custom("refused")
        })
    }

    fn literal<E: serde::de::Error>(&mut self, value: Value) -> Result<(), E> {
        let range = self.pass();
        self.give(Event::Literal { value, range })
    }

    /// The number as it is in the text: of what `serde_json` makes of it, `-0` has lost its kind.
    fn number<E: serde::de::Error>(&mut self) -> Result<(), E> {
        let range = self.pass();
        let digits = self.text.get(range.clone()).unwrap_or("");
        let integer = digits.parse::<i64>().map(Value::from);
        let value = integer.or_else(|_| digits.parse::<u64>().map(Value::from));
        let value = value.ok().or_else(|| digits.parse().ok().and_then(float_value));
        match value {
            Some(value) => self.give(Event::Literal { value, range }),
            None => Err(E::custom("number out of range")),
        }
    }

    fn close<E: serde::de::Error>(&mut self) -> Result<(), E> {
        let at = self.pass().end;
        self.give(Event::End { at })
    }

    fn fault(&mut self, error: &serde_json::Error, start: usize) -> Box<Error> {
        let words = words(error);
        if words == "number out of range" {
            let range = self.pass();
            let number = self.text.get(range.clone()).unwrap_or("");
            let (message, help) = (
                format!("the number `{number}` is too large"),
                format!("quote it: \"{number}\""),
            );
            return Error::new(ErrorKind::Value, range, message, help);
        }
        fault(error, self.text, start)
    }
}

/// What `serde_json` says, without the place.
fn words(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let end = words.rfind(" at line ").unwrap_or(words.len());
    words.get(..end).unwrap_or("").to_owned()
}

/// What is wrong with the JSON that begins at `start`.
fn fault(error: &serde_json::Error, text: &str, start: usize) -> Box<Error> {
    let json = text.get(start..).unwrap_or("");
    let mut lines = json.split_inclusive('\n').map(str::len);
    let line: usize = lines.by_ref().take(error.line().saturating_sub(1)).sum();
    let mut at = (start + line + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let place = at..character_end(text, at);
    let words = words(error);
    if words == "recursion limit exceeded" {
        return Error::new(
            ErrorKind::Limit,
            place,
            "more than 127 levels of lists and mappings are nested here",
            "no Kubernetes object is that deep: look for an extra bracket",
        );
    }
    if matches!(
        &*words,
        "lone leading surrogate in hex escape" | "unexpected end of hex escape"
    ) {
        return Error::syntax(
            place,
            "half of a surrogate pair is not a character",
            "write the character itself",
        );
    }
    if error.classify() == Category::Eof {
        let open = words.strip_prefix("EOF while parsing ").unwrap_or("a value");
        let message = format!("the JSON ends too early, inside of {open}");
        return Error::syntax(text.len()..text.len(), message, "close what is open");
    }
    Error::syntax(place, format!("this is not JSON: {words}"), "correct the JSON")
}

impl<'t> DeserializeSeed<'t> for &mut Feed<'_, 't> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'t>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for &mut Feed<'_, 't> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.literal(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.literal(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        self.number()
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        self.number()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        self.number()
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'t str) -> Result<(), E> {
        let range = self.pass();
        self.give(Event::string(text.into(), range))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        let range = self.pass();
        self.give(Event::string(text.to_owned().into(), range))
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut entries: A) -> Result<(), A::Error> {
        let range = self.pass();
        let properties = None;
        self.give(Event::SequenceStart { properties, range })?;
        while entries.next_element_seed(&mut *self)?.is_some() {}
        self.close()
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<(), A::Error> {
        let range = self.pass();
        let properties = None;
        self.give(Event::MappingStart { properties, range })?;
        while members.next_key_seed(&mut *self)?.is_some() {
            members.next_value_seed(&mut *self)?;
        }
        self.close()
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
    let json = without_mark(text);
    let start = text.len() - json.len();
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<IgnoredAny>();
    let mut ranges = Vec::new();
    let mut end = start;
    let stopped = loop {
        let gap = text.get(end..).unwrap_or("");
        let begin = end + gap.len() - gap.trim_start_matches([' ', '\t', '\n', '\r']).len();
        match values.next() {
            None => break None,
            Some(Err(error)) => break Some(fault(&error, text, start)),
            Some(Ok(IgnoredAny)) => end = start + values.byte_offset(),
        }
        let (message, help) = match text.as_bytes().get(begin) {
            Some(b'{') => {
                ranges.push(begin..end);
                continue;
            }
            Some(b'[') => (
                "a JSON array is not a Kubernetes object",
                "write one document per object, or use `items` of a `kind: List`",
            ),
            _ => (
                "the top level of a JSON file can contain only objects",
                "start each object with `{`",
            ),
        };
        break Some(Error::new(ErrorKind::Stream, begin..begin + 1, message, help));
    };
    Objects { ranges, stopped }
}
