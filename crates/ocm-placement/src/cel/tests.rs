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

fn matching(expressions: &[&str]) {
    for expression in expressions {
        assert_eq!(run(expression), Ok(true), "{expression}");
    }
}

fn not_matching(expressions: &[&str]) {
    for expression in expressions {
        assert_eq!(run(expression), Ok(false), "{expression}");
    }
}

fn misconfigured(expressions: &[&str]) {
    for expression in expressions {
        assert!(run(expression).is_err(), "{expression} compiles");
    }
}

#[test]
fn fields_of_the_cluster_are_read() {
    matching(&[
        "managedCluster.metadata.name == 'c1'",
        r#"managedCluster["metadata"]["labels"]["env"] in ["prod", "dev"]"#,
        "has(managedCluster.metadata.labels.ring) && int(managedCluster.metadata.labels.ring) > 1",
        "managedCluster.metadata.labels.exists(k, k == 'env')",
        "managedCluster.metadata.labels.all(k, managedCluster.metadata.labels[k] != 'dev')",
        "size(managedCluster.status.clusterClaims) == 2",
        "managedCluster.status.clusterClaims.filter(c, c.name == 'ver').map(c, c.value) == ['1.30.2']",
        "managedCluster.status.clusterClaims.exists_one(c, c.name.startsWith('v'))",
        "!(managedCluster.metadata.name == 'c2')",
        "true ? true : false",
    ]);
}

#[test]
fn the_cluster_is_what_go_would_show() {
    matching(&[
        "managedCluster.spec.hubAcceptsClient == false",
        "managedCluster.spec.leaseDurationSeconds == 60",
        "!has(managedCluster.metadata.annotations)",
        "!has(managedCluster.spec.managedClusterClientConfigs)",
        "has(managedCluster.metadata.labels.empty)",
        "managedCluster.status.allocatable.cpu == '4'",
        "managedCluster.status.allocatable.memory == '1024'",
        "!has(managedCluster.spec.taints[0].value)",
        "managedCluster.status.version == {}",
    ]);
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
fn a_failing_expression_matches_nothing() {
    not_matching(&[
        "managedCluster.metadata.labels['missing'] == 'x'",
        "managedCluster.metadata.labels.missing != 'x'",
        "!managedCluster.metadata.name.nothing",
        "managedCluster.metadata.name.nothing == false",
        "managedCluster.status.clusterClaims[9].value == 'x'",
        "int(managedCluster.metadata.name) > 1",
        "1 / 0 == 1",
        "managedCluster.scores('missing').all(s, true)",
        "'{'.parseJSON().x == 1",
        "semver('x').major() == 1",
        "managedCluster.metadata.labels.env > 1",
    ]);
}

#[test]
fn what_is_no_boolean_matches_nothing() {
    not_matching(&[
        "1 + 1",
        "'true'",
        "managedCluster",
        "managedCluster.metadata.name",
        "null",
        "[true]",
    ]);
}

#[test]
fn errors_are_absorbed_by_the_other_side() {
    matching(&[
        "managedCluster.missing.x == 1 || true",
        "true || managedCluster.missing.x == 1",
        "!(managedCluster.missing.x == 1 && false)",
    ]);
    not_matching(&[
        "managedCluster.missing.x == 1 || false",
        "managedCluster.missing.x == 1 && true",
    ]);
}

#[test]
fn scores_are_lists_of_names_and_values_and_never_expire() {
    matching(&[
        "managedCluster.scores('s').exists(s, s.name == 'v' && s.value > 6)",
        "managedCluster.scores('s') == [{'name': 'v', 'value': 7}]",
    ]);
    not_matching(&["managedCluster.scores('s').exists(s, s.value > 7)"]);
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
fn json_in_claims_is_parsed() {
    matching(&[
        r#"managedCluster.status.clusterClaims.filter(c, c.name == "node")[0].value.parseJSON().count == 3"#,
        r#"managedCluster.status.clusterClaims.filter(c, c.name == "node")[0].value.parseJSON().count > 2"#,
        r#"managedCluster.status.clusterClaims.filter(c, c.name == "node")[0].value.parseJSON().labels.exists(l, l == "b")"#,
        r#"'[1, 2]'.parseJSON() == [1, 2]"#,
        r#"3 in '[1, 3]'.parseJSON()"#,
    ]);
}

#[test]
fn optional_values_are_chained() {
    matching(&[
        "managedCluster.?metadata.?labels.?nothing.orValue('x') == 'x'",
        "managedCluster.metadata.labels[?'env'].orValue('x') == 'prod'",
        "managedCluster.?nothing.deeper.hasValue() == false",
        "!managedCluster.?nothing.hasValue()",
        "managedCluster.metadata.labels[?'env'].optMap(e, e == 'prod').orValue(false)",
        "managedCluster.metadata.labels[?'none'].optMap(e, e == 'prod').orValue(true)",
        "optional.of(1).optFlatMap(x, optional.of(x + 1)).value() == 2",
        "optional.none() == managedCluster.?nothing",
        "[?optional.none(), 1] == [1]",
        "[?optional.of(1)] == [1]",
        "{?'a': optional.of(1)} == {'a': 1}",
        "{'a': optional.of(1)}['a'].hasValue()",
    ]);
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
fn kubernetes_libraries_are_there() {
    matching(&[
        "semver(managedCluster.status.clusterClaims[0].value).isGreaterThan(semver('1.29.0'))",
        "quantity(managedCluster.status.allocatable.cpu).isLessThan(quantity('5'))",
        "quantity('1') == quantity('1000m')",
        "ip('10.0.0.1').family() == 4",
        "ip.isCanonical('10.0.0.1')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "url('https://a.b/c').getHost() == 'a.b'",
        "'abc123'.find('[0-9]+') == '123'",
        "[3, 1].min() == 1 && [1, 2].sum() == 3 && [1, 2].isSorted()",
        "'a,b'.split(',').join('-') == 'a-b'",
        "'%s is %d'.format(['x', 1]) == 'x is 1'",
        "'ABC'.lowerAscii() == 'abc' && 'abc'.substring(1) == 'bc'",
        "!format.dns1123Label().validate('ok').hasValue()",
        "duration('1h') > duration('1m')",
        "timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026",
        "type(1) == int && type(managedCluster) == map && type('') != bytes",
        "dyn(1) == 1.0 && dyn(1) == 1u",
        "bool('true')",
    ]);
}

#[test]
fn what_is_wrong_for_certain_does_not_compile() {
    misconfigured(&[
        "",
        "managedCluster.",
        "managedCluster..metadata",
        "(",
        "1 +",
        "cluster.metadata.name == 'c1'",
        "managedCluster.metadata.name.nothing()",
        "nothing(managedCluster)",
        "managedCluster.metadata.labels.exists(1, true)",
        "managedCluster.metadata.labels.exists(k, other == k)",
        "1 + 'a'",
        "1 == 'a'",
        "'a' > 1",
        "!1",
        "1 && true",
        "true ? 1 : 'a'",
        "'abc'.substring('1')",
        "size(1)",
        "1.all(x, true)",
        "'abc'.metadata",
        "has(managedCluster)",
        "managedCluster.scores()",
        "managedCluster.scores(1)",
        "math.greatest(1, 2) == 2",
        "sets.contains([1], [1])",
        "base64.encode(b'a') == 'YQ=='",
        "google.protobuf.Int32Value{value: 1} == 1",
        "Foo{}",
        "quantity('1') == semver('1.0.0')",
        "[1].join()",
        "1 in 'abc'",
    ]);
}

/// The words are cel-go's (docs/systems/ocm-placement.md#cel-selectors); each names the type that was inferred.
#[test]
fn a_complaint_names_the_types_that_were_found() {
    let field = |name: &str| format!("type '{name}' does not support field selection");
    let fits_not = |function: &str, applied: &str| {
        format!("found no matching overload for '{function}' applied to '{applied}'")
    };
    for (expression, complaint) in [
        ("[1].x", field("list(int)")),
        ("b'a'.x", field("bytes")),
        ("1u.x", field("uint")),
        ("1.5.x", field("double")),
        ("null.x", field("null")),
        ("int.x", field("type")),
        ("duration('1s').x", field("duration")),
        ("{'a': 1}.a.x", field("int")),
        ("{'a': 1}[?'b'].x", field("int")),
        // An optional element counts as what is in it, and only where it is marked as one.
        ("[?optional.of(1)][0].x", field("int")),
        (
            "[optional.of([1])][0].orValue(1)",
            fits_not("orValue", "optional_type(list(int)).(int)"),
        ),
        ("{?'k': optional.of(1)}.k.x", field("int")),
        ("[1, 2].map(y, y)[0].x", field("int")),
        // What is the same in all overloads that fit is known, although the operands are not.
        ("(managedCluster.metadata.a < 1).x", field("bool")),
        // A parameter takes the first type that is not dynamic, and null agrees with what can be null.
        ("(true ? managedCluster.metadata.a : 1).x", field("int")),
        ("(true ? 1 : managedCluster.metadata.a).x", field("int")),
        ("(true ? [1] : [managedCluster.metadata.a])[0].x", field("int")),
        ("(true ? duration('1s') : null).x", field("duration")),
        ("(true ? null : duration('1s')).x", field("duration")),
        ("true ? null : 1", fits_not("_?_:_", "(bool, null, int)")),
        ("1 in {'a': 1}", fits_not("@in", "(int, map(string, int))")),
        (
            "{'a': 1} == {1: 1}",
            fits_not("_==_", "(map(string, int), map(int, int))"),
        ),
        (
            "{'a': 1} == {'a': 'b'}",
            fits_not("_==_", "(map(string, int), map(string, string))"),
        ),
        (
            "[[1]] == [['a']]",
            fits_not("_==_", "(list(list(int)), list(list(string)))"),
        ),
        ("'a'.startsWith(1)", fits_not("startsWith", "string.(int)")),
        ("[1].all(y, y == 'a')", fits_not("_==_", "(int, string)")),
        ("{'a': 1}.all(k, k == 1)", fits_not("_==_", "(string, int)")),
        (
            "1.all(y, true)",
            "expression of type 'int' cannot be range of a comprehension".to_owned(),
        ),
    ] {
        let said = run(expression).expect_err(expression);
        assert!(said.contains(&complaint), "{expression}: {said}");
    }
}

#[test]
fn what_may_have_any_type_compiles() {
    for expression in [
        "[1, 'a'][0].x",
        "{'a': 1, 'b': 'c'}.b.x",
        "{1: 1, 'b': 1}[managedCluster.metadata.a] == 1",
        "(managedCluster.metadata.a + managedCluster.metadata.b).x",
        "[managedCluster].map(c, c.metadata)[0].name.x",
        "[managedCluster.metadata.a] == ['a'] && [managedCluster.metadata.a] == [1]",
    ] {
        assert!(run(expression).is_ok(), "{expression}: {:?}", run(expression));
    }
}

/// A variable of a loop hides a library of its name.
#[test]
fn a_library_is_hidden_by_a_variable_of_its_name() {
    matching(&["['abc'].exists(optional, optional.contains('b'))"]);
    misconfigured(&["optional.contains('b')"]);
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
