//! Checking objects against the definitions of public projects.

use kube_json::{Value, json};

use super::messages;
use crate::api::crd::{Crd, check, read};
use crate::diagnostic::{Code, Place};
use crate::object::Object;
use crate::tests::{object, real_crds};
use apimachinery::Work;

fn real_crd(file: &str) -> Crd {
    let found = real_crds().into_iter().find(|(path, _)| path.ends_with(file));
    let (_, object) = found.expect(file);
    let (crd, findings) = read(&object);
    assert_eq!(findings, vec![]);
    crd.expect(file)
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
    let crd = real_crd(GATEWAYS);
    let good = gateway(json!({
        "gatewayClassName": "c",
        "listeners": [
            {"name": "a", "port": 80, "protocol": "HTTP"},
            {"name": "b", "port": 443, "protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "cert"}]}},
        ],
    }));
    assert_eq!(
        messages(&check(&crd, &good, &Work::default())),
        Vec::<String>::new()
    );
}

#[test]
fn an_unknown_field_is_found_at_its_key_with_the_nearest_name() {
    let crd = real_crd(GATEWAYS);
    let bad = gateway(json!({
        "gatewayClassName": "c",
        "listeners": [{"name": "a", "port": 80, "protocol": "HTTP", "hostName": "a.example.com"}],
    }));
    let findings = check(&crd, &bad, &Work::default());
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
    let crd = real_crd(GATEWAYS);
    let bad = gateway(json!({
        "listeners": [
            {"name": "Not Valid", "port": 0, "protocol": "HTTP"},
            {"name": "b", "port": "80", "protocol": 7},
        ],
    }));
    let all = messages(&check(&crd, &bad, &Work::default())).join("\n");
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

#[test]
fn cel_rules_see_defaults_and_report_at_their_level() {
    let crd = real_crd(GATEWAYS);
    let bad = gateway(json!({
        "gatewayClassName": "c",
        "listeners": [{"name": "a", "port": 80, "protocol": "HTTP", "tls": {"certificateRefs": [{"name": "x"}]}}],
    }));
    let findings = check(&crd, &bad, &Work::default());
    assert!(!findings.is_empty());
    assert!(findings[0].message.contains("spec.listeners"), "{findings:?}");
    let crd = real_crd("kuadrant.io_ratelimitpolicies.yaml");
    let policy = |spec: Value| {
        object(json!({
            "apiVersion": "kuadrant.io/v1", "kind": "RateLimitPolicy",
            "metadata": {"name": "p", "namespace": "infra"}, "spec": spec,
        }))
    };
    let target = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "web"});
    let limits = json!({"a": {"rates": [{"limit": 1, "window": "10s"}]}});
    let good = policy(json!({"targetRef": target, "limits": limits}));
    assert_eq!(
        messages(&check(&crd, &good, &Work::default())),
        Vec::<String>::new()
    );
    let both =
        policy(json!({"targetRef": target, "defaults": {"limits": limits}, "overrides": {"limits": limits}}));
    let all = messages(&check(&crd, &both, &Work::default())).join("\n");
    assert!(all.contains("mutually exclusive"), "{all}");
}

#[test]
fn a_version_that_is_not_served_is_refused_with_those_that_are() {
    let crd = real_crd(GATEWAYS);
    let mut old = gateway(json!({}));
    old.api_version.version = "v1alpha1".into();
    let findings = check(&crd, &old, &Work::default());
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
    let crd = real_crd("kuadrant.io_authpolicies.yaml");
    let schema = crd
        .version("v1")
        .and_then(|version| version.schema.as_ref())
        .expect("v1");
    assert!(schema.has_field(&["spec", "targetRef"]));
    assert!(!schema.has_field(&["spec", "targetRefs"]));
}
