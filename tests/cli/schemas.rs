//! Reports as JSON and as YAML, against their JSON Schemas. [`conforms`] checks the output of every run of these tests.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use kube_json::Value;
use spokewright::pipeline::SCHEMAS;

use crate::page::data_of;
use crate::scratch::Scratch;

/// Panics if a document of ours breaks the schema of its kind, or has a field that the schema does not know. Other texts
/// pass.
#[track_caller]
pub(crate) fn conforms(text: &str) {
    for document in documents(text) {
        if let Some(kind) = kind_of(&document) {
            conforms_to(&kind, &document, text);
        }
    }
}

/// The JSON document of a text, or its YAML documents.
fn documents(text: &str) -> Vec<Value> {
    if text.starts_with(['{', '[']) {
        return serde_json::from_str(text).into_iter().collect();
    }
    if !text.starts_with("apiVersion: ") {
        return Vec::new();
    }
    let limits = kube_yaml::Limits::default();
    let documents = text.split("\n---\n");
    documents
        .filter_map(|document| kube_yaml::read_document(document, &limits).ok())
        .collect()
}

/// The kind of a report; nothing for any other document.
fn kind_of(document: &Value) -> Option<String> {
    let kind = document["kind"].as_str().unwrap_or_default();
    // Argo CD asks for a bare list.
    let is_announcement = document[0]["collectionType"].is_string();
    let is_ours = document["apiVersion"] == "spokewright.dev/v1alpha1" && kind != "RenderConfig";
    if is_announcement {
        Some(ANNOUNCEMENT.to_owned())
    } else {
        (is_ours || kind == "EffectivePolicy").then(|| kind.to_owned())
    }
}

/// The schema of a list has no kind.
const ANNOUNCEMENT: &str = "";

#[track_caller]
fn conforms_to(kind: &str, document: &Value, text: &str) {
    let validator = validators().get(kind);
    let validator = validator.unwrap_or_else(|| panic!("no schema is for the kind {kind}"));
    let wrong: Vec<String> = validator
        .iter_errors(&document.into())
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{kind}: {wrong:#?}\n{text}");
}

/// By the kind of the document.
fn validators() -> &'static BTreeMap<String, Validator> {
    static VALIDATORS: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    VALIDATORS.get_or_init(|| {
        SCHEMAS
            .iter()
            .filter(|(name, _)| name.starts_with("report/"))
            .map(|(name, text)| {
                let mut schema = serde_json::from_str(text).expect("JSON");
                close(&mut schema);
                let kind = schema
                    .pointer("/properties/kind/const")
                    .and_then(serde_json::Value::as_str);
                let kind = kind.unwrap_or(ANNOUNCEMENT).to_owned();
                let validator = jsonschema::validator_for(&schema);
                (kind, validator.unwrap_or_else(|error| panic!("{name}: {error}")))
            })
            .collect()
    })
}

/// Lets objects have no fields but those that are named. The published schemas leave room, as a later release may add some.
fn close(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(fields) => {
            if fields.get("properties").is_some_and(serde_json::Value::is_object)
                && fields.get("type").is_some()
                && !fields.contains_key("additionalProperties")
            {
                fields.insert("unevaluatedProperties".to_owned(), false.into());
            }
            fields.values_mut().for_each(close);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn every_report_is_printed_by_a_run_and_conforms_to_its_schema() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["init", "start"]).exits(0);
    scratch.run(&["render", "hub", "-q", "-o", "rendered", "--report", "report.json"]);
    scratch.raise_the_limit("hub/limits.yaml");
    let mut printed = vec![scratch.read("report.json")];
    conforms(&printed[0]);
    for arguments in [
        &["diff", "hub", "--base-tree", "rendered", "--format", "json"][..],
        &["explain", "gateway/prod-web", "hub", "-o", "json"],
        &["explain", "ratelimitpolicy/global", "hub", "-o", "json"],
        &["explain", "GET https://a.example.com/", "hub", "-o", "json"],
        &["check", "hub", "--message-format", "json"],
        &["policies", "hub", "-o", "json"],
        &["status", "hub", "-o", "json"],
        &["placement", "start", "-o", "json"],
        &["placement", "start", "--why", "eu-1", "-o", "json"],
        &["status", "hub", "-o", "yaml"],
        &["policies", "hub", "-o", "yaml"],
        &["policies", "start", "--coverage", "-o", "json"],
        &["argocd", "parameters"],
    ] {
        printed.push(scratch.run(arguments).stdout);
    }
    let page = scratch.run(&["page", "start", "-q", "-o", "-"]).stdout;
    let data = data_of(&page);
    conforms(&data);
    printed.push(data);
    let documents = printed.iter().flat_map(|text| documents(text));
    let kinds: Vec<String> = documents.filter_map(|document| kind_of(&document)).collect();
    for kind in validators().keys() {
        assert!(
            kinds.iter().any(|found| found == kind),
            "nothing prints a {kind}: {kinds:?}"
        );
    }
}

#[test]
fn a_field_that_a_schema_does_not_know_is_noticed() {
    let printed = Scratch::with_worked_example().run(&["policies", "hub", "-o", "json"]);
    for (from, to) in [
        ("\"policies\":", "\"polices\":"),
        (
            "\"spokewright.dev/v1alpha1\",",
            "\"spokewright.dev/v1alpha1\", \"x\": 1,",
        ),
    ] {
        let changed = printed.stdout.replacen(from, to, 1);
        assert_ne!(changed, printed.stdout);
        assert!(std::panic::catch_unwind(|| conforms(&changed)).is_err(), "{from}");
    }
}

#[test]
fn schemas_have_addresses_and_the_list_has_their_names() {
    let scratch = Scratch::new();
    let names = scratch.run(&["schema"]);
    let listed: Vec<&str> = names.exits(0).stdout.lines().collect();
    let mut addresses = Vec::new();
    for (name, schema) in SCHEMAS {
        assert!(listed.contains(name), "{name} is not in {listed:?}");
        let schema: Value = serde_json::from_str(schema).expect("JSON");
        let address = schema["$id"].as_str().unwrap_or_default();
        assert!(
            address.ends_with(&format!("/schemas/{name}.schema.json")),
            "{address}"
        );
        addresses.push(schema["$id"].clone());
    }
    scratch
        .run(&["schema", "report/placment"])
        .exits(2)
        .says("help: did you mean `report/placement`?");
    let catalog = scratch.run(&["schema", "schema-store"]);
    let catalog: Value = serde_json::from_str(&catalog.exits(0).stdout).expect("JSON");
    let entries = catalog["schemas"].as_array().expect("entries");
    for entry in entries {
        assert!(addresses.contains(&entry["url"]), "{entry}");
        assert!(
            entry["fileMatch"]
                .as_array()
                .is_some_and(|files| !files.is_empty())
        );
    }
}
