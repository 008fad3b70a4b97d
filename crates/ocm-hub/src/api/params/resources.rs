//! The resources that parameters list, checked against the table of kinds, as the RFC promises: a resource exists, serves
//! the version, and has what its list requires: a target reference (a policy), parentRefs (a route), or a choice of
//! objects.

use std::collections::BTreeSet;

use super::read::{Check, place};
use super::{Chosen, Entry, Feedback, Params, Reported, Retained, Role, SyncedResource};
use crate::api::crd::Scope;
use crate::api::feedback_path::FeedbackPath;
use crate::api::gateway::{GROUP, is_listener_set};
use crate::api::kinds::{KindTable, Near};
use crate::api::own_kinds;
use crate::api::schema::Labels;
use crate::diagnostic::Code;
use apimachinery::GroupKind;

/// Names that the renderer's own feedback rules use, alone and with `Reason` behind (docs/reference/what-is-rendered.md).
/// OCM refuses a name twice in one rule.
const REPORTED_CONDITIONS: [&str; 3] = ["accepted", "enforced", "programmed"];

impl Check<'_> {
    /// Adds the resource of an entry, if it is usable; reports it otherwise.
    pub(super) fn synced(
        &mut self,
        at: &str,
        entry: &Entry,
        role: Role,
        kinds: &KindTable,
        params: &mut Params,
    ) {
        let (group, plural) = (entry.group.as_str(), entry.resource.as_str());
        let name = called(group, plural);
        let feedback = self.feedback(at, entry, role);
        let listed = |resources: &[SyncedResource]| {
            let mut resources = resources.iter();
            resources.any(|other| other.group == group && other.resource == plural)
        };
        let as_policy = listed(&params.policies_to_sync);
        let as_resource = listed(&params.resources_to_sync) || listed(&params.objects_to_sync);
        if as_policy || as_resource {
            return if as_policy == (role == Role::Policy) {
                self.twice(at, &name);
            } else {
                let message = format!("{name} is listed in policiesToSync and in resourcesToSync");
                let help = "keep the entry in policiesToSync if its objects name a target, in resourcesToSync if they name parents";
                self.invalid(at, message, help);
            };
        }
        let Some((kind, role)) = self.resource(at, entry, role, kinds) else {
            return;
        };
        let is_set = is_listener_set(group, &kind);
        let resource = SyncedResource {
            group: entry.group.clone(),
            version: entry.version.clone(),
            resource: entry.resource.clone(),
            kind,
            feedback,
            chosen: self.chosen(at, entry, (role, is_set)),
        };
        match role {
            Role::Policy => params.policies_to_sync.push(resource),
            Role::Route => params.resources_to_sync.push(resource),
            Role::Object => params.objects_to_sync.push(resource),
        }
    }

    fn twice(&mut self, at: &str, name: &str) {
        let message = format!("{name} is listed twice");
        self.invalid(at, message, "keep one entry");
    }

    /// Adds a resource that is synced no longer. Its definition may be gone from the hub, too: so one that nobody knows
    /// is taken, unless it is one typo away from one that somebody does.
    pub(super) fn retained(&mut self, at: &str, entry: &Retained, kinds: &KindTable, params: &mut Params) {
        let (group, plural) = (entry.group.as_str(), entry.resource.as_str());
        let name = called(group, plural);
        let retained = (entry.group.clone(), entry.resource.clone());
        if params.retained_resources.contains(&retained) {
            return self.twice(at, &name);
        }
        if params.listed().any(|listed| listed == (group, plural)) {
            let message = format!("{name} is retained, but it is still synced");
            let help = "remove it here: synced resources may be deleted anyway";
            return self.invalid(at, message, help);
        }
        if let Err(near) = kinds.resource(group, plural)
            && (near.group.or(near.plural).is_some() || group.contains('/'))
        {
            return self.unknown(at, (group, plural), near);
        }
        params.retained_resources.push(retained);
    }

    /// Which objects of a resource go; a route goes with its parents, and a policy with its target.
    fn chosen(&mut self, at: &str, entry: &Entry, (role, is_set): (Role, bool)) -> Option<Chosen> {
        let (names, labels) = (format!("{at}/names"), format!("{at}/labelSelector"));
        let given = if entry.names.is_given() || self.refuses(&names) {
            Some(&names)
        } else {
            (entry.label_selector.is_some() || self.refuses(&labels)).then_some(&labels)
        };
        if role != Role::Object {
            let message = if is_set {
                "all ListenerSets are shipped, each with the Gateway that it names"
            } else {
                "all routes of this kind are shipped, each with the Gateways that it names"
            };
            if let Some(given) = given {
                self.invalid(given, message, "remove `names` and `labelSelector`");
            }
            return None;
        }
        if given.is_none() {
            let name = called(&entry.group, &entry.resource);
            let help = "add `names: [NAMESPACE/NAME]`, or `labelSelector: {matchLabels: {KEY: VALUE}}`";
            let message =
                format!("{name} has no spec.parentRefs, so the entry must name the objects to ship");
            self.resource_fault(&format!("{at}/resource"), message, help);
        }
        let mut chosen = Chosen {
            place: place(self.config_map, at, false),
            names: Vec::new(),
            labels: None,
        };
        for (index, name) in entry.names.items() {
            match name.split_once('/') {
                Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
                    chosen.names.push((namespace.to_owned(), name.to_owned()));
                }
                _ => {
                    let message = "an object is named by its namespace, a slash and its name";
                    self.invalid(&format!("{names}/{index}"), message, "write `NAMESPACE/NAME`");
                }
            }
        }
        let selector = entry.label_selector.as_ref().map(Labels::selector);
        match selector.map(|selector| selector.compile()) {
            Some(Ok(selector)) if !selector.requirements.is_empty() => chosen.labels = Some(selector),
            Some(_) if self.refuses(&labels) => {}
            // To Kubernetes it means everything: too much to be shipped by a typo.
            Some(Ok(_)) => {
                let message = "a label selector without requirements would ship every object of the kind";
                let help = "add `matchLabels` or `matchExpressions`, or name the objects under `names`";
                self.invalid(&labels, message, help);
            }
            Some(Err(error)) => self.fault(Code::PARAMS_INVALID, &labels, error.to_string(), None),
            None => {}
        }
        Some(chosen)
    }

    /// The kind of a resource that exists, serves the version and is what its list is for; and what its objects are.
    fn resource(&mut self, at: &str, entry: &Entry, role: Role, kinds: &KindTable) -> Option<(String, Role)> {
        let (group, plural) = (entry.group.as_str(), entry.resource.as_str());
        let name = called(group, plural);
        let unknown = |near| self.unknown(at, (group, plural), near);
        let known = kinds.resource(group, plural).map_err(unknown).ok()?;
        let kind = known.kind.as_ref();
        // A ListenerSet is attached to its Gateway by one parent, a route by several.
        let has_parents = known.parent_refs || is_listener_set(group, kind);
        let role = match role {
            Role::Route if !has_parents => Role::Object,
            role => role,
        };
        let (message, help) = match role {
            Role::Policy if !known.has_target => (
                format!("{name} has neither spec.targetRef nor spec.targetRefs, so {kind} is not a policy"),
                if has_parents {
                    "list the route in `resourcesToSync`"
                } else {
                    "list a kind whose objects name their target; other kinds belong in `resourcesToSync`"
                },
            ),
            Role::Object if known.has_target => (
                format!("{name} has a target reference, so {kind} is a policy"),
                "list it in `policiesToSync`",
            ),
            Role::Object if (group, kind) == (GROUP, "Gateway") => (
                "Gateways are placed by their Placement".to_owned(),
                "remove this entry",
            ),
            _ if group == own_kinds::GROUP => {
                (format!("{name} has no meaning on a cluster"), "remove this entry")
            }
            _ if known.scope == Scope::Cluster => (
                format!("{name} is cluster-scoped, but synced objects live in a namespace"),
                "list a namespaced kind; bring cluster-scoped objects to the spokes another way",
            ),
            _ if !known.serves(&entry.version) => {
                let message = format!("{name} does not serve version {:?}", entry.version);
                let help = format!("served: {}", known.versions.join(", "));
                self.resource_fault(&format!("{at}/version"), message, help);
                return None;
            }
            _ => return Some((kind.to_owned(), role)),
        };
        self.resource_fault(&format!("{at}/resource"), message, help);
        None
    }

    /// A resource that does not exist, with the nearest known group and plural.
    fn unknown(&mut self, at: &str, (group, plural): (&str, &str), near: Near<'_>) {
        let help = match (group.rsplit_once('/'), near.group, near.plural) {
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
        self.resource_fault(&format!("{at}/resource"), message, help);
    }

    /// Of a route nothing is reported but what is asked for, so that no name is taken.
    fn feedback(&mut self, at: &str, entry: &Entry, role: Role) -> Vec<Feedback> {
        let mut names = BTreeSet::new();
        let mut feedback = Vec::new();
        for (index, Reported { name, path }) in entry.feedback.items() {
            let at = format!("{at}/feedback/{index}");
            if !names.insert(name) {
                let message = format!("two feedback values are named {name:?}");
                self.invalid(&format!("{at}/name"), message, "rename one");
            }
            let condition = name.strip_suffix("Reason").unwrap_or(name);
            if role == Role::Policy && REPORTED_CONDITIONS.contains(&condition) {
                let message =
                    format!("the feedback name {name:?} belongs to a value that is always reported");
                self.invalid(&format!("{at}/name"), message, "rename it");
                continue;
            }
            match FeedbackPath::parse(path) {
                Ok(path) => feedback.push(Feedback {
                    name: name.clone(),
                    path,
                }),
                Err(error) => {
                    let message = format!("feedback path {path:?}: {error}");
                    self.invalid(&format!("{at}/path"), message, error.help());
                }
            }
        }
        feedback
    }
}

/// `httproutes.gateway.networking.k8s.io`; the plural alone for core kinds. Kubernetes prints the name of a resource in the
/// form of that of a kind.
fn called(group: &str, plural: &str) -> String {
    GroupKind::new(group, plural).to_string()
}
