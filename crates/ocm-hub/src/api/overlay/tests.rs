//! What an overlay may say, and what is wrong with others; values of clusters never change the shape of a value.

use kube_json::json;
use proptest::prelude::*;

use super::*;
use crate::tests::object;

fn overlay(spec: Value) -> Object {
    object(json!({
        "apiVersion": "spokewright.dev/v1alpha1", "kind": "ClusterOverlay",
        "metadata": {"name": "x", "namespace": "shop"}, "spec": spec,
    }))
}

/// A valid spec in which the value at a pointer is another one; without it, the field is removed.
fn changed(pointer: &str, value: Option<Value>) -> Object {
    let mut spec = json!({
        "clusters": {"names": ["eu-2"]},
        "changes": [{
            "target": {"group": "kuadrant.io", "kind": "RateLimitPolicy", "name": "api-burst"},
            "set": [{"path": "spec.limits.reads.rates[0].limit", "value": 50}],
        }],
    });
    let (holder, name) = pointer.rsplit_once('/').unwrap();
    let fields = spec.pointer_mut(holder).and_then(Value::as_object_mut).unwrap();
    match value {
        Some(value) => drop(fields.insert(name, value)),
        None => drop(fields.remove(name)),
    }
    overlay(spec)
}

/// `POINTER: MESSAGE; HELP` of each finding, without the name of the overlay.
fn wrong(object: &Object) -> Vec<String> {
    let (_, findings) = read(object);
    let shown = findings.iter().map(|finding| {
        let (_, pointer) = finding.place.field().unwrap();
        let message = finding.message.strip_prefix("ClusterOverlay shop/x: ").unwrap();
        let help = finding
            .help
            .as_ref()
            .map(|help| format!("; {help}"))
            .unwrap_or_default();
        format!("{pointer}: {message}{help}")
    });
    shown.collect()
}

#[test]
fn everything_that_an_overlay_may_say_is_read() {
    let (read, findings) = read(&overlay(json!({
        "priority": 10,
        "clusters": {
            "names": ["eu-1", "eu-2"],
            "labelSelector": {},
            "claimSelector": {"matchExpressions": [{"key": "platform", "operator": "In", "values": ["AWS"]}]},
        },
        "changes": [{
            "target": {"group": "", "kind": "ConfigMap", "labelSelector": {"matchLabels": {"app": "shop"}}},
            "set": [
                {"path": "data[\"a.yaml\"]", "value": "${cluster.labels[\"geo\"]}", "default": {"any": ["thing"]}},
                {"path": "data.count", "value": "${cluster.claims[\"count\"]}", "as": "Integer"},
                {"path": "data.old", "remove": true},
                {"path": "data.list", "value": [null, {"deep": "$${x}"}]},
            ],
        }],
    })));
    assert_eq!(findings, []);
    let read = read.unwrap();
    assert!(read.is_whole);
    assert_eq!(read.priority, 10);
    let names = read.clusters.names.unwrap();
    assert_eq!(names[1], ("eu-2".to_owned(), "/spec/clusters/names/1".to_owned()));
    assert_eq!(read.clusters.label_selector, Some(Selector::default()));
    assert_eq!(read.clusters.claim_selector.unwrap().requirements.len(), 1);
    let [change] = read.changes.as_slice() else {
        panic!()
    };
    assert!(matches!(&change.target.objects, Targeted::Labels(selector) if selector.requirements.len() == 1));
    let pointers: Vec<&str> = change.set.iter().map(|field| field.pointer.as_str()).collect();
    assert_eq!(
        pointers,
        [
            "/spec/changes/0/set/0",
            "/spec/changes/0/set/1",
            "/spec/changes/0/set/2",
            "/spec/changes/0/set/3"
        ]
    );
    assert_eq!(change.set[0].path.to_string(), "data[\"a.yaml\"]");
    assert_eq!(change.set[2].action, Action::Remove);
    assert!(matches!(
        &change.set[1].action,
        Action::Set {
            value_type: ValueType::Integer,
            default: None,
            ..
        }
    ));
    assert!(matches!(
        &change.set[3].action,
        Action::Set { value, .. } if *value == json!([null, {"deep": "$${x}"}])
    ));
}

#[test]
fn what_decides_where_objects_go_is_never_a_target() {
    for (group, kind) in [
        ("", "Secret"),
        ("", "Namespace"),
        ("gateway.networking.k8s.io", "GatewayClass"),
        ("gateway.networking.k8s.io", "ReferenceGrant"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("cluster.open-cluster-management.io", "Placement"),
        ("work.open-cluster-management.io", "ManifestWork"),
        ("spokewright.dev", "ClusterOverlay"),
    ] {
        let target = json!({"group": group, "kind": kind, "name": "a"});
        let (read, findings) = read(&changed("/changes/0/target", Some(target)));
        let codes: Vec<Code> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [Code::OVERLAY_NOT_ALLOWED], "{kind}");
        assert_eq!(read.unwrap().changes, [], "{kind}");
    }
}

#[test]
fn a_text_is_read_from_left_to_right() {
    let parts = |text: &'static str| Template::parse(text).map(|template| template.parts);
    let text = |text: &str| Part::Text(text.to_owned());
    let label = |key: &str| Part::Cluster(ClusterField::Label(key.to_owned()));
    assert_eq!(parts(""), Ok(vec![]));
    assert_eq!(parts("a $5 $$ $"), Ok(vec![text("a $5 $$ $")]));
    assert_eq!(parts("$${cluster.name}"), Ok(vec![text("${cluster.name}")]));
    assert_eq!(
        parts("a.${cluster.name}"),
        Ok(vec![text("a."), Part::Cluster(ClusterField::Name)])
    );
    assert_eq!(
        parts("${cluster.labels[\"a}b/c\"]}${cluster.claims[\"id.k8s.io\"]}-$${"),
        Ok(vec![
            label("a}b/c"),
            Part::Cluster(ClusterField::Claim("id.k8s.io".to_owned())),
            text("-${")
        ])
    );
    for wrong in [
        "${}",
        "${cluster}",
        "${cluster.name }",
        "${cluster.labels[region]}",
        "${cluster.labels['region']}",
        "${cluster.labels[\"\"]}",
        "${cluster.labels.region}",
        "${env.HOME}",
    ] {
        assert_eq!(parts(wrong), Err(wrong));
    }
    assert_eq!(
        parts("a ${cluster.labels[\"a\"] b"),
        Err("${cluster.labels[\"a\"] b")
    );
}

fn filled(
    value: &Value,
    value_type: ValueType,
    default: Option<&Value>,
    geo: Option<&str>,
) -> Result<Value, NoValue> {
    fill(value, value_type, default, |field| match field {
        ClusterField::Name => Some("eu-1".to_owned()),
        ClusterField::Label(key) if key == "geo" => geo.map(str::to_owned),
        _ => None,
    })
}

#[test]
fn a_text_becomes_a_value_of_its_type() {
    let value = json!("${cluster.labels[\"geo\"]}");
    let of_type = |value_type, text: &str| filled(&value, value_type, None, Some(text)).ok();
    for (text, integer) in [
        ("0", Some(0)),
        ("-5", Some(-5)),
        ("9223372036854775807", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("007", None),
        ("+5", None),
        ("", None),
        ("-", None),
        ("--5", None),
        ("5 ", None),
        ("1e3", None),
        ("٣", None),
    ] {
        assert_eq!(
            of_type(ValueType::Integer, text),
            integer.map(Value::from),
            "{text:?}"
        );
    }
    assert_eq!(of_type(ValueType::Boolean, "true"), Some(json!(true)));
    assert_eq!(of_type(ValueType::Boolean, "True"), None);
    assert_eq!(of_type(ValueType::String, "true"), Some(json!("true")));
}

#[test]
fn a_missing_value_is_an_error_or_the_default() {
    let value = json!({"a": ["${cluster.name}/${cluster.labels[\"geo\"]}"], "b": "$${x}"});
    let string = ValueType::String;
    assert_eq!(
        filled(&value, string, None, Some("EU")),
        Ok(json!({"a": ["eu-1/EU"], "b": "${x}"}))
    );
    let default = json!({"any": "${thing}"});
    assert_eq!(filled(&value, string, Some(&default), None), Ok(default.clone()));
    let missing = filled(&value, string, None, None).expect_err("no value");
    assert_eq!(missing.about("syd-1"), "syd-1 has no label `geo`");
    let mismatch = |value: Value| {
        filled(&value, ValueType::Integer, Some(&json!(1)), Some("high")).expect_err("no value")
    };
    assert_eq!(
        mismatch(json!("${cluster.labels[\"geo\"]}")).about("par-1"),
        "label `geo` of par-1 is `high`, not an integer"
    );
    assert_eq!(
        mismatch(json!("x${cluster.labels[\"geo\"]}")).about("par-1"),
        "the value for par-1 is `xhigh`, not an integer"
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("${cluster.name}".to_owned()),
        Just("${cluster.labels[\"a\"]}${cluster.claims[\"b\"]}".to_owned()),
        "(\\$|\\{|\\}|cluster[.]name|a|\"){0,8}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[ab$]{0,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        Just("x\nkind: Secret\n- a: {b: c}".to_owned()),
        Just("\", \"kind\": \"Secret".to_owned()),
        Just("${cluster.name}".to_owned()),
        Just("null".to_owned()),
    ]
}

/// Whether two values have the same keys, lengths, and types.
fn same_shape(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.keys().eq(other.keys())
                && one
                    .values()
                    .zip(other.values())
                    .all(|(one, other)| same_shape(one, other))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_shape(one, other))
        }
        (Value::String(_), Value::String(_)) => true,
        _ => one == other,
    }
}

proptest! {
    #[test]
    fn no_value_of_a_cluster_changes_the_shape(value in any_value(), text in hostile()) {
        let filled = fill(&value, ValueType::String, None, |_| Some(text.clone()));
        prop_assert!(filled.is_ok_and(|filled| same_shape(&value, &filled)));
    }

    #[test]
    fn with_a_type_only_the_text_itself_becomes_another_one(text in hostile(), digits in "-?[0-9]{0,20}") {
        for text in [text, digits] {
            let value = json!("${cluster.name}");
            match fill(&value, ValueType::Integer, None, |_| Some(text.clone())) {
                Ok(filled) => prop_assert!(filled.as_i64().is_some()),
                Err(error) => prop_assert!(matches!(error, NoValue::Mismatch { .. }), "a mismatch"),
            }
        }
    }

    #[test]
    fn any_text_is_a_template_or_an_error(text in "(\\$|\\{|\\}|cluster|[.]name|labels\\[\"|\"\\]|a|é){0,12}") {
        match Template::parse(&text) {
            Ok(template) => {
                let refers = template.fields().next().is_some();
                prop_assert!(!refers || text.contains("${cluster."), "{}", text);
            }
            Err(wrong) => prop_assert!(wrong.starts_with("${") && text.contains(wrong), "{}", wrong),
        }
    }

    #[test]
    fn any_spec_is_read_without_a_panic_and_is_whole_or_has_a_finding(spec in any_value(), field in any_value(), path in "\\PC{0,8}") {
        let changed = json!({"clusters": {"names": ["a"]}, "changes": [{
            "target": {"group": "a", "kind": "B", "name": "c"}, "set": [{"path": path, "value": field, "default": spec}],
        }]});
        for spec in [spec, changed] {
            let (read, findings) = read(&overlay(spec));
            prop_assert_eq!(read.is_some_and(|read| read.is_whole), findings.is_empty());
        }
    }
}

/// The spec of an overlay on each line: what is wrong with it, and what is read all the same.
#[test]
fn overlays_are_read_as_their_snapshot_has_it() {
    test_sections::check_lines(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lines/overlays.txt"),
        |line| {
            let object = overlay(serde_json::from_str(line).unwrap());
            let (read, _) = read(&object);
            let read = read.map(|read| format!("{:?} {:?}", read.clusters, read.changes));
            let mut told = wrong(&object);
            told.push(read.unwrap_or_else(|| "nothing is read".to_owned()));
            told.join("\n")
        },
    );
}
