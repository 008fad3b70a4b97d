//! Finding a row of a table by its name.
//!
//! Owns: the index. Flows in: numbers of rows, names. Flows out: numbers. Must not know: what a row is.
//!
//! It keeps no names, of which a fleet has many: it compares those of the rows.

use std::hash::{BuildHasher as _, Hash};

use hashbrown::HashTable;

use apimachinery::NameHash;

/// The numbers of rows by their names.
#[derive(Debug)]
pub(super) struct RowIndex<I> {
    numbers: HashTable<I>,
    hashing: NameHash,
}

impl<I> Default for RowIndex<I> {
    fn default() -> Self {
        Self {
            numbers: HashTable::new(),
            hashing: NameHash::default(),
        }
    }
}

impl<I: Copy> RowIndex<I> {
    /// The row of this name. `name` gives that of a row.
    pub(super) fn find<N: Hash + Eq>(&self, wanted: N, name: impl Fn(I) -> N) -> Option<I> {
        let is_it = |row: &I| name(*row) == wanted;
        self.numbers.find(self.hashing.hash_one(&wanted), is_it).copied()
    }

    /// Makes room for so many more rows, so that none is hashed again.
    pub(super) fn reserve<N: Hash>(&mut self, more: usize, name: impl Fn(I) -> N) {
        let hash = |row: &I| self.hashing.hash_one(name(*row));
        self.numbers.reserve(more, hash);
    }

    /// The row of this name, or `new`, which from now on has it.
    pub(super) fn find_or_add<N: Hash + Eq>(&mut self, wanted: N, new: I, name: impl Fn(I) -> N) -> I {
        let is_it = |row: &I| name(*row) == wanted;
        let hash = |row: &I| self.hashing.hash_one(name(*row));
        *self
            .numbers
            .entry(self.hashing.hash_one(&wanted), is_it, hash)
            .or_insert(new)
            .get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_names_finds_its_own_row_and_no_other_one() {
        let names: Vec<String> = (0..1_000).map(|number: usize| number.to_string()).collect();
        let name = |row: usize| names[row].as_str();
        let mut index = RowIndex::default();
        for row in 0..500 {
            assert_eq!(index.find_or_add(name(row), row, name), row);
        }
        for row in 0..500 {
            assert_eq!(index.find(name(row), name), Some(row));
            assert_eq!(
                index.find_or_add(name(row), 999, name),
                row,
                "the first one counts"
            );
        }
        for row in 500..1_000 {
            assert_eq!(index.find(name(row), name), None);
        }
    }
}
