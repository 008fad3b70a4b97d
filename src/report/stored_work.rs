//! A work as an API server keeps it (docs/systems/ocm-work.md#manifestwork), compared with one that was rendered.
//! [`as_rendered`] leaves out what servers, controllers, and appliers add, and [`SpecDigest`] tells which manifests of two
//! specs differ.

use std::collections::{HashMap, HashSet};

use apimachinery::key;
use kube_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::diagnostic::first_items;
use crate::object::well_known::{MANAGED_WORK_LABEL, PARENT_ANNOTATION, SYNC_WAVE};
use crate::render::{MANIFEST_KEY_LABEL, ManifestSummary, SUBSTITUTE, list, text};

/// At most so many differences of a work are named.
const MOST_DIFFERENCES: usize = 3;
/// The fields that OCM's CRDs fill in, with their values (docs/systems/ocm-work.md#manifestwork).
const DEFAULTS: [(&str, &str); 10] = [
    ("cascadeDeletionPolicy", "Background"),
    ("condition", "OnSpokePresent"),
    ("feedbackScrapeType", "Poll"),
    ("fieldManager", "work-agent"),
    ("maxFailures", "0"),
    ("minSuccessTime", "0"),
    ("progressDeadline", "None"),
    ("propagationPolicy", "Foreground"),
    ("type", "All"),
    ("type", "Update"),
];
/// The annotations and labels that a rendering writes into the metadata of a work. All others are from programs that
/// apply it, and stay if it is applied again.
const RENDERED: [(&str, &[&str]); 2] = [
    ("annotations", &[SYNC_WAVE, PARENT_ANNOTATION, SUBSTITUTE]),
    ("labels", &[MANAGED_WORK_LABEL, MANIFEST_KEY_LABEL]),
];

/// A ManifestWork or ManifestWorkReplicaSet as a rendering would have it, without its namespace: only the fields that a
/// rendering writes, and none of the defaults.
pub(super) fn as_rendered(work: &Value) -> Value {
    let mut metadata = Map::new();
    for (field, names) in RENDERED {
        let written = work.pointer(&format!("/metadata/{field}"));
        let written = written.and_then(Value::as_object).into_iter().flatten();
        let ours = written.filter(|(name, _)| names.contains(&name.as_str()));
        let ours: Map = ours.map(|(name, value)| (name.clone(), value.clone())).collect();
        if !ours.is_empty() {
            metadata.insert(field, Value::Object(ours));
        }
    }
    let part = |pointer: &str| work.pointer(pointer).cloned().unwrap_or_default();
    metadata.insert("name", part("/metadata/name"));
    let spec = without_defaults(&part("/spec"));
    json!({"apiVersion": part("/apiVersion"), "kind": part("/kind"), "metadata": metadata, "spec": spec})
}

/// The entries in `manifestConfigs` that name an object.
pub(super) fn configs<'v>(
    configs: &'v [Value],
    summary: &ManifestSummary,
) -> impl Iterator<Item = &'v Value> {
    let names = ["group", "resource", "namespace", "name"];
    let names = names.map(|name| format!("/resourceIdentifier/{name}"));
    configs
        .iter()
        .filter(move |config| names.each_ref().map(|at| text(config, at)) == summary.identifier())
}

type Digest = [u8; 32];

/// The fields of a spec beside its manifests.
const PARTS: [&str; 2] = ["manifestConfigs", "deleteOption"];

/// The parts that have to be equal in two specs. Specs differ by cluster, so even a digest of each takes space.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SpecDigest {
    manifests: Vec<Manifest>,
    /// Those of [`PARTS`].
    parts: [Digest; 2],
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Manifest {
    /// apiVersion, kind, namespace and name.
    identity: [Box<str>; 4],
    digest: Digest,
}

impl SpecDigest {
    /// The digest of a spec.
    pub(super) fn from_spec(spec: &Value) -> Self {
        let spec = without_defaults(spec);
        let manifests = list(&spec, "/workload/manifests").iter();
        Self {
            manifests: manifests.map(Manifest::from_value).collect(),
            parts: PARTS.map(|name| digest(spec.get(name).unwrap_or(&Value::Null))),
        }
    }

    /// The difference of another spec; `None` if there is none.
    pub(super) fn difference(&self, exported: &Self) -> Option<String> {
        let mut parts = self.manifest_differences(exported);
        let others = PARTS.iter().zip(self.parts.iter().zip(&exported.parts));
        let others = others.filter(|(_, (wanted, found))| wanted != found);
        parts.extend(others.map(|(name, _)| format!("`{name}` differs")));
        (!parts.is_empty()).then(|| first_items(&parts, MOST_DIFFERENCES))
    }

    /// The manifests that are not the same.
    fn manifest_differences(&self, exported: &Self) -> Vec<String> {
        let digests = [self, exported].map(|spec| spec.manifests.iter().map(|manifest| manifest.digest));
        let [wanted, found] = digests;
        if wanted.eq(found) {
            return Vec::new();
        }
        let exported = &exported.manifests;
        let by_name = exported
            .iter()
            .map(|manifest| (&manifest.identity, manifest.digest));
        let by_name: HashMap<_, _> = by_name.collect();
        let planned: HashSet<_> = self.manifests.iter().map(|manifest| &manifest.identity).collect();
        let differs = |manifest: &Manifest| match by_name.get(&manifest.identity) {
            None => Some(format!("{} is not in it", manifest.named())),
            Some(digest) if *digest != manifest.digest => Some(format!("{} differs", manifest.named())),
            Some(_) => None,
        };
        let mut parts: Vec<String> = self.manifests.iter().filter_map(differs).collect();
        let left_over = exported
            .iter()
            .filter(|manifest| !planned.contains(&manifest.identity));
        parts.extend(left_over.map(|manifest| format!("{} is still in it", manifest.named())));
        if parts.is_empty() {
            parts.push("its manifests are in a different order".to_owned());
        }
        parts
    }
}

impl Manifest {
    fn from_value(manifest: &Value) -> Self {
        let names = ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"];
        Self {
            identity: names.map(|pointer| text(manifest, pointer).into()),
            digest: digest(manifest),
        }
    }

    fn named(&self) -> String {
        let [_, kind, namespace, name] = &self.identity;
        format!("{kind} {}", key(namespace, name))
    }
}

/// The digest of a value. Equal values have equal digests: keys are sorted, and JSON has one kind of number.
fn digest(value: &Value) -> Digest {
    fn canonical(value: &Value) -> Value {
        match value {
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                Value::from(if number == 0.0 { 0.0 } else { number })
            }
            Value::Array(items) => items.iter().map(canonical).collect(),
            Value::Object(entries) => {
                let entries = entries.iter();
                entries
                    .map(|(key, value)| (key.clone(), canonical(value)))
                    .collect()
            }
            Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
        }
    }
    Sha256::digest(canonical(value).to_string()).into()
}

/// A manifest as the work's CRD keeps it: only in its metadata does an API server drop what is empty.
fn as_kept(manifest: &Value) -> Value {
    let mut manifest = manifest.clone();
    if let Some(metadata) = manifest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|_, value| !value.is_empty());
    }
    manifest
}

/// A part of a spec without the defaults that the CRDs add to it, and with its manifests as these keep them. The paths of
/// a feedback rule are a list by name, which server-side apply may merge in another order.
fn without_defaults(part: &Value) -> Value {
    let entries = match part {
        Value::Object(entries) => entries,
        Value::Array(items) => return items.iter().map(without_defaults).collect(),
        _ => return part.clone(),
    };
    let is_default = |key: &str, value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        DEFAULTS.contains(&(key, &text)) || value.as_object().is_some_and(Map::is_empty)
    };
    let entries = entries.iter().map(|(key, value)| {
        let mut value = match (key.as_str(), value) {
            ("manifests", Value::Array(manifests)) => manifests.iter().map(as_kept).collect(),
            _ => without_defaults(value),
        };
        if let ("jsonPaths", Value::Array(paths)) = (key.as_str(), &mut value) {
            paths.sort_by_cached_key(|path| path.get("name").map(Value::to_string));
        }
        (key.clone(), value)
    });
    entries.filter(|(key, value)| !is_default(key, value)).collect()
}
