//! The members of a JSON object, sorted by name.
//!
//! Owns: the two ways in which they are kept. Flows in: names and values. Flows out: members in the order of their names.
//! Must not know: what a value is.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ecow::EcoVec;

use crate::Text;

/// More members than this are kept in a tree: inserting into the middle of a list moves what follows, and somebody may
/// write an object with 100,000 members in the worst order.
const LONGEST_LIST: usize = 512;

/// The members of a JSON object, in the order of their names. A clone shares them until one of the two is changed.
#[derive(Clone)]
pub struct Map<V>(Members<V>);

#[derive(Clone)]
enum Members<V> {
    /// Sorted by name, each name once. Objects of Kubernetes have three members in most places.
    Few(EcoVec<(Text, V)>),
    Many(Arc<BTreeMap<Text, V>>),
}

impl<V: Clone> Map<V> {
    /// A map without members; needs no memory.
    #[must_use]
    pub const fn new() -> Self {
        Self(Members::Few(EcoVec::new()))
    }

    /// A map of members that are sorted by name, each name once: nothing is compared.
    #[must_use]
    pub fn from_sorted(members: impl ExactSizeIterator<Item = (Text, V)>) -> Self {
        if members.len() > LONGEST_LIST {
            return Self(Members::Many(Arc::new(members.collect())));
        }
        let mut list = EcoVec::with_capacity(members.len());
        for member in members {
            list.push(member);
        }
        debug_assert!(list.is_sorted_by(|(a, _), (b, _)| a < b), "sorted, each once");
        Self(Members::Few(list))
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Members::Few(list) => list.len(),
            Members::Many(tree) => tree.len(),
        }
    }

    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the members are in memory, if there are any. Two maps that are at one address at the same time are clones.
    #[must_use]
    pub fn address(&self) -> Option<usize> {
        match &self.0 {
            Members::Few(list) => (!list.is_empty()).then(|| list.as_ptr().addr()),
            Members::Many(tree) => Some(Arc::as_ptr(tree).addr()),
        }
    }

    /// The value of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V> {
        match &self.0 {
            // Most names differ in length, which is compared first.
            Members::Few(list) if list.len() <= 8 => {
                let member = list.iter().find(|(there, _)| is_same(there, name));
                member.map(|(_, value)| value)
            }
            Members::Few(list) => {
                let position = position(list, name).ok()?;
                list.get(position).map(|(_, value)| value)
            }
            Members::Many(tree) => tree.get(name),
        }
    }

    /// The value of this name, to change it.
    #[must_use]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        match &mut self.0 {
            Members::Few(list) => {
                let position = position(list, name).ok()?;
                list.make_mut().get_mut(position).map(|(_, value)| value)
            }
            Members::Many(tree) if tree.contains_key(name) => Arc::make_mut(tree).get_mut(name),
            Members::Many(_) => None,
        }
    }

    /// Whether there is a member of this name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets the value of a name; the value that it had.
    pub fn insert(&mut self, name: impl Into<Text>, value: V) -> Option<V> {
        let name = name.into();
        match &mut self.0 {
            Members::Few(list) => match position(list, &name) {
                Ok(position) => {
                    let slot = list.make_mut().get_mut(position)?;
                    Some(std::mem::replace(&mut slot.1, value))
                }
                Err(position) if list.len() < LONGEST_LIST => {
                    list.insert(position, (name, value));
                    None
                }
                Err(_) => {
                    let mut tree: BTreeMap<Text, V> = std::mem::take(list).into_iter().collect();
                    tree.insert(name, value);
                    self.0 = Members::Many(Arc::new(tree));
                    None
                }
            },
            Members::Many(tree) => Arc::make_mut(tree).insert(name, value),
        }
    }

    /// Sets the values of several names, which are sorted in most cases: then all members move once.
    pub fn insert_all(&mut self, members: Vec<(Text, V)>) {
        let is_sorted = members.is_sorted_by(|(a, _), (b, _)| a < b);
        let length = self.len().saturating_add(members.len());
        let Members::Few(list) = &mut self.0 else {
            return self.extend(members);
        };
        if !is_sorted || length > LONGEST_LIST {
            return self.extend(members);
        }
        let mut merged = EcoVec::with_capacity(length);
        let mut members = members.into_iter().peekable();
        for (name, value) in std::mem::take(list) {
            while let Some(member) = members.next_if(|(new, _)| *new < name) {
                merged.push(member);
            }
            let member = members.next_if(|(new, _)| *new == name);
            merged.push(member.unwrap_or((name, value)));
        }
        merged.extend(members);
        *list = merged;
    }

    /// Sets the value of a name that has none.
    pub fn insert_if_absent(&mut self, name: &str, value: impl FnOnce() -> V) {
        if !self.contains_key(name) {
            self.insert(name, value());
        }
    }

    /// Removes the member of this name; its value.
    pub fn remove(&mut self, name: &str) -> Option<V> {
        match &mut self.0 {
            Members::Few(list) => {
                let position = position(list, name).ok()?;
                Some(list.remove(position).1)
            }
            Members::Many(tree) if tree.contains_key(name) => Arc::make_mut(tree).remove(name),
            Members::Many(_) => None,
        }
    }

    /// Keeps the members for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Text, &mut V) -> bool) {
        match &mut self.0 {
            Members::Few(list) => list.retain(|(name, value)| keep(name, value)),
            Members::Many(tree) => Arc::make_mut(tree).retain(|name, value| keep(name, value)),
        }
    }

    /// The members, by name.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, V> {
        Iter(match &self.0 {
            Members::Few(list) => Borrowed::Few(list.iter()),
            Members::Many(tree) => Borrowed::Many(tree.iter()),
        })
    }

    /// The names, sorted.
    #[must_use]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Text> + ExactSizeIterator + Clone {
        self.iter().map(|(name, _)| name)
    }

    /// The values, by name.
    #[must_use]
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The members, by name, to change their values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Text, &mut V)> {
        let (list, tree) = match &mut self.0 {
            Members::Few(list) => (Some(list.make_mut().iter_mut()), None),
            Members::Many(tree) => (None, Some(Arc::make_mut(tree).iter_mut())),
        };
        let list = list.into_iter().flatten().map(|(name, value)| (&*name, value));
        list.chain(tree.into_iter().flatten())
    }

    /// The values, by name, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Gives back the memory that was reserved for more members.
    pub fn shrink_to_fit(&mut self) {
        if let Members::Few(list) = &mut self.0
            && list.capacity() > list.len()
        {
            let mut fitting = EcoVec::with_capacity(list.len());
            fitting.extend(std::mem::take(list));
            *list = fitting;
        }
    }
}

/// Whether two names are equal. Most are short: up to 16 bytes are compared as two words that may overlap, because a call
/// takes longer than that.
fn is_same(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    name.len() == other.len()
        && match name.len() {
            0..4 => name.iter().eq(other),
            4..8 => {
                name.first_chunk::<4>() == other.first_chunk() && name.last_chunk::<4>() == other.last_chunk()
            }
            8..=16 => {
                name.first_chunk::<8>() == other.first_chunk() && name.last_chunk::<8>() == other.last_chunk()
            }
            _ => name == other,
        }
}

/// Where a name is in a sorted list, or where it belongs.
fn position<V>(list: &[(Text, V)], name: &str) -> Result<usize, usize> {
    // Most objects are written in the order of their names, so that a new one belongs at the end.
    match list.last() {
        Some((last, _)) if last.as_str() < name => Err(list.len()),
        _ => list.binary_search_by(|(there, _)| there.as_str().cmp(name)),
    }
}

impl<V: Clone> Default for Map<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Clone + fmt::Debug> fmt::Debug for Map<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}

/// What shares its members is equal. No value differs from itself: JSON has no NaN.
impl<V: Clone + Eq> PartialEq for Map<V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (self.address() == other.address() || self.iter().eq(other))
    }
}

impl<V: Clone + Eq> Eq for Map<V> {}

impl<V: Clone + Hash> Hash for Map<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        for member in self {
            member.hash(state);
        }
    }
}

impl<K: Into<Text>, V: Clone> Extend<(K, V)> for Map<V> {
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, members: T) {
        for (name, value) in members {
            self.insert(name, value);
        }
    }
}

impl<K: Into<Text>, V: Clone> FromIterator<(K, V)> for Map<V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(members: T) -> Self {
        let members = members.into_iter();
        let expected = members.size_hint().0.min(LONGEST_LIST);
        let mut map = match expected {
            0 => Self::new(),
            _ => Self(Members::Few(EcoVec::with_capacity(expected))),
        };
        map.extend(members);
        map
    }
}

/// The members of a map, by name.
#[derive(Clone, Debug)]
pub struct Iter<'a, V>(Borrowed<'a, V>);

#[derive(Clone, Debug)]
enum Borrowed<'a, V> {
    Few(std::slice::Iter<'a, (Text, V)>),
    Many(btree_map::Iter<'a, Text, V>),
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a Text, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Borrowed::Few(list) => list.next().map(|(name, value)| (name, value)),
            Borrowed::Many(tree) => tree.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Borrowed::Few(list) => list.size_hint(),
            Borrowed::Many(tree) => tree.size_hint(),
        }
    }
}

impl<V> DoubleEndedIterator for Iter<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Borrowed::Few(list) => list.next_back().map(|(name, value)| (name, value)),
            Borrowed::Many(tree) => tree.next_back(),
        }
    }
}

impl<V> ExactSizeIterator for Iter<'_, V> {}

impl<'a, V: Clone> IntoIterator for &'a Map<V> {
    type Item = (&'a Text, &'a V);
    type IntoIter = Iter<'a, V>;

    fn into_iter(self) -> Iter<'a, V> {
        self.iter()
    }
}

/// The members of a map, by name, as values of their own.
#[derive(Debug)]
pub struct IntoIter<V>(Owned<V>);

#[derive(Debug)]
enum Owned<V> {
    Few(ecow::vec::IntoIter<(Text, V)>),
    Many(btree_map::IntoIter<Text, V>),
}

impl<V: Clone> Iterator for IntoIter<V> {
    type Item = (Text, V);

    fn next(&mut self) -> Option<(Text, V)> {
        match &mut self.0 {
            Owned::Few(list) => list.next(),
            Owned::Many(tree) => tree.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Owned::Few(list) => list.size_hint(),
            Owned::Many(tree) => tree.size_hint(),
        }
    }
}

impl<V: Clone> IntoIterator for Map<V> {
    type Item = (Text, V);
    type IntoIter = IntoIter<V>;

    fn into_iter(self) -> IntoIter<V> {
        IntoIter(match self.0 {
            Members::Few(list) => Owned::Few(list.into_iter()),
            Members::Many(tree) => Owned::Many(Arc::unwrap_or_clone(tree).into_iter()),
        })
    }
}
