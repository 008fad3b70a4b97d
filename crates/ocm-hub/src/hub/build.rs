//! Turns documents into objects: lists, skipped files, kinds, names, namespaces, duplicates, schemas. The order of these
//! steps counts: which objects rendering uses is known only when all of them are there, and only those are checked against
//! the built-in catalog.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube_json::{Text, Value};

use super::chain::{Chain, Relation, is_link};
use super::identify::{metadata_findings, settle_namespace};
use super::index::{Hub, Objects};
use super::kustomized::{self, kustomizations};
use super::passed_over::{PassedOver, is_for_a_tool, may_be_used};
use super::values::{placeholder, plain_secret};
use crate::api::crd::{self, Crd};
use crate::api::kinds::{KindTable, correct_kind, unknown_version_of_read};
use crate::api::own_kinds::{self, is_own_document};
use crate::api::{catalog, gateway};
use crate::diagnostic::{Code, Finding, Findings, IdentityPart, Part};
use crate::object::well_known::is_local_config;
use crate::object::{Object, Origin};
use crate::parallel;
use crate::progress::{Progress, Stage};
use crate::source::{Document, Room, Sources};
use apimachinery::{ApiVersion, GroupKind, Work};

/// The user's options for the input.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// `--namespace`: for namespaced objects that name none.
    pub namespace: Option<String>,
    /// Kinds that the configuration describes.
    pub taught: BTreeSet<GroupKind>,
    /// The files that the documents are in.
    pub sources: Option<&'a Sources>,
    /// The controller whose classes are ours: what is attached to them is checked against the built-in catalog.
    pub controller_name: Option<String>,
    /// The observer of progress.
    pub progress: Progress,
}

/// Builds the hub. An object that an API server would refuse gets a finding and is left out.
pub fn build(documents: Vec<Document>, options: &Options<'_>, findings: &mut Findings) -> Hub {
    let mut drafts = Drafts::default();
    let mut taught = Drafts::default();
    let (kustomizations, patches) = options.sources.map_or_else(Default::default, |sources| {
        let found = kustomizations(&documents, sources);
        let patches = kustomized::patches(&found, sources);
        (found, patches)
    });
    let is_of_definition = |document: &Document| {
        let file = options
            .sources
            .and_then(|sources| sources.file(document.id.source));
        file.is_some_and(|file| {
            kustomized::is_patch_of_definition(&document.value, &file.relative, &kustomizations)
        })
    };
    for document in documents {
        let origin = Origin::from_document(document.id);
        if document.room == Room::Definitions {
            taught.flatten(document.value, origin, &document.room);
        } else if patches.contains(&document.id.source) || is_of_definition(&document) {
            findings.extend(own_kinds::unknown(&origin, &document.value));
            drafts.patches.push(PassedOver {
                place: origin.place("", Part::Value),
                what: "part of a kustomization".to_owned(),
            });
        } else {
            drafts.flatten(document.value, origin, &document.room);
        }
    }
    let (kinds, crds) = learn_kinds(drafts.objects.iter().chain(&taught.objects), findings);
    let of_ours = |(_, other): &(Room, Other)| own_kinds::unknown(&other.origin, &other.value);
    findings.extend(taught.others.iter().filter_map(of_ours));
    findings.extend(
        taught
            .objects
            .iter()
            .filter_map(|(_, object)| beside_crds(object, &kinds)),
    );
    let mut passed_over = drafts.unfinished(&kinds, findings);
    passed_over.append(&mut drafts.patches);
    let catalog = match options.controller_name {
        Some(_) => from_catalog(&drafts.objects, &kinds, &crds),
        None => HashMap::new(),
    };
    let definitions = drafts.objects.iter().chain(&taught.objects);
    let definitions = definitions.filter(|(_, object)| crd::is_one(object));
    let work = Work::for_definitions(definitions.map(|(_, object)| &object.value));
    let steps = options.progress.count(Stage::Checking, drafts.objects.len());
    // Each object by itself, so in parallel; findings keep the order of the input.
    let checked = parallel::map_each(drafts.objects, |(room, object)| {
        let (object, mut wrong) = check_alone(object, &kinds, options);
        if room != Room::Hub && hangs_on_gateways(&object.group_kind(), &kinds) {
            wrong.extend(placeholder(&object));
        }
        // An object of ours has a reader, which reports more.
        let definition = crds
            .get(&object.group_kind())
            .filter(|_| !own_kinds::is_own_object(&object));
        let by_definition = definition.map(|crd| crd::check(crd, &object, &work));
        steps.advance(1);
        (room, object, wrong, by_definition)
    });
    drop(steps);
    let mut rooms: BTreeMap<Room, Vec<Object>> = BTreeMap::new();
    let mut refused = Vec::new();
    if work.is_spent() {
        let objects = checked.iter().map(|(_, object, ..)| object);
        let mut objects = objects.chain(taught.objects.iter().map(|(_, object)| object));
        findings.extend(objects.find(|object| crd::is_one(object)).map(crd::too_much_work));
    }
    for (room, mut object, mut wrong, by_definition) in checked {
        // Which objects were still checked is an accident: it must not show.
        if !work.is_spent() {
            wrong.extend(by_definition.into_iter().flatten());
        }
        let is_misplaced = room != Room::Hub && own_kinds::is_own_object(&object);
        if is_misplaced {
            wrong.push(own_kinds::misplaced(&object, "the directory of `spokes`"));
        }
        let is_refused = refuses(&wrong);
        // What lives on a cluster is served there.
        if room == Room::Hub && !is_refused {
            wrong.extend(unknown_version_of_read(&object, &kinds));
        }
        let mut by_schema = wrong.iter().filter(|finding| finding.code == Code::OBJECT_SCHEMA);
        object.refusal = by_schema.next().map(|finding| finding.message.clone());
        findings.extend(wrong);
        if !is_refused {
            rooms.entry(room).or_default().push(object);
        } else if room == Room::Hub {
            refused.push(object);
        }
    }
    let mut hub = Hub {
        crds: crds.into(),
        kinds: kinds.into(),
        catalog: catalog.into(),
        without_schema: Vec::new(),
        words_of_used: BTreeSet::new(),
        passed_over,
        refused,
        kustomizations,
        // Not `..Hub::default()`, which makes a table of kinds.
        objects: Objects::default(),
        spokes: Arc::default(),
    };
    let mut spokes = BTreeMap::new();
    for (room, objects) in rooms {
        let (objects, again) = without_duplicates(objects, findings);
        let objects = Objects::new(objects);
        match room {
            Room::Hub => {
                hub.objects = objects;
                hub.refused.extend(again);
            }
            Room::Spoke(cluster) => {
                spokes.insert(cluster, objects);
            }
            Room::Definitions => {}
        }
    }
    hub.spokes = spokes.into();
    if let Some(controller_name) = &options.controller_name {
        check_used(&mut hub, controller_name, findings);
    }
    hub
}

/// What an API server would refuse in an object of the hub, or in one that ClusterOverlays changed, by the definition of
/// its kind.
pub fn check_schema(hub: &Hub, object: &Object, work: &Work) -> Vec<Finding> {
    let kind = object.group_kind();
    match (hub.crds.get(&kind), hub.catalog.get(&kind)) {
        (Some(definition), _) => crd::check(definition, object, work),
        (None, Some(definition)) => crd::check_by_catalog(definition, object, None),
        (None, None) => Vec::new(),
    }
}

/// A policy in a directory of CRDs, where it protects nothing, or an object of ours, which nobody reads there.
fn beside_crds(object: &Object, kinds: &KindTable) -> Option<Finding> {
    if own_kinds::is_own_object(object) {
        return Some(own_kinds::misplaced(object, "a directory of `crds`"));
    }
    let kind = kinds.kind(&object.api_version.group, &object.kind)?;
    kind.is_policy().then(|| {
        let (kind, key) = (&object.kind, object.key());
        let message = format!("{kind} {key} is in a directory of `crds`, of which only CRDs are read");
        Finding::new(Code::OBJECT_NOT_SHIPPED, object.place("/kind"), message)
            .help("move it to a directory of `hub`")
    })
}

/// Whether an API server would refuse the object that these findings are about.
fn refuses(wrong: &[impl Borrow<Finding>]) -> bool {
    wrong
        .iter()
        .map(Borrow::borrow)
        .any(|finding| !finding.code.is_configurable() && finding.code != Code::OBJECT_UNKNOWN_KIND)
}

/// The objects of a document that a cluster exported, each by itself: CRDs among them teach nothing, because their API
/// server has checked the objects.
#[derive(Debug)]
pub struct Exported {
    /// The objects that an API server would accept.
    pub objects: Vec<Object>,
    /// What is no object.
    pub passed_over: usize,
    /// The mistake.
    pub wrong: Findings,
}

/// Takes an exported document, or an item of its list, apart.
pub fn exported(value: Value, origin: Origin, kinds: &KindTable) -> Exported {
    let mut drafts = Drafts::default();
    match value {
        // What `jq .items` leaves of a list.
        Value::Array(items) => drafts.flatten_items(items, &origin, &Room::Hub),
        value => drafts.flatten(value, origin, &Room::Hub),
    }
    let mut wrong = Findings::new();
    let passed_over = drafts.unfinished(kinds, &mut wrong).len();
    let options = Options::default();
    let mut objects = Vec::with_capacity(drafts.objects.len());
    for (_, object) in drafts.objects {
        let (object, mut found) = check_alone(object, kinds, &options);
        let is_refused = refuses(&found);
        if !is_refused {
            found.extend(unknown_version_of_read(&object, kinds));
            objects.push(object);
        }
        wrong.extend(found);
    }
    Exported {
        objects,
        passed_over,
        wrong,
    }
}

/// Whether a document with `items` stands for them and has no contents of its own (docs/reference/what-is-read.md).
pub fn is_list(value: &Value) -> bool {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    !text("apiVersion").is_empty()
        && text("kind").ends_with("List")
        && value.get("items").is_some_and(Value::is_array)
}

/// Objects that have a kind and a name, and nothing more is known of them yet.
#[derive(Default)]
struct Drafts {
    objects: Vec<(Room, Object)>,
    /// Documents for tools, lists, and what has no kind or no name.
    others: Vec<(Room, Other)>,
    /// Files that kustomizations name, and not as objects.
    patches: Vec<PassedOver>,
}

/// A document that is not a complete object.
struct Other {
    origin: Origin,
    api_version: Text,
    kind: Text,
    value: Value,
    is_for_a_tool: bool,
}

impl Drafts {
    /// Splits lists and leaves out documents that are not Kubernetes objects (docs/reference/what-is-read.md).
    fn flatten(&mut self, mut value: Value, origin: Origin, room: &Room) {
        let text = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_text)
                .cloned()
                .unwrap_or_default()
        };
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let other = |value, is_for_a_tool| Other {
            origin: origin.clone(),
            api_version: api_version.clone(),
            kind: kind.clone(),
            value,
            is_for_a_tool,
        };
        let version = ApiVersion::parse(&api_version);
        let is_object_of_ours = own_kinds::is_object(&version, &kind);
        if is_own_document(&api_version, &kind) && !is_object_of_ours {
            self.others.push((room.clone(), other(value, true)));
            return;
        }
        if api_version.is_empty() || kind.is_empty() {
            self.others.push((room.clone(), other(value, false)));
            return;
        }
        if is_list(&value) {
            let items = value.get_mut("items").map(Value::take).unwrap_or_default();
            let Value::Array(items) = items else { return };
            let pointer = format!("{}/items", origin.pointer);
            return self.flatten_items(items, &Origin { pointer, ..origin }, room);
        }
        // One of ours is refused if it is for tools only.
        if is_for_a_tool(&version, &kind, &value) || (is_local_config(&value) && !is_object_of_ours) {
            self.others.push((room.clone(), other(value, true)));
            return;
        }
        let metadata = value.get("metadata");
        let field = |key: &str| metadata.and_then(|metadata| metadata.get(key));
        let text = |key: &str| {
            field(key)
                .and_then(Value::as_text)
                .filter(|text| !text.is_empty())
        };
        let namespace = field("namespace").filter(|namespace| !namespace.is_null());
        if text("name").is_none() || namespace.is_some_and(|namespace| !namespace.is_string()) {
            self.others.push((room.clone(), other(value, false)));
            return;
        }
        let namespace = text("namespace").cloned();
        let mut object = Object::from_value(value, origin);
        object.namespace = namespace;
        self.objects.push((room.clone(), object));
    }

    /// The same of each item of the list at `origin`.
    fn flatten_items(&mut self, items: Vec<Value>, origin: &Origin, room: &Room) {
        for (index, item) in items.into_iter().enumerate() {
            let pointer = format!("{}/{index}", origin.pointer);
            let document = origin.document;
            self.flatten(item, Origin { document, pointer }, room);
        }
    }

    /// The skipped documents among those that are not complete objects. One that may have been meant as an object that
    /// rendering uses, or that lives on a cluster, gets a finding.
    fn unfinished(&mut self, kinds: &KindTable, findings: &mut Findings) -> Vec<PassedOver> {
        let mut passed_over = Vec::new();
        for (room, other) in std::mem::take(&mut self.others) {
            match other.finding(&room, kinds) {
                Some(finding) => findings.push(finding),
                None => passed_over.push(other.passed_over()),
            }
        }
        passed_over
    }
}

impl Other {
    fn finding(&self, room: &Room, kinds: &KindTable) -> Option<Finding> {
        if self.is_for_a_tool {
            return own_kinds::unknown(&self.origin, &self.value);
        }
        if let Value::Array(items) = &self.value {
            let meant = items.iter().position(|item| may_be_used(item, kinds))?;
            return Some(bare_list(&self.origin, meant));
        }
        let is_incomplete = self.api_version.is_empty() || self.kind.is_empty();
        let has_name = self.value.pointer("/metadata/name").is_some();
        let is_of_a_cluster = *room != Room::Hub
            && (!is_incomplete || (has_name && !(self.api_version.is_empty() && self.kind.is_empty())));
        let is_meant = may_be_used(&self.value, kinds) || self.is_misspelled();
        if !is_of_a_cluster && !is_meant {
            return None;
        }
        if is_incomplete {
            return Some(incomplete(&self.origin, &self.value, &self.kind));
        }
        let field = |key: &str| self.value.get("metadata").and_then(|metadata| metadata.get(key));
        let name = field("name");
        match field("namespace") {
            Some(namespace) if name.is_some_and(Value::is_string) && !namespace.is_string() => Some(
                not_of_type(&self.origin, &self.kind, "metadata.namespace", namespace)
                    .leaves_unknown(IdentityPart::Namespace),
            ),
            _ => {
                Some(no_name(&self.origin, &self.value, &self.kind, name).leaves_unknown(IdentityPart::Name))
            }
        }
    }

    /// Whether it is an object but for a typo in a key that every object has.
    fn is_misspelled(&self) -> bool {
        let is_near = |parent: &str, field: &str| self.origin.missing(&self.value, parent, field).1.is_some();
        let has_name = self.value.pointer("/metadata/name").is_some();
        match (self.api_version.is_empty(), self.kind.is_empty()) {
            (true, true) => false,
            (true, false) => has_name && is_near("", "apiVersion"),
            (false, true) => has_name && is_near("", "kind"),
            (false, false) if self.value.get("metadata").is_some() => {
                !has_name && is_near("/metadata", "name")
            }
            (false, false) => is_near("", "metadata"),
        }
    }

    fn passed_over(self) -> PassedOver {
        let what = if self.value.is_array() {
            "a list".to_owned()
        } else if self.is_for_a_tool {
            format!("{} of {}, for a tool", self.kind, self.api_version)
        } else if self.api_version.is_empty() || self.kind.is_empty() {
            "no apiVersion and kind".to_owned()
        } else {
            format!("{} of {}, without a name", self.kind, self.api_version)
        };
        PassedOver {
            place: self.origin.place("", Part::Value),
            what,
        }
    }
}

/// The kinds that the CRDs of the input define, wherever they are; of two for one kind, the first counts.
fn learn_kinds<'o>(
    objects: impl Iterator<Item = &'o (Room, Object)>,
    findings: &mut Findings,
) -> (KindTable, HashMap<GroupKind, Crd>) {
    let mut crds = HashMap::new();
    for (_, object) in objects.filter(|(_, object)| crd::is_one(object)) {
        let (crd, wrong) = crd::read(object);
        findings.extend(wrong);
        if let Some(crd) = crd {
            crds.entry(GroupKind::new(crd.group.clone(), crd.kind.clone()))
                .or_insert(crd);
        }
    }
    let mut sorted: Vec<&Crd> = crds.values().collect();
    sorted.sort_by_key(|crd| (&crd.group, &crd.kind));
    (KindTable::with_crds(sorted), crds)
}

/// The definitions of the built-in catalog for kinds in the input that are attached to Gateways and have no CRD there.
fn from_catalog(
    objects: &[(Room, Object)],
    kinds: &KindTable,
    crds: &HashMap<GroupKind, Crd>,
) -> HashMap<GroupKind, Crd> {
    let mut unknown = kinds_of(objects.iter().map(|(_, object)| object));
    unknown.retain(|kind| !crds.contains_key(kind) && hangs_on_gateways(kind, kinds));
    let definition = |kind: GroupKind| {
        let definition = catalog::find(&kind.group, &kind.kind)?.definition()?;
        Some((kind, definition))
    };
    unknown.into_iter().filter_map(definition).collect()
}

fn kinds_of<'o>(objects: impl Iterator<Item = &'o Object>) -> BTreeSet<GroupKind> {
    objects.map(Object::group_kind).collect()
}

fn hangs_on_gateways(kind: &GroupKind, kinds: &KindTable) -> bool {
    let info = kinds.kind(&kind.group, &kind.kind);
    kind.group == gateway::GROUP || info.is_some_and(|info| info.parent_refs || info.has_target)
}

/// The fields that name what an object is attached to.
const REFERENCES: [&str; 4] = ["parentRefs", "targetRef", "targetRefs", "targetSelectors"];

/// Finds out which objects of the hub rendering uses, and reports placeholders in them, and what the built-in catalog says
/// of those whose CRD is not in the input. Objects that live on a cluster were accepted there.
fn check_used(hub: &mut Hub, controller_name: &str, findings: &mut Findings) {
    let all: Vec<&Object> = hub.objects.iter().chain(&hub.refused).collect();
    let chain = Chain::new(hub, &all, controller_name);
    let relations = parallel::map(&all, |object| chain.relation_of(object));
    let related: Vec<(&Object, Relation)> = all.iter().copied().zip(relations.iter().copied()).collect();
    // Without a class of ours, all Gateways may be ours.
    let is_ours = |(object, relation): &(&Object, Relation)| {
        *relation == Relation::Ours && object.is(gateway::GROUP, "GatewayClass")
    };
    let has_class = related.iter().any(is_ours);
    let is_attached = |object: &Object| is_link(object) || object.is(gateway::GROUP, "ReferenceGrant");
    let checked = parallel::map(&related, |(object, relation)| {
        let may_be_used = is_attached(object) && *relation != Relation::Foreign && !chain.lacks_class(object);
        let mut wrong = Vec::new();
        if let Some(definition) = hub.catalog.get(&object.group_kind())
            && (may_be_used || !has_class || !is_attached(object))
        {
            let only = (!may_be_used && has_class).then_some(REFERENCES.as_slice());
            wrong = crd::check_by_catalog(definition, object, only);
        }
        wrong.extend(placeholder(object).filter(|_| may_be_used));
        wrong
    });
    let mut without_schema = BTreeSet::new();
    for ((object, relation), wrong) in related.iter().zip(checked) {
        findings.extend(wrong);
        let kind = object.written_kind();
        if *relation == Relation::Ours
            && is_attached(object)
            && !hub.crds.contains_key(&kind)
            && !hub.catalog.contains_key(&kind)
        {
            without_schema.insert(kind);
        }
    }
    hub.words_of_used = chain.words();
    hub.without_schema = without_schema.into_iter().collect();
    hub.mark_bystanders(relations.into_iter().map(|relation| relation != Relation::Ours));
}

/// Names and namespace of one object.
fn check_alone(mut object: Object, kinds: &KindTable, options: &Options<'_>) -> (Object, Vec<Finding>) {
    let mut wrong = Vec::from_iter(correct_kind(&mut object, kinds, &options.taught));
    wrong.extend(metadata_findings(&object));
    wrong.extend(settle_namespace(&mut object, kinds, options.namespace.as_deref()));
    wrong.extend(plain_secret(&object));
    (object, wrong)
}

/// Keeps the first object of each identity, in the order of the input, and reports the others, which come second. The
/// objects may be parts of something else.
pub fn without_duplicates<T: AsRef<Object>>(all: Vec<T>, findings: &mut Findings) -> (Vec<T>, Vec<T>) {
    let mut first: HashMap<[&str; 4], &Object> = HashMap::with_capacity(all.len());
    let mut is_again = Vec::with_capacity(all.len());
    for object in all.iter().map(AsRef::as_ref) {
        let group = object.api_version.group.as_str();
        let key = [group, &object.kind, object.namespace_or_empty(), &object.name];
        let known = *first.entry(key).or_insert(object);
        is_again.push(!std::ptr::eq(known, object));
        if !std::ptr::eq(known, object) {
            let at = "/metadata/name";
            let finding = object.finding(Code::OBJECT_DUPLICATE, at, "is defined twice");
            let finding = finding.label("again here").related(known.place(at), "first here");
            findings.push(finding.help("remove one of the two, or rename it"));
        }
    }
    if !is_again.contains(&true) {
        return (all, Vec::new());
    }
    let mut is_again = is_again.into_iter();
    let (again, kept) = all.into_iter().partition(|_| is_again.next().unwrap_or_default());
    (kept, again)
}

fn incomplete(origin: &Origin, value: &Value, kind: &str) -> Finding {
    let missing = if kind.is_empty() { "kind" } else { "apiVersion" };
    let written = value.get(missing).filter(|written| !written.is_null());
    let finding = if let Some(written) = written {
        let what = if kind.is_empty() { "object" } else { kind };
        not_of_type(origin, what, missing, written)
    } else {
        let (place, meant) = origin.missing(value, "", missing);
        let message = format!("this looks like a Kubernetes object, but has no `{missing}`");
        let add = || format!("add `{missing}`, or list the file under `exclude` in spokewright.yaml");
        Finding::new(Code::OBJECT_SCHEMA, place, message).help(meant.unwrap_or_else(add))
    };
    if kind.is_empty() {
        finding.leaves_unknown(IdentityPart::Kind)
    } else {
        finding
    }
}

/// A list by itself is nothing that Kubernetes reads.
fn bare_list(origin: &Origin, index: usize) -> Finding {
    let message = "this object is in a bare list, which Kubernetes does not read";
    let place = origin.place(&format!("/{index}"), Part::Value);
    let finding = Finding::new(Code::OBJECT_SCHEMA, place, message);
    finding.help("write one document per object, or use `items` of a `kind: List`")
}

fn no_name(origin: &Origin, value: &Value, kind: &str, name: Option<&Value>) -> Finding {
    if let Some(name) = name.filter(|name| !name.is_string() && !name.is_null()) {
        return not_of_type(origin, kind, "metadata.name", name);
    }
    let metadata = value.get("metadata").filter(|metadata| !metadata.is_null());
    if let Some(metadata) = metadata.filter(|metadata| !metadata.is_object()) {
        return not_of_type(origin, kind, "metadata", metadata);
    }
    let (parent, field) = match value.get("metadata") {
        Some(_) => ("/metadata", "name"),
        None => ("", "metadata"),
    };
    let (place, meant) = origin.missing(value, parent, field);
    let message = format!("this {kind} has no metadata.name");
    let add = || "add `name` under `metadata`; `generateName` has no meaning in Git".to_owned();
    Finding::new(Code::OBJECT_NO_NAME, place, message).help(meant.unwrap_or_else(add))
}

/// A field that every object has, with a value that it cannot have. YAML reads some plain words and all plain numbers as
/// other types: `n` is a boolean.
fn not_of_type(origin: &Origin, kind: &str, field: &str, value: &Value) -> Finding {
    let help = match field {
        "apiVersion" => "write a group and a version, such as `gateway.networking.k8s.io/v1`",
        "kind" => "write the name of a kind, such as `Gateway`",
        "metadata" => "write a mapping with `name`",
        _ => "put it in quotes",
    };
    let is_what = match value {
        Value::String(_) => "is empty",
        _ if field == "metadata" => "is not a mapping",
        _ => "is not a string",
    };
    let message = format!("{field} of this {kind} {is_what}");
    let place = origin.place(&format!("/{}", field.replace('.', "/")), Part::Value);
    let finding = Finding::new(Code::OBJECT_SCHEMA, place, message).help(help);
    if matches!(value, Value::Array(_) | Value::Object(_) | Value::String(_)) {
        return finding;
    }
    finding.label(format!("YAML reads it as {value}"))
}
