//! The places whose own findings explain a finding.
//!
//! Owns: how they are kept: those in the document of the finding without it, so that findings about other documents can
//! share the list. Flows in: places. Flows out: [`Causes`]. Must not know: what is found at them.

use kube_json::Text;

use super::{DocumentId, Few, Part, Place, SharedTexts};

/// Places of a finding's own document, and of others.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Causes {
    here: Few<Text>,
    elsewhere: Few<Place>,
}

impl Causes {
    /// No places.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            here: Few::new(),
            elsewhere: Few::new(),
        }
    }

    /// Adds a place to those of a finding in the document `own`.
    pub(super) fn push(&mut self, place: Place, own: Option<DocumentId>) {
        match place {
            Place::Field {
                document,
                pointer,
                part: Part::Value,
            } if Some(document) == own => self.here.push(pointer),
            place => self.elsewhere.push(place),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.here.is_empty() && self.elsewhere.is_empty()
    }

    /// Document and pointer of each, where it has one; `own` is the document of the finding.
    pub fn fields(&self, own: Option<DocumentId>) -> impl Iterator<Item = (DocumentId, &str)> {
        let here = own
            .into_iter()
            .flat_map(|own| self.here.iter().map(move |pointer| (own, pointer.as_str())));
        here.chain(self.elsewhere.iter().filter_map(Place::field))
    }

    /// Takes over the texts of earlier findings.
    pub(super) fn share(&mut self, shared: &mut SharedTexts) {
        shared.list(&mut self.here);
        for place in self.elsewhere.own() {
            shared.place(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SourceId;
    use super::*;

    fn document(index: u32) -> DocumentId {
        let source = SourceId(0);
        DocumentId { source, index }
    }

    #[test]
    fn findings_of_two_documents_share_the_list_of_what_is_in_their_own() {
        let mut shared = SharedTexts::default();
        let [one, two] = [0, 1].map(|index| {
            let mut causes = Causes::new();
            let own = Some(document(index));
            for pointer in [
                "/spec/rules/0/backendRefs/0/kind",
                "/spec/rules/0/backendRefs/0/name",
            ] {
                causes.push(Place::value(document(index), pointer), own);
            }
            causes.share(&mut shared);
            let fields: Vec<_> = causes.fields(own).collect();
            let pointers = [
                "/spec/rules/0/backendRefs/0/kind",
                "/spec/rules/0/backendRefs/0/name",
            ];
            assert_eq!(fields, pointers.map(|pointer| (document(index), pointer)));
            causes
        });
        assert_eq!(one.here.as_ptr(), two.here.as_ptr());
    }

    #[test]
    fn a_place_elsewhere_keeps_its_document() {
        let mut causes = Causes::new();
        assert!(causes.is_empty());
        causes.push(Place::value(document(1), "/a"), Some(document(0)));
        causes.push(Place::value(document(0), "/b"), None);
        causes.push(Place::key(document(0), "/c"), Some(document(0)));
        causes.push(Place::Run, None);
        assert!(!causes.is_empty());
        let fields: Vec<_> = causes.fields(Some(document(0))).collect();
        assert_eq!(
            fields,
            [(document(1), "/a"), (document(0), "/b"), (document(0), "/c")]
        );
    }
}
