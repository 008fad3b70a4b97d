//! Which findings are accepted.
//!
//! Owns: which object and which file a finding is about, which suppressions apply, and the findings about those that do
//! not. Flows in: the configuration, the hub, the texts, findings. Flows out: the findings, with the accepted ones
//! marked.
//! Must not know: how suppressions are written.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use apimachinery::named_parts;
use jiff::Timestamp;

use crate::api::suppression::{self, Scope, Suppression, invalid};
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Severity, Suppressed};
use crate::hub::Hub;
use crate::object::{Object, Origin};
use crate::source::Sources;

/// All suppressions of an input.
#[derive(Debug, Default)]
pub(super) struct Suppressions {
    holding: Vec<Suppression>,
    /// Their positions, in groups of those that differ in their files only: there may be thousands of them and of
    /// findings.
    groups: Vec<Vec<usize>>,
    group_of: HashMap<(Code, Subject), usize>,
}

/// Findings about what a suppression means, wherever that is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Subject {
    Anything,
    Own(Origin),
    Called {
        /// One of [`Hub::spellings_of_kind`].
        kind: String,
        namespace: Option<String>,
        name: String,
    },
}

/// A group, and the path of a finding's file.
type InFile<'a> = (usize, Option<Cow<'a, str>>);

impl Subject {
    fn of(scope: &Scope) -> Option<Self> {
        let object = match scope {
            Scope::Own(origin) => return Some(Self::Own(origin.clone())),
            Scope::Named { object: None, .. } => return Some(Self::Anything),
            Scope::Named {
                object: Some(object), ..
            } => object,
        };
        let (kind, namespace, name) = named_parts(object)?;
        Some(Self::Called {
            kind: kind.to_ascii_lowercase(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }
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
                let help = "fix the finding and remove the suppression, or write a later `until`";
                invalid(suppression.place.clone(), message, help)
            });
            findings.extend(expired);
            ended.is_none()
        });
        let mut suppressions = Self::default();
        for (position, suppression) in all.iter().enumerate() {
            let Some(subject) = Subject::of(&suppression.scope) else {
                continue;
            };
            let next = suppressions.groups.len();
            let group = *suppressions
                .group_of
                .entry((suppression.code, subject))
                .or_insert(next);
            if group == next {
                suppressions.groups.push(Vec::new());
            }
            if let Some(group) = suppressions.groups.get_mut(group) {
                group.push(position);
            }
        }
        suppressions.holding = all;
        suppressions
    }

    /// Whether there is none.
    pub(super) const fn is_empty(&self) -> bool {
        self.holding.is_empty()
    }

    /// The suppression that accepts a finding, if there is one.
    pub(super) fn of<'s>(&'s self, about: &'s About<'_>) -> impl FnMut(&Finding) -> Option<Suppressed> + 's {
        let mut first_of: HashMap<InFile<'_>, Option<usize>> = HashMap::new();
        move |finding| {
            let first = self.groups_about(about, finding).into_iter().filter_map(|group| {
                if let Some(known) = first_of.get(&group) {
                    return *known;
                }
                let first = self.of_group(&group).next();
                first_of.insert(group, first);
                first
            });
            // The one that is first, as somebody would read them.
            self.holding.get(first.min()?).map(Suppression::suppressed)
        }
    }

    /// The groups that mean what a finding is about, each with the finding's file, which those of a group may leave
    /// out.
    fn groups_about<'a>(&self, about: &About<'a>, finding: &Finding) -> Vec<InFile<'a>> {
        let file = about.file(&finding.place);
        let groups = about.subjects(&finding.place).into_iter().filter_map(|subject| {
            let group = self.group_of.get(&(finding.code, subject))?;
            Some((*group, file.clone()))
        });
        groups.collect()
    }

    /// The suppressions of a group that apply to a file.
    fn of_group<'s>(&'s self, (group, file): &'s InFile<'_>) -> impl Iterator<Item = usize> + 's {
        let positions = self.groups.get(*group).into_iter().flatten().copied();
        positions.filter(
            move |position| match self.holding.get(*position).map(|one| &one.scope) {
                Some(Scope::Named { path: Some(glob), .. }) => {
                    file.as_deref().is_some_and(|path| glob.is_match(path))
                }
                Some(_) => true,
                None => false,
            },
        )
    }

    /// The findings about suppressions that accept none of all findings.
    pub(super) fn unused(&self, about: &About<'_>, all: &Findings) -> Vec<Finding> {
        // Whether all findings that are meant are errors.
        let mut only_errors: BTreeMap<InFile<'_>, bool> = BTreeMap::new();
        for finding in all {
            let is_error = finding.severity == Severity::Error;
            for group in self.groups_about(about, finding) {
                *only_errors.entry(group).or_insert(true) &= is_error;
            }
        }
        let mut meant: Vec<Option<bool>> = vec![None; self.holding.len()];
        for (group, only_errors) in &only_errors {
            for position in self.of_group(group) {
                if let Some(meant) = meant.get_mut(position) {
                    *meant = Some(meant.unwrap_or(true) && *only_errors);
                }
            }
        }
        let found = |(suppression, meant): (&Suppression, &Option<bool>)| {
            let (code, place) = (suppression.code, suppression.place.clone());
            let Some(error) = *meant else {
                // An error may keep back what it is for.
                if all.has_errors() {
                    return None;
                }
                let message = format!("the suppression of {code} suppresses nothing");
                let finding = Finding::new(Code::SUPPRESSION_UNUSED, place, message);
                return Some(finding.help("remove it, or correct `object` and `path`"));
            };
            error.then(|| {
                let message = format!("{code} is an error here, and errors cannot be suppressed");
                let help = "fix the finding, or make the code a warning under `findings` in spokewright.yaml";
                invalid(place, message, help)
            })
        };
        self.holding.iter().zip(&meant).filter_map(found).collect()
    }
}

fn objects(hub: &Hub) -> impl Iterator<Item = &Object> {
    hub.objects
        .iter()
        .chain(hub.spokes.values().flat_map(|objects| objects.iter()))
}

/// The objects that findings are about.
#[derive(Debug)]
pub(super) struct About<'a> {
    hub: &'a Hub,
    sources: &'a Sources,
    /// By the pointer in each document.
    objects: HashMap<DocumentId, BTreeMap<&'a str, &'a Object>>,
}

impl<'a> About<'a> {
    /// Indexes the objects by their places.
    pub(super) fn new(hub: &'a Hub, sources: &'a Sources) -> Self {
        let mut by_document: HashMap<DocumentId, BTreeMap<&'a str, &'a Object>> = HashMap::new();
        for object in objects(hub) {
            by_document
                .entry(object.origin.document)
                .or_default()
                .insert(&object.origin.pointer, object);
        }
        Self {
            hub,
            sources,
            objects: by_document,
        }
    }

    /// Whatever a suppression may call what is at a place.
    fn subjects(&self, place: &Place) -> Vec<Subject> {
        let mut subjects = vec![Subject::Anything];
        if let Some(object) = self.object(place) {
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
        let source = match place {
            Place::Field { document, .. } | Place::Embedded { document, .. } => document.source,
            Place::Text { source, .. } => *source,
            Place::Path(path) => return Some(Cow::Owned(path.clone())),
            Place::Run => return None,
        };
        Some(Cow::Borrowed(self.sources.file(source)?.relative.as_str()))
    }

    /// The object at a place.
    fn object(&self, place: &Place) -> Option<&'a Object> {
        let (document, pointer) = place.field()?;
        let objects = self.objects.get(&document)?;
        // A list may contain lists: this is the innermost object, from the place upward.
        let mut above = Some(pointer);
        while let Some(pointer) = above {
            if let Some(object) = objects.get(pointer) {
                return Some(object);
            }
            above = pointer.rsplit_once('/').map(|(above, _)| above);
        }
        None
    }
}
