//! Rules that a reimplementation of OCM easily gets wrong (docs/systems/ocm-placement.md#surprises), and other
//! surprising rules.

use super::*;

const SCORE: &str = "
---
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: AddOnPlacementScore
metadata: {name: r, namespace: c1}
status: {scores: [{name: x, value: 7}], validUntil: '2026-06-01T00:00:00Z'}
";

#[test]
fn balance_counts_names_that_are_no_candidates() {
    let yaml = [
        BOUND,
        &clusters(&["c1", "c2"]),
        &placement("p", "{}"),
        &decision("other", 1, &["c1", "gone", "gone", "gone"]),
    ]
    .concat();
    let report = first(&yaml);
    let balance = report
        .prioritizers
        .unwrap_or_default()
        .into_iter()
        .find(|one| one.name == "Balance");
    let scores = balance.map(|balance| balance.scores).unwrap_or_default();
    assert_eq!(
        scores.get("c1"),
        Some(&32),
        "1 of 3, truncated before it is doubled"
    );
    assert_eq!(scores.get("c2"), Some(&100));
}

#[test]
fn balance_leaves_the_placements_own_decisions_out() {
    let yaml = [
        BOUND,
        &clusters(&["c1"]),
        &placement("p", "{}"),
        &decision("p", 1, &["c1"]),
    ]
    .concat();
    assert_eq!(
        first(&yaml)
            .ranking
            .unwrap_or_default()
            .first()
            .map(|ranked| ranked.score),
        Some(200)
    );
}

#[test]
fn selection_is_by_score_and_output_by_name() {
    let spec = "{numberOfClusters: 2, prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: Steady}}]}}";
    let yaml = [
        BOUND,
        &clusters(&["a", "b", "c"]),
        &placement("p", spec),
        &decision("p", 1, &["c", "b"]),
    ]
    .concat();
    let report = first(&yaml);
    assert_eq!(selected(&report), ["b", "c"]);
    let ranking = report.ranking.unwrap_or_default();
    let order: Vec<&str> = ranking
        .iter()
        .map(|ranked| ranked.cluster_name.as_str())
        .collect();
    assert_eq!(order, ["b", "c", "a"]);
}

#[test]
fn the_object_number_runs_on_across_groups_and_the_index_is_separate() {
    let spec = "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 1, decisionGroups: [
        {groupName: none, groupClusterSelector: {labelSelector: {matchLabels: {name: nobody}}}},
        {groupName: bb, groupClusterSelector: {labelSelector: {matchLabels: {name: b}}}}]}}}";
    let report = first(&[BOUND, &clusters(&["a", "b", "c"]), &placement("p", spec)].concat());
    let shape: Vec<_> = report
        .decisions
        .iter()
        .map(|one| {
            (
                one.cluster_name.as_str(),
                one.decision_group_index.as_str(),
                one.placement_decision.as_str(),
            )
        })
        .collect();
    assert_eq!(
        shape,
        [
            ("b", "0", "p-decision-1"),
            ("a", "1", "p-decision-2"),
            ("c", "2", "p-decision-3")
        ],
        "a named group that matches nothing uses no index"
    );
}

#[test]
fn an_empty_selection_still_yields_one_object() {
    let report = first(&[BOUND, &clusters(&["a"]), &placement("p", "{numberOfClusters: 0}")].concat());
    assert_eq!(report.placement_decisions.len(), 1);
    assert_eq!(reason(&report), "NoManagedClusterMatched");
}

#[test]
fn weight_one_is_the_default_of_the_crd() {
    let spec = "{prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: Balance}}]}}";
    let report = first(&[BOUND, &clusters(&["a"]), &placement("p", spec)].concat());
    let weights: Vec<i64> = report
        .prioritizers
        .unwrap_or_default()
        .iter()
        .map(|one| one.weight)
        .collect();
    assert_eq!(weights, [1]);
}

#[test]
fn repeated_add_on_entries_add_up_and_repeated_built_in_entries_override() {
    let spec = "{prioritizerPolicy: {mode: Exact, configurations: [
        {scoreCoordinate: {type: AddOn, addOn: {resourceName: r, scoreName: x}}, weight: 2},
        {scoreCoordinate: {type: AddOn, addOn: {resourceName: r, scoreName: x}}, weight: 3},
        {scoreCoordinate: {builtIn: Steady}, weight: 9},
        {scoreCoordinate: {builtIn: Steady}, weight: 4}]}}";
    let yaml = [
        BOUND,
        &clusters(&["c1"]),
        &placement("p", spec),
        &decision("p", 1, &["c1"]),
        SCORE,
    ]
    .concat();
    assert_eq!(
        first(&yaml)
            .ranking
            .unwrap_or_default()
            .first()
            .map(|ranked| ranked.score),
        Some(35 + 400)
    );
}

#[test]
fn a_built_in_entry_with_an_add_on_block_adds_to_the_default() {
    let spec = "{prioritizerPolicy: {configurations: [
        {scoreCoordinate: {builtIn: Balance, addOn: {resourceName: r, scoreName: x}}, weight: 3}]}}";
    let report = first(&[BOUND, &clusters(&["a"]), &placement("p", spec)].concat());
    assert_eq!(
        report
            .ranking
            .unwrap_or_default()
            .first()
            .map(|ranked| ranked.score),
        Some(400)
    );
}

#[test]
fn a_missing_label_selector_selects_nothing_and_an_empty_one_everything() {
    let set = |selector: &str| {
        format!(
            "
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {{name: s}}
spec: {{clusterSelector: {{selectorType: LabelSelector{selector}}}}}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {{name: s, namespace: 'n'}}
spec: {{clusterSet: s}}
"
        )
    };
    let run =
        |selector: &str| first(&[&set(selector), &clusters(&["a"]) as &str, &placement("p", "{}")].concat());
    assert_eq!(reason(&run("")), "AllManagedClusterSetsEmpty");
    assert_eq!(selected(&run(", labelSelector: {}")), ["a"]);
}

#[test]
fn tolerations_are_checked_only_when_clusters_remain() {
    let spec = "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {name: nobody}}}}],
        tolerations: [{operator: Equal, value: x}]}";
    let report = first(&[BOUND, &clusters(&["a"]), &placement("p", spec)].concat());
    assert_eq!(report.scheduler_status, SchedulerStatus::Success);
    let report = first(
        &[
            BOUND,
            &clusters(&["a"]),
            &placement("p", "{tolerations: [{value: x}]}"),
        ]
        .concat(),
    );
    assert_eq!(report.scheduler_status, SchedulerStatus::Misconfigured);
    assert_eq!(report.scheduler_plugin.as_deref(), Some("TaintToleration"));
}

#[test]
fn a_toleration_expires_at_the_very_second() {
    let tainted = |added: &str| {
        cluster(
            "a",
            &format!("spec: {{taints: [{{key: gpu, effect: NoSelect, timeAdded: '{added}'}}]}}"),
        )
    };
    let spec = "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}]}";
    let run = |added: &str| first(&[BOUND, &tainted(added), &placement("p", spec)].concat());
    assert_eq!(selected(&run("2026-05-31T23:59:01Z")), ["a"]);
    assert!(selected(&run("2026-05-31T23:59:00Z")).is_empty());
}

#[test]
fn the_next_toleration_is_tried_when_one_has_expired() {
    let tainted = cluster(
        "a",
        "spec: {taints: [{key: gpu, effect: NoSelect, timeAdded: '2026-05-01T00:00:00Z'}]}",
    );
    let spec = "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}, {operator: Exists}]}";
    assert_eq!(
        selected(&first(&[BOUND, &tainted, &placement("p", spec)].concat())),
        ["a"]
    );
}

#[test]
fn a_taint_without_a_time_was_added_at_the_beginning_of_time() {
    let tainted = cluster("a", "spec: {taints: [{key: gpu, effect: NoSelect}]}");
    let spec = "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 3600}]}";
    assert!(selected(&first(&[BOUND, &tainted, &placement("p", spec)].concat())).is_empty());
}

#[test]
fn no_select_if_new_spares_what_is_selected_and_prefer_no_select_drops_nobody() {
    let yaml = |effect: &str| {
        let taints = format!("spec: {{taints: [{{key: maint, effect: {effect}}}]}}");
        let both = [cluster("a", &taints), cluster("b", &taints)].concat();
        [BOUND, &both, &placement("p", "{}"), &decision("p", 1, &["b"])].concat()
    };
    assert_eq!(selected(&first(&yaml("NoSelectIfNew"))), ["b"]);
    assert_eq!(selected(&first(&yaml("PreferNoSelect"))), ["a", "b"]);
    assert!(selected(&first(&yaml("NoSelect"))).is_empty());
}

#[test]
fn an_expired_score_counts_nothing_and_warns_but_cel_still_sees_it() {
    let spec = "{prioritizerPolicy: {mode: Exact, configurations: [
        {scoreCoordinate: {type: AddOn, addOn: {resourceName: r, scoreName: x}}}]}}";
    let later = Setting {
        now: Some("2026-06-01T00:00:01Z"),
        ..SNAPSHOT
    };
    let yaml = [BOUND, &clusters(&["c1"]), &placement("p", spec), SCORE].concat();
    let at = |setting| {
        with_evaluation(&objects(&yaml), setting, |evaluation| {
            let report = evaluation.placement_reports().next();
            report.map(|report| {
                (
                    report.scheduler_status,
                    report.ranking.unwrap_or_default().first().map(|one| one.score),
                )
            })
        })
    };
    assert_eq!(
        at(SNAPSHOT),
        Some((SchedulerStatus::Success, Some(7))),
        "at the boundary it still holds"
    );
    assert_eq!(at(later), Some((SchedulerStatus::Warning, Some(0))));
}

#[test]
fn a_bad_expression_is_misconfigured_even_when_another_predicate_matches_everything() {
    let spec =
        "{predicates: [{}, {requiredClusterSelector: {celSelector: {celExpressions: ['nonsense(']}}}]}";
    let report = first(&[BOUND, &clusters(&["a"]), &placement("p", spec)].concat());
    assert_eq!(report.scheduler_status, SchedulerStatus::Misconfigured);
    assert_eq!(reason(&report), "NoManagedClusterMatched");
    let empty = first(&[BOUND, &placement("p", spec)].concat());
    assert_eq!(
        empty.scheduler_status,
        SchedulerStatus::Success,
        "nothing is compiled without clusters"
    );
}

#[test]
fn quantities_become_floats() {
    let with = |name: &str, cpu: &str| {
        cluster(
            name,
            &format!("status: {{allocatable: {{cpu: '{cpu}'}}, capacity: {{cpu: '64'}}}}"),
        )
    };
    let lacking = cluster("e", "status: {allocatable: {cpu: '100'}}");
    let spec = "{prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: ResourceAllocatableCPU}}]}}";
    let all = [
        with("a", "1000m"),
        with("b", "1.5"),
        with("c", "2e0"),
        with("d", "3"),
        lacking,
    ]
    .concat();
    let report = first(&[BOUND, &all, &placement("p", spec)].concat());
    let scores = report
        .prioritizers
        .unwrap_or_default()
        .into_iter()
        .next()
        .map(|one| one.scores)
        .unwrap_or_default();
    let scores: Vec<(&str, i64)> = scores
        .iter()
        .map(|(name, score)| (name.as_str(), *score))
        .collect();
    assert_eq!(
        scores,
        [("a", -100), ("b", -50), ("c", 0), ("d", 100)],
        "without capacity there is no score"
    );
}

#[test]
fn unlabeled_clusters_join_the_default_set_only_when_asked() {
    let yaml = "
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: default}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: default, namespace: 'n'}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: a}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: 'n'}
spec: {predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {cluster.open-cluster-management.io/clusterset: default}}}}]}
";
    let asked = Setting {
        options: Options {
            unlabeled_join_default: true,
            ..Options::default()
        },
        ..SNAPSHOT
    };
    let count = |setting| with_evaluation(&objects(yaml), setting, |evaluation| evaluation.decision_count());
    assert_eq!((count(SNAPSHOT), count(asked)), (0, 1));
}

#[test]
fn availability_taints_are_derived_only_when_asked() {
    let object = |name: &str, status: &str, taint: &str| {
        let condition = format!(
            "{{type: ManagedClusterConditionAvailable, status: '{status}', reason: R, message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z'}}"
        );
        let taint = format!("{{key: {taint}, effect: NoSelect}}");
        cluster(
            name,
            &format!("spec: {{taints: [{taint}]}}\nstatus: {{conditions: [{condition}]}}"),
        )
    };
    let stale = "cluster.open-cluster-management.io/unreachable";
    let all = [
        object("down", "False", stale),
        object("up", "True", stale),
        object("up-with-gpu", "True", "gpu"),
        object("down-with-gpu", "False", "gpu"),
        object("who-knows", "Unknown", stale),
        cluster("silent", ""),
    ]
    .concat();
    let of = |derive_availability_taints, toleration: &str| {
        let spec = format!("{{tolerations: [{toleration}]}}");
        let setting = Setting {
            options: Options {
                derive_availability_taints,
                ..Options::default()
            },
            ..SNAPSHOT
        };
        let objects = objects(&[BOUND, &all, &placement("p", &spec)].concat());
        with_evaluation(&objects, setting, |evaluation| {
            evaluation.clusters_of("n", "p").unwrap_or_default().join(",")
        })
    };
    let unreachable = format!("{{key: {stale}, operator: Exists}}");
    let unavailable = unreachable.replace("unreachable", "unavailable");
    assert_eq!(of(false, ""), "silent");
    assert_eq!(of(true, ""), "up", "the stale taint goes, others stay");
    assert_eq!(of(true, &unreachable), "silent,up,who-knows");
    assert_eq!(of(true, &unavailable), "down,up");
    let gpu = "{key: gpu, operator: Exists}";
    assert_eq!(of(true, gpu), "up,up-with-gpu", "beside another taint, too");
}

#[test]
fn a_claim_selector_has_expressions_and_no_labels() {
    let with_claim = |name: &str, region: &str| {
        cluster(
            name,
            &format!("status: {{clusterClaims: [{{name: region, value: {region}}}]}}"),
        )
    };
    let both = [with_claim("a", "eu"), with_claim("b", "us")].concat();
    let select = |selector: &str| {
        let spec = format!("{{predicates: [{{requiredClusterSelector: {{claimSelector: {selector}}}}}]}}");
        let report = first(&[BOUND, &both, &placement("p", &spec)].concat());
        selected(&report).join(",")
    };
    let expression = "{matchExpressions: [{key: region, operator: In, values: [us]}]}";
    assert_eq!(select(expression), "b");
    assert_eq!(select("{matchLabels: {region: us}}"), "a,b", "Go drops the field");
}

#[test]
fn the_selector_of_a_decision_group_has_no_expressions() {
    let spec = "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: gg,
        groupClusterSelector: {celSelector: {celExpressions: ['false', 'nonsense(']}, labelSelector: {matchLabels: {name: b}}}}]}}}";
    let report = first(&[BOUND, &clusters(&["a", "b"]), &placement("p", spec)].concat());
    let groups = report.decisions.iter();
    let groups: Vec<&str> = groups.map(|one| one.decision_group_name.as_str()).collect();
    assert_eq!(groups, ["gg", ""], "Go drops the field");
}

#[test]
fn a_bad_predicate_is_no_fault_of_a_placement_without_clusters() {
    let empty = BOUND
        .replace("{name: s", "{name: empty")
        .replace("clusterSet: s", "clusterSet: empty");
    let predicates = "predicates: [{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: k, operator: Like}]}}}]";
    let yaml = [
        BOUND,
        "---",
        &empty,
        &clusters(&["a"]),
        &placement("p1", &format!("{{clusterSets: [s], {predicates}}}")),
        &placement("p2", &format!("{{clusterSets: [empty], {predicates}}}")),
    ];
    let report = report(&yaml.concat());
    let statuses: Vec<SchedulerStatus> = report.placements.iter().map(|one| one.scheduler_status).collect();
    assert_eq!(
        statuses,
        [SchedulerStatus::Misconfigured, SchedulerStatus::Success]
    );
}

#[test]
fn steady_counts_the_decisions_of_its_own_placement_alone() {
    let spec = "{numberOfClusters: 1, prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: Steady}}]}}";
    let yaml = [
        BOUND,
        &clusters(&["a", "b"]),
        &placement("p1", spec),
        &placement("p2", spec),
        &decision("p1", 1, &["b"]),
    ]
    .concat();
    for mode in [Mode::Snapshot, Mode::Sequential] {
        let setting = Setting { mode, ..SNAPSHOT };
        with_evaluation(&objects(&yaml), setting, |evaluation| {
            assert_eq!(evaluation.clusters_of("n", "p1"), Some(vec!["b"]));
            assert_eq!(evaluation.clusters_of("n", "p2"), Some(vec!["a"]));
        });
    }
}

#[test]
fn a_placement_is_scheduled_again_when_the_first_toleration_in_use_expires() {
    let spec = "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}]}";
    let taint = |key: &str, effect: &str, added: &str| {
        format!("{{key: {key}, effect: {effect}, timeAdded: '2026-05-31T23:59:{added}Z'}}")
    };
    let at = |taints: &[String], given: &[&str]| {
        let tainted = cluster("a", &format!("spec: {{taints: [{}]}}", taints.join(", ")));
        let later = cluster(
            "b",
            &format!("spec: {{taints: [{}]}}", taint("gpu", "NoSelect", "50")),
        );
        let given = decision("p", 1, given);
        first(&[BOUND, &tainted, &later, &placement("p", spec), &given].concat()).requeue_at
    };
    let gpu = [taint("gpu", "NoSelect", "30")];
    assert_eq!(at(&gpu, &["a", "b"]).as_deref(), Some("2026-06-01T00:00:30Z"));
    assert_eq!(at(&gpu, &["b"]).as_deref(), Some("2026-06-01T00:00:50Z"));
    assert_eq!(at(&gpu, &[]), None, "no toleration is in use yet");
    let kept = [taint("gpu", "NoSelectIfNew", "30")];
    assert_eq!(
        at(&kept, &["a"]),
        None,
        "the taint keeps what is selected in any case"
    );
    let dropped = [taint("gpu", "NoSelect", "30"), taint("disk", "NoSelect", "30")];
    assert_eq!(at(&dropped, &["a"]), None, "another taint drops the cluster now");
}
