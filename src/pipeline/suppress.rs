//! Which findings are accepted, by the suppressions of the configuration and of objects, and what is wrong with these.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;

use crate::api::suppression::{self, Subject, Suppression, invalid};
use crate::diagnostic::{Code, Finding, Findings, Place, Severity, Suppressed, SuppressedBy};
use crate::hub::{Hub, ObjectsByPlace};
use crate::source::Sources;

/// All suppressions of an input, in the order in which somebody would read them.
#[derive(Debug, Default)]
pub(super) struct Suppressions {
    all: Vec<Suppression>,
    /// Positions by what they mean, in whatever file: there may be thousands of them and of findings.
    by_subject: HashMap<(Code, Subject), Vec<usize>>,
}

impl Suppressions {
    /// The suppressions of the configuration and of every object that apply at this time.
    pub(super) fn new(
        configured: &[Suppression],
        hub: &Hub,
        now: Option<Timestamp>,
        findings: &mut Findings,
    ) -> Self {
        let mut wrong = Vec::new();
        let mut all = configured.to_vec();
        for object in hub.everywhere() {
            all.extend(suppression::from_object(object, &mut wrong));
        }
        findings.extend(wrong);
        all.retain(|suppression| {
            let ended = suppression
                .until
                .filter(|until| now.is_some_and(|now| now >= *until));
            let expired = ended.map(|_| {
                let message = format!("the suppression of {} has expired", suppression.code);
                let help = "fix the finding and remove the suppression, or write a later `until`";
                invalid(suppression.place.clone(), message, help)
            });
            findings.extend(expired);
            ended.is_none()
        });
        let mut by_subject: HashMap<(Code, Subject), Vec<usize>> = HashMap::new();
        for (position, suppression) in all.iter().enumerate() {
            let subject = (suppression.code, suppression.subject.clone());
            by_subject.entry(subject).or_default().push(position);
        }
        Self { all, by_subject }
    }

    /// Whether there is none.
    pub(super) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Why a finding is accepted, if it is: by the first suppression, as somebody would read them.
    pub(super) fn accepting(&self, about: &About<'_>, finding: &Finding) -> Option<Suppressed> {
        let first = self.meaning(about, finding).min();
        first
            .and_then(|first| self.all.get(first))
            .map(Suppression::suppressed)
    }

    /// The positions of the suppressions that mean a finding.
    fn meaning(&self, about: &About<'_>, finding: &Finding) -> impl Iterator<Item = usize> {
        let file = about.file(&finding.place);
        let subjects = about.subjects(&finding.place).into_iter();
        let positions = subjects.filter_map(|subject| self.by_subject.get(&(finding.code, subject)));
        positions.flatten().copied().filter(move |position| {
            let glob = self
                .all
                .get(*position)
                .and_then(|suppression| suppression.path.as_ref());
            glob.is_none_or(|glob| file.as_deref().is_some_and(|path| glob.is_match(path)))
        })
    }

    /// The findings about suppressions that accept none of all findings.
    pub(super) fn unused(&self, about: &About<'_>, all: &Findings) -> Vec<Finding> {
        // Whether all findings that each means are errors.
        let mut only_errors: Vec<Option<bool>> = vec![None; self.all.len()];
        for finding in all {
            let is_error = finding.severity == Severity::Error;
            for position in self.meaning(about, finding) {
                let by = self
                    .all
                    .get(position)
                    .map(|suppression| suppression.suppressed().by);
                // As `Findings::suppress` has it.
                let is_accepted =
                    finding.code == Code::RULE_VIOLATED && by == Some(SuppressedBy::Configuration);
                if let Some(only_errors) = only_errors.get_mut(position) {
                    *only_errors = Some(only_errors.unwrap_or(true) && is_error && !is_accepted);
                }
            }
        }
        let found = |(suppression, only_errors): (&Suppression, &Option<bool>)| {
            let (code, place) = (suppression.code, suppression.place.clone());
            match *only_errors {
                // An error may keep back what it is for.
                None if all.has_errors() => None,
                None => {
                    let message = format!("the suppression of {code} suppresses nothing");
                    let finding = Finding::new(Code::SUPPRESSION_UNUSED, place, message);
                    Some(finding.help("remove it, or correct `object` and `path`"))
                }
                Some(false) => None,
                Some(true) => {
                    let message = format!("{code} is an error here, and errors cannot be suppressed");
                    let help =
                        "fix the finding, or make the code a warning under `findings` in spokewright.yaml";
                    Some(invalid(place, message, help))
                }
            }
        };
        self.all.iter().zip(&only_errors).filter_map(found).collect()
    }
}

/// What findings are about.
#[derive(Debug)]
pub(super) struct About<'a> {
    hub: &'a Hub,
    sources: &'a Sources,
    objects: ObjectsByPlace<'a>,
}

impl<'a> About<'a> {
    /// Indexes the objects by their places.
    pub(super) fn new(hub: &'a Hub, sources: &'a Sources) -> Self {
        let objects = ObjectsByPlace::new(hub.everywhere());
        Self {
            hub,
            sources,
            objects,
        }
    }

    /// Whatever a suppression may call what is at a place.
    fn subjects(&self, place: &Place) -> Vec<Subject> {
        let mut subjects = vec![Subject::Anything];
        if let Some(object) = self.objects.at(place) {
            subjects.push(Subject::Own(object.origin.clone()));
            for kind in self.hub.spellings_of_kind(object) {
                for namespace in [None, Some(object.namespace_or_empty().to_owned())] {
                    subjects.push(Subject::Called {
                        kind: kind.clone(),
                        namespace,
                        name: object.name.to_string(),
                    });
                }
            }
        }
        subjects
    }

    /// The path of the file of a place.
    fn file(&self, place: &Place) -> Option<Cow<'a, str>> {
        // By the number of the file, because a position costs a look into its text.
        if let Place::Path(path) = place {
            return Some(Cow::Owned(path.clone()));
        }
        Some(Cow::Borrowed(
            self.sources.file(place.source()?)?.relative.as_str(),
        ))
    }
}
