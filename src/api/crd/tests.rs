//! Reading CRDs, real ones where they are at hand, and checking objects against them.

use serde_json::{Value, json};

use super::*;
use crate::api::fixture::{object, shared_crds};
use crate::diagnostic::Place;

fn shared_crd(file: &str) -> Option<Crd> {
    let (_, object) = shared_crds()?
        .into_iter()
        .find(|(path, _)| path.ends_with(file))?;
    let (crd, findings) = Crd::read(&object);
    assert_eq!(findings, vec![]);
    crd
}

fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| finding.message.clone()).collect()
}

#[test]
fn every_shared_crd_is_read_and_compiles_without_findings() {
    let Some(crds) = shared_crds() else { return };
    let mut schemas = 0;
    for (path, object) in &crds {
        let (crd, findings) = Crd::read(object);
        assert_eq!(messages(&findings), Vec::<String>::new(), "{}", path.display());
        let crd = crd.expect("a CRD");
        assert_eq!(
            messages(&crd.verify(object)),
            Vec::<String>::new(),
            "{}",
            path.display()
        );
        assert!(crd.served_versions().count() > 0, "{}", path.display());
        schemas += crd
            .versions
            .iter()
            .filter(|version| version.schema.is_some())
            .count();
    }
    assert_eq!(crds.len(), 36, "the shared set");
    assert!(schemas >= 37, "{schemas}");
}

#[test]
fn policy_labels_are_read_without_case() {
    let Some(crds) = shared_crds() else { return };
    let label = |kind: &str| {
        crds.iter()
            .filter_map(|(_, object)| Crd::read(object).0)
            .find(|crd| crd.kind == kind)
            .and_then(|crd| crd.policy_label)
    };
    assert_eq!(label("BackendTLSPolicy"), Some(PolicyLabel::Direct));
    assert_eq!(label("AuthPolicy"), Some(PolicyLabel::Inherited));
    assert_eq!(label("DNSPolicy"), Some(PolicyLabel::Direct));
    assert_eq!(label("Gateway"), None);
    assert_eq!(PolicyLabel::parse("true"), PolicyLabel::Unspecified);
}

fn gateway(spec: Value) -> Object {
    object(json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": "web", "namespace": "infra"}, "spec": spec,
    }))
}

const GATEWAYS: &str = "standard/gateway.networking.k8s.io_gateways.yaml";

#[test]
fn a_good_gateway_passes_with_defaults_filled_in_for_the_rules() {
    let Some(crd) = shared_crd(GATEWAYS) else { return };
    let good = gateway(json!({
        "gatewayClassName": "c",
        "listeners": [
            {"name": "a", "port": 80, "protocol": "HTTP"},
            {"name": "b", "port": 443, "protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "cert"}]}},
        ],
    }));
    assert_eq!(messages(&crd.check(&good)), Vec::<String>::new());
}

#[test]
fn an_unknown_field_is_found_at_its_key_with_the_nearest_name() {
    let Some(crd) = shared_crd(GATEWAYS) else { return };
    let bad = gateway(json!({
        "gatewayClassName": "c",
        "listeners": [{"name": "a", "port": 80, "protocol": "HTTP", "hostName": "a.example.com"}],
    }));
    let findings = crd.check(&bad);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].code, Code::OBJECT_UNKNOWN_FIELD);
    assert_eq!(findings[0].help.as_deref(), Some("did you mean `hostname`?"));
    let Place::Field { pointer, part, .. } = &findings[0].place else {
        panic!("a field")
    };
    assert_eq!(
        (pointer.as_str(), *part),
        ("/spec/listeners/0/hostName", crate::diagnostic::Part::Key)
    );
}

#[test]
fn a_bad_gateway_reports_everything_at_once() {
    let Some(crd) = shared_crd(GATEWAYS) else { return };
    let bad = gateway(json!({
        "listeners": [
            {"name": "Not Valid", "port": 0, "protocol": "HTTP"},
            {"name": "b", "port": "80", "protocol": 7},
        ],
    }));
    let all = messages(&crd.check(&bad)).join("\n");
    for part in [
        "spec.gatewayClassName: Required value",
        "spec.listeners[0].name: Invalid value: \"Not Valid\"",
        "spec.listeners[0].port: Invalid value: 0: spec.listeners[0].port in body should be greater than or equal to 1",
        "spec.listeners[1].port: Invalid value: \"string\": spec.listeners[1].port in body must be of type integer: \"string\"",
        "spec.listeners[1].protocol: Invalid value: \"integer\"",
    ] {
        assert!(all.contains(part), "{part} not in\n{all}");
    }
}

#[cfg(feature = "cel")]
#[test]
fn cel_rules_see_defaults_and_report_at_their_level() {
    let Some(crd) = shared_crd(GATEWAYS) else { return };
    let bad = gateway(json!({
        "gatewayClassName": "c",
        "listeners": [{"name": "a", "port": 80, "protocol": "HTTP", "tls": {"certificateRefs": [{"name": "x"}]}}],
    }));
    let findings = crd.check(&bad);
    assert!(!findings.is_empty());
    assert!(findings[0].message.contains("spec.listeners"), "{findings:?}");
    let Some(crd) = shared_crd("kuadrant.io_ratelimitpolicies.yaml") else {
        return;
    };
    let policy = |spec: Value| {
        object(json!({
            "apiVersion": "kuadrant.io/v1", "kind": "RateLimitPolicy",
            "metadata": {"name": "p", "namespace": "infra"}, "spec": spec,
        }))
    };
    let target = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "web"});
    let limits = json!({"a": {"rates": [{"limit": 1, "window": "10s"}]}});
    let good = policy(json!({"targetRef": target, "limits": limits}));
    assert_eq!(messages(&crd.check(&good)), Vec::<String>::new());
    let both =
        policy(json!({"targetRef": target, "defaults": {"limits": limits}, "overrides": {"limits": limits}}));
    let all = messages(&crd.check(&both)).join("\n");
    assert!(all.contains("mutually exclusive"), "{all}");
}

#[test]
fn a_version_that_is_not_served_is_refused_with_those_that_are() {
    let Some(crd) = shared_crd(GATEWAYS) else { return };
    let mut old = gateway(json!({}));
    old.api_version.version = "v1alpha1".to_owned();
    let findings = crd.check(&old);
    assert!(
        findings[0]
            .help
            .as_deref()
            .is_some_and(|help| help.contains("v1")),
        "{findings:?}"
    );
}

#[test]
fn target_fields_are_seen_in_schemas() {
    let Some(crd) = shared_crd("kuadrant.io_authpolicies.yaml") else {
        return;
    };
    let schema = crd
        .version("v1")
        .and_then(|version| version.schema.as_ref())
        .expect("v1");
    assert!(schema.has_field(&["spec", "targetRef"]));
    assert!(!schema.has_field(&["spec", "targetRefs"]));
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
        let (crd, mut findings) = Crd::read(&object);
        findings.extend(crd.iter().flat_map(|crd| crd.verify(&object)));
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
    let (crd, findings) = Crd::read(&crd_value(spec));
    assert_eq!(crd.map(|crd| crd.singular).as_deref(), Some("foo"));
    assert_eq!(findings[0].help.as_deref(), Some("name it foos.example.com"));
}

#[test]
fn a_pattern_or_rule_that_does_not_compile_is_found_at_its_place_and_never_blamed_on_objects() {
    let spec = json!({"group": "example.com", "names": {"kind": "Test", "plural": "tests"}, "scope": "Cluster",
        "versions": [{"name": "v1", "served": true}, {"name": "v2", "served": true, "schema": {"openAPIV3Schema":
            {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a/b": {"type": "string",
                "pattern": "("}}, "x-kubernetes-validations": [{"rule": "true"}, {"rule": "self.("}]}}}}}]});
    let definition = crd_value(spec);
    let (crd, findings) = Crd::read(&definition);
    assert_eq!(messages(&findings), Vec::<String>::new());
    let crd = crd.expect("a CRD");
    let mut pointers: Vec<String> = crd
        .verify(&definition)
        .into_iter()
        .filter_map(|finding| match finding.place {
            Place::Field { pointer, .. } => Some(pointer),
            _ => None,
        })
        .collect();
    pointers.sort();
    let at = "/spec/versions/1/schema/openAPIV3Schema/properties/spec";
    let mut expected = vec![format!("{at}/properties/a~1b/pattern")];
    if cfg!(feature = "cel") {
        expected.push(format!("{at}/x-kubernetes-validations/1"));
    }
    assert_eq!(pointers, expected);
    for pointer in pointers {
        assert!(definition.value.pointer(&pointer).is_some(), "{pointer}");
    }
    let test = object(
        json!({"apiVersion": "example.com/v2", "kind": "Test", "metadata": {"name": "a"},
        "spec": {"a/b": "x"}}),
    );
    assert_eq!(messages(&crd.check(&test)), Vec::<String>::new());
}
