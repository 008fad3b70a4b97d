//! Sets of clusters, with one flag for each cluster.
//!
//! Owns: unions, intersections, complements. Flows in: clusters. Flows out: clusters in ascending order, which is the
//! order of their names. Must not know: what a set means.

use crate::ids::{ClusterId, RowId as _};

/// A set of the clusters of one fleet: for each, whether it is a member.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bits(Vec<bool>);

impl Bits {
    /// No member.
    pub(crate) fn none(len: usize) -> Self {
        Self(vec![false; len])
    }

    /// Every member.
    pub(crate) fn all(len: usize) -> Self {
        Self(vec![true; len])
    }

    pub(crate) fn insert(&mut self, member: ClusterId) {
        self.set(member, true);
    }

    pub(crate) fn remove(&mut self, member: ClusterId) {
        self.set(member, false);
    }

    fn set(&mut self, member: ClusterId, is_member: bool) {
        if let Some(bit) = self.0.get_mut(member.position()) {
            *bit = is_member;
        }
    }

    pub(crate) fn contains(&self, member: ClusterId) -> bool {
        self.0.get(member.position()).copied().unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }

    pub(crate) fn keep(&mut self, other: &Self) {
        for (bit, other) in self.0.iter_mut().zip(&other.0) {
            *bit &= other;
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (bit, other) in self.0.iter_mut().zip(&other.0) {
            *bit |= other;
        }
    }

    pub(crate) fn invert(&mut self) {
        for bit in &mut self.0 {
            *bit = !*bit;
        }
    }

    /// The members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ClusterId> + '_ {
        let members = self.0.iter().enumerate().filter(|(_, bit)| **bit);
        members.map(|(position, _)| ClusterId::of_row(u32::try_from(position).unwrap_or(u32::MAX)))
    }

    /// The members as a list, ascending.
    pub(crate) fn to_list(&self) -> Vec<ClusterId> {
        self.iter().collect()
    }
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
            bits.insert(ClusterId::of_row(member));
        }
        assert_eq!(bits.to_list(), [0, 63, 64, 199].map(ClusterId::of_row));
        assert!(bits.contains(ClusterId::of_row(63)) && !bits.contains(ClusterId::of_row(65)));
    }
}
