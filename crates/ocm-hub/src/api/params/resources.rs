//! The resources that parameters list, checked against what exists.
//!
//! Owns: the checks that the RFC promises: the resource exists, serves the version, and has what its list requires: a
//! target reference (a policy), parentRefs (a route), or a choice of objects. Flows in: the entries, a
//! [`ResourceCatalog`]. Flows out: resources, faults. Must not know: where the catalog's kinds come from.

use std::collections::BTreeSet;

use kube_json::Value;

use super::check::{Check, Fault, place};
use super::values::{Chosen, Feedback, Params, Role, SyncedResource};
use crate::api::feedback_path::FeedbackPath;
use crate::api::gateway::{GROUP, is_listener_set};
use crate::diagnostic::Code;
use apimachinery::{Field, LabelSelector};

/// Names that the renderer's own feedback rules use (docs/reference/what-is-rendered.md); OCM refuses a name twice in
/// one rule.
const RESERVED_FEEDBACK_NAMES: [&str; 6] = [
    "accepted",
    "acceptedReason",
    "enforced",
    "enforcedReason",
    "programmed",
    "programmedReason",
];

/// The facts that a catalog has about a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceLookup<'c> {
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
pub trait ResourceCatalog {
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
            let text = |name: &'static str| entry.text(name);
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
            let is_policy = role == Role::Policy;
            let as_policy = listed(&params.policies_to_sync);
            let as_resource = listed(&params.resources_to_sync) || listed(&params.objects_to_sync);
            if (is_policy && as_policy) || (!is_policy && as_resource) {
                let message = format!("{} is listed twice", called(group, plural));
                self.invalid(&entry.pointer(), message, Some("keep one entry".to_owned()));
                continue;
            }
            if as_policy || as_resource {
                let message = format!(
                    "{} is listed in policiesToSync and in resourcesToSync",
                    called(group, plural)
                );
                let help = "keep the entry in policiesToSync if its objects name a target, in resourcesToSync if they name parents";
                self.invalid(&entry.pointer(), message, Some(help.to_owned()));
                continue;
            }
            if let Some((kind, role)) = self.resource(&entry, (group, version, plural), role, catalog) {
                let is_set = is_listener_set(group, &kind);
                let resource = SyncedResource {
                    group: group.to_owned(),
                    version: version.to_owned(),
                    resource: plural.to_owned(),
                    kind,
                    feedback,
                    chosen: self.chosen(&entry, &called(group, plural), (role, is_set)),
                };
                match role {
                    Role::Policy => params.policies_to_sync.push(resource),
                    Role::Route => params.resources_to_sync.push(resource),
                    Role::Object => params.objects_to_sync.push(resource),
                }
            }
        }
    }

    /// Adds the resources that are synced no longer. Of those the definition may be gone from the hub, too: so one that
    /// nobody knows is taken, unless it is one typo away from one that somebody does.
    pub(super) fn retained(&mut self, value: &Value, catalog: &dyn ResourceCatalog, params: &mut Params) {
        for entry in Field::new(value).get("retainedResources").items() {
            let text = |name: &'static str| entry.text(name);
            let (Some(group), Some(plural)) = (text("group"), text("resource")) else {
                // The schema has said so.
                continue;
            };
            let name = called(group, plural);
            if params
                .retained_resources
                .iter()
                .any(|(other, resource)| other == group && resource == plural)
            {
                let message = format!("{name} is listed twice");
                self.invalid(&entry.pointer(), message, Some("keep one entry".to_owned()));
                continue;
            }
            if params.listed().any(|listed| listed == (group, plural)) {
                let message = format!("{name} is retained, but it is still synced");
                let help = "remove it here: synced resources may be deleted anyway";
                self.invalid(&entry.pointer(), message, Some(help.to_owned()));
                continue;
            }
            match catalog.resource(group, plural) {
                ResourceLookup::Unknown {
                    nearest_group: None,
                    nearest: None,
                } if !group.contains('/') => {}
                ResourceLookup::Known { .. } => {}
                ResourceLookup::Unknown {
                    nearest_group,
                    nearest,
                } => {
                    self.unknown(&entry, (group, plural), (nearest_group, nearest));
                    continue;
                }
            }
            let retained = (group.to_owned(), plural.to_owned());
            params.retained_resources.push(retained);
        }
    }

    /// Which objects of a resource go; a route goes with its parents, and a policy with its target.
    fn chosen(&mut self, entry: &Field<'_>, name: &str, (role, is_set): (Role, bool)) -> Option<Chosen> {
        let (names, labels) = (entry.get("names"), entry.get("labelSelector"));
        let given = [&names, &labels].into_iter().find(|field| field.is_present());
        if role != Role::Object {
            if let Some(given) = given {
                let message = if is_set {
                    "all ListenerSets are shipped, each with the Gateway that it names"
                } else {
                    "all routes of this kind are shipped, each with the Gateways that it names"
                };
                let help = "remove `names` and `labelSelector`";
                self.invalid(&given.pointer(), message, Some(help.to_owned()));
            }
            return None;
        }
        if given.is_none() {
            let help = "add `names: [NAMESPACE/NAME]`, or `labelSelector: {matchLabels: {KEY: VALUE}}`";
            self.fault(Fault {
                code: Code::PARAMS_RESOURCE,
                pointer: &entry.get("resource").pointer(),
                at_key: false,
                message: format!("{name} has no spec.parentRefs, so the entry must name the objects to ship"),
                help: Some(help.to_owned()),
            });
        }
        let mut chosen = Chosen {
            place: place(self.config_map, &entry.pointer(), false),
            names: Vec::new(),
            labels: None,
        };
        for name in names.items() {
            match name.str().and_then(|text| text.split_once('/')) {
                Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
                    chosen.names.push((namespace.to_owned(), name.to_owned()));
                }
                _ => {
                    let message = "an object is named by its namespace, a slash and its name";
                    self.invalid(
                        &name.pointer(),
                        message,
                        Some("write `NAMESPACE/NAME`".to_owned()),
                    );
                }
            }
        }
        if labels.is_present() {
            match LabelSelector::read(&labels).compile() {
                // To Kubernetes it means everything: too much to be shipped by a typo.
                Ok(selector) if selector.requirements.is_empty() => {
                    let message = "a label selector without requirements would ship every object of the kind";
                    let help = "add `matchLabels` or `matchExpressions`, or name the objects under `names`";
                    self.invalid(&labels.pointer(), message, Some(help.to_owned()));
                }
                Ok(selector) => chosen.labels = Some(selector),
                Err(error) => self.invalid(&labels.pointer(), error.to_string(), None),
            }
        }
        Some(chosen)
    }

    /// The kind of a resource that exists, serves the version and is what its list is for; and what its objects are.
    fn resource(
        &mut self,
        entry: &Field<'_>,
        (group, version, plural): (&str, &str, &str),
        role: Role,
        catalog: &dyn ResourceCatalog,
    ) -> Option<(String, Role)> {
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
                // A ListenerSet is attached to its Gateway by one parent, a route by several.
                let has_parents = has_parents || is_listener_set(group, kind);
                let role = match role {
                    Role::Route if !has_parents => Role::Object,
                    role => role,
                };
                let wrong = match role {
                    Role::Policy if !has_target => Some((
                        format!(
                            "{name} has neither spec.targetRef nor spec.targetRefs, so {kind} is not a policy"
                        ),
                        if has_parents {
                            "list the route in `resourcesToSync`"
                        } else {
                            "list a kind whose objects name their target; other kinds belong in `resourcesToSync`"
                        },
                    )),
                    Role::Object if has_target => Some((
                        format!("{name} has a target reference, so {kind} is a policy"),
                        "list it in `policiesToSync`",
                    )),
                    Role::Object if (group, kind) == (GROUP, "Gateway") => Some((
                        "Gateways are placed by their Placement".to_owned(),
                        "remove this entry",
                    )),
                    _ if !namespaced => Some((
                        format!("{name} is cluster-scoped, but synced objects live in a namespace"),
                        "list a namespaced kind; bring cluster-scoped objects to the spokes another way",
                    )),
                    _ => None,
                };
                if let Some((message, help)) = wrong {
                    refuse(&entry.get("resource").pointer(), message, Some(help.to_owned()));
                    None
                } else if versions.contains(&version) {
                    Some((kind.to_owned(), role))
                } else {
                    let message = format!("{name} does not serve version {version:?}");
                    let help = format!("served: {}", versions.join(", "));
                    refuse(&entry.get("version").pointer(), message, Some(help));
                    None
                }
            }
            ResourceLookup::Unknown {
                nearest_group,
                nearest,
            } => {
                self.unknown(entry, (group, plural), (nearest_group, nearest));
                None
            }
        }
    }

    /// A resource that does not exist, with the nearest known group and plural.
    fn unknown(
        &mut self,
        entry: &Field<'_>,
        (group, plural): (&str, &str),
        (nearest_group, nearest): (Option<&str>, Option<&str>),
    ) {
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
        self.fault(Fault {
            code: Code::PARAMS_RESOURCE,
            pointer: &entry.get("resource").pointer(),
            at_key: false,
            message: format!("there is no resource {plural:?} in group {group:?}"),
            help: Some(help),
        });
    }

    /// Of a route nothing is reported but what is asked for, so that no name is taken.
    fn feedback(&mut self, entry: &Field<'_>, role: Role) -> Vec<Feedback> {
        let mut names = BTreeSet::new();
        let mut feedback = Vec::new();
        for value in entry.get("feedback").items() {
            let (Some(name), Some(path)) = (value.text("name"), value.text("path")) else {
                continue;
            };
            if !names.insert(name) {
                let message = format!("two feedback values are named {name:?}");
                self.invalid(
                    &value.get("name").pointer(),
                    message,
                    Some("rename one".to_owned()),
                );
            }
            if role == Role::Policy && RESERVED_FEEDBACK_NAMES.contains(&name) {
                let message =
                    format!("the feedback name {name:?} belongs to a value that is always reported");
                self.invalid(
                    &value.get("name").pointer(),
                    message,
                    Some("rename it".to_owned()),
                );
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
                    self.invalid(&value.get("path").pointer(), message, Some(error.help()));
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
