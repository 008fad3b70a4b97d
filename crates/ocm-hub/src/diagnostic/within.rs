//! Finds the findings that are in a value, inside it, or around it, without asking each of them: a document may have
//! thousands.
//!
//! Owns: this index. Flows in: places. Flows out: what was noted for the first of them, or for the worst; whether there
//! is one. Must not know: codes.

use std::collections::HashMap;

use super::{DocumentId, Place};

/// Something about findings, by every value that they are in.
#[derive(Debug)]
pub struct Within<'p, T> {
    by_value: HashMap<DocumentId, HashMap<&'p str, Noted<T>>>,
}

#[derive(Debug)]
struct Noted<T> {
    least: T,
    /// Whether it was noted of this very value, not only of one inside it.
    is_here: bool,
}

impl<T> Default for Within<'_, T> {
    fn default() -> Self {
        let by_value = HashMap::new();
        Self { by_value }
    }
}

impl<'p, T: Copy + Ord> Within<'p, T> {
    /// Notes `least` of a place, unless less is noted already.
    pub fn add(&mut self, place: &'p Place, least: T) {
        let Some((document, pointer)) = place.field() else {
            return;
        };
        let values = self.by_value.entry(document).or_default();
        for outer in outwards(pointer) {
            let is_here = outer.len() == pointer.len();
            let noted = values.entry(outer).or_insert(Noted { least, is_here });
            noted.least = noted.least.min(least);
            noted.is_here |= is_here;
        }
    }

    /// The least that was noted of the same field of the same document, or below it.
    pub fn least(&self, place: &Place) -> Option<T> {
        self.least_of(place.field()?)
    }

    /// The same of a field by its document and pointer.
    pub fn least_of(&self, (document, pointer): (DocumentId, &str)) -> Option<T> {
        Some(self.by_value.get(&document)?.get(pointer)?.least)
    }

    /// Whether anything was noted of the same field of the same document, or of a value around it.
    pub fn is_around(&self, place: &Place) -> bool {
        let Some((document, pointer)) = place.field() else {
            return false;
        };
        let values = self.by_value.get(&document);
        values.is_some_and(|values| {
            outwards(pointer).any(|outer| values.get(outer).is_some_and(|noted| noted.is_here))
        })
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
        assert_eq!(within.least(&Place::Run), None);
        assert!(!within.is_around(&Place::Run));
        for document in 0..3 {
            for outer in pointers.map(|pointer| at(document, pointer)) {
                let asked = noted
                    .iter()
                    .filter(|(document, pointer, _)| is_within(&at(*document, pointer), &outer))
                    .map(|(_, _, number)| *number)
                    .min();
                assert_eq!(within.least(&outer), asked, "{outer:?}");
                let mut noted = noted.iter();
                let is_around =
                    noted.any(|(document, pointer, _)| is_within(&outer, &at(*document, pointer)));
                assert_eq!(within.is_around(&outer), is_around, "{outer:?}");
            }
        }
    }
}
