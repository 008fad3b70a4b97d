//! The names of an object's members, which objects of one shape share.
//!
//! Owns: sorted lists of names, and the way to a name in one. Flows in: names. Flows out: positions. Must not know: values.
//!
//! The objects of Kubernetes have few shapes, and most questions are for fields that are absent. So a list is made once; a
//! long one has a table, which answers nearly every question after a look at one name.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use crate::Text;

/// Lists of up to so many names have no table: that would take more memory than the names.
const LONGEST_WITHOUT: usize = 2;
const BUCKETS: usize = 64;
/// How many changes of lists a thread remembers.
const REMEMBERED: usize = 256;

/// Names, sorted, each once. Clones share them.
#[derive(Clone, Debug)]
pub struct Names(List);

#[derive(Clone, Debug)]
enum List {
    Short(Arc<[Text]>),
    Long(Arc<Table>),
}

/// What a look at one name, or two, says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look {
    At(usize),
    Absent,
    /// All names must be looked at.
    Unclear,
}

impl Look {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as Names::look")]
    fn in_short(names: &[Text], name: &str) -> Self {
        match names {
            _ if name.len() > LONGEST_SHORT => Self::Unclear,
            [first, ..] if is_same_short(first, name) => Self::At(0),
            [_, second] if is_same_short(second, name) => Self::At(1),
            _ => Self::Absent,
        }
    }
}

#[derive(Debug)]
struct Table {
    names: Box<[Text]>,
    /// For each bucket, one more than the position of a name in it; 0 if there is none.
    first: [u8; BUCKETS],
    /// The buckets that have other names as well, as bits.
    crowded: u64,
}

impl Names {
    /// Of names that are sorted, each once: nothing is compared.
    #[must_use]
    pub fn from_sorted(names: Vec<Text>) -> Self {
        debug_assert!(names.is_sorted_by(|a, b| a < b), "sorted, each once");
        Self(if names.len() <= LONGEST_WITHOUT {
            List::Short(names.into())
        } else {
            List::Long(Arc::new(Table::new(names)))
        })
    }

    /// The names, sorted.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Text] {
        match &self.0 {
            List::Short(names) => names,
            List::Long(table) => &table.names,
        }
    }

    /// Where a name is.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        match self.look(bucket(name), name) {
            Look::At(position) => Some(position),
            Look::Absent => None,
            Look::Unclear => place(self.as_slice(), name).ok(),
        }
    }

    /// Looks for a name where it is in most lists. Somebody knows its bucket.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the way of most questions, which then needs no stack"
    )]
    pub(crate) fn look(&self, bucket: usize, name: &str) -> Look {
        match &self.0 {
            List::Short(names) => Look::in_short(names, name),
            List::Long(table) => table.look(bucket, name),
        }
    }

    /// Where the list is in memory. Two that are at one address at the same time are clones.
    fn address(&self) -> usize {
        match &self.0 {
            List::Short(names) => names.as_ptr().addr(),
            List::Long(table) => Arc::as_ptr(table).addr(),
        }
    }

    /// Where a name is, or where it belongs.
    pub(crate) fn place(&self, name: &str) -> Result<usize, usize> {
        // Most objects are written in the order of their names, so that a new one belongs at the end.
        let names = self.as_slice();
        match names.last() {
            Some(last) if last.as_str() < name => Err(names.len()),
            _ => place(names, name),
        }
    }

    /// These names, or none, and one more that belongs at this place. Objects that get the same members one after the other
    /// share the list that results.
    pub(crate) fn with(these: Option<&Self>, place: usize, name: Text) -> Self {
        let make = |name: Text| {
            let these = these.map_or(&[][..], Self::as_slice);
            let (before, behind) = these.split_at(place.min(these.len()));
            let mut names = Vec::with_capacity(these.len().saturating_add(1));
            names.extend_from_slice(before);
            names.push(name);
            names.extend_from_slice(behind);
            Self::from_sorted(names)
        };
        let address = these.map_or(0, Self::address);
        let remembered = |changes: &RefCell<Vec<Option<Change>>>| {
            let mut changes = changes.try_borrow_mut().ok()?;
            if changes.is_empty() {
                changes.resize_with(REMEMBERED, || None);
            }
            // Lists are about 150 bytes apart.
            let slot = changes.get_mut(((address / 32) ^ bucket(&name).wrapping_mul(29)) % REMEMBERED)?;
            let known = slot.as_ref().filter(|change| {
                change.of.as_ref().map_or(0, Self::address) == address && change.name == name
            });
            if let Some(change) = known {
                return Some(change.to.clone());
            }
            let change = slot.insert(Change {
                of: these.cloned(),
                to: make(name.clone()),
                name: name.clone(),
            });
            Some(change.to.clone())
        };
        let found = CHANGES.try_with(remembered).ok().flatten();
        found.unwrap_or_else(|| make(name))
    }

    /// These names without the one at this position.
    pub(crate) fn without(&self, position: usize) -> Self {
        let names = self.as_slice().iter().enumerate();
        let kept = names.filter(|(at, _)| *at != position);
        Self::from_sorted(kept.map(|(_, name)| name.clone()).collect())
    }
}

/// No names; needs no memory of its own.
impl Default for Names {
    fn default() -> Self {
        static NONE: LazyLock<Names> = LazyLock::new(|| Names::from_sorted(Vec::new()));
        NONE.clone()
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address() || self.as_slice() == other.as_slice()
    }
}

impl Eq for Names {}

impl Table {
    fn new(names: Vec<Text>) -> Self {
        let (mut first, mut crowded) = ([0; BUCKETS], 0);
        for (position, name) in names.iter().enumerate() {
            let bucket = bucket(name);
            let Some(slot) = first.get_mut(bucket) else {
                continue;
            };
            match u8::try_from(position.saturating_add(1)) {
                Ok(number) if *slot == 0 => *slot = number,
                // The name that is looked at first may be any other one.
                _ => {
                    *slot = (*slot).max(1);
                    crowded |= 1 << bucket;
                }
            }
        }
        Self {
            names: names.into(),
            first,
            crowded,
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as Names::look")]
    fn look(&self, bucket: usize, name: &str) -> Look {
        let first = self.first.get(bucket).copied().map_or(0, usize::from);
        let Some(first) = first.checked_sub(1) else {
            return Look::Absent;
        };
        match self.names.get(first) {
            Some(there) if is_same_short(there, name) => Look::At(first),
            _ if name.len() <= LONGEST_SHORT && self.crowded >> bucket & 1 == 0 => Look::Absent,
            _ => Look::Unclear,
        }
    }
}

fn place(names: &[Text], name: &str) -> Result<usize, usize> {
    names.binary_search_by(|there| there.as_str().cmp(name))
}

/// One more name in a list. The list is kept, so that no other one comes to be at its address.
struct Change {
    of: Option<Names>,
    name: Text,
    to: Names,
}

thread_local! {
    /// The last changes. What is remembered decides only which lists share memory.
    static CHANGES: RefCell<Vec<Option<Change>>> = const { RefCell::new(Vec::new()) };
}

/// Names differ in their length or at their ends, in most cases.
#[inline]
pub(crate) fn bucket(name: &str) -> usize {
    let bytes = name.as_bytes();
    let byte = |byte: Option<&u8>| byte.copied().map_or(0, usize::from);
    let mixed = byte(bytes.first()) ^ byte(bytes.last()) << 7 ^ bytes.len() << 14;
    // The multiplication mixes upward.
    mixed.wrapping_mul(0x9E37_79B1) >> 20 & (BUCKETS - 1)
}

/// Whether two names are equal.
#[inline]
#[must_use]
pub fn is_same(name: &str, other: &str) -> bool {
    is_same_short(name, other) || (name.len() > LONGEST_SHORT && name == other)
}

/// Longer names are compared by a call.
const LONGEST_SHORT: usize = 16;

/// Whether two names are equal and short, as most names are: they are compared as two words that may overlap, because a
/// call takes longer than that.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as Names::look")]
fn is_same_short(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    name.len() == other.len()
        && match name.len() {
            0 => true,
            length @ 1..4 => {
                name.first() == other.first()
                    && name.last() == other.last()
                    && name.get(length / 2) == other.get(length / 2)
            }
            4..8 => {
                name.first_chunk::<4>() == other.first_chunk() && name.last_chunk::<4>() == other.last_chunk()
            }
            8..=LONGEST_SHORT => {
                name.first_chunk::<8>() == other.first_chunk() && name.last_chunk::<8>() == other.last_chunk()
            }
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_where_it_is_and_nowhere_else_in_lists_of_every_length() {
        for count in [0_usize, 1, 2, 3, 7, 64, 65, 254, 255, 256, 300, 1_000] {
            let names: Vec<Text> = (0..count).map(|number| format!("n{number:04}").into()).collect();
            let list = Names::from_sorted(names.clone());
            for (position, name) in names.iter().enumerate() {
                assert_eq!(list.position(name), Some(position), "{count} {name}");
            }
            let long: Vec<Text> = names
                .iter()
                .map(|name| format!("a-name-of-many-letters-{name}").into())
                .collect();
            let longer = Names::from_sorted(long.clone());
            for (position, name) in long.iter().enumerate() {
                assert_eq!(longer.position(name), Some(position), "{count} {name}");
                assert_eq!(
                    (longer.position(&names[position]), list.position(name)),
                    (None, None)
                );
            }
            for absent in ["", "n", "n000", "n00000", "m0001", "n0001x", "n9999", "x0000"] {
                assert_eq!(list.position(absent), None, "{count} {absent}");
            }
        }
    }

    #[test]
    fn a_list_takes_two_words_and_a_short_one_little_beside_its_names() {
        assert_eq!((size_of::<Names>(), size_of::<Table>()), (16, 88));
    }

    #[test]
    fn the_same_change_gives_the_same_list_and_another_one_does_not() {
        let one = Names::with(None, 0, "b".into());
        let add = |place, name: &str| Names::with(Some(&one), place, name.into());
        let both = add(0, "a");
        assert_eq!(both.address(), add(0, "a").address());
        assert_eq!(both.as_slice(), ["a", "b"]);
        assert_eq!(add(1, "c").as_slice(), ["b", "c"]);
        assert_eq!(both.without(0), one);
        for number in 0..1_000 {
            let name = Text::from(format!("c{number}"));
            assert_eq!(
                Names::with(Some(&one), 1, name.clone()).as_slice(),
                ["b".into(), name]
            );
        }
        assert_eq!(add(0, "a"), both);
    }
}
