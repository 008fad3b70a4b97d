//! Exported ManifestWorks: what the hub knows of each cluster.
//!
//! Owns: reading a work's condition Applied and the status feedback of its manifests
//! (docs/systems/ocm-work.md#feedback). Flows in: objects of kind ManifestWork with their status. Flows out:
//! [`ExportedWork`]. Must not know: what the feedback means for a status.

use std::collections::HashMap;

use serde_json::Value;

use super::status::FailedManifest;
use crate::diagnostic::{Code, Finding, Findings};
use crate::object::Object;
use crate::object::well_known::{MANAGED, MANAGED_WORK_LABEL, PARENT_ANNOTATION};
use crate::render::ManifestSummary;
use apimachinery::Field;

/// The work that all Gateways of a cluster share; MGC's carries no label.
pub(super) const RBAC_WORK: &str = "gateway-rbac";

/// A ManifestWork as the hub holds it.
#[derive(Debug)]
pub(super) struct ExportedWork<'w> {
    /// The work.
    pub(super) object: &'w Object,
    /// Its condition Applied; `None` where nobody has written it yet.
    pub(super) applied: Option<Applied<'w>>,
    /// Whether it is being deleted.
    pub(super) is_deleting: bool,
    /// The generation of the spec that the agent has not looked at yet.
    pub(super) unobserved: Option<i64>,
    /// Those that could not be applied, in their order.
    pub(super) failed: Vec<FailedManifest>,
    /// By group, resource (the kind where that is missing), namespace and name.
    manifests: HashMap<[&'w str; 4], ManifestStatus<'w>>,
}

/// A condition Applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applied<'w> {
    Yes,
    /// Why not.
    No(&'w str),
}

/// What a cluster says of one manifest.
#[derive(Debug, Default)]
pub(super) struct ManifestStatus<'w> {
    /// Its own condition Applied.
    pub(super) applied: Option<Applied<'w>>,
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
        let mut failed = Vec::new();
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
                applied: condition(&conditions, "Applied").map(applied_of),
                unreadable: condition(&conditions, "StatusFeedbackSynced")
                    .and_then(|synced| applied_of(synced).problem()),
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
            if let Some(Applied::No(message)) = read.applied {
                failed.push(FailedManifest {
                    kind: text("kind").to_owned(),
                    namespace: text("namespace").to_owned(),
                    name: text("name").to_owned(),
                    message: message.to_owned(),
                });
            }
            manifests.insert([text("group"), resource, text("namespace"), text("name")], read);
        }
        let integer = |field: Field<'w>| field.integer().ok().flatten();
        let generation = integer(root.get("metadata").get("generation"));
        let observed = applied.and_then(|applied| integer(applied.get("observedGeneration")));
        Self {
            object,
            applied: applied.map(applied_of),
            is_deleting: root.get("metadata").get("deletionTimestamp").is_present(),
            unobserved: generation
                .filter(|generation| observed.is_some_and(|observed| observed < *generation)),
            failed,
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
        self.object.label(MANAGED_WORK_LABEL) == Some(MANAGED)
            || self.parent().is_some()
            || self.object.name == RBAC_WORK
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

fn condition<'c, 'w>(conditions: &'c [Field<'w>], kind: &str) -> Option<&'c Field<'w>> {
    let mut conditions = conditions.iter();
    conditions.find(|condition| condition.get("type").str() == Some(kind))
}

fn applied_of<'w>(condition: &Field<'w>) -> Applied<'w> {
    let words = |name: &str| condition.get(name).str().filter(|text| !text.is_empty());
    if condition.get("status").str() == Some("True") {
        return Applied::Yes;
    }
    let because = words("message").or_else(|| words("reason"));
    Applied::No(because.unwrap_or("Applied is not True"))
}

impl<'w> Applied<'w> {
    /// Why not, where it is not.
    fn problem(self) -> Option<&'w str> {
        match self {
            Self::Yes => None,
            Self::No(because) => Some(because),
        }
    }
}
