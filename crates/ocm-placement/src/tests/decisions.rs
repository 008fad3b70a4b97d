//! Which Placement keeps which decisions, which others see them, and how they are written.

use super::*;

#[test]
fn an_eligible_set_with_a_bad_selector_blocks_the_placement_and_keeps_its_decisions() {
    let bad = "
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: bad}
spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchExpressions: [{key: a, operator: Like}]}}}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: bad, namespace: 'n'}
";
    let yaml = |spec: &str| {
        [
            BOUND,
            bad,
            &clusters(&["a", "b"]),
            &placement("p", spec),
            &decision("p", 1, &["gone", "b"]),
        ]
        .concat()
    };
    let blocked = first(&yaml("{}"));
    assert_eq!(blocked.scheduler_status, SchedulerStatus::Error);
    assert_eq!(selected(&blocked), ["gone", "b"]);
    assert!(blocked.conditions.is_empty());
    assert_eq!(
        selected(&first(&yaml("{clusterSets: [s]}"))),
        ["a", "b"],
        "a set that is not eligible does not matter"
    );
}

#[test]
fn a_placement_that_is_left_alone_keeps_its_decisions_and_status() {
    for metadata in [
        "deletionTimestamp: '2026-01-01T00:00:00Z'",
        "annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: 'true'}",
    ] {
        let alone = format!(
            "
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {{name: p, namespace: 'n', {metadata}}}
spec: {{}}
status: {{conditions: [{{type: PlacementSatisfied, status: 'False', reason: Old, message: old, lastTransitionTime: '2026-01-01T00:00:00Z'}}]}}
"
        );
        let report = first(&[BOUND, &clusters(&["a"]), &alone, &decision("p", 1, &["b"])].concat());
        assert_eq!(report.scheduler_status, SchedulerStatus::Skipped);
        assert_eq!(
            (selected(&report).as_slice(), reason(&report)),
            (["b"].as_slice(), "Old")
        );
        let statuses: Vec<ConditionStatus> = report.conditions.iter().map(|one| one.status).collect();
        assert_eq!(statuses, [ConditionStatus::False]);
    }
    let enabled = placement("p", "{}").replace(
        "namespace: 'n'",
        "namespace: 'n', annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: 'yes'}",
    );
    assert_eq!(
        selected(&first(&[BOUND, &clusters(&["a"]), &enabled].concat())),
        ["a"],
        "exactly true"
    );
}

#[test]
fn a_binding_counts_by_its_name_and_not_by_its_cluster_set() {
    let renamed = BOUND.replace("{clusterSet: s}", "{clusterSet: other}");
    assert_eq!(
        selected(&first(
            &[&renamed, &clusters(&["a"]) as &str, &placement("p", "{}")].concat()
        )),
        ["a"]
    );
}

#[test]
fn sequential_placements_see_the_results_of_those_before_them() {
    let spec = "{numberOfClusters: 1}";
    let yaml = [
        BOUND,
        &clusters(&["a", "b"]),
        &placement("p1", spec),
        &placement("p2", spec),
    ]
    .concat();
    let of = |mode| {
        let setting = Setting { mode, ..SNAPSHOT };
        with_evaluation(&objects(&yaml), setting, |evaluation| {
            ["p1", "p2"].map(|name| evaluation.clusters_of("n", name).unwrap_or_default().join(","))
        })
    };
    assert_eq!(of(Mode::Snapshot), ["a", "a"]);
    assert_eq!(of(Mode::Sequential), ["a", "b"]);
}

#[test]
fn labels_of_an_existing_object_are_written_only_when_its_clusters_are_right_already() {
    let spec =
        "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: gg, groupClusterSelector: {}}]}}}";
    let yaml = |given: &str| [BOUND, &clusters(&["a"]), &placement("p", spec), given].concat();
    let label = |report: &PlacementReport| {
        report
            .decisions
            .first()
            .map(|one| one.decision_group_name.clone())
    };
    assert_eq!(label(&first(&yaml(""))).as_deref(), Some("gg"));
    assert_eq!(
        label(&first(&yaml(&decision("p", 1, &["a"])))).as_deref(),
        Some("gg")
    );
    assert_eq!(
        label(&first(&yaml(&decision("p", 1, &["b"])))).as_deref(),
        Some("")
    );
}

#[test]
fn written_decisions_are_what_the_next_run_takes_as_given() {
    let yaml = [
        BOUND,
        &clusters(&["a", "b", "c"]),
        &placement("p", "{numberOfClusters: 2}"),
    ]
    .concat();
    let mut all = objects(&yaml);
    let (report, written) = with_evaluation(&all, SNAPSHOT, |evaluation| {
        (
            evaluation.report(),
            evaluation.decision_objects().collect::<Vec<_>>(),
        )
    });
    all.extend(
        (1000usize..)
            .zip(written)
            .map(|(index, value)| object(index, value)),
    );
    let (_, findings) = read(&all);
    assert!(findings.is_empty(), "{findings:?}");
    let again = with_evaluation(&all, SNAPSHOT, |evaluation| {
        (evaluation.report(), evaluation.differences())
    });
    assert_eq!(
        again.0.placements.first().map(selected),
        report.placements.first().map(selected)
    );
    assert!(again.1.is_empty());
}

#[test]
fn decisions_that_differ_from_the_evaluation_are_listed() {
    let yaml = [
        BOUND,
        &clusters(&["a", "b"]),
        &placement("p", "{}"),
        &decision("p", 1, &["b", "gone"]),
    ]
    .concat();
    let differences = with_evaluation(&objects(&yaml), SNAPSHOT, |evaluation| evaluation.differences());
    let shape: Vec<_> = differences
        .iter()
        .map(|one| (one.only_given.join(","), one.only_evaluated.join(",")))
        .collect();
    assert_eq!(shape, [("gone".to_owned(), "a".to_owned())]);
}

#[test]
fn decisions_that_only_lack_clusters_or_only_have_too_many_differ() {
    for (given, only_given, only_evaluated) in [(["a", "gone"], "gone", "b"), (["a", "a"], "", "b")] {
        let yaml = [
            BOUND,
            &clusters(&["a", "b"]),
            &placement("p", "{}"),
            &decision("p", 1, &given),
        ]
        .concat();
        let differences = with_evaluation(&objects(&yaml), SNAPSHOT, |evaluation| evaluation.differences());
        let [one] = differences.as_slice() else {
            panic!("{differences:?}")
        };
        assert_eq!(
            (one.only_given.join(","), one.only_evaluated.join(",")),
            (only_given.into(), only_evaluated.into())
        );
    }
    let yaml = [
        BOUND,
        &clusters(&["a"]),
        &placement("p", "{}"),
        &decision("p", 1, &["a", "gone"]),
    ]
    .concat();
    let differences = with_evaluation(&objects(&yaml), SNAPSHOT, |evaluation| evaluation.differences());
    assert_eq!(differences.len(), 1, "one too many");
}

#[test]
fn a_decision_with_a_reason_or_a_score_is_not_what_ocm_writes() {
    let spec =
        "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: gg, groupClusterSelector: {}}]}}}";
    let given = decision("p", 1, &["a"]);
    let reason = given.replace("reason: ''", "reason: mine");
    let score = given.replace("reason: ''", "reason: '', score: 1");
    for (given, label) in [(&given, "gg"), (&reason, ""), (&score, "")] {
        let report = first(&[BOUND, &clusters(&["a"]), &placement("p", spec), given].concat());
        let labels = report.decisions.iter();
        let labels: Vec<&str> = labels.map(|one| one.decision_group_name.as_str()).collect();
        assert_eq!(labels, [label], "{given}");
    }
}

#[test]
fn a_fixpoint_ends_with_the_first_round_after_which_nothing_changes() {
    let spec =
        "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: gg, groupClusterSelector: {}}]}}}";
    let ends = |mode: Mode, given: &str| {
        let yaml = [BOUND, &clusters(&["a"]), &placement("p", spec), given].concat();
        with_evaluation(&objects(&yaml), Setting { mode, ..SNAPSHOT }, |evaluation| {
            let report = evaluation.report();
            (report.rounds, report.converged)
        })
    };
    let labelled = |clusters: &[&str]| {
        let given = decision("p", 1, clusters);
        given.replace("decision-group-name: ''", "decision-group-name: gg")
    };
    let two = (2, Some(true));
    assert_eq!(
        ends(Mode::Fixpoint, &labelled(&["a"])),
        two,
        "the first round writes the status"
    );
    assert_eq!(
        ends(Mode::Fixpoint, &labelled(&["b"])),
        two,
        "then the clusters, the labels are right"
    );
    assert_eq!(
        ends(Mode::Fixpoint, &decision("p", 1, &["b"])),
        (3, Some(true)),
        "the labels follow when the clusters are right"
    );
    assert_eq!(
        ends(
            Mode::Fixpoint,
            &[labelled(&["b"]), decision("p", 2, &["c"])].concat()
        ),
        two
    );
    for mode in [Mode::Snapshot, Mode::Sequential] {
        assert_eq!(ends(mode, ""), (1, None), "no fixpoint was asked for");
    }
}

#[test]
fn the_clusters_of_a_placement_that_keeps_its_decisions_are_named_once() {
    let alone = placement("p", "{}").replace(
        "namespace: 'n'",
        "namespace: 'n', annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: 'true'}",
    );
    let yaml = [
        BOUND,
        &clusters(&["a", "b"]),
        &alone,
        &decision("p", 1, &["b", "''", "a", "b"]),
        &decision("other", 1, &["c"]),
        &decision("p", 1, &["d"]).replace("namespace: 'n'", "namespace: other"),
    ]
    .concat();
    with_evaluation(&objects(&yaml), SNAPSHOT, |evaluation| {
        assert_eq!(evaluation.clusters_of("n", "p"), Some(vec!["b", "a"]));
        let report = evaluation.placement_reports().next();
        assert_eq!(
            report.as_ref().map(selected),
            Some(vec!["b", "", "a", "b"]),
            "neither those of another Placement nor of another namespace"
        );
    });
}

#[test]
fn what_is_wrong_becomes_problems_with_places() {
    let problems = |yaml: &str| {
        with_evaluation(&objects(yaml), SNAPSHOT, |evaluation| {
            let problems = evaluation.problems().into_iter();
            problems
                .map(|problem| (problem.kind, problem.at.pointer))
                .collect::<Vec<_>>()
        })
    };
    let one = clusters(&["a"]);
    assert_eq!(problems(&[BOUND, &one, &placement("p", "{}")].concat()), []);
    assert_eq!(
        problems(&[BOUND, &one, &placement("p", "{numberOfClusters: 0}")].concat()),
        [],
        "nothing was asked for"
    );
    let nothing = |yaml: &[&str]| {
        let problems = problems(&yaml.concat());
        let [(ProblemKind::SelectsNothing { emptied_by }, pointer)] = problems.as_slice() else {
            panic!("{problems:?}");
        };
        assert_eq!(pointer, "/metadata/name");
        emptied_by.clone()
    };
    let all = placement("p", "{}");
    let sets = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(nothing(&[&one, &all]), EmptiedBy::NotBound { sets: Vec::new() });
    let other = placement("p", "{clusterSets: [other]}");
    let asked = sets(&["other"]);
    assert_eq!(
        nothing(&[&one, &other]),
        EmptiedBy::NotBound { sets: asked.clone() }
    );
    assert_eq!(
        nothing(&[BOUND, &one, &other]),
        EmptiedBy::NoIntersection { sets: asked }
    );
    assert_eq!(
        nothing(&[BOUND, &all]),
        EmptiedBy::EmptySets { sets: sets(&["s"]) }
    );
    let picky = "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {no: one}}}}]}";
    assert_eq!(
        nothing(&[BOUND, &one, &placement("p", picky)]),
        EmptiedBy::Predicates { clusters: 1 }
    );
    let tainted = cluster("a", "spec: {taints: [{key: gpu, effect: NoSelect}]}");
    assert_eq!(
        nothing(&[BOUND, &tainted, &all]),
        EmptiedBy::Taints { clusters: 1 }
    );
    let mode = placement("p", "{prioritizerPolicy: {mode: Fair}}");
    let message = "incorrect prioritizer policy mode: Fair".to_owned();
    assert_eq!(
        problems(&[BOUND, &one, &mode].concat()),
        [(
            ProblemKind::Misconfigured { message },
            "/spec/prioritizerPolicy/mode".to_owned()
        )]
    );
}

/// What is reported about Placements that a live hub does not decide once and for all.
fn unsettled(specs: &[(&str, &str)], given: &str, mode: Mode) -> Vec<(String, String, crate::ProblemKind)> {
    let placements: Vec<String> = specs.iter().map(|(name, spec)| placement(name, spec)).collect();
    let yaml = [BOUND, &clusters(&["a", "b", "c"]), &placements.concat(), given].concat();
    with_evaluation(&objects(&yaml), Setting { mode, ..SNAPSHOT }, |evaluation| {
        let problems = evaluation.unsettled().into_iter();
        problems
            .map(|problem| (problem.name, problem.at.pointer, problem.kind))
            .collect()
    })
}

const ONE: &str = "{numberOfClusters: 1}";

#[test]
fn what_the_order_decides_is_told_with_the_clusters_in_question_in_every_mode() {
    for mode in [Mode::Snapshot, Mode::Sequential, Mode::Fixpoint] {
        let contested = |name: &str| {
            let kind = crate::ProblemKind::OrderDependent {
                contested: vec!["a".to_owned(), "b".to_owned()],
            };
            (name.to_owned(), "/spec/numberOfClusters".to_owned(), kind)
        };
        assert_eq!(
            unsettled(&[("p1", ONE), ("p2", ONE)], "", mode),
            [contested("p1"), contested("p2")]
        );
        // Decisions that are there already hold in any order.
        let given = [decision("p1", 1, &["b"]), decision("p2", 1, &["a"])].concat();
        assert_eq!(unsettled(&[("p1", ONE), ("p2", ONE)], &given, mode), []);
        // One Placement, or all candidates, or none of them: nothing to choose.
        assert_eq!(unsettled(&[("p1", ONE)], "", mode), []);
        for spec in ["{}", "{numberOfClusters: 3}", "{numberOfClusters: 0}"] {
            assert_eq!(unsettled(&[("p1", spec), ("p2", spec)], "", mode), [], "{spec}");
        }
        // Nobody else counts.
        let alone = "{numberOfClusters: 1, prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: \
                     {type: BuiltIn, builtIn: Steady}, weight: 1}]}}";
        assert_eq!(unsettled(&[("p1", alone), ("p2", alone)], "", mode), []);
    }
}

#[test]
fn a_weight_of_steady_of_0_or_less_never_settles() {
    let steady = |weight: i64| {
        format!(
            "{{numberOfClusters: 1, prioritizerPolicy: {{configurations: [{{scoreCoordinate: {{type: BuiltIn, builtIn: Steady}}, \
             weight: {weight}}}]}}}}"
        )
    };
    let at = "/spec/prioritizerPolicy/configurations/0/weight";
    let restless = |name: &str| (name.to_owned(), at.to_owned(), crate::ProblemKind::NeverSettles);
    // Below 0 it leaves its own clusters, with others or without.
    assert_eq!(
        unsettled(&[("p1", &steady(-1))], "", Mode::Fixpoint),
        [restless("p1")]
    );
    assert_eq!(unsettled(&[("p1", &steady(0))], "", Mode::Fixpoint), []);
    let two = [("p1", &*steady(0)), ("p2", &*steady(0))];
    assert_eq!(
        unsettled(&two, "", Mode::Fixpoint),
        [restless("p1"), restless("p2")]
    );
    // Others move it only if they choose among clusters.
    for settled in [
        "{}",
        "{numberOfClusters: 0}",
        "{numberOfClusters: 3}",
        "{numberOfClusters: 1, prioritizerPolicy: {mode: Fair}}",
    ] {
        let two = [("p1", &*steady(0)), ("p2", settled)];
        assert_eq!(unsettled(&two, "", Mode::Fixpoint), [], "{settled}");
    }
    // One that settled in the first round is not restless, though another one never ends.
    let alone = "{numberOfClusters: 1, prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: \
                 {type: BuiltIn, builtIn: Steady}, weight: 1}]}}";
    assert_eq!(
        unsettled(&[("p1", &steady(-1)), ("p2", alone)], "", Mode::Fixpoint),
        [restless("p1")]
    );
    // Without Balance nobody moves it.
    let still = steady(0).replace(
        "configurations: [",
        "configurations: [{scoreCoordinate: {type: BuiltIn, builtIn: Balance}, weight: 0}, ",
    );
    assert_eq!(
        unsettled(&[("p1", &still), ("p2", &still)], "", Mode::Fixpoint),
        []
    );
}
