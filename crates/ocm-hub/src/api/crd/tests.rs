//! Reading definitions, and the findings about broken ones.

#[cfg(feature = "real-crds")]
mod real_crds;

use kube_json::{Value, json};

use super::*;
use crate::diagnostic::Place;
use crate::tests::object;

fn messages(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|finding| finding.message.to_string())
        .collect()
}

fn crd_value(spec: Value) -> Object {
    object(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": KIND,
        "metadata": {"name": "tests.example.com"}, "spec": spec,
    }))
}

#[test]
fn a_malformed_crd_gives_findings_at_its_own_place_and_never_panics() {
    for spec in [
        json!(null),
        json!([]),
        json!({"group": 7, "names": "x", "scope": "Galaxy", "versions": {}}),
        json!({"group": "example.com", "names": {"kind": "Test", "plural": "tests"}, "scope": "Namespaced",
               "versions": [{"name": "v1", "served": "yes", "schema": {"openAPIV3Schema": []}}, 7]}),
        json!({"group": "example.com", "names": {"kind": "Test", "plural": "tests"}, "scope": "Cluster",
               "versions": [{"name": "v1", "served": true, "schema": {"openAPIV3Schema":
                   {"type": "thing", "properties": {"a": 1, "b": {"pattern": "("}}, "required": "a",
                    "x-kubernetes-validations": [{"rule": "self.("}, {}]}}}]}),
    ] {
        let object = crd_value(spec);
        let (crd, mut findings) = read(&object);
        findings.extend(crd.iter().flat_map(|crd| verify(crd, &object, &Work::default())));
        assert!(!findings.is_empty());
        for finding in findings {
            assert!(matches!(finding.place, Place::Field { .. }));
        }
    }
}

#[test]
fn a_crd_must_be_named_after_its_plural_and_group() {
    let spec = json!({"group": "example.com", "names": {"kind": "Foo", "plural": "foos"}, "scope": "Cluster",
        "versions": [{"name": "v1", "served": true, "storage": true}]});
    let (crd, findings) = read(&crd_value(spec));
    assert_eq!(crd.map(|crd| crd.plural).as_deref(), Some("foos"));
    assert_eq!(findings[0].help.as_deref(), Some("name it foos.example.com"));
}

#[test]
fn a_pattern_or_rule_that_does_not_compile_is_found_at_its_place_and_never_blamed_on_objects() {
    let spec = json!({"group": "example.com", "names": {"kind": "Test", "plural": "tests"}, "scope": "Cluster",
        "versions": [{"name": "v1", "served": true}, {"name": "v2", "served": true, "schema": {"openAPIV3Schema":
            {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a/b": {"type": "string",
                "pattern": "("}}, "x-kubernetes-validations": [{"rule": "true"}, {"rule": "self.("}]}}}}}]});
    let definition = crd_value(spec);
    let (crd, findings) = read(&definition);
    assert_eq!(messages(&findings), Vec::<String>::new());
    let crd = crd.expect("a CRD");
    let mut pointers: Vec<String> = verify(&crd, &definition, &Work::default())
        .into_iter()
        .filter_map(|finding| match finding.place {
            Place::Field { pointer, .. } => Some(pointer.into()),
            _ => None,
        })
        .collect();
    pointers.sort();
    let at = "/spec/versions/1/schema/openAPIV3Schema/properties/spec";
    assert_eq!(
        pointers,
        [
            format!("{at}/properties/a~1b/pattern"),
            format!("{at}/x-kubernetes-validations/1"),
        ]
    );
    for pointer in pointers {
        assert!(definition.value.pointer(&pointer).is_some(), "{pointer}");
    }
    let test = object(
        json!({"apiVersion": "example.com/v2", "kind": "Test", "metadata": {"name": "a"},
        "spec": {"a/b": "x"}}),
    );
    assert_eq!(
        messages(&check(&crd, &test, &Work::default())),
        Vec::<String>::new()
    );
}
