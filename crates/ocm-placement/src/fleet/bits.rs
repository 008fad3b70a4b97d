//! Sets of clusters, with one bit for each cluster.
//!
//! Owns: unions, intersections, complements. Flows in: clusters. Flows out: clusters in ascending order, which is the
//! order of their names. Must not know: what a set means.

use crate::ids::{ClusterId, Id as _};

/// A set of the clusters of one fleet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// No member.
    pub(crate) fn none(len: usize) -> Self {
        Self {
            words: vec![0; len.div_ceil(64)],
            len,
        }
    }

    /// Every member.
    pub(crate) fn all(len: usize) -> Self {
        let mut bits = Self {
            words: vec![u64::MAX; len.div_ceil(64)],
            len,
        };
        bits.trim();
        bits
    }

    /// Clears what lies beyond `len`.
    fn trim(&mut self) {
        let used = self.len % 64;
        if used > 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1u64 << used).wrapping_sub(1);
        }
    }

    pub(crate) fn insert(&mut self, member: ClusterId) {
        let (word, bit) = place(member);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    pub(crate) fn remove(&mut self, member: ClusterId) {
        let (word, bit) = place(member);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }

    pub(crate) fn contains(&self, member: ClusterId) -> bool {
        let (word, bit) = place(member);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(crate) fn keep(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    pub(crate) fn invert(&mut self) {
        for word in &mut self.words {
            *word = !*word;
        }
        self.trim();
    }

    /// The members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ClusterId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let base = index.saturating_mul(64);
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                Some(ClusterId::new(base.saturating_add(bit)))
            })
        })
    }

    /// The members as a list, ascending.
    pub(crate) fn to_list(&self) -> Vec<ClusterId> {
        let count: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        let mut list = Vec::with_capacity(count as usize);
        list.extend(self.iter());
        list
    }
}

fn place(member: ClusterId) -> (usize, u64) {
    let position = member.position();
    (position / 64, 1u64 << (position % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverting_never_adds_what_is_not_there() {
        for len in [0usize, 1, 63, 64, 65, 130] {
            let mut bits = Bits::none(len);
            bits.invert();
            assert_eq!(bits.to_list().len(), len);
            assert_eq!(bits, Bits::all(len));
        }
    }

    #[test]
    fn members_come_back_in_ascending_order() {
        let mut bits = Bits::none(200);
        for member in [199, 0, 64, 63, 64] {
            bits.insert(ClusterId::new(member));
        }
        assert_eq!(bits.to_list(), [0, 63, 64, 199].map(ClusterId::new));
        assert!(bits.contains(ClusterId::new(63)) && !bits.contains(ClusterId::new(65)));
    }
}
