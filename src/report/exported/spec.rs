//! The spec of a work as digests, which show which of its manifests differ without keeping the manifests. Two specs are equal
//! regardless of what an API server adds (docs/systems/ocm-work.md#manifestwork).

use std::collections::{HashMap, HashSet};

use apimachinery::key;
use kube_json::Value;
use sha2::{Digest as _, Sha256};

use crate::diagnostic::first_items;
use crate::render::{list, text};

/// At most so many differences of a work are named.
const MOST_DIFFERENCES: usize = 3;
/// The fields that an API server adds to an entry of `manifestConfigs` (docs/systems/ocm-work.md#manifestwork).
const CONFIG_DEFAULTS: [(&str, &str); 1] = [("feedbackScrapeType", "Poll")];

type Digest = [u8; 32];

/// The parts that have to be equal in two specs. Specs differ by cluster, so even a digest of each takes space.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::report) struct SpecDigest {
    manifests: Vec<Manifest>,
    configs: Digest,
    delete_option: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Manifest {
    /// apiVersion, kind, namespace and name.
    identity: [Box<str>; 4],
    digest: Digest,
}

impl SpecDigest {
    /// The digest of a spec.
    pub(in crate::report) fn of(spec: &Value) -> Self {
        let manifests = list(spec, "/workload/manifests").iter().map(Manifest::of);
        let configs = list(spec, "/manifestConfigs").iter().map(without_defaults);
        Self {
            manifests: manifests.collect(),
            configs: digest(&configs.collect()),
            delete_option: digest(spec.get("deleteOption").unwrap_or(&Value::Null)),
        }
    }

    /// The difference of another spec; `None` if there is none.
    pub(in crate::report) fn difference(&self, there: &Self) -> Option<String> {
        let mut parts = self.manifest_differences(there);
        if self.configs != there.configs {
            parts.push("`manifestConfigs` differs".to_owned());
        }
        if self.delete_option != there.delete_option {
            parts.push("`deleteOption` differs".to_owned());
        }
        (!parts.is_empty()).then(|| first_items(&parts, MOST_DIFFERENCES))
    }

    /// The manifests that are not the same.
    fn manifest_differences(&self, there: &Self) -> Vec<String> {
        let digests = [self, there].map(|spec| spec.manifests.iter().map(|manifest| manifest.digest));
        let [wanted, found] = digests;
        if wanted.eq(found) {
            return Vec::new();
        }
        let there = &there.manifests;
        let by_name = there.iter().map(|manifest| (&manifest.identity, manifest.digest));
        let by_name: HashMap<_, _> = by_name.collect();
        let planned: HashSet<_> = self.manifests.iter().map(|manifest| &manifest.identity).collect();
        let differs = |manifest: &Manifest| match by_name.get(&manifest.identity) {
            None => Some(format!("{} is not in it", manifest.named())),
            Some(there) if *there != manifest.digest => Some(format!("{} differs", manifest.named())),
            Some(_) => None,
        };
        let mut parts: Vec<String> = self.manifests.iter().filter_map(differs).collect();
        let left_over = there
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
    fn of(manifest: &Value) -> Self {
        let names = ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"];
        Self {
            identity: names.map(|pointer| text(manifest, pointer).into()),
            digest: digest(&as_kept(manifest)),
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
        metadata.retain(|_, value| !is_empty(value));
    }
    manifest
}

/// An entry of `manifestConfigs` without the defaults that the CRD adds to it. The paths of a feedback rule are a list by
/// name, which server-side apply may merge in another order (docs/systems/ocm-work.md#manifestwork).
fn without_defaults(config: &Value) -> Value {
    let mut config = config.clone();
    if let Some(entries) = config.as_object_mut() {
        entries.retain(|key, value| !CONFIG_DEFAULTS.contains(&(&**key, value.as_str().unwrap_or_default())));
    }
    let rules = config.get_mut("feedbackRules").and_then(Value::as_array_mut);
    for rule in rules.into_iter().flatten() {
        if let Some(paths) = rule.get_mut("jsonPaths").and_then(Value::as_array_mut) {
            paths.sort_by_cached_key(|path| path.get("name").map(Value::to_string));
        }
    }
    config
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(entries) => entries.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
