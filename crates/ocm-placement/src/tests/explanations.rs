//! Every step of an explanation points at what decided it.

use super::*;

/// Stage, bearing, text and pointer of every step about a cluster.
fn steps(yaml: &str, cluster: &str) -> Vec<(Stage, Bearing, String, String)> {
    with_evaluation(&objects(yaml), SNAPSHOT, |evaluation| {
        let explanations = evaluation.explain(cluster).unwrap_or_default();
        let steps = explanations
            .into_iter()
            .next()
            .map(|one| one.steps)
            .unwrap_or_default();
        steps
            .into_iter()
            .map(|step| (step.stage, step.bearing, step.text, step.at.pointer))
            .collect()
    })
}

fn last(yaml: &str, cluster: &str) -> (Stage, Bearing, String, String) {
    steps(yaml, cluster).pop().unwrap_or_else(|| panic!("no step"))
}

#[test]
fn a_selected_cluster_has_a_reason_at_every_stage() {
    let tainted = cluster("a", "spec: {taints: [{key: gpu, effect: NoSelect}]}");
    let spec = "{numberOfClusters: 1, tolerations: [{key: gpu, operator: Exists}],
        predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {name: b}}}}, {}]}";
    let steps = steps(
        &[BOUND, &tainted, &clusters(&["b"]), &placement("p", spec)].concat(),
        "a",
    );
    let stages: Vec<Stage> = steps.iter().map(|step| step.0).collect();
    assert_eq!(
        stages,
        [
            Stage::ClusterSet,
            Stage::Predicate,
            Stage::TaintToleration,
            Stage::Prioritizer,
            Stage::Prioritizer,
            Stage::Ranking,
            Stage::Decision
        ]
    );
    assert!(steps.iter().all(|step| step.1 != Bearing::Against), "{steps:?}");
    let texts: Vec<&str> = steps.iter().map(|step| step.2.as_str()).collect();
    assert_eq!(
        texts,
        [
            "its label puts it into the cluster set `s`",
            "predicate 1 matches",
            "taint gpu:NoSelect is tolerated",
            "Balance gives 100, times weight 1 is 100: decisions of others: 0; the most of any cluster: 0",
            "Steady gives 0, times weight 1 is 0: it is not selected yet",
            "rank 1 of 2 with 100 points, within numberOfClusters 1",
            "selected: decision group 0, PlacementDecision p-decision-1",
        ]
    );
}

#[test]
fn the_step_that_drops_a_cluster_comes_last_and_points_at_the_field() {
    let two = clusters(&["a", "b"]);
    let tainted = cluster("c", "spec: {taints: [{key: gpu, effect: NoSelect}]}");
    let cut = [BOUND, &two, &placement("p", "{numberOfClusters: 1}")].concat();
    assert_eq!(
        last(&cut, "b"),
        (
            Stage::Ranking,
            Bearing::Against,
            "rank 2 of 2 with 100 points, cut by numberOfClusters 1".to_owned(),
            "/spec/numberOfClusters".to_owned()
        )
    );
    let taint = [BOUND, &tainted, &placement("p", "{}")].concat();
    assert_eq!(
        last(&taint, "c"),
        (
            Stage::TaintToleration,
            Bearing::Against,
            "taint gpu:NoSelect is not tolerated".to_owned(),
            "/spec/taints/0".to_owned()
        )
    );
    let spec = "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {name: b}}}}]}";
    let predicate = [BOUND, &two, &placement("p", spec)].concat();
    assert_eq!(
        last(&predicate, "a"),
        (
            Stage::Predicate,
            Bearing::Against,
            "predicate 0 requires label name In [b], it has name=a".to_owned(),
            "/spec/predicates/0/requiredClusterSelector/labelSelector/matchLabels/name".to_owned()
        )
    );
    let elsewhere = two.replace("clusterset: s", "clusterset: other");
    let set = [BOUND, &elsewhere, &placement("p", "{}")].concat();
    assert_eq!(
        last(&set, "a"),
        (
            Stage::ClusterSet,
            Bearing::Against,
            "its label puts it into `other`, not into the cluster set `s`".to_owned(),
            "/metadata/labels/cluster.open-cluster-management.io~1clusterset".to_owned()
        )
    );
}

#[test]
fn the_expression_that_is_not_true_is_named() {
    let spec = "{predicates: [{requiredClusterSelector: {celSelector: {celExpressions: ['true', 'managedCluster.metadata.name == \"b\"']}}}]}";
    let (stage, _, text, pointer) = last(&[BOUND, &clusters(&["a"]), &placement("p", spec)].concat(), "a");
    assert_eq!(stage, Stage::Predicate);
    assert_eq!(
        text,
        "predicate 0 requires managedCluster.metadata.name == \"b\", which is not true"
    );
    assert_eq!(
        pointer,
        "/spec/predicates/0/requiredClusterSelector/celSelector/celExpressions/1"
    );
}

#[test]
fn a_misconfigured_placement_says_so_to_every_cluster() {
    let spec = "{prioritizerPolicy: {mode: Fair}}";
    let (stage, bearing, text, pointer) =
        last(&[BOUND, &clusters(&["a"]), &placement("p", spec)].concat(), "a");
    assert_eq!((stage, bearing), (Stage::Scheduler, Bearing::Against));
    assert_eq!(pointer, "/spec/prioritizerPolicy/mode");
    assert!(
        text.ends_with("incorrect prioritizer policy mode: Fair"),
        "{text}"
    );
}

#[test]
fn an_unknown_cluster_has_no_explanation() {
    let objects = objects(&[BOUND, &placement("p", "{}"), &decision("p", 1, &["gone"])].concat());
    assert!(with_evaluation(&objects, SNAPSHOT, |evaluation| evaluation
        .explain("gone")
        .is_none()));
}

#[test]
fn a_misconfigured_stage_ends_every_explanation_that_gets_there() {
    let all = [
        clusters(&["a"]),
        cluster("b", "spec: {taints: [{key: gpu, effect: NoSelect}]}"),
    ]
    .concat();
    let ends = |spec: &str, cluster: &str| {
        let steps = steps(&[BOUND, &all, &placement("p", spec)].concat(), cluster);
        let stages: Vec<Stage> = steps.iter().map(|step| step.0).collect();
        (
            stages,
            steps.last().map(|step| step.3.clone()).unwrap_or_default(),
        )
    };
    let predicate = "{predicates: [{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: k, operator: Like}]}}}]}";
    let (stages, pointer) = ends(predicate, "a");
    assert_eq!(stages, [Stage::ClusterSet, Stage::Scheduler]);
    assert!(pointer.starts_with("/spec/predicates/0"), "{pointer}");
    let (stages, pointer) = ends("{tolerations: [{value: x}]}", "a");
    assert_eq!(stages, [Stage::ClusterSet, Stage::Predicate, Stage::Scheduler]);
    assert!(pointer.starts_with("/spec/tolerations/0"), "{pointer}");
    let mode = "{prioritizerPolicy: {mode: Fair}}";
    assert_eq!(
        ends(mode, "b"),
        (
            vec![Stage::ClusterSet, Stage::Predicate, Stage::TaintToleration],
            "/spec/taints/0".to_owned()
        ),
        "the taint dropped it before"
    );
}

#[test]
fn a_score_of_resources_names_the_amounts() {
    let with = |name: &str, cpu: u32| {
        cluster(
            name,
            &format!("status: {{allocatable: {{cpu: {cpu}}}, capacity: {{cpu: 64}}}}"),
        )
    };
    let spec = "{prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: ResourceAllocatableCPU}}]}}";
    let all = [with("a", 1), with("b", 3), cluster("c", "")].concat();
    let reason = |cluster: &str| {
        let steps = steps(&[BOUND, &all, &placement("p", spec)].concat(), cluster);
        let step = steps.into_iter().find(|step| step.0 == Stage::Prioritizer);
        step.map(|step| step.2).unwrap_or_default()
    };
    let text = reason("a");
    assert!(
        text.ends_with("allocatable 1; the least is 1 and the most 3"),
        "{text}"
    );
    let text = reason("c");
    assert!(
        text.ends_with("it lacks allocatable or capacity of cpu"),
        "{text}"
    );
}

#[test]
fn one_placement_explains_itself_as_all_do() {
    let yaml = [
        BOUND,
        &clusters(&["a"]),
        &placement("p1", "{}"),
        &placement("p2", "{numberOfClusters: 0}"),
    ]
    .concat();
    with_evaluation(&objects(&yaml), SNAPSHOT, |evaluation| {
        let all = evaluation.explain("a").unwrap_or_default();
        for (position, expected) in all.iter().enumerate() {
            let one = evaluation
                .explain_placement(position)
                .and_then(|explain| explain("a"));
            assert_eq!(
                one.map(|one| (one.name, one.steps)),
                Some((expected.name.clone(), expected.steps.clone()))
            );
        }
        assert_eq!(all.len(), 2);
        assert!(evaluation.explain_placement(2).is_none());
    });
}
