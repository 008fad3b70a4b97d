//! The resources that parameters list, checked against what exists.
//!
//! Owns: [`PolicyResource`], and the checks that the RFC promises: the resource exists, serves the version, and
//! has a target reference. Flows in: the entries, a [`ResourceCatalog`]. Flows out: resources, faults.
//! Must not know: where the catalog's kinds come from.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Check, Fault};
use crate::api::feedback_path::FeedbackPath;
use crate::diagnostic::Code;
use crate::object::Field;

/// Names that the renderer's own feedback rules use (design section 8); OCM refuses a name twice in one rule.
pub const RESERVED_FEEDBACK_NAMES: [&str; 6] = [
    "accepted",
    "acceptedReason",
    "enforced",
    "enforcedReason",
    "programmed",
    "programmedReason",
];

/// What a catalog knows about a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceLookup<'c> {
    /// It exists.
    Known {
        /// Its kind.
        kind: &'c str,
        /// Its served versions.
        versions: Vec<&'c str>,
        /// Whether its spec has `targetRef` or `targetRefs`.
        has_target: bool,
    },
    /// It does not.
    Unknown {
        /// Group and plural of the nearest one that does.
        nearest: Option<(&'c str, &'c str)>,
        /// The nearest known group, when the group itself is unknown.
        nearest_group: Option<&'c str>,
    },
}

/// The kinds of the input and the built-in ones, by resource name.
pub trait ResourceCatalog {
    /// Looks a resource up by its group and plural name.
    fn resource(&self, group: &str, plural: &str) -> ResourceLookup<'_>;
}

/// A policy resource to sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyResource {
    /// API group.
    pub group: String,
    /// Version that is synced.
    pub version: String,
    /// Plural resource name.
    pub resource: String,
    /// Its kind, from the catalog.
    pub kind: String,
    /// Further values to report.
    pub feedback: Vec<Feedback>,
}

/// A value to report from each spoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// Name in the work's status.
    pub name: String,
    /// Where it stands.
    pub path: FeedbackPath,
}

impl Check<'_> {
    /// Adds the usable resources of one field; reports the others.
    pub(super) fn resources(
        &mut self,
        params: &Value,
        field: &str,
        catalog: &dyn ResourceCatalog,
        resources: &mut Vec<PolicyResource>,
    ) {
        for entry in Field::new(params).get(field).items() {
            let text = |name: &str| entry.get(name).str();
            let (Some(group), Some(version), Some(plural)) =
                (text("group"), text("version"), text("resource"))
            else {
                // The schema has said so.
                continue;
            };
            let feedback = self.feedback(&entry);
            if resources
                .iter()
                .any(|other| other.group == group && other.resource == plural)
            {
                let message = format!("{plural}.{group} is listed twice");
                self.invalid(entry.pointer(), message, Some("keep one entry".to_owned()));
                continue;
            }
            if let Some(kind) = self.resource(&entry, group, version, plural, catalog) {
                resources.push(PolicyResource {
                    group: group.to_owned(),
                    version: version.to_owned(),
                    resource: plural.to_owned(),
                    kind,
                    feedback,
                });
            }
        }
    }

    /// The kind of a resource that exists, serves the version and is a policy.
    fn resource(
        &mut self,
        entry: &Field<'_>,
        group: &str,
        version: &str,
        plural: &str,
        catalog: &dyn ResourceCatalog,
    ) -> Option<String> {
        let mut refuse = |pointer: &str, message: String, help: Option<String>| {
            self.fault(Fault {
                code: Code::PARAMS_RESOURCE,
                pointer,
                at_key: false,
                message,
                help,
            });
        };
        match catalog.resource(group, plural) {
            ResourceLookup::Known {
                kind,
                versions,
                has_target,
            } => {
                if !has_target {
                    let message = format!(
                        "{plural}.{group} has neither spec.targetRef nor spec.targetRefs, so {kind} is no policy"
                    );
                    let help = "list a kind whose objects name their target; other kinds belong in `resourcesToSync`";
                    refuse(entry.get("resource").pointer(), message, Some(help.to_owned()));
                    None
                } else if versions.contains(&version) {
                    Some(kind.to_owned())
                } else {
                    let message = format!("{plural}.{group} does not serve version {version:?}");
                    let help = format!("served: {}", versions.join(", "));
                    refuse(entry.get("version").pointer(), message, Some(help));
                    None
                }
            }
            ResourceLookup::Unknown {
                nearest,
                nearest_group,
            } => {
                let help = match (nearest, nearest_group, group.rsplit_once('/')) {
                    (_, _, Some((bare, _))) => format!("write the group without a version: `{bare}`"),
                    (_, Some(near), None) => format!("did you mean the group `{near}`?"),
                    (Some((near_group, near)), None, None) if near_group == group => {
                        format!("did you mean `{near}`?")
                    }
                    (Some((near_group, near)), None, None) => {
                        format!("did you mean `{near}` of group `{near_group}`?")
                    }
                    (None, None, None) => "add its CustomResourceDefinition to the input".to_owned(),
                };
                let message = format!("there is no resource {plural:?} in group {group:?}");
                refuse(entry.get("resource").pointer(), message, Some(help));
                None
            }
        }
    }

    fn feedback(&mut self, entry: &Field<'_>) -> Vec<Feedback> {
        let mut names = BTreeSet::new();
        let mut feedback = Vec::new();
        for value in entry.get("feedback").items() {
            let (Some(name), Some(path)) = (value.get("name").str(), value.get("path").str()) else {
                continue;
            };
            if !names.insert(name) {
                let message = format!("two feedback values are named {name:?}");
                self.invalid(
                    value.get("name").pointer(),
                    message,
                    Some("rename one".to_owned()),
                );
            }
            if RESERVED_FEEDBACK_NAMES.contains(&name) {
                let message =
                    format!("the feedback name {name:?} is taken by a value that is always reported");
                self.invalid(value.get("name").pointer(), message, Some("rename it".to_owned()));
                continue;
            }
            match FeedbackPath::parse(path) {
                Ok(path) => feedback.push(Feedback {
                    name: name.to_owned(),
                    path,
                }),
                // The schema has refused the empty one.
                Err(_) if path.is_empty() => {}
                Err(error) => {
                    let message = format!("feedback path {path:?}: {error}");
                    self.invalid(value.get("path").pointer(), message, Some(error.help()));
                }
            }
        }
        feedback
    }
}
