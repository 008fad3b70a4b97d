//! CEL rules, each with a value that follows it and one that breaks it.

use kube_json::{Value, json};

use super::{schema, texts};
use crate::Schema;

/// What one rule says of `self`.
fn verdict(rule: &str, value: &Value) -> Vec<String> {
    let of = schema(json!({"x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-validations": [{"rule": rule, "message": "broken"}]}));
    assert_eq!(of.verify(), vec![], "{rule}");
    texts(&of, value)
}

fn holds(rule: &str, value: &Value) {
    assert_eq!(verdict(rule, value), Vec::<String>::new(), "{rule} {value}");
}

#[test]
fn nested_alternatives_cost_no_more_than_their_number() {
    let mut rule = "self.?a.orValue(1)".to_owned();
    for _ in 0..20 {
        rule = format!("optional.of({rule}).orValue(1)");
    }
    holds(&format!("{rule} == 1"), &json!({}));
}

#[test]
fn a_rule_that_does_not_compile_is_the_schemas_problem_alone() {
    let (of, problems) = Schema::from_value(&json!({"x-kubernetes-validations": [
        {"rule": "self.("}, {"rule": ""}, {"rule": "true", "messageExpression": "'"}, {"rule": 7}, {"rule": "true"},
    ]}));
    let at = |problems: Vec<crate::SchemaProblem>| -> Vec<String> {
        problems.into_iter().map(|problem| problem.pointer).collect()
    };
    assert_eq!(
        at(problems),
        ["/x-kubernetes-validations/1", "/x-kubernetes-validations/3"]
    );
    assert_eq!(
        at(of.verify()),
        ["/x-kubernetes-validations/0", "/x-kubernetes-validations/2"]
    );
    assert_eq!(texts(&of, &json!({})), Vec::<String>::new());
}

/// What rules say of `{"a": 200 numbers, "s": 40 letters}` that cost or hold more than they may.
fn said_of_bombs(rules: Value) -> Vec<String> {
    let of = schema(json!({"type": "object", "properties": {
        "a": {"type": "array", "items": {"type": "integer"}}, "s": {"type": "string"}},
        "x-kubernetes-validations": rules}));
    assert_eq!(of.verify(), vec![]);
    texts(&of, &json!({"a": vec![1; 200], "s": "a".repeat(40)}))
}

const FOUR_LOOPS: &str = "self.a.all(x, self.a.all(y, self.a.all(z, self.a.all(w, w > 0))))";

#[test]
fn a_rule_that_costs_more_than_a_call_may_is_refused_and_no_rule_follows() {
    assert_eq!(
        said_of_bombs(json!([{"rule": "true"}, {"rule": FOUR_LOOPS}, {"rule": "false"}])),
        [format!(
            "Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be \
             run due to call cost exceeds limit for rule: {FOUR_LOOPS}"
        )]
    );
    assert_eq!(
        said_of_bombs(json!([{"rule": FOUR_LOOPS, "message": "be small "}])),
        [
            "Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be \
             run due to call cost exceeds limit for rule: be small"
        ]
    );
}

#[test]
fn the_rules_of_an_object_have_one_budget_and_none_follows_once_it_is_gone() {
    // 200 * 200 turns of six, and a little: forty of them fit.
    let dear = "self.a.all(x, self.a.all(y, self.a[0] > 0))";
    let out = "Invalid value: \"object\": validation failed due to running out of cost budget, no further validation rules \
               will be run";
    let rules = |count: usize| {
        let rules: Vec<Value> = vec![json!({"rule": dear}); count];
        said_of_bombs(json!(rules))
    };
    assert_eq!(rules(20), Vec::<String>::new());
    assert_eq!(rules(100), [out]);
    // Other levels of the object have no other one.
    let below = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}},
        "b": {"type": "object", "properties": {"c": {"type": "object", "x-kubernetes-validations": [{"rule": "false"}]}}}},
        "x-kubernetes-validations": vec![json!({"rule": dear}); 100]});
    let value = json!({"a": vec![1; 200], "b": {"c": {}}});
    assert_eq!(texts(&schema(below), &value), [out]);
}

#[test]
fn a_rule_that_would_write_more_than_it_may_hold_is_refused_before_it_does() {
    let grown = format!(
        "self.s{}",
        format!(".replace('a', '{}')", "a".repeat(40)).repeat(5)
    );
    for rule in [
        format!("{grown}.size() > 0"),
        format!("self.a.all(x, {grown} != '')"),
    ] {
        assert_eq!(
            said_of_bombs(json!([{"rule": rule, "message": "grown"}, {"rule": "false"}])),
            [
                "Invalid value: \"object\": no further validation rules will be run due to more memory than a rule may use for \
                 rule: grown"
            ]
        );
    }
    assert_eq!(
        said_of_bombs(
            json!([{"rule": "false", "messageExpression": grown, "fieldPath": ".s"}, {"rule": "false"}])
        ),
        [format!(
            "s: Invalid value: \"object\": no further validation rules will be run due to more memory than an expression may use for messageExpression: {grown:?}"
        )]
    );
}

#[test]
fn a_message_has_the_budget_of_its_object() {
    assert_eq!(
        said_of_bombs(
            json!([{"rule": "false", "messageExpression": format!("{FOUR_LOOPS} ? 'a' : 'b'")}, {"rule": "false"}])
        ),
        [format!(
            "Invalid value: \"object\": no further validation rules will be run due to call cost exceeds limit for \
             messageExpression: {:?}",
            format!("{FOUR_LOOPS} ? 'a' : 'b'")
        )]
    );
    let dear = "self.a.all(x, self.a.all(y, self.a[0] > 0)) ? 'dear' : ''";
    let rules: Vec<Value> = vec![json!({"rule": "false", "messageExpression": dear}); 100];
    let said = said_of_bombs(json!(rules));
    assert_eq!(said.first().map(String::as_str), Some("Invalid value: dear"));
    assert_eq!(
        said.last().map(String::as_str),
        Some(
            "Invalid value: \"object\": messageExpression evaluation failed due to running out of cost budget, no further \
             validation rules will be run"
        )
    );
    assert!((20..100).contains(&said.len()), "{}", said.len());
    // One that is longer than a server says is none.
    let long = format!("'{}'", "a".repeat(5 * 1024 + 1));
    assert_eq!(
        said_of_bombs(json!([{"rule": "false", "message": "short", "messageExpression": long}])),
        ["Invalid value: short"]
    );
}
