//! What is printed as JSON, against the JSON Schemas of the reports. [`conforms`] is asked of every run of these tests.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;
use spokewright::pipeline::schema_documents;

use crate::scratch::Scratch;

/// Panics where a document of ours breaks the schema of its kind, or has a field that the schema does not know. Other texts
/// pass.
#[track_caller]
pub(crate) fn conforms(text: &str) {
    if !text.starts_with('{') {
        return;
    }
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let kind = document["kind"].as_str().unwrap_or_default();
    if document["apiVersion"] != "spokewright.dev/v1alpha1" {
        return;
    }
    let validator = validators().get(kind);
    let validator = validator.unwrap_or_else(|| panic!("no schema is for the kind {kind}"));
    let wrong: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{kind}: {wrong:#?}\n{text}");
}

/// By the kind of the document.
fn validators() -> &'static BTreeMap<String, Validator> {
    static VALIDATORS: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    VALIDATORS.get_or_init(|| {
        schema_documents()
            .into_iter()
            .filter(|(name, _)| name.starts_with("report/"))
            .map(|(name, mut schema)| {
                close(&mut schema);
                let kind = schema.pointer("/properties/kind/const").and_then(Value::as_str);
                let kind = kind.unwrap_or_else(|| panic!("{name} is of no kind")).to_owned();
                let validator = jsonschema::validator_for(&schema);
                (kind, validator.unwrap_or_else(|error| panic!("{name}: {error}")))
            })
            .collect()
    })
}

/// Lets objects have no fields but those that are named. The published schemas leave room, as a later release may add some.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("properties").is_some_and(Value::is_object)
                && fields.get("type").is_some()
                && !fields.contains_key("additionalProperties")
            {
                fields.insert("unevaluatedProperties".to_owned(), false.into());
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
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
    ] {
        printed.push(scratch.run(arguments).stdout);
    }
    let page = scratch.run(&["page", "start", "-q", "-o", "-"]).stdout;
    let (_, data) = page.split_once("id=\"data\">").expect("the data of a page");
    let (data, _) = data.split_once("</script>").expect("its end");
    conforms(data);
    printed.push(data.to_owned());
    let kinds: Vec<Value> = printed
        .iter()
        .map(|text| serde_json::from_str::<Value>(text).expect("JSON")["kind"].clone())
        .collect();
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
    for (name, schema) in schema_documents() {
        assert!(listed.contains(&name), "{name} is not in {listed:?}");
        let address = schema["$id"].as_str().unwrap_or_default();
        assert!(
            address.ends_with(&format!("/schemas/{name}.schema.json")),
            "{address}"
        );
    }
    scratch
        .run(&["schema", "report/placment"])
        .exits(2)
        .says("help: did you mean `report/placement`?");
    let catalog = scratch.run(&["schema", "schema-store"]);
    let catalog: Value = serde_json::from_str(&catalog.exits(0).stdout).expect("JSON");
    let entries = catalog["schemas"].as_array().expect("entries");
    let addresses: Vec<Value> = schema_documents()
        .into_iter()
        .map(|(_, schema)| schema["$id"].clone())
        .collect();
    for entry in entries {
        assert!(addresses.contains(&entry["url"]), "{entry}");
        assert!(
            entry["fileMatch"]
                .as_array()
                .is_some_and(|files| !files.is_empty())
        );
    }
}
