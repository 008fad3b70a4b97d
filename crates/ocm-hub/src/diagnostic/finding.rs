//! One finding: what is wrong, where, why, and what to type next.
//!
//! Owns: its parts. Flows in: the texts and places of a stage. Flows out: a [`Finding`]. Must not know: how it is
//! shown.

use kube_json::Text;

use super::{Causes, Code, DocumentId, Few, Message, Place, Severity, SharedTexts, Suppressed};

/// A place with a few words about it: the other side of a conflict, the first of two duplicates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What is there, a few words without a full stop.
    pub text: Text,
}

/// A name that something refers to and nothing has, and the definition of a near one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lacks {
    /// What does not exist, such as `Gateway shop/web`.
    pub what: String,
    /// The near name, or the near namespace, in the object that defines it.
    pub near: Place,
}

/// One thing that spokewright reports about its input.
///
/// ```
/// use ocm_hub::diagnostic::{Code, Finding, Place};
///
/// let finding = Finding::new(Code::EMPTY_NOTHING_RENDERED, Place::Run, "no cluster receives anything")
///     .help("pass --allow-empty if that is what you mean");
/// assert_eq!(finding.code.name(), "empty/nothing-rendered");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The stable code, such as `policy/target-not-found`.
    pub code: Code,
    /// Starts as the code's default; configuration may change it when findings are collected.
    pub severity: Severity,
    /// One sentence without a full stop: what is wrong.
    pub message: Message,
    /// The place it is about.
    pub place: Place,
    /// What is under the caret at `place`; may be empty.
    pub label: Text,
    /// Further places that explain it.
    pub related: Few<Label>,
    /// Why: rules, candidates, limits; each one sentence.
    pub notes: Few<Text>,
    /// What to type or change next.
    pub help: Option<Text>,
    /// A rule of a schema over everything inside the place: a finding about the wrong part explains it better.
    pub is_rule: bool,
    /// Objects whose own findings explain this one ([`Finding::follows_from`]).
    pub causes: Causes,
    /// Whether it settles the shape of the field that it is about ([`Finding::settles`]).
    pub(crate) settles_place: bool,
    pub(crate) rest: Option<Box<Rest>>,
}

/// What few findings have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    suppressed: Option<Suppressed>,
    settles: Few<(DocumentId, Text)>,
    misspells: Option<Place>,
    lacks: Option<Lacks>,
}

impl Finding {
    /// A finding with the default severity of its code.
    #[must_use]
    pub fn new(code: Code, place: Place, message: impl Into<Message>) -> Self {
        Self {
            code,
            severity: code.default_severity(),
            message: message.into(),
            place,
            label: Text::new(),
            related: Few::new(),
            notes: Few::new(),
            help: None,
            is_rule: false,
            causes: Causes::new(),
            settles_place: false,
            rest: None,
        }
    }

    /// Sets the words under the caret.
    #[must_use]
    pub fn label(mut self, text: impl Into<Text>) -> Self {
        self.label = text.into();
        self
    }

    /// Adds a further place.
    #[must_use]
    pub fn related(mut self, place: Place, text: impl Into<Text>) -> Self {
        let text = text.into();
        self.related.push(Label { place, text });
        self
    }

    /// Adds a sentence of explanation.
    #[must_use]
    pub fn note(mut self, text: impl Into<Text>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Sets the help line.
    #[must_use]
    pub fn help(mut self, text: impl Into<Text>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Says that this may be so only because an object, at this place, is wrong. When anything as severe is found in
    /// it, this is left out: one mistake is reported once, where it is.
    #[must_use]
    pub fn follows_from(mut self, object: Place) -> Self {
        self.causes.push(object, self.place.document());
        self
    }

    /// Document and pointer of what it [follows from](Self::follows_from).
    pub fn causes(&self) -> impl Iterator<Item = (DocumentId, &str)> {
        self.causes.fields(self.place.document())
    }

    /// Whether it reports that the input lacks something, or a consequence of that. It may be wrong if a part of the
    /// input could not be read.
    #[must_use]
    pub fn is_about_absence(&self) -> bool {
        self.code.is_about_absence() || self.is_about_parameters()
    }

    /// Whether it reports that the ConfigMap of a class is not in the input.
    fn is_about_parameters(&self) -> bool {
        let pointer = self.place.field().map_or("", |(_, pointer)| pointer);
        self.code == Code::PARAMS_INVALID && pointer.contains("/spec/parametersRef/")
    }

    /// Whether the place is a name, of an object that is not in the input.
    #[must_use]
    pub fn is_about_a_name(&self) -> bool {
        self.code.is_about_a_name() || self.is_about_parameters()
    }

    /// Whether it counts as one of this severity: an accepted finding does not.
    #[must_use]
    pub fn counts_as(&self, severity: Severity) -> bool {
        self.severity == severity && self.suppressed().is_none()
    }

    /// Says that no more need be reported about the shape of a field, key and value, by its document and JSON pointer: it
    /// would be the same mistake, found again by the reader of the value.
    #[must_use]
    pub fn settles(mut self, field: (DocumentId, Text)) -> Self {
        if self.settled_place().is_none() && self.is_at(&field) {
            self.settles_place = true;
        } else {
            self.rest().settles.push(field);
        }
        self
    }

    /// The fields that it [settles](Self::settles).
    pub fn settled(&self) -> impl Iterator<Item = (DocumentId, &Text)> {
        let others = self.rest.iter().flat_map(|rest| &rest.settles);
        let others = others.map(|(document, pointer)| (*document, pointer));
        self.settled_place().into_iter().chain(others)
    }

    /// Whether it [settles](Self::settles) any field.
    #[must_use]
    pub fn settles_any(&self) -> bool {
        self.settled().next().is_some()
    }

    /// Most findings of schemas settle the field that they are about, so that is not kept twice.
    fn settled_place(&self) -> Option<(DocumentId, &Text)> {
        match &self.place {
            Place::Field {
                document, pointer, ..
            } if self.settles_place => Some((*document, pointer)),
            _ => None,
        }
    }

    fn is_at(&self, (document, pointer): &(DocumentId, Text)) -> bool {
        matches!(&self.place, Place::Field { document: own, pointer: at, .. } if own == document && at == pointer)
    }

    /// Why it is not counted, if it is accepted.
    #[must_use]
    pub fn suppressed(&self) -> Option<&Suppressed> {
        self.rest.as_ref()?.suppressed.as_ref()
    }

    /// Sets why it is not counted.
    pub fn suppress(&mut self, suppressed: Option<Suppressed>) {
        self.rest().suppressed = suppressed;
        if self.rest.as_deref() == Some(&Rest::default()) {
            self.rest = None;
        }
    }

    /// The field that is missing because its key is misspelled here.
    #[must_use]
    pub fn misspelled(&self) -> Option<&Place> {
        self.rest.as_ref()?.misspells.as_ref()
    }

    /// Names the field that is missing because its key is misspelled here.
    #[must_use]
    pub fn misspells(mut self, field: Place) -> Self {
        self.rest().misspells = Some(field);
        self
    }

    /// The name that nothing has, if a definition is near it: all findings about it have one cause.
    #[must_use]
    pub fn lacking(&self) -> Option<&Lacks> {
        self.rest.as_ref()?.lacks.as_ref()
    }

    /// The same with the texts of earlier findings, where they are equal.
    #[must_use]
    pub fn sharing(mut self, shared: &mut SharedTexts) -> Self {
        self.share(shared);
        self
    }

    /// Takes over the texts of earlier findings. The label names the object, so it stays.
    pub(super) fn share(&mut self, shared: &mut SharedTexts) {
        self.message.share(shared);
        shared.place(&mut self.place);
        shared.list(&mut self.notes);
        for label in self.related.own() {
            shared.place(&mut label.place);
            shared.text(&mut label.text);
        }
        shared.causes(&mut self.causes);
        if let Some(help) = &mut self.help {
            shared.text(help);
        }
    }

    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }

    /// Names what does not exist, and the definition of a near name.
    #[must_use]
    pub fn lacks(mut self, what: impl Into<String>, near: Place) -> Self {
        let what = what.into();
        self.rest().lacks = Some(Lacks { what, near });
        self
    }

    /// Makes this one occurrence a warning although its code defaults to an error (or the reverse), if a rule of
    /// docs/reference/findings.md requires it: `policy/target-not-found` on a route.
    #[must_use]
    pub const fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_small() {
        // There may be a hundred thousand. With the two counts of an `Arc`, these are 160 bytes, a size that allocators
        // have; one word more takes 32.
        assert!(size_of::<Finding>() <= 144, "{}", size_of::<Finding>());
        assert!(size_of::<Place>() <= 32, "{}", size_of::<Place>());
    }

    #[test]
    fn what_is_taken_back_leaves_no_trace() {
        let found = || Finding::new(Code::POLICY_UNUSED, Place::Run, "unused");
        let mut finding = found();
        let by = crate::diagnostic::SuppressedBy::Object;
        let reason = "meant".to_owned();
        finding.suppress(Some(Suppressed { by, reason }));
        assert_ne!(finding, found());
        finding.suppress(None);
        assert_eq!(finding, found());
    }
}
