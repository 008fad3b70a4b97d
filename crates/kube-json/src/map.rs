//! The members of a JSON object: one list, sorted by name, which clones share until one of them is changed.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

use ecow::EcoVec;

use crate::{Text, Value};

/// The members of a JSON object, in the order of their names. A clone shares them until one of the two is changed.
///
/// A member that is added moves those behind it: many are added by [`Extend`], or collected.
#[derive(Clone, Default, Eq)]
pub struct Map(EcoVec<(Text, Value)>);

impl Map {
    /// A map without members; needs no memory.
    #[must_use]
    pub const fn new() -> Self {
        Self(EcoVec::new())
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether both are clones that still share their members.
    #[must_use]
    pub fn is_shared_with(&self, other: &Self) -> bool {
        std::ptr::eq(self.0.as_slice(), other.0.as_slice())
    }

    /// Where a name is, or where it belongs.
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_str().cmp(name))
    }

    /// The value of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let position = self.position(name).ok()?;
        self.0.get(position).map(|(_, value)| value)
    }

    /// The value of this name, to change it.
    #[must_use]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let position = self.position(name).ok()?;
        self.0.make_mut().get_mut(position).map(|(_, value)| value)
    }

    /// Whether there is a member of this name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.position(name).is_ok()
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
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The names, sorted.
    #[must_use]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Text> + ExactSizeIterator + Clone {
        self.0.iter().map(|(name, _)| name)
    }

    /// The values, by name.
    #[must_use]
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
