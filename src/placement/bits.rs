//! Sets of small numbers: clusters by their index in the fleet.

/// A fixed-size set of `0..len`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// No member.
    pub(super) fn none(len: usize) -> Self {
        Self {
            words: vec![0; len.div_ceil(64)],
            len,
        }
    }

    /// Every member.
    pub(super) fn all(len: usize) -> Self {
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

    pub(super) fn insert(&mut self, member: u32) {
        let (word, bit) = place(member);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
        self.trim_if_last(member);
    }

    /// Members are below `len`; anything else would have landed in the last word's spare bits.
    fn trim_if_last(&mut self, member: u32) {
        if usize::try_from(member).is_ok_and(|member| member >= self.len) {
            self.trim();
        }
    }

    pub(super) fn remove(&mut self, member: u32) {
        let (word, bit) = place(member);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }

    pub(super) fn contains(&self, member: u32) -> bool {
        let (word, bit) = place(member);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(super) fn keep(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    pub(super) fn invert(&mut self) {
        for word in &mut self.words {
            *word = !*word;
        }
        self.trim();
    }

    /// The members in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let base = u32::try_from(index.saturating_mul(64)).unwrap_or(u32::MAX);
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                Some(base.saturating_add(bit))
            })
        })
    }

    /// The members as a list, ascending.
    pub(super) fn to_list(&self) -> Vec<u32> {
        let count: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        let mut list = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
        list.extend(self.iter());
        list
    }
}

fn place(member: u32) -> (usize, u64) {
    let word = usize::try_from(member / 64).unwrap_or(usize::MAX);
    (word, 1u64 << (member % 64))
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
            bits.insert(member);
        }
        assert_eq!(bits.to_list(), [0, 63, 64, 199]);
        assert!(bits.contains(63) && !bits.contains(65));
    }

    #[test]
    fn a_member_beyond_the_end_is_ignored() {
        let mut bits = Bits::none(10);
        bits.insert(11);
        bits.insert(5000);
        assert!(bits.is_empty());
    }
}
