//! One value of JSON, the members of an object, and the ways to their parts: by name, by position, and by JSON pointer
//! (RFC 6901).
//!
//! The members of an object are one list, sorted by name, which clones share until one of them is changed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Index, IndexMut};

use ecow::EcoVec;

use crate::{Number, Text};

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
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is `null`, or a text, a list, or a mapping with nothing in it. An API server may drop such a field.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::String(text) => text.is_empty(),
            Self::Array(items) => items.is_empty(),
            Self::Object(map) => map.is_empty(),
            Self::Bool(_) | Self::Number(_) => false,
        }
    }

    /// The value without the members that are null, as an API server drops those of fields that are not nullable.
    pub fn without_nulls(&self) -> Cow<'_, Self> {
        if self.has_null_member() {
            Cow::Owned(self.pruned())
        } else {
            Cow::Borrowed(self)
        }
    }

    fn has_null_member(&self) -> bool {
        match self {
            Self::Object(map) => map
                .values()
                .any(|value| value.is_null() || value.has_null_member()),
            Self::Array(items) => items.iter().any(Self::has_null_member),
            _ => false,
        }
    }

    fn pruned(&self) -> Self {
        match self {
            Self::Object(map) => map
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), value.pruned()))
                .collect(),
            Self::Array(items) => items.iter().map(Self::pruned).collect(),
            other => other.clone(),
        }
    }

    /// Whether this is a boolean.
    pub const fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Whether this is a number.
    pub const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether this is a text.
    pub const fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether this is a list.
    pub const fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether this is a mapping.
    pub const fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The boolean, if this is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub const fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The integer, if this is one of 64 bits with a sign.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The integer, if this is one of 64 bits without a sign.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number as a float, if this is a number.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The text of a string, to be shared.
    pub const fn as_text(&self) -> Option<&Text> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The list, if this is one.
    pub const fn as_array(&self) -> Option<&Vec<Self>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The list, if this is one, to change it.
    pub const fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The mapping, if this is one.
    pub const fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The mapping, if this is one, to change it.
    pub const fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The member of this name, or the item at this position.
    pub fn get(&self, step: impl Step) -> Option<&Self> {
        step.get_in(self)
    }

    /// The member of this name, or the item at this position, to change it.
    pub fn get_mut(&mut self, step: impl Step) -> Option<&mut Self> {
        step.get_mut_in(self)
    }

    /// The value at a JSON pointer; the whole one at `""`.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Self::Object(map) => map.get(&unescape(step)),
            Self::Array(items) => items.get(index(step)?),
            _ => None,
        })
    }

    /// The value at a JSON pointer, to change it.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Self::Object(map) => map.get_mut(&unescape(step)),
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

/// The name that a step of a JSON pointer stands for.
pub fn unescape(step: &str) -> Cow<'_, str> {
    if step.contains('~') {
        // `~1` first: `~01` is the escaped `~1`, not a slash.
        Cow::Owned(step.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(step)
    }
}

/// The position that a step of a JSON pointer stands for: digits without a sign and without leading zeros.
pub fn index(step: &str) -> Option<usize> {
    let is_canonical = !step.starts_with('+') && (step == "0" || !step.starts_with('0'));
    step.parse().ok().filter(|_| is_canonical)
}

/// A step from a value to a part of it: a name, or a position.
pub trait Step {
    /// The part.
    fn get_in(self, value: &Value) -> Option<&Value>;
    /// The part, to change it.
    fn get_mut_in(self, value: &mut Value) -> Option<&mut Value>;
}

impl Step for &str {
    #[inline]
    fn get_in(self, value: &Value) -> Option<&Value> {
        value.as_object()?.get(self)
    }

    fn get_mut_in(self, value: &mut Value) -> Option<&mut Value> {
        value.as_object_mut()?.get_mut(self)
    }
}

impl<T: AsRef<str>> Step for &T {
    fn get_in(self, value: &Value) -> Option<&Value> {
        self.as_ref().get_in(value)
    }

    fn get_mut_in(self, value: &mut Value) -> Option<&mut Value> {
        self.as_ref().get_mut_in(value)
    }
}

impl Step for usize {
    fn get_in(self, value: &Value) -> Option<&Value> {
        value.as_array()?.get(self)
    }

    fn get_mut_in(self, value: &mut Value) -> Option<&mut Value> {
        value.as_array_mut()?.get_mut(self)
    }
}

/// The part; `null` where there is none.
impl<S: Step> Index<S> for Value {
    type Output = Self;

    fn index(&self, step: S) -> &Self {
        step.get_in(self).unwrap_or(&NULL)
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

/// Where a name is among members that are sorted by name. Objects have few, whose names mostly differ in their lengths: to look
/// at each is less than to compare a few of them (20,000 routes: a fifth of the processor's time).
pub fn position<V>(members: &[(Text, V)], name: &str) -> Option<usize> {
    const FEW: usize = 16;
    if members.len() > FEW {
        return members
            .binary_search_by(|(other, _)| other.as_str().cmp(name))
            .ok();
    }
    let mut names = members.iter().map(|(other, _)| other.as_str());
    names.position(|other| other.len() == name.len() && other == name)
}

/// The members of a JSON object, in the order of their names. A clone shares them until one of the two is changed.
///
/// A member that is added moves those behind it: many are added by [`Extend`], or collected.
#[derive(Clone, Default, Eq)]
pub struct Map(EcoVec<(Text, Value)>);

impl Map {
    /// A map without members; needs no memory.
    pub const fn new() -> Self {
        Self(EcoVec::new())
    }

    /// The members in any order; `None` where two have one name.
    pub fn from_distinct(members: impl IntoIterator<Item = (Text, Value)>) -> Option<Self> {
        let mut members: EcoVec<(Text, Value)> = members.into_iter().collect();
        members
            .make_mut()
            .sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let is_distinct = members.is_sorted_by(|(one, _), (other, _)| one < other);
        is_distinct.then_some(Self(members))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether both are clones that still share their members.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        std::ptr::eq(self.0.as_slice(), other.0.as_slice())
    }

    /// Where a name is, or where it belongs.
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_str().cmp(name))
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(position(&self.0, name)?).map(|(_, value)| value)
    }

    /// The value of this name, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let position = position(&self.0, name)?;
        self.0.make_mut().get_mut(position).map(|(_, value)| value)
    }

    /// Whether there is a member of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        position(&self.0, name).is_some()
    }

    /// Sets the value of a name; the value that it had.
    pub fn insert(&mut self, name: impl Into<Text>, value: Value) -> Option<Value> {
        let name = name.into();
        match self.position(&name) {
            Ok(position) => {
                let (_, previous) = self.0.make_mut().get_mut(position)?;
                Some(std::mem::replace(previous, value))
            }
            Err(position) => {
                self.0.insert(position, (name, value));
                None
            }
        }
    }

    /// Sets the value of a name that has none.
    pub fn insert_if_absent(&mut self, name: &str, value: impl FnOnce() -> Value) {
        if !self.contains_key(name) {
            self.insert(name, value());
        }
    }

    /// Removes the member of this name; its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let position = self.position(name).ok()?;
        Some(self.0.remove(position).1)
    }

    /// Keeps the members for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Text, &mut Value) -> bool) {
        self.0.retain(|(name, value)| keep(name, value));
    }

    /// The members, by name.
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The names, sorted.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Text> + ExactSizeIterator + Clone {
        self.0.iter().map(|(name, _)| name)
    }

    /// The values, by name.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    /// The members, by name, to change their values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Text, &mut Value)> {
        self.0.make_mut().iter_mut().map(|(name, value)| (&*name, value))
    }

    /// The values, by name, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        *self = Self::new();
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}

/// What shares its members is equal. No value differs from itself: JSON has no NaN.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.is_shared_with(other) || self.0 == other.0
    }
}

impl Hash for Map {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl From<BTreeMap<Text, Value>> for Map {
    fn from(members: BTreeMap<Text, Value>) -> Self {
        Self(members.into_iter().collect())
    }
}

impl<K: Into<Text>> Extend<(K, Value)> for Map {
    fn extend<T: IntoIterator<Item = (K, Value)>>(&mut self, members: T) {
        let mut all: BTreeMap<Text, Value> = std::mem::take(self).into_iter().collect();
        all.extend(members.into_iter().map(|(name, value)| (name.into(), value)));
        *self = all.into();
    }
}

impl<K: Into<Text>> FromIterator<(K, Value)> for Map {
    fn from_iter<T: IntoIterator<Item = (K, Value)>>(members: T) -> Self {
        let members = members.into_iter().map(|(name, value)| (name.into(), value));
        members.collect::<BTreeMap<Text, Value>>().into()
    }
}

/// The members of a map, by name.
pub type Iter<'a> =
    std::iter::Map<std::slice::Iter<'a, (Text, Value)>, fn(&'a (Text, Value)) -> (&'a Text, &'a Value)>;

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a Text, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl IntoIterator for Map {
    type Item = (Text, Value);
    type IntoIter = ecow::vec::IntoIter<(Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
