//! The policy kinds of the input: which kinds are policies, by configuration, profile, or label, and whether their CRDs
//! meet GEP-713 (docs/systems/gep-713.md#what-a-policy-kind-must-have).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apimachinery::{Field, GroupKind, Identity, Work, pointer};
use kube_json::Value;

use super::profile::Profile;
use super::profiles::{Profiles, Written};
use crate::api::crd;
use crate::api::crd::{GROUP, KIND, declared_kind};
use crate::api::policy::target_kinds;
use crate::diagnostic::{Code, Finding, Findings};
use crate::hub::{Hub, Objects, Ours};
use crate::object::well_known::POLICY_LABEL;
use crate::object::{Ages, Object};
use crate::topology::{Controllers, Seniority, Sources};

/// How a policy's spec becomes what its controller would read: defaults of its schema applied, nulls pruned.
/// `None` leaves the spec as it is, less its nulls.
pub(crate) type Interpret<'i> = &'i (dyn Fn(&Object) -> Option<Value> + Sync);

/// Why an API server refuses an object, if it does.
pub(crate) type Refused<'i> = &'i (dyn Fn(&Object) -> Option<String> + Sync);

/// The options from the configuration and the parameters.
#[derive(Clone, Copy, Default)]
#[expect(missing_debug_implementations, reason = "it contains functions")]
pub struct Options<'o> {
    /// Profiles; `None`: the built-in ones.
    pub profiles: Option<&'o Profiles>,
    /// Whether creation times count.
    pub ages: Ages,
    /// The same of routes and ListenerSets of the hub that are copied to a cluster.
    pub ages_of_hub: Ages,
    /// Further policy kinds: those in `policiesToSync`, which may carry no label.
    pub kinds: &'o [GroupKind],
    /// The kinds in `resourcesToSync`: those that are not Gateway API's are further kinds of routes.
    pub routes: &'o [GroupKind],
    /// The classes that ours become on clusters; `None`: no class is ours.
    pub controllers: Option<&'o Controllers>,
    /// Schema defaults, where a CRD is in the input.
    pub interpret: Option<Interpret<'o>>,
    /// The policies that an API server refuses, by their CRD or by the rules of their kind.
    pub refused: Option<Refused<'o>>,
    /// The root namespace of Istio's mesh; `None`: `istio-system`.
    pub root_namespace: Option<&'o str>,
    /// A policy that is taken not to be there.
    pub without: Option<&'o Identity>,
}

impl Options<'_> {
    /// By which ages routes and ListenerSets are ordered.
    pub(crate) const fn seniority(&self) -> Seniority {
        Seniority {
            ages: self.ages,
            of_originals: self.ages_of_hub,
        }
    }

    /// Whether an object is taken to be there.
    pub(crate) fn reads(&self, object: &Object) -> bool {
        self.without.is_none_or(|without| *without != object.identity())
    }
}

/// Asks the definitions of the input which targets the policies that are there may name. Where that takes more work than a
/// run spends, none of them says anything.
pub fn learn_targets(profiles: &mut Profiles, hub: &Hub, findings: &mut Findings) {
    let definitions = || hub.objects.iter().filter(|object| crd::is_one(object));
    let work = Work::for_definitions(definitions().map(|object| &object.value));
    let mut crds: Vec<_> = hub.crds.iter().collect();
    crds.sort_by_key(|(kind, _)| *kind);
    for (kind, crd) in crds {
        let rooms = std::iter::once(&hub.objects).chain(hub.spokes.values());
        let policies = rooms.flat_map(|room| room.of_kind(&kind.group, &kind.kind));
        let mut written = Written::default();
        for policy in policies {
            written.versions.insert(policy.api_version.version.to_string());
            written.kinds.extend(target_kinds(policy));
        }
        if !written.versions.is_empty() {
            profiles.learn(crd, &written, &work);
        }
        if work.is_spent() {
            profiles.unlearn();
            findings.extend(definitions().next().map(crd::too_much_work));
            return;
        }
    }
}

/// The policy kinds of the input with their profiles, sorted by group and kind.
pub(super) fn policy_kinds(sources: Sources<'_>, options: &Options<'_>) -> Vec<Arc<Profile>> {
    let built_in = || Cow::Owned(Profiles::built_in());
    let profiles = options.profiles.map_or_else(built_in, Cow::Borrowed);
    let mut labelled: BTreeMap<GroupKind, String> = BTreeMap::new();
    let there = sources.of_kind(GROUP, KIND);
    let of_hub = sources.hub_of_kind(GROUP, KIND);
    for object in of_hub.chain(there.map(|(object, _)| object)) {
        let (group, kind) = declared_kind(object);
        if let (Some(class), Some(group), Some(kind)) = (object.label(POLICY_LABEL), group, kind) {
            labelled.insert(GroupKind::new(group, kind), class.to_owned());
        }
    }
    for kind in options.kinds {
        // Neither Envoy Gateway's nor Istio's CRDs have the label (docs/systems/gep-713.md#policy-kinds).
        labelled.entry(kind.clone()).or_insert_with(|| "true".to_owned());
    }
    let mut present: BTreeSet<GroupKind> = sources.objects.group_kinds().into_iter().collect();
    present.extend(sources.local.into_iter().flat_map(Objects::group_kinds));
    present
        .into_iter()
        .filter_map(|kind| {
            let objects = sources.of_kind(&kind.group, &kind.kind);
            let versions = objects.map(|(object, _)| object.api_version.version.as_str());
            let versions: BTreeSet<&str> = versions.collect();
            profiles.find(&kind, &versions, labelled.get(&kind).map(String::as_str))
        })
        .collect()
}

/// Reports what the definitions of synced kinds lack. A kind without a definition in the input is one that we know.
pub fn report_nonconforming_kinds(hub: &Hub, ours: &Ours<'_>, profiles: &Profiles, findings: &mut Findings) {
    let classes = ours.classes.values();
    let params = classes.filter_map(|class| class.params.as_ref().ok());
    let synced: BTreeSet<(&str, &str, &str)> = params
        .flat_map(|params| &params.policies_to_sync)
        .map(|synced| (&*synced.group, &*synced.kind, &*synced.version))
        .collect();
    for object in hub.objects.of_kind(GROUP, KIND) {
        let (group, kind) = declared_kind(object);
        let is_it = |(of, named, _): &&(&str, &str, &str)| (Some(*of), Some(*named)) == (group, kind);
        for (group, kind, version) in synced.iter().filter(is_it) {
            let definition = Definition { object, kind };
            // The label of a known kind need not repeat its class.
            if profiles.get(&GroupKind::new(*group, *kind)).is_empty() {
                findings.extend(definition.label());
            }
            let schema = definition.schema(version);
            findings.extend(schema.as_ref().and_then(|schema| definition.status(schema)));
            findings.extend(schema.iter().flat_map(|schema| definition.references(schema)));
        }
    }
}

struct Definition<'d> {
    object: &'d Object,
    kind: &'d str,
}

impl<'d> Definition<'d> {
    fn finding(&self, pointer: &str, message: String) -> Finding {
        let place = self.object.place(pointer);
        Finding::new(Code::POLICY_KIND_NONCONFORMING, place, message)
    }

    /// Which kind of policy it is has to be in a label.
    fn label(&self) -> Option<Finding> {
        let (kind, known) = (self.kind, ["Direct", "Inherited", "true"]);
        let (pointer, message) = match self.object.label(POLICY_LABEL) {
            None => (
                "/metadata".to_owned(),
                format!("{kind} has no label `{POLICY_LABEL}`, which GEP-713 requires of every policy kind"),
            ),
            Some(value) if known.iter().any(|known| value.eq_ignore_ascii_case(known)) => return None,
            Some(value) => (
                pointer::child("/metadata/labels", POLICY_LABEL),
                format!(
                    "the label `{POLICY_LABEL}` of {kind} is `{value}`; GEP-713 allows Direct and Inherited"
                ),
            ),
        };
        Some(self.finding(&pointer, message).help(
            "set the label to Direct or Inherited, or add a profile to the configuration; until then, it is treated as Inherited",
        ))
    }

    /// The schema of a version, unless it takes anything at all.
    fn schema(&self, version: &str) -> Option<Field<'d>> {
        let versions = self.object.root().get("spec").get("versions");
        let mut versions = versions.items();
        let known = versions.find(|known| known.text("name") == Some(version))?;
        let schema = known.get("schema").get("openAPIV3Schema");
        (schema.is_present() && !takes_anything(&schema)).then_some(schema)
    }

    /// Users learn the outcome of a policy from `status.conditions`, or from those of each ancestor.
    fn status(&self, schema: &Field<'_>) -> Option<Finding> {
        let status = schema.get("properties").get("status");
        let fields = status.get("properties");
        if takes_anything(&status) || fields.has("conditions") || fields.has("ancestors") {
            return None;
        }
        let (field, what) = if status.is_present() {
            (&status, format!("the status of {} has no conditions", self.kind))
        } else {
            (schema, format!("{} has no status", self.kind))
        };
        let message = format!("{what}, which GEP-713 requires of every policy kind");
        let help = "add `status` with `conditions`, a list of metav1.Condition, to the schema: without it, no cluster can report the status of a policy";
        Some(self.finding(&field.pointer(), message).help(help))
    }

    /// A target reference is a mapping of group, kind and name.
    fn references(&self, schema: &Field<'_>) -> Vec<Finding> {
        let spec = schema.get("properties").get("spec").get("properties");
        let (one, several) = (spec.get("targetRef"), spec.get("targetRefs"));
        let wrong = |field: Field<'_>, name: &str| {
            let of_type = field.get("type");
            let text = of_type.str().filter(|text| *text != "object")?;
            let message = format!(
                "{name} of {} is of type {text}; GEP-713 requires an object with group, kind, and name",
                self.kind
            );
            let finding = self.finding(&of_type.pointer(), message);
            Some(finding.help("make it an object, so that its target is known"))
        };
        let one = wrong(one, "`targetRef`");
        let item = wrong(several.get("items"), "an item of `targetRefs`");
        one.into_iter().chain(item).collect()
    }
}

/// Whether a schema leaves open what its objects have.
fn takes_anything(schema: &Field<'_>) -> bool {
    schema
        .get("x-kubernetes-preserve-unknown-fields")
        .boolean()
        .is_ok_and(|anything| anything == Some(true))
}
