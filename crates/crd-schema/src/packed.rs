//! Packed schemas: equal values are stored once, and only requested values are read.
//!
//! Owns: the format, reading and writing it. Flows in: JSON values, bytes. Flows out: bytes, [`Packed`] values. Must
//! not know: their meaning.
//!
//! A value is a tag and its parts. The parts of a list or a mapping are the offsets of earlier values, so that there
//! are no cycles; the keys of a mapping are a list of texts of their own, which mappings of one shape
//! share. The last four bytes are the offset of the root.

use std::collections::HashMap;

use kube_json::{Map, Text, Value};

/// Values that are nested deeper are not read.
const DEPTH_MAX: usize = 256;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
/// A number, as JSON writes it.
const NUMBER: u8 = 3;
const TEXT: u8 = 4;
const LIST: u8 = 5;
/// The offset of a list of keys, then as many offsets of values.
const MAPPING: u8 = 6;

/// A value in bytes that [`Packed::pack`] made. Of other bytes it gives something, or nothing.
#[derive(Clone, Copy)]
pub struct Packed<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// Where it is: all the bytes would say nothing.
impl std::fmt::Debug for Packed<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Packed({})", self.at)
    }
}

impl<'b> Packed<'b> {
    /// Packs a value: the bytes that [`Packed::root`] reads.
    #[must_use]
    pub fn pack(value: &Value) -> Vec<u8> {
        let mut packer = Packer::default();
        let root = packer.value(value);
        // Four gigabytes of facts would be no catalog: their last offset is none.
        let root = u32::try_from(root).unwrap_or(u32::MAX);
        packer.bytes.extend(root.to_le_bytes());
        packer.bytes
    }

    /// The outermost value.
    #[must_use]
    pub fn root(bytes: &'b [u8]) -> Option<Self> {
        let (_, last) = bytes.split_last_chunk::<4>()?;
        let at = usize::try_from(u32::from_le_bytes(*last)).ok()?;
        Some(Self { bytes, at })
    }

    /// The text that this is.
    #[must_use]
    pub fn text(self) -> Option<&'b str> {
        std::str::from_utf8(self.bytes_of_text()?).ok()
    }

    fn bytes_of_text(self) -> Option<&'b [u8]> {
        match self.cursor()? {
            (TEXT, cursor) => cursor.sized(),
            _ => None,
        }
    }

    /// The items of the list that this is; none of anything else.
    pub fn items(self) -> impl Iterator<Item = Packed<'b>> {
        let list = match self.cursor() {
            Some((LIST, cursor)) => cursor.counted(),
            _ => None,
        };
        let (count, mut cursor) = list.unwrap_or((0, Cursor { bytes: &[] }));
        (0..count).map_while(move |_| self.part(&mut cursor))
    }

    /// The value under `key` of this mapping.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Packed<'b>> {
        let (keys, mut cursor) = self.keys()?;
        for name in keys.items() {
            let value = self.part(&mut cursor)?;
            if name.bytes_of_text() == Some(key.as_bytes()) {
                return Some(value);
            }
        }
        None
    }

    /// All of it, as a value of its own.
    #[must_use]
    pub fn value(self) -> Option<Value> {
        self.value_above(DEPTH_MAX)
    }

    fn value_above(self, depth: usize) -> Option<Value> {
        let below = depth.checked_sub(1)?;
        Some(match self.cursor()? {
            (NULL, _) => Value::Null,
            (FALSE, _) => Value::Bool(false),
            (TRUE, _) => Value::Bool(true),
            (NUMBER, cursor) => serde_json::from_slice(cursor.sized()?).ok()?,
            (TEXT, _) => Value::from(self.text()?),
            (LIST, _) => Value::Array(
                self.items()
                    .map(|item| item.value_above(below))
                    .collect::<Option<_>>()?,
            ),
            (MAPPING, _) => {
                let field = |(name, value): (&str, Self)| Some((Text::from(name), value.value_above(below)?));
                Value::Object(self.fields().map(field).collect::<Option<Map>>()?)
            }
            _ => return None,
        })
    }

    /// The fields of the mapping that this is, in the order of their names; none of anything else.
    fn fields(self) -> impl Iterator<Item = (&'b str, Packed<'b>)> {
        self.keys().into_iter().flat_map(move |(keys, mut cursor)| {
            keys.items()
                .map_while(move |key| Some((key.text()?, self.part(&mut cursor)?)))
        })
    }

    /// The list of the keys of the mapping that this is, and where its values follow.
    fn keys(self) -> Option<(Self, Cursor<'b>)> {
        match self.cursor()? {
            (MAPPING, mut cursor) => Some((self.part(&mut cursor)?, cursor)),
            _ => None,
        }
    }

    /// The value whose offset comes next.
    fn part(self, cursor: &mut Cursor<'b>) -> Option<Self> {
        let at = cursor.number()?;
        (at < self.at).then_some(Self { at, ..self })
    }

    fn cursor(self) -> Option<(u8, Cursor<'b>)> {
        let (tag, bytes) = self.bytes.get(self.at..)?.split_first()?;
        Some((*tag, Cursor { bytes }))
    }
}

/// The bytes that are still to be read.
#[derive(Clone, Copy)]
struct Cursor<'b> {
    bytes: &'b [u8],
}

impl<'b> Cursor<'b> {
    /// Seven bits a byte, the low ones first; the eighth says that more follow.
    fn number(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        for shift in (0..usize::BITS).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn counted(mut self) -> Option<(usize, Self)> {
        let count = self.number()?;
        Some((count, self))
    }

    fn sized(self) -> Option<&'b [u8]> {
        let (size, rest) = self.counted()?;
        rest.bytes.get(..size)
    }
}

#[derive(Default)]
struct Packer {
    bytes: Vec<u8>,
    /// Where each value begins that is there already, by its bytes.
    known: HashMap<Vec<u8>, usize>,
}

impl Packer {
    /// Where the value begins.
    fn value(&mut self, value: &Value) -> usize {
        let mut packed = Vec::new();
        match value {
            Value::Null => packed.push(NULL),
            Value::Bool(false) => packed.push(FALSE),
            Value::Bool(true) => packed.push(TRUE),
            Value::Number(number) => sized(&mut packed, NUMBER, &number.to_string()),
            Value::String(text) => sized(&mut packed, TEXT, text),
            Value::Array(items) => {
                let items: Vec<usize> = items.iter().map(|item| self.value(item)).collect();
                packed.push(LIST);
                number(&mut packed, items.len());
                for item in items {
                    number(&mut packed, item);
                }
            }
            Value::Object(fields) => {
                let keys = fields.keys().map(|key| Value::String(key.clone())).collect();
                let keys = self.value(&Value::Array(keys));
                let values: Vec<usize> = fields.values().map(|value| self.value(value)).collect();
                packed.push(MAPPING);
                number(&mut packed, keys);
                for value in values {
                    number(&mut packed, value);
                }
            }
        }
        if let Some(at) = self.known.get(&packed) {
            return *at;
        }
        let at = self.bytes.len();
        self.bytes.extend(&packed);
        self.known.insert(packed, at);
        at
    }
}

fn sized(packed: &mut Vec<u8>, tag: u8, text: &str) {
    packed.push(tag);
    number(packed, text.len());
    packed.extend(text.as_bytes());
}

fn number(packed: &mut Vec<u8>, mut number: usize) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            packed.push(low & 0x7f);
            return;
        }
        packed.push(low | 0x80);
    }
}
