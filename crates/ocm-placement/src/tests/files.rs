//! The Placements of `tests/placements/`: what is decided, why, and what is wrong with the input.

use std::fmt::Write as _;
use std::path::Path;

use super::*;

/// Complaints, then each field of each Placement's report, then why each cluster is selected or not.
fn outcome(yaml: &str) -> String {
    let mut text = String::new();
    for complaint in complaints(yaml) {
        let _ = writeln!(text, "{}: {complaint}", complaint.at.pointer);
    }
    let objects = objects(yaml);
    with_evaluation(&objects, SNAPSHOT, |evaluation| {
        let report = kube_json::to_value(evaluation.report()).unwrap();
        let others = report
            .as_object()
            .unwrap()
            .iter()
            .filter(|(field, _)| *field != "placements");
        let placements = report["placements"].as_array().into_iter().flatten();
        let fields = placements.flat_map(|placement| placement.as_object().unwrap().iter());
        for (field, value) in others.chain(fields) {
            let _ = writeln!(text, "{field} {value}");
        }
        let names = objects
            .iter()
            .filter(|object| object.value["kind"] == "ManagedCluster");
        for name in names.filter_map(|object| object.value["metadata"]["name"].as_str()) {
            for explanation in evaluation.explain(name).unwrap_or_default() {
                for step in explanation.steps {
                    let _ = writeln!(
                        text,
                        "{name} {:?} {:?}: {} ({})",
                        step.stage, step.bearing, step.text, step.at.pointer
                    );
                }
            }
        }
    });
    text
}

#[test]
fn every_placement_is_decided_as_its_snapshot_has_it() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/placements");
    for file in [
        "quirks.yaml",
        "decisions.yaml",
        "bad-input.yaml",
        "explanations.yaml",
    ] {
        test_sections::check(directory.join(file), |section| {
            outcome(&format!("{}\n---\n{}", section.shared, section.text))
        });
    }
}
