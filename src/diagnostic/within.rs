//! Which findings stand in a value, or in something inside it, without asking each of them: a document may have thousands.
//!
//! Owns: this index. Flows in: places. Flows out: what was noted for the first of them, or for the worst. Must not know:
//! codes.

use std::collections::HashMap;

use super::{DocumentId, Place};

/// Something about findings, by every value that they stand in.
#[derive(Debug)]
pub(crate) struct Within<T> {
    by_value: HashMap<DocumentId, HashMap<String, T>>,
}

impl<T> Default for Within<T> {
    fn default() -> Self {
        Self {
            by_value: HashMap::new(),
        }
    }
}

impl<T: Copy + Ord> Within<T> {
    /// Notes `least` of a place, unless less is noted already.
    pub(crate) fn add(&mut self, place: &Place, least: T) {
        let Some((document, pointer)) = place.field() else {
            return;
        };
        let values = self.by_value.entry(document).or_default();
        let mut outer = Some(pointer);
        while let Some(pointer) = outer {
            match values.get_mut(pointer) {
                Some(known) => *known = least.min(*known),
                None => {
                    values.insert(pointer.to_owned(), least);
                }
            }
            outer = pointer.rfind('/').and_then(|end| pointer.get(..end));
        }
    }

    /// The least that was noted of a place [within](Place::is_within) this one.
    pub(crate) fn least(&self, place: &Place) -> Option<T> {
        let (document, pointer) = place.field()?;
        self.by_value.get(&document)?.get(pointer).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::SourceId;
    use super::*;

    fn at(index: u32, pointer: &str) -> Place {
        let source = SourceId(0);
        Place::value(DocumentId { source, index }, pointer)
    }

    #[test]
    fn it_says_what_asking_each_of_them_says() {
        let pointers = ["", "/a", "/a/b", "/a/b/c", "/ab", "/a~1b", "/a/0", "/b"];
        let noted = [(0, "/a/b", 2), (0, "/a/b/c", 1), (0, "/ab", 0), (1, "/b", 3)];
        let mut within = Within::default();
        for (document, pointer, number) in noted {
            within.add(&at(document, pointer), number);
        }
        within.add(&Place::Run, 0);
        assert_eq!(within.least(&Place::Run), None);
        for document in 0..3 {
            for outer in pointers.map(|pointer| at(document, pointer)) {
                let asked = noted
                    .iter()
                    .filter(|(document, pointer, _)| at(*document, pointer).is_within(&outer))
                    .map(|(_, _, number)| *number)
                    .min();
                assert_eq!(within.least(&outer), asked, "{outer:?}");
            }
        }
    }
}
