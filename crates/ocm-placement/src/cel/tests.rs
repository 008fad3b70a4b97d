//! Which expressions compile, and what they match.

use kube_json::{Value, json};

use super::*;
use crate::api::{Object, ObjectId};
use crate::fleet::{Bits, Fleet};
use crate::ids::{ClusterId, RowId as _};
use crate::input::{Input, Inventory, Mode, Options};

fn cluster() -> Value {
    json!({
        "apiVersion": "cluster.open-cluster-management.io/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": "c1", "labels": {"env": "prod", "ring": "2", "empty": ""}, "annotations": {}},
        "spec": {"taints": [{"key": "gpu", "effect": "NoSelect"}], "managedClusterClientConfigs": []},
        "status": {
            "allocatable": {"cpu": "4000m", "memory": 1024},
            "clusterClaims": [
                {"name": "ver", "value": "1.30.2"},
                {"name": "node", "value": "{\"count\": 3, \"labels\": [\"a\", \"b\"]}"},
            ],
        },
    })
}

fn score() -> Value {
    json!({
        "apiVersion": "cluster.open-cluster-management.io/v1alpha1",
        "kind": "AddOnPlacementScore",
        "metadata": {"name": "s", "namespace": "c1"},
        "status": {"scores": [{"name": "v", "value": 7}], "validUntil": "2000-01-01T00:00:00Z"},
    })
}

/// What one expression says about the cluster: compile error, or whether it matches.
fn run(expression: &str) -> Result<bool, String> {
    run_on(cluster(), Options::default(), expression)
}

/// What it says about another cluster `c1`.
fn run_on(cluster: Value, options: Options, expression: &str) -> Result<bool, String> {
    run_with(&[cluster, score()], options, expression)
}

fn run_with(values: &[Value], options: Options, expression: &str) -> Result<bool, String> {
    let objects = values.iter().enumerate();
    let (inventory, invalid) = Inventory::read(objects.map(|(id, value)| Object::new(ObjectId(id), value)));
    assert!(invalid.is_empty(), "{invalid:?}");
    let input = Input {
        inventory: &inventory,
        now: None,
        mode: Mode::Snapshot,
        options,
    };
    let fleet = Fleet::new(&input);
    let expressions = Expressions::compile(&[expression]).map_err(|(_, message)| message)?;
    let question = Question {
        expressions: &expressions,
        candidates: Bits::all(1),
    };
    let mut answers = ask(&[question], &input, &fleet);
    Ok(answers.remove(0)?.contains(ClusterId::from_row(0)))
}

#[test]
fn fields_of_the_spec_are_shown_as_they_are() {
    let mut accepted = cluster();
    accepted["spec"]["hubAcceptsClient"] = json!(true);
    accepted["spec"]["leaseDurationSeconds"] = json!(30);
    accepted["spec"]["taints"][0]["value"] = json!("a100");
    for expression in [
        "managedCluster.apiVersion == 'cluster.open-cluster-management.io/v1'",
        "managedCluster.spec.hubAcceptsClient",
        "managedCluster.spec.leaseDurationSeconds == 30",
        "managedCluster.spec.taints[0].value == 'a100'",
    ] {
        let answer = run_on(accepted.clone(), Options::default(), expression);
        assert_eq!(answer, Ok(true), "{expression}");
    }
}

#[test]
fn the_label_of_the_set_that_an_option_adds_is_seen() {
    let mut unlabeled = cluster();
    unlabeled["metadata"] = json!({"name": "c1"});
    let joined = Options {
        unlabeled_join_default: true,
        ..Options::default()
    };
    let label =
        "managedCluster.metadata.labels == {'cluster.open-cluster-management.io/clusterset': 'default'}";
    assert_eq!(run_on(unlabeled.clone(), joined, label), Ok(true));
    let no_labels = "!has(managedCluster.metadata.labels)";
    assert_eq!(run_on(unlabeled, Options::default(), no_labels), Ok(true));
}

#[test]
fn a_call_of_scores_costs_as_much_as_the_list_that_it_returns() {
    let mut long = score();
    let scores = (0..1000).map(|value| json!({"name": format!("v{value}"), "value": value}));
    long["status"]["scores"] = scores.collect();
    let calls = |number: usize| {
        let list = vec!["1"; number].join(", ");
        let expression = format!("[{list}].all(x, managedCluster.scores('s').size() == 1000)");
        run_with(&[cluster(), long.clone()], Options::default(), &expression)
    };
    assert_eq!(calls(2), Ok(true));
    assert_eq!(calls(400), Ok(false), "more than an expression gets");
}

#[test]
fn a_chain_of_macros_that_copies_itself_too_often_is_refused_before_it_is_copied() {
    let chain = |link: &str, length: usize| {
        let links = link.repeat(length);
        run(&format!("optional.of(1){links}.hasValue()"))
    };
    for link in [".optMap(x, x)", ".optFlatMap(x, optional.of(x))"] {
        assert_eq!(chain(link, 8), Ok(true), "{link}");
        let refused = chain(link, 200).expect_err(link);
        assert!(refused.starts_with("expression too complex: "), "{refused}");
    }
    // What is in an argument is not copied.
    let (open, close) = ("optional.of(1).optMap(x, ".repeat(20), ")".repeat(20));
    assert_eq!(run(&format!("{open}x{close}.hasValue()")), Ok(true));
}

#[test]
fn a_loop_that_costs_too_much_matches_nothing() {
    let list = format!("[{}]", vec!["1"; 200].join(","));
    let nested = format!("{list}.all(a, {list}.all(b, {list}.all(c, a + b + c == 3)))");
    assert_eq!(run(&nested), Ok(false));
    assert_eq!(
        run(&format!("{nested} || true")),
        Ok(false),
        "the limit is no error that can be absorbed"
    );
    assert_eq!(
        run(&format!("{list}.all(a, {list}.all(b, a == b))")),
        Ok(true),
        "this one is within the limit"
    );
}

#[test]
fn nothing_is_too_long_or_too_deep_to_be_refused() {
    for source in [
        "(".repeat(50_000),
        format!("{}1{}", "(".repeat(90), ")".repeat(90)),
        format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000)),
        format!("{}true", "!".repeat(3_999)),
        format!("{}true", "!".repeat(100_000)),
        vec!["true"; 1_900].join(" && "),
        vec!["1"; 3_900].join("+"),
        vec!["1"; 60_000].join("+"),
        "true ? ".repeat(1_900) + "true" + &" : true".repeat(1_900),
        format!("managedCluster{}", ".a".repeat(3_900)),
        "x".repeat(200_000),
        "\"".to_owned(),
        "\u{0}".to_owned(),
        "'é' == '\\u00e9'".to_owned(),
    ] {
        let _ = run(&source);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_refused_or_answered_and_never_panics(source in "\\PC{0,60}") {
        let _ = run(&source);
    }

    #[test]
    fn any_mix_of_tokens_is_refused_or_answered(tokens in proptest::collection::vec(
        proptest::sample::select(vec![
            "managedCluster", ".metadata", ".labels", "['env']", "==", "&&", "||", "'prod'", "1", "1.5", "(", ")", "!",
            "has(", "size(", ".exists(k, ", "[", "]", "?", ":", ".?x", "[?'y']", ".scores('s')", "true", "null", "in", "{", "}",
            ".map(x, x)", "+", "-", ",", ".orValue(1)", "optional.of(",
        ]), 0..14)) {
        let _ = run(&tokens.join(" "));
    }
}

#[test]
fn every_expression_matches_or_is_refused_as_its_snapshot_has_it() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/expressions.txt");
    test_sections::check_lines(file, |line| format!("{:?}", run(line)));
}
