//! An exported work whose parts have a wrong type never breaks the report. All else about exports is in the cases.

use std::fs;

use kube_json::{Value, json};

use crate::scratch::{Scratch, copy, fixtures};

#[test]
fn an_export_whose_parts_are_of_the_wrong_type_never_breaks_the_report() {
    let scratch = Scratch::new();
    copy(&fixtures().join("exported/fleet"), &scratch.path("hub"));
    let text = fs::read_to_string(fixtures().join("exported/works1.yaml")).expect("an export");
    let works = kube_yaml::read_document(&text, &kube_yaml::Limits::default()).expect("YAML");
    for part in [
        "/spec",
        "/spec/workload",
        "/spec/workload/manifests",
        "/spec/manifestConfigs",
        "/spec/manifestConfigs/0/feedbackRules",
        "/spec/deleteOption",
        "/status",
        "/status/conditions/0",
        "/status/resourceStatus/manifests/1",
        "/status/resourceStatus/manifests/1/resourceMeta",
        "/status/resourceStatus/manifests/1/conditions/0/status",
        "/status/resourceStatus/manifests/2/statusFeedback/values/0/fieldValue",
    ] {
        for wrong in [
            Value::Null,
            json!(7),
            json!("text"),
            json!([[1]]),
            json!({"a": {"b": []}}),
        ] {
            let mut works = works.clone();
            let pointer = format!("/items/0{part}");
            *works.pointer_mut(&pointer).expect(&pointer) = wrong.clone();
            scratch.write("works.json", &works.to_string());
            let arguments = [
                "status",
                "hub",
                "--works",
                "works.json",
                "-o",
                "json",
                "--exit-code",
            ];
            let run = scratch.run(&arguments);
            let is_status = [3, 4].contains(&run.status);
            assert!(is_status, "{part} {wrong}: {}", run.stderr);
            run.does_not_say("panicked");
            let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
            assert_eq!(report["works"]["planned"], 8, "{part} {wrong}");
        }
    }
}
