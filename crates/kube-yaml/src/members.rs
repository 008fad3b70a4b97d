//! The values in the collections that are open, on one stack.
//!
//! Owns: where they wait until their collection is complete, and what is remembered of those that were complete. Flows in:
//! complete members and items. Flows out: maps and lists that take exactly the memory that they need. Must not know:
//! events, positions, what a text means.

use kube_json::{Map, Value};

use super::known::Known;
use super::recall::{Context, Recall, Recalled};
use super::shapes::{Place, Shape, Shapes};

/// What the documents that are read one after the other share: what is equal in the next one shares the members of
/// mappings before it, what has the same names shares these, what has the same text is not read again, and memory is taken
/// once. It decides only what takes memory and time, never what is read, so it may be used for any documents in any order.
#[derive(Debug, Default)]
pub struct Shared {
    /// What is inside the collections that are open; the innermost collection's is last.
    values: Vec<Value>,
    shapes: Shapes,
    known: Known,
    recall: Recall,
}

/// The members of one open mapping.
pub(super) enum Own {
    /// The values from `start` on are those of its names, sorted by name.
    From { start: usize, shape: Shape },
    /// It has too many names for a shape.
    Many(Map),
}

impl Own {
    /// Where the next member is.
    #[inline]
    pub(super) const fn context(&self, column: usize, depth: usize) -> Option<Context> {
        match self {
            Self::From { shape, .. } => Some(Context {
                shape: *shape,
                column,
                depth,
            }),
            Self::Many(_) => None,
        }
    }
}

/// The innermost mapping that is open.
pub(super) struct Members<'m> {
    shared: &'m mut Shared,
    own: &'m mut Own,
}

impl Shared {
    /// Forgets what waits: the last document may have ended with an error.
    pub(super) fn begin(&mut self) {
        self.values.clear();
        if self.shapes.begin() {
            self.recall.clear();
        }
    }

    pub(super) fn open_mapping(&self) -> Own {
        Own::From {
            start: self.values.len(),
            shape: Shape::default(),
        }
    }

    /// What is known of the member at a text.
    #[inline]
    pub(super) fn find(&mut self, own: &Own, column: usize, depth: usize, text: &[u8]) -> Recalled<'_> {
        match own.context(column, depth) {
            Some(context) => self.recall.find(context, text),
            None => Recalled::Other { keep: false },
        }
    }

    /// Remembers a member that was just added at its place.
    pub(super) fn keep(&mut self, context: Context, text: &[u8], place: Place, value: Value) {
        if let Place::Next(..) = place {
            self.recall.keep(context, text, place, value);
        }
    }

    pub(super) const fn members<'m>(&'m mut self, own: &'m mut Own) -> Members<'m> {
        Members { shared: self, own }
    }

    /// The mapping, complete; if it `shares`, then its members with an equal one before it.
    pub(super) fn close_mapping(&mut self, own: Own, shares: bool) -> Map {
        let (start, shape) = match own {
            Own::From { start, shape } => (start.min(self.values.len()), shape),
            Own::Many(map) => return map,
        };
        let Some(names) = self.shapes.names(shape).filter(|_| shape != Shape::default()) else {
            return Map::new();
        };
        let values = self.values.get(start..).unwrap_or_default();
        let slot = if shares { self.known.slot(values) } else { None };
        let Some((number, slot)) = slot else {
            return Map::of(names.clone(), self.values.drain(start..));
        };
        if slot.0 != number || !slot.1.is(names, values) {
            *slot = (number, Map::of(names.clone(), self.values.drain(start..)));
        }
        self.values.truncate(start);
        slot.1.clone()
    }

    /// Where the items of a list begin that is open from now on.
    pub(super) const fn open_list(&self) -> usize {
        self.values.len()
    }

    pub(super) fn push(&mut self, item: Value) {
        self.values.push(item);
    }

    /// The list, complete.
    pub(super) fn close_list(&mut self, start: usize) -> Vec<Value> {
        self.values.split_off(start.min(self.values.len()))
    }
}

impl Members<'_> {
    /// Where the member of this name is, or where it belongs.
    #[inline]
    pub(super) fn place(&mut self, name: &str) -> Place {
        match self.own {
            Own::From { shape, .. } => self.shared.shapes.place(*shape, name),
            // A map finds the place itself.
            Own::Many(map) if map.contains_key(name) => Place::There(0),
            Own::Many(_) => Place::Beyond,
        }
    }

    /// Adds a member, unless one has its name; where it belongs.
    #[inline]
    pub(super) fn add(&mut self, name: &str, value: Value) -> Option<Place> {
        let place = self.place(name);
        if let Place::There(_) = place {
            return None;
        }
        self.set(place, name, value);
        Some(place)
    }

    pub(super) fn contains(&mut self, name: &str) -> bool {
        matches!(self.place(name), Place::There(_))
    }

    /// Sets the value of a name at the place that [`Members::place`] said.
    #[inline]
    pub(super) fn set(&mut self, place: Place, name: &str, value: Value) {
        match (&mut *self.own, place) {
            // Most mappings are written in the order of their names.
            (Own::From { start, shape }, Place::Next(next, position))
                if *start + position >= self.shared.values.len() =>
            {
                *shape = next;
                self.shared.values.push(value);
            }
            _ => self.set_inside(place, name, value),
        }
    }

    /// The same where it is not the last one.
    #[inline(never)]
    fn set_inside(&mut self, place: Place, name: &str, value: Value) {
        let Shared { values, shapes, .. } = &mut *self.shared;
        let (start, shape) = match self.own {
            Own::From { start, shape } => (*start, shape),
            Own::Many(map) => {
                map.insert(name, value);
                return;
            }
        };
        match place {
            Place::Next(next, position) => {
                *shape = next;
                values.insert((start + position).min(values.len()), value);
            }
            Place::There(position) => {
                if let Some(member) = values.get_mut(start + position) {
                    *member = value;
                }
            }
            Place::Beyond => {
                let names = shapes.names(*shape).cloned().unwrap_or_default();
                let mut map = Map::of(names, values.drain(start.min(values.len())..));
                map.insert(name, value);
                *self.own = Own::Many(map);
            }
        }
    }
}
