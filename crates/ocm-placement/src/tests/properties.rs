//! Properties that hold for any fleet.

use proptest::prelude::*;

use super::*;

/// A fleet in a few numbers.
#[derive(Debug, Clone)]
struct Fleet {
    /// For each cluster: env, taint, cpu, exclusive set.
    clusters: Vec<(u8, u8, u8, u8)>,
    /// For each Placement: predicate, number, prioritizers, toleration, groups.
    placements: Vec<(u8, Option<u8>, u8, u8, u8)>,
    /// Placement and cluster of existing decisions.
    decisions: Vec<(u8, u8)>,
}

fn fleet() -> impl Strategy<Value = Fleet> {
    (
        prop::collection::vec((0u8..3, 0u8..4, 1u8..9, 0u8..2), 0..14),
        prop::collection::vec((0u8..4, prop::option::of(0u8..8), 0u8..4, 0u8..3, 0u8..3), 1..4),
        prop::collection::vec((0u8..4, 0u8..16), 0..12),
    )
        .prop_map(|(clusters, placements, decisions)| Fleet {
            clusters,
            placements,
            decisions,
        })
}

fn cluster_of(index: usize, (env, taint, cpu, set): (u8, u8, u8, u8)) -> String {
    let taints = match taint {
        0 => "[{key: gpu, effect: NoSelect, timeAdded: '2026-05-31T23:59:30Z'}]",
        1 => "[{key: maint, effect: NoSelectIfNew}]",
        _ => "[]",
    };
    let set = if set == 0 { "s" } else { "t" };
    format!(
        "
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {{name: c{index:02}, labels: {{cluster.open-cluster-management.io/clusterset: {set}, env: e{env}}}}}
spec: {{taints: {taints}}}
status: {{allocatable: {{cpu: {cpu}}}, capacity: {{cpu: 9}}}}
"
    )
}

fn placement_of(
    index: usize,
    (predicate, number, prioritizers, toleration, groups): (u8, Option<u8>, u8, u8, u8),
) -> String {
    let mut spec = vec![
        match predicate {
            0 => "predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: e0}}}}]".to_owned(),
            1 => "predicates: [{requiredClusterSelector: {labelSelector: {matchExpressions: [{key: env, operator: NotIn, values: [e1]}]}}}]".to_owned(),
            _ => "predicates: []".to_owned(),
        },
        match prioritizers {
            0 => "prioritizerPolicy: {mode: Exact, configurations: [{scoreCoordinate: {builtIn: ResourceAllocatableCPU}, weight: -2}]}".to_owned(),
            1 => "prioritizerPolicy: {configurations: [{scoreCoordinate: {builtIn: Steady}, weight: 5}]}".to_owned(),
            _ => "prioritizerPolicy: {}".to_owned(),
        },
        match toleration {
            0 => "tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}]".to_owned(),
            1 => "tolerations: [{operator: Exists}]".to_owned(),
            _ => "tolerations: []".to_owned(),
        },
        match groups {
            0 => "decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 2}}".to_owned(),
            1 => "decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: gg, groupClusterSelector: {labelSelector: {matchLabels: {env: e0}}}}]}}".to_owned(),
            _ => "decisionStrategy: {}".to_owned(),
        },
    ];
    if let Some(number) = number {
        spec.push(format!("numberOfClusters: {number}"));
    }
    placement(&format!("p{index}"), &format!("{{{}}}", spec.join(", ")))
}

fn yaml(fleet: &Fleet) -> String {
    let mut text = BOUND.to_owned();
    for (index, cluster) in fleet.clusters.iter().enumerate() {
        text.push_str(&cluster_of(index, *cluster));
    }
    for (index, placement) in fleet.placements.iter().enumerate() {
        text.push_str(&placement_of(index, *placement));
    }
    for placement in 0..4u8 {
        let names: Vec<String> = fleet
            .decisions
            .iter()
            .filter(|(owner, _)| *owner == placement)
            .map(|(_, cluster)| format!("c{cluster:02}"))
            .collect();
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            text.push_str(&decision(&format!("p{placement}"), 1, &names));
        }
    }
    text
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Snapshot, Mode::Sequential, Mode::Fixpoint])
}

fn run(objects: &[Document], mode: Mode) -> Report {
    with_evaluation(objects, Setting { mode, ..SNAPSHOT }, |evaluation| {
        evaluation.report()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_order_of_the_input_never_matters(fleet in fleet(), mode in mode(), seed in any::<u64>()) {
        let mut all = objects(&yaml(&fleet));
        let expected = run(&all, mode);
        all.sort_by_key(|object| u64::try_from(object.id.0).unwrap_or_default().wrapping_mul(seed | 1));
        prop_assert_eq!(run(&all, mode), expected);
    }

    #[test]
    fn less_detail_gives_the_same_decisions(fleet in fleet(), mode in mode()) {
        let all = objects(&yaml(&fleet));
        let (inventory, findings) = read(&all);
        prop_assert!(findings.is_empty(), "{:?}", findings);
        let input = Input { inventory: &inventory, now: SNAPSHOT.now.and_then(parse_time), mode, options: Options::default() };
        let (full, decisions) = (evaluate(&input, Detail::Full), evaluate(&input, Detail::Decisions));
        prop_assert!(full.decision_objects().eq(decisions.decision_objects()));
        prop_assert_eq!(full.rounds, decisions.rounds);
    }

    #[test]
    fn an_ineligible_cluster_changes_nothing(fleet in fleet(), mode in mode()) {
        let text = yaml(&fleet);
        let before = run(&objects(&text), mode);
        // It is in no eligible set and in no decision.
        let stranger = cluster_of(50, (0, 3, 9, 1));
        let after = run(&objects(&[text, stranger].concat()), mode);
        prop_assert_eq!(before, after);
    }

    #[test]
    fn an_ineligible_cluster_in_a_decision_moves_nothing_but_balance(fleet in fleet()) {
        let text = yaml(&fleet);
        let stranger = cluster_of(50, (0, 3, 9, 1));
        let other = decision("elsewhere", 1, &["c50", "c50", "c50"]);
        let before = run(&objects(&text), Mode::Snapshot);
        let after = run(&objects(&[text, stranger, other].concat()), Mode::Snapshot);
        for (before, after) in before.placements.iter().zip(&after.placements) {
            prop_assert_eq!(&before.filters, &after.filters);
            let others = |report: &PlacementReport| -> Vec<PrioritizerReport> {
                report.prioritizers.clone().unwrap_or_default().into_iter().filter(|one| one.name != "Balance").collect()
            };
            prop_assert_eq!(others(before), others(after));
        }
    }

    #[test]
    fn with_steady_a_growing_fleet_moves_no_one_that_still_qualifies(
        fleet in prop::collection::vec((0u8..3, 2u8..4, 1u8..9, 0u8..1), 1..10),
        more in prop::collection::vec((0u8..3, 2u8..4, 1u8..9, 0u8..1), 1..6),
        number in 1u8..6,
    ) {
        let spec = format!("{{numberOfClusters: {number}, prioritizerPolicy: {{mode: Exact, configurations: [{{scoreCoordinate: {{builtIn: Steady}}}}]}}}}");
        let small: String = fleet.iter().enumerate().map(|(index, one)| cluster_of(index.saturating_add(20), *one)).collect();
        let text = [BOUND, &small, &placement("p", &spec)].concat();
        let (chosen, written) = with_evaluation(&objects(&text), SNAPSHOT, |evaluation| {
            let chosen: Vec<String> = evaluation.clusters_of("n", "p").unwrap_or_default().into_iter().map(str::to_owned).collect();
            (chosen, evaluation.decision_objects().collect::<Vec<_>>())
        });
        // Newcomers whose names come first: without Steady they would win.
        let newcomers: String = more.iter().enumerate().map(|(index, one)| cluster_of(index, *one)).collect();
        let mut all = objects(&[text, newcomers].concat());
        all.extend((1000usize..).zip(written).map(|(index, value)| object(index, value)));
        let report = run(&all, Mode::Snapshot);
        let kept = report.placements.first().map(selected).unwrap_or_default();
        for cluster in &chosen {
            prop_assert!(kept.contains(&cluster.as_str()), "{} left", cluster);
        }
    }

    #[test]
    fn decisions_are_groups_cut_without_loss(fleet in fleet(), mode in mode()) {
        for report in run(&objects(&yaml(&fleet)), mode).placements {
            let ranking = report.ranking.clone().unwrap_or_default();
            let mut expected: Vec<&str> = ranking
                .iter()
                .take(report.number_of_selected_clusters)
                .map(|ranked| ranked.cluster_name.as_str())
                .collect();
            let mut decided = selected(&report);
            expected.sort_unstable();
            decided.sort_unstable();
            prop_assert_eq!(expected, decided);
            let counted: usize = report.decision_groups.iter().map(|group| group.cluster_count).sum();
            prop_assert_eq!(counted, report.number_of_selected_clusters);
        }
    }

    #[test]
    fn every_cluster_has_a_reason_that_agrees_with_the_decisions(fleet in fleet(), mode in mode()) {
        let all = objects(&yaml(&fleet));
        let setting = Setting { mode, ..SNAPSHOT };
        let names: Vec<String> = (0..fleet.clusters.len()).map(|index| format!("c{index:02}")).collect();
        let outcome = with_evaluation(&all, setting, |evaluation| {
            for name in &names {
                for explanation in evaluation.explain(name).unwrap_or_default() {
                    let against = explanation.steps.last().is_some_and(|step| step.bearing == Bearing::Against);
                    prop_assert_eq!(!against, explanation.selected, "{}: {:?}", name, explanation);
                    prop_assert!(!explanation.steps.is_empty());
                }
            }
            Ok(())
        });
        outcome?;
    }
}
