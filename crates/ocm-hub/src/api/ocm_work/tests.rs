//! The works that OCM accepts or refuses, as observed (`fixtures/works`), and the rules behind them.

use std::path::Path;

use kube_json::json;
use proptest::prelude::*;

use super::*;
use kube_yaml::{Limits, read_all};

#[test]
fn the_catalog_has_both_kinds_in_the_one_version_that_is_served() {
    let validation = WorkValidation::new();
    for (definition, version) in [
        (validation.manifest_work, "v1"),
        (validation.replica_set, "v1alpha1"),
    ] {
        let definition = definition.expect("in the catalog");
        let versions: Vec<&str> = definition.served_versions().collect();
        assert_eq!(versions, [version]);
        assert!(definition.versions[0].schema.is_some());
    }
}

/// One line of expected.txt and its reasons.
struct Expected {
    pass: bool,
    file: String,
    manifests: usize,
    size: u64,
    reasons: Vec<String>,
}

fn expected() -> Vec<Expected> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/works/expected.txt");
    let text = std::fs::read_to_string(path).expect("expected.txt");
    let mut all: Vec<Expected> = Vec::new();
    for line in text.lines() {
        if let Some(reason) = line.strip_prefix("  ") {
            all.last_mut()
                .expect("a file first")
                .reasons
                .push(reason.to_owned());
            continue;
        }
        let number = |after: &str| {
            let (_, rest) = line.split_once(after).expect(after);
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u64>().expect("a number")
        };
        let mut words = line.split(' ');
        all.push(Expected {
            pass: words.next() == Some("PASS"),
            file: words.next().expect("a file").replace("[0]", ""),
            manifests: usize::try_from(number("manifests=")).expect("small"),
            size: number("size="),
            reasons: Vec::new(),
        });
    }
    all
}

/// The reason without its stage and without notes that carry no reason of their own.
fn is_reason(reason: &str) -> bool {
    !reason.contains("some validation rules were not checked") && !reason.contains("PANIC")
}

#[test]
fn every_fixture_gets_ocms_verdict_size_and_reasons() {
    let validation = WorkValidation::new();
    let all = expected();
    assert_eq!(all.len(), 24);
    for case in all {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/works")
            .join(&case.file);
        let text = std::fs::read_to_string(path).expect("a work");
        let work = read_all(&text, &Limits::default()).expect("YAML").remove(0);
        let refusals = validation.check(&work);
        assert_eq!(refusals.is_empty(), case.pass, "{}: {refusals:?}", case.file);
        let manifests = [
            "/spec/workload/manifests",
            "/spec/manifestWorkTemplate/workload/manifests",
        ]
        .iter()
        .find_map(|pointer| work.pointer(pointer)?.as_array())
        .expect("manifests");
        assert_eq!(
            (manifests.len(), work_size(manifests)),
            (case.manifests, case.size),
            "{}",
            case.file
        );
        for reason in case.reasons.iter().filter(|reason| is_reason(reason)) {
            let (stage, text) = reason.split_once(": ").expect("a stage");
            let stage = if stage == "crd" {
                Stage::Crd
            } else {
                Stage::Webhook
            };
            // Where the CRD refuses, the webhook never runs: its reasons are a bonus.
            assert!(
                refusals
                    .iter()
                    .any(|refusal| refusal.stage == stage && refusal.message == text),
                "{}: {reason}\nnot in {refusals:#?}",
                case.file
            );
        }
    }
}

fn work(spec: Value) -> Value {
    json!({"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
           "metadata": {"name": "w", "namespace": "c1"}, "spec": spec})
}

fn messages(work: &Value) -> Vec<String> {
    WorkValidation::new()
        .check(work)
        .into_iter()
        .map(|refusal| refusal.message)
        .collect()
}

fn config_map(namespace: Option<&str>, api_version: &str) -> Value {
    let mut metadata = json!({"name": "a"});
    if let Some(namespace) = namespace {
        metadata["namespace"] = json!(namespace);
    }
    json!({"apiVersion": api_version, "kind": "ConfigMap", "metadata": metadata})
}

#[test]
fn duplicates_go_by_api_version_kind_namespace_and_name() {
    let pair = |a, b| messages(&work(json!({"workload": {"manifests": [a, b]}})));
    assert_eq!(
        pair(config_map(None, "v1"), config_map(Some(""), "v1")),
        ["duplicate manifest for resource /a with resource type v1.ConfigMap"]
    );
    assert_eq!(
        pair(config_map(None, "v1"), config_map(Some("default"), "v1")),
        Vec::<String>::new()
    );
    assert_eq!(
        pair(config_map(None, "v1"), config_map(None, "v2")),
        Vec::<String>::new()
    );
}

#[test]
fn exactly_512000_bytes_pass_and_one_more_is_refused() {
    let with_length = |length: usize| {
        let mut manifest = config_map(None, "v1");
        manifest["data"] = json!({"k": ""});
        let base = work_size(std::slice::from_ref(&manifest));
        // Past 127 and 16383 bytes the length prefix takes two bytes more.
        let fill = length - usize::try_from(base).expect("small") - 2;
        manifest["data"] = json!({"k": "x".repeat(fill)});
        work(json!({"workload": {"manifests": [manifest]}}))
    };
    assert_eq!(messages(&with_length(512_000)), Vec::<String>::new());
    assert_eq!(
        messages(&with_length(512_001)),
        ["the size of manifests is 512001 bytes which exceeds the 512000 limit"]
    );
}

#[test]
fn every_level_is_strict_and_helpful() {
    let bad = work(json!({
        "workload": {"manifests": [config_map(None, "v1")], "manifest": []},
        "deleteOption": {"propagationPolicy": "Selectively"},
        "manifestConfigs": [{"resourceIdentifier": {"resource": "x", "name": "y", "kind": "Z"},
            "updateStrategy": {"serverSideApply": {"ignoreFields": [{}, {"condition": "OnSpokePresent"}]}},
            "feedbackScrapeType": "Push"}],
    }));
    let all = messages(&bad).join("\n");
    for part in [
        "unknown field \"spec.workload.manifest\"",
        "spec.deleteOption.propagationPolicy: Unsupported value: \"Selectively\"",
        "unknown field \"spec.manifestConfigs[0].resourceIdentifier.kind\"",
        "spec.manifestConfigs[0].updateStrategy.serverSideApply.ignoreFields[1]: Duplicate value",
        "spec.manifestConfigs[0].feedbackScrapeType: Unsupported value: \"Push\"",
    ] {
        assert!(all.contains(part), "{part} not in\n{all}");
    }
    // updateStrategy.type is required, and has a default.
    assert!(!all.contains("updateStrategy.type"), "{all}");
}

#[test]
fn manifests_must_look_like_objects() {
    let of = |manifest: Value| messages(&work(json!({"workload": {"manifests": [manifest]}}))).join("\n");
    assert!(of(json!("x")).contains("must be of type object"));
    assert!(
        of(json!({"apiVersion": "a/b/c", "kind": "X", "metadata": {"name": "a"}})).contains("apiVersion")
    );
    assert!(of(json!({"apiVersion": "v1", "kind": "", "metadata": {"name": "a"}})).contains("kind"));
    assert!(
        of(json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "lables": {}}}))
            .contains("unknown field \"spec.workload.manifests[0].metadata.lables\"")
    );
    assert_eq!(
        of(json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a:b"}, "any": {"thing": 1}})),
        ""
    );
}

#[test]
fn the_namespace_of_a_work_must_be_a_label() {
    let mut bad = work(json!({"workload": {"manifests": [config_map(None, "v1")]}}));
    bad["metadata"]["namespace"] = json!("../../etc");
    assert_eq!(messages(&bad).len(), 1);
}

#[test]
fn each_kind_is_served_in_one_version() {
    let mut old = work(json!({"workload": {"manifests": [config_map(None, "v1")]}}));
    old["apiVersion"] = json!("work.open-cluster-management.io/v1alpha1");
    assert_eq!(
        messages(&old),
        ["no matches for kind \"ManifestWork\" in version \"work.open-cluster-management.io/v1alpha1\""]
    );
}

#[test]
fn a_replica_set_is_checked_like_the_works_it_makes() {
    let set = |spec: Value| {
        messages(&json!({"apiVersion": "work.open-cluster-management.io/v1alpha1", "kind": "ManifestWorkReplicaSet",
            "metadata": {"name": "w", "namespace": "ns"}, "spec": spec}))
        .join("\n")
    };
    let template = json!({"workload": {"manifests": [config_map(None, "v1")]}});
    let rollout = |rollout: Value| json!({"manifestWorkTemplate": template, "placementRefs": [{"name": "p", "rolloutStrategy": rollout}]});
    assert_eq!(
        set(rollout(
            json!({"progressive": {"maxConcurrency": 3, "progressDeadline": "10m"}})
        )),
        ""
    );
    assert!(set(rollout(json!({"progressive": {"maxConcurrency": "300%"}}))).contains("should match"));
    assert!(set(rollout(json!({"all": {"progressDeadline": "soon"}}))).contains("should match"));
    assert!(set(json!({"placementRefs": [{"name": ""}]})).contains("at least 1 chars long"));
    assert!(set(json!({"placementRefs": [{"name": "p"}]})).contains("manifests should not be empty"));
}

fn any_work() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "[a-z/.:]{0,6}".prop_map(Value::from)
    ];
    let names = prop::sample::select(vec![
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "namespace",
        "spec",
        "workload",
        "manifests",
        "manifestWorkTemplate",
        "manifestConfigs",
        "conditionRules",
        "executor",
        "subject",
        "type",
        "placementRefs",
        "generateName",
    ]);
    let inner = leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(names.clone(), inner, 0..5).prop_map(|fields| Value::Object(
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            )),
        ]
    });
    (
        prop::sample::select(vec![MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, "Other"]),
        inner.clone(),
        inner,
    )
        .prop_map(|(kind, metadata, spec)| json!({"kind": kind, "metadata": metadata, "spec": spec}))
}

proptest::proptest! {
    #[test]
    fn no_work_ever_panics(work in any_work()) {
        let _ = WorkValidation::new().check(&work);
    }
}

#[test]
fn the_known_config_map_counts_103() {
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"},
        "metadata": {"name": "a", "namespace": "default"}});
    assert_eq!(manifest_size(&manifest), 103);
    assert_eq!(work_size(&[manifest.clone(), manifest]), 206);
    assert_eq!(work_size(&[]), 0);
}

#[test]
fn the_length_prefix_grows_every_seven_bits() {
    for (length, size) in [(0, 2), (127, 129), (128, 131), (16_383, 16_386), (16_384, 16_388)] {
        assert_eq!(manifest_size_of_json(length), size, "{length}");
    }
    assert_eq!(manifest_size_of_json(u64::MAX), u64::MAX);
}

#[test]
fn markup_and_control_characters_are_escaped_as_go_does() {
    assert_eq!(json_bytes(&json!("<>&")), 2 + 18);
    assert_eq!(json_bytes(&json!("\u{1}\n\"\\")), 2 + 6 + 2 + 2 + 2);
    assert_eq!(json_bytes(&json!("\u{2028}")), 2 + 6);
    assert_eq!(json_bytes(&json!("é")), 4);
    assert_eq!(json_bytes(&json!("\u{7f}")), 3);
}

#[test]
fn numbers_are_written_as_go_writes_them() {
    for (number, text) in [
        (json!(1.0), "1"),
        (json!(0.5), "0.5"),
        (json!(1e21), "1e+21"),
        (json!(1.5e-7), "1.5e-7"),
        (json!(-3), "-3"),
        (json!(u64::MAX), "18446744073709552000"),
    ] {
        assert_eq!(json_bytes(&number), text.len() as u64, "{text}");
    }
}

fn plain_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zA-Z0-9 \"\\\\é\n]*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]*", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn without_markup_the_length_is_that_of_compact_json(value in plain_json()) {
        prop_assert_eq!(json_bytes(&value), value.to_string().len() as u64);
    }
}
