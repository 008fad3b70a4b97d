//! Every case in `fixtures`, compared completely with what OCM's real scheduler did.
//!
//! How to compare is said in `fixtures/README.md`: strictly, except that null and an empty list are
//! equal, prioritizers may come in any order, a score of 0 may be absent, and texts of CEL's compiler are free.

#![allow(clippy::restriction)]
#![warn(
    clippy::dbg_macro,
    clippy::exit,
    clippy::iter_over_hash_type,
    clippy::mem_forget
)]
#![warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kube_json::{Text, Value, json};
use ocm_placement::{Detail, Input, Inventory, Mode, Object, ObjectId, Options, evaluate};

/// An object of the input: its number and its value.
#[derive(Clone)]
struct Document {
    id: ObjectId,
    value: Value,
}

fn objects(text: &str) -> Vec<Document> {
    let documents = kube_yaml::read_all(text, &kube_yaml::Limits::default()).expect("the fixtures are YAML");
    let numbered = documents.into_iter().enumerate();
    numbered
        .filter(|(_, value)| !value.is_null())
        .map(|(id, value)| Document {
            id: ObjectId(id),
            value,
        })
        .collect()
}

fn mode(text: &str) -> Mode {
    [Mode::Snapshot, Mode::Sequential, Mode::Fixpoint]
        .into_iter()
        .find(|mode| <&str>::from(*mode) == text)
        .expect("a known mode")
}

struct Case {
    name: String,
    objects: Vec<Document>,
    expected: Value,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = fs::read_dir(fixtures())
        .expect("the fixtures are there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_dir())
        .map(|path| Case {
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            objects: objects(&fs::read_to_string(path.join("input.yaml")).expect("input.yaml")),
            expected: serde_json::from_str(
                &fs::read_to_string(path.join("expected.json")).expect("expected.json"),
            )
            .expect("JSON"),
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn report(case: &Case, objects: &[Document]) -> Value {
    let (inventory, _) = Inventory::read(objects.iter().map(|one| Object::new(one.id, &one.value)));
    let input = Input {
        inventory: &inventory,
        now: case.expected["now"]
            .as_str()
            .map(|now| now.parse().expect("a time")),
        mode: mode(case.expected["mode"].as_str().expect("a mode")),
        options: Options::default(),
    };
    kube_json::to_value(evaluate(&input, Detail::Full).report()).expect("serialisable")
}

/// Brings a result into the form in which equal means equal.
fn normal(mut report: Value) -> Value {
    if let Some(report) = report.as_object_mut() {
        report.remove("options");
        // `input.yaml[19] Placement ns1/name: why` or `Placement ns1/name`: the object counts.
        let rejected = report.remove("rejected").unwrap_or_else(|| json!([]));
        let rejected: BTreeSet<String> = rejected
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|line| {
                let line = line.split_once("] ").map_or(line, |(_, rest)| rest);
                line.split(": ").next().unwrap_or(line).to_owned()
            })
            .collect();
        report.insert("rejected".to_owned(), json!(rejected));
    }
    for placement in report["placements"].as_array_mut().into_iter().flatten() {
        for list in [
            "availableClusters",
            "eligibleClusterSets",
            "filters",
            "prioritizers",
            "ranking",
            "decisions",
            "placementDecisions",
            "decisionGroups",
        ] {
            if placement[list].is_null() {
                placement[list] = json!([]);
            }
        }
        for inner in [
            ("filters", "filteredClusters"),
            ("placementDecisions", "clusters"),
            ("decisionGroups", "decisions"),
        ] {
            for item in placement[inner.0].as_array_mut().into_iter().flatten() {
                if item[inner.1].is_null() {
                    item[inner.1] = json!([]);
                }
            }
        }
        if let Some(prioritizers) = placement["prioritizers"].as_array_mut() {
            for prioritizer in prioritizers.iter_mut() {
                if prioritizer["scores"].is_null() {
                    prioritizer["scores"] = json!({});
                }
                if let Some(scores) = prioritizer["scores"].as_object_mut() {
                    scores.retain(|_, score| *score != json!(0));
                }
            }
            prioritizers.sort_by_key(ToString::to_string);
        }
    }
    report
}

/// The first differences between two values, by path.
fn differences(path: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    if expected == actual || found.len() > 8 {
        return;
    }
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            let keys: BTreeSet<&Text> = expected.keys().chain(actual.keys()).collect();
            for key in keys {
                let null = &Value::Null;
                let (expected, actual) = (expected.get(key).unwrap_or(null), actual.get(key).unwrap_or(null));
                differences(&format!("{path}/{key}"), expected, actual, found);
            }
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
                differences(&format!("{path}/{index}"), expected, actual, found);
            }
        }
        _ => found.push(format!("{path}: expected {expected}, got {actual}")),
    }
}

#[test]
fn every_case_comes_out_as_in_ocm() {
    let cases = cases();
    assert_eq!(cases.len(), 73, "all cases are there");
    let mut failures = Vec::new();
    for case in &cases {
        let mut found = Vec::new();
        let (expected, actual) = (normal(case.expected.clone()), normal(report(case, &case.objects)));
        differences("", &expected, &actual, &mut found);
        if !found.is_empty() {
            failures.push(format!("{}:\n  {}", case.name, found.join("\n  ")));
        }
    }
    assert!(
        failures.is_empty(),
        "{} cases differ\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn the_order_of_the_input_never_matters() {
    for case in &cases() {
        let mut objects = case.objects.clone();
        let forward = report(case, &objects);
        objects.reverse();
        assert_eq!(forward, report(case, &objects), "{}", case.name);
        objects.sort_by_key(|object| object.value.to_string());
        assert_eq!(forward, report(case, &objects), "{}", case.name);
    }
}
