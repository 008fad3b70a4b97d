//! Documents become objects: lists, skipped files, kinds, names, namespaces, duplicates, schemas.
//!
//! Owns: the order of these steps, which documents are objects, and the findings about those that are not. Flows in:
//! documents, a default namespace. Flows out: the [`Hub`]. Must not know: what any kind is for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;
use serde_json::Value;

use super::chain::{Chain, REFERENCES, Use};
use super::identify::{is_for_a_tool, metadata_findings, settle_namespace};
use super::index::{Hub, Objects};
use super::kinds::KindTable;
use super::versions::unknown_version;
use crate::api::crd::{self, Crd};
use crate::api::{catalog, gateway};
use crate::diagnostic::{Code, Finding, Findings, Part};
use crate::object::{Object, Origin};
use crate::progress::{Progress, Stage};
use crate::source::{Document, Room};
use apimachinery::{ApiVersion, GroupKind, Identity};

/// What the user said about the input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    /// `--namespace`: for namespaced objects that name none.
    pub namespace: Option<String>,
    /// The controller whose classes are ours: what hangs on them is checked against the built-in catalog.
    pub controller_name: Option<String>,
    /// Who hears how far it is.
    pub progress: Progress,
}

/// Builds the hub. What an API server would refuse is a finding and left out.
#[must_use]
pub(crate) fn build(documents: Vec<Document>, options: &Options, findings: &mut Findings) -> Hub {
    let mut drafts = Drafts::default();
    let mut taught = Drafts::default();
    for document in documents {
        let origin = Origin {
            document: document.id,
            pointer: String::new(),
        };
        if document.room == Room::Definitions {
            // Whatever else stands there is nobody's business.
            taught.flatten(document.value, origin, &document.room, &mut Findings::new());
        } else {
            drafts.flatten(document.value, origin, &document.room, findings);
        }
    }
    let (kinds, crds) = learn_kinds(drafts.objects.iter().chain(&taught.objects), findings);
    let catalog = match options.controller_name {
        Some(_) => from_catalog(&drafts.objects, &kinds, &crds),
        None => HashMap::new(),
    };
    let mut without_schema = BTreeSet::new();
    if let Some(ours) = options.controller_name.as_deref() {
        let of_hub = drafts.objects.iter().filter(|(room, _)| *room == Room::Hub);
        let of_hub: Vec<&Object> = of_hub.map(|(_, object)| object).collect();
        let chain = Chain::new(&of_hub, &kinds, ours, options.namespace.as_deref());
        let known = |kind: &GroupKind| crds.contains_key(kind) || catalog.contains_key(kind);
        let used = of_hub
            .iter()
            .filter(|object| chain.use_of(object, &kinds) == Use::Used);
        without_schema = used
            .map(|object| object.group_kind())
            .filter(|kind| !known(kind))
            .collect();
        findings.extend(check_by_catalog(&of_hub, &chain, &kinds, &catalog));
    }
    let steps = options.progress.count(Stage::Checking, drafts.objects.len());
    // Each object by itself, so in parallel; findings keep the order of the input.
    let checked: Vec<(Room, Option<Object>, Vec<Finding>)> = drafts
        .objects
        .into_par_iter()
        .map(|(room, object)| {
            let (object, mut wrong) = check(object, &kinds, &crds, options);
            // What lives on a cluster is served there.
            if let (Room::Hub, Some(object)) = (&room, &object) {
                wrong.extend(unknown_version(object, &kinds));
            }
            steps.advance(1);
            (room, object, wrong)
        })
        .collect();
    drop(steps);
    let mut rooms: BTreeMap<Room, Vec<Object>> = BTreeMap::new();
    for (room, object, wrong) in checked {
        findings.extend(wrong);
        if let Some(object) = object {
            rooms.entry(room).or_default().push(object);
        }
    }
    let mut hub = Hub {
        kinds,
        crds,
        catalog,
        without_schema: without_schema.into_iter().collect(),
        skipped_documents: drafts.skipped,
        ..Hub::default()
    };
    for (room, objects) in rooms {
        let objects = Objects::new(without_duplicates(objects, findings));
        match room {
            Room::Hub => hub.objects = objects,
            Room::Spoke(cluster) => {
                hub.spokes.insert(cluster, objects);
            }
            Room::Definitions => {}
        }
    }
    hub
}

/// Objects that have a kind and a name, and nothing more is known of them yet.
#[derive(Default)]
struct Drafts {
    objects: Vec<(Room, Object)>,
    skipped: usize,
}

impl Drafts {
    /// Takes lists apart and leaves out what is no Kubernetes object (README.md#what-is-read).
    fn flatten(&mut self, mut value: Value, origin: Origin, room: &Room, findings: &mut Findings) {
        let text = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if api_version.is_empty() || kind.is_empty() {
            if (!api_version.is_empty() || !kind.is_empty()) && value.pointer("/metadata/name").is_some() {
                findings.push(incomplete(&origin, &kind));
            } else {
                self.skipped = self.skipped.saturating_add(1);
            }
            return;
        }
        if kind.ends_with("List") && value.get("items").is_some_and(Value::is_array) {
            let items = value.get_mut("items").map(Value::take).unwrap_or_default();
            let Value::Array(items) = items else { return };
            for (index, item) in items.into_iter().enumerate() {
                let pointer = format!("{}/items/{index}", origin.pointer);
                self.flatten(
                    item,
                    Origin {
                        document: origin.document,
                        pointer,
                    },
                    room,
                    findings,
                );
            }
            return;
        }
        let api_version = ApiVersion::parse(&api_version);
        if is_for_a_tool(&api_version, &kind, &value) {
            self.skipped = self.skipped.saturating_add(1);
            return;
        }
        let metadata = value.get("metadata");
        let text = |key: &str| {
            metadata
                .and_then(|metadata| metadata.get(key))
                .and_then(Value::as_str)
        };
        let Some(name) = text("name").filter(|name| !name.is_empty()).map(str::to_owned) else {
            findings.push(no_name(
                &origin,
                &kind,
                metadata.and_then(|metadata| metadata.get("name")),
            ));
            return;
        };
        if let Some(namespace) = metadata.and_then(|metadata| metadata.get("namespace"))
            && !namespace.is_string()
            && !namespace.is_null()
        {
            findings.push(not_a_string(&origin, &kind, "namespace", namespace));
            return;
        }
        let namespace = text("namespace")
            .filter(|namespace| !namespace.is_empty())
            .map(str::to_owned);
        self.objects.push((
            room.clone(),
            Object {
                api_version,
                kind,
                namespace,
                name,
                value,
                origin,
            },
        ));
    }
}

/// The kinds that the CRDs of the input teach, wherever they stand; of two of one kind the first counts.
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

/// What the built-in catalog knows of the kinds that hang on Gateways, that occur, and that have no CRD in the input.
fn from_catalog(
    objects: &[(Room, Object)],
    kinds: &KindTable,
    crds: &HashMap<GroupKind, Crd>,
) -> HashMap<GroupKind, Crd> {
    let mut occurring: BTreeMap<GroupKind, BTreeSet<&str>> = BTreeMap::new();
    for (_, object) in objects {
        let versions = occurring.entry(object.group_kind()).or_default();
        versions.insert(&object.api_version.version);
    }
    let wanted: Vec<(GroupKind, BTreeSet<&str>)> = occurring
        .into_iter()
        .filter(|(kind, _)| !crds.contains_key(kind) && hangs_on_gateways(kind, kinds))
        .collect();
    wanted
        .into_par_iter()
        .filter_map(|(kind, versions)| {
            let definition = catalog::find(&kind.group, &kind.kind)?.definition(&versions)?;
            Some((kind, definition))
        })
        .collect()
}

fn hangs_on_gateways(kind: &GroupKind, kinds: &KindTable) -> bool {
    let info = kinds.kind(&kind.group, &kind.kind);
    kind.group == gateway::GROUP || info.is_some_and(|info| info.parent_refs || info.targets.any())
}

/// What the built-in catalog says of the objects of the hub that rendering uses. What lives on a cluster was accepted there.
fn check_by_catalog(
    of_hub: &[&Object],
    chain: &Chain<'_>,
    kinds: &KindTable,
    catalog: &HashMap<GroupKind, Crd>,
) -> Vec<Finding> {
    let found = |object: &&Object| {
        let Some(definition) = catalog.get(&object.group_kind()) else {
            return Vec::new();
        };
        match chain.use_of(object, kinds) {
            Use::Used => crd::check_by_catalog(definition, object, None),
            Use::NamesNothing => crd::check_by_catalog(definition, object, Some(&REFERENCES)),
            Use::Unused => Vec::new(),
        }
    };
    of_hub.par_iter().flat_map_iter(found).collect()
}

/// Names, namespace and schema of one object.
fn check(
    mut object: Object,
    kinds: &KindTable,
    crds: &HashMap<GroupKind, Crd>,
    options: &Options,
) -> (Option<Object>, Vec<Finding>) {
    let mut wrong = metadata_findings(&object);
    wrong.extend(settle_namespace(&mut object, kinds, options.namespace.as_deref()));
    if let Some(crd) = crds.get(&object.group_kind()) {
        wrong.extend(crd::check(crd, &object));
    }
    let refused = wrong.iter().any(|finding| !finding.code.is_configurable());
    ((!refused).then_some(object), wrong)
}

/// Keeps the first object of each identity, in the order of the input, and reports the others.
fn without_duplicates(objects: Vec<Object>, findings: &mut Findings) -> Vec<Object> {
    let mut first: HashMap<Identity, Origin> = HashMap::with_capacity(objects.len());
    let mut kept = Vec::with_capacity(objects.len());
    for object in objects {
        let identity = object.identity();
        match first.get(&identity) {
            Some(origin) => findings.push(
                Finding::new(
                    Code::OBJECT_DUPLICATE,
                    object.place("/metadata/name"),
                    format!("{identity} is defined twice"),
                )
                .label("again here")
                .related(origin.place("/metadata/name", Part::Value), "first here")
                .help("remove one of the two, or rename it"),
            ),
            None => {
                first.insert(identity, object.origin.clone());
                kept.push(object);
            }
        }
    }
    kept
}

fn incomplete(origin: &Origin, kind: &str) -> Finding {
    let missing = if kind.is_empty() { "kind" } else { "apiVersion" };
    Finding::new(
        Code::OBJECT_SCHEMA,
        origin.place("", Part::Value),
        format!("this looks like a Kubernetes object, but has no `{missing}`"),
    )
    .help(format!(
        "add `{missing}`, or list the file under `exclude` in spokewright.yaml"
    ))
}

fn no_name(origin: &Origin, kind: &str, name: Option<&Value>) -> Finding {
    match name {
        Some(name) if !name.is_string() && !name.is_null() => not_a_string(origin, kind, "name", name),
        _ => Finding::new(
            Code::OBJECT_NO_NAME,
            origin.place("/metadata", Part::Value),
            format!("this {kind} has no metadata.name"),
        )
        .help("add `name` under `metadata`; `generateName` has no meaning in Git"),
    }
}

/// YAML reads some plain words and all plain numbers as other types: `n` is a boolean.
fn not_a_string(origin: &Origin, kind: &str, field: &str, value: &Value) -> Finding {
    Finding::new(
        Code::OBJECT_SCHEMA,
        origin.place(&format!("/metadata/{field}"), Part::Value),
        format!("metadata.{field} of this {kind} is no string"),
    )
    .label(format!("YAML reads it as {value}"))
    .help("put it in quotes")
}
