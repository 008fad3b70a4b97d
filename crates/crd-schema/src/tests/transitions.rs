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
