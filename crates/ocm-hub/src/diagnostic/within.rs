//! Which findings are in a value, inside it, or around it, without asking each of them: a document may have thousands.

use std::collections::HashMap;

use super::{DocumentId, Place};

/// The least of what was noted of places, by every value that they are in, and whether it was noted of this very value.
#[derive(Debug)]
pub(super) struct Within<'p, T>(HashMap<(DocumentId, &'p str), (T, bool)>);

impl<T> Default for Within<'_, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<'p, T: Copy + Ord> Within<'p, T> {
    /// Notes `least` of a place, unless less is noted already.
    pub(super) fn add(&mut self, place: &'p Place, least: T) {
        let Some((document, pointer)) = place.field() else {
            return;
        };
        for outer in outwards(pointer) {
            let (noted, is_here) = self.0.entry((document, outer)).or_insert((least, false));
            *noted = least.min(*noted);
            *is_here |= outer.len() == pointer.len();
        }
    }

    /// The least that was noted of a field, by its document and pointer, or below it.
    pub(super) fn least(&self, field: (DocumentId, &str)) -> Option<T> {
        self.0.get(&field).map(|(least, _)| *least)
    }

    /// Whether anything was noted of the same field of the same document, or of a value around it.
    pub(super) fn is_around(&self, place: &Place) -> bool {
        let is_noted = |field| self.0.get(&field).is_some_and(|(_, is_here)| *is_here);
        place
            .field()
            .is_some_and(|(document, pointer)| outwards(pointer).any(|outer| is_noted((document, outer))))
    }
}

/// A pointer, and those of the values around it, inmost first.
fn outwards(pointer: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(pointer), |inner| {
        inner.rfind('/').and_then(|end| inner.get(..end))
    })
}

#[cfg(test)]
mod tests {
    use super::super::SourceId;
    use super::*;

    fn at(index: u32, pointer: &str) -> Place {
        let source = SourceId(0);
        Place::value(DocumentId { source, index }, pointer)
    }

    fn is_within(inner: &Place, outer: &Place) -> bool {
        let (Some((document, pointer)), Some((of, root))) = (inner.field(), outer.field()) else {
            return false;
        };
        let below = pointer.strip_prefix(root);
        document == of && below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    #[test]
    fn it_says_what_asking_each_of_them_says() {
        let pointers = ["", "/a", "/a/b", "/a/b/c", "/ab", "/a~1b", "/a/0", "/b"];
        let noted = [(0, "/a/b", 2), (0, "/a/b/c", 1), (0, "/ab", 0), (1, "/b", 3)];
        let mut within = Within::default();
        let places = noted.map(|(document, pointer, number)| (at(document, pointer), number));
        for (place, number) in &places {
            within.add(place, *number);
        }
        within.add(&Place::Run, 0);
        assert_eq!(Place::Run.field().and_then(|field| within.least(field)), None);
        assert!(!within.is_around(&Place::Run));
        for document in 0..3 {
            for outer in pointers.map(|pointer| at(document, pointer)) {
                let asked = noted
                    .iter()
                    .filter(|(document, pointer, _)| is_within(&at(*document, pointer), &outer))
                    .map(|(_, _, number)| *number)
                    .min();
                assert_eq!(
                    outer.field().and_then(|field| within.least(field)),
                    asked,
                    "{outer:?}"
                );
                let mut noted = noted.iter();
                let is_around =
                    noted.any(|(document, pointer, _)| is_within(&outer, &at(*document, pointer)));
                assert_eq!(within.is_around(&outer), is_around, "{outer:?}");
            }
        }
    }
}
