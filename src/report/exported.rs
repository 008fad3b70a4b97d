//! Exported ManifestWorks: what the hub knows of each cluster.
//!
//! Owns: reading a work's condition Applied and the status feedback of its manifests
//! (docs/systems/ocm-work.md#feedback). Flows in: objects of kind ManifestWork with their status. Flows out:
//! [`ExportedWork`]. Must not know: what the feedback means for a status.

use std::collections::HashMap;

use serde_json::Value;

use super::status::WorkState;
use crate::diagnostic::{Code, Finding, Findings};
use crate::object::Object;
use crate::render::ManifestSummary;
use apimachinery::Field;

/// What marks a work as one of MGC's or ours (docs/systems/mgc.md#gateway-work).
const MANAGED_LABEL: (&str, &str) = ("kuadrant.io", "managed");
/// Names the hub object of a work.
const PARENT_ANNOTATION: &str = "kuadrant.io/parent";
/// The work that all Gateways of a cluster share; MGC's carries no label.
pub(super) const RBAC_WORK: &str = "gateway-rbac";

/// A ManifestWork as the hub holds it.
#[derive(Debug)]
pub(super) struct ExportedWork<'w> {
    /// The work.
    pub(super) object: &'w Object,
    /// Applied, NotApplied or Deleting.
    pub(super) state: WorkState,
    /// What its condition Applied says where it is not True.
    pub(super) because: Option<&'w str>,
    /// By group, resource (the kind where that is missing), namespace and name.
    manifests: HashMap<[&'w str; 4], ManifestStatus<'w>>,
}

/// What a cluster says of one manifest.
#[derive(Debug, Default)]
pub(super) struct ManifestStatus<'w> {
    /// Why it could not be applied, where its own condition Applied says so.
    pub(super) refused: Option<&'w str>,
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
        let applied = applied_of(&items(object, &status.get("conditions"), findings));
        let deleting = root.get("metadata").get("deletionTimestamp").is_present();
        let mut manifests = HashMap::new();
        let statuses = status.get("resourceStatus").get("manifests");
        for (position, manifest) in items(object, &statuses, findings).into_iter().enumerate() {
            let meta = manifest.get("resourceMeta");
            let text = |name: &str| meta.get(name).str().unwrap_or_default();
            let resource = match text("resource") {
                "" => text("kind"),
                resource => resource,
            };
            let conditions = items(object, &manifest.get("conditions"), findings);
            let values = items(object, &manifest.get("statusFeedback").get("values"), findings);
            let read = ManifestStatus {
                refused: applied_problem(applied_of(&conditions)),
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
            manifests.insert([text("group"), resource, text("namespace"), text("name")], read);
        }
        let state = match (deleting, applied) {
            (true, _) => WorkState::Deleting,
            (false, Some((true, _))) => WorkState::Applied,
            (false, _) => WorkState::NotApplied,
        };
        Self {
            object,
            state,
            because: applied_problem(applied),
            manifests,
        }
    }

    /// What the cluster says of a manifest of the plan.
    pub(super) fn manifest<'s>(&'s self, planned: &'s ManifestSummary) -> Option<&'s ManifestStatus<'w>> {
        let (group, namespace) = (planned.group.as_str(), planned.namespace.as_str());
        let key = |resource: &'s str| [group, resource, namespace, planned.name.as_str()];
        let by_resource = self.manifests.get(&key(&planned.resource));
        by_resource.or_else(|| self.manifests.get(&key(&planned.kind)))
    }

    /// Whether MGC or this crate made it: other works are nobody's business here.
    pub(super) fn is_ours(&self) -> bool {
        let (label, value) = MANAGED_LABEL;
        self.object.label(label) == Some(value) || self.parent().is_some() || self.object.name == RBAC_WORK
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
            .help("export the works again, `kubectl get manifestwork -A -o yaml`; if it stays so, look at the feedback rule of this name")
    }
}

/// The items of a list; of something else, a finding.
fn items<'w>(object: &Object, field: &Field<'w>, findings: &mut Findings) -> Vec<Field<'w>> {
    if let Err(mismatch) = field.list() {
        findings.push(
            Finding::new(
                Code::OBJECT_SCHEMA,
                object.place(field.pointer()),
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

/// Whether the condition Applied is True, and its message or reason; `None` when nobody has written it yet.
fn applied_of<'w>(conditions: &[Field<'w>]) -> Option<(bool, Option<&'w str>)> {
    let applied = conditions
        .iter()
        .find(|condition| condition.get("type").str() == Some("Applied"))?;
    let words = |name: &str| applied.get(name).str().filter(|text| !text.is_empty());
    let because = words("message").or_else(|| words("reason"));
    Some((applied.get("status").str() == Some("True"), because))
}

fn applied_problem(applied: Option<(bool, Option<&str>)>) -> Option<&str> {
    match applied {
        Some((false, because)) => Some(because.unwrap_or("Applied is not True")),
        _ => None,
    }
}
