//! Which Placement keeps which decisions, which others see them, and how they are written.

use super::*;

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
