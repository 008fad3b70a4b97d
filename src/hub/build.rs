//! Documents become objects: lists, skipped files, names, namespaces, duplicates.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::index::{Hub, Objects};
use super::kinds::KindTable;
use crate::diagnostic::{Code, Finding, Findings, Part};
use crate::object::{ApiVersion, Identity, Object, Origin};
use crate::source::{Document, Room};

/// What the user said about the input.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `--namespace`: for namespaced objects that name none.
    pub namespace: Option<String>,
}

/// Builds the hub. What an API server would refuse is a finding and left out.
#[must_use]
pub fn build(documents: Vec<Document>, options: &Options, findings: &mut Findings) -> Hub {
    let mut skipped = 0_usize;
    let mut drafts = Vec::new();
    for document in documents {
        let origin = Origin {
            document: document.id,
            pointer: String::new(),
        };
        flatten(
            document.value,
            origin,
            &document.room,
            &mut drafts,
            &mut skipped,
            findings,
        );
    }
    let kinds = KindTable;
    let mut rooms: BTreeMap<Room, Vec<Object>> = BTreeMap::new();
    for (room, mut object) in drafts {
        if settle_namespace(&mut object, &kinds, options, findings) {
            rooms.entry(room).or_default().push(object);
        }
    }
    let mut hub = Hub {
        kinds,
        skipped_documents: skipped,
        ..Hub::default()
    };
    for (room, objects) in rooms {
        let objects = Objects::new(without_duplicates(objects, findings));
        match room {
            Room::Hub => hub.objects = objects,
            Room::Spoke(cluster) => {
                hub.spokes.insert(cluster, objects);
            }
        }
    }
    hub
}

/// Takes lists apart and leaves out what is no Kubernetes object.
fn flatten(
    mut value: Value,
    origin: Origin,
    room: &Room,
    drafts: &mut Vec<(Room, Object)>,
    skipped: &mut usize,
    findings: &mut Findings,
) {
    let text = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if api_version.is_empty() || kind.is_empty() {
        *skipped = skipped.saturating_add(1);
        return;
    }
    if kind.ends_with("List") && value.get("items").is_some_and(Value::is_array) {
        let items = value.get_mut("items").map(Value::take).unwrap_or_default();
        let Value::Array(items) = items else { return };
        for (index, item) in items.into_iter().enumerate() {
            let pointer = format!("{}/items/{index}", origin.pointer);
            flatten(
                item,
                Origin {
                    document: origin.document,
                    pointer,
                },
                room,
                drafts,
                skipped,
                findings,
            );
        }
        return;
    }
    let api_version = ApiVersion::parse(&api_version);
    if is_for_a_tool(&api_version, &kind, &value) {
        *skipped = skipped.saturating_add(1);
        return;
    }
    let metadata = value.get("metadata");
    let Some(name) = metadata
        .and_then(|metadata| metadata.get("name"))
        .and_then(Value::as_str)
    else {
        findings.push(
            Finding::new(
                Code::OBJECT_NO_NAME,
                origin.place("/metadata", Part::Value),
                format!("this {kind} has no metadata.name"),
            )
            .help("add `name` under `metadata`; `generateName` has no meaning in Git"),
        );
        return;
    };
    let namespace = metadata
        .and_then(|metadata| metadata.get("namespace"))
        .and_then(Value::as_str)
        .filter(|namespace| !namespace.is_empty())
        .map(str::to_owned);
    let name = name.to_owned();
    drafts.push((
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

/// Files for tools are no hub objects (design section 4).
fn is_for_a_tool(api_version: &ApiVersion, kind: &str, value: &Value) -> bool {
    match (api_version.group.as_str(), kind) {
        ("kustomize.config.k8s.io", _) | ("spokewright.dev", "RenderConfig") => true,
        ("argoproj.io", "ConfigManagementPlugin") => true,
        ("", "Config") => value.get("clusters").is_some() || value.get("contexts").is_some(),
        _ => false,
    }
}

/// Gives the object its effective namespace; `false` when it has none and needs one.
fn settle_namespace(
    object: &mut Object,
    kinds: &KindTable,
    options: &Options,
    findings: &mut Findings,
) -> bool {
    let _ = (kinds, options, findings, object);
    true
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
