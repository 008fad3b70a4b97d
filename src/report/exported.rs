//! Exported ManifestWorks: what the hub knows of each cluster.
//!
//! Owns: reading a work's conditions, those of its manifests, and their status feedback
//! (docs/systems/ocm-work.md#feedback, docs/systems/ocm-work.md#what-a-work-says). Flows in: objects of kind
//! ManifestWork with their status. Flows out: [`ExportedWork`]. Must not know: what is planned, what the feedback means
//! for a status.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::status::{ManifestProblem, WorkState};
use crate::diagnostic::{Code, Finding, Findings};
use crate::object::Object;
use crate::object::well_known::PARENT_ANNOTATION;
use crate::render::ManifestSummary;
use apimachinery::Field;

/// The work that all Gateways of a cluster share; MGC's carries no label.
pub(super) const RBAC_WORK: &str = "gateway-rbac";

/// The reason that an agent may give for a conflict, and how an API server begins to speak of one
/// (docs/systems/ocm-work.md#server-side-apply).
const CONFLICT: &str = "ApplyConflict";
const CONFLICT_WORDS: &str = "Apply failed with ";

/// How the reason of a condition begins that a rule of the work made.
const BY_RULE: &str = "ConditionRule";

/// A ManifestWork as the hub holds it.
#[derive(Debug)]
pub(super) struct ExportedWork<'w> {
    /// The work.
    pub(super) object: &'w Object,
    /// Its condition Applied; `None` if it is not written yet.
    pub(super) applied: Option<Verdict<'w>>,
    /// Whether it is being deleted.
    pub(super) is_deleting: bool,
    /// Generations of the spec and of what the agent has looked at, where they differ.
    pub(super) unobserved: Option<(i64, i64)>,
    /// Why it is not available, where none of its manifests says so.
    pub(super) unavailable: Option<String>,
    /// What is wrong with its manifests: in each state in their order.
    pub(super) wrong: Vec<(WorkState, ManifestProblem)>,
    /// Conditions Applied by group, kind, namespace and name.
    kinds: HashMap<[&'w str; 4], Option<Verdict<'w>>>,
    /// By group, resource (the kind where that is missing), namespace and name.
    manifests: HashMap<[&'w str; 4], ManifestStatus<'w>>,
}

/// What a condition says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict<'w> {
    /// It is True.
    Yes,
    /// It is not.
    No {
        /// Its reason.
        reason: &'w str,
        /// Its message, or its reason where it has none.
        because: &'w str,
    },
}

/// What a cluster says of one manifest.
#[derive(Debug, Default)]
pub(super) struct ManifestStatus<'w> {
    /// Its own condition Applied.
    pub(super) applied: Option<Verdict<'w>>,
    /// Its own condition Available.
    pub(super) available: Option<Verdict<'w>>,
    /// Why the agent could not read a value that it was asked for.
    pub(super) unreadable: Option<&'w str>,
    feedback: Vec<Feedback<'w>>,
}

/// One value of status feedback.
#[derive(Debug)]
pub(super) struct Feedback<'w> {
    name: &'w str,
    value: &'w Value,
    /// Position of the manifest and of the value: a pointer is needed only where something is wrong.
    at: (usize, usize),
}

impl<'w> ExportedWork<'w> {
    /// Reads a work. What has no sense is a finding, and the rest is read all the same.
    pub(super) fn read(object: &'w Object, findings: &mut Findings) -> Self {
        let root = object.root();
        let status = root.get("status");
        let conditions = items(object, &status.get("conditions"), findings);
        let applied = condition(&conditions, "Applied");
        let mut manifests = HashMap::new();
        let mut kinds = HashMap::new();
        let mut is_any_unavailable = false;
        let mut wrong = Vec::new();
        let mut observed = applied.and_then(|applied| integer(&applied.get("observedGeneration")));
        let in_spec = manifests_of_spec(&root);
        let statuses = status.get("resourceStatus").get("manifests");
        for (position, manifest) in items(object, &statuses, findings).into_iter().enumerate() {
            let meta = manifest.get("resourceMeta");
            let text = |name: &'static str| meta.get(name).str().unwrap_or_default();
            let resource = match text("resource") {
                "" => text("kind"),
                resource => resource,
            };
            let conditions = items(object, &manifest.get("conditions"), findings);
            let values = items(object, &manifest.get("statusFeedback").get("values"), findings);
            let of_manifest = condition(&conditions, "Applied");
            // The oldest counts: what one of them says of an older spec says nothing of this one.
            let seen = of_manifest.and_then(|applied| integer(&applied.get("observedGeneration")));
            observed = observed.map(|observed| seen.unwrap_or(observed).min(observed));
            let synced = condition(&conditions, "StatusFeedbackSynced").map(Verdict::of);
            let available = condition(&conditions, "Available").map(Verdict::of);
            is_any_unavailable |= matches!(available, Some(Verdict::No { .. }));
            let read = ManifestStatus {
                applied: of_manifest.map(Verdict::of),
                // What a rule of the work makes of the object's conditions, those say better.
                available: available.filter(|available| !available.is_of_rule()),
                unreadable: synced.and_then(Verdict::problem),
                feedback: values
                    .into_iter()
                    .enumerate()
                    .filter_map(|(index, value)| {
                        Some(Feedback {
                            name: value.get("name").str()?,
                            value: value.get("fieldValue").value()?,
                            at: (position, index),
                        })
                    })
                    .collect(),
            };
            let mut report = |state: WorkState, reason: &str, message: &str| {
                let problem = ManifestProblem {
                    kind: text("kind").to_owned(),
                    namespace: text("namespace").to_owned(),
                    name: text("name").to_owned(),
                    reason: reason.to_owned(),
                    message: message.to_owned(),
                };
                wrong.push((state, problem));
            };
            let key = [text("group"), text("kind"), text("namespace"), text("name")];
            match (read.applied, read.available) {
                _ if in_spec.as_ref().is_some_and(|spec| !spec.contains(&key))
                    && !text("name").is_empty() =>
                {
                    report(
                        WorkState::LeftBehind,
                        "",
                        "its work no longer contains it, but still reports it",
                    );
                }
                (Some(no @ Verdict::No { reason, because }), _) => {
                    let state = if no.is_conflict() {
                        WorkState::Conflict
                    } else {
                        WorkState::NotApplied
                    };
                    report(state, reason, because);
                }
                (_, Some(Verdict::No { reason, because })) => report(WorkState::Unavailable, reason, because),
                _ => {}
            }
            if let Some(Verdict::No { reason, because }) = synced {
                report(WorkState::Unread, reason, because);
            }
            kinds.insert(key, read.applied);
            manifests.insert([text("group"), resource, text("namespace"), text("name")], read);
        }
        wrong.sort_by_key(|(state, _)| *state);
        let generation = integer(&root.get("metadata").get("generation"));
        let unobserved = generation
            .zip(observed)
            .filter(|(generation, observed)| observed < generation);
        // What failed, or is not there, explains it better.
        let is_failed =
            |(state, _): &(WorkState, _)| matches!(state, WorkState::Conflict | WorkState::NotApplied);
        let is_explained = is_any_unavailable || wrong.iter().any(is_failed);
        let available = condition(&conditions, "Available").filter(|_| !is_explained);
        Self {
            object,
            applied: applied.map(Verdict::of),
            is_deleting: root.get("metadata").get("deletionTimestamp").is_present(),
            unobserved,
            unavailable: available.and_then(|available| unavailable(available, generation)),
            wrong,
            kinds,
            manifests,
        }
    }

    /// Whether its agent says that it has applied an object: group, kind, namespace and name.
    pub(super) fn applies(&self, object: [&str; 4]) -> bool {
        self.kinds.get(&object) == Some(&Some(Verdict::Yes))
    }

    /// Whether its agent has it among what it applied: group, plural, namespace and name.
    pub(super) fn has(&self, resource: [&str; 4]) -> bool {
        self.manifests.contains_key(&resource)
    }

    /// What the cluster says of a manifest of the plan.
    pub(super) fn manifest<'s>(&'s self, planned: &'s ManifestSummary) -> Option<&'s ManifestStatus<'w>> {
        let (group, namespace) = (planned.group.as_str(), planned.namespace.as_str());
        let key = |resource: &'s str| [group, resource, namespace, planned.name.as_str()];
        let by_resource = self.manifests.get(&key(&planned.resource));
        by_resource.or_else(|| self.manifests.get(&key(&planned.kind)))
    }

    /// `namespace/name` of the hub object that it was made for.
    pub(super) fn parent(&self) -> Option<&'w str> {
        self.object.annotation(PARENT_ANNOTATION)
    }
}

impl<'w> ManifestStatus<'w> {
    /// The feedback of this name; names are compared without case, as MGC does
    /// (docs/systems/mgc.md#gateway-work).
    pub(super) fn get(&self, name: &str) -> Option<&Feedback<'w>> {
        self.feedback
            .iter()
            .find(|feedback| feedback.name.eq_ignore_ascii_case(name))
    }

    /// A text, or raw JSON as text.
    pub(super) fn text(&self, name: &str) -> Option<&'w str> {
        self.get(name)?.text()
    }

    /// The status of a condition: fed back as a text, or as a Boolean.
    pub(super) fn condition(&self, name: &str) -> Option<&'w str> {
        let feedback = self.get(name)?;
        match feedback.value.get("boolean").and_then(Value::as_bool) {
            Some(true) => Some("True"),
            Some(false) => Some("False"),
            None => feedback.text(),
        }
    }
}

impl<'w> Feedback<'w> {
    /// The value as it came; what came as raw JSON, as that.
    pub(super) fn value(&self) -> Option<Value> {
        if let Some(raw) = self.value.get("jsonRaw").and_then(Value::as_str) {
            return Some(serde_json::from_str(raw).unwrap_or_else(|_| raw.into()));
        }
        let mut values = ["string", "integer", "boolean"].iter();
        values.find_map(|kind| self.value.get(kind)).cloned()
    }

    fn text(&self) -> Option<&'w str> {
        let text = |name: &str| self.value.get(name).and_then(Value::as_str);
        text("string").or_else(|| text("jsonRaw"))
    }

    /// An integer; one that came as text or raw JSON counts too.
    pub(super) fn integer(&self) -> Option<i64> {
        let integer = self.value.get("integer").and_then(Value::as_i64);
        integer.or_else(|| self.text()?.trim().parse().ok())
    }

    /// A finding about the value.
    pub(super) fn wrong(&self, object: &Object, message: String) -> Finding {
        let (manifest, value) = self.at;
        let pointer =
            format!("/status/resourceStatus/manifests/{manifest}/statusFeedback/values/{value}/fieldValue");
        Finding::new(Code::OBJECT_SCHEMA, object.place(&pointer), message)
            .label(format!("feedback `{}`", self.name))
            .help("export the works again, `kubectl get manifestwork -A -o yaml`; if this remains, check the feedback rule of this name")
    }
}

/// The items of a list; of something else, a finding.
fn items<'w>(object: &Object, field: &Field<'w>, findings: &mut Findings) -> Vec<Field<'w>> {
    if let Err(mismatch) = field.list() {
        findings.push(
            Finding::new(
                Code::OBJECT_SCHEMA,
                object.place(&field.pointer()),
                format!("the status of {} cannot be read", object.identity()),
            )
            .label(format!(
                "expected {}, found {}",
                mismatch.expected, mismatch.found
            ))
            .help("export the works again: `kubectl get manifestwork -A -o yaml`"),
        );
    }
    field.items().collect()
}

fn condition<'c, 'w>(conditions: &'c [Field<'w>], kind: &str) -> Option<&'c Field<'w>> {
    let mut conditions = conditions.iter();
    conditions.find(|condition| condition.get("type").str() == Some(kind))
}

fn integer(field: &Field<'_>) -> Option<i64> {
    field.integer().ok().flatten()
}

/// Group, kind, namespace and name of each manifest of the spec; `None` where the export has no spec.
fn manifests_of_spec<'w>(root: &Field<'w>) -> Option<HashSet<[&'w str; 4]>> {
    let manifests = root.value()?.pointer("/spec/workload/manifests")?.as_array()?;
    let text = |manifest: &'w Value, pointer: &str| {
        let text = manifest.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default()
    };
    let keys = manifests.iter().map(|manifest| {
        let version = text(manifest, "/apiVersion");
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let [kind, namespace, name] =
            ["/kind", "/metadata/namespace", "/metadata/name"].map(|pointer| text(manifest, pointer));
        [group, kind, namespace, name]
    });
    Some(keys.collect())
}

/// Why a work is not available by its own condition: it says so, or speaks of an older spec.
fn unavailable(condition: &Field<'_>, generation: Option<i64>) -> Option<String> {
    if let Verdict::No { because, .. } = Verdict::of(condition) {
        return Some(because.to_owned());
    }
    let observed = integer(&condition.get("observedGeneration"))?;
    let generation = generation.filter(|generation| observed < *generation)?;
    Some(format!(
        "Available is about generation {observed}, but the work has generation {generation}"
    ))
}

impl<'w> Verdict<'w> {
    fn of(condition: &Field<'w>) -> Self {
        let words = |name: &'static str| condition.get(name).str().filter(|text| !text.is_empty());
        if condition.get("status").str() == Some("True") {
            return Self::Yes;
        }
        let reason = words("reason").unwrap_or_default();
        let because = words("message").or_else(|| words("reason"));
        Self::No {
            reason,
            because: because.unwrap_or("its condition is not True"),
        }
    }

    /// Why not, where it is not.
    fn problem(self) -> Option<&'w str> {
        match self {
            Self::Yes => None,
            Self::No { because, .. } => Some(because),
        }
    }

    /// Whether a rule of the work said it, and not the agent (docs/systems/ocm-work.md#what-a-work-says).
    fn is_of_rule(self) -> bool {
        matches!(self, Self::No { reason, .. } if reason.starts_with(BY_RULE))
    }

    /// Whether another manager owns a field that server-side apply sets.
    fn is_conflict(self) -> bool {
        match self {
            Self::Yes => false,
            Self::No { reason, because } => {
                reason == CONFLICT || (because.contains(CONFLICT_WORDS) && because.contains("conflict"))
            }
        }
    }
}
