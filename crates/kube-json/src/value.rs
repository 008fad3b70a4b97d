//! One value of JSON, and the ways to its parts.
//!
//! Owns: the six kinds, and steps by name, position, and JSON pointer (RFC 6901). Flows in: parts. Flows out: references
//! to parts. Must not know: how values are read and written.

use std::ops::{Index, IndexMut};

use crate::{Map, Number, Text};

/// One value of JSON, in 24 bytes and what is below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(Text),
    /// A list.
    Array(Vec<Value>),
    /// A mapping from names to values.
    Object(Map),
}

/// What all absent members are.
static NULL: Value = Value::Null;

impl Value {
    /// Whether this is `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is a boolean.
    #[must_use]
    pub const fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Whether this is a number.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether this is a text.
    #[must_use]
    pub const fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether this is a list.
    #[must_use]
    pub const fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether this is a mapping.
    #[must_use]
    pub const fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether this is an integer of 64 bits with a sign.
    #[must_use]
    pub fn is_i64(&self) -> bool {
        self.as_i64().is_some()
    }

    /// Whether this is an integer of 64 bits without a sign.
    #[must_use]
    pub fn is_u64(&self) -> bool {
        self.as_u64().is_some()
    }

    /// Whether this is a float.
    #[must_use]
    pub fn is_f64(&self) -> bool {
        self.as_number().is_some_and(Number::is_f64)
    }

    /// The boolean, if this is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    /// The number, if this is one.
    #[must_use]
    pub const fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The integer, if this is one of 64 bits with a sign.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The integer, if this is one of 64 bits without a sign.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number as a float, if this is a number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The text of a string, to be shared.
    #[must_use]
    pub const fn as_text(&self) -> Option<&Text> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The text, if this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The list, if this is one.
    #[must_use]
    pub const fn as_array(&self) -> Option<&Vec<Self>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The list, if this is one, to change it.
    #[must_use]
    pub const fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The mapping, if this is one.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The mapping, if this is one, to change it.
    #[must_use]
    pub const fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The member of this name, or the item at this position.
    #[must_use]
    pub fn get(&self, step: impl Step) -> Option<&Self> {
        step.of(self)
    }

    /// The member of this name, or the item at this position, to change it.
    #[must_use]
    pub fn get_mut(&mut self, step: impl Step) -> Option<&mut Self> {
        step.of_mut(self)
    }

    /// The value at a JSON pointer; the whole one at `""`.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Self::Object(map) => match unescaped(step) {
                None => map.get(step),
                Some(name) => map.get(&name),
            },
            Self::Array(items) => items.get(index(step)?),
            _ => None,
        })
    }

    /// The value at a JSON pointer, to change it.
    #[must_use]
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Self::Object(map) => match unescaped(step) {
                None => map.get_mut(step),
                Some(name) => map.get_mut(&name),
            },
            Self::Array(items) => items.get_mut(index(step)?),
            _ => None,
        })
    }

    /// Takes the value and leaves `null`.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// The steps of a pointer, still escaped; `None` if it is none.
fn steps(pointer: &str) -> Option<impl Iterator<Item = &str>> {
    (pointer.is_empty() || pointer.starts_with('/')).then(|| pointer.split('/').skip(1))
}

/// The name that a step stands for, where it is another text.
fn unescaped(step: &str) -> Option<String> {
    step.contains('~')
        .then(|| step.replace("~1", "/").replace("~0", "~"))
}

/// The position that a step stands for: digits without a sign and without leading zeros.
fn index(step: &str) -> Option<usize> {
    let is_canonical = !step.starts_with('+') && (step == "0" || !step.starts_with('0'));
    step.parse().ok().filter(|_| is_canonical)
}

/// A step from a value to a part of it: a name, or a position.
pub trait Step {
    /// The part.
    fn of(self, value: &Value) -> Option<&Value>;
    /// The part, to change it.
    fn of_mut(self, value: &mut Value) -> Option<&mut Value>;
}

impl Step for &str {
    #[inline]
    fn of(self, value: &Value) -> Option<&Value> {
        value.as_object()?.get(self)
    }

    fn of_mut(self, value: &mut Value) -> Option<&mut Value> {
        value.as_object_mut()?.get_mut(self)
    }
}

impl<T: AsRef<str>> Step for &T {
    fn of(self, value: &Value) -> Option<&Value> {
        self.as_ref().of(value)
    }

    fn of_mut(self, value: &mut Value) -> Option<&mut Value> {
        self.as_ref().of_mut(value)
    }
}

impl Step for usize {
    fn of(self, value: &Value) -> Option<&Value> {
        value.as_array()?.get(self)
    }

    fn of_mut(self, value: &mut Value) -> Option<&mut Value> {
        value.as_array_mut()?.get_mut(self)
    }
}

/// The part; `null` where there is none.
impl<S: Step> Index<S> for Value {
    type Output = Self;

    fn index(&self, step: S) -> &Self {
        step.of(self).unwrap_or(&NULL)
    }
}

/// The value of a name; `null` where there is none.
impl Index<&str> for Map {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&NULL)
    }
}

/// The member, which becomes `null` first where there is none, in a mapping that replaces `null`.
///
/// # Panics
/// If the value is neither a mapping nor `null`. For values that the program makes.
impl IndexMut<&str> for Value {
    fn index_mut(&mut self, name: &str) -> &mut Self {
        if self.is_null() {
            *self = Self::Object(Map::new());
        }
        if let Self::Object(map) = self {
            map.insert_if_absent(name, || Self::Null);
        }
        match self.get_mut(name) {
            Some(value) => value,
            #[expect(
                clippy::panic,
                reason = "`IndexMut` has no other answer; production code uses `get_mut`"
            )]
            None => panic!("`{name}` of a value that is not a mapping"),
        }
    }
}

/// The item.
///
/// # Panics
/// If the value is not a list, or the list is shorter. For values that the program makes.
impl IndexMut<usize> for Value {
    fn index_mut(&mut self, position: usize) -> &mut Self {
        match self {
            #[expect(clippy::indexing_slicing, reason = "for values that the program makes")]
            Self::Array(items) => &mut items[position],
            #[expect(
                clippy::panic,
                reason = "`IndexMut` has no other answer; production code uses `get_mut`"
            )]
            _ => panic!("item {position} of a value that is not a list"),
        }
    }
}
