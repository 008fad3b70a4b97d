//! One letter too many never takes a thing off a cluster with exit status 0.
//!
//! Every reference of a hub, and the kind, the group, the version, the namespace, and the name of each of its objects,
//! get one letter more in turn. The result is rendered and compared with what the hub ships without the mistake.

use std::collections::BTreeMap;

use kube_json::{Value, json};
use spokewright::diagnostic::{Findings, Human};
use spokewright::pipeline::{Analysis, EmptyResult};

use super::spokes::{Input, load, texts_by_cluster};

/// What became of a hub with a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Refused,
    /// Every cluster receives as much as without the mistake.
    NoEffect,
    LessAfterWarning,
    LessInSilence,
}

/// One letter more somewhere.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// The field, and the kind of the object: `RateLimitPolicy spec.targetRef.name`.
    pub(crate) field: String,
    /// Labels and selectors may well select less: nothing is known of what they should select.
    pub(crate) is_selector: bool,
    pub(crate) input: Input,
}

/// The mistakes that a hub may have, each with its fate and the findings; none for a hub with errors of its own.
pub(crate) fn judge(input: &Input) -> Vec<(Mistake, Fate, String)> {
    let Ok((before, said_before)) = render(input) else {
        return Vec::new();
    };
    let judged = mistakes(input).into_iter().map(|mistake| {
        let (fate, said) = match render(&mistake.input) {
            Err(said) => (Fate::Refused, said),
            Ok((after, said)) => {
                let is_less = before
                    .iter()
                    .any(|(key, count)| after.get(key).copied().unwrap_or_default() < *count);
                let is_new = |message: &String| !said_before.contains(message);
                let fate = match (is_less, said.iter().any(is_new)) {
                    (false, _) => Fate::NoEffect,
                    (true, true) => Fate::LessAfterWarning,
                    (true, false) => Fate::LessInSilence,
                };
                (fate, said.join("\n"))
            }
        };
        (mistake, fate, said)
    });
    judged.collect()
}

/// How many objects of each kind each cluster receives, and how many references those have.
type Shipped = BTreeMap<(String, String), usize>;

/// What a hub ships, and its warnings; or its errors.
fn render(input: &Input) -> Result<(Shipped, Vec<String>), String> {
    let loaded = load(&input.texts, input.replica_sets);
    let mut findings = Findings::new();
    let rendered = Analysis::new(&loaded, &mut findings).render(EmptyResult::Refused, &mut findings);
    loaded.finish(&mut findings);
    if findings.has_errors() {
        return Err(Human::default().render(&findings, &loaded.sources));
    }
    let mut shipped = Shipped::new();
    for (cluster, works) in texts_by_cluster(&rendered.plan) {
        for (text, at, _) in works {
            let work = kube_yaml::read_document(&text, &kube_yaml::Limits::default()).expect("YAML");
            let manifests = work.pointer(&format!("{at}/workload/manifests"));
            for manifest in manifests.and_then(Value::as_array).into_iter().flatten() {
                let kind = manifest["kind"].as_str().unwrap_or_default();
                let references = ["targetRefs", "parentRefs"].iter().map(|field| {
                    let references = manifest["spec"].get(*field).and_then(Value::as_array);
                    references.map_or(0, Vec::len)
                });
                *shipped.entry((cluster.clone(), kind.to_owned())).or_default() +=
                    1 + references.sum::<usize>();
            }
        }
    }
    let messages = findings
        .iter()
        .map(|finding| format!("{}: {}", finding.code, finding.message));
    Ok((shipped, messages.collect()))
}

fn mistakes(input: &Input) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (path, text) in input
        .texts
        .iter()
        .filter(|(path, _)| !path.starts_with("spokes/"))
    {
        let documents = kube_yaml::read_all(text, &kube_yaml::Limits::default()).expect("YAML");
        for (at, document) in documents.iter().enumerate() {
            let mut sites = Vec::new();
            own(document, &mut sites);
            references(document, "", false, &mut sites);
            for (pointer, is_selector) in sites {
                let mut documents = documents.clone();
                let value = documents[at].pointer_mut(&pointer).expect("a value");
                misspell(value, &pointer, mistakes.len());
                let kind = document["kind"].as_str().unwrap_or_default();
                let mut input = input.clone();
                let documents: Vec<String> = documents.iter().map(kube_yaml::write_document).collect();
                input.texts.insert(path.clone(), documents.join("---\n"));
                mistakes.push(Mistake {
                    field: format!("{kind} {pointer}"),
                    is_selector,
                    input,
                });
            }
        }
    }
    mistakes
}

/// What an object is called.
fn own(object: &Value, sites: &mut Vec<(String, bool)>) {
    for pointer in [
        "/kind",
        "/apiVersion",
        "/metadata/namespace",
        "/metadata/name",
        "/metadata/labels/cluster.open-cluster-management.io~1placement",
        "/spec/gatewayClassName",
        "/spec/controllerName",
    ] {
        // The names of policies and routes are nobody's but theirs, and of a file for a tool no name is read.
        if object.pointer(pointer).is_some() {
            // A policy without targets selects the workloads of its namespace.
            let spec = &object["spec"];
            let is_istio = object["apiVersion"]
                .as_str()
                .is_some_and(|version| version.contains("istio.io/"));
            let has_targets = ["targetRef", "targetRefs"]
                .iter()
                .any(|field| spec.get(*field).is_some());
            let selects = pointer == "/metadata/namespace" && is_istio && !has_targets;
            sites.push((pointer.to_owned(), selects));
        }
    }
}

/// What an object names.
fn references(value: &Value, pointer: &str, is_reference: bool, sites: &mut Vec<(String, bool)>) {
    const REFERENCES: [&str; 5] = [
        "targetRef",
        "targetRefs",
        "parentRef",
        "parentRefs",
        "parametersRef",
    ];
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let below = apimachinery::pointer::child(pointer, key);
                match value {
                    Value::String(_) if is_reference => sites.push((below, false)),
                    Value::Number(_) if is_reference => sites.push((below, false)),
                    Value::String(_) if pointer.ends_with("matchLabels") => sites.push((below, true)),
                    value => references(
                        value,
                        &below,
                        is_reference || REFERENCES.contains(&key.as_str()),
                        sites,
                    ),
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                references(item, &format!("{pointer}/{at}"), is_reference, sites);
            }
        }
        _ => {}
    }
}

/// Adds a letter at the end, at the beginning, or in the middle; of an `apiVersion`, to the group and the version in
/// turn.
fn misspell(value: &mut Value, pointer: &str, turn: usize) {
    if let Some(port) = value.as_u64() {
        *value = json!(port + 1);
        return;
    }
    let text = value.as_str().expect("a text").to_owned();
    let (part, rest) = match text.split_once('/') {
        Some((group, version)) if pointer.ends_with("/apiVersion") && turn % 4 != 3 => {
            (group.to_owned(), format!("/{version}"))
        }
        _ => (text, String::new()),
    };
    let at = [part.len(), 0, part.len() / 2][turn % 3];
    let letter = part
        .chars()
        .last()
        .filter(char::is_ascii_lowercase)
        .unwrap_or('x');
    *value = json!(format!("{}{letter}{}{rest}", &part[..at], &part[at..]));
}
