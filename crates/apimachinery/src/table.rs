//! Tables, and the numbers that identify their rows.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::broken;

/// The number of a row. Each table has a type of its own for it, so that no Gateway is looked up as a route.
pub trait RowId: Copy {
    /// The number of the row at this position.
    fn from_row(row: u32) -> Self;

    /// The position of its row.
    fn row(self) -> u32;

    /// The same as an index.
    fn position(self) -> usize {
        self.row() as usize
    }
}

/// Defines types of numbers: one for each table.
#[macro_export]
macro_rules! row_ids {
    ($($(#[$doc:meta])* $seen:vis $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $seen struct $name(u32);

        impl $crate::RowId for $name {
            fn from_row(row: u32) -> Self {
                Self(row)
            }

            fn row(self) -> u32 {
                self.0
            }
        }
    )*};
}

/// Rows that only grow in number. [`Table::push`] alone gives out numbers, and no row is ever taken out: so a row is
/// found by any number of its table, so it never has to be checked.
#[derive(Clone, PartialEq, Eq)]
pub struct Table<I, T> {
    rows: Vec<T>,
    numbers: PhantomData<fn() -> I>,
}

impl<I: RowId, T> Table<I, T> {
    /// The rows in the order of their numbers.
    pub fn from_rows(rows: Vec<T>) -> Self {
        Self {
            rows,
            numbers: PhantomData,
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: T) -> I {
        let id = self.next();
        self.rows.push(row);
        id
    }

    /// Adds the rows of another table, and returns the number here of each number there.
    pub fn append(&mut self, other: Self) -> impl Fn(I) -> I + use<I, T> {
        let first = self.next().row();
        self.rows.extend(other.rows);
        move |id| I::from_row(first.saturating_add(id.row()))
    }

    /// Makes room for so many more rows, and no others.
    pub fn reserve(&mut self, more: usize) {
        self.rows.reserve_exact(more);
    }

    /// Gives back the memory that was reserved for more rows.
    pub fn shrink_to_fit(&mut self) {
        self.rows.shrink_to_fit();
    }

    /// The number that the next row gets.
    pub fn next(&self) -> I {
        match u32::try_from(self.rows.len()) {
            Ok(row) => I::from_row(row),
            Err(_) => no_row(u32::MAX, self.rows.len()),
        }
    }

    /// The row of this number.
    #[track_caller]
    pub fn get(&self, id: I) -> &T {
        match self.rows.get(id.row() as usize) {
            Some(row) => row,
            None => no_row(id.row(), self.rows.len()),
        }
    }

    /// The same, to change it.
    #[track_caller]
    pub fn get_mut(&mut self, id: I) -> &mut T {
        let rows = self.rows.len();
        match self.rows.get_mut(id.row() as usize) {
            Some(row) => row,
            None => no_row(id.row(), rows),
        }
    }

    /// All rows, each with its number.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.ids().zip(&self.rows)
    }

    /// All rows.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// A table with the same numbers and other rows.
    pub fn map<'t, U>(&'t self, row: impl FnMut((I, &'t T)) -> U) -> Table<I, U> {
        Table::from_rows(self.iter().map(row).collect())
    }

    /// The same from what the rows become.
    pub fn into_map<U>(self, row: impl FnMut(T) -> U) -> Table<I, U> {
        Table::from_rows(self.rows.into_iter().map(row).collect())
    }

    /// All rows, to change them.
    pub fn rows_mut(&mut self) -> &mut [T] {
        &mut self.rows
    }

    /// The row that `order` says is the one, in a table that is sorted by it.
    pub fn binary_search_by(&self, order: impl FnMut(&T) -> Ordering) -> Option<I> {
        let row = self.rows.binary_search_by(order).ok()?;
        u32::try_from(row).ok().map(I::from_row)
    }

    /// All numbers.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0_u32..).take(self.rows.len()).map(I::from_row)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            numbers: PhantomData,
        }
    }
}

impl<I: RowId, T> FromIterator<T> for Table<I, T> {
    fn from_iter<V: IntoIterator<Item = T>>(rows: V) -> Self {
        Self::from_rows(rows.into_iter().collect())
    }
}

impl<I: RowId, T> Index<I> for Table<I, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, id: I) -> &T {
        self.get(id)
    }
}

impl<I: RowId, T> IndexMut<I> for Table<I, T> {
    #[track_caller]
    fn index_mut(&mut self, id: I) -> &mut T {
        self.get_mut(id)
    }
}

impl<I, T: fmt::Debug> fmt::Debug for Table<I, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.rows).finish()
    }
}

/// A number of another table, or more rows than memory has room for.
#[cold]
#[track_caller]
fn no_row(row: u32, rows: usize) -> ! {
    broken(format_args!("row {row} of a table that has {rows}"))
}
