//! Everything that is rendered is valid under the real CRDs, where they are at hand.

use std::path::Path;

use spokewright::api::ocm_work::WorkValidation;
use spokewright::yaml::{Limits, read_all, write_document};

use crate::scratch::{Scratch, copy, fixtures};

/// The CRDs beside the project, or `None`, said loudly.
fn crds() -> Option<std::path::PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/crds");
    if !directory.is_dir() {
        eprintln!(
            "SKIPPED: no real CRDs beside the project, so rendered objects were not validated against them"
        );
        return None;
    }
    Some(directory)
}

/// Renders an input, takes the works of one cluster apart, and checks works and manifests with `check`, which
/// validates every object whose CRD is in its input.
fn validate(scratch: &Scratch, input: &str, cluster: &str) {
    let Some(crds) = crds() else { return };
    scratch.run(&["render", input, "-o", "out"]).exits(0);
    copy(
        &crds.join("gateway-api/standard"),
        &scratch.path("objects/crds/gateway-api"),
    );
    copy(&crds.join("kuadrant"), &scratch.path("objects/crds/kuadrant"));
    copy(&crds.join("ocm"), &scratch.path("objects/crds/ocm"));
    let validation = WorkValidation::new();
    let mut count = 0;
    for (name, text) in scratch.tree(&format!("out/{cluster}")) {
        if name == "kustomization.yaml" {
            continue;
        }
        for work in read_all(&text, &Limits::default()).expect("YAML") {
            assert_eq!(validation.check(&work), vec![], "{name} breaks OCM's rules");
            scratch.write(&format!("objects/works/{name}"), &text);
            let manifests = work
                .pointer("/spec/workload/manifests")
                .and_then(|list| list.as_array());
            for manifest in manifests.expect("manifests") {
                if manifest["kind"] == "Namespace" {
                    continue;
                }
                count += 1;
                scratch.write(
                    &format!("objects/manifests/{count}.yaml"),
                    &write_document(manifest),
                );
            }
        }
    }
    assert!(count > 0, "nothing to validate");
    let run = scratch.run(&["check", "objects", "--message-format", "json"]);
    for code in [
        "object/schema",
        "object/unknown-field",
        "object/invalid-name",
        "yaml/",
    ] {
        assert!(!run.stdout.contains(code), "{}", run.stdout);
    }
}

#[test]
fn the_worked_example_is_valid_under_the_real_crds() {
    validate(&Scratch::with_worked_example(), "hub", "eu-1");
}

#[test]
fn the_example_fleet_is_valid_under_the_real_crds() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("fleet"));
    validate(&scratch, "fleet", "eu-1");
}

#[test]
fn an_invalid_object_would_be_found() {
    let Some(crds) = crds() else { return };
    let scratch = Scratch::with_worked_example();
    copy(&crds.join("kuadrant"), &scratch.path("hub/crds"));
    scratch.edit("hub/limits.yaml", "limit: 100", "limit: \"100\"");
    scratch
        .run(&["render", "hub", "-o", "rendered"])
        .exits(3)
        .says("error[object/schema]")
        .says("hub/limits.yaml:8:");
}
