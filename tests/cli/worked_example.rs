//! The worked example, byte for byte.

use crate::scratch::{Scratch, fixtures};

fn expected(name: &str, cluster: &str) -> String {
    let path = fixtures().join("worked-example/expected").join(name);
    let text = std::fs::read_to_string(path).expect("a fixture");
    text.replace("  namespace: eu-1\n", &format!("  namespace: {cluster}\n"))
}

#[test]
fn the_worked_example_renders_byte_for_byte() {
    let scratch = Scratch::with_worked_example();
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(0);
    let paths: Vec<String> = scratch
        .tree("rendered")
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(
        paths,
        [
            ".spokewright-inventory",
            "eu-1/gateway-gateways-prod-web.yaml",
            "eu-1/gateway-rbac.yaml",
            "eu-1/kustomization.yaml",
            "kustomization.yaml",
            "us-1/gateway-gateways-prod-web.yaml",
            "us-1/gateway-rbac.yaml",
            "us-1/kustomization.yaml",
        ]
    );
    for cluster in ["eu-1", "us-1"] {
        for work in ["gateway-gateways-prod-web.yaml", "gateway-rbac.yaml"] {
            assert_eq!(
                scratch.read(&format!("rendered/{cluster}/{work}")),
                expected(work, cluster)
            );
        }
    }
}

#[test]
fn the_worked_example_warns_of_the_secret_and_sums_up_in_one_line() {
    let scratch = Scratch::with_worked_example();
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.says("warning[secret/not-rendered]")
        .says("hub/gateway.yaml:")
        .says("gateways/wildcard")
        .says("kuadrant-gateways")
        .says("secrets: Copy")
        .says("2 clusters; 1 Gateway; 1 policy: 1 RateLimitPolicy; 4 works into rendered (8 files written, 0 unchanged, 0 deleted) in ");
    assert_eq!(run.stdout, "", "stdout carries data only");
}

#[test]
fn sha256sum_accepts_the_inventory() {
    let scratch = Scratch::with_worked_example();
    scratch.run(&["render", "hub", "-o", "rendered"]).exits(0);
    let checked = std::process::Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", ".spokewright-inventory"])
        .current_dir(scratch.path("rendered"))
        .output();
    match checked {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => eprintln!("skipped: sha256sum does not run here: {error}"),
    }
}
