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

fn breaks(rule: &str, value: &Value) {
    assert_eq!(verdict(rule, value), ["Invalid value: broken"], "{rule} {value}");
}

#[test]
fn rules_run_after_the_structure_is_right_with_exact_pointers() {
    let of = schema(
        json!({"type": "object", "properties": {"list": {"type": "array", "items": {
            "type": "object",
            "properties": {"a.b": {"type": "integer"}, "since": {"type": "string", "format": "date-time"},
                           "map": {"type": "object", "additionalProperties": {"type": "string"}}},
            "x-kubernetes-validations": [
                {"rule": "!has(self.a__dot__b) || self.a__dot__b > 1", "message": "too small", "fieldPath": "['a.b']"},
                {"rule": "!has(self.since) || self.since > timestamp('2020-01-01T00:00:00Z')", "message": "too old"},
                {"rule": "!has(self.map) || self.map.all(k, k != 'x.y')", "messageExpression": "'bad key ' + 'x.y'"},
            ],
        }}}}),
    );
    let check = |item: Value| texts(&of, &json!({"list": [{}, item]}));
    assert_eq!(
        check(json!({"a.b": 2, "since": "2026-01-01T00:00:00Z", "map": {"x": "y"}})),
        Vec::<String>::new()
    );
    assert_eq!(
        check(json!({"since": "2010-01-01T00:00:00Z"})),
        ["list[1]: Invalid value: too old"]
    );
    assert_eq!(
        check(json!({"map": {"x.y": "z"}})),
        ["list[1]: Invalid value: bad key x.y"]
    );
    assert!(check(json!({"a.b": 1}))[0].contains("too small"));
    // A wrong type keeps the rules from running.
    assert!(
        !check(json!({"a.b": "1", "map": {"x.y": "z"}}))
            .iter()
            .any(|text| text.contains("bad key"))
    );
}

#[test]
fn an_optional_field_that_is_missing_is_no_value() {
    let rule = "!has(self.?jwt.accessToken) || !self.?cookies.?disable.orValue(false)";
    holds(rule, &json!({}));
    holds(rule, &json!({"jwt": {}}));
    holds(rule, &json!({"jwt": {"accessToken": {}}}));
    holds(rule, &json!({"cookies": {"disable": true}}));
    holds(rule, &json!({"jwt": {"accessToken": {}}, "cookies": {}}));
    holds(
        rule,
        &json!({"jwt": {"accessToken": {}}, "cookies": {"disable": false}}),
    );
    breaks(
        rule,
        &json!({"jwt": {"accessToken": {}}, "cookies": {"disable": true}}),
    );
}

#[test]
fn what_is_selected_from_an_optional_value_is_optional_too() {
    holds("self.?a.b.c.orValue(1) == 1", &json!({}));
    holds("self.?a.b.c.orValue(1) == 1", &json!({"a": {"b": {}}}));
    holds("self.?a.b.c.orValue(1) == 2", &json!({"a": {"b": {"c": 2}}}));
    holds("!has(self.?a.b.c)", &json!({"a": {}}));
    holds("has(self.?a.b.c)", &json!({"a": {"b": {"c": null}}}));
    holds("self.?l[1].orValue('x') == 'b'", &json!({"l": ["a", "b"]}));
    holds("self.?l[?5].orValue('x') == 'x'", &json!({"l": ["a", "b"]}));
    breaks("self.?a.hasValue()", &json!({}));
    breaks("self.?a.value() == 1", &json!({"a": 2}));
}

#[test]
fn optional_values_are_made_chosen_and_mapped() {
    holds("optional.none().or(optional.of(1)).value() == 1", &json!({}));
    holds("self.?a.or(self.?b).orValue(3) == 2", &json!({"b": 2}));
    holds("self.?a.or(self.?b).x.orValue(3) == 4", &json!({"b": {"x": 4}}));
    holds("optional.ofNonZeroValue('').orValue('d') == 'd'", &json!({}));
    holds("self.?a.optMap(x, x + 1).orValue(0) == 2", &json!({"a": 1}));
    holds("self.?a.optMap(x, x + 1).orValue(0) == 0", &json!({}));
    holds(
        "self.?a.optFlatMap(x, x.?b).orValue(0) == 5",
        &json!({"a": {"b": 5}}),
    );
    holds("[?self.?a, ?self.?b].size() == 1", &json!({"a": 1}));
    holds("{?'k': self.?a}.size() == 0", &json!({}));
    holds(
        "self.?a.?b.orValue('').size() == 0 && self.?l.orValue([]).all(x, x.?n.orValue(1) > 0)",
        &json!({"l": [{}, {"n": 2}]}),
    );
}

#[test]
fn an_alternative_is_not_evaluated_where_a_value_is_there() {
    holds("self.?a.orValue(self.missing) == 1", &json!({"a": 1}));
    holds(
        "self.?a.or(optional.of(self.missing)).value() == 1",
        &json!({"a": 1}),
    );
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
fn creation_has_no_old_self() {
    let rules = |entry: Value| {
        let of = schema(json!({"type": "object", "properties": {"a": {"type": "integer"}},
            "x-kubernetes-validations": [entry]}));
        assert_eq!(of.verify(), vec![]);
        texts(&of, &json!({"a": 1}))
    };
    assert_eq!(rules(json!({"rule": "self.a > oldSelf.a"})), Vec::<String>::new());
    let optional = |rule: &str| rules(json!({"rule": rule, "optionalOldSelf": true, "message": "broken"}));
    assert_eq!(
        optional("!oldSelf.hasValue() || self.a > oldSelf.value().a"),
        Vec::<String>::new()
    );
    assert_eq!(optional("oldSelf.a.orValue(0) == 0"), Vec::<String>::new());
    assert_eq!(optional("oldSelf.hasValue()"), ["Invalid value: broken"]);
}

#[test]
fn one_underscore_in_a_name_stands_for_itself() {
    let of = schema(
        json!({"type": "object", "properties": {"a_b": {"type": "integer"}, "c__d": {"type": "integer"},
        "in": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.a_b + self.c__underscores__d + self.__in__ == 6"}]}),
    );
    assert_eq!(
        texts(&of, &json!({"a_b": 1, "c__d": 2, "in": 3})),
        Vec::<String>::new()
    );
}

#[test]
fn times_durations_and_bytes_have_their_own_types() {
    let of = schema(
        json!({"type": "object", "properties": {"since": {"type": "string", "format": "date-time"},
        "wait": {"type": "string", "format": "duration"}, "data": {"type": "string", "format": "byte"}},
        "x-kubernetes-validations": [
            {"rule": "self.since.getFullYear() == 2026"},
            {"rule": "self.wait > duration('1m')"},
            {"rule": "self.data.size() == 3"},
        ]}),
    );
    let value = json!({"since": "2026-01-02T03:04:05Z", "wait": "1h30m", "data": "YWJj"});
    assert_eq!(texts(&of, &value), Vec::<String>::new());
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

#[test]
fn a_rule_without_an_answer_says_why_and_which_rule_it_is() {
    let said = |rule: &str, message: Option<&str>, value: Value| {
        let of = schema(json!({"type": "object", "properties": {
            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "x-kubernetes-validations": [{"rule": rule, "message": message}]}}}));
        assert_eq!(of.verify(), vec![], "{rule}");
        texts(&of, &json!({"spec": value}))
    };
    // Also where the value is a function's argument, whatever the function.
    for rule in [
        "self.a == 1",
        "size(self.a) == 1",
        "string(self.a) == '1'",
        "int(self.a) == 1",
    ] {
        assert_eq!(
            said(rule, Some(" a must be one \n"), json!({})),
            ["spec: Invalid value: \"object\": no such key: a evaluating rule: a must be one"],
            "{rule}"
        );
    }
    assert_eq!(
        said("1 / self.a == 1", None, json!({"a": 0})),
        ["spec: Invalid value: \"object\": division by zero evaluating rule: 1 / self.a == 1"]
    );
    assert_eq!(
        said("self.a < 1", Some("a must be small"), json!({"a": []})),
        [
            "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or \
          macro signature for rule: a must be small"
        ]
    );
}

#[test]
fn a_computed_message_of_no_text_or_of_several_lines_is_none() {
    for computed in ["''", "' '", "'a\\nb'", "self.missing"] {
        let of = schema(
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "x-kubernetes-validations": [{"rule": "false", "message": "fixed", "messageExpression": computed}]}),
        );
        assert_eq!(texts(&of, &json!({})), ["Invalid value: fixed"], "{computed}");
    }
}

#[test]
fn durations_are_gos_and_nothing_follows_the_last_unit() {
    holds(
        "duration(self.d) == duration('1h') + duration('30m')",
        &json!({"d": "1h30m"}),
    );
    holds("duration(self.d) < duration('0s')", &json!({"d": "-1.5us"}));
    for text in ["7s\u{e9}", "7sx", "7s ", "7", "s", "1d", "9999999999h"] {
        assert_eq!(
            verdict("duration(self.d) > duration('1s')", &json!({"d": text})),
            [
                "Invalid value: \"\": type conversion error from 'string' to 'google.protobuf.Duration' evaluating rule: broken"
            ],
            "{text}"
        );
    }
}

#[test]
fn a_broken_rule_shows_scalars_and_says_its_reason() {
    let said = |kind: &str, value: Value, more: Value| {
        let mut rule = json!({"rule": "false", "message": "broken"});
        rule.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let of = schema(json!({"type": "object", "additionalProperties": {"type": kind,
            "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [rule]}}));
        texts(&of, &json!({"k": value})).remove(0)
    };
    for (kind, value, shown) in [
        ("string", json!("10"), ": \"10\""),
        ("integer", json!(10), ": 10"),
        ("number", json!(1.5), ": 1.5"),
        ("boolean", json!(true), ": true"),
        ("object", json!({"a": 1}), ""),
        ("array", json!([1]), ""),
    ] {
        let of = |reason: Value| said(kind, value.clone(), reason);
        assert_eq!(of(json!({})), format!("[k]: Invalid value{shown}: broken"));
        assert_eq!(
            of(json!({"reason": "FieldValueInvalid"})),
            format!("[k]: Invalid value{shown}: broken")
        );
        assert_eq!(
            of(json!({"reason": "FieldValueForbidden"})),
            "[k]: Forbidden: broken"
        );
        assert_eq!(
            of(json!({"reason": "FieldValueRequired"})),
            "[k]: Required value: broken"
        );
        assert_eq!(
            of(json!({"reason": "FieldValueDuplicate"})),
            format!("[k]: Duplicate value{shown}")
        );
        assert_eq!(
            of(json!({"rule": "1 / 0 == 1"})),
            format!("[k]: Invalid value: {kind:?}: division by zero evaluating rule: broken")
        );
    }
    let of = schema(
        json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"},
        "x-kubernetes-validations": [{"rule": "false", "message": "broken", "fieldPath": ".a"}]}}}),
    );
    assert_eq!(
        texts(&of, &json!({"m": {"a": "b"}})),
        ["m[a]: Invalid value: broken"]
    );
}

#[test]
fn all_of_cels_optional_values_compile_and_evaluate() {
    let value = json!({"a": {"b": [1, 2]}, "m": {"k": {"n": 3}}, "s": "x"});
    for rule in [
        "self.?a.?b[?1].orValue(0) == 2",
        "self.a[?'b'].hasValue() && !self.a[?'c'].hasValue()",
        "self.?m[?'k'].?n.optMap(n, n + 1).orValue(0) == 4",
        "self.?m.k.n.optFlatMap(n, n > 2 ? optional.of('big') : optional.none()).orValue('small') == 'big'",
        "optional.of(self.s).or(self.?t).value() == 'x'",
        "[?self.?s, ?self.?t] == ['x']",
        "{?'s': self.?s, ?'t': self.?t} == {'s': 'x'}",
        "!has(self.t) || self.?t.orValue('') != ''",
        "!optional.ofNonZeroValue(self.?n.orValue(0)).hasValue()",
        "optional.none() == optional.none() && self.?t != optional.of(self.s) && self.?s == optional.of('x')",
        "!(self.?s == 'x') && optional.of(1) != optional.of(2)",
        "self.?a.?b.orValue([]).exists(x, x == 2)",
        "self.?a == optional.of(self.a)",
        "size(self.?a.?b.orValue([])) == 2",
    ] {
        holds(rule, &value);
    }
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
