//! A value is judged without filling in its defaults, and the verdict is that of the value that would be stored.

use kube_json::{Map, Value, json};
use proptest::prelude::*;

use super::{schema, texts};
use crate::Schema;

/// Few names, so that values meet the properties of schemas.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "kind", "metadata"];

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        2 => Just(Value::Null),
        6 => prop::sample::select(vec![
            json!("x"), json!("y"), json!(""), json!("A b"), json!(0), json!(1), json!(1.5), json!(true)
        ]),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            2 => mapping(inner),
        ]
    })
}

fn mapping(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let fields = prop::collection::vec((prop::sample::select(&NAMES[..]), values), 0..5);
    fields.prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// Some of these keywords.
fn keywords(
    some: impl Strategy<Value = Vec<(&'static str, Value)>>,
) -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    prop_oneof![3 => Just(Vec::new()), 1 => some]
}

/// A level of a schema: what its type brings along, and what any level may say.
fn level(
    own: impl Strategy<Value = Vec<(&'static str, Value)>>,
    inner: impl Strategy<Value = Value> + Clone,
) -> impl Strategy<Value = Value> {
    let nullable = any::<bool>().prop_map(|nullable| vec![("nullable", json!(nullable))]);
    let default = any_value().prop_map(|default| vec![("default", default)]);
    let choices = prop::collection::vec(any_value(), 1..4).prop_map(|choices| vec![("enum", json!(choices))]);
    let combined = (
        prop::sample::select(vec!["allOf", "anyOf", "oneOf"]),
        prop::collection::vec(inner.clone(), 1..3),
    );
    let combined = combined.prop_map(|(keyword, schemas)| vec![(keyword, json!(schemas))]);
    let not = inner.prop_map(|not| vec![("not", not)]);
    let rare = prop_oneof![4 => Just(Vec::new()), 1 => prop_oneof![choices, combined, not]];
    (own, keywords(nullable), keywords(default), rare).prop_map(|(own, nullable, default, rare)| {
        let all = [own, nullable, default, rare].into_iter().flatten();
        Value::Object(all.collect::<Map>())
    })
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({"type": "string"}),
        json!({"type": "string", "minLength": 1}),
        json!({"type": "integer", "minimum": 1}),
        json!({"x-kubernetes-int-or-string": true}),
        json!({"x-kubernetes-preserve-unknown-fields": true}),
        json!({}),
    ]);
    leaf.prop_recursive(4, 32, 5, |inner| {
        let scalar =
            prop::sample::select(vec!["string", "integer"]).prop_map(|kind| vec![("type", json!(kind))]);
        let counts = |least: &'static str, most: &'static str| {
            let counts = (0_u64..3, 0_u64..4);
            keywords(counts.prop_map(move |(low, high)| vec![(least, json!(low)), (most, json!(high))]))
        };
        let additional = prop_oneof![Just(json!(true)), inner.clone()];
        let additional = additional.prop_map(|additional| vec![("additionalProperties", additional)]);
        let required = prop::collection::vec(prop::sample::select(&NAMES[..]), 0..3);
        let embedded = Just(vec![("x-kubernetes-embedded-resource", json!(true))]);
        let object = (
            mapping(inner.clone()),
            required,
            keywords(additional),
            counts("minProperties", "maxProperties"),
            keywords(embedded),
        );
        let object = object.prop_map(|(properties, required, additional, counts, embedded)| {
            let own = [
                ("type", json!("object")),
                ("properties", properties),
                ("required", json!(required)),
            ];
            own.into_iter()
                .chain(additional)
                .chain(counts)
                .chain(embedded)
                .collect::<Vec<_>>()
        });
        let list_type = prop::sample::select(vec![
            vec![("x-kubernetes-list-type", json!("set"))],
            vec![
                ("x-kubernetes-list-type", json!("map")),
                ("x-kubernetes-list-map-keys", json!(["a", "b"])),
            ],
            vec![("uniqueItems", json!(true))],
            vec![],
        ]);
        let list = (inner.clone(), list_type, counts("minItems", "maxItems"));
        let list = list.prop_map(|(items, list_type, counts)| {
            let own = [("type", json!("array")), ("items", items)];
            own.into_iter().chain(list_type).chain(counts).collect::<Vec<_>>()
        });
        prop_oneof![
            1 => level(scalar, inner.clone()),
            3 => level(object, inner.clone()),
            2 => level(list, inner),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_verdict_on_a_value_is_that_on_its_stored_form(schema in any_schema(), value in any_value()) {
        for (schema, _) in [Schema::of_value(&schema), Schema::of_resource(&schema, false)] {
            let expected = schema.validate_defaulted(&schema.defaulted(&value));
            prop_assert_eq!(schema.validate(&value), expected);
        }
    }
}

#[test]
fn a_default_that_the_schema_refuses_is_told_among_its_neighbors() {
    let of = schema(json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "b": {"type": "integer", "default": "wrong"}, "c": {"type": "integer"},
        "d": {"type": "object", "default": {}, "properties": {"e": {"type": "string", "default": 7}}}}}));
    let fields = |value: Value| -> Vec<String> {
        let violations = of.validate(&value).into_iter();
        violations.map(|violation| violation.field).collect()
    };
    assert_eq!(fields(json!({"a": "x", "c": "x"})), ["a", "b", "c", "d.e"]);
    assert_eq!(fields(json!({"b": null})), ["b", "d.e"]);
    assert_eq!(fields(json!({"b": 1, "d": {"e": "right"}})), Vec::<String>::new());
}

#[test]
fn a_null_inside_a_default_goes_whether_or_not_there_are_others() {
    let of = schema(json!({"type": "object", "properties": {"n": {"type": "string"},
        "d": {"type": "object", "default": {"e": null}, "properties": {"e": {"type": "string"}}}}}));
    for value in [json!({}), json!({"n": null}), json!({"d": null})] {
        assert_eq!(*of.defaulted(&value), json!({"d": {}}), "{value}");
        assert_eq!(texts(&of, &value), Vec::<String>::new(), "{value}");
    }
}

#[test]
fn a_kind_that_is_no_text_is_shown_as_it_would_be_stored() {
    let of = schema(
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
        "kind": {"properties": {"a": {"default": "x"}}}}}),
    );
    let shown = "map[string]interface {}{\"a\":\"x\"}";
    assert_eq!(
        texts(&of, &json!({"apiVersion": "v1", "kind": {}})),
        [format!("kind: Invalid value: {shown}: must be a string")]
    );
}
