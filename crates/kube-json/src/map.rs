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
use crate::names::{Look, Names, bucket};

/// More members than this are kept in a tree: a new name in a list makes a new list, and somebody may write an object with
/// 100,000 members.
const LONGEST_LIST: usize = 64;

/// The members of a JSON object, in the order of their names. A clone shares them until one of the two is changed.
#[derive(Clone)]
pub struct Map<V>(Members<V>);

#[derive(Clone)]
enum Members<V> {
    /// The names, and then their values in the same order; nothing if there are none. Objects of Kubernetes have three
    /// members in most places.
    Few(EcoVec<Slot<V>>),
    Many(Arc<BTreeMap<Text, V>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot<V> {
    Names(Names),
    Value(V),
}

impl<V> Slot<V> {
    const fn value(&self) -> Option<&V> {
        match self {
            Self::Value(value) => Some(value),
            Self::Names(_) => None,
        }
    }

    const fn value_mut(&mut self) -> Option<&mut V> {
        match self {
            Self::Value(value) => Some(value),
            Self::Names(_) => None,
        }
    }
}

/// The names of a list, and the slots of their values.
fn parts<V>(list: &[Slot<V>]) -> Option<(&Names, &[Slot<V>])> {
    match list.split_first()? {
        (Slot::Names(names), values) => Some((names, values)),
        (Slot::Value(_), _) => None,
    }
}

impl<V: Clone> Map<V> {
    /// A map without members; needs no memory.
    #[must_use]
    pub const fn new() -> Self {
        Self(Members::Few(EcoVec::new()))
    }

    /// A map of these names and their values, of which there are as many.
    #[must_use]
    pub fn of(names: Names, values: impl ExactSizeIterator<Item = V>) -> Self {
        let count = values.len();
        debug_assert_eq!(names.as_slice().len(), count);
        if count > LONGEST_LIST {
            let members = names.as_slice().iter().cloned().zip(values);
            return Self(Members::Many(Arc::new(members.collect())));
        }
        if count == 0 {
            return Self::new();
        }
        let mut list = EcoVec::with_capacity(count.saturating_add(1));
        list.push(Slot::Names(names));
        for value in values {
            list.push(Slot::Value(value));
        }
        Self(Members::Few(list))
    }

    /// A map of members that are sorted by name, each name once: nothing is compared.
    fn from_sorted(members: Vec<(Text, V)>) -> Self {
        let (names, values): (Vec<Text>, Vec<V>) = members.into_iter().unzip();
        Self::of(Names::from_sorted(names), values.into_iter())
    }

    /// Whether these are its names and values.
    #[must_use]
    pub fn is(&self, names: &Names, values: &[V]) -> bool
    where
        V: PartialEq,
    {
        let Members::Few(list) = &self.0 else {
            return false;
        };
        parts(list).is_some_and(|(own, slots)| {
            own == names && slots.iter().map(Slot::value).eq(values.iter().map(Some))
        })
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Members::Few(list) => list.len().saturating_sub(1),
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
    #[inline]
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V> {
        // Apart, so that the compiler finds the bucket of a name that stands in the code, as most do.
        self.get_in(bucket(name), name)
    }

    /// Without a stack on the usual way: each field of each object is asked for here.
    fn get_in(&self, bucket: usize, name: &str) -> Option<&V> {
        let Members::Few(list) = &self.0 else {
            return self.get_slowly(name);
        };
        let (names, values) = parts(list)?;
        match names.look(bucket, name) {
            Look::At(position) => values.get(position)?.value(),
            Look::Absent => None,
            Look::Unclear => self.get_slowly(name),
        }
    }

    #[inline(never)]
    fn get_slowly(&self, name: &str) -> Option<&V> {
        match &self.0 {
            Members::Few(list) => {
                let (names, values) = parts(list)?;
                values.get(names.position(name)?)?.value()
            }
            Members::Many(tree) => tree.get(name),
        }
    }

    /// The value of this name, to change it.
    #[must_use]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        match &mut self.0 {
            Members::Few(list) => {
                let position = parts(list)?.0.position(name)?;
                list.make_mut().get_mut(position.saturating_add(1))?.value_mut()
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
        let list = match &mut self.0 {
            Members::Few(list) => list,
            Members::Many(tree) => return Arc::make_mut(tree).insert(name, value),
        };
        let names = parts(list).map(|(names, _)| names);
        match names.map_or(Err(0), |names| names.place(&name)) {
            Ok(position) => {
                let slot = list.make_mut().get_mut(position.saturating_add(1))?;
                Some(std::mem::replace(slot.value_mut()?, value))
            }
            Err(place) if self.len() < LONGEST_LIST => {
                self.add(place, name, value);
                None
            }
            Err(_) => {
                let mut tree: BTreeMap<Text, V> = std::mem::take(self).into_iter().collect();
                tree.insert(name, value);
                self.0 = Members::Many(Arc::new(tree));
                None
            }
        }
    }

    /// Adds a member to a list in which its name belongs at this place.
    fn add(&mut self, place: usize, name: Text, value: V) {
        let Members::Few(list) = &mut self.0 else {
            return;
        };
        let names = Names::with(parts(list).map(|(names, _)| names), place, name);
        // A list that others share is copied with room for this member and no more: few get another one.
        if !list.is_unique() {
            let mut own = EcoVec::with_capacity(list.len().saturating_add(1));
            own.extend_from_slice(list);
            *list = own;
        }
        match list.make_mut().first_mut() {
            Some(first) => *first = Slot::Names(names),
            None => list.push(Slot::Names(names)),
        }
        list.insert(place.saturating_add(1), Slot::Value(value));
    }

    /// Sets the values of several names, which are sorted in most cases: then all members move once.
    pub fn insert_all(&mut self, members: Vec<(Text, V)>) {
        let is_sorted = members.is_sorted_by(|(a, _), (b, _)| a < b);
        if !is_sorted || self.len().saturating_add(members.len()) > LONGEST_LIST {
            return self.extend(members);
        }
        let mut merged = Vec::with_capacity(self.len().saturating_add(members.len()));
        let mut members = members.into_iter().peekable();
        for (name, value) in std::mem::take(self) {
            while let Some(member) = members.next_if(|(new, _)| *new < name) {
                merged.push(member);
            }
            let member = members.next_if(|(new, _)| *new == name);
            merged.push(member.unwrap_or((name, value)));
        }
        merged.extend(members);
        *self = Self::from_sorted(merged);
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
                let names = parts(list)?.0;
                let position = names.position(name)?;
                let names = names.without(position);
                let removed = list.remove(position.saturating_add(1));
                if names.as_slice().is_empty() {
                    list.clear();
                } else if let Some(first) = list.make_mut().first_mut() {
                    *first = Slot::Names(names);
                }
                match removed {
                    Slot::Value(value) => Some(value),
                    Slot::Names(_) => None,
                }
            }
            Members::Many(tree) if tree.contains_key(name) => Arc::make_mut(tree).remove(name),
            Members::Many(_) => None,
        }
    }

    /// Keeps the members for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Text, &mut V) -> bool) {
        let list = match &mut self.0 {
            Members::Few(list) => list,
            Members::Many(tree) => return Arc::make_mut(tree).retain(|name, value| keep(name, value)),
        };
        let Some(names) = parts(list).map(|(names, _)| names.clone()) else {
            return;
        };
        let mut kept = Vec::with_capacity(names.as_slice().len());
        let mut all = names.as_slice().iter();
        list.retain(|slot| {
            let Slot::Value(value) = slot else {
                return true;
            };
            let name = all.next().filter(|name| keep(name, value));
            kept.extend(name.cloned());
            name.is_some()
        });
        if kept.is_empty() {
            list.clear();
        } else if kept.len() < names.as_slice().len()
            && let Some(first) = list.make_mut().first_mut()
        {
            *first = Slot::Names(Names::from_sorted(kept));
        }
    }

    /// The members, by name.
    #[inline]
    #[must_use]
    pub fn iter(&self) -> Iter<'_, V> {
        Iter(match &self.0 {
            Members::Few(list) => match parts(list) {
                Some((names, values)) => Borrowed::Few(names.as_slice().iter(), values.iter()),
                None => Borrowed::Few([].iter(), [].iter()),
            },
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
            Members::Few(list) => (Some(list.make_mut()), None),
            Members::Many(tree) => (None, Some(Arc::make_mut(tree).iter_mut())),
        };
        let list = list
            .and_then(<[_]>::split_first_mut)
            .and_then(|(names, values)| match names {
                Slot::Names(names) => Some(names.as_slice().iter().zip(values.iter_mut())),
                Slot::Value(_) => None,
            });
        let list = list.into_iter().flatten();
        list.filter_map(|(name, slot)| Some((name, slot.value_mut()?)))
            .chain(tree.into_iter().flatten())
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
        match (&self.0, &other.0) {
            (Members::Few(list), Members::Few(others)) => {
                list.len() == others.len() && (self.address() == other.address() || list == others)
            }
            _ => self.len() == other.len() && (self.address() == other.address() || self.iter().eq(other)),
        }
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
        let mut map = match members.size_hint().0.min(LONGEST_LIST) {
            0 => Self::new(),
            expected => Self(Members::Few(EcoVec::with_capacity(expected.saturating_add(1)))),
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
    Few(std::slice::Iter<'a, Text>, std::slice::Iter<'a, Slot<V>>),
    Many(btree_map::Iter<'a, Text, V>),
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a Text, &'a V);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Borrowed::Few(names, values) => Some((names.next()?, values.next()?.value()?)),
            Borrowed::Many(tree) => tree.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Borrowed::Few(names, _) => names.size_hint(),
            Borrowed::Many(tree) => tree.size_hint(),
        }
    }
}

impl<V> DoubleEndedIterator for Iter<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Borrowed::Few(names, values) => Some((names.next_back()?, values.next_back()?.value()?)),
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
    /// The names, how many of them are passed, and the slots that are left.
    Few(Option<Names>, usize, ecow::vec::IntoIter<Slot<V>>),
    Many(btree_map::IntoIter<Text, V>),
}

impl<V: Clone> Iterator for IntoIter<V> {
    type Item = (Text, V);

    fn next(&mut self) -> Option<(Text, V)> {
        match &mut self.0 {
            Owned::Few(names, passed, slots) => {
                let Slot::Value(value) = slots.next()? else {
                    return None;
                };
                let name = names.as_ref()?.as_slice().get(*passed)?.clone();
                *passed = passed.saturating_add(1);
                Some((name, value))
            }
            Owned::Many(tree) => tree.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Owned::Few(_, _, slots) => slots.size_hint(),
            Owned::Many(tree) => tree.size_hint(),
        }
    }
}

impl<V: Clone> IntoIterator for Map<V> {
    type Item = (Text, V);
    type IntoIter = IntoIter<V>;

    fn into_iter(self) -> IntoIter<V> {
        IntoIter(match self.0 {
            Members::Few(list) => {
                let mut slots = list.into_iter();
                match slots.next() {
                    Some(Slot::Names(names)) => Owned::Few(Some(names), 0, slots),
                    _ => Owned::Few(None, 0, slots),
                }
            }
            Members::Many(tree) => Owned::Many(Arc::unwrap_or_clone(tree).into_iter()),
        })
    }
}
