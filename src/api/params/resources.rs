//! The resources that parameters list, checked against what exists.
//!
//! Owns: the checks that the RFC promises: the resource exists, serves the version, and has what its list asks for: a
//! target reference (a policy), or parentRefs (a route). Flows in: the entries, a [`ResourceCatalog`]. Flows out:
//! resources, faults. Must not know: where the catalog's kinds come from.

use std::collections::BTreeSet;

use serde_json::Value;

use super::check::{Check, Fault};
use super::values::{Feedback, Params, Role, SyncedResource};
use crate::api::feedback_path::FeedbackPath;
use crate::diagnostic::Code;
use apimachinery::Field;

/// Names that the renderer's own feedback rules use (README.md#what-is-rendered); OCM refuses a name twice in
/// one rule.
const RESERVED_FEEDBACK_NAMES: [&str; 6] = [
    "accepted",
    "acceptedReason",
    "enforced",
    "enforcedReason",
    "programmed",
    "programmedReason",
];

/// What a catalog knows about a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResourceLookup<'c> {
    /// It exists.
    Known {
        /// Its kind.
        kind: &'c str,
        /// Its served versions.
        versions: Vec<&'c str>,
        /// Whether its objects live in namespaces.
        namespaced: bool,
        /// Whether its spec has `targetRef` or `targetRefs`.
        has_target: bool,
        /// Whether its spec has `parentRefs`.
        has_parents: bool,
    },
    /// It does not.
    Unknown {
        /// The nearest known group, when the group itself is unknown.
        nearest_group: Option<&'c str>,
        /// The plural of the nearest resource of the group, or of the nearest one.
        nearest: Option<&'c str>,
    },
}

/// The kinds of the input and the built-in ones, by resource name.
pub(crate) trait ResourceCatalog {
    /// Looks a resource up by its group and plural name.
    fn resource(&self, group: &str, plural: &str) -> ResourceLookup<'_>;
}

impl Check<'_> {
    /// Adds the usable resources of one field; reports the others.
    pub(super) fn resources(
        &mut self,
        value: &Value,
        (field, role): (&str, Role),
        catalog: &dyn ResourceCatalog,
        params: &mut Params,
    ) {
        for entry in Field::new(value).get(field).items() {
            let text = |name: &str| entry.get(name).str();
            let (Some(group), Some(version), Some(plural)) =
                (text("group"), text("version"), text("resource"))
            else {
                // The schema has said so.
                continue;
            };
            let feedback = self.feedback(&entry, role);
            let listed = |resources: &[SyncedResource]| {
                resources
                    .iter()
                    .any(|other| other.group == group && other.resource == plural)
            };
            let (same, other) = match role {
                Role::Policy => (&params.policies_to_sync, &params.resources_to_sync),
                Role::Route => (&params.resources_to_sync, &params.policies_to_sync),
            };
            if listed(same) {
                let message = format!("{} is listed twice", called(group, plural));
                self.invalid(entry.pointer(), message, Some("keep one entry".to_owned()));
                continue;
            }
            if listed(other) {
                let message = format!(
                    "{} is listed in policiesToSync and in resourcesToSync",
                    called(group, plural)
                );
                let help = "keep the entry in policiesToSync if its objects name a target, in resourcesToSync if they name parents";
                self.invalid(entry.pointer(), message, Some(help.to_owned()));
                continue;
            }
            if let Some(kind) = self.resource(&entry, (group, version, plural), role, catalog) {
                let resource = SyncedResource {
                    group: group.to_owned(),
                    version: version.to_owned(),
                    resource: plural.to_owned(),
                    kind,
                    feedback,
                };
                match role {
                    Role::Policy => params.policies_to_sync.push(resource),
                    Role::Route => params.resources_to_sync.push(resource),
                }
            }
        }
    }

    /// The kind of a resource that exists, serves the version and is what its list is for.
    fn resource(
        &mut self,
        entry: &Field<'_>,
        (group, version, plural): (&str, &str, &str),
        role: Role,
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
        let name = called(group, plural);
        match catalog.resource(group, plural) {
            ResourceLookup::Known {
                kind,
                versions,
                namespaced,
                has_target,
                has_parents,
            } => {
                let wrong = match role {
                    Role::Policy if !has_target => Some((
                        format!(
                            "{name} has neither spec.targetRef nor spec.targetRefs, so {kind} is no policy"
                        ),
                        if has_parents {
                            "it is a route: list it in `resourcesToSync`"
                        } else {
                            "list a kind whose objects name their target; routes belong in `resourcesToSync`"
                        },
                    )),
                    Role::Route if !has_parents => Some((
                        format!("{name} has no spec.parentRefs, so {kind} is no route"),
                        if has_target {
                            "it is a policy: list it in `policiesToSync`"
                        } else {
                            "list a kind that attaches to Gateways by `parentRefs`, such as httproutes; Gateways go where their placement says, and Secrets with `secrets: Copy`"
                        },
                    )),
                    Role::Route if !namespaced => Some((
                        format!("{name} is cluster-scoped, and a route lives in a namespace"),
                        "list a namespaced kind",
                    )),
                    _ => None,
                };
                if let Some((message, help)) = wrong {
                    refuse(entry.get("resource").pointer(), message, Some(help.to_owned()));
                    None
                } else if versions.contains(&version) {
                    Some(kind.to_owned())
                } else {
                    let message = format!("{name} does not serve version {version:?}");
                    let help = format!("served: {}", versions.join(", "));
                    refuse(entry.get("version").pointer(), message, Some(help));
                    None
                }
            }
            ResourceLookup::Unknown {
                nearest_group,
                nearest,
            } => {
                let help = match (group.rsplit_once('/'), nearest_group, nearest) {
                    (Some((bare, _)), _, _) => format!("write the group without a version: `{bare}`"),
                    (None, Some(near), Some(resource)) if resource != plural => {
                        format!("did you mean `{resource}` of group `{near}`?")
                    }
                    (None, Some(near), _) => format!("did you mean the group `{near}`?"),
                    (None, None, Some(near)) => format!("did you mean `{near}`?"),
                    (None, None, None) => {
                        "add its CustomResourceDefinition to the input, or correct the name".to_owned()
                    }
                };
                let message = format!("there is no resource {plural:?} in group {group:?}");
                refuse(entry.get("resource").pointer(), message, Some(help));
                None
            }
        }
    }

    /// Of a route nothing is reported but what is asked for, so that no name is taken.
    fn feedback(&mut self, entry: &Field<'_>, role: Role) -> Vec<Feedback> {
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
            if role == Role::Policy && RESERVED_FEEDBACK_NAMES.contains(&name) {
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

/// `httproutes.gateway.networking.k8s.io`; the plural alone for core kinds.
fn called(group: &str, plural: &str) -> String {
    if group.is_empty() {
        plural.to_owned()
    } else {
        format!("{plural}.{group}")
    }
}
