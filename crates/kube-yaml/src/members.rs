//! The members of the mappings that are open, and the items of the lists, on one stack each.
//!
//! Owns: where they wait until their collection is complete. Flows in: complete members and items. Flows out: maps and
//! lists that take exactly the memory that they need. Must not know: events, positions, texts.

use kube_json::{Map, Text, Value};

use super::known::Known;

/// Inserting into the middle of a sorted list moves what follows: a mapping with more members than this is a map of its
/// own, which becomes a tree.
const LONGEST_LIST: usize = 512;

/// What the documents that are read one after the other share: what is equal in the next one shares the members of
/// mappings before it, and memory is taken once. It decides only what takes memory of its own, never what is read, so it
/// may be used for any documents in any order.
#[derive(Debug, Default)]
pub struct Shared {
    // What is inside the collections that are open; the innermost collection's is last.
    members: Vec<(Text, Value)>,
    items: Vec<Value>,
    known: Known,
}

/// The members of one open mapping.
pub(super) enum Own {
    /// From here on the stack, sorted by name.
    From(usize),
    Many(Map),
}

/// The innermost mapping that is open.
pub(super) struct Members<'m> {
    stack: &'m mut Vec<(Text, Value)>,
    own: &'m mut Own,
}

impl Shared {
    /// Forgets what waits: the last document may have ended with an error.
    pub(super) fn begin(&mut self) {
        self.members.clear();
        self.items.clear();
    }

    pub(super) const fn open_mapping(&self) -> Own {
        Own::From(self.members.len())
    }

    pub(super) const fn members<'m>(&'m mut self, own: &'m mut Own) -> Members<'m> {
        Members {
            stack: &mut self.members,
            own,
        }
    }

    /// The mapping, complete; if it `shares`, then its members with an equal one before it.
    pub(super) fn close_mapping(&mut self, own: Own, shares: bool) -> Map {
        let start = match own {
            Own::From(start) => start.min(self.members.len()),
            Own::Many(map) => return map,
        };
        let members = self.members.get(start..).unwrap_or_default();
        if !shares || members.is_empty() {
            return Map::from_sorted(self.members.drain(start..));
        }
        let slot = self.known.slot(members);
        if let Some(known) = slot.as_deref().filter(|known| is_equal(known, members)) {
            let known = known.clone();
            self.members.truncate(start);
            return known;
        }
        let map = Map::from_sorted(self.members.drain(start..));
        if let Some(slot) = slot {
            slot.clone_from(&map);
        }
        map
    }

    /// Where the items of a list begin that is open from now on.
    pub(super) const fn open_list(&self) -> usize {
        self.items.len()
    }

    pub(super) fn push(&mut self, item: Value) {
        self.items.push(item);
    }

    /// The list, complete.
    pub(super) fn close_list(&mut self, start: usize) -> Vec<Value> {
        self.items.drain(start.min(self.items.len())..).collect()
    }
}

impl Members<'_> {
    /// Where the member of this name is, or where it belongs.
    pub(super) fn position(&self, name: &str) -> Result<usize, usize> {
        let start = match &*self.own {
            Own::From(start) => *start,
            // A map finds the place itself.
            Own::Many(map) => return if map.contains_key(name) { Ok(0) } else { Err(0) },
        };
        let members = self.stack.get(start..).unwrap_or_default();
        match members.last() {
            // Most mappings are written in the order of their names.
            Some((last, _)) if last.as_str() >= name => members
                .binary_search_by(|(there, _)| there.as_str().cmp(name))
                .map(|position| start + position)
                .map_err(|position| start + position),
            _ => Err(start + members.len()),
        }
    }

    /// Adds a member, unless one has its name.
    pub(super) fn add(&mut self, name: Text, value: Value) -> bool {
        if let Own::From(start) = *self.own
            && let members = self.stack.get(start..).unwrap_or_default()
            && members.len() < LONGEST_LIST
            && members.last().is_none_or(|(last, _)| *last < name)
        {
            self.stack.push((name, value));
            return true;
        }
        let position = self.position(&name);
        if position.is_err() {
            self.set(position, name, value);
        }
        position.is_err()
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.position(name).is_ok()
    }

    /// Sets the value of a name at the place that [`Members::position`] said.
    pub(super) fn set(&mut self, position: Result<usize, usize>, name: Text, value: Value) {
        let start = match self.own {
            Own::From(start) => *start,
            Own::Many(map) => {
                map.insert(name, value);
                return;
            }
        };
        match position {
            Ok(position) => {
                if let Some(member) = self.stack.get_mut(position) {
                    member.1 = value;
                }
            }
            Err(_) if self.stack.len().saturating_sub(start) >= LONGEST_LIST => {
                let mut map = Map::from_sorted(self.stack.drain(start..));
                map.insert(name, value);
                *self.own = Own::Many(map);
            }
            Err(position) => self.stack.insert(position.min(self.stack.len()), (name, value)),
        }
    }
}

fn is_equal(map: &Map, members: &[(Text, Value)]) -> bool {
    map.len() == members.len()
        && map
            .iter()
            .zip(members)
            .all(|((name, value), (other_name, other))| name == other_name && value == other)
}
