//! CustomResourceDefinitions and Placements of a stranger that would take hours or gigabytes: each ends with a finding that
//! says why, and nothing is written.

use kube_json::{Value, json};

use crate::scratch::{Run, Scratch};

/// A definition of the kind Bomb with this `spec`, and Bombs.
fn bombs(spec: Value, rules: Value, objects: &[Value]) -> String {
    let mut spec = spec;
    spec["x-kubernetes-validations"] = rules;
    spec["properties"]["targetRefs"] = json!({"type": "array", "items": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "bombs.example.com"},
        "spec": {
            "group": "example.com", "names": {"kind": "Bomb", "plural": "bombs"}, "scope": "Namespaced",
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}],
        },
    });
    let objects = objects.iter().enumerate().map(|(index, spec)| {
        let mut spec = spec.clone();
        spec["targetRefs"] =
            json!([{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "prod-web"}]);
        json!({"apiVersion": "example.com/v1", "kind": "Bomb",
            "metadata": {"name": format!("b{index}"), "namespace": "gateways"}, "spec": spec})
    });
    let documents: Vec<String> = std::iter::once(definition)
        .chain(objects)
        .map(|document| format!("---\n{document}\n"))
        .collect();
    documents.concat()
}

fn list_and_text() -> Value {
    json!({"type": "object", "properties": {
        "a": {"type": "array", "items": {"type": "integer"}}, "s": {"type": "string"}}})
}

/// The text of 40 letters, each of which becomes 40, five times.
fn grown(text: &str) -> String {
    format!(
        "{text}{}",
        format!(".replace('a', '{}')", "a".repeat(40)).repeat(5)
    )
}

/// Renders the worked example with this file, which must be refused with these words.
#[track_caller]
fn refused(file: &str, code: &str, says: &str) -> Run {
    let scratch = Scratch::with_worked_example();
    scratch.write("hub/bombs.yaml", file);
    // Rendering uses them.
    scratch.edit(
        "hub/class.yaml",
        "\"policiesToSync\": [",
        "\"policiesToSync\": [{\"group\": \"example.com\", \"version\": \"v1\", \"resource\": \"bombs\"}, ",
    );
    let run = scratch.run(&["render", "hub", "-o", "rendered"]);
    run.exits(3)
        .says(&format!("error[{code}]"))
        .says("--> hub/bombs.yaml:")
        .says(says)
        .says("nothing was written");
    assert!(!scratch.exists("rendered"), "something was written");
    run
}

#[test]
fn a_rule_that_grows_a_text() {
    let file = bombs(
        list_and_text(),
        json!([{"rule": format!("{}.size() > 0", grown("self.s"))}]),
        &[json!({"s": "a".repeat(40)})],
    );
    refused(
        &file,
        "object/schema",
        "no further validation rules will be run due to more memory than a rule may use",
    );
}

#[test]
fn a_rule_of_nested_loops() {
    let rule = "self.a.all(x, self.a.all(y, self.a.all(z, self.a.all(w, w > 0))))";
    let file = bombs(
        list_and_text(),
        json!([{"rule": rule}]),
        &[json!({"a": vec![1; 200]})],
    );
    refused(
        &file,
        "object/schema",
        "no further validation rules will be run due to call cost exceeds limit for rule: self.a.all",
    );
}

#[test]
fn rules_that_each_cost_what_a_call_may() {
    let rule = json!({"rule": "self.a.all(x, self.a.all(y, self.a[0] > 0))"});
    let file = bombs(
        list_and_text(),
        json!(vec![rule; 100]),
        &[json!({"a": vec![1; 200]})],
    );
    refused(
        &file,
        "object/schema",
        "validation failed due to running out of cost budget, no further validation rules will be run",
    );
}

#[test]
fn definitions_whose_work_multiplies_refuse_the_run_and_say_nothing_of_objects() {
    let mut node = json!({"type": "string", "default": "text"});
    for name in ["d", "c", "b", "a"] {
        let items: Vec<Value> = vec![json!({}); 100];
        node = json!({"type": "array", "default": items, "items": {"type": "object", "properties": {name: node}}});
    }
    let spec = json!({"type": "object", "properties": {"x": node, "n": {"type": "integer"}}});
    // The second one is wrong, whatever is said of the first.
    let file = bombs(
        spec,
        json!([{"rule": "true"}]),
        &[json!({}), json!({"n": "no number"})],
    );
    let run = refused(
        &file,
        "input/too-costly",
        "evaluating the schemas, CEL rules, and patterns of the CustomResourceDefinitions takes more work than a run \
         allows, so no object is checked against them",
    );
    run.says("help: remove the CustomResourceDefinition")
        .does_not_say("no number");
}

#[test]
fn patterns_that_count() {
    let pattern = |index: usize| {
        let parts = (0..45).map(|part| format!("[a-{}]{{1,{}}}", char::from(b'b' + part % 20), 900 + index));
        parts.collect::<String>()
    };
    let properties = (0..60).map(|index| {
        (
            format!("p{index}"),
            json!({"type": "string", "pattern": pattern(index)}),
        )
    });
    let spec = json!({"type": "object", "properties": properties.collect::<kube_json::Map>()});
    let object = (0..60).map(|index| (format!("p{index}"), json!("a")));
    let file = bombs(
        spec,
        json!([{"rule": "true"}]),
        &[Value::Object(object.collect())],
    );
    refused(&file, "input/too-costly", "takes more work than a run allows");
}

#[test]
fn a_chain_of_fields_that_is_deeper_than_any_stack() {
    for chain in [".a", "[0]", ".?a", "+1"] {
        let rule = format!("self{} == 1", chain.repeat(3_900 / chain.len()));
        let rules = json!([{"rule": rule, "message": "deep"}]);
        let file = bombs(list_and_text(), rules, &[json!({"s": "a"})]);
        refused(
            &file,
            "object/schema",
            "expression recursion limit exceeded: 250 evaluating rule: deep",
        );
    }
}

/// A Placement in the file `hub/placement.yaml` with this expression, and a cluster.
fn placed(expression: &str) -> Run {
    let scratch = Scratch::with_worked_example();
    let documents = [
        json!({"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
            "metadata": {"name": "eu-1", "labels": {"cluster.open-cluster-management.io/clusterset": "all",
                "long": "a".repeat(40)}},
            "spec": {"hubAcceptsClient": true}}),
        json!({"apiVersion": "cluster.open-cluster-management.io/v1beta2", "kind": "ManagedClusterSet",
            "metadata": {"name": "all"}}),
        json!({"apiVersion": "cluster.open-cluster-management.io/v1beta2", "kind": "ManagedClusterSetBinding",
            "metadata": {"name": "all", "namespace": "gateways"}, "spec": {"clusterSet": "all"}}),
        json!({"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement",
            "metadata": {"name": "bomb", "namespace": "gateways"},
            "spec": {"predicates": [{"requiredClusterSelector": {"celSelector": {"celExpressions": [expression]}}}]}}),
    ];
    let documents: Vec<String> = documents
        .iter()
        .map(|document| format!("---\n{document}\n"))
        .collect();
    scratch.write("hub/placement.yaml", &documents.concat());
    scratch.run(&["placement", "hub"])
}

#[test]
fn an_expression_of_a_placement_that_grows_a_text() {
    let run = placed(&format!(
        "{}.size() > 0",
        grown("managedCluster.metadata.labels['long']")
    ));
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(
        said.contains("an expression uses more memory than allowed"),
        "{said}"
    );
    assert!(said.contains("hub/placement.yaml:"), "{said}");
    assert_ne!(run.status, 0, "{said}");
}

#[test]
fn an_expression_of_a_placement_of_nested_loops_matches_nothing_as_on_a_hub() {
    let mut expression = "x == x".to_owned();
    for name in ["a", "b", "c", "d"] {
        let list: Vec<String> = (0..60).map(|number| number.to_string()).collect();
        expression = format!("[{}].all({name}, {expression})", list.join(","));
    }
    let run = placed(&expression.replace("x == x", "a == a"));
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(
        !said.contains("holds more memory") && !said.contains("more work"),
        "{said}"
    );
    assert!(!run.stdout.contains("eu-1"), "{said}");
}
