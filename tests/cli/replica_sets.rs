//! `--work-kind replica-set` on the example fleet (docs/guides/replica-sets.md; docs/systems/ocm-work.md#manifestworkreplicaset).

use kube_yaml::{Limits, read_all};
use spokewright::render::WorkValidation;

use crate::scratch::{Scratch, copy, fixtures};

/// OCM's hub waits for Progressing on each work of a set: one that no manifest of it says would be waited for in vain.
#[test]
fn every_work_and_set_has_a_rule_for_progressing() {
    for kind in ["manifest-work", "replica-set"] {
        let scratch = Scratch::new();
        copy(&fixtures().join("../examples/fleet"), &scratch.path("."));
        scratch.remove("hub/shop/overlay.yaml");
        scratch
            .run(&["render", "hub", "-o", "rendered", "--work-kind", kind])
            .exits(0);
        let mut count = 0;
        for (path, text) in scratch.tree("rendered") {
            if !text.contains("kind: ManifestWork") {
                continue;
            }
            let work = read_all(&text, &Limits::default())
                .expect("YAML")
                .pop()
                .expect("a document");
            let spec = &work["spec"];
            let template = spec.get("manifestWorkTemplate").unwrap_or(spec);
            let configs = template["manifestConfigs"].as_array().expect("a list");
            let conditions = configs
                .iter()
                .flat_map(|config| config["conditionRules"].as_array().into_iter().flatten());
            assert!(
                conditions.clone().any(|rule| rule["condition"] == "Progressing"),
                "{path}"
            );
            let degraded = conditions.filter(|rule| rule["condition"] == "Degraded").count();
            assert!(degraded <= 1, "{path}: {degraded} manifests say Degraded");
            count += 1;
        }
        assert!(count >= 3, "{kind}: {count}");
    }
}

/// The sets of the example fleet, in the directory `objects`.
pub(crate) fn sets_of_the_example_fleet() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet/hub"), &scratch.path("hub"));
    scratch.remove("hub/shop/overlay.yaml");
    scratch
        .run(&["render", "hub", "-o", "rendered", "--work-kind", "replica-set"])
        .exits(0);
    let mut count = 0;
    for (path, text) in scratch.tree("rendered/_replica-sets") {
        if !path.ends_with("kustomization.yaml") {
            let set = read_all(&text, &Limits::default()).expect("YAML").remove(0);
            assert_eq!(WorkValidation::new().check(&set), vec![], "{path}");
            scratch.write(&format!("objects/{path}"), &text);
            count += 1;
        }
    }
    assert_eq!(count, 12);
    scratch
}

#[test]
fn the_example_fleet_renders_to_sets_that_ocm_takes() {
    sets_of_the_example_fleet();
}
