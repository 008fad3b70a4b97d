//! What is written, and that it is read back as the same value (docs/systems/kubernetes.md#writing-safely,
//! the worked example).

use kube_json::{Map, Number, Value, json};
use proptest::prelude::*;

use super::value;
use crate::{scalar, write_document, write_work};

/// The value with floats that have no fraction made the integers that every reader makes of them.
pub(super) fn canonical(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => number
            .as_f64()
            .and_then(crate::scalar::float_value)
            .unwrap_or(Value::Null),
        Value::Array(items) => items.into_iter().map(canonical).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, canonical(value)))
            .collect(),
        other => other,
    }
}

fn strings() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "\\PC{0,12}",
        3 => "[a-c:#&*!|>'\"%@`{}\\[\\],?\\-+._0-9exo \n\t~<=\\\\]{0,10}",
        1 => "[0-9+\\-._:eEtTzZxX ]{0,8}",
        1 => any::<String>(),
        1 => "([a-z ]{0,6}\n){1,4}",
        1 => prop::sample::select(&["yes", "No", "NULL", "~", ".INF", "---", "...", "\u{feff}", "a\u{85}b", "\u{ffff}", "\r\n", ""][..])
            .prop_map(str::to_owned),
        1 => "[a-zé\n]{100,140}",
    ]
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("JSON has no infinity", Number::from_f64),
        (-1e22..1e22).prop_filter_map("JSON has no infinity", Number::from_f64),
        prop::sample::select(
            &[
                -0.0,
                1e21,
                1e20,
                0.1,
                1e-7,
                5e-324,
                f64::MAX,
                18_446_744_073_709_551_616.0
            ][..]
        )
        .prop_filter_map("JSON has no infinity", Number::from_f64),
    ]
}

/// Any value.
pub(super) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => numbers().prop_map(Value::Number),
        5 => strings().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(strings(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map>())),
        ]
    })
}

fn has_separator_line(text: &str) -> bool {
    text.lines()
        .any(|line| line.starts_with("---") || line.starts_with("..."))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(1000), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_value_is_read_back_as_it_was(written in values()) {
        let text = write_document(&written);
        prop_assert!(text.ends_with('\n') && !has_separator_line(&text), "{}", text);
        prop_assert_eq!(value(&text), canonical(written.clone()), "{}", text);
        // Writing what was read gives the same bytes.
        prop_assert_eq!(write_document(&value(&text)), text);
    }

    #[test]
    fn every_string_is_read_back_from_one_line(text in strings()) {
        let line = scalar(&text);
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(value(&format!("{line}\n")), json!(text));
        prop_assert_eq!(value(&format!("- k: {line}\n")), json!([{"k": text}]));
    }

    #[test]
    fn what_is_plain_is_no_number_and_no_word_to_us(text in "[+\\-.0-9a-fxobtTzZ_:]{1,9}") {
        if scalar(&text) == text {
            prop_assert_eq!(value(&format!("{text}\n")), json!(text));
        }
    }
}

#[test]
fn an_object_is_written_in_its_order_with_its_style() {
    let object = json!({
        "spec": {"listeners": [{"name": "api", "hostname": "*.example.com", "port": 443, "tls": {"certificateRefs": [{"name": "w"}]}}],
                 "empty": {}, "none": [], "metadata": {"namespace": "x", "labels": {}}},
        "data": {"text": "a\nb\n", "more": "a\n\n", "less": "a\nb"},
        "kind": "Gateway",
        "apiVersion": "gateway.networking.k8s.io/v1",
        "metadata": {"labels": {"kuadrant.io": "managed"}, "annotations": {"note": "yes"}, "namespace": "gw", "name": "prod-web"},
    });
    let expected = "\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: prod-web
  namespace: gw
  annotations:
    note: \"yes\"
  labels:
    kuadrant.io: managed
data:
  less: |-
    a
    b
  more: |+
    a

  text: |
    a
    b
spec:
  empty: {}
  listeners:
  - hostname: \"*.example.com\"
    name: api
    port: 443
    tls:
      certificateRefs:
      - name: w
  metadata:
    labels: {}
    namespace: x
  none: []
";
    assert_eq!(write_document(&object), expected);
}

#[test]
fn a_work_and_a_set_have_manifests_in_the_order_of_objects() {
    let object = json!({"data": {"manifests": [{"kind": "x", "a": 1}]}, "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"namespace": "s", "name": "c", "a": 1}});
    let workload = json!({"manifests": [object], "kind": "x", "a": 1});
    let written = "\
workload:
  a: 1
  kind: x
  manifests:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: c
      namespace: s
      a: 1
    data:
      manifests:
      - a: 1
        kind: x
";
    for (way, spec) in [
        ("spec", json!({"workload": workload})),
        (
            "manifestWorkTemplate",
            json!({"manifestWorkTemplate": {"workload": workload}}),
        ),
    ] {
        let text = write_work(&json!({"spec": spec, "kind": "Work"}));
        let (head, below) = text.split_once("workload:\n").expect("a workload");
        let indent = head.rsplit('\n').next().expect("a line");
        let below = below.replace(&format!("\n{indent}"), "\n");
        let below = below.strip_prefix(indent).expect("the same indentation");
        assert!(head.starts_with("kind: Work\nspec:\n"), "{way}: {text}");
        assert_eq!(format!("workload:\n{below}"), written, "{way}");
    }
}

#[test]
fn long_keys_and_keys_of_many_lines_are_explicit() {
    let long = "k".repeat(121);
    let object = json!({long.clone(): {"a": 1}, "a\nb": [1], "c": "d"});
    assert_eq!(
        write_document(&object),
        format!("? \"a\\nb\"\n:\n- 1\nc: d\n? {long}\n:\n  a: 1\n")
    );
    assert_eq!(value(&write_document(&object)), object);
}

#[test]
fn numbers_are_written_as_json_has_them() {
    let text = write_document(&json!([
        1.0,
        -0.0,
        1e20,
        1e21,
        1.5,
        u64::MAX,
        i64::MIN,
        1e-7,
        1.152_921_504_606_847e18
    ]));
    assert_eq!(
        text,
        "- 1\n- -0.0\n- 100000000000000000000\n- 1e+21\n- 1.5\n- 18446744073709551615\n- -9223372036854775808\n- 1e-7\n- 1152921504606847000\n"
    );
}

#[test]
fn the_escapes_of_double_quotes_are_short() {
    assert_eq!(
        scalar("\"\\\n\t\r\0\u{1}\u{7f}\u{a0}\u{200b}\u{2028}\u{feff}\u{ffff}😀é"),
        "\"\\\"\\\\\\n\\t\\r\\0\\x01\\x7f\\xa0\\u200b\\u2028\\ufeff\\uffff😀é\""
    );
}

#[test]
fn a_key_of_120_bytes_is_not_explicit_yet() {
    let key = "k".repeat(120);
    assert_eq!(
        write_document(&json!({key.clone(): {"a": 1}})),
        format!("{key}:\n  a: 1\n")
    );
}

#[test]
fn a_text_beyond_ascii_is_plain_unless_it_looks_like_a_key_or_a_comment() {
    for plain in ["é:x", "é#x", "é x#", "é-é", "aé b"] {
        assert_eq!(scalar(plain), plain);
    }
    for text in ["é: x", "é #x", "x #é"] {
        assert_eq!(scalar(text), format!("\"{text}\""));
    }
}

#[test]
fn a_text_that_may_be_a_date_is_quoted() {
    for text in [
        "2001-12-14 21:59:43",
        "2001-12-14t21:59:43z",
        "2001-12-14T21:59:43.1Z",
    ] {
        assert_eq!(scalar(text), format!("\"{text}\""));
    }
    assert_eq!(scalar("21 59 t z"), "21 59 t z", "without a dash");
}

#[test]
fn a_text_of_several_lines_is_a_block_unless_blanks_end_a_line_or_a_character_needs_an_escape() {
    let is_block = |text: &str| {
        let written = write_document(&json!({ "k": text }));
        assert_eq!(value(&written)["k"], text);
        written.starts_with("k: |")
    };
    for text in ["a\nb\n", "a\nb", "é\nb", "a\té\nb\n", "a\n\n\nb\n"] {
        assert!(is_block(text), "{text:?}");
    }
    for text in [
        "a \nb",
        "a\t\nb",
        "a\nb ",
        "a\nb\t",
        "é\nb ",
        "é \nb",
        "a\u{85}\nb",
        "é\u{feff}\nb",
        "é\u{1}\nb",
        " a\nb",
        "\na",
    ] {
        assert!(!is_block(text), "{text:?}");
    }
}
