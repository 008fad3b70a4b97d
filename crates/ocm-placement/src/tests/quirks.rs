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
