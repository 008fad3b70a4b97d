//! One finding: what is wrong, where, why, and what to type next.

use std::sync::Arc;

use apimachinery::Identity;
use kube_json::Text;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Code, Place, Severity};

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

/// A part of the identity of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityPart {
    /// Its kind.
    Kind,
    /// Its `metadata.name`.
    Name,
    /// Its `metadata.namespace`.
    Namespace,
}

/// What programs read of a violation of a FleetRule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingData {
    /// The name of the rule.
    pub rule: String,
    /// All clusters where it is violated, sorted.
    pub clusters: Arc<[Arc<str>]>,
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
pub struct Finding {
    /// The stable code, such as `policy/target-not-found`.
    pub code: Code,
    /// Starts as the code's default; configuration may change it when findings are collected.
    pub severity: Severity,
    /// One sentence without a full stop: what is wrong.
    pub message: Text,
    /// The place it is about.
    pub place: Place,
    /// What is under the caret at `place`; may be empty.
    pub label: Text,
    /// Further places that explain it.
    pub related: Vec<Label>,
    /// Why: rules, candidates, limits; each one sentence.
    pub notes: Vec<Text>,
    /// What to type or change next.
    pub help: Option<Text>,
    /// A rule of a schema over everything inside the place: a finding about the wrong part explains it better.
    pub is_rule: bool,
    /// Objects whose own findings explain this one ([`Finding::follows_from`]).
    pub causes: Vec<Place>,
    /// The object that the input lacks, if that is what it reports.
    pub missing: Option<Identity>,
    /// The part of the identity of its object that is unknown because of it.
    pub unknown: Option<IdentityPart>,
    /// What programs read of it, besides its place.
    pub data: Option<FindingData>,
    /// Why it is not counted, if it is accepted.
    pub suppressed: Option<Suppressed>,
    /// Whether no more need be reported about the shape of the field at its place ([`Finding::settles_field`]).
    pub settles_field: bool,
    /// The field that is missing because its key is misspelled here.
    pub misspells: Option<Place>,
    /// The name that nothing has, if a definition is near it: all findings about it have one cause.
    pub lacks: Option<Lacks>,
    /// The hubs that ClusterOverlays make and that have this mistake, by position; none if the hub has it as it is written.
    pub projections: Option<Arc<[usize]>>,
}

impl Finding {
    /// A finding with the default severity of its code.
    pub fn new(code: Code, place: Place, message: impl Into<Text>) -> Self {
        Self {
            code,
            severity: code.default_severity(),
            message: message.into(),
            place,
            label: Text::new(),
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            is_rule: false,
            causes: Vec::new(),
            missing: None,
            unknown: None,
            data: None,
            suppressed: None,
            settles_field: false,
            misspells: None,
            lacks: None,
            projections: None,
        }
    }

    /// That a stage of the run would take more work than a run allows, with what is at `place`, and what follows.
    pub fn too_costly(stage: &str, place: Place, consequence: &str) -> Self {
        let message = format!("{stage} takes more work than a run allows, so {consequence}");
        Self::new(Code::INPUT_TOO_COSTLY, place, message)
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
        self.causes.push(object);
        self
    }

    /// Says that this object is not in the input, and that the place is its name.
    #[must_use]
    pub fn missing(mut self, object: Identity) -> Self {
        self.missing = Some(object);
        self
    }

    /// Marks this part of the identity of its object as unknown, so the object may be any that the input lacks.
    #[must_use]
    pub const fn leaves_unknown(mut self, part: IdentityPart) -> Self {
        self.unknown = Some(part);
        self
    }

    /// Whether it reports that the input lacks something, or a consequence of that. It may be wrong if a part of the
    /// input could not be read.
    pub fn is_about_absence(&self) -> bool {
        self.missing.is_some() || self.code.is_about_absence()
    }

    /// Whether it counts as one of this severity: an accepted finding does not.
    pub fn counts_as(&self, severity: Severity) -> bool {
        self.severity == severity && self.suppressed.is_none()
    }

    /// Says that no more need be reported about the shape of the field at its place, key and value: it would be the same
    /// mistake, found again by the reader of the value.
    #[must_use]
    pub const fn settles_field(mut self) -> Self {
        self.settles_field = true;
        self
    }

    /// Names the field that is missing because its key is misspelled here.
    #[must_use]
    pub fn misspells(mut self, field: Place) -> Self {
        self.misspells = Some(field);
        self
    }

    /// Names what does not exist, and the definition of a near name.
    #[must_use]
    pub fn lacks(mut self, what: impl Into<String>, near: Place) -> Self {
        let what = what.into();
        self.lacks = Some(Lacks { what, near });
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

/// Where a suppression is written, in SARIF's terms (section 3.35.2 of
/// <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
pub enum SuppressedBy {
    /// The object itself, by an annotation.
    #[strum(serialize = "inSource")]
    Object,
    /// The configuration.
    #[strum(serialize = "external")]
    Configuration,
}

/// Why a finding is not counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suppressed {
    /// Where that is.
    pub by: SuppressedBy,
    /// The stated reason.
    pub reason: String,
}
