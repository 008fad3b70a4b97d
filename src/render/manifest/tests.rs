//! The rules of manifests; condition rules are evaluated as CEL.

use kube_cel::cel::{Context, Program, Value as Cel, to_value};
use kube_json::{Value, json};

use super::*;
use crate::diagnostic::{DocumentId, Findings, SourceId};
use crate::object::{Object, Origin};

/// What the agent would make of a rule: True where every expression is true, False otherwise, also where one fails.
fn says(reported: Reported, condition: &str, object: &Value) -> bool {
    let rules = condition_rules(reported, true).expect("the main manifest has rules");
    let rules = rules.as_array().expect("a list");
    let rule = rules
        .iter()
        .find(|rule| rule["condition"] == condition)
        .expect("a rule");
    let mut context = Context::default();
    context.add_variable_from_value("object", to_value(object).expect("a value"));
    rule["celExpressions"]
        .as_array()
        .expect("a list")
        .iter()
        .all(|expression| {
            let program = Program::compile(expression.as_str().expect("text")).expect("CEL");
            matches!(program.execute(&context), Ok(Cel::Bool(true)))
        })
}

/// An object of generation 2 with this status.
fn with_status(status: Value) -> Value {
    json!({"metadata": {"name": "a", "generation": 2}, "status": status})
}

fn condition(kind: &str, status: &str, generation: Option<i64>) -> Value {
    let mut condition = json!({"type": kind, "status": status, "reason": "R"});
    if let Some(generation) = generation {
        condition["observedGeneration"] = json!(generation);
    }
    condition
}

/// Progressing, Degraded, Available.
fn all(reported: Reported, object: &Value) -> [bool; 3] {
    ["Progressing", "Degraded", "Available"].map(|condition| says(reported, condition, object))
}

const WAITING: [bool; 3] = [true, false, false];
const READY: [bool; 3] = [false, false, true];
const REFUSED: [bool; 3] = [true, true, false];

#[test]
fn an_object_that_nobody_has_reported_on_as_it_is_now_is_waited_for() {
    for reported in [
        Reported::Conditions(&["Accepted", "Programmed"]),
        Reported::ConditionsAtOnce(&["Accepted"]),
        Reported::OfAncestors(&["Accepted"]),
    ] {
        for object in [
            json!({"metadata": {"name": "a", "generation": 2}}),
            with_status(json!({})),
            with_status(json!({"conditions": [], "ancestors": []})),
            with_status(json!({"ancestors": [{"controllerName": "c"}]})),
            with_status(json!({
                "conditions": [condition("Accepted", "True", Some(1)), condition("Programmed", "True", Some(1))],
                "ancestors": [{"conditions": [condition("Accepted", "True", Some(1))]}],
            })),
            with_status(json!({
                "conditions": [condition("Accepted", "False", Some(1))],
                "ancestors": [{"conditions": [condition("Accepted", "False", Some(1))]}],
            })),
        ] {
            assert_eq!(all(reported, &object), WAITING, "{reported:?} {object}");
        }
    }
}

#[test]
fn a_gateway_is_ready_when_it_is_accepted_and_programmed_and_degraded_when_it_is_one_of_both_not() {
    let gateway = Reported::Conditions(&["Accepted", "Programmed"]);
    let judged = |accepted, programmed| {
        let conditions = [
            condition("Accepted", accepted, Some(2)),
            condition("Programmed", programmed, Some(2)),
        ];
        all(gateway, &with_status(json!({"conditions": conditions})))
    };
    assert_eq!(judged("True", "True"), READY);
    assert_eq!(judged("True", "Unknown"), WAITING);
    assert_eq!(judged("True", "False"), REFUSED);
    assert_eq!(judged("False", "Unknown"), REFUSED);
}

#[test]
fn a_policy_whose_status_says_once_which_generation_it_is_of_is_judged_by_that() {
    let policy = Reported::ConditionsAtOnce(&["Accepted"]);
    let judged = |seen: i64, status| {
        let conditions = [condition("Accepted", status, None)];
        all(
            policy,
            &with_status(json!({"observedGeneration": seen, "conditions": conditions})),
        )
    };
    assert_eq!(judged(2, "True"), READY);
    assert_eq!(judged(2, "False"), REFUSED);
    assert_eq!(judged(1, "True"), WAITING);
    assert_eq!(judged(1, "False"), WAITING);
}

#[test]
fn a_policy_with_ancestors_is_ready_when_each_accepts_it() {
    let policy = Reported::OfAncestors(&["Accepted"]);
    let judged = |statuses: &[&str]| {
        let ancestor = |status: &&str| json!({"conditions": [condition("Accepted", status, Some(2))]});
        let ancestors: Vec<Value> = statuses.iter().map(ancestor).collect();
        all(policy, &with_status(json!({"ancestors": ancestors})))
    };
    assert_eq!(judged(&["True", "True"]), READY);
    assert_eq!(judged(&["True", "False"]), REFUSED);
}

#[test]
fn only_the_main_manifest_says_degraded_and_what_nobody_reports_on_is_never_waited_for() {
    let conditions = |reported, is_main| {
        let rules = condition_rules(reported, is_main);
        let rules = rules.as_ref().and_then(Value::as_array).into_iter().flatten();
        rules
            .filter_map(|rule| rule["condition"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let accepted = Reported::Conditions(&["Accepted"]);
    assert_eq!(
        conditions(accepted, true),
        ["Progressing", "Degraded", "Available"]
    );
    assert_eq!(conditions(accepted, false), ["Progressing"]);
    assert_eq!(conditions(Reported::Nothing, true), ["Progressing"]);
    assert_eq!(conditions(Reported::Nothing, false), Vec::<String>::new());
    assert!(!says(Reported::Nothing, "Progressing", &with_status(json!({}))));
}

#[test]
fn a_gateway_has_the_rules_of_its_own_listeners_whatever_gateway_was_before_it() {
    let rules = |listeners: &[&str], raw_feedback| {
        let listener = |name| json!({"name": name, "port": 80, "protocol": "HTTP"});
        let listeners: Value = listeners.iter().map(listener).collect();
        let value = json!({
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"gatewayClassName": "mc", "listeners": listeners},
        });
        let document = DocumentId {
            source: SourceId(0),
            index: 0,
        };
        let pointer = String::new();
        let object = Object::from_value(value, Origin { document, pointer });
        let gateway = Gateway::read(&object, &mut Findings::new()).expect("a Gateway");
        kube_yaml::write_document(&gateway_rules(&gateway, raw_feedback).expect("rules"))
    };
    let http = rules(&["http"], false);
    assert!(http.contains("- name: listenerhttpAttachedRoutes\n"), "{http}");
    assert!(
        http.contains("- name: addressValue\n") && !http.contains("https"),
        "{http}"
    );
    assert_eq!(rules(&["http"], false), http);
    let both = rules(&["http", "https"], false);
    assert!(both.contains("- name: listenerhttpsAttachedRoutes\n"), "{both}");
    let raw = rules(&["http", "https"], true);
    assert!(raw.contains("- name: addresses\n"), "{raw}");
    assert_eq!(rules(&["http"], false), http);
}
