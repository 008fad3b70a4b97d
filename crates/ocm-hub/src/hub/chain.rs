//! Which objects rendering uses: whether a mistake may stop a run. [`build()`](super::build()) asks this once and marks the
//! others as bystanders.
//!
//! The chain has our classes, their Gateways, the objects that those and their policies name, routes and policies that
//! may affect them, all objects of OCM's placement, overlays, rules, grants, the definitions of those kinds, and everything that lives
//! on a cluster (docs/reference/findings.md). Errors in all other objects become warnings. In doubt, an object is in the
//! chain: a mistake in a name must not hide another one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use kube_json::Value;

use super::index::{Hub, ObjectsByPlace};
use super::kustomized::{self, directory};
use super::ours::Ours;
use super::passed_over::{PassedOver, refers};
use crate::api::gateway::GROUP;
use crate::api::params::{Params, SyncedResource};
use crate::api::route::is_route;
use crate::api::{crd, ocm, ocm_work, own_kinds};
use crate::diagnostic::{Code, Finding, Findings, Locate as _, NameIndex, Place, Severity, SourceId};
use crate::object::Object;
use crate::parallel;
use crate::source::{Room, SourceFile, Sources};
use apimachinery::GroupKind;
use ocm_placement::GROUP as CLUSTER_GROUP;

/// Routes may be each other's parents; deeper than this nothing is looked for.
const DEEPEST: usize = 8;

/// Words of which one is in every object of the chain, besides the groups and kinds that our classes sync.
const WORDS: [&str; 10] = [
    "gateway.networking.",
    "open-cluster-management.io",
    own_kinds::OVERLAY,
    own_kinds::RULE,
    "GatewayClass",
    "gatewayClassName",
    "parentRef",
    "targetRef",
    "targetSelector",
    "policiesToSync",
];

/// Softens errors in objects that rendering does not use. Softening twice is softening once.
pub fn soften(hub: &Hub, sources: &Sources, findings: &mut Findings) {
    // What a later stage finds about the objects that it uses is never softened.
    let concerns =
        |finding: &Finding| finding.severity == Severity::Error && finding.code.is_about_object_alone();
    if !findings.iter().any(concerns) {
        return;
    }
    let objects = ObjectsByPlace::new(hub.objects.iter().chain(&hub.refused));
    let kustomized = kustomized::directories(&hub.kustomizations);
    // By directories; those of one directory that rendering uses, by files.
    let mut twice: BTreeMap<_, Vec<(bool, Arc<Finding>)>> = BTreeMap::new();
    findings.revise(|finding| {
        let is_used = !concerns(finding) || is_about_used(finding, &objects);
        if let Some(files) = files_of_duplicate(finding) {
            let directories = files.map(|file| kustomized::directory_of(file, &kustomized, sources));
            let [one, other] = directories;
            let files = (is_used && one == other).then_some(files);
            let group = twice.entry((directories, files)).or_default();
            group.push((is_used, Arc::clone(finding)));
            return false;
        }
        if is_used {
            return true;
        }
        if is_for_a_tool_to_fill_in(finding, sources) || is_of_no_known_kind(finding, hub, &objects) {
            return false;
        }
        make_bystander(Arc::make_mut(finding));
        true
    });
    findings.extend(
        twice
            .into_iter()
            .filter_map(|((directories, _), group)| duplicate_finding(directories, &group)),
    );
}

/// Whether a finding is about an object that rendering uses. A finding without an object is. A route or a ListenerSet that
/// nearly names a Gateway is used if that Gateway is.
fn is_about_used(finding: &Finding, objects: &ObjectsByPlace<'_>) -> bool {
    let is_parent = [Code::LISTENER_SET_NOT_ATTACHED, Code::ROUTE_PARENT_NOT_FOUND].contains(&finding.code);
    let near = finding
        .lacks
        .as_ref()
        .filter(|_| is_parent)
        .map(|lacks| &lacks.near);
    let twice = finding
        .related
        .iter()
        .map(|label| &label.place)
        .filter(|_| finding.code == Code::OBJECT_DUPLICATE);
    std::iter::once(near.unwrap_or(&finding.place))
        .chain(twice)
        .any(|place| objects.at(place).is_none_or(|object| !object.is_bystander))
}

/// Whether the name is wrong by Kubernetes' rules in an object that may not be Kubernetes' at all.
fn is_of_no_known_kind(finding: &Finding, hub: &Hub, objects: &ObjectsByPlace<'_>) -> bool {
    let is_known = |object: &Object| hub.kinds.kind(&object.api_version.group, &object.kind).is_some();
    finding.code == Code::OBJECT_INVALID_NAME
        && objects.at(&finding.place).is_some_and(|object| !is_known(object))
}

/// One finding for all duplicates of two directories, which is about one that rendering uses, if there is any.
fn duplicate_finding([one, other]: [&str; 2], group: &[(bool, Arc<Finding>)]) -> Option<Finding> {
    let (is_used, first) = group
        .iter()
        .find(|(is_used, _)| *is_used)
        .or_else(|| group.first())?;
    let mut finding = Finding::clone(first);
    if !is_used {
        make_bystander(&mut finding);
    }
    if one != other {
        finding.help = Some(
            format!(
                "if `{}` and `{}` are variants, read one of them, and list the other under `exclude` in spokewright.yaml; \
                 otherwise, remove one of the two objects, or rename it",
                kustomized::shown(one),
                kustomized::shown(other)
            )
            .into(),
        );
    }
    let files = files_of_duplicate(&finding);
    let of = if group.iter().all(|(_, other)| files_of_duplicate(other) == files) {
        "of these files"
    } else if one == other {
        "of this directory"
    } else {
        "of these directories"
    };
    finding.message = match group.len().saturating_sub(1) {
        0 => return Some(finding),
        1 => format!("{}, and so is 1 more object {of}", finding.message),
        more => format!("{}, and so are {more} more objects {of}", finding.message),
    }
    .into();
    Some(finding)
}

/// Softens errors in texts of the hub that cannot be read and concern nothing that rendering uses, and returns what of
/// them is passed over.
pub fn soften_unreadable(hub: &Hub, sources: &Sources, findings: &mut Findings) -> Vec<PassedOver> {
    if !findings.iter().any(is_unreadable) {
        return Vec::new();
    }
    let beside = directories(&used_files(hub), sources);
    let mut passed_over = Vec::new();
    findings.revise(|finding| {
        let Some((file, text)) = unreadable(finding, sources) else {
            return true;
        };
        if text.trim().is_empty() || is_beside(directory(&file.relative), &beside) || is_used_in(hub, text) {
            return true;
        }
        let extension = Path::new(&file.relative).extension();
        if text.contains("{{") || extension.is_some_and(|extension| extension == "json") {
            let message = &finding.message;
            passed_over.push(PassedOver {
                place: finding.place.clone(),
                what: format!("not YAML, and nothing in it is used for rendering: {message}"),
            });
            return false;
        }
        let finding = Arc::make_mut(finding);
        finding.severity = Severity::Warning;
        let why =
            "this does not stop the run, because rendering uses nothing in this file or in its directory";
        finding.notes.push(why.into());
        true
    });
    passed_over
}

/// The file of the hub that a finding says cannot be read, and the document that it is about.
fn unreadable<'s>(finding: &Finding, sources: &'s Sources) -> Option<(&'s SourceFile, &'s str)> {
    let Place::Text { source, start, .. } = finding.place else {
        return None;
    };
    let file = sources.file(source).filter(|file| file.room == Room::Hub)?;
    let mut documents = file.documents.iter();
    let around = documents.find(|document| (document.start..=document.end).contains(&start));
    let text = around.and_then(|document| file.text.get(document.start..document.end));
    is_unreadable(finding).then(|| (file, text.unwrap_or(&file.text)))
}

/// Whether a file cannot be read as YAML.
fn is_unreadable(finding: &Finding) -> bool {
    finding.code.group() == "yaml"
}

/// Makes a warning of an error in an object that rendering does not use.
pub fn make_bystander(finding: &mut Finding) {
    finding.severity = Severity::Warning;
    let why = "this does not stop the run, because rendering does not use this object";
    finding.notes.push(why.into());
}

/// The two files of a duplicate.
fn files_of_duplicate(finding: &Finding) -> Option<[SourceId; 2]> {
    let first = finding.related.first()?;
    (finding.code == Code::OBJECT_DUPLICATE)
        .then(|| Some([finding.place.source()?, first.place.source()?]))
        .flatten()
}

/// The finding about kustomizations that change what rendering uses.
pub fn changed_by_kustomize(hub: &Hub, sources: &Sources) -> Option<Finding> {
    if !kustomized::any_changes(&hub.kustomizations) {
        return None;
    }
    // Patches are not objects, so their targets are unknown; their text decides.
    let patches = kustomized::patches(&hub.kustomizations, sources).into_iter();
    let mut used = used_files(hub);
    used.extend(patches.filter(|patch| {
        let file = sources.file(*patch);
        file.is_some_and(|file| is_used_in(hub, &file.text))
    }));
    kustomized::changed(&hub.kustomizations, sources, &used)
}

/// The files with an object that rendering uses.
fn used_files(hub: &Hub) -> BTreeSet<SourceId> {
    let objects = hub.objects.iter().chain(&hub.refused);
    let used = objects.filter(|object| !object.is_bystander);
    used.map(|object| object.origin.document.source).collect()
}

/// Whether a text may contain an object that rendering uses.
fn is_used_in(hub: &Hub, text: &str) -> bool {
    hub.words_of_used.iter().any(|word| text.contains(word))
}

/// A namespace, or a variable, that a tool puts in before such an object is applied.
fn is_for_a_tool_to_fill_in(finding: &Finding, sources: &Sources) -> bool {
    finding.code == Code::OBJECT_NO_NAMESPACE
        || sources.locate(&finding.place).is_some_and(|span| {
            let text = span.text.get(span.start..span.end).unwrap_or_default();
            ["${", "{{"].iter().any(|sign| text.contains(sign))
        })
}

/// Marks the objects that rendering does not use, of a hub from which one was removed.
pub fn mark_bystanders(hub: &mut Hub, controller_name: &str) {
    let all: Vec<&Object> = hub.objects.iter().chain(&hub.refused).collect();
    let chain = Chain::new(hub, &all, controller_name);
    let relations = parallel::map(&all, |object| chain.relation_of(object));
    hub.mark_bystanders(relations.into_iter().map(|relation| relation != Relation::Ours));
}

/// The relation of an object to our classes. Of several that an object leads to, the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    /// Rendering uses it, or would without the mistake in it.
    Ours,
    /// The object that it refers to is not in the input.
    Unknown,
    /// Everything that it leads to belongs to others.
    Foreign,
}

impl Relation {
    const fn ours_if(is_ours: bool) -> Self {
        if is_ours { Self::Ours } else { Self::Foreign }
    }
}

/// The objects that lead to our classes.
pub(super) struct Chain<'h> {
    controller_name: &'h str,
    /// Kinds that our classes sync.
    synced: HashSet<GroupKind>,
    /// Objects through which others lead to ours, by group, kind and name, regardless of their namespace: that may be what
    /// is missing.
    by_name: HashMap<(&'h str, &'h str, &'h str), Vec<&'h Object>>,
    /// Every `name` and every namespace that is in an object that leads to ours; none while that is being found out.
    named: HashSet<&'h str>,
    /// Kinds of objects that lead to ours.
    leading: HashSet<GroupKind>,
    /// The names of our Gateways.
    gateways: NameIndex<'h>,
}

impl<'h> Chain<'h> {
    /// Finds out what is ours among all objects of a hub.
    pub(super) fn new(hub: &'h Hub, all: &[&'h Object], controller_name: &'h str) -> Self {
        let ours = Ours::new(hub, controller_name);
        let classes = ours.classes.values();
        let params = classes.filter_map(|class| class.params.as_deref().ok());
        let synced = params.flat_map(Params::synced).map(SyncedResource::group_kind);
        let mut by_name: HashMap<(&str, &str, &str), Vec<&Object>> = HashMap::new();
        for object in all.iter().filter(|object| is_link(object)) {
            let group = object.api_version.group.as_str();
            by_name
                .entry((group, &object.kind, &object.name))
                .or_default()
                .push(object);
        }
        let gateways = ours.gateways.rows().iter();
        let mut chain = Self {
            gateways: NameIndex::new(gateways.map(|ours| ours.gateway.object.name.as_str())),
            controller_name,
            synced: synced.collect(),
            by_name,
            named: HashSet::new(),
            leading: HashSet::new(),
        };
        let leads = parallel::map(all, |object| {
            is_link(object) && chain.relation_of(object) == Relation::Ours
        });
        for (object, _) in all.iter().zip(leads).filter(|(_, leads)| *leads) {
            chain.leading.insert(object.group_kind());
            chain.named.extend(object.namespace.as_deref());
            names_in(&object.value, &mut chain.named);
        }
        chain
    }

    /// Words of which one is in every text that may contain an object that rendering uses.
    pub(super) fn words(&self) -> BTreeSet<String> {
        let kinds = self.synced.iter().chain(&self.leading);
        let kinds = kinds.flat_map(|kind| [kind.group.as_str(), kind.kind.as_str()]);
        let words = WORDS.into_iter().chain([self.controller_name]).chain(kinds);
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    /// Whether an object is a Gateway of a class that is not in the input: its reader alone reports what is wrong with it.
    pub(super) fn lacks_class(&self, object: &Object) -> bool {
        let class = object.root().get("spec").text("gatewayClassName");
        let is_there = |class| self.by_name.contains_key(&(GROUP, "GatewayClass", class));
        object.is(GROUP, "Gateway") && class.is_some_and(|class| !is_there(class))
    }

    /// The relation of an object. Rendering uses every object of a synced kind that may be meant to lead to ours.
    pub(super) fn relation_of(&self, object: &Object) -> Relation {
        match self.relation(object, DEEPEST) {
            Relation::Unknown if self.synced.contains(&object.group_kind()) => Relation::Ours,
            relation => relation,
        }
    }

    fn relation(&self, object: &Object, depth: usize) -> Relation {
        let Some(depth) = depth.checked_sub(1) else {
            return Relation::Unknown;
        };
        let spec = object.root().get("spec");
        Relation::ours_if(match (object.api_version.group.as_str(), object.kind.as_str()) {
            (GROUP, "GatewayClass") => spec
                .text("controllerName")
                .is_none_or(|name| name.is_empty() || name == self.controller_name),
            (GROUP, "Gateway") => return self.relation_of_class(spec.text("gatewayClassName"), depth),
            (GROUP, "ReferenceGrant") | (ocm_work::GROUP | own_kinds::GROUP, _) => true,
            (CLUSTER_GROUP, kind) if ocm::KINDS.contains(&kind) => true,
            (crd::GROUP, crd::KIND) => self.is_of_definition(object),
            (group, kind) if is_route(group, kind) || refers(&object.value) => {
                return self.relation_of_references(object, depth);
            }
            // A synced kind that names no target has a mistake there.
            _ => self.synced.contains(&object.group_kind()) || self.named.contains(object.name.as_str()),
        })
    }

    /// A Gateway by the name of its class. One that is not in the input may be ours.
    fn relation_of_class(&self, name: Option<&str>, depth: usize) -> Relation {
        let classes = name.and_then(|name| self.by_name.get(&(GROUP, "GatewayClass", name)));
        Relation::ours_if(classes.is_none_or(|classes| {
            let mut relations = classes.iter().map(|class| self.relation(class, depth));
            relations.any(|relation| relation != Relation::Foreign)
        }))
    }

    /// Whether a definition may be of a kind of the chain.
    fn is_of_definition(&self, object: &Object) -> bool {
        let mut kinds = self.synced.iter().chain(&self.leading);
        match crd::declared_kind(object) {
            (Some(group), Some(kind)) => {
                group == GROUP
                    || (group == CLUSTER_GROUP && ocm::KINDS.contains(&kind))
                    || kinds.any(|known| known.group == group && known.kind == kind)
            }
            _ => {
                let (_, group) = object.name.split_once('.').unwrap_or_default();
                [GROUP, CLUSTER_GROUP].contains(&group) || kinds.any(|known| known.group == group)
            }
        }
    }

    /// A policy by its targets, a route or a ListenerSet by its parents.
    fn relation_of_references(&self, object: &Object, depth: usize) -> Relation {
        let spec = object.value.get("spec");
        let fields = [
            ("targetRef", ("", "")),
            ("targetRefs", ("", "")),
            ("targetSelectors", ("", "")),
            ("parentRef", (GROUP, "Gateway")),
            ("parentRefs", (GROUP, "Gateway")),
        ];
        let relations = fields.into_iter().flat_map(|(name, default)| {
            let references = match spec.and_then(|spec| spec.get(name)) {
                Some(Value::Array(references)) => references.as_slice(),
                Some(one) => std::slice::from_ref(one),
                None => &[],
            };
            let of_each = move |reference| self.relation_of_reference(object, reference, default, depth);
            references.iter().map(of_each)
        });
        // A route of Gateway API that names no parent has a mistake there.
        let is_route = is_route(&object.api_version.group, &object.kind);
        let of_none = if is_route {
            Relation::Ours
        } else {
            Relation::Unknown
        };
        relations.min().unwrap_or(of_none)
    }

    fn relation_of_reference(
        &self,
        object: &Object,
        reference: &Value,
        (group, kind): (&str, &str),
        depth: usize,
    ) -> Relation {
        let text = |field: &str| reference.get(field).and_then(Value::as_str);
        let (group, kind) = (text("group").unwrap_or(group), text("kind").unwrap_or(kind));
        let Some(name) = text("name") else {
            return Relation::Unknown;
        };
        let namespace = text("namespace").or(object.namespace.as_deref());
        match (group, kind) {
            ("", "Namespace") if self.named.contains(name) => return Relation::Ours,
            ("", "Namespace") => return Relation::Unknown,
            (GROUP, "GatewayClass") => return self.relation_of_class(Some(name), depth),
            _ => {}
        }
        let found = self.by_name.get(&(group, kind, name)).into_iter().flatten();
        let found = found.filter(|found| {
            let namespaces = found.namespace.as_deref().zip(namespace);
            namespaces.is_none_or(|(there, namespace)| there == namespace)
        });
        match found.map(|found| self.relation(found, depth)).min() {
            Some(relation @ (Relation::Ours | Relation::Foreign)) => relation,
            // Nearly the name of a Gateway of ours is a mistake.
            _ if (group, kind) == (GROUP, "Gateway") && self.gateways.nearest(name).is_some() => {
                Relation::Ours
            }
            _ => Relation::Unknown,
        }
    }
}

/// The directories of files.
fn directories<'s>(files: &BTreeSet<SourceId>, sources: &'s Sources) -> HashSet<&'s str> {
    let files = files.iter().filter_map(|file| sources.file(*file));
    files.map(|file| directory(&file.relative)).collect()
}

/// Whether a directory is one of these, or below one that is not the root: everything is below the root.
fn is_beside(directory: &str, beside: &HashSet<&str>) -> bool {
    beside.contains(directory)
        || directory
            .match_indices('/')
            .any(|(slash, _)| directory.get(..slash).is_some_and(|above| beside.contains(above)))
}

/// Whether other objects lead to ours through this one.
pub(super) fn is_link(object: &Object) -> bool {
    let group = object.api_version.group.as_str();
    let is_of_gateway_api = group == GROUP && object.kind != "ReferenceGrant";
    is_of_gateway_api || is_route(group, &object.kind) || refers(&object.value)
}

/// Every text that is under the key `name` or `namespace`.
fn names_in<'v>(value: &'v Value, names: &mut HashSet<&'v str>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "name" || key == "namespace" => {
                        names.insert(text);
                    }
                    value => names_in(value, names),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names_in(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::super::Objects;
    use super::*;
    use crate::tests::object;

    fn of(api: &str, kind: &str, name: &str, spec: Value) -> Object {
        object(
            json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "n"}, "spec": spec}),
        )
    }

    fn relation(more: Object) -> Relation {
        let gateway = "gateway.networking.k8s.io/v1";
        let hub = [
            of(gateway, "GatewayClass", "ours", json!({"controllerName": "us"})),
            of(
                gateway,
                "GatewayClass",
                "other",
                json!({"controllerName": "them"}),
            ),
            of(gateway, "Gateway", "ours", json!({"gatewayClassName": "ours"})),
            of(gateway, "Gateway", "other", json!({"gatewayClassName": "other"})),
            of(
                gateway,
                "ListenerSet",
                "ours",
                json!({"parentRef": {"name": "ours"}}),
            ),
            of(
                gateway,
                "HTTPRoute",
                "ours",
                json!({"parentRefs": [{"kind": "ListenerSet", "name": "ours"}]}),
            ),
            of(
                gateway,
                "HTTPRoute",
                "other",
                json!({"parentRefs": [{"name": "other"}]}),
            ),
            more,
        ];
        let more = hub.last().cloned().expect("objects");
        let hub = Hub::of(Objects::new(hub.to_vec()));
        let all: Vec<&Object> = hub.objects.iter().collect();
        Chain::new(&hub, &all, "us").relation_of(&more)
    }

    #[test]
    fn what_hangs_on_our_gateways_is_used_and_what_hangs_on_others_is_not() {
        use Relation::{Foreign, Ours, Unknown};
        let policy = |kind: &str, name: &str| {
            let target = json!({"targetRef": {"kind": kind, "group": GROUP, "name": name}});
            relation(of("kuadrant.io/v1", "AuthPolicy", "p", target))
        };
        for kind in ["Gateway", "HTTPRoute"] {
            assert_eq!(
                (policy(kind, "ours"), policy(kind, "other")),
                (Ours, Foreign),
                "{kind}"
            );
        }
        assert_eq!(policy("ListenerSet", "ours"), Ours);
        // Any route may lead to it.
        assert_eq!(policy("Service", "other"), Unknown);
        assert_eq!(policy("GatewayClass", "other"), Foreign);
        assert_eq!(policy("Gateway", "nobody"), Unknown);
        let route = |name: &str| {
            let parents = json!({"parentRefs": [{"name": "nobody"}, {"name": name}]});
            relation(of("gateway.networking.k8s.io/v1", "GRPCRoute", "r", parents))
        };
        assert_eq!((route("ours"), route("other")), (Ours, Unknown));
    }

    #[test]
    fn a_broken_reference_may_lead_to_ours_and_none_at_all_is_a_case_of_its_own() {
        let policy = |spec: Value| of("kuadrant.io/v1", "AuthPolicy", "p", spec);
        assert_eq!(relation(policy(json!({"targetRef": 7}))), Relation::Unknown);
        assert_eq!(
            relation(policy(json!({"targetRef": {"kind": "Gateway"}}))),
            Relation::Unknown
        );
        assert!(!is_link(&policy(json!({"targetref": {}}))));
        let gateway = |spec: Value| relation(of("gateway.networking.k8s.io/v1", "Gateway", "g", spec));
        assert_eq!(gateway(json!({"gatewayClasName": "ours"})), Relation::Ours);
        assert_eq!(gateway(json!({"gatewayClassName": "other"})), Relation::Foreign);
    }

    #[test]
    fn other_kinds_are_not_used_and_unknown_ones_only_by_what_they_name() {
        assert_eq!(
            relation(of("cert-manager.io/v1", "Certificate", "c", json!({}))),
            Relation::Foreign
        );
        let unknown = |spec: Value| relation(of("acme.io/v1", "WidgetPolicy", "w", spec));
        let target = json!({"kind": "Gateway", "group": GROUP, "name": "ours"});
        assert_eq!(unknown(json!({"targetRef": target})), Relation::Ours);
        assert_eq!(unknown(json!({})), Relation::Foreign);
    }
}
