//! JSON values, packed: what is equal stands there once, and what is not asked for is not read.
//!
//! Owns: reading the form. Flows in: bytes. Flows out: [`Packed`] values. Must not know: what they say.
//!
//! A value is a tag and its parts. The parts of a list or a mapping are the offsets of values that stand before it, so
//! that nothing leads in a circle; the keys of a mapping are a list of texts of their own, which mappings of one shape
//! share. The last four bytes are the offset of the root.

use serde_json::{Map, Value};

/// Values that are nested deeper are not read.
const DEPTH_MAX: usize = 256;

pub(super) const NULL: u8 = 0;
pub(super) const FALSE: u8 = 1;
pub(super) const TRUE: u8 = 2;
/// A number, as JSON writes it.
pub(super) const NUMBER: u8 = 3;
pub(super) const TEXT: u8 = 4;
pub(super) const LIST: u8 = 5;
/// The offset of a list of keys, then as many offsets of values.
pub(super) const MAPPING: u8 = 6;

/// A value in packed bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Packed<'b> {
    /// The outermost value.
    pub(super) fn root(bytes: &'b [u8]) -> Option<Self> {
        let (_, last) = bytes.split_last_chunk::<4>()?;
        let at = usize::try_from(u32::from_le_bytes(*last)).ok()?;
        Some(Self { bytes, at })
    }

    /// The text that this is.
    pub(super) fn text(self) -> Option<&'b str> {
        match self.cursor()? {
            (TEXT, cursor) => std::str::from_utf8(cursor.sized()?).ok(),
            _ => None,
        }
    }

    /// The items of the list that this is; none of anything else.
    pub(super) fn items(self) -> impl Iterator<Item = Packed<'b>> {
        let list = match self.cursor() {
            Some((LIST, cursor)) => cursor.counted(),
            _ => None,
        };
        let (count, mut cursor) = list.unwrap_or((0, Cursor { bytes: &[] }));
        (0..count).map_while(move |_| self.part(&mut cursor))
    }

    /// What stands under `key` of the mapping that this is.
    pub(super) fn get(self, key: &str) -> Option<Packed<'b>> {
        self.fields()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    }

    /// All of it, as a value of its own.
    pub(super) fn value(self) -> Option<Value> {
        self.value_above(DEPTH_MAX)
    }

    fn value_above(self, depth: usize) -> Option<Value> {
        let below = depth.checked_sub(1)?;
        Some(match self.cursor()? {
            (NULL, _) => Value::Null,
            (FALSE, _) => Value::Bool(false),
            (TRUE, _) => Value::Bool(true),
            (NUMBER, cursor) => serde_json::from_slice(cursor.sized()?).ok()?,
            (TEXT, _) => Value::String(self.text()?.to_owned()),
            (LIST, _) => Value::Array(
                self.items()
                    .map(|item| item.value_above(below))
                    .collect::<Option<_>>()?,
            ),
            (MAPPING, _) => {
                let field = |(name, value): (&str, Self)| Some((name.to_owned(), value.value_above(below)?));
                Value::Object(self.fields().map(field).collect::<Option<Map<_, _>>>()?)
            }
            _ => return None,
        })
    }

    /// The fields of the mapping that this is, in the order of their names; none of anything else.
    fn fields(self) -> impl Iterator<Item = (&'b str, Packed<'b>)> {
        let mapping = match self.cursor() {
            Some((MAPPING, mut cursor)) => self.part(&mut cursor).map(|keys| (keys, cursor)),
            _ => None,
        };
        mapping.into_iter().flat_map(move |(keys, mut cursor)| {
            keys.items()
                .map_while(move |key| Some((key.text()?, self.part(&mut cursor)?)))
        })
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

/// What is still to be read.
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
