//! What an overlay means in a hub: its targets, where its paths lead to, and the values of its clusters. Which object one
//! is, where it goes, and what it is attached to, no overlay may change: all projections of
//! a hub have the same objects, in the same order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::field_path::{NotFound, member};
use apimachinery::{GroupKind, Identity, Work, pointer};
use kube_json::Value;

use super::changes::{ChangedField, ClusterNames, MOST_NAMES, Overlay, STEPS_PER_CHANGE, ValueHere, set};
use crate::api::crd::Scope;
use crate::api::downstream::POLICY_SYNCED;
use crate::api::gateway::{self, is_listener_set};
use crate::api::ocm;
use crate::api::overlay::{
    Action, Change, ClusterField, ClusterOverlay, Clusters, NoValue, SetField, Target, Targeted, fill,
    unchangeable,
};
use crate::diagnostic::{
    Code, Finding, Findings, NameIndex, counted, first_items, first_names, nearest, with_article,
};
use crate::hub::Hub;
use crate::object::Object;
use crate::object::well_known::{GATEWAY_CLUSTERS, ORIGIN_CREATION, POLICIES_SYNCED};
use crate::placing::findings::did_you_mean;
use crate::placing::known_clusters;

/// Reads overlays of one hub. Its functions return nothing if there is no work left.
pub(super) struct Reader<'r, 'a> {
    hub: &'a Hub,
    fleet: &'r Fleet<'a>,
    work: &'r Work,
    names: NameIndex<'a>,
    /// The ConfigMaps that have the parameters of a class, by namespace and name.
    params: BTreeSet<(&'a str, &'a str)>,
    pub(super) findings: &'r mut Findings,
}

/// The values of an entry of `set`, and the clusters without a ManagedCluster.
type Values = (Arc<[ValueHere]>, ClusterNames);

impl<'r, 'a> Reader<'r, 'a> {
    pub(super) fn new(
        hub: &'a Hub,
        fleet: &'r Fleet<'a>,
        work: &'r Work,
        findings: &'r mut Findings,
    ) -> Self {
        // Parameters decide what is synced anywhere, so they cannot differ from cluster to cluster.
        let classes = hub.objects.of_kind(gateway::GROUP, "GatewayClass").iter();
        let params = classes.filter_map(|class| {
            let text = |key: &str| class.value.pointer("/spec/parametersRef")?.get(key)?.as_str();
            Some((text("namespace")?, text("name")?))
        });
        Self {
            hub,
            fleet,
            work,
            names: NameIndex::new(fleet.keys().copied()),
            params: params.collect(),
            findings,
        }
    }

    /// What an overlay selects and changes.
    pub(super) fn read(&mut self, object: &Object, written: &ClusterOverlay) -> Option<Overlay> {
        let unknown = self.unknown_clusters(object, written);
        self.findings.extend(unknown);
        let [clusters, applied_on, unknown] = self.selected(&written.clusters)?;
        let mut fields = Vec::new();
        for (number, change) in written.changes.iter().enumerate() {
            let targets = self.targets(object, change)?;
            for entry in &change.set {
                let values = self.values(object, entry, &applied_on)?;
                fields.extend(self.fields(object, (number, entry), &targets, values)?);
            }
        }
        Some(Overlay {
            identity: object.identity(),
            origin: object.origin.clone(),
            priority: written.priority,
            clusters,
            named: written.clusters.names.clone().unwrap_or_default(),
            applied_on,
            unknown,
            is_whole: written.is_whole,
            fields,
        })
    }

    /// The clusters that an overlay selects, those of them that the run is for, and clusters without a ManagedCluster, which
    /// selectors may or may not select.
    fn selected(&self, wanted: &Clusters) -> Option<[ClusterNames; 3]> {
        let has_selectors = wanted.label_selector.is_some() || wanted.claim_selector.is_some();
        let names: BTreeSet<&str> = match &wanted.names {
            Some(names) => names.iter().map(|(name, _)| name.as_str()).collect(),
            None if has_selectors => self.fleet.keys().copied().collect(),
            None => BTreeSet::new(),
        };
        if !self.work.pay(names.len(), STEPS_PER_CLUSTER) {
            return None;
        }
        let known = names.into_iter().filter_map(|name| self.fleet.get(name));
        let (known, unknown): (Vec<&Cluster<'_>>, Vec<&Cluster<'_>>) =
            known.partition(|cluster| cluster.managed.is_some() || !has_selectors);
        let selected = known.into_iter().filter(|cluster| cluster.is_selected(wanted));
        let selected: Vec<&Cluster<'_>> = selected.collect();
        let admitted = selected.iter().copied().filter(|cluster| cluster.is_admitted);
        let admitted: Vec<&Cluster<'_>> = admitted.collect();
        let names =
            |clusters: Vec<&Cluster<'_>>| clusters.iter().map(|cluster| cluster.name.to_owned()).collect();
        Some([selected, admitted, unknown].map(names))
    }

    /// Names that no cluster has.
    fn unknown_clusters(&self, object: &Object, written: &ClusterOverlay) -> Vec<Finding> {
        let names = written.clusters.names.iter().flatten();
        let unknown = names.filter(|(name, _)| !self.fleet.contains_key(name.as_str()));
        let findings = unknown.map(|(name, pointer)| {
            let who = object.identity();
            let message = format!("{who} names cluster `{name}`, which the input does not have");
            let cluster = Identity::new(ocm::GROUP, "ManagedCluster", None, name);
            let finding = Finding::new(Code::OVERLAY_UNKNOWN_CLUSTER, object.place(pointer), message);
            let finding = self.follow_refusal(finding, &cluster).missing(cluster.clone());
            match self.names.nearest(name) {
                Some(near) => did_you_mean(finding, self.hub, &cluster, near),
                None => finding.help("correct the name, or add the ManagedCluster to the input"),
            }
        });
        findings.collect()
    }

    /// The finding that an object does not exist. If it does and cannot be read, its own finding says why.
    fn follow_refusal(&self, finding: Finding, missing: &Identity) -> Finding {
        let refused = self.hub.refused.iter();
        let refused = refused.filter(|object| object.identity() == *missing);
        refused.fold(finding, |finding, object| finding.follows_from(object.place("")))
    }

    /// The objects that a change is for.
    fn targets(&mut self, overlay: &Object, change: &Change) -> Option<Vec<&'a Object>> {
        let Target { group, kind, objects } = &change.target;
        let namespace = overlay.namespace_or_empty();
        let not_allowed = |field: &str, what: &str, reason: &str| {
            let place = overlay.place(&format!("{}/target/{field}", change.pointer));
            let message = format!("an overlay cannot change {what}: {reason}");
            Finding::new(Code::OVERLAY_NOT_ALLOWED, place, message).help("change the object itself")
        };
        let info = self.hub.kinds.kind(group, kind);
        // A team that may write overlays in its namespace must not change what is everybody's.
        if info.is_some_and(|info| info.scope == Scope::Cluster) {
            let reason = "an overlay changes objects of its own namespace only";
            let finding = not_allowed("kind", &with_article(kind), reason);
            self.findings.push(finding);
            return Some(Vec::new());
        }
        let (mut targets, field): (Vec<&Object>, &str) = match objects {
            Targeted::Name(name) => {
                let object = self.hub.objects.find(group, kind, Some(namespace), name);
                (object.into_iter().collect(), "name")
            }
            Targeted::Labels(labels) => {
                let all = self.in_namespace(group, kind, namespace);
                if !self.work.pay(all.len(), STEPS_PER_CLUSTER) {
                    return None;
                }
                let is_chosen = |object: &&Object| labels.matches(|key| object.label(key));
                (all.iter().filter(is_chosen).collect(), "labelSelector")
            }
        };
        if targets.is_empty() {
            let finding = self.target_not_found(overlay, change);
            self.findings.push(finding);
        }
        targets.retain(|object| {
            let is_named = self.params.contains(&(namespace, object.name.as_str()));
            let is_for_class = is_named && object.is("", "ConfigMap");
            if is_for_class {
                let (what, reason) = (object.identity(), "it has the parameters of a GatewayClass");
                let finding = not_allowed(field, &what.to_string(), reason);
                self.findings.push(finding);
            }
            !is_for_class
        });
        Some(targets)
    }

    fn in_namespace(&self, group: &str, kind: &str, namespace: &str) -> &'a [Object] {
        let all = self.hub.objects.of_kind(group, kind);
        let start = all.partition_point(|object| object.namespace_or_empty() < namespace);
        let end = all.partition_point(|object| object.namespace_or_empty() <= namespace);
        all.get(start..end).unwrap_or_default()
    }

    fn target_not_found(&self, overlay: &Object, change: &Change) -> Finding {
        let Target { group, kind, objects } = &change.target;
        let namespace = overlay.namespace_or_empty();
        let who = overlay.identity();
        let finding = |field: &str, message: String| {
            let place = overlay.place(&format!("{}/target/{field}", change.pointer));
            Finding::new(Code::OVERLAY_TARGET_NOT_FOUND, place, message)
        };
        let near_kind = self.near_kind(namespace, &change.target);
        let Targeted::Name(name) = objects else {
            let message = format!(
                "{who} changes objects of kind {kind} by their labels, and none in namespace `{namespace}` has these"
            );
            return match near_kind {
                Some((field, near)) => finding(field, message).help(format!("did you mean `{near}`?")),
                None => finding("labelSelector", message).help("correct the selector, or label the objects"),
            };
        };
        let target = Identity::new(group, kind, Some(namespace), name);
        let message = format!("{who} changes {target}, which is not in the input");
        let all = self.in_namespace(group, kind, namespace);
        let near = nearest(name, all.iter().map(|object| object.name.as_str()));
        let near = near.and_then(|near| self.hub.objects.find(group, kind, Some(namespace), near));
        let mut elsewhere = self.hub.objects.of_kind(group, kind).iter();
        let finding = match (near, near_kind, elsewhere.find(|object| object.name == *name)) {
            (Some(near), ..) => finding("name", message)
                .help(format!("did you mean `{}`?", near.name))
                .lacks(target.to_string(), near.place("/metadata/name")),
            (_, Some((field, near)), _) => finding(field, message).help(format!("did you mean `{near}`?")),
            (.., Some(object)) => {
                let there = object.namespace_or_empty();
                let help = format!("move the overlay into namespace `{there}`, or correct the target");
                finding("name", message)
                    .related(object.place("/metadata/name"), "this one has that name")
                    .note("an overlay changes objects of its own namespace only")
                    .help(help)
            }
            _ => finding("name", message).help("correct the target, or add the object to the input"),
        };
        self.follow_refusal(finding, &target).missing(target)
    }

    /// The field of a target that is probably misspelled, and what it should be: the namespace has objects, of that name
    /// if one is given, of the other group or kind.
    fn near_kind(&self, namespace: &str, target: &Target) -> Option<(&'static str, String)> {
        let Target { group, kind, objects } = target;
        let is_wanted = |object: &Object| !matches!(objects, Targeted::Name(name) if object.name != *name);
        let kinds = self.hub.objects.group_kinds().into_iter().filter(|other| {
            let mut there = self.in_namespace(&other.group, &other.kind, namespace).iter();
            (other.group == *group) != (other.kind == *kind) && there.any(is_wanted)
        });
        let kinds: Vec<GroupKind> = kinds.collect();
        if let Some(other) = kinds.iter().find(|other| other.kind == *kind) {
            return Some(("group", other.group.to_string()));
        }
        let near = nearest(kind, kinds.iter().map(|other| other.kind.as_str()))?;
        Some(("kind", near.to_owned()))
    }

    /// The values of an entry on clusters.
    fn values(&mut self, overlay: &Object, field: &SetField, clusters: &ClusterNames) -> Option<Values> {
        let everywhere = |value: Option<Value>| {
            let clusters = Arc::clone(clusters);
            let here = Arc::from([ValueHere { value, clusters }]);
            Some((here, ClusterNames::default()))
        };
        let Action::Set {
            value,
            value_type,
            default,
            fields,
        } = &field.action
        else {
            return everywhere(None);
        };
        let filled = |lookup: &dyn Fn(&ClusterField) -> Option<String>| {
            fill(value, *value_type, default.as_ref(), lookup)
        };
        if fields.is_empty() {
            return everywhere(filled(&|_| None).ok());
        }
        // The name of a cluster is known even if its ManagedCluster is not.
        let needs_managed = fields.iter().any(|field| *field != ClusterField::Name);
        let mut by_value: HashMap<Value, Vec<String>> = HashMap::new();
        let mut without: BTreeMap<NoValue, Vec<&str>> = BTreeMap::new();
        let mut unknown = Vec::new();
        for name in clusters.iter() {
            let cluster = self.fleet.get(name.as_str())?;
            if needs_managed && cluster.managed.is_none() {
                unknown.push(name.clone());
                continue;
            }
            if !self.work.keep(value) || !self.work.pay(1, STEPS_PER_CHANGE) {
                return None;
            }
            match filled(&|field| cluster.value(field)) {
                Ok(value) => by_value.entry(value).or_default().push(name.clone()),
                Err(reason) => without.entry(reason).or_default().push(name),
            }
        }
        let here = by_value.into_iter().map(|(value, clusters)| ValueHere {
            value: Some(value),
            clusters: clusters.into(),
        });
        let mut here: Vec<ValueHere> = here.collect();
        // The map has them in no order.
        here.sort_by(|one, other| one.clusters.cmp(&other.clusters));
        self.findings.extend(no_value(overlay, field, &without));
        Some((here.into(), unknown.into()))
    }

    /// An entry in each of its objects.
    fn fields(
        &mut self,
        overlay: &Object,
        (change, entry): (usize, &SetField),
        targets: &[&Object],
        (here, unknown): Values,
    ) -> Option<Vec<ChangedField>> {
        let mut fields = Vec::new();
        let mut missing = Vec::new();
        let mut refused: Option<Finding> = None;
        for object in targets {
            let may_be_new = entry.action != Action::Remove;
            let found = entry.path.resolve(&object.value, may_be_new);
            let Ok(pointer) = found.map_err(|lacks| missing.push((*object, lacks))) else {
                continue;
            };
            // The whole object is compared with each value, to find a protected part that it would change.
            if may_contain_parts(&pointer) && !here.iter().all(|_| self.work.keep(&object.value)) {
                return None;
            }
            let values = here.iter().map(|value| value.value.as_ref());
            if let Some(part) = touched(object, &pointer, values) {
                refused.get_or_insert_with(|| not_allowed(overlay, entry, &pointer, part));
                continue;
            }
            let hub = object.value.pointer(&pointer).filter(|value| !value.is_null());
            let same = here.iter().find(|value| value.value.as_ref() == hub);
            fields.push(ChangedField {
                object: object.identity(),
                path: entry.path.to_string(),
                hub: hub.cloned(),
                same_as_hub: same.map(|same| Arc::clone(&same.clusters)).unwrap_or_default(),
                here: Arc::clone(&here),
                change,
                entry: entry.pointer.clone(),
                unknown: Arc::clone(&unknown),
                overridden: BTreeMap::new(),
                pointer,
            });
        }
        self.findings.extend(refused);
        self.findings.extend(path_not_found(overlay, entry, &missing));
        Some(fields)
    }
}

/// One finding for all clusters without a value.
fn no_value(overlay: &Object, field: &SetField, without: &BTreeMap<NoValue, Vec<&str>>) -> Option<Finding> {
    let mut reasons: Vec<(&NoValue, &Vec<&str>)> = without.iter().collect();
    reasons.sort_by_key(|(_, clusters)| clusters.first().copied());
    let help = match reasons.first()?.0 {
        NoValue::Missing(ClusterField::Label(_)) => "label the cluster, or give `default`",
        NoValue::Missing(_) => "add it to the ManagedCluster, or give `default`",
        NoValue::Mismatch { .. } => "correct the ManagedCluster, or select other clusters",
    };
    let sentences = reasons.into_iter().map(|(reason, clusters)| {
        let names = first_names(clusters, MOST_NAMES);
        match reason {
            NoValue::Missing(field) if clusters.len() > 1 => format!("{names} have no {field}"),
            _ => reason.about(&names),
        }
    });
    let mut sentences = sentences.take(MOST_NAMES);
    let place = overlay.place(&pointer::child(&field.pointer, "value"));
    let finding = Finding::new(Code::OVERLAY_NO_VALUE, place, sentences.next()?).help(help);
    Some(sentences.fold(finding, Finding::note))
}

/// `part` is the pointer of what cannot change: that of the field, or of something that it contains.
fn not_allowed(overlay: &Object, field: &SetField, pointer: &str, (part, why): (String, Part)) -> Finding {
    let (path, (reason, help)) = (&field.path, why);
    let place = overlay.place(&pointer::child(&field.pointer, "path"));
    let finding = |part: &str| {
        let message = format!("an overlay cannot change `{part}`: it {reason}");
        Finding::new(Code::OVERLAY_NOT_ALLOWED, place, message).help(help)
    };
    if pointer == part {
        return finding(&path.to_string());
    }
    let part = pointer::tokens(&part).fold(String::new(), |path, token| member(&path, &token));
    finding(&part).label(format!("`{path}` contains it"))
}

/// One finding for all objects that lack a field.
fn path_not_found(
    overlay: &Object,
    field: &SetField,
    missing: &[(&Object, Box<NotFound>)],
) -> Option<Finding> {
    let (object, lacks) = missing.first()?;
    let (identity, path) = (object.identity(), &lacks.missing);
    let message = match lacks.matches {
        0 => format!("{identity} has no `{path}`"),
        matches => format!("{identity} has {matches} entries `{path}`"),
    };
    let place = overlay.place(&pointer::child(&field.pointer, "path"));
    let there = object.place(&lacks.pointer);
    let finding = Finding::new(Code::OVERLAY_PATH_NOT_FOUND, place, message).follows_from(there.clone());
    let names = lacks.names.iter().map(|name| format!("`{name}`"));
    let finding = match first_items(names, MOST_NAMES) {
        names if names.is_empty() => finding.related(there, "here"),
        names => finding.related(there, format!("it has {names}")),
    };
    let finding = match nearest(&lacks.step, lacks.names.iter().map(String::as_str)) {
        Some(near) if lacks.matches == 0 => finding.help(format!("did you mean `{near}`?")),
        _ if lacks.matches > 0 => finding.help("name the entry by its position, such as `[0]`"),
        _ if field.action == Action::Remove => finding.help("remove this entry, or correct `path`"),
        _ => finding.help("correct `path`: only its last name may be new"),
    };
    Some(match missing.len().saturating_sub(1) {
        0 => finding,
        others => finding.note(format!("{} without it", counted(others, "more object"))),
    })
}

/// What looking at one cluster costs an overlay with selectors.
const STEPS_PER_CLUSTER: u64 = 2;

/// The clusters of the input, by name.
pub(super) type Fleet<'a> = BTreeMap<&'a str, Cluster<'a>>;

pub(super) struct Cluster<'a> {
    name: &'a str,
    managed: Option<&'a Object>,
    pub(super) is_admitted: bool,
}

/// Every cluster of the input; `admits` says which of them the run is for.
pub(super) fn fleet(hub: &Hub, admits: impl Fn(&str) -> bool) -> Fleet<'_> {
    let names = known_clusters(hub).into_iter().filter(|name| !name.is_empty());
    let cluster = |name| Cluster {
        name,
        managed: hub.objects.find(ocm::GROUP, "ManagedCluster", None, name),
        is_admitted: admits(name),
    };
    names.map(|name| (name, cluster(name))).collect()
}

impl<'a> Cluster<'a> {
    fn is_selected(&self, wanted: &Clusters) -> bool {
        wanted.has_matching_selectors(|key| self.managed?.label(key), |name| self.claim(name))
    }

    /// The value that `${cluster....}` stands for.
    fn value(&self, field: &ClusterField) -> Option<String> {
        let value = match field {
            ClusterField::Name => Some(self.name),
            ClusterField::Label(key) => self.managed?.label(key),
            ClusterField::Annotation(key) => self.managed?.annotation(key),
            ClusterField::Claim(name) => self.claim(name),
        };
        value.map(str::to_owned)
    }

    /// Of a repeated name, the last one counts (docs/systems/ocm-placement.md#claim-selectors).
    fn claim(&self, name: &str) -> Option<&'a str> {
        let claims = self.managed?.value.pointer("/status/clusterClaims")?.as_array()?;
        let text = |claim: &'a Value, key: &str| claim.get(key).and_then(Value::as_str);
        let mut claims = claims.iter().rev();
        claims.find_map(|claim| text(claim, "value").filter(|_| text(claim, "name") == Some(name)))
    }
}

/// Annotations that decide what the hub is, or that syncing writes.
const RESERVED: [&str; 4] = [GATEWAY_CLUSTERS, ORIGIN_CREATION, POLICIES_SYNCED, POLICY_SYNCED];
/// Prefixes of such annotations: ours, and that of the annotation by which an object is dropped.
const RESERVED_PREFIXES: [&str; 2] = ["spokewright.dev/", "config.kubernetes.io/"];

/// Why a part cannot be changed, to be read after `it`; and what to do instead.
pub(super) type Part = (&'static str, &'static str);

const KIND: Part = ("decides which object it is", "write a second object");
const STATUS: Part = ("is written by a controller", "remove this entry");
const METADATA: Part = ("decides which object it is and where it goes", ITSELF);
const ANNOTATION: Part = ("is for the hub, or written by spokewright", ITSELF);
const TARGETS: Part = ("decides what the policy is attached to", "write a second policy");
const PARENTS: Part = ("decides what the object is attached to", "write a second object");
const CLASS: Part = ("decides where the Gateway goes", "write a second Gateway");
const LISTENERS: Part = (
    "is how routes and policies refer to a listener",
    "keep the names of the listeners and their order",
);
const ITSELF: &str = "change the object itself: it is the same on all clusters";

/// Whether an overlay may give a field of an object this value, or remove it.
pub fn may_change(object: &Object, pointer: &str, value: Option<&Value>) -> bool {
    object.namespace.is_some()
        && unchangeable(&object.api_version.group, &object.kind).is_none()
        && touched(object, pointer, std::iter::once(value)).is_none()
}

/// The first part that one of these values at a pointer would change: its pointer, and why it cannot change.
fn touched<'v>(
    object: &Object,
    pointer: &str,
    mut values: impl Iterator<Item = Option<&'v Value>>,
) -> Option<(String, Part)> {
    if let Some(part) = part_at(object, pointer) {
        return Some((pointer.to_owned(), part));
    }
    if !may_contain_parts(pointer) {
        return None;
    }
    let before = parts(object, &object.value);
    values.find_map(|value| {
        let mut changed = object.value.clone();
        set(&mut changed, pointer, value);
        let after = parts(object, &changed);
        let lost = before.iter().find(|part| !after.contains(part));
        let (pointer, part, _) = lost.or_else(|| after.iter().find(|part| !before.contains(part)))?;
        Some((pointer.clone(), *part))
    })
}

/// The part that a pointer is or leads into.
fn part_at(object: &Object, pointer: &str) -> Option<Part> {
    let tokens: Vec<Cow<'_, str>> = pointer::tokens(pointer).collect();
    let tokens: Vec<&str> = tokens.iter().map(Cow::as_ref).collect();
    match tokens.as_slice() {
        ["apiVersion" | "kind", ..] => Some(KIND),
        ["status", ..] => Some(STATUS),
        ["metadata", "annotations", key, ..] => is_reserved(key).then_some(ANNOTATION),
        ["metadata", "annotations"] => None,
        ["metadata", _, ..] => Some(METADATA),
        ["spec", "targetRef" | "targetRefs" | "targetSelectors", ..] => Some(TARGETS),
        ["spec", "parentRef" | "parentRefs", ..] => Some(PARENTS),
        ["spec", "gatewayClassName", ..] => object.is(gateway::GROUP, "Gateway").then_some(CLASS),
        ["spec", "listeners", _, "name", ..] => has_listeners(object).then_some(LISTENERS),
        _ => None,
    }
}

/// Each part that no overlay may change of an object with this value: its pointer, and its value. Two objects of which these
/// are equal are the same object, go to the same clusters, and are attached to the same things.
fn parts(object: &Object, value: &Value) -> Vec<(String, Part, Value)> {
    let mut parts = Vec::new();
    for parent in ["", "/metadata", "/metadata/annotations", "/spec"] {
        let members = value.pointer(parent).and_then(Value::as_object);
        for (key, value) in members.into_iter().flatten() {
            let pointer = pointer::child(parent, key);
            let part = part_at(object, &pointer);
            parts.extend(part.map(|part| (pointer, part, value.clone())));
        }
    }
    let listeners = value.pointer("/spec/listeners").and_then(Value::as_array);
    if let Some(listeners) = listeners.filter(|_| has_listeners(object)) {
        let name = |listener: &Value| listener.get("name").cloned().unwrap_or_default();
        let names = Value::Array(listeners.iter().map(name).collect());
        parts.push(("/spec/listeners".to_owned(), LISTENERS, names));
    }
    parts
}

/// Whether a field may have protected parts inside it, although it is none itself.
fn may_contain_parts(pointer: &str) -> bool {
    match pointer.strip_prefix("/spec/listeners/") {
        Some(listener) => !listener.contains('/'),
        None => ["/metadata", "/metadata/annotations", "/spec", "/spec/listeners"].contains(&pointer),
    }
}

fn is_reserved(annotation: &str) -> bool {
    let mut prefixes = RESERVED_PREFIXES.iter();
    RESERVED.contains(&annotation) || prefixes.any(|prefix| annotation.starts_with(prefix))
}

fn has_listeners(object: &Object) -> bool {
    let (group, kind) = (&object.api_version.group, &object.kind);
    object.is(gateway::GROUP, "Gateway") || is_listener_set(group, kind)
}
