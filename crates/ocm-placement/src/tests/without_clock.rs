//! Without a clock, a time that would decide something is named; one that decides nothing is not.

use super::*;

const UNSET: Setting = Setting {
    now: None,
    ..SNAPSHOT
};

fn tainted(effect: &str) -> String {
    cluster(
        "c1",
        &format!("spec: {{taints: [{{key: gpu, effect: {effect}, timeAdded: '2026-06-01T00:00:00Z'}}]}}"),
    )
}

/// Pointers of the fields that need a clock.
fn needs(yaml: &str, detail: Detail) -> Vec<String> {
    let objects = objects(yaml);
    let (inventory, _) = read(&objects);
    let input = Input {
        inventory: &inventory,
        now: None,
        mode: UNSET.mode,
        options: UNSET.options,
    };
    let problems = evaluate(&input, detail).problems();
    let needs = problems
        .into_iter()
        .filter(|problem| matches!(problem.kind, ProblemKind::NeedsNow { .. }));
    needs.map(|needs| needs.at.pointer).collect()
}

#[test]
fn a_toleration_with_seconds_needs_a_clock_when_it_decides() {
    let spec = "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}]}";
    let yaml = [BOUND, &tainted("NoSelect"), &placement("p", spec)].concat();
    assert_eq!(
        needs(&yaml, Detail::Decisions),
        ["/spec/tolerations/0/tolerationSeconds"]
    );
}

#[test]
fn a_toleration_with_seconds_that_decides_nothing_needs_none() {
    let spec = "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}, {operator: Exists}]}";
    let another = [BOUND, &tainted("NoSelect"), &placement("p", spec)].concat();
    assert!(
        needs(&another, Detail::Full).is_empty(),
        "another toleration holds for ever"
    );
    let alone = "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}]}";
    let preferred = [BOUND, &tainted("PreferNoSelect"), &placement("p", alone)].concat();
    assert!(
        needs(&preferred, Detail::Full).is_empty(),
        "the taint removes no cluster"
    );
    let kept = [
        BOUND,
        &tainted("NoSelectIfNew"),
        &placement("p", alone),
        &decision("p", 1, &["c1"]),
    ]
    .concat();
    assert!(needs(&kept, Detail::Full).is_empty(), "it is already selected");
    let untimed = [
        BOUND,
        &cluster("c1", "spec: {taints: [{key: gpu, effect: NoSelect}]}"),
        &placement("p", alone),
    ];
    assert!(
        needs(&untimed.concat(), Detail::Full).is_empty(),
        "expired since the beginning of time"
    );
}

#[test]
fn a_score_with_an_end_needs_a_clock_when_it_decides() {
    let score = |value: i32| {
        format!(
            "
---
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: AddOnPlacementScore
metadata: {{name: r, namespace: c1}}
status: {{scores: [{{name: x, value: {value}}}], validUntil: '2026-06-01T00:00:00Z'}}
"
        )
    };
    let spec = |number: usize| {
        format!(
            "{{numberOfClusters: {number}, prioritizerPolicy: {{mode: Exact, configurations: [
            {{scoreCoordinate: {{type: AddOn, addOn: {{resourceName: r, scoreName: x}}}}}}]}}}}"
        )
    };
    let yaml = |number, value| {
        [
            BOUND,
            &clusters(&["c1", "c2"]),
            &placement("p", &spec(number)),
            &score(value),
        ]
        .concat()
    };
    assert_eq!(needs(&yaml(1, 7), Detail::Decisions), ["/status/validUntil"]);
    assert!(
        needs(&yaml(2, 7), Detail::Decisions).is_empty(),
        "all are selected in any case"
    );
    assert_eq!(
        needs(&yaml(2, 7), Detail::Full),
        ["/status/validUntil"],
        "the report shows scores"
    );
    assert!(needs(&yaml(1, 0), Detail::Full).is_empty(), "0 stays 0");
}
