//! FleetRules: what breaks them, where that is reported, and that they fail closed (docs/reference/rules.md).

use std::path::PathBuf;

use crate::scratch::{Run, Scratch, copy, fixtures};

fn rule(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: spokewright.dev/v1alpha1\nkind: FleetRule\nmetadata: {{name: {name}}}\nspec:\n{spec}\n"
    )
}

/// What `check` reports about rules, as code and message.
fn reported(run: &Run) -> Vec<(String, String)> {
    let report: kube_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let findings = report["findings"].as_array().expect("a list").iter();
    let text =
        |finding: &kube_json::Value, field: &str| finding[field].as_str().unwrap_or_default().to_owned();
    let findings = findings.map(|finding| (text(finding, "code"), text(finding, "message")));
    findings.filter(|(code, _)| code.starts_with("rule/")).collect()
}

fn check(scratch: &Scratch) -> Vec<(String, String)> {
    reported(&scratch.run(&["check", "--message-format", "json"]))
}

#[test]
fn clusters_that_are_alike_break_the_same_rules_as_each_by_itself() {
    let kinds = [
        "AuthPolicy.kuadrant.io",
        "RateLimitPolicy.kuadrant.io",
        "TLSPolicy.kuadrant.io",
    ];
    let specs = |condition: &str| -> Vec<String> {
        let of_kind = |(number, kind): (usize, &&str)| {
            let is_in =
                format!("  match: {condition}\n  assert: \"!('{kind}' in effective)\"\n  message: none");
            let each =
                format!("  match: {condition}\n  each: {kind}\n  assert: 'false'\n  message: no setting");
            [
                rule(&format!("in-{number}"), &is_in),
                rule(&format!("each-{number}"), &each),
            ]
            .join("---\n")
        };
        kinds.iter().enumerate().map(of_kind).collect()
    };
    let hubs = std::fs::read_dir(fixtures().join("promise")).expect("hubs");
    let mut hubs: Vec<PathBuf> = hubs.map(|entry| entry.expect("a hub").path()).collect();
    hubs.sort();
    let mut violations = 0;
    for directory in hubs {
        let scratch = Scratch::new();
        copy(&directory, &scratch.path("."));
        let [of_classes, one_by_one] = ["1 == 1", "has(cluster.name)"].map(|condition| {
            scratch.write("hub/rules.yaml", &specs(condition).join("---\n"));
            check(&scratch)
        });
        assert_eq!(of_classes, one_by_one, "{}", directory.display());
        violations += of_classes
            .iter()
            .filter(|(code, _)| code == "rule/violated")
            .count();
    }
    assert!(violations > 10, "{violations}");
}
