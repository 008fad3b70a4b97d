//! Which findings somebody accepted.
//!
//! Owns: which object and which file a finding is about, which suppressions hold, and the findings about those that do
//! not. Flows in: the configuration, the hub, the texts, findings. Flows out: what is said of each finding.
//! Must not know: how suppressions are written.

use std::collections::HashMap;

use globset::GlobMatcher;
use jiff::Timestamp;

use crate::api::suppression::{self, Scope, Suppression, invalid};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Severity, Suppressed};
use crate::hub::Hub;
use crate::object::Object;
use crate::source::Sources;

/// All suppressions of an input.
#[derive(Debug, Default)]
pub(super) struct Suppressions {
    holding: Vec<Suppression>,
}

impl Suppressions {
    /// Those of the configuration and of every object that hold at this time.
    pub(super) fn new(
        configured: &[Suppression],
        hub: &Hub,
        now: Option<Timestamp>,
        findings: &mut Findings,
    ) -> Self {
        let mut wrong = Vec::new();
        let mut all = configured.to_vec();
        for object in objects(hub) {
            all.extend(suppression::of_object(object, &mut wrong));
        }
        findings.extend(wrong);
        all.retain(|suppression| {
            let ended = suppression
                .until
                .filter(|until| now.is_some_and(|now| now >= *until));
            let expired = ended.map(|_| {
                let message = format!("the suppression of {} has expired", suppression.code);
                let help = "correct what it is about and remove it, or write a later `until`";
                invalid(suppression.place.clone(), message, help)
            });
            findings.extend(expired);
            ended.is_none()
        });
        Self { holding: all }
    }

    /// Whether there is none.
    pub(super) const fn is_empty(&self) -> bool {
        self.holding.is_empty()
    }

    /// Who accepted a finding, if anybody did.
    pub(super) fn of<'s>(&'s self, about: &'s About<'_>) -> impl Fn(&Finding) -> Option<Suppressed> + 's {
        move |finding| {
            let mut holding = self.holding.iter();
            let found = holding.find(|suppression| about.is_meant(suppression, finding));
            found.map(Suppression::suppressed)
        }
    }

    /// What is wrong with suppressions that accept none of all findings.
    pub(super) fn unused(&self, about: &About<'_>, all: &Findings) -> Vec<Finding> {
        let found = |suppression: &Suppression| {
            let mut meant = all
                .iter()
                .filter(|finding| about.is_meant(suppression, finding))
                .peekable();
            let (code, place) = (suppression.code, suppression.place.clone());
            if meant.peek().is_none() {
                // An error may keep back what it is for.
                if all.has_errors() {
                    return None;
                }
                let message = format!("the suppression of {code} suppresses nothing");
                let finding = Finding::new(Code::SUPPRESSION_UNUSED, place, message);
                return Some(
                    finding.help("remove it; if something should be suppressed, correct `object` and `path`"),
                );
            }
            let error = meant.all(|finding| finding.severity == Severity::Error);
            error.then(|| {
                let message = format!("{code} is an error here, and errors cannot be suppressed");
                let help = "correct what it is about, or make the code a warning under `findings` in spokewright.yaml";
                invalid(place, message, help)
            })
        };
        self.holding.iter().filter_map(found).collect()
    }
}

fn objects(hub: &Hub) -> impl Iterator<Item = &Object> {
    hub.objects
        .iter()
        .chain(hub.spokes.values().flat_map(|objects| objects.iter()))
}

/// What findings are about.
#[derive(Debug)]
pub(super) struct About<'a> {
    hub: &'a Hub,
    sources: &'a Sources,
    objects: HashMap<DocumentId, Vec<&'a Object>>,
}

impl<'a> About<'a> {
    /// Indexes the objects by their documents.
    pub(super) fn new(hub: &'a Hub, sources: &'a Sources) -> Self {
        let mut by_document: HashMap<DocumentId, Vec<&'a Object>> = HashMap::new();
        for object in objects(hub) {
            by_document
                .entry(object.origin.document)
                .or_default()
                .push(object);
        }
        Self {
            hub,
            sources,
            objects: by_document,
        }
    }

    /// Whether a suppression means a finding, whatever its severity.
    fn is_meant(&self, suppression: &Suppression, finding: &Finding) -> bool {
        if suppression.code != finding.code {
            return false;
        }
        match &suppression.scope {
            Scope::Own(origin) => {
                let object = self.object(&finding.place);
                object.is_some_and(|object| object.origin == *origin)
            }
            Scope::Named { object, path } => {
                let is_named = |wanted: &String| {
                    let object = self.object(&finding.place);
                    object.is_some_and(|object| self.hub.is_called(object, wanted))
                };
                // By the number of the file, because a position costs a look into its text.
                let source = match &finding.place {
                    Place::Field { document, .. } | Place::Embedded { document, .. } => Some(document.source),
                    Place::Text { source, .. } => Some(*source),
                    Place::Path(_) | Place::Run => None,
                };
                let file = match &finding.place {
                    Place::Path(path) => Some(path.as_str()),
                    _ => source.and_then(|source| Some(self.sources.file(source)?.relative.as_str())),
                };
                let is_in = |glob: &GlobMatcher| file.is_some_and(|path| glob.is_match(path));
                object.as_ref().is_none_or(is_named) && path.as_ref().is_none_or(is_in)
            }
        }
    }

    /// The object at a place.
    fn object(&self, place: &Place) -> Option<&'a Object> {
        let is_inside = |object: &&&Object| place.is_within(&object.place(""));
        // A list may hold lists.
        let all = self.objects.get(&place.document()?)?.iter().filter(is_inside);
        all.max_by_key(|object| object.origin.pointer.len()).copied()
    }
}
