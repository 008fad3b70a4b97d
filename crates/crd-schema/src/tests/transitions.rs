//! Rules about updates, as the API server's validator answers: kubernetes/kubernetes
//! staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go@v1.36.0.

use std::time::{Duration, Instant};

use apimachinery::Work;
use kube_json::{Value, json};

use super::schema;

const SAME: &str = "self == oldSelf";

fn with_rule(mut schema: Value, rule: &Value) -> Value {
    schema["x-kubernetes-validations"] = json!([rule]);
    schema
}

fn immutable(schema: Value) -> Value {
    with_rule(schema, &json!({"rule": SAME, "message": "immutable"}))
}

fn under_f(of: Value) -> Value {
    json!({"type": "object", "properties": {"f": of}})
}

/// What the schema of a field `f` says of an update from one value of it to another.
#[track_caller]
fn says(of: &Value, old: &Value, new: &Value) -> Vec<String> {
    let of = schema(under_f(of.clone()));
    assert_eq!(of.verify(), vec![]);
    let whole = |value: &Value| {
        if value == "absent" {
            json!({})
        } else {
            json!({"f": value})
        }
    };
    let violations = of.transitions(&whole(old), &whole(new), &Work::unlimited());
    violations.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn refuses(of: &Value, old: Value, new: Value, fields: &[&str]) {
    let found = says(of, &old, &new);
    let found: Vec<&str> = found.iter().map(|text| text.split(':').next().unwrap()).collect();
    assert_eq!(found, fields, "{of}\n{old} -> {new}");
}

#[test]
fn a_rule_runs_where_a_value_is_on_both_sides() {
    let of = immutable(json!({"type": "integer"}));
    assert_eq!(
        says(&of, &json!(1), &json!(2)),
        ["f: Invalid value: 2: immutable"]
    );
    for [old, new] in [
        [json!(1), json!(1)],
        [json!("absent"), json!(1)],
        [json!(1), json!("absent")],
        [json!(null), json!(1)],
    ] {
        refuses(&of, old, new, &[]);
    }
    // A value that is one only by its default is there.
    let with_default = immutable(json!({"type": "integer", "default": 1}));
    refuses(&with_default, json!("absent"), json!(2), &["f"]);
    refuses(&with_default, json!("absent"), json!(1), &[]);
}

/// What is wrong with the new value itself is said of the value, not of the step.
#[test]
fn other_rules_say_nothing_of_an_update() {
    let of = with_rule(
        json!({"type": "integer"}),
        &json!({"rule": "self > 5 && 'oldSelf' != ''"}),
    );
    refuses(&of, json!(1), json!(2), &[]);
}

#[test]
fn a_violation_has_the_old_value_at_the_place_that_it_names() {
    let rule = json!({"rule": "self.a == oldSelf.a", "message": "immutable", "fieldPath": ".a"});
    let mapping =
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
    let of = schema(under_f(with_rule(mapping, &rule)));
    let sides = [1, 2].map(|value| json!({"f": {"a": value, "b": value}}));
    let found = of.transitions(&sides[0], &sides[1], &Work::unlimited());
    assert_eq!(
        (found[0].pointer.as_str(), found[0].old.clone()),
        ("/f/a", Some(json!(1)))
    );
    assert!(of.has_transitions() && !schema(json!({"type": "object"})).has_transitions());
}

#[test]
fn items_are_found_again_by_their_keys_and_only_by_keys() {
    let item = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "port": {"type": "integer", "default": 80}, "v": immutable(json!({"type": "integer"}))}});
    let list = |keywords: Value| {
        let mut list = json!({"type": "array", "items": item});
        for (name, value) in keywords.as_object().unwrap() {
            list[name.as_str()] = value.clone();
        }
        list
    };
    let old = json!([{"name": "a", "v": 1}, {"name": "b", "v": 2}]);
    let moved = json!([{"name": "b", "v": 3}, {"name": "a", "v": 1}, {"name": "c", "v": 9}]);
    let by_name = list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}));
    refuses(&by_name, old.clone(), moved.clone(), &["f[0].v"]);
    // A default is a key like any other.
    let by_both =
        list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"]}));
    let explicit = json!([{"name": "a", "port": 80, "v": 5}, {"name": "b", "port": 81, "v": 5}]);
    refuses(&by_both, old.clone(), explicit, &["f[0].v"]);
    for atomic in [json!({}), json!({"x-kubernetes-list-type": "atomic"})] {
        refuses(&list(atomic), old.clone(), moved.clone(), &[]);
    }
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": immutable(json!({"type": "string"}))});
    refuses(&set, json!(["a", "b"]), json!(["a", "c"]), &[]);
    // Of items with one key, which only an old schema let in, the first counts.
    let twice = json!([{"name": "a", "v": 1}, {"name": "a", "v": 2}]);
    refuses(&by_name, twice.clone(), json!([{"name": "a", "v": 1}]), &[]);
    refuses(&by_name, twice, json!([{"name": "a", "v": 2}]), &["f[0].v"]);
}

#[test]
fn values_of_a_map_are_found_again_by_their_keys() {
    let map = json!({"type": "object", "additionalProperties": immutable(json!({"type": "string"}))});
    refuses(
        &map,
        json!({"a": "x", "b": "y"}),
        json!({"b": "z", "c": "w"}),
        &["f[b]"],
    );
}

#[test]
fn sets_and_maps_of_items_are_equal_in_any_order_and_other_lists_are_not() {
    let texts = |kind: &str| {
        immutable(json!({"type": "array", "x-kubernetes-list-type": kind, "items": {"type": "string"}}))
    };
    refuses(&texts("set"), json!(["a", "b"]), json!(["b", "a"]), &[]);
    refuses(&texts("set"), json!(["a", "b"]), json!(["b", "c"]), &["f"]);
    refuses(&texts("atomic"), json!(["a", "b"]), json!(["b", "a"]), &["f"]);
    let item = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}});
    let items = immutable(json!({"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"], "items": item}));
    let old = json!([{"name": "a", "set": ["x", "y"]}, {"name": "b"}]);
    refuses(
        &items,
        old.clone(),
        json!([{"name": "b"}, {"name": "a", "set": ["y", "x"]}]),
        &[],
    );
    refuses(
        &items,
        old,
        json!([{"name": "b"}, {"name": "a", "set": ["y"]}]),
        &["f"],
    );
}

#[test]
fn an_optional_old_value_is_an_optional() {
    let of = |rule: &str| {
        let rule = json!({"rule": rule, "optionalOldSelf": true, "message": "no"});
        with_rule(json!({"type": "integer"}), &rule)
    };
    let grows = of("!oldSelf.hasValue() || self >= oldSelf.value()");
    refuses(&grows, json!(1), json!(2), &[]);
    refuses(&grows, json!(2), json!(1), &["f"]);
    // Without an old value, the rule is one about the new value, which is judged apart.
    refuses(&of("oldSelf.hasValue()"), json!("absent"), json!(1), &[]);
}

#[test]
fn messages_and_reasons_are_those_of_other_rules() {
    let of = |more: Value| {
        let mut rule = json!({"rule": SAME, "message": "m"});
        for (name, value) in more.as_object().unwrap() {
            rule[name.as_str()] = value.clone();
        }
        with_rule(json!({"type": "integer"}), &rule)
    };
    let said = |more: Value| says(&of(more), &json!(1), &json!(2)).join("");
    assert_eq!(said(json!({"reason": "FieldValueForbidden"})), "f: Forbidden: m");
    let computed = json!({"messageExpression": "'from ' + string(oldSelf) + ' to ' + string(self)"});
    assert_eq!(said(computed), "f: Invalid value: 2: from 1 to 2");
}

/// A rule whose answer is an error refuses the update: an API server fails closed.
#[test]
fn a_rule_without_an_answer_refuses() {
    let mapping = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    let of = with_rule(mapping, &json!({"rule": "self.x == oldSelf.x", "message": "m"}));
    assert_eq!(
        says(&of, &json!({}), &json!({"x": 1})),
        ["f: Invalid value: \"object\": no such key: x evaluating rule: m"]
    );
}

#[test]
fn the_status_is_not_ours() {
    let status = under_f(immutable(json!({"type": "integer"})));
    let (of, _) =
        crate::Schema::from_resource(&json!({"type": "object", "properties": {"status": status}}), true);
    let sides = [1, 2].map(|value| json!({"status": {"f": value}}));
    assert_eq!(of.transitions(&sides[0], &sides[1], &Work::unlimited()), vec![]);
}

/// Thousands of items of one key would each be compared with a large one.
#[test]
fn work_grows_with_the_sizes_and_not_with_their_product() {
    let inner = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {"type": "integer"}, "v": immutable(json!({"type": "integer"}))}}});
    let of = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "properties": {"name": {"type": "string"}, "l": inner}}});
    let list = |of: &dyn Fn(i64) -> Value| Value::from((0..20_000).map(of).collect::<Vec<_>>());
    let numbers = list(&|k| json!({"k": k, "v": 1}));
    let old = json!({"f": [{"name": "a", "l": numbers}]});
    let new = json!({"f": list(&|_| json!({"name": "a", "l": [{"k": 1, "v": 2}]}))});
    let start = Instant::now();
    let found = schema(under_f(of)).transitions(&old, &new, &Work::default());
    assert_eq!(found.len(), 1);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// An API server stops as well, and refuses the object.
#[test]
fn rules_of_an_update_share_the_cost_limit_of_an_object() {
    let rule = json!({"rule": "self.all(x, oldSelf.all(y, self.exists(z, x + y + z > 0)))", "message": "m"});
    let of = with_rule(json!({"type": "array", "items": {"type": "integer"}}), &rule);
    let list = Value::from((1..2_000).collect::<Vec<i64>>());
    let found = says(&of, &list, &list).join("");
    assert!(
        found.contains("no further validation rules will be run"),
        "{found}"
    );
}
