//! The cases of `fixtures/policy` (see its README), each compared strictly by paths, sources, values, and statuses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::diagnostic::{DocumentId, Findings, SourceId};
use crate::hub::{self, Hub};
use crate::policy::{Options, ProfileEntry, Profiles, affecting};
use crate::tests::Seen;
use kube_json::{Value, json};
use ocm_hub::source::{Document, Room};

use super::OnCluster;

fn documents(text: &str) -> Vec<Value> {
    kube_yaml::read_all(text, &kube_yaml::Limits::default()).expect("a fixture is YAML")
}

fn case(name: &str) -> (Hub, Value) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/policy")
        .join(name);
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).expect("the fixture is there");
    let documents_of = |text: &str| {
        documents(text)
            .into_iter()
            .enumerate()
            .map(|(index, value)| Document {
                id: DocumentId {
                    source: SourceId(0),
                    index: u32::try_from(index).expect("few documents"),
                },
                room: Room::Hub,
                value,
            })
    };
    let mut findings = Findings::new();
    let input = documents_of(&read("input.yaml")).collect();
    let hub = hub::build(input, &hub::Options::default(), &mut findings);
    assert!(findings.is_empty(), "{name}: {findings:?}");
    let expected = documents(&read("expected.yaml"))
        .into_iter()
        .next()
        .expect("one document");
    (hub, expected)
}

/// The report of a case, as JSON.
fn report(hub: &Hub, profiles: Option<&Profiles>) -> Value {
    let options = Options {
        profiles,
        ..Options::default()
    };
    let seen = Seen::of(hub, &options);
    let mut report = kube_json::to_value(seen.report()).expect("a report is JSON");
    let affected = affecting(&seen.attachments, &seen.effective).unwrap().into_iter();
    report["affected"] = affected
        .map(|((node, _), policies)| {
            let locators = policies
                .into_iter()
                .map(|policy| &seen.attachments.authored(policy).locator);
            json!({
                "target": seen.attachments.topology.locator(node),
                "policies": locators.map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    report
}

/// Kuadrant's typed structs print empty objects that the input does not have (fixtures/policy/README.md).
fn without_empty_objects(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), without_empty_objects(value)))
            .filter(|(_, value)| value != &json!({}))
            .collect(),
        Value::Array(items) => items.iter().map(without_empty_objects).collect(),
        other => other.clone(),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn observed(name: &str) {
    let (hub, expected) = case(name);
    let report = report(&hub, None);
    let by_path = |entries: &[Value]| -> BTreeMap<String, Value> {
        entries
            .iter()
            .map(|entry| {
                let key = format!("{} {}", entry["kind"], entry["path"]);
                let comparable = json!({
                    "ruleSources": entry["ruleSources"],
                    "rules": without_empty_objects(&entry["rules"]),
                    "sourcePolicies": entry["sourcePolicies"],
                });
                (key, comparable)
            })
            .collect()
    };
    assert_eq!(
        by_path(list(&report, "effective")),
        by_path(list(&expected, "effective")),
        "{name}: effective"
    );
    let by_policy = |entries: &[Value]| -> BTreeMap<String, Value> {
        entries
            .iter()
            .map(|entry| {
                let comparable = json!({"accepted": entry["accepted"], "enforced": entry["enforced"]});
                (text(entry, "policy").to_owned(), comparable)
            })
            .collect()
    };
    assert_eq!(
        by_policy(list(&report, "policies")),
        by_policy(list(&expected, "policies")),
        "{name}: policies"
    );
}

macro_rules! observed {
    ($($test:ident $name:literal)+) => {
        $(#[test] fn $test() { observed($name); })+
    };
}

observed! {
    case_13 "13-rlp-atomic-defaults-route-wins"
    case_16 "16-rlp-merge-defaults"
    case_17 "17-rlp-merge-overrides"
    case_19 "19-rlp-same-target-no-timestamp"
    case_21 "21-rlp-same-target-overrides"
    case_23 "23-rlp-listener-section"
    case_24 "24-rlp-route-rule-section"
    case_26 "26-rlp-target-not-found"
    case_28 "28-authpolicy-merge-defaults"
    case_31 "31-trlp-merge-overrides"
    case_40 "40-rlp-three-levels-gateway-atomic-override-wins"
}

/// `service:infra/b1` is written `Service/infra/b1` in the cases; a policy's locator loses its kind.
fn target_of(locator: &str) -> String {
    let (kind, name) = locator.split_once(':').unwrap_or_default();
    let kind = match kind {
        "service" => "Service",
        other => other,
    };
    format!("{kind}/{name}")
}

fn key_of(locator: &str) -> String {
    locator.split_once(':').unwrap_or_default().1.to_owned()
}

/// The last part of a locator: `g1`, `r1`, `my-route-1#rule-1`.
fn name_of(locator: &str) -> &str {
    locator.rsplit('/').next().unwrap_or_default()
}

/// The paths that end at a backend, as names of Gateway, route, backend.
fn backend_paths(report: &Value) -> BTreeMap<Vec<String>, Value> {
    list(report, "effective")
        .iter()
        .filter_map(|entry| {
            let path: Vec<&str> = list(entry, "path").iter().filter_map(Value::as_str).collect();
            path.last()?.starts_with("service:").then_some(())?;
            let names = path.iter().filter(|locator| !locator.starts_with("gatewayclass"));
            Some((
                names.map(|locator| name_of(locator).to_owned()).collect(),
                entry["spec"].clone(),
            ))
        })
        .collect()
}

fn outcome(entry: &Value) -> Value {
    let reason = entry["programmed"]["reason"].as_str();
    json!(match reason {
        Some("Programmed") => "yes",
        Some("PartiallyProgrammed") => "partial",
        _ => "no",
    })
}

fn compare_policies(name: &str, report: &Value, expected: &Value) {
    for policy in list(expected, "policies") {
        let found = list(report, "policies")
            .iter()
            .find(|entry| key_of(text(entry, "policy")) == text(policy, "name"))
            .unwrap_or_else(|| panic!("{name}: {policy} is missing"));
        if policy.get("enforced").is_some() {
            assert_eq!(outcome(found), policy["enforced"], "{name}: {policy} {found}");
        }
        if policy["accepted"].is_string() {
            assert_eq!(
                found["accepted"]["status"], policy["accepted"],
                "{name}: {policy}"
            );
            assert_eq!(found["accepted"]["reason"], policy["reason"], "{name}: {policy}");
        } else if let Some(reason) = policy.get("reason") {
            assert_eq!(&found["programmed"]["reason"], reason, "{name}: {policy}");
        }
        if let Some(by) = policy.get("overriddenBy") {
            let found: Vec<String> = list(found, "overriddenBy")
                .iter()
                .filter_map(Value::as_str)
                .map(key_of)
                .collect();
            assert_eq!(&json!(found), by, "{name}: {policy}");
        }
        for by in list(policy, "by").iter().filter_map(Value::as_str) {
            assert!(
                text(&found["accepted"], "message").contains(by),
                "{name}: {policy}"
            );
        }
    }
}

fn compare_affected(name: &str, report: &Value, expected: &Value) {
    for (target, policies) in expected["affected"].as_object().expect("a mapping") {
        let found: BTreeSet<String> = list(report, "affected")
            .iter()
            .filter(|entry| target_of(text(entry, "target")) == *target)
            .flat_map(|entry| {
                list(entry, "policies")
                    .iter()
                    .filter_map(Value::as_str)
                    .map(key_of)
            })
            .collect();
        assert_eq!(&json!(found), policies, "{name}: {target}");
    }
}

#[test]
fn case_33() {
    let name = "33-gep713-example-1-direct";
    let (hub, expected) = case(name);
    let report = report(&hub, None);
    let found: Vec<Value> = list(&report, "effective")
        .iter()
        .map(|entry| {
            let target = list(entry, "path").last().and_then(Value::as_str).map(target_of);
            let from: Vec<String> = list(entry, "sourcePolicies")
                .iter()
                .filter_map(Value::as_str)
                .map(key_of)
                .collect();
            json!({"target": target, "spec": entry["spec"], "from": from})
        })
        .collect();
    assert_eq!(json!(found), expected["effective"]);
    compare_affected(name, &report, &expected);
    compare_policies(name, &report, &expected);
}

/// What a case expects of each path, under `field`.
fn expected_paths(expected: &Value, field: &str) -> BTreeMap<Vec<String>, Value> {
    list(expected, "effective")
        .iter()
        .map(|entry| {
            let path = list(entry, "path")
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned);
            (path.collect(), entry[field].clone())
        })
        .collect()
}

fn gep_713(name: &str) {
    let (hub, expected) = case(name);
    let report = report(&hub, None);
    let wanted = expected_paths(&expected, "spec");
    assert_eq!(backend_paths(&report), wanted, "{name}");
    compare_affected(name, &report, &expected);
    compare_policies(name, &report, &expected);
}

#[test]
fn case_34() {
    gep_713("34-gep713-example-2-defaults-overrides");
}

#[test]
fn case_35() {
    gep_713("35-gep713-example-3-merged");
}

#[test]
fn case_36() {
    let name = "36-backendtls-conflict";
    let (hub, expected) = case(name);
    let report = report(&hub, None);
    for wanted in list(&expected, "effective") {
        let end = format!("{}#{}", text(wanted, "target"), text(wanted, "port"));
        let found: Vec<&Value> = list(&report, "effective")
            .iter()
            .filter(|entry| {
                list(entry, "path").last().and_then(Value::as_str).map(target_of) == Some(end.clone())
            })
            .collect();
        if wanted["from"].is_null() {
            assert!(found.is_empty(), "{end}: {found:?}");
            continue;
        }
        let [found] = found.as_slice() else {
            panic!("{end}: {found:?}")
        };
        assert_eq!(
            key_of(found["sourcePolicies"][0].as_str().unwrap_or_default()),
            text(wanted, "from")
        );
        assert_eq!(found["spec"]["validation"]["hostname"], wanted["hostname"]);
    }
    compare_policies(name, &report, &expected);
}

#[test]
fn case_39() {
    let name = "39-tlspolicy-section-and-gateway-coexist";
    let (hub, expected) = case(name);
    let report = report(&hub, None);
    let found: BTreeMap<String, String> = list(&report, "effective")
        .iter()
        .map(|entry| {
            let end = list(entry, "path")
                .last()
                .and_then(Value::as_str)
                .unwrap_or_default();
            let source = entry["sourcePolicies"][0].as_str().unwrap_or_default();
            (name_of(end).to_owned(), key_of(source))
        })
        .collect();
    assert_eq!(json!(found), expected["effectiveByListener"]);
    for policy in list(&expected, "policies") {
        let found = list(&report, "policies")
            .iter()
            .find(|entry| key_of(text(entry, "policy")) == text(policy, "name"))
            .unwrap_or_else(|| panic!("{policy} is missing"));
        assert_eq!(found["accepted"]["status"], policy["accepted"]["status"]);
        assert_eq!(found["accepted"]["reason"], policy["accepted"]["reason"]);
    }
}

#[test]
fn case_44() {
    let (hub, expected) = case("44-policy-machinery-house-json-merge-patch");
    let entry: ProfileEntry = kube_json::from_value(&json!({
        "group": "colors.example.com", "kind": "ColorPolicy", "class": "Inherited",
        "targetFields": ["targetRef"], "precedence": "EstablishedChallenger", "strategy": "Patch", "ends": ["Rule"],
    }))
    .expect("an entry");
    let mut profiles = Profiles::built_in();
    profiles.configure(&entry).expect("a profile");
    let report = report(&hub, Some(&profiles));
    let found: BTreeMap<Vec<String>, Value> = list(&report, "effective")
        .iter()
        .map(|entry| {
            let path = list(entry, "path").iter().skip(1).filter_map(Value::as_str);
            (
                path.map(|locator| name_of(locator).to_owned()).collect(),
                entry["spec"]["rules"].clone(),
            )
        })
        .collect();
    let wanted = expected_paths(&expected, "rules");
    assert_eq!(found, wanted);
}

/// Every directory of fixtures has a test here.
#[test]
fn no_case_is_left_out() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/policy");
    let source = include_str!("tests.rs");
    for entry in std::fs::read_dir(directory).expect("fixtures") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            assert!(source.contains(&format!("\"{name}\"")), "{name} has no test");
        }
    }
}

#[test]
fn what_is_said_of_a_thousand_clusters_is_held_once() {
    // A name and a condition that others share: a policy may be an exception on every cluster.
    assert!(size_of::<OnCluster>() <= 3 * size_of::<usize>());
}
