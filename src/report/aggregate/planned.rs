//! What the plan writes into each distinct work, as values, and where an exported work has something else.
//!
//! Owns: the comparison of two specs, less what an API server adds (docs/systems/ocm-work.md#manifestwork), and the
//! feedback that the parameters ask for. Flows in: texts of the plan, exported specs. Flows out: [`PlannedWork`]s, words
//! for a difference. Must not know: clusters.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::api::feedback_path::FeedbackPath;
use crate::diagnostic::first_items;
use crate::render::{ManifestSummary, Work};

/// At most so many differences of a work are named.
const MOST_DIFFERENCES: usize = 3;
/// What an API server adds to an entry of `manifestConfigs` (docs/systems/ocm-work.md#manifestwork).
const CONFIG_DEFAULTS: [(&str, &str); 1] = [("feedbackScrapeType", "Poll")];

/// One distinct work of the plan.
#[derive(Debug, Default)]
pub(super) struct PlannedWork {
    /// `spec`.
    spec: Value,
    /// For each manifest, in order, the values that its feedback rules ask for.
    feedback: Vec<Vec<AskedFeedback>>,
}

/// One value that a feedback rule asks for.
#[derive(Debug)]
pub(super) struct AskedFeedback {
    /// Its name.
    pub(super) name: String,
    /// Where it is read.
    pub(super) path: FeedbackPath,
    /// What its path finds in the object as it is shipped.
    pub(super) shipped: Option<Value>,
}

impl PlannedWork {
    /// Reads the text of a work: once for all clusters that get it.
    pub(super) fn read(work: &Work) -> Self {
        // The cluster's name is not part of the spec, so any will do.
        let mut text = Vec::new();
        work.text.write("x", &mut text);
        let text = String::from_utf8_lossy(&text);
        let limits = kube_yaml::Limits::default();
        let Ok(Value::Object(mut object)) = kube_yaml::read_document(&text, &limits) else {
            return Self::default();
        };
        Self::of_spec(object.remove("spec").unwrap_or_default(), &work.manifests)
    }

    /// Of a spec whose manifests are these.
    pub(super) fn of_spec(spec: Value, manifests: &[ManifestSummary]) -> Self {
        let feedback = manifests.iter().zip(list(&spec, "/workload/manifests"));
        let feedback = feedback.map(|(summary, manifest)| asked(&spec, summary, manifest));
        Self {
            feedback: feedback.collect(),
            spec,
        }
    }

    /// What the feedback rules ask of the manifest at a position.
    pub(super) fn feedback(&self, position: usize) -> &[AskedFeedback] {
        self.feedback.get(position).map(Vec::as_slice).unwrap_or_default()
    }

    /// What an exported work has otherwise; `None` where it says the same, or where its spec was not exported.
    pub(super) fn difference(&self, exported: &Value) -> Option<String> {
        let there = exported.get("spec").filter(|spec| !spec.is_null())?;
        let mut parts = manifest_differences(
            list(&self.spec, "/workload/manifests"),
            list(there, "/workload/manifests"),
        );
        if !same_lists(
            list(&self.spec, "/manifestConfigs"),
            list(there, "/manifestConfigs"),
            same_config,
        ) {
            parts.push("`manifestConfigs` differs".to_owned());
        }
        let option = |spec: &Value| spec.get("deleteOption").cloned().unwrap_or_default();
        if !same(&option(&self.spec), &option(there)) {
            parts.push("`deleteOption` differs".to_owned());
        }
        (!parts.is_empty()).then(|| first_items(&parts, MOST_DIFFERENCES))
    }
}

fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    let items = value.pointer(pointer).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

/// The values that the feedback rules of a manifest ask for.
fn asked(spec: &Value, summary: &ManifestSummary, manifest: &Value) -> Vec<AskedFeedback> {
    let wanted = [
        &summary.group,
        &summary.resource,
        &summary.namespace,
        &summary.name,
    ];
    let keys = ["group", "resource", "namespace", "name"];
    let configs = list(spec, "/manifestConfigs").iter();
    let config = configs.into_iter().find(|config| {
        keys.iter().zip(wanted).all(|(key, wanted)| {
            let identifier = config.get("resourceIdentifier").and_then(|all| all.get(key));
            identifier.and_then(Value::as_str).unwrap_or_default() == wanted
        })
    });
    let Some(config) = config else {
        return Vec::new();
    };
    let rules = list(config, "/feedbackRules").iter();
    rules
        .flat_map(|rule| list(rule, "/jsonPaths"))
        .filter_map(|entry| {
            let path = FeedbackPath::parse(entry.get("path")?.as_str()?).ok()?;
            Some(AskedFeedback {
                name: entry.get("name")?.as_str()?.to_owned(),
                shipped: path.first(manifest),
                path,
            })
        })
        .collect()
}

/// The manifests that are not the same.
fn manifest_differences(planned: &[Value], there: &[Value]) -> Vec<String> {
    if same_lists(planned, there, same_manifest) {
        return Vec::new();
    }
    let by_name: HashMap<[&str; 4], &Value> = there
        .iter()
        .map(|manifest| (identity(manifest), manifest))
        .collect();
    let planned_names: HashSet<[&str; 4]> = planned.iter().map(identity).collect();
    let mut parts: Vec<String> = planned
        .iter()
        .filter_map(|manifest| match by_name.get(&identity(manifest)) {
            None => Some(format!("{} is not in it", named(manifest))),
            Some(there) if !same_manifest(manifest, there) => Some(format!("{} differs", named(manifest))),
            Some(_) => None,
        })
        .collect();
    let left_over = there
        .iter()
        .filter(|manifest| !planned_names.contains(&identity(manifest)));
    parts.extend(left_over.map(|manifest| format!("{} is still in it", named(manifest))));
    if parts.is_empty() {
        parts.push("its manifests are in a different order".to_owned());
    }
    parts
}

/// apiVersion, kind, namespace and name.
fn identity(manifest: &Value) -> [&str; 4] {
    ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"].map(|pointer| {
        manifest
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    })
}

fn named(manifest: &Value) -> String {
    let [_, kind, namespace, name] = identity(manifest);
    if namespace.is_empty() {
        format!("{kind} {name}")
    } else {
        format!("{kind} {namespace}/{name}")
    }
}

fn same_lists(planned: &[Value], there: &[Value], same: fn(&Value, &Value) -> bool) -> bool {
    planned.len() == there.len()
        && planned
            .iter()
            .zip(there)
            .all(|(planned, there)| same(planned, there))
}

/// The work's CRD keeps a manifest as it is but for its metadata, of which an API server drops what is empty.
fn same_manifest(planned: &Value, there: &Value) -> bool {
    let (Value::Object(planned), Value::Object(there)) = (planned, there) else {
        return false;
    };
    planned.len() == there.len()
        && planned
            .iter()
            .all(|(key, value)| match (key.as_str(), value, there.get(key)) {
                ("metadata", Value::Object(planned), Some(Value::Object(there))) => {
                    same_metadata(planned, there) && same_metadata(there, planned)
                }
                (_, value, Some(there)) => same(value, there),
                (_, _, None) => false,
            })
}

/// Whether `there` has everything of `planned` that is not empty.
fn same_metadata(planned: &Map<String, Value>, there: &Map<String, Value>) -> bool {
    planned.iter().all(|(key, value)| match there.get(key) {
        Some(there) => same(value, there),
        None => match value {
            Value::Null => true,
            Value::Object(entries) => entries.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::String(text) => text.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        },
    })
}

/// An entry of `manifestConfigs`; the CRD adds defaults to it.
fn same_config(planned: &Value, there: &Value) -> bool {
    let (Value::Object(planned), Value::Object(there)) = (planned, there) else {
        return false;
    };
    let is_default = |key: &str, value: &Value| {
        let mut defaults = CONFIG_DEFAULTS.iter();
        defaults.any(|(name, default)| *name == key && value == default)
    };
    planned.keys().all(|key| there.contains_key(key))
        && there.iter().all(|(key, value)| match planned.get(key) {
            Some(Value::Array(planned)) if key == "feedbackRules" => value
                .as_array()
                .is_some_and(|there| same_lists(planned, there, same_rule)),
            Some(planned) => same(planned, value),
            None => is_default(key, value),
        })
}

/// A feedback rule. Its paths are a list by name, which server-side apply may merge in another order
/// (docs/systems/ocm-work.md#manifestwork).
fn same_rule(planned: &Value, there: &Value) -> bool {
    let by_name = |rule: &Value| {
        let mut rule = rule.clone();
        if let Some(Value::Array(paths)) = rule.get_mut("jsonPaths") {
            paths.sort_by_cached_key(|path| path.get("name").map(Value::to_string));
        }
        rule
    };
    same(planned, there) || same(&by_name(planned), &by_name(there))
}

/// Equal as values: JSON knows one kind of number.
fn same(planned: &Value, there: &Value) -> bool {
    match (planned, there) {
        (Value::Number(planned), Value::Number(there)) => {
            planned == there || planned.as_f64() == there.as_f64()
        }
        (Value::Array(planned), Value::Array(there)) => same_lists(planned, there, same),
        (Value::Object(planned), Value::Object(there)) => {
            planned.len() == there.len()
                && planned
                    .iter()
                    .all(|(key, value)| there.get(key).is_some_and(|there| same(value, there)))
        }
        _ => planned == there,
    }
}
