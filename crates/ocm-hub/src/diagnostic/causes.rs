//! The places whose own findings explain a finding.
//!
//! Owns: how they are kept: those in the document of the finding without it, so that findings about other documents can
//! share the list. Flows in: places. Flows out: [`Causes`]. Must not know: what is found at them.

use kube_json::Text;

use super::{DocumentId, Few, Part, Place};

/// Places of a finding's own document, and of others: a word, because there may be a hundred thousand findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Causes(Few<Cause>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Cause {
    /// The pointer of a value in the finding's own document.
    Here(Text),
    Elsewhere(Place),
}

impl Causes {
    /// No places.
    #[must_use]
    pub const fn new() -> Self {
        Self(Few::new())
    }

    /// Adds a place to those of a finding in the document `own`.
    pub(super) fn push(&mut self, place: Place, own: Option<DocumentId>) {
        self.0.push(match place {
            Place::Field {
                document,
                pointer,
                part: Part::Value,
            } if Some(document) == own => Cause::Here(pointer),
            place => Cause::Elsewhere(place),
        });
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Document and pointer of each, where it has one; `own` is the document of the finding.
    pub fn fields(&self, own: Option<DocumentId>) -> impl Iterator<Item = (DocumentId, &str)> {
        self.0.iter().filter_map(move |cause| match cause {
            Cause::Here(pointer) => Some((own?, pointer.as_str())),
            Cause::Elsewhere(place) => place.field(),
        })
    }

    /// The list, for those who know an equal one.
    pub(super) const fn list(&mut self) -> &mut Few<Cause> {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SharedTexts, SourceId};
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
            shared.causes(&mut causes);
            let fields: Vec<_> = causes.fields(own).collect();
            let pointers = [
                "/spec/rules/0/backendRefs/0/kind",
                "/spec/rules/0/backendRefs/0/name",
            ];
            assert_eq!(fields, pointers.map(|pointer| (document(index), pointer)));
            causes
        });
        assert_eq!(one.0.as_ptr(), two.0.as_ptr());
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
