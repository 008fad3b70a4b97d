//! Every field of the parameters, with valid and invalid values.

use kube_json::{Value, json};

use super::read::{ClassParams, read_config_map};
use super::*;
use crate::api::crd::Scope;
use crate::api::kinds::{KindInfo, KindTable};
use crate::diagnostic::Place;
use crate::object::Object;
use crate::tests::object;

/// A table with policies, routes and what is neither.
fn kinds() -> KindTable {
    let mut table = KindTable::built_in();
    let any = table.kind("", "Secret").expect("built in").clone();
    for (kind, plural, scope, has_target, parent_refs) in [
        ("HTTPRoute", "httproutes", Scope::Namespaced, false, true),
        ("Gateway", "gateways", Scope::Namespaced, false, false),
        ("WideRoute", "wideroutes", Scope::Cluster, false, true),
        ("Both", "boths", Scope::Namespaced, true, true),
    ] {
        table.insert(KindInfo {
            group: "g.io".into(),
            kind: kind.into(),
            plural: plural.into(),
            scope,
            has_target,
            parent_refs,
            ..any.clone()
        });
    }
    table
}

fn config_map(text: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p", "namespace": "ns"},
                  "data": {"params": text}}),
    )
}

fn read(text: &str) -> ClassParams {
    read_config_map(&config_map(text), CONTROLLER_NAME, &kinds())
}

fn class(reference: Value) -> Object {
    object(
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass", "metadata": {"name": "c"},
                  "spec": {"controllerName": CONTROLLER_NAME, "parametersRef": reference}}),
    )
}

#[test]
fn the_reference_is_checked_in_mgcs_order() {
    let failure = |reference: Value| {
        read_class(&class(reference), |_, _| None, |_, _| None, &kinds())
            .failure
            .map(|failure| failure.to_string())
    };
    assert_eq!(failure(json!(null)), None);
    assert_eq!(
        failure(json!({"group": "", "kind": "Secret", "name": "p"})).as_deref(),
        Some("Invalid Parameters - unable to retrieve parameters for GroupKind Secret")
    );
    assert_eq!(
        failure(json!({"group": "", "kind": "ConfigMap", "name": "p"})).as_deref(),
        Some("Invalid Parameters - Namespace must be defined")
    );
    assert_eq!(
        failure(json!({"group": "", "kind": "ConfigMap", "name": "p", "namespace": "ns"})).as_deref(),
        Some("Invalid Parameters - failed to get object ns/p: configmaps \"p\" not found")
    );
    let map = config_map("{}");
    let reference = json!({"group": "", "kind": "ConfigMap", "name": "p", "namespace": "ns"});
    let read = read_class(&class(reference), |_, _| Some(&map), |_, _| None, &kinds());
    assert_eq!((read.params, read.failure), (Some(Params::default()), None));
}

#[test]
fn binary_data_gets_a_hint() {
    let map = object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p", "namespace": "ns"},
                            "binaryData": {"params": "e30="}}),
    );
    let read = read_config_map(&map, CONTROLLER_NAME, &kinds());
    assert_eq!(read.failure, Some(InvalidParameters::ParamsMissing));
    assert!(
        read.findings[0]
            .help
            .as_deref()
            .is_some_and(|help| help.contains("binaryData"))
    );
}

proptest::proptest! {
    #[test]
    fn no_text_ever_panics(text in r"[a-zA-Z0-9{}\[\]:,'\n -]{0,60}") {
        let _ = read(&text);
    }
}

#[test]
fn messages_are_mgcs_to_the_letter() {
    let text = |failure: InvalidParameters| failure.to_string();
    assert_eq!(
        text(InvalidParameters::UnsupportedKind(GroupKind::new(
            "g.io", "Thing"
        ))),
        "Invalid Parameters - unable to retrieve parameters for GroupKind Thing.g.io"
    );
    assert_eq!(
        text(InvalidParameters::NamespaceMissing),
        "Invalid Parameters - Namespace must be defined"
    );
    assert_eq!(
        text(InvalidParameters::NotFound {
            namespace: "a".into(),
            name: "b".into()
        }),
        "Invalid Parameters - failed to get object a/b: configmaps \"b\" not found"
    );
    assert_eq!(
        text(InvalidParameters::ParamsMissing),
        "Invalid Parameters - Parameters must be defined in \"params\" field of ConfigMap"
    );
    assert_eq!(
        InvalidParameters::accepted_message(CONTROLLER_NAME),
        "Handled by kuadrant.io/mgc-gw-controller"
    );
}

/// A JSON string of the text of parameters on each line: the parameters, what keeps the class from being accepted, and the
/// findings with their places.
#[test]
fn parameters_are_read_as_their_snapshot_has_it() {
    test_sections::check_lines(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lines/params.txt"),
        |line| {
            let text: String = serde_json::from_str(line).unwrap();
            let ClassParams {
                params,
                failure,
                findings,
            } = read(&text);
            let mut told = match params {
                Some(params) if params == Params::default() => "the defaults".to_owned(),
                params => format!("{params:?}"),
            };
            if let Some(failure) = failure {
                told += &format!("\n{failure:?}: {failure}");
            }
            for finding in findings {
                let Place::Embedded { inside, .. } = &finding.place else {
                    panic!("{finding:?}")
                };
                assert_eq!(inside.pointer, "/data/params");
                let (code, place) = (finding.code.name(), &inside.inner);
                told += &format!("\n{code} at {place}: {}; {:?}", finding.message, finding.help);
            }
            told
        },
    );
}
