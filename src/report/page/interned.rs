//! Lists whose entries are known by their positions, each once.
//!
//! Owns: files, sets of clusters, values, and the places of objects and settings in the files. Flows in: paths, names,
//! values, symbolic places. Flows out: positions. Must not know: what they are for.

use std::collections::HashMap;
use std::hash::Hash;

use kube_json::Value;

use super::document::{At, Position};
use crate::diagnostic::{Hidden, Locate, Place};
use crate::object::Object;
use crate::outcome::{PolicyView, SourceLine};
use apimachinery::Work;

/// A list without repeats.
#[derive(Debug)]
pub(super) struct Interned<K, T> {
    pub(super) list: Vec<T>,
    known: HashMap<K, usize>,
}

impl<K, T> Default for Interned<K, T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            known: HashMap::new(),
        }
    }
}

impl<K: Eq + Hash, T> Interned<K, T> {
    /// The position of the entry with this key, which `make` makes where there is none.
    pub(super) fn position(&mut self, key: K, make: impl FnOnce() -> T) -> usize {
        let Self { list, known } = self;
        *known.entry(key).or_insert_with(|| {
            list.push(make());
            list.len().saturating_sub(1)
        })
    }

    /// All keys with their positions, in any order.
    pub(super) fn keys(&self) -> impl Iterator<Item = (usize, &K)> {
        self.known.iter().map(|(key, position)| (*position, key))
    }
}

/// Everything that the parts of a page share.
pub(super) struct Tables<'p> {
    pub(super) locate: &'p dyn Locate,
    pub(super) files: Interned<String, String>,
    pub(super) values: Interned<String, Value>,
    /// The names of hidden values.
    pub(super) hidden: Hidden,
    sets: Interned<Vec<usize>, Vec<usize>>,
    clusters: HashMap<&'p str, usize>,
    /// The clusters of each evaluated place, and the sets of those of several places: worked out once, whatever is there.
    pub(super) of_places: Vec<Vec<usize>>,
    joined: HashMap<Vec<usize>, usize>,
    /// For the cells that are made.
    pub(super) work: Work,
    /// The positions of the requested places: a setting is looked up once, on however many paths it applies.
    places: HashMap<Place, Option<At>>,
}

/// The work for a cell: a route below a listener, a rule there for each kind of policies, each in each place where it is
/// evaluated; and a setting of different outcomes.
const STEPS_PER_CELL: u64 = 30;

impl<'p> Tables<'p> {
    /// `clusters` are all there are, in their order.
    pub(super) fn new(locate: &'p dyn Locate, clusters: &[&'p str]) -> Self {
        Self {
            locate,
            files: Interned::default(),
            values: Interned::default(),
            hidden: Hidden::default(),
            sets: Interned::default(),
            clusters: clusters.iter().copied().zip(0..).collect(),
            of_places: Vec::new(),
            joined: HashMap::new(),
            work: Work::unlimited(),
            places: HashMap::new(),
        }
    }

    /// The same with the clusters of each place of a view.
    pub(super) fn with(mut self, view: &PolicyView<'_>) -> Self {
        let places = view.seen().map(|seen| self.known(seen.clusters).collect());
        self.of_places = places.collect();
        self
    }

    /// Asks for the room of so many cells before they are made. Once there is none, there is none for anything.
    pub(super) fn take(&mut self, cells: usize) -> bool {
        self.work.pay(cells, STEPS_PER_CELL)
    }

    /// The position of a cluster.
    pub(super) fn cluster(&self, name: &str) -> Option<usize> {
        self.clusters.get(name).copied()
    }

    /// The positions of those clusters that the page has.
    pub(super) fn known(&self, names: &[String]) -> impl Iterator<Item = usize> {
        names.iter().filter_map(|name| self.cluster(name))
    }

    /// A set of clusters, in any order.
    pub(super) fn set<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> usize {
        let members = names.into_iter().filter_map(|name| self.cluster(name)).collect();
        self.set_of(members)
    }

    /// The same by positions.
    pub(super) fn set_of(&mut self, mut members: Vec<usize>) -> usize {
        members.sort_unstable();
        members.dedup();
        let mut ranges: Vec<usize> = Vec::new();
        for member in members {
            match ranges.last_mut() {
                Some(last) if last.checked_add(1) == Some(member) => *last = member,
                _ => ranges.extend([member, member]),
            }
        }
        self.sets.position(ranges.clone(), || ranges)
    }

    /// The clusters of some places.
    pub(super) fn set_of_places(&mut self, places: &[usize]) -> usize {
        if let Some(known) = self.joined.get(places) {
            return *known;
        }
        let members = places.iter().filter_map(|place| self.of_places.get(*place));
        let set = self.set_of(members.flatten().copied().collect());
        self.joined.insert(places.to_vec(), set);
        set
    }

    /// The members of a set.
    pub(super) fn members(&self, set: usize) -> impl Iterator<Item = usize> {
        members(self.sets.list.get(set).map(Vec::as_slice).unwrap_or_default())
    }

    /// All sets.
    pub(super) fn into_lists(self) -> (Vec<String>, Vec<Vec<usize>>, Vec<Value>) {
        (self.files.list, self.sets.list, self.values.list)
    }

    /// A value.
    pub(super) fn value(&mut self, value: &Value) -> usize {
        // Keys of mappings are sorted in both, so equal values have one text.
        let Self { values, hidden, .. } = self;
        values.position(value.to_string(), || hidden.conceal(value, false))
    }

    /// A value, or -1.
    pub(super) fn value_or_none(&mut self, value: Option<&Value>) -> Position {
        value.map_or(-1, |value| signed(self.value(value)))
    }

    /// File and line of an object.
    pub(super) fn object(&mut self, object: &Object) -> Option<At> {
        self.at(object.place(""))
    }

    /// The same by name.
    pub(super) fn line(&self, object: &Object) -> Option<SourceLine> {
        let line = SourceLine::of(self.locate, object.place(""))?;
        Some(SourceLine {
            path: slashed(&line.path),
            ..line
        })
    }

    /// File and line of a field of an object: of its name, where a reader looks.
    pub(super) fn field(&mut self, object: &Object, pointer: &str) -> Option<At> {
        self.at(object.key_place(pointer))
    }

    /// File and line of a place.
    pub(super) fn at(&mut self, place: Place) -> Option<At> {
        if let Some(known) = self.places.get(&place) {
            return *known;
        }
        let at = self.locate.locate(&place).map(|span| {
            let path = slashed(span.path);
            let file = self.files.position(path.clone(), || path);
            (file, span.line)
        });
        self.places.insert(place, at);
        at
    }

    /// A file by its path.
    pub(super) fn file(&mut self, path: &str) -> usize {
        let path = slashed(path);
        self.files.position(path.clone(), || path)
    }
}

/// The members of a set by its ranges.
pub(super) fn members(ranges: &[usize]) -> impl Iterator<Item = usize> {
    ranges.chunks_exact(2).flat_map(|range| match range {
        [first, last] => *first..last.saturating_add(1),
        _ => 0..0,
    })
}

/// A path as a page has it on every system.
fn slashed(path: &str) -> String {
    path.replace('\\', "/")
}

/// The entry of a list at a position, which may be none.
pub(super) fn entry<T>(list: &[T], position: impl TryInto<usize>) -> Option<&T> {
    list.get(position.try_into().ok()?)
}

/// A position where -1 is none.
pub(super) fn signed(position: usize) -> Position {
    Position::try_from(position).unwrap_or(-1)
}

/// The same of what may be absent.
pub(super) fn signed_or_none(position: Option<usize>) -> Position {
    position.map_or(-1, signed)
}
