//! The spec of a work as digests, which show which of its manifests differ without keeping the manifests; and the deletions
//! that its ClusterRoles grant to an agent (docs/systems/ocm-work.md#the-agents-rights). Two specs are equal regardless of
//! what an API server adds (docs/systems/ocm-work.md#manifestwork).

use std::collections::{HashMap, HashSet};

use kube_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::diagnostic::first_items;
use crate::render::RBAC_GROUP;

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
        let mut configs = Canonical::default();
        configs.list(list(spec, "/manifestConfigs"), Canonical::config);
        let mut delete_option = Canonical::default();
        delete_option.value(spec.get("deleteOption").unwrap_or(&Value::Null));
        Self {
            manifests: manifests.collect(),
            configs: configs.digest(),
            delete_option: delete_option.digest(),
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
        let digests = |spec: &Self| {
            spec.manifests
                .iter()
                .map(|manifest| manifest.digest)
                .collect::<Vec<_>>()
        };
        if digests(self) == digests(there) {
            return Vec::new();
        }
        let there = &there.manifests;
        let by_name: HashMap<_, _> = there
            .iter()
            .map(|manifest| (&manifest.identity, manifest.digest))
            .collect();
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
        let text = |pointer| {
            let text = manifest.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().into()
        };
        let mut canonical = Canonical::default();
        canonical.manifest(manifest);
        Self {
            identity: ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"].map(text),
            digest: canonical.digest(),
        }
    }

    fn named(&self) -> String {
        let [_, kind, namespace, name] = &self.identity;
        if namespace.is_empty() {
            format!("{kind} {name}")
        } else {
            format!("{kind} {namespace}/{name}")
        }
    }
}

pub(in crate::report) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    let items = value.pointer(pointer).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

/// A form in which only equal values have equal bytes: every part has its type and its length.
#[derive(Default)]
struct Canonical(Sha256);

impl Canonical {
    fn digest(self) -> Digest {
        self.0.finalize().into()
    }

    fn mark(&mut self, mark: u8, length: usize) {
        self.0.update([mark]);
        self.0
            .update(u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
    }

    fn text(&mut self, mark: u8, text: &str) {
        self.mark(mark, text.len());
        self.0.update(text);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.mark(b'n', 0),
            Value::Bool(yes) => self.mark(b'b', usize::from(*yes)),
            // JSON knows one kind of number.
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                self.text(b'd', &if number == 0.0 { 0.0 } else { number }.to_string());
            }
            Value::String(text) => self.text(b's', text),
            Value::Array(items) => self.list(items, Self::value),
            Value::Object(entries) => {
                self.entries(entries, |_, _| true, |canonical, _, value| canonical.value(value));
            }
        }
    }

    fn list(&mut self, items: &[Value], mut each: impl FnMut(&mut Self, &Value)) {
        self.mark(b'a', items.len());
        for item in items {
            each(self, item);
        }
    }

    /// The entries that count, by key, as [`Map`] has them.
    fn entries(
        &mut self,
        entries: &Map,
        counts: impl Fn(&str, &Value) -> bool,
        each: impl Fn(&mut Self, &str, &Value),
    ) {
        let counted = || entries.iter().filter(|(key, value)| counts(key, value));
        self.mark(b'o', counted().count());
        for (key, value) in counted() {
            self.text(b'k', key);
            each(self, key, value);
        }
    }

    /// The work's CRD keeps a manifest as it is but for its metadata, of which an API server drops what is empty.
    fn manifest(&mut self, manifest: &Value) {
        let Value::Object(entries) = manifest else {
            return self.value(manifest);
        };
        self.entries(
            entries,
            |_, _| true,
            |canonical, key, value| match (key, value) {
                ("metadata", Value::Object(metadata)) => {
                    canonical.entries(
                        metadata,
                        |_, value| !is_empty(value),
                        |canonical, _, value| canonical.value(value),
                    );
                }
                _ => canonical.value(value),
            },
        );
    }

    /// An entry of `manifestConfigs`; the CRD adds defaults to it.
    fn config(&mut self, config: &Value) {
        let Value::Object(entries) = config else {
            return self.value(config);
        };
        let counts = |key: &str, value: &Value| {
            !CONFIG_DEFAULTS
                .iter()
                .any(|(name, default)| *name == key && value == default)
        };
        self.entries(entries, counts, |canonical, key, value| match (key, value) {
            ("feedbackRules", Value::Array(rules)) => canonical.list(rules, Self::rule),
            _ => canonical.value(value),
        });
    }

    /// A feedback rule. Its paths are a list by name, which server-side apply may merge in another order
    /// (docs/systems/ocm-work.md#manifestwork).
    fn rule(&mut self, rule: &Value) {
        let Value::Object(entries) = rule else {
            return self.value(rule);
        };
        self.entries(
            entries,
            |_, _| true,
            |canonical, key, value| match (key, value) {
                ("jsonPaths", Value::Array(paths)) => {
                    let mut paths: Vec<&Value> = paths.iter().collect();
                    paths.sort_by_cached_key(|path| path.get("name").map(Value::to_string));
                    canonical.mark(b'a', paths.len());
                    for path in paths {
                        canonical.value(path);
                    }
                }
                _ => canonical.value(value),
            },
        );
    }
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

/// A rule that grants the deletion of all objects of its kinds.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::report) struct Grant {
    groups: Vec<String>,
    resources: Vec<String>,
}

impl Grant {
    /// The grants of a work; `None` where it has no ClusterRole.
    pub(super) fn of_spec(spec: &Value) -> Option<Vec<Self>> {
        let mut grants = None;
        for role in list(spec, "/workload/manifests") {
            let text = |pointer: &str| role.pointer(pointer).and_then(Value::as_str);
            let version = text("/apiVersion").unwrap_or_default();
            let is_rbac = version
                .split_once('/')
                .is_some_and(|(group, _)| group == RBAC_GROUP);
            if is_rbac && text("/kind") == Some("ClusterRole") {
                let granted: &mut Vec<Self> = grants.get_or_insert_default();
                granted.extend(list(role, "/rules").iter().filter_map(Self::of_rule));
            }
        }
        grants
    }

    fn of_rule(rule: &Value) -> Option<Self> {
        let texts = |pointer: &str| {
            let items = list(rule, pointer).iter();
            items
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let deletes = texts("/verbs").iter().any(|verb| verb == "*" || verb == "delete");
        let of_all = list(rule, "/resourceNames").is_empty();
        (deletes && of_all).then(|| Self {
            groups: texts("/apiGroups"),
            resources: texts("/resources"),
        })
    }

    /// Whether it covers all objects of a group and a plural.
    pub(in crate::report) fn allows(&self, group: &str, resource: &str) -> bool {
        let has = |all: &[String], one: &str| all.iter().any(|item| item == "*" || item == one);
        has(&self.groups, group) && has(&self.resources, resource)
    }
}
