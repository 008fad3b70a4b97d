//! A list that most findings have nothing in, or the same as many others.
//!
//! Owns: how such a list is kept. Flows in: items. Flows out: [`Few`]. Must not know: what they are.

use std::ops::Deref;
use std::sync::Arc;

/// A list of one word, which takes memory only for items, and shares them with its clones: there may be a hundred thousand
/// findings, each with several lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Few<T>(
    /// `None` where there are no items, so that equal lists are equal.
    Option<Arc<Vec<T>>>,
);

impl<T> Few<T> {
    /// No items.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Drops all items.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// The items, if no clone shares them.
    pub(super) fn own(&mut self) -> &mut [T] {
        self.0
            .as_mut()
            .and_then(Arc::get_mut)
            .map(Vec::as_mut_slice)
            .unwrap_or_default()
    }
}

impl<T: Clone> Few<T> {
    /// Adds an item at the end, without room for others: most lists have one.
    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            Some(items) => {
                let items = Arc::make_mut(items);
                items.reserve_exact(1);
                items.push(item);
            }
            none => *none = Some(Arc::new(vec![item])),
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().map(Vec::as_slice).unwrap_or_default()
    }
}

impl<'f, T> IntoIterator for &'f Few<T> {
    type Item = &'f T;
    type IntoIter = std::slice::Iter<'f, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Clone> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_one_word_and_equal_to_another_with_the_same_items() {
        assert_eq!(size_of::<Few<String>>(), size_of::<usize>());
        let mut one = Few::new();
        one.push("a");
        let mut other = one.clone();
        assert_eq!(one, other);
        other.push("b");
        assert_eq!(
            (&*one, &*other),
            (&["a"][..], &["a", "b"][..]),
            "clones share nothing that changes"
        );
        assert!(Few::new() < one && one < other);
        other.clear();
        assert_eq!(other, Few::new());
    }
}
